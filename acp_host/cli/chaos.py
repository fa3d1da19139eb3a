"""``acp-host chaos``: agents that misbehave, listed, and let loose on a host."""

from __future__ import annotations

import argparse
from typing import Any

from acp_host.cli.interrupts import Interrupts
from acp_host.testing.chaos.program import add_commands

__all__ = ["add_parser"]


def add_parser(commands: Any) -> None:
    """Add the sub-command to the command line."""
    parser = commands.add_parser(
        "chaos",
        description="List agents that misbehave, or check a host against them. `acp-host agent --chaos NAME` is one.",
        allow_abbrev=False,
    )
    add_commands(parser.add_subparsers(dest="what", metavar="list|check", required=True))
    parser.set_defaults(command=run)


async def run(options: argparse.Namespace, interrupts: Interrupts) -> int:
    """Run the sub-command and return its exit code.

    Raises:
        InvalidInput: the command line is wrong, or there is no such agent or host.
    """
    code: int = await options.do(options)
    return code
