"""``acp-host demo``: a whole conversation with the reference agent, then reminders for four kinds of it, all printed.

With ``--harn`` it is one with a Harn-like agent instead, see :mod:`acp_host.cli.demo_harn`.

In the conversation the agent runs as a process of its own, in a temporary directory with one file that it edits;
:mod:`acp_host.cli.demo_ladder` has the rest. The demo checks what it shows: it fails if a turn does not end as it
should, or a reminder takes another way.
"""

from __future__ import annotations

import argparse
import shlex
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rich.rule import Rule

from acp_host.cli.answers import by_policy
from acp_host.cli.chosen_agent import add_version_option
from acp_host.cli.demo_harn import hold_harn
from acp_host.cli.demo_ladder import RUNS, climb
from acp_host.cli.exits import ExitCode
from acp_host.cli.interrupts import Interrupts
from acp_host.cli.printer import Printer, make_console, plain
from acp_host.cli.render import TurnView
from acp_host.cli.reports import reports_to
from acp_host.cli.services import ShownFiles, ShownTerminals
from acp_host.cli.tables import agent_table, offers_table
from acp_host.host.connect import connect
from acp_host.host.outcome import OutcomeKind, TurnResult
from acp_host.services.permissions import PermissionPolicy
from acp_host.wire.permission import RequestPermissionOutcome, RequestPermissionRequest

__all__ = ["add_parser"]

_FILE = "notes.md"
_BEFORE = "# Notes\n\n- The demo made this file.\n"
_PROMPT = f"Add a line to {_FILE} and check the result."
_DELAY = 0.03


def add_parser(commands: Any) -> None:
    """Add the sub-command to the command line."""
    parser = commands.add_parser(
        "demo",
        description="Hold a whole conversation with the built-in reference agent, then send reminders to four kinds "
        "of it, and print it all. Needs no network. In version 2 the agent works with files and commands of its own.",
        allow_abbrev=False,
    )
    add_version_option(parser)
    parser.add_argument("--harn", action="store_true", help="show an agent with the ways of Harn instead")
    parser.set_defaults(command=demo)


async def demo(options: argparse.Namespace, interrupts: Interrupts) -> int:
    """Run the sub-command and return its exit code.

    Raises:
        AcpError: the agent failed.
    """
    printer = Printer(make_console(sys.stdout))
    with tempfile.TemporaryDirectory(prefix="acp-host-demo-") as folder, reports_to(printer):
        if options.harn:
            problems = await hold_harn(printer, Path(folder))
        else:
            problems = await _hold_all(printer, Path(folder), options.protocol_version)
    if problems:
        printer.line("demo failed", plain("; ".join(problems)), style="bold red")
        return ExitCode.AGENT_FAILED
    return ExitCode.COMPLETED


async def _hold_all(printer: Printer, folder: Path, version: int) -> list[str]:
    """Hold the conversation, send the reminders, and return what went wrong."""
    problems = await _Demo(printer, folder / _FILE, version).hold()
    for number, run in enumerate(RUNS, start=1):
        problems += await climb(printer, folder, run, number, version)
    return problems


class _Demo:
    """One conversation about one file."""

    def __init__(self, printer: Printer, path: Path, version: int) -> None:
        self._printer = printer
        self._version = version
        self._path = path
        self._view = TurnView(printer)
        self._answer = by_policy(PermissionPolicy.allow_once(), self._view, "the demo")
        self._questions = 0

    async def hold(self) -> list[str]:
        """Hold the conversation and return what went wrong."""
        self._path.write_text(_BEFORE, encoding="utf-8")
        delay = _DELAY if self._printer.console.is_terminal else 0.0
        argv = [sys.executable, "-m", "acp_host.testing.agent", "--delay", str(delay)]
        argv += ["--protocol-version", str(self._version)]
        self._heading("connect: what was agreed")
        start = time.monotonic()
        async with connect(
            argv,
            protocol_versions=(self._version,),
            files=ShownFiles(self._printer, read=True, write=True),
            terminals=ShownTerminals(self._printer),
            permissions=self._permit,
        ) as host:
            self._printer.show(agent_table(host.agreement, shlex.join(argv), time.monotonic() - start))
            self._printer.show(offers_table(host.agreement), blank_before=True)
            self._heading("prompt: the turn as it happens")
            session = await host.new_session(self._path.parent)
            self._printer.line("you", plain(_PROMPT))
            turn = session.prompt(_PROMPT)
            async for update in turn:
                self._view.show(update)
            result = await turn
            diagnostics = len(host.diagnostics)
            terminals = session.state.snapshot().terminals
        self._heading("the result")
        after = self._path.read_text(encoding="utf-8")
        if self._version == 1:
            self._printer.line(_FILE, plain(after.rstrip("\n")))
            work = {f"{_FILE} was not changed": after.startswith(_BEFORE) and after != _BEFORE}
        else:  # agents of version 2 work with files and commands of their own
            work = {
                f"{_FILE} of the host was changed": after == _BEFORE,
                "no command of the agent has ended": any(view.ended for view in terminals.values()),
            }
        self._view.show_result(result)
        return self._problems(result, diagnostics, work)

    def _permit(self, request: RequestPermissionRequest) -> RequestPermissionOutcome:
        self._questions += 1
        return self._answer(request)

    def _problems(self, result: TurnResult, diagnostics: int, work: Mapping[str, bool]) -> list[str]:
        checks = {
            f"the turn ended {result.outcome.kind}": result.outcome.kind is OutcomeKind.COMPLETED,
            "the agent said nothing": bool(result.text),
            "nobody asked for permission": self._questions > 0,
            **work,
            f"there were {diagnostics} diagnostics": diagnostics == 0,
        }
        return [problem for problem, passed in checks.items() if not passed]

    def _heading(self, text: str) -> None:
        self._printer.show(Rule(plain(text, "bold"), align="left", style="dim"), blank_before=True)
