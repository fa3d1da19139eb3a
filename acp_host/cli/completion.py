"""``acp-host completion``: what a shell has to read to complete the command; and what it then asks.

argcomplete does the work: at each Tab the shell runs the command once more, which answers with what can stand there.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable
from typing import Any

from acp_host.cli.exits import ExitCode
from acp_host.cli.interrupts import Interrupts
from acp_host.errors import InvalidInput

__all__ = ["add_parser", "answer_shell", "is_asked_by_shell"]

_DESCRIPTION = """\
Print the lines with which a shell completes this command: its sub-commands, their options, and the names of known
agents. Put into the shell's start-up file:

  bash   ~/.bashrc                   eval "$(acp-host completion bash)"
  zsh    ~/.zshrc, after compinit    eval "$(acp-host completion zsh)"
  fish   ~/.config/fish/config.fish  acp-host completion fish | source
"""
_SHELLS = ("bash", "zsh", "fish")


def add_parser(commands: Any) -> None:
    """Add the sub-command to the command line."""
    parser = commands.add_parser(
        "completion",
        description=_DESCRIPTION,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("shell", choices=_SHELLS, help="the shell")
    parser.set_defaults(command=_print)


async def _print(options: argparse.Namespace, interrupts: Interrupts) -> int:
    print(_argcomplete().shellcode(["acp-host"], shell=options.shell))
    return ExitCode.COMPLETED


def is_asked_by_shell() -> bool:
    """Tell whether this process was started by a shell that wants to know what can stand on its command line."""
    return "_ARGCOMPLETE" in os.environ


def answer_shell(make_parser: Callable[[list[str]], argparse.ArgumentParser]) -> None:
    """Answer the shell, and end the process.

    Args:
        make_parser: returns the parser for a command line that begins with some words.
    """
    line = os.environ.get("COMP_LINE", "")
    point = int(os.environ.get("COMP_POINT") or len(line))
    _argcomplete().autocomplete(make_parser(line[:point].split()[1:]), always_complete_options="long")


def _argcomplete() -> Any:
    try:
        import argcomplete
    except ModuleNotFoundError:
        raise InvalidInput("completion needs the extra 'cli': pip install 'acp-host[cli]'") from None
    return argcomplete
