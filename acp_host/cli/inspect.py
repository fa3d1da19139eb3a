"""``acp-host inspect``: connect to an agent, show what was agreed, and leave; no session is created.

What was agreed decides by which way a reminder would get to the model; that is shown too.
"""

from __future__ import annotations

import argparse
import sys
import time
from typing import Any

from acp_host.automation.hiding import plain_without_secrets
from acp_host.cli.agreed import agreement_json
from acp_host.cli.chosen_agent import add_remote_options, add_version_option, chosen_agent, versions_of
from acp_host.cli.exits import ExitCode
from acp_host.cli.interrupts import Interrupts
from acp_host.cli.ladder import ladder_json, plain_ladder
from acp_host.cli.named import add_agent_argument, add_install_option
from acp_host.cli.printer import Printer, make_console, plain
from acp_host.cli.reports import reports_to
from acp_host.cli.tables import agent_table, agreement_tables, ladder_table
from acp_host.errors import InvalidInput
from acp_host.host.connect import connect
from acp_host.printable import printable_json

__all__ = ["add_parser"]

_DESCRIPTION = """\
Start an agent, shake hands, show what was agreed, and end it. No session is created and nothing is offered that lets
the agent act. AGENT is the agent's command with all that follows, which is run directly and not by a shell; or the URL
of an agent elsewhere; or the name of a known agent.

With --json one JSON document goes to stdout: "agreement" holds the handshake in wire form, "methods" what can be
called, "quirks" the known oddities of this agent that are taken into account, "ladder" the ways in which a reminder
could get to the model, in the order in which they would be tried. Its keys are sorted, and two runs against the same
agent print the same bytes unless the agent itself answers otherwise.
"""


def add_parser(commands: Any) -> None:
    """Add the sub-command to the command line."""
    parser = commands.add_parser(
        "inspect",
        description=_DESCRIPTION,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        usage="acp-host inspect [options] AGENT...",
        allow_abbrev=False,
    )
    parser.add_argument("--json", action="store_true", help="print one JSON document instead of tables")
    parser.add_argument("--sidebar", action="store_true", help="as for a host whose user sees the reminders panel")
    parser.add_argument("-v", "--verbose", action="store_true", help="show also the agent's stderr")
    add_version_option(parser)
    add_install_option(parser)
    add_remote_options(parser)
    add_agent_argument(parser)
    parser.set_defaults(command=inspect)


async def inspect(options: argparse.Namespace, interrupts: Interrupts) -> int:
    """Run the sub-command and return its exit code.

    Raises:
        InvalidInput: the command line is wrong.
        AcpError: the agent failed.
    """
    argv = options.agent[1:] if options.agent[:1] == ["--"] else options.agent
    if not argv:
        raise InvalidInput("no agent: give its command, its URL or its name")
    chosen = chosen_agent(argv, options)
    await chosen.get_ready()
    printer = Printer(make_console(sys.stderr))
    shows_stderr = options.verbose and chosen.remote is None
    on_stderr = (lambda line: printer.line("stderr", plain(line, "dim"))) if shows_stderr else None
    with reports_to(printer):
        start = time.monotonic()
        async with connect(
            chosen.argument, remote=chosen.remote, protocol_versions=versions_of(options), on_stderr=on_stderr
        ) as host:
            seconds = time.monotonic() - start
            agreement = host.agreement
            await chosen.remember(agreement)
    ladder = plain_ladder(agreement, sidebar=options.sidebar)
    if options.json:
        found = {**agreement_json(agreement), "ladder": ladder_json(ladder)}
        print(printable_json(plain_without_secrets(found, str), indent=2, sort_keys=True))
        return ExitCode.COMPLETED
    tables = Printer(make_console(sys.stdout))
    tables.show(agent_table(agreement, chosen.shown, seconds))
    for table in (*agreement_tables(agreement), ladder_table(ladder)):
        tables.show(table, blank_before=True)
    return ExitCode.COMPLETED
