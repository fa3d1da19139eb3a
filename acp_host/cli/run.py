"""``acp-host run``: one prompt to any agent; its answer, or JSON Lines, on stdout, and everything else on stderr."""

from __future__ import annotations

import argparse
import functools
import json
import sys
from collections.abc import Callable
from typing import Any

from acp_host.automation import RunJournal, run_prompt
from acp_host.automation.event_json import EventLines
from acp_host.automation.events import AgentReady, RunEvent, RunFinished
from acp_host.automation.journal import default_journal
from acp_host.automation.run import Run
from acp_host.automation.schema import run_schema
from acp_host.cli.agent_options import add_agent_options, agent_of_options, permissions_of, recording_of
from acp_host.cli.answers import TerminalAsker, TerminalLines, by_policy
from acp_host.cli.chosen_agent import ChosenAgent, versions_of
from acp_host.cli.complaints import complaint
from acp_host.cli.exits import ExitCode, code_of_run, exit_code_help
from acp_host.cli.forms import TerminalForms
from acp_host.cli.interrupts import Interrupts
from acp_host.cli.printer import Printer, make_console, plain
from acp_host.cli.progress import ProgressLine
from acp_host.cli.render import TurnView
from acp_host.cli.reports import reports_to
from acp_host.cli.run_options import (
    add_run_options,
    budget_of,
    prompt_of,
    reminders_of,
    retries_of,
    split,
    timeouts_of,
)
from acp_host.cli.run_view import RunView
from acp_host.cli.services import ShownFiles, ShownTerminals
from acp_host.cli.telemetry import telemetry_of_environment
from acp_host.errors import InvalidInput
from acp_host.services.elicitation_handlers import ElicitationHandlers

__all__ = ["add_parser"]

_DESCRIPTION = """\
Send one prompt to an agent. The agent's message text goes to stdout, and nothing else does; thoughts, tool calls,
permissions, diagnostics and the result go to stderr. With --json, stdout has all of it as JSON Lines instead.

The options stand before AGENT; it and all that follows up to the first -- is the agent's command, which is run directly
and not by a shell; or AGENT is the name of a known agent; or the URL of an agent elsewhere, and --cwd a directory on
its machine. What follows -- is the prompt; a single - reads it from stdin.

The agent may only do through this program what the options grant it. Most agents also act by themselves: what they do
in their own process is theirs to ask permission for. Ctrl-C cancels the turn; once more ends the agent.
"""

_EXAMPLE = """\
examples:
  acp-host run --cwd project --read-files --permissions ask some-agent --acp -- "Explain the failing test"
  acp-host run --cwd project opencode -- "Explain the failing test"
  acp-host run --cwd /workspace --bearer-env AGENT_TOKEN wss://agents.example/acp -- "Explain the failing test"
  acp-host run --json --permissions policy.toml --max-cost 5USD --prompt-file task.md some-agent --acp > run.jsonl
"""


def add_parser(commands: Any) -> None:
    """Add the sub-command to the command line."""
    parser = commands.add_parser(
        "run",
        description=_DESCRIPTION,
        epilog=f"{_EXAMPLE}\n{exit_code_help()}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        usage='acp-host run [options] AGENT... -- "prompt"\n       acp-host run [options] --prompt-file FILE AGENT...',
        allow_abbrev=False,
    )
    parser.add_argument("--forms", action="store_true", help="let the agent ask you with forms and for visits to pages")
    add_run_options(parser)
    add_agent_options(parser, permissions="deny")
    parser.set_defaults(command=run)


