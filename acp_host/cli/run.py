"""``acp-host run``: one prompt to any agent, its answer on stdout and everything else on stderr."""

from __future__ import annotations

import argparse
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

from acp_host.cli.agent_options import (
    OFTEN_MISPLACED,
    add_agent_options,
    agent_target,
    permissions_of,
    recording_of,
)
from acp_host.cli.answers import TerminalAsker, TerminalLines, by_policy
from acp_host.cli.exits import ExitCode, code_of_result, exit_code_help
from acp_host.cli.forms import TerminalForms
from acp_host.cli.interrupts import Interrupts
from acp_host.cli.login import login_text
from acp_host.cli.printer import Printer, make_console, plain
from acp_host.cli.render import TurnView
from acp_host.cli.reports import reports_to
from acp_host.cli.services import ShownFiles, ShownTerminals
from acp_host.cli.target import Target, versions_of
from acp_host.errors import AuthRequired, InvalidInput, StartFailed
from acp_host.host.connect import connect
from acp_host.host.outcome import TurnResult
from acp_host.host.session import Session
from acp_host.host.turn import Turn
from acp_host.services.audit import AuditRecord, AuditTrail, DecidedBy
from acp_host.services.elicitation_handlers import ElicitationHandlers

__all__ = ["add_parser"]

_DESCRIPTION = """\
Send one prompt to an agent. The agent's message text goes to stdout, and nothing else does; thoughts, tool calls,
permissions, diagnostics and the result go to stderr.

The options stand before AGENT; it and all that follows up to the first -- is the agent's command, which is run directly
and not by a shell; or AGENT is the name of a known agent; or the URL of an agent elsewhere, and --cwd a directory on
its machine. What follows -- is the prompt; a single - reads it from stdin.

The agent may only do through this program what the options grant it. Most agents also act by themselves: what they do
in their own process is theirs to ask permission for.
"""

_EXAMPLE = """\
examples:
  acp-host run --cwd project --read-files --permissions ask some-agent --acp -- "Explain the failing test"
  acp-host run --cwd project opencode -- "Explain the failing test"
  acp-host run --cwd /workspace --bearer-env AGENT_TOKEN wss://agents.example/acp -- "Explain the failing test"
"""


def add_parser(commands: Any) -> None:
    """Add the sub-command to the command line."""
    parser = commands.add_parser(
        "run",
        description=_DESCRIPTION,
        epilog=f"{_EXAMPLE}\n{exit_code_help()}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        usage='acp-host run [options] AGENT... -- "prompt"',
        allow_abbrev=False,
    )
    parser.add_argument("--forms", action="store_true", help="let the agent ask you with forms and for visits to pages")
    parser.add_argument("-v", "--verbose", action="store_true", help="show also the agent's stderr and minor updates")
    add_agent_options(parser, permissions="reject")
    parser.set_defaults(command=run)


async def run(options: argparse.Namespace, interrupts: Interrupts) -> int:
    """Run the sub-command and return its exit code.

    Raises:
        InvalidInput: the command line is wrong.
        AcpError: the agent failed.
    """
    target, prompt = _agent_and_prompt(options)
    await target.get_ready()
    printer = Printer(make_console(sys.stderr), answer=sys.stdout)
    view = TurnView(printer, verbose=options.verbose)
    files = ShownFiles(printer, read=options.read_files, write=options.write_files)
    terminals = ShownTerminals(printer) if options.terminals else None
    lines = TerminalLines()
    forms = TerminalForms(printer, lines)
    audit = AuditTrail()
    audit.on_record(_shows_decisions(printer))
    shows_stderr = options.verbose and target.remote is None
    connection = connect(
        target.argument,
        remote=target.remote,
        protocol_versions=versions_of(options),
        allow_remote_services=options.allow_remote_services,
        audit=audit,
        files=files if options.read_files or options.write_files else None,
        terminals=terminals,
        permissions=permissions_of(
            options.permissions,
            ask=TerminalAsker(view, lines) if options.permissions == "ask" or _at_a_terminal() else None,
            by_word=lambda policy, word: by_policy(policy, view, f"--permissions {word}"),
        ),
        elicitation=ElicitationHandlers(form=forms.form, url=forms.page) if options.forms else None,
        record=recording_of(options),
        on_stderr=(lambda line: printer.line("stderr", plain(line, "dim"))) if shows_stderr else None,
    )
    with reports_to(printer):
        async with _noting_misplaced(options.agent), connection as host:
            await target.remember(host.agreement)
            try:
                session = await host.new_session(options.cwd)
                if host.agreement.harn is not None:
                    from acp_host.cli.harn_view import HarnView  # loaded for such an agent only

                    HarnView(printer, session)
                _show_asides(session, view)
                result = await _turn(session.prompt(prompt), view, interrupts)
                _show_asides(session, view)
            except AuthRequired as error:
                printer.line("login", login_text(host.agreement, target.argv, error))
                return ExitCode.LOGIN_NEEDED
            if terminals is not None:
                terminals.tell_all()
            view.show_result(result)
    return code_of_result(result)


