"""What a session is doing: turns, their ends, what waits, and whether the agent can be reached."""

from __future__ import annotations

from typing import Any

from acp_host.host.outcome import OutcomeKind
from acp_host.state import events
from acp_host.state.injections import (
    InjectionAccepted,
    InjectionEnded,
    InjectionMade,
    InjectionStatus,
    InjectionWished,
    UserMessageTold,
)
from acp_host.testing.gallery.samples import text
from acp_host.testing.gallery.scenes import Play, Scenes
from acp_host.testing.gallery.stage import Stage
from acp_host.testing.gallery.tool_calls import DIFF
from acp_host.wire.content import TextContent
from acp_host.wire.prompt import StopReason

__all__ = ["HEALTH", "SCENES"]

SCENES = Scenes("turns")

HEALTH = {
    "connected": "",
    "reconnecting": "The agent has ended. It is started again in 4 s (attempt 2).",
    "lost": "The agent has ended with status 1: out of memory",
    "closed": "",
}
"""The words for the health of a connection, with what is said to people."""


def _turn(stop_reason: str = "end_turn", **outcome: Any) -> Play:
    def play(stage: Stage) -> None:
        stage.prompts("Fix the failing test.")
        stage.says("I look at it.")
        stage.ends(stop_reason, **outcome)

    return play


@SCENES.scene("status_running", "a turn runs")
def status_running(stage: Stage) -> None:
    stage.prompts("Fix the failing test.")


@SCENES.scene("status_waiting", "a turn waits for an answer of the user")
def status_waiting(stage: Stage) -> None:
    stage.prompts("Fix the failing test.")
    stage.asks(
        "session/request_permission",
        sessionId="session-1",
        toolCall={"toolCallId": "call-1", "title": "Edit dates.py", "kind": "edit"},
        options=[{"optionId": "yes", "name": "Allow", "kind": "allow_once"}],
    )


SCENES.add("status_idle", "a turn is over", _turn())

for _reason in (*StopReason, "_out_of_tea"):
    SCENES.add(f"stop_reason_{_reason}", f"a turn has ended with the stop reason {_reason}", _turn(_reason))

_DETAILS = {
    OutcomeKind.FAILED: "The model cannot be reached (-32603).",
    OutcomeKind.POLICY_VIOLATED: "the policy does not allow a change: .git/config was changed by the agent itself",
}
for _outcome in OutcomeKind:
    SCENES.add(
        f"outcome_{_outcome}",
        f"the outcome of the last turn: {_outcome}",
        _turn(outcome=str(_outcome), detail=_DETAILS.get(_outcome, "end_turn")),
    )


@SCENES.scene("queued", "two prompts wait while a turn runs")
def queued(stage: Stage) -> None:
    stage.prompts("Fix the failing test.")
    stage.queues("Then look for others of the kind.")
    stage.queues("Then write a note about it.")


@SCENES.scene("activity", "the agent is at work though nobody has asked it to")
def activity(stage: Stage) -> None:
    stage.tells("tool_call", toolCallId="call-1", title="Check the build", kind="execute", status="in_progress")


for _status, _detail in HEALTH.items():

    def _unwell(stage: Stage, status: str = _status, detail: str = _detail) -> None:
        stage.prompts("Fix the failing test.")
        stage.says("I look at it.")
        if status != "connected":
            stage.breaks_off("The connection was lost.")
        stage.folds(events.HealthChanged(status, detail))

    SCENES.add(f"health_{_status}", f"the connection: {_status}", _unwell)


_MADE = InjectionMade("inj-1", "steer", (TextContent("Look at the tests, too."),))
_TAKEN = InjectionAccepted("inj-1", "msg-1")
_UNSURE = InjectionEnded("inj-1", InjectionStatus.UNCERTAIN, "The connection was lost before the agent has answered.")
_INJECTIONS: dict[InjectionStatus, tuple[events.SessionEvent, ...]] = {
    InjectionStatus.SENDING: (_MADE,),
    InjectionStatus.PENDING: (_MADE, _TAKEN),
    InjectionStatus.DELIVERED: (_MADE, _TAKEN, UserMessageTold("msg-1", ())),
    InjectionStatus.REVOKED: (_MADE, _TAKEN, InjectionEnded("inj-1", InjectionStatus.REVOKED)),
    InjectionStatus.REFUSED: (_MADE, InjectionEnded("inj-1", InjectionStatus.REFUSED, "There are too many of them.")),
    InjectionStatus.UNCERTAIN: (_MADE, _UNSURE),
    InjectionStatus.GONE: (_MADE, _TAKEN, InjectionEnded("inj-1", InjectionStatus.GONE)),
}
for _injection, _events in _INJECTIONS.items():

    def _inject(stage: Stage, told: tuple[events.SessionEvent, ...] = _events) -> None:
        stage.prompts("Review the change.")
        stage.says("I read it.")
        stage.folds(*told)

    SCENES.add(f"injection_{_injection}", f"words put into a running turn: {_injection}", _inject)

for _wish in ("revoke", "replace"):

    def _wished(stage: Stage, wish: Any = _wish) -> None:
        stage.prompts("Review the change.")
        stage.folds(_MADE, _TAKEN, InjectionWished("inj-1", wish))

    SCENES.add(f"injection_wish_{_wish}", f"the agent is asked to {_wish} words that it holds", _wished)


@SCENES.scene("injection_of_others", "words that somebody else has put into the turn")
def injection_of_others(stage: Stage) -> None:
    stage.prompts("Review the change.")
    stage.folds(InjectionMade("inj-1", "queue", (TextContent("And the docs."),), listed_as="msg-7"))


@SCENES.scene("everything_at_once", "a turn in which a bit of everything happens")
def everything_at_once(stage: Stage) -> None:
    stage.prompts("Fix the failing test.")
    stage.thinks("The day comes first here.")
    stage.tells("plan", entries=[{"content": "Change the format", "priority": "high", "status": "in_progress"}])
    stage.tells("tool_call", toolCallId="call-1", title="Read dates.py", kind="read", status="completed")
    stage.says("I change the format string.")
    stage.tells("notice", severity="warning", title="The disk is almost full", description="Only 1 GB is left.")
    stage.tells("usage_update", used=48_000, size=200_000, cost={"amount": 0.37, "currency": "EUR"})
    stage.tells("agent_message_chunk", content=text(" May I?"))
    stage.asks(
        "session/request_permission",
        sessionId="session-1",
        toolCall={
            "toolCallId": "call-2",
            "title": "Edit dates.py",
            "kind": "edit",
            "status": "pending",
            "content": [DIFF],
        },
        options=[
            {"optionId": "yes", "name": "Allow", "kind": "allow_once"},
            {"optionId": "no", "name": "Reject", "kind": "reject_once"},
        ],
    )
