"""Reminders in every status and on every rung, the host's and the agent's own."""

from __future__ import annotations

from typing import Any

from acp_host.state import reminder_events as events
from acp_host.state.events import ReplayAnswered, ReplayEnded, ReplayStarted
from acp_host.state.reminder_entry import (
    Adjustment,
    Authority,
    Propagate,
    ReminderFault,
    ReminderMode,
    ReminderOrigin,
    ReminderStatus,
    RoleHint,
    Rung,
)
from acp_host.testing.gallery.scenes import Play, Scenes
from acp_host.testing.gallery.stage import Stage

__all__ = ["SCENES"]

SCENES = Scenes("reminders")

_BODY = "2 tests failed: test_dates.py::test_thirteenth, test_dates.py::test_leap_day"
_FAULT = ReminderFault(message="The agent holds too many reminders.", rung=Rung.INJECT_REMINDER, code=-32603)


def _made(stage: Stage, body: str = _BODY, **fields: Any) -> str:
    """Let the application make a reminder; return its id."""
    reminder_id = stage.reminders.next_id()
    fields = {"mode": ReminderMode.FINISH_STEP, "tags": ("tests",)} | fields
    stage.reminds(events.ReminderMade(reminder_id, body, **fields))
    return reminder_id


def _sent(stage: Stage, rung: str = Rung.INJECT_REMINDER, **fields: Any) -> str:
    reminder_id = _made(stage, **fields)
    stage.reminds(events.ReminderSending(reminder_id, rung))
    return reminder_id


def _taken(stage: Stage, rung: str = Rung.INJECT_REMINDER, agents_id: str = "r-1", **fields: Any) -> str:
    reminder_id = _sent(stage, rung, **fields)
    stage.reminds(events.ReminderAccepted(reminder_id, rung, agents_id))
    return reminder_id


def _placed(
    stage: Stage, status: str, rung: str | None = None, error: ReminderFault | None = None, **fields: Any
) -> str:
    reminder_id = _made(stage, **fields)
    stage.reminds(events.ReminderPlaced(reminder_id, status, rung, error))
    return reminder_id


def _emitted(stage: Stage, reminder_id: str = "r-1", body: str = _BODY, **members: Any) -> None:
    """Let the agent tell that the model was shown a reminder."""
    stage.tells("reminder_emitted", reminderId=reminder_id, body=body, **members)


def _over(phase: str) -> Play:
    def play(stage: Stage) -> None:
        _taken(stage)
        stage.prompts("Go on.")
        _emitted(stage, source="host", firedAtTurn=4)
        stage.tells("reminder_expired", reminderId="r-1", phase=phase, expiredAtTurn=5)

    return play


def _ended(status: str) -> Play:
    def play(stage: Stage) -> None:
        reminder_id = _placed(stage, ReminderStatus.SIDEBAR, Rung.SIDEBAR)
        stage.reminds(events.ReminderEnded(reminder_id, status))

    return play


def _emission(stage: Stage) -> None:
    _taken(stage, ttl_turns=3)
    stage.prompts("Go on.")
    _emitted(stage, source="host", firedAtTurn=4, renderedRole="system")


def _deduped(stage: Stage) -> None:
    _taken(stage, dedupe_key="tests")
    _taken(stage, agents_id="r-2", body="1 test failed: test_dates.py::test_leap_day", dedupe_key="tests")
    stage.tells("reminder_deduped", reminderId="r-2", dedupeKey="tests", droppedReminderIds=["r-1"])


def _lies(status: ReminderStatus, rung: str, error: ReminderFault | None = None, **fields: Any) -> Play:
    """Return what leads to a reminder that has come to rest without the agent."""

    def play(stage: Stage) -> None:
        _placed(stage, status, rung, error, **fields)

    return play


def _sending(stage: Stage) -> None:
    _sent(stage)


def _pending(stage: Stage) -> None:
    _taken(stage)


