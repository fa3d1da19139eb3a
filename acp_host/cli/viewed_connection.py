"""The connection that a person follows in a view, of ``acp-host chat`` and ``serve``: :func:`viewed_connection`."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any

from acp_host.cli.agent_options import permissions_of, recording_of
from acp_host.cli.chosen_agent import ChosenAgent, versions_of
from acp_host.cli.telemetry import telemetry_of_environment
from acp_host.host.authentication import LoginHandler
from acp_host.host.connect import connect
from acp_host.services.elicitation_queue import ElicitationQueue
from acp_host.services.files import FileService
from acp_host.services.permission_queue import PermissionQueue
from acp_host.services.terminals import TerminalService

__all__ = ["add_unstable_option", "viewed_connection"]


def add_unstable_option(parser: Any) -> None:
    """Add the option that offers draft features."""
    parser.add_argument("--unstable", action="store_true", help="offer draft features: plan variants and subagents")


def viewed_connection(
    chosen: ChosenAgent,
    options: argparse.Namespace,
    *,
    permissions: PermissionQueue,
    elicitation: ElicitationQueue,
    authenticate: LoginHandler,
    on_stderr: Callable[[str], None] | None = None,
) -> connect:
    """Return the way to an agent that may do what the command line grants it, and asks in a view.

    Args:
        chosen: the agent.
        options: parsed, with those of :func:`~acp_host.cli.agent_options.add_agent_options` and of this module.
        permissions, elicitation, authenticate: where the view asks.
        on_stderr: as for :func:`acp_host.connect`.

    Raises:
        InvalidInput: an option does not fit.
    """
    reads, writes = options.read_files, options.write_files
    return connect(
        chosen.argument,
        remote=chosen.remote,
        protocol_versions=versions_of(options),
        allow_remote_services=options.allow_remote_services,
        files=FileService(read=reads, write=writes) if reads or writes else None,
        terminals=TerminalService() if options.terminals else None,
        permissions=permissions_of(options.permissions, ask=permissions, by_word=lambda policy, _: policy.decide),
        elicitation=elicitation,
        authenticate=authenticate,
        sidebar=True,
        unstable=options.unstable,
        record=recording_of(options),
        telemetry=telemetry_of_environment(),
        on_stderr=on_stderr,
    )
