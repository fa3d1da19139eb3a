"""``acp-host serve``: a conversation with any agent as a page in the browser."""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, nullcontext
from typing import TYPE_CHECKING, Any

from acp_host.cli.agent_options import add_agent_options, agent_of_options
from acp_host.cli.exits import ExitCode, exit_code_help
from acp_host.cli.interrupts import Interrupts
from acp_host.cli.listening import add_listening_options, token_of
from acp_host.cli.printer import Printer, make_console, plain
from acp_host.cli.reports import reports_to
from acp_host.cli.viewed_connection import add_unstable_option, viewed_connection
from acp_host.errors import InvalidInput
from acp_host.host.connection import HostConnection
from acp_host.host.login_queue import LoginQueue
from acp_host.services.elicitation_queue import ElicitationQueue
from acp_host.services.permission_queue import PermissionQueue

if TYPE_CHECKING:
    from acp_host.ui.feed import Feed

__all__ = ["add_parser", "page_of", "until_interrupted"]

_DESCRIPTION = """\
Show a conversation with an agent as a page in the browser, and print the address of that page. It has a token that lets
a browser in; whoever has it can act through the agent. A second address lets people look only.

The options stand before AGENT; it and all that follows is the agent's command, which is run directly and not by a
shell; or AGENT is the name of a known agent; or the URL of an agent elsewhere, and --cwd a directory on its machine.
Ctrl-C ends it.

The agent may only do through this program what the options grant it; what it asks permission for is asked on the page.
"""

_EXAMPLE = """\
example:
  acp-host serve --cwd project --read-files --write-files some-agent --acp
"""


def add_parser(commands: Any) -> None:
    """Add the sub-command to the command line."""
    parser = commands.add_parser(
        "serve",
        description=_DESCRIPTION,
        epilog=f"{_EXAMPLE}\n{exit_code_help()}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        usage="acp-host serve [options] AGENT...",
        allow_abbrev=False,
    )
    add_listening_options(parser.add_argument_group("the page"))
    parser.add_argument(
        "-v", "--verbose", action="store_true", help="show diagnostics and the agent's stderr here, too"
    )
    add_agent_options(parser, permissions="ask")
    add_unstable_option(parser)
    parser.set_defaults(command=run)


async def run(options: argparse.Namespace, interrupts: Interrupts) -> int:
    """Run the sub-command and return its exit code.

    Raises:
        InvalidInput: the command line is wrong, or nothing can listen there.
        AcpError: the agent failed.
    """
    if not options.agent:
        raise InvalidInput("no agent: give its command, its URL or its name")
    chosen = agent_of_options(options.agent, options)
    await chosen.get_ready()
    printer = Printer(make_console(sys.stderr))
    permissions, forms, logins = PermissionQueue(), ElicitationQueue(), LoginQueue()
    shows_stderr = options.verbose and chosen.remote is None

    def told_of(error: BaseException) -> None:
        printer.line("login", plain(f"no session was opened: {error}; the page can open one", "yellow"))

    connection = viewed_connection(
        chosen,
        options,
        permissions=permissions,
        elicitation=forms,
        authenticate=logins,
        on_stderr=(lambda line: printer.line("stderr", plain(line, "dim"))) if shows_stderr else None,
    )
    with reports_to(printer) if options.verbose else nullcontext():
        async with connection as host:
            await chosen.remember(host.agreement)
            # Loaded where they are used only.
            from acp_host.ui.feed import Feed
            from acp_host.ui.first_session import first_session

            async with (
                first_session(host, options.cwd, logins, told_of),
                Feed(host, permissions=permissions, elicitation=forms, logins=logins, cwd=options.cwd) as feed,
                page_of(feed, options),
            ):
                return await _served(host, printer, interrupts)


async def _served(host: HostConnection, printer: Printer, interrupts: Interrupts) -> int:
    async def report_end() -> None:
        error = await host.wait_closed()
        why = "the agent has ended" if error is None else f"the agent is lost: {error}"
        printer.line("ended", plain(f"{why}; the page stays until Ctrl-C", "yellow"))

    reporting = asyncio.create_task(report_end(), name="acp_host report of the end")
    try:
        await until_interrupted(interrupts)
    finally:
        reporting.cancel()
    return ExitCode.AGENT_FAILED if host.closed else ExitCode.COMPLETED


@asynccontextmanager
async def page_of(feed: Feed, options: argparse.Namespace) -> AsyncIterator[None]:
    """Serve a page that shows a feed while the block runs, and print where.

    Raises:
        InvalidInput: nothing can listen there, or an option is wrong.
    """
    from acp_host.ui.page_access import PageAccess  # loaded where they are used only
    from acp_host.ui.serve import serve_feed

    token = token_of(options)
    access = PageAccess(
        origins=options.allow_origin, hosts=options.allow_host, **({} if token is None else {"token": token})
    )
    serving = serve_feed(
        feed,
        host=options.host,
        port=options.port,
        access=access,
        allow_other_machines=options.allow_other_machines,
    )
    async with serving as served:
        print(served.url, flush=True)
        told = f"whoever has this address can use the agent; {served.watch_url} is for looking only; Ctrl-C ends it"
        print(f"acp-host: {told}", file=sys.stderr, flush=True)
        yield


async def until_interrupted(interrupts: Interrupts) -> None:
    """Wait for Ctrl-C, which ends nothing but this."""
    stop = asyncio.Event()
    with interrupts.first_does(stop.set):
        await stop.wait()