_UNANSWERED = ReminderFault(message="The connection was lost before the agent has answered.", rung=Rung.INJECT_REMINDER)
_STATUSES: dict[ReminderStatus, Play] = {
    ReminderStatus.QUEUED: _lies(ReminderStatus.QUEUED, Rung.PREFIXED_USER_MESSAGE, ttl_turns=2),
    ReminderStatus.SENDING: _sending,
    ReminderStatus.PENDING: _pending,
    ReminderStatus.EMITTED: _emission,
    ReminderStatus.SIDEBAR: _lies(ReminderStatus.SIDEBAR, Rung.SIDEBAR),
    ReminderStatus.UNCERTAIN: _lies(ReminderStatus.UNCERTAIN, Rung.INJECT_REMINDER, _UNANSWERED),
    ReminderStatus.DEDUPED: _deduped,
    ReminderStatus.EXPIRED: _over("ttl_expired"),
    ReminderStatus.CLEARED: _over("cleared"),
    ReminderStatus.COMPACTED_OUT: _over("compacted_out"),
    ReminderStatus.REVOKED: _ended(ReminderStatus.REVOKED),
    ReminderStatus.DISMISSED: _ended(ReminderStatus.DISMISSED),
    ReminderStatus.FAILED: _lies(ReminderStatus.FAILED, Rung.INJECT_REMINDER, _FAULT),
    ReminderStatus.SUPPRESSED: _lies(ReminderStatus.SUPPRESSED, Rung.SUPPRESSED, _FAULT),
}
for _status, _play in _STATUSES.items():
    SCENES.add(f"{_status}", f"a reminder with the status {_status}", _play)

_RUNGS: dict[str, Play] = {
    Rung.INJECT_REMINDER: _pending,
    Rung.SIDEBAR: _lies(ReminderStatus.SIDEBAR, Rung.SIDEBAR),
    Rung.PREFIXED_USER_MESSAGE: _lies(ReminderStatus.QUEUED, Rung.PREFIXED_USER_MESSAGE),
    Rung.SUPPRESSED: _lies(ReminderStatus.SUPPRESSED, Rung.SUPPRESSED),
}
for _rung in (*Rung, "whisper"):

    def _by(stage: Stage, rung: str = _rung) -> None:
        _taken(stage, rung)

    SCENES.add(f"rung_{_rung}", f"a reminder on the rung {_rung}", _RUNGS.get(_rung, _by))


def _with(shows: str, name: str, **fields: Any) -> None:
    def play(stage: Stage) -> None:
        _taken(stage, **fields)

    SCENES.add(name, shows, play)


for _mode in ReminderMode:
    _with(f"a reminder with the mode {_mode}", f"mode_{_mode}", mode=_mode)
for _reach in Propagate:
    _with(f"a reminder that reaches: {_reach}", f"propagate_{_reach}", propagate=_reach)
for _hint in RoleHint:
    _with(f"a reminder with the role hint {_hint}", f"role_hint_{_hint}", role_hint=_hint)
for _authority in Authority:
    _with(f"a reminder with the authority {_authority}", f"authority_{_authority}", authority=_authority)
_with(
    "a reminder with everything that can be said of one",
    "full",
    tags=("tests", "ci", "urgent"),
    dedupe_key="tests",
    ttl_turns=5,
    preserve_on_compact=True,
    propagate=Propagate.ALL,
    role_hint=RoleHint.DEVELOPER,
    authority=Authority.CORRECTIVE,
    meta={"example.org": {"build": 41}},
)
_with(
    "a reminder of many lines",
    "long",
    body="\n".join(f"{number}. test_dates.py::test_{number}" for number in range(80)),
)

for _origin in (*ReminderOrigin, "oracle"):

    def _of_agent(stage: Stage, origin: str = _origin) -> None:
        stage.prompts("Go on.")
        more = {"originatingAgentId": "agent-7"} if origin == ReminderOrigin.INHERITED else {"providerId": "clock"}
        _emitted(stage, body="It is past midnight.", source=origin, firedAtTurn=1, tags=["time"], **more)

    SCENES.add(f"origin_{_origin}", f"a reminder of the agent's own, from: {_origin}", _of_agent)


@SCENES.scene("adjusted", "a reminder that was weakened so that the agent could take it")
def adjusted(stage: Stage) -> None:
    reminder_id = _made(stage, propagate=Propagate.ALL, role_hint=RoleHint.DEVELOPER)
    adjustments = (
        Adjustment(field="propagate", asked="all", sent="session", reason="the agent knows only session"),
        Adjustment(field="role_hint", asked="developer", sent=None, reason="the agent knows only system"),
    )
    stage.reminds(
        events.ReminderSending(reminder_id, Rung.INJECT_REMINDER, adjustments),
        events.ReminderAccepted(reminder_id, Rung.INJECT_REMINDER, "r-1"),
    )


