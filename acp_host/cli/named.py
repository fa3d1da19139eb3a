"""Agents that a command line names: which words are names, and what is done before and after a named agent starts."""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections.abc import Sequence
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any

from acp_host.automation.known_agents.all_agents import KnownAgents
from acp_host.automation.known_agents.last_seen import LastSeen, SeenAgent, seen_key
from acp_host.automation.known_agents.locations import Locations
from acp_host.automation.known_agents.programs import download_program
from acp_host.automation.known_agents.ways import Readiness, Way
from acp_host.cli.agreed import capability_rows
from acp_host.cli.completers import agent_or_file
from acp_host.cli.misplaced import note_own_options
from acp_host.errors import AcpError, InvalidInput
from acp_host.printable import printable
from acp_host.protocol.negotiation import Agreement
from acp_host.wire._model import Unknown

__all__ = ["add_agent_argument", "add_install_option", "fetch", "remember"]


def add_agent_argument(parser: Any) -> None:
    """Add the agent itself, with all that follows it."""
    agent = parser.add_argument(
        "agent",
        nargs=argparse.REMAINDER,
        metavar="AGENT",
        help="the agent's command, its URL, or a name that acp-host agents lists",
    )
    agent.completer = agent_or_file
    note_own_options(parser)


def add_install_option(parser: Any) -> None:
    """Add the option that allows a download."""
    parser.add_argument(
        "--install", action="store_true", help="if AGENT is a name: download the agent where it is not there yet"
    )


async def fetch(agent: str, way: Way) -> None:
    """Download an agent's program where that has to be done first; say so on stderr.

    Raises:
        InvalidInput, TransportError: it could not be downloaded, or cannot be used.
    """
    if way.readiness is not Readiness.NOT_INSTALLED or way.binary is None:
        return
    checked = "" if way.binary.sha256 else "; its manifest has no checksum, so that only HTTPS vouches for it"
    print(printable(f"acp-host: downloading {agent} from {way.binary.archive}{checked}"), file=sys.stderr, flush=True)
    try:
        await download_program(Locations.for_user().programs, agent, way.binary)
    except OSError as error:
        raise InvalidInput(f"{agent} cannot be written to the disk: {error.strerror or error}") from None


async def remember(way: Way | None, command: Sequence[str], agreement: Agreement) -> None:
    """Write down what a known agent supports. Whatever goes wrong there is nothing to the command.

    Args:
        way: how it was started or reached, if it was named.
        command: its command, by which it is known if it was not named.
        agreement: what was agreed with it.
    """
    with suppress(AcpError):
        await asyncio.to_thread(_remember, way, tuple(command), agreement)


def _remember(way: Way | None, command: tuple[str, ...], agreement: Agreement) -> None:
    if way is None:
        ways = [way for agent in KnownAgents.load().values() for way in agent.ways]
        way = next((way for way in ways if (way.url,) == command or way.command == command), None)
    if way is None:
        return
    LastSeen(Locations.for_user().seen).remember(seen_key(way.command, way.url), _seen(agreement))


def _seen(agreement: Agreement) -> SeenAgent:
    methods = [
        str(method.data.get("id")) if isinstance(method, Unknown) else method.id for method in agreement.auth_methods
    ]
    return SeenAgent(
        at=datetime.now(UTC),
        protocol_version=agreement.protocol_version,
        name=agreement.agent_info.name if agreement.agent_info else "",
        version=agreement.agent_info.version if agreement.agent_info else "",
        capabilities=[row.path for row in capability_rows(agreement.agent_capabilities) if row.offered],
        auth_methods=methods,
    )
