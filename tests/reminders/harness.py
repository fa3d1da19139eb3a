"""A driver for the delivery that does nothing but remember what it is told to do."""

from __future__ import annotations

from typing import Any

from acp_host.diagnostics import Diagnostic
from acp_host.errors import AcpError, RequestFailed
from acp_host.protocol.negotiation import Agreement, make_agreement
from acp_host.quirks import QUIRKS
from acp_host.reminders import SHIPPED, Delivery, Learned, Reminder, ReminderPolicy, ReminderReceipt, WireRung
from acp_host.reminders.commands import SendRequest, Settled, StartTimer, StopTimer, Suppressed, WithdrawRequest
from acp_host.state.changes import ChangeSet
from acp_host.state.clock import ManualClock, ManualScheduler
from acp_host.state.reminder_entry import ReminderEntry
from acp_host.state.reminder_events import ReminderDeduped, ReminderEmitted, ReminderExpired
from acp_host.state.reminders import RemindersPanel
from acp_host.wire.capabilities import ClientCapabilities
from acp_host.wire.converters import structure
from acp_host.wire.initialize import InitializeResponse

RFC = {"reminders": {"inject": True, "emit": True}}
HARN = {"session": {"remind": {"pending": {"list": True, "revoke": True}}}, "_meta": {"harn": {}}}
BOTH = RFC | HARN
NONE: dict[str, Any] = {}
STEERING = {"steering": {"supported": True}}


def agreed(
    capabilities: dict[str, Any] | None = None, *, name: str = "agent", meta: dict[str, Any] | None = None
) -> Agreement:
    """Return an agreement with an agent."""
    answer = {
        "protocolVersion": 1,
        "agentInfo": {"name": name, "version": "1"},
        "agentCapabilities": capabilities or {},
        "_meta": meta or {},
    }
    return make_agreement(structure(answer, InitializeResponse), ClientCapabilities(), QUIRKS)


class Harness:
    """A delivery and all that it asked for."""

    def __init__(
        self,
        capabilities: dict[str, Any] | None = None,
        *,
        sidebar: bool = False,
        name: str = "agent",
        meta: dict[str, Any] | None = None,
        rungs: dict[str, WireRung] | None = None,
    ) -> None:
        self.clock = ManualClock(100.0)
        self.scheduler = ManualScheduler(self.clock)
        self.panel = RemindersPanel(self.scheduler, self.clock)
        self.diagnostics: list[Diagnostic] = []
        self.learned = Learned()
        self.agreement = agreed(capabilities, name=name, meta=meta)
        self.surroundings: dict[str, Any] = {
            "host": "Editor",
            "sidebar": sidebar,
            "rungs": SHIPPED if rungs is None else rungs,
        }
        self.delivery = Delivery(
            "s-1", self.panel, self.agreement, self.learned, report=self.diagnostics.append, **self.surroundings
        )
        self.requests: list[SendRequest] = []
        self.open: dict[int, SendRequest] = {}
        self.withdrawn: list[int] = []
        self.timers: dict[int, float] = {}
        self.settled: dict[str, Settled] = {}
        self.suppressed: list[str] = []
        self.changes: list[ChangeSet] = []
        self.connected = True

    # --- what the application and the session do ---

    def remind(self, body: str = "a.py changed", *, policy: ReminderPolicy | None = None, **fields: Any) -> str:
        entry_id = self.delivery.remind(Reminder(body, **fields), policy or ReminderPolicy())
        self.run()
        return entry_id

    def prompt(self) -> tuple[str, ...]:
        """Write a prompt; return the ids of the reminders that lead it."""
        leading = self.delivery.lead_prompt()
        self.delivery.turn_started()
        self.run()
        return tuple(reminder.id for reminder in leading)

    def end_turn(self, how: str = "accepted") -> None:
        getattr(self.delivery, f"prompt_{how}")()
        self.delivery.turn_ended()
        self.run()

    def turn(self) -> tuple[str, ...]:
        led = self.prompt()
        self.end_turn()
        return led

    # --- what the agent does ---

    def answer(self, result: Any, token: int | None = None) -> None:
        self.delivery.answered(self._answered(token), result)
        self.run()

    def fail(self, error: AcpError | int, message: str = "no", data: Any = None, token: int | None = None) -> None:
        if isinstance(error, int):
            error = RequestFailed.from_code(error, message, data)
        self.delivery.failed(self._answered(token), error)
        self.run()

    def say(self, event: ReminderEmitted | ReminderDeduped | ReminderExpired) -> None:
        self.delivery.receive(event)
        self.run()

    def emitted(self, reminder_id: str, body: str = "a.py changed", **fields: Any) -> None:
        self.say(ReminderEmitted(reminder_id, body, **fields))

    # --- what goes wrong ---

    def time_out(self, token: int | None = None) -> None:
        token = next(reversed(self.timers)) if token is None else token
        self.timers.pop(token)
        self.delivery.timed_out(token)
        self.run()

    def cut(self, cause: AcpError) -> None:
        self.connected = False
        self.delivery.connection_lost(cause)
        self.run()

    def reconnect(self, capabilities: dict[str, Any] | None = None, **surroundings: Any) -> None:
        self.connected = True
        self.open.clear()
        if capabilities is not None:
            self.agreement = agreed(capabilities)
        self.learned = Learned()
        self.surroundings |= surroundings
        self.delivery.reconnected(self.agreement, self.learned, **self.surroundings)
        self.run()

    # --- what came of it ---

    def entry(self, reminder_id: str) -> ReminderEntry:
        entry = self.panel.get(reminder_id)
        assert entry is not None
        return entry

    def status(self, reminder_id: str) -> str:
        return str(self.entry(reminder_id).status)

    def receipt(self, entry_id: str) -> ReminderReceipt:
        return self.settled[entry_id].receipt

    @property
    def methods(self) -> list[str]:
        return [request.method for request in self.requests]

    @property
    def params(self) -> dict[str, Any]:
        return dict(self.requests[-1].params)

    def statuses(self) -> dict[str, str]:
        return {entry.id: str(entry.status) for entry in self.panel.entries}

    def run(self) -> None:
        """Carry out what the delivery wants, then let observers know."""
        for command in self.delivery.commands():
            match command:
                case SendRequest():
                    self.requests.append(command)
                    self.open[command.token] = command
                case WithdrawRequest(token):
                    self.withdrawn.append(token)
                case StartTimer(token, seconds):
                    self.timers[token] = seconds
                case StopTimer(token):
                    self.timers.pop(token, None)
                case Settled(entry_id):
                    assert entry_id not in self.settled, "told twice"
                    self.settled[entry_id] = command
                case Suppressed(entry_id):
                    self.suppressed.append(entry_id)
        self.scheduler.flush()

    def _answered(self, token: int | None) -> int:
        token = next(iter(self.open)) if token is None else token
        self.open.pop(token, None)
        return token