@SCENES.scene("fallen", "a reminder that one rung refused, and the next one took")
def fallen(stage: Stage) -> None:
    reminder_id = _sent(stage)
    stage.reminds(
        events.ReminderRefused(reminder_id, _FAULT),
        events.ReminderPlaced(reminder_id, ReminderStatus.SIDEBAR, Rung.SIDEBAR),
    )


@SCENES.scene("estimated", "a reminder that should be over by now, of an agent that does not tell")
def estimated(stage: Stage) -> None:
    _taken(stage, ttl_turns=1)
    for _ in range(2):
        stage.prompts("Go on.")
        stage.says("I go on.")
        stage.ends()


@SCENES.scene("emitted_often", "a reminder that the model has seen three times")
def emitted_often(stage: Stage) -> None:
    _taken(stage, ttl_turns=5)
    for turn in range(3):
        stage.prompts("Go on.")
        _emitted(stage, source="host", firedAtTurn=turn)
        stage.ends()


@SCENES.scene("replaced", "a reminder whose place a newer one has taken in the host's hands")
def replaced(stage: Stage) -> None:
    older = _placed(stage, ReminderStatus.QUEUED, Rung.PREFIXED_USER_MESSAGE, dedupe_key="tests")
    newer = _placed(stage, ReminderStatus.QUEUED, Rung.PREFIXED_USER_MESSAGE, body="All passed.", dedupe_key="tests")
    stage.reminds(events.ReminderReplaced(older, newer))


@SCENES.scene("replayed", "a reminder that is known from a replayed history only")
def replayed(stage: Stage) -> None:
    stage.folds(ReplayStarted())
    _emitted(stage, source="hook", firedAtTurn=2)
    stage.folds(ReplayAnswered(), ReplayEnded())


@SCENES.scene("merged", "a reminder that the agent told of before it said that this is the one that was sent")
def merged(stage: Stage) -> None:
    reminder_id = _sent(stage)
    _emitted(stage, "r-9", "2 tests failed", source="host")
    stage.reminds(events.ReminderAccepted(reminder_id, Rung.INJECT_REMINDER, "r-9"))


@SCENES.scene("unknown_phase", "a reminder that has ended in a way that is not known")
def unknown_phase(stage: Stage) -> None:
    _over("evaporated")(stage)


@SCENES.scene("end_only", "a reminder of which nothing is known but its end")
def end_only(stage: Stage) -> None:
    stage.tells("reminder_expired", reminderId="r-0", phase="cleared")


@SCENES.scene("every_status", "a panel with a reminder of every status")
def every_status(stage: Stage) -> None:
    for status in (
        ReminderStatus.QUEUED,
        ReminderStatus.SIDEBAR,
        ReminderStatus.UNCERTAIN,
        ReminderStatus.FAILED,
        ReminderStatus.SUPPRESSED,
    ):
        _placed(stage, status, body=f"This one is {status}.")
    for status in (ReminderStatus.REVOKED, ReminderStatus.DISMISSED):
        reminder_id = _placed(stage, ReminderStatus.SIDEBAR, Rung.SIDEBAR, body=f"This one is {status}.")
        stage.reminds(events.ReminderEnded(reminder_id, status))
    stage.prompts("Go on.")
    for number, phase in enumerate(("ttl_expired", "cleared", "compacted_out")):
        _taken(stage, agents_id=f"over-{number}", body=f"This one is over: {phase}.")
        stage.tells("reminder_expired", reminderId=f"over-{number}", phase=phase)
    for number in (1, 2):
        _taken(stage, agents_id=f"same-{number}", body=f"Number {number} of two with one key.", dedupe_key="same")
    stage.tells("reminder_deduped", reminderId="same-2", dedupeKey="same", droppedReminderIds=["same-1"])
    _taken(stage, agents_id="shown", body="This one is emitted.")
    _emitted(stage, "shown", "This one is emitted.", source="host")
    _taken(stage, agents_id="held", body="This one is pending.")
    _sent(stage, body="This one is sending.")


@SCENES.scene("many", "a panel with 120 reminders")
def many(stage: Stage) -> None:
    for number in range(120):
        _taken(stage, agents_id=f"r-{number}", body=f"Reminder {number}", tags=(f"tag-{number % 7}",))
