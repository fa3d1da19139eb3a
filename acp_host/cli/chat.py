"""``acp-host chat``: a conversation with any agent in the terminal."""

from __future__ import annotations

import argparse
import signal
import sys
from typing import Any

from acp_host.cli.agent_options import add_agent_options, agent_of_options
from acp_host.cli.exits import ExitCode, code_of_signal, exit_code_help
from acp_host.cli.interrupts import Interrupts
from acp_host.cli.login import login_text
from acp_host.cli.printer import Printer, make_console
from acp_host.cli.viewed_connection import add_unstable_option, viewed_connection
from acp_host.errors import AuthRequired, InvalidInput
from acp_host.host.authentication import LoginRequest
from acp_host.host.connection import HostConnection
from acp_host.host.login_methods import LoginMethod
from acp_host.host.login_queue import LoginQueue
from acp_host.host.session import Session
from acp_host.services.elicitation_queue import ElicitationQueue
from acp_host.services.permission_queue import PermissionQueue

__all__ = ["add_parser"]

_DESCRIPTION = """\
Hold a conversation with an agent in the terminal, with what it does, asks and tells beside it.

The options stand before AGENT; it and all that follows is the agent's command, which is run directly and not by a
shell; or AGENT is the name of a known agent; or the URL of an agent elsewhere, and --cwd a directory on its machine.
Ctrl-C cancels the turn, and the second time leaves.

The agent may only do through this program what the options grant it; what it asks permission for is asked in the view.
"""

_EXAMPLE = """\
example:
  acp-host chat --cwd project --read-files --write-files some-agent --acp
"""


def add_parser(commands: Any) -> None:
    """Add the sub-command to the command line."""
    parser = commands.add_parser(
        "chat",
        description=_DESCRIPTION,
        epilog=f"{_EXAMPLE}\n{exit_code_help()}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        usage="acp-host chat [options] AGENT...",
        allow_abbrev=False,
    )
    earlier = parser.add_mutually_exclusive_group()
    earlier.add_argument("--load", metavar="ID", help="go on with this session, and show what was said in it")
    earlier.add_argument("--resume", metavar="ID", help="go on with this session, without what was said in it")
    add_agent_options(parser, permissions="ask")
    parser.add_argument("--theme", choices=["light", "dark"], help="colours (default: as the terminal says, else dark)")
    add_unstable_option(parser)
    parser.set_defaults(command=run)


async def run(options: argparse.Namespace, interrupts: Interrupts) -> int:
    """Run the sub-command and return its exit code.

    Raises:
        InvalidInput: the command line is wrong, there is no terminal, or the extra is not installed.
        AcpError: the agent failed.
    """
    if not options.agent:
        raise InvalidInput("no agent: give its command, its URL or its name")
    chosen = agent_of_options(options.agent, options)
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise InvalidInput("a conversation needs a terminal on stdin and stdout; acp-host run sends one prompt")
    try:
        from acp_host.ui.terminal import ChatApp
    except ModuleNotFoundError as error:
        raise InvalidInput(f"there is no terminal view: {error}") from None
    await chosen.get_ready()
    permissions, forms, logins = PermissionQueue(), ElicitationQueue(), LoginQueue()
    shown = False

    async def ask_to_log_in(request: LoginRequest) -> LoginMethod | None:
        return await logins(request) if shown else None  # before that, the user is told what to do

    connection = viewed_connection(
        chosen,
        options,
        permissions=permissions,
        elicitation=forms,
        authenticate=ask_to_log_in,
    )
    async with connection as host:
        await chosen.remember(host.agreement)
        try:
            session = await _open(host, options)
        except AuthRequired as error:
            Printer(make_console(sys.stderr)).line("login", login_text(host.agreement, chosen.argv, error))
            return ExitCode.LOGIN_NEEDED
        shown = True
        light = None if options.theme is None else options.theme == "light"
        app = ChatApp(host, session, permissions=permissions, forms=forms, logins=logins, light=light)
        await app.run_async()
        if app.terminal_lost:
            return code_of_signal(getattr(signal, "SIGHUP", 1))  # as of a terminal that takes leave
        if interrupts.received is not None:
            return code_of_signal(interrupts.received)
        return ExitCode.AGENT_FAILED if host.closed else ExitCode.COMPLETED


async def _open(host: HostConnection, options: argparse.Namespace) -> Session:
    if options.load is not None:
        return await host.load_session(options.load, options.cwd)
    if options.resume is not None:
        return await host.resume_session(options.resume, options.cwd)
    return await host.new_session(options.cwd)