async def run(options: argparse.Namespace, interrupts: Interrupts) -> int:
    """Run the sub-command and return its exit code.

    Raises:
        InvalidInput: the command line is wrong.
        InvalidState: another process is at the run with this key.
    """
    if options.json_schema:
        print(json.dumps(run_schema(), indent=2))
        return ExitCode.COMPLETED
    chosen = _agent(options)
    with interrupts.reading():
        prompt, reminders = prompt_of(options), reminders_of(options)
    await chosen.get_ready()
    printer = Printer(make_console(sys.stderr), answer=None if options.json else sys.stdout)
    view = TurnView(printer, verbose=options.verbose)
    lines = TerminalLines()
    terminals = ShownTerminals(printer) if options.terminals else None
    budget = budget_of(options)
    run = run_prompt(
        chosen.argument,
        prompt,
        cwd=options.cwd,
        permissions=permissions_of(
            options.permissions,
            ask=TerminalAsker(view, lines) if options.permissions == "ask" or _at_a_terminal() else None,
            by_word=lambda policy, word: by_policy(policy, view, f"--permissions {word}"),
        ),
        remind=reminders,
        remind_require=options.remind_require,
        timeouts=timeouts_of(options),
        budget=budget,
        retries=retries_of(options),
        session=options.session,
        continue_last=options.continue_last,
        key=options.key,
        journal=default_journal() if options.journal is None else RunJournal(options.journal),
        rerun_unknown=options.rerun_unknown,
        record=recording_of(options),
        telemetry=telemetry_of_environment(),
        track_changes=not options.no_changes,
        remote=chosen.remote,
        protocol_versions=versions_of(options),
        allow_remote_services=options.allow_remote_services,
        files=_files(options, printer),
        terminals=terminals,
        elicitation=_forms(options, printer, lines),
    )
    shows_stderr = options.verbose and chosen.remote is None
    complain = functools.partial(complaint, options=options)
    run_view = RunView(view, chosen.argv, shows_stderr=shows_stderr, budget=budget, complain=complain)
    progress = ProgressLine(printer, run_view.describe, held=lines.turn.locked)
    with reports_to(printer):
        async with run, progress.shown():
            await _follow(run, chosen, _shows(run_view, options, terminals), interrupts, printer)
            result = await run
    return code_of_run(result, denied_ok=options.denied_ok)


async def _follow(
    run: Run, chosen: ChosenAgent, show: Callable[[RunEvent], None], interrupts: Interrupts, printer: Printer
) -> None:
    """Show a run until its end; the first Ctrl-C cancels it."""

    def cancel() -> None:
        run.cancel("Ctrl-C")  # before it is said: whoever reads stderr may have been ended by the same Ctrl-C
        printer.line("Ctrl-C", plain("cancelling the turn; once more ends the agent", "yellow"))

    try:
        with interrupts.first_does(cancel):
            async for event in run:
                show(event)
                if isinstance(event, AgentReady):
                    await chosen.remember(event.host.agreement)
    finally:
        printer.finish()


def _shows(
    run_view: RunView, options: argparse.Namespace, terminals: ShownTerminals | None
) -> Callable[[RunEvent], None]:
    """Return what shows an event: to people on stderr, and on stdout as the options say."""
    json_lines = EventLines() if options.json else None

    def show(event: RunEvent) -> None:
        if isinstance(event, RunFinished) and terminals is not None:
            terminals.tell_all()
        run_view.show(event)
        if json_lines is not None:
            for line in json_lines(event):
                sys.stdout.write(line)
            sys.stdout.flush()

    return show


def _agent(options: argparse.Namespace) -> ChosenAgent:
    """Return the agent; raise ``InvalidInput`` if there is none, or an option does not fit."""
    agent, _, _ = split(options.agent)
    if not agent:
        raise InvalidInput("no agent: give its command, its URL or its name before --")
    chosen = agent_of_options(agent, options)
    for asks, option in ((options.permissions == "ask", "--permissions ask"), (options.forms, "--forms")):
        if asks and not _at_a_terminal():
            raise InvalidInput(f"{option} needs a terminal on stdin and stderr, to ask there")
    return chosen


def _files(options: argparse.Namespace, printer: Printer) -> ShownFiles | None:
    reads, writes = options.read_files, options.write_files
    return ShownFiles(printer, read=reads, write=writes) if reads or writes else None


def _forms(options: argparse.Namespace, printer: Printer, lines: TerminalLines) -> ElicitationHandlers | None:
    if not options.forms:
        return None
    forms = TerminalForms(printer, lines)
    return ElicitationHandlers(form=forms.form, url=forms.page)


def _at_a_terminal() -> bool:
    return sys.stdin.isatty() and sys.stderr.isatty()
