"""The second part of ``acp-host demo``: the same reminders for four agents, each with another way to take them.

The reference agent runs in this process, each time with other features. Each run prints its plan, what became of the
reminders, and the toasts, and checks that the rung was the one that it must be.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection
from pathlib import Path

from attrs import field, frozen
from rich.rule import Rule

from acp_host._version import __version__
from acp_host.cli.ladder import adjustment_text, plan_text
from acp_host.cli.panels import PanelView, ToastView, panel_table
from acp_host.cli.printer import Printer, plain
from acp_host.cli.render import TurnView
from acp_host.host.connect import connect
from acp_host.host.connection import HostConnection
from acp_host.host.session import Session
from acp_host.reminders import Reminder, ReminderPolicy, ReminderReceipt
from acp_host.state.reminder_entry import RoleHint, Rung
from acp_host.testing import ReferenceAgent
from acp_host.wire.initialize import Implementation
from acp_host.wire.updates import AgentMessageChunk

__all__ = ["RUNS", "LadderRun", "climb"]

_OLD = Reminder("1 test failed", dedupe_key="tests", ttl_turns=1, role_hint=RoleHint.EPHEMERAL_CACHE)
_NEW = Reminder("2 tests failed", dedupe_key="tests", ttl_turns=1, role_hint=RoleHint.EPHEMERAL_CACHE)
_LATE = Reminder("notes.md changed on disk")
_DISK_FULL = "/notice warning The disk is almost full\nOnly 1 GB is left."
_NOTICES = ("/notice info Settings were reloaded", _DISK_FULL, _DISK_FULL)
_LAST_RUNG = ReminderPolicy(rungs=(Rung.INJECT_REMINDER, Rung.REMIND, Rung.PREFIXED_USER_MESSAGE))


@frozen(kw_only=True)
class LadderRun:
    """One agent, one host, and the rung that they must come to.

    Attributes:
        title: what kind of agent it is.
        rung: the rung that must be used.
        without: features of the reference agent that are left out.
        also: features that are added.
        sidebar: whether a person sees the panel.
        policy: how reminders may travel.
    """

    title: str
    rung: Rung
    without: Collection[str] = ()
    also: Collection[str] = ()
    sidebar: bool = False
    policy: ReminderPolicy = field(factory=ReminderPolicy)

    @property
    def reaches_model(self) -> bool:
        """Whether the model comes to see the reminders."""
        return self.rung != Rung.SIDEBAR


RUNS = (
    LadderRun(title="an agent that takes reminders as in the RFC", rung=Rung.INJECT_REMINDER),
    LadderRun(
        title="an agent that takes them as Harn does",
        rung=Rung.REMIND,
        without={"reminders"},
        also={"harn_reminders", "harn_decorations"},
    ),
    LadderRun(
        title="an agent that takes none, and a host with a sidebar",
        rung=Rung.SIDEBAR,
        without={"reminders"},
        sidebar=True,
    ),
    LadderRun(
        title="an agent that takes none, and the last rung allowed",
        rung=Rung.PREFIXED_USER_MESSAGE,
        without={"reminders"},
        policy=_LAST_RUNG,
    ),
)
"""The four runs."""


async def climb(printer: Printer, folder: Path, run: LadderRun, number: int, version: int) -> list[str]:
    """Make one run; return what went wrong.

    Raises:
        AcpError: the agent failed.
    """
    heading = f"reminders, {number} of {len(RUNS)}: {run.title}"
    printer.show(Rule(plain(heading, "bold"), align="left", style="dim"), blank_before=True)
    agent = ReferenceAgent(without=run.without, also=run.also, protocol_versions=(version,))
    host_info = Implementation("acp-host-demo", __version__, title="the demo")
    transport, versions = agent.transport(), (version,)
    async with connect(transport, protocol_versions=versions, sidebar=run.sidebar, client_info=host_info) as host:
        session = await host.new_session(folder)
        return await _Climb(printer, run, host, session).climb()


class _Climb:
    """One run, from the plan to the last look at the panel."""

    def __init__(self, printer: Printer, run: LadderRun, host: HostConnection, session: Session) -> None:
        self._printer = printer
        self._run = run
        self._host = host
        self._session = session
        self._view = TurnView(printer)
        self._texts: list[str] = []
        PanelView(printer, session.reminders)
        ToastView(printer, session.notices)

    async def climb(self) -> list[str]:
        self._printer.line("plan", plan_text(self._session.plan_reminder(_NEW, policy=self._run.policy)))
        receipts = [await self._remind(reminder) for reminder in (_OLD, _NEW)]
        await self._prompt("/reminders", *_NOTICES)
        late = await self._prompt_and_remind("/slow 3", "/model", "/reminders")
        await self._prompt("/tool Look around", "/reminders", "/forget")
        self._session.notices.dismiss_all()
        for entry in self._session.reminders.active:
            self._session.reminders.dismiss(entry.id)
        await asyncio.sleep(0)
        self._printer.show(panel_table(self._session.reminders.snapshot()))
        return self._problems([receipt.rung for receipt in receipts], late)

    async def _remind(self, reminder: Reminder) -> ReminderReceipt:
        receipt = await self._session.remind(reminder, policy=self._run.policy)
        await asyncio.sleep(0)  # what has changed is printed first
        lines = [f"rung {receipt.rung}, status {receipt.status}", *map(adjustment_text, receipt.adjustments)]
        self._printer.line("receipt", plain("\n".join(lines)), style="bold green")
        return receipt

    async def _prompt(self, *commands: str) -> None:
        prompt = "\n".join(commands)
        self._printer.line("you", plain(prompt))
        turn = self._session.prompt(prompt)
        async for update in turn:
            self._view.show(update)
        self._texts.append((await turn).text)
        self._printer.end_flow()

    async def _prompt_and_remind(self, *commands: str) -> str:
        """Remind the model while a turn runs; return the local id of the reminder."""
        prompt, late = "\n".join(commands), ""
        self._printer.line("you", plain(prompt))
        turn = self._session.prompt(prompt)
        async for update in turn:
            self._view.show(update)
            if not late and isinstance(update, AgentMessageChunk):
                late = self._session.remind_soon(_LATE, policy=self._run.policy).id
        self._texts.append((await turn).text)
        self._printer.end_flow()
        return late

    def _problems(self, rungs: list[str], late: str) -> list[str]:
        entry = self._session.reminders.get(late)
        rungs.append(str(entry.rung) if entry is not None else "none")
        seen = [reminder.body in "".join(self._texts) for reminder in (_OLD, _NEW, _LATE)]
        notices = self._session.notices.snapshot()
        diagnostics = len(self._host.diagnostics)
        checks = {
            f"the rungs were {', '.join(rungs)}": rungs == [self._run.rung] * 3,
            f"what the model saw was {seen}": seen == [False, self._run.reaches_model, self._run.reaches_model],
            f"{notices.shown} toasts were shown": (notices.shown, notices.coalesced) == (2, 1),
            f"there were {diagnostics} diagnostics": diagnostics == 0,
        }
        return [f"{self._run.title}: {problem}" for problem, passed in checks.items() if not passed]