@asynccontextmanager
async def _noting_misplaced(arguments: list[str]) -> AsyncIterator[None]:
    """Add to the error of an agent that does not start that it was given options of this command."""
    try:
        yield
    except StartFailed as error:
        found = [option for option in _split(arguments)[0] if option in OFTEN_MISPLACED]
        if found:
            error.add_note(f"The agent was given {', '.join(found)}: options of acp-host stand before its command.")
        raise


def _show_asides(session: Session, view: TurnView) -> None:
    """Show the updates outside of the turn that have come so far."""
    for update in session.take_updates_between_turns():
        view.show_aside(update)


async def _turn(turn: Turn, view: TurnView, interrupts: Interrupts) -> TurnResult:
    """Show a turn until its end; the first Ctrl-C cancels it."""

    def cancel() -> None:
        view.printer.line("Ctrl-C", plain("cancelling the turn; once more ends the agent", "yellow"))
        turn.cancel("Ctrl-C")

    try:
        with interrupts.first_does(cancel):
            async for update in turn:
                view.show(update)
            return await turn
    finally:
        view.printer.finish()


def _agent_and_prompt(options: argparse.Namespace) -> tuple[Target, str]:
    """Return the agent and the text of the prompt.

    Raises:
        InvalidInput: one of them is missing, or an option does not fit.
    """
    agent, found, prompt = _split(options.agent)
    if not agent:
        raise InvalidInput("no agent: give its command, its URL or its name before --")
    if not found:
        raise InvalidInput('no prompt: write -- "prompt" after the agent\'s command')
    target = agent_target(agent, options)
    for asks, option in ((options.permissions == "ask", "--permissions ask"), (options.forms, "--forms")):
        if asks and not _at_a_terminal():
            raise InvalidInput(f"{option} needs a terminal on stdin and stderr, to ask there")
    text = sys.stdin.read() if prompt == ["-"] else " ".join(prompt)
    if not text.strip():
        raise InvalidInput("the prompt is empty")
    return target, text


def _split(arguments: list[str]) -> tuple[list[str], bool, list[str]]:
    """Split at the first ``--``; the middle part tells whether there is one."""
    position = arguments.index("--") if "--" in arguments else len(arguments)
    return arguments[:position], position < len(arguments), arguments[position + 1 :]


def _at_a_terminal() -> bool:
    return sys.stdin.isatty() and sys.stderr.isatty()


def _shows_decisions(printer: Printer) -> Callable[[AuditRecord], None]:
    """Return what prints the decisions that a policy makes by itself; others are printed where they are made."""

    def show(record: AuditRecord) -> None:
        if record.decided_by in (DecidedBy.POLICY, DecidedBy.APPROVAL):
            by = f", by the rule {record.rule!r}" if record.rule else f", by {record.decided_by}: {record.detail}"
            printer.line("decision", plain(f"{record.decision}: {record.subject}", "bold"), plain(by))

    return show
