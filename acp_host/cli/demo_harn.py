"""``acp-host demo --harn``: one turn of an agent with the ways of Harn, and what its host does for it, all printed.

The agent is the Harn-like one of :mod:`acp_host.testing`, as a process of its own. The host serves a tool and its
shells, permits an edit, says something in the midst of the turn, and answers a question after it. The demo checks what
it shows.
"""

from __future__ import annotations

import shlex
import sys
import time
from pathlib import Path

from rich.rule import Rule

from acp_host import harn
from acp_host.cli.answers import by_policy
from acp_host.cli.harn_view import HarnView
from acp_host.cli.printer import Printer, plain
from acp_host.cli.render import TurnView
from acp_host.cli.tables import agent_table
from acp_host.host.connect import connect
from acp_host.host.outcome import TurnResult
from acp_host.host.session import Session
from acp_host.services.permissions import PermissionPolicy
from acp_host.state.injections import InjectionStatus
from acp_host.wire.updates import AgentMessageChunk

__all__ = ["hold_harn"]

_PROMPT = "Review the change."
_INJECTED = "Look at the tests, too."
_DELAY = 0.03


async def hold_harn(printer: Printer, folder: Path) -> list[str]:
    """Hold the conversation and return what went wrong.

    Raises:
        AcpError: the agent failed.
    """
    return await _HarnDemo(printer).hold(folder)


class _HarnDemo:
    """One session, from the handshake to the last answer."""

    def __init__(self, printer: Printer) -> None:
        self._printer = printer
        self._view = TurnView(printer)
        self._opened: list[str] = []

    async def hold(self, folder: Path) -> list[str]:
        delay = _DELAY if self._printer.console.is_terminal else 0.0
        argv = [sys.executable, "-m", "acp_host.testing.agent", "--harn", "--delay", str(delay)]
        bridge = harn.HarnBridge(tools=[self.open_file])
        permit = by_policy(PermissionPolicy.allow_once(), self._view, "the demo")
        self._heading("Harn: connect")
        start = time.monotonic()
        async with connect(argv, permissions=permit, handlers=bridge.handlers()) as host:
            bridge.attach(host)
            self._printer.show(agent_table(host.agreement, shlex.join(argv), time.monotonic() - start))
            session = await host.new_session(folder)
            HarnView(self._printer, session)
            self._heading("Harn: a turn, with what is told beside it, and a word in the midst of it")
            result = await self._prompt(session)
            self._heading("Harn: a question that is answered after the turn, and who is attached")
            await self._answer(session)
            await self._attach(session)
            return self._problems(session, result, len(host.diagnostics))

    async def _prompt(self, session: Session) -> TurnResult:
        self._printer.line("you", plain(_PROMPT))
        turn, injected = session.prompt(_PROMPT), False
        async for update in turn:
            self._view.show(update)
            if not injected and isinstance(update, AgentMessageChunk):
                injected = True
                await session.inject(_INJECTED)
        result = await turn
        self._view.show_result(result)
        return result

    async def _answer(self, session: Session) -> None:
        snapshot = session.state.snapshot().harn
        for request in () if snapshot is None else snapshot.human_requests.values():
            self._printer.line("answer", plain(str(request.default)))
            await harn.of(session).people.answer(request.request_id, request.default, reviewer="the demo")

    async def _attach(self, session: Session) -> None:
        live = harn.of(session).live
        await live.attach("demo", mode="controller", metadata={"surface": "terminal"})
        await live.heartbeat()
        await live.detach()

    async def open_file(self, path: str) -> None:
        """Show a file in the editor."""
        self._opened.append(path)
        self._printer.line("tool", plain(f"open_file {path}"))

    def _problems(self, session: Session, result: TurnResult, diagnostics: int) -> list[str]:
        told = session.state.snapshot()
        seen = told.harn
        if seen is None:
            return ["nothing of Harn was told"]
        injected = [entry.status for entry in told.injections.values()]
        checks = {
            f"the turn ended {result.outcome.kind}": result.outcome.verified,
            "no file was opened by the host's tool": self._opened == ["notes.md"],
            f"what was said in the turn is {injected}": injected == [InjectionStatus.DELIVERED],
            "a worker has not ended": all(worker.ended for worker in seen.workers.values()),
            "the run was taken to only read": [run.level for run in seen.composition_runs.values()]
            == ["workspace_write"],
            "the question is open": [each.status for each in seen.human_requests.values()] == ["answered"],
            f"there were {diagnostics} diagnostics": diagnostics == 0,
        }
        return [f"Harn: {problem}" for problem, passed in checks.items() if not passed]

    def _heading(self, text: str) -> None:
        self._printer.show(Rule(plain(text, "bold"), align="left", style="dim"), blank_before=True)
