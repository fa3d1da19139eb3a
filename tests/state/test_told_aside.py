"""What is told of a turn that is over, or told again, while another thing is being written."""

from __future__ import annotations

import pytest

from acp_host.state import events
from acp_host.state.clock import ManualScheduler
from acp_host.state.entries import MessageEntry, Speaker
from acp_host.state.session_state import SessionState
from acp_host.wire.content import TextContent
from acp_host.wire.plans import PlanItems


def said(text: str, speaker: Speaker = Speaker.ASSISTANT) -> events.MessageChunk:
    return events.MessageChunk(speaker, TextContent(text))


def late(event: events.SessionEvent, turn: int | None = 1, *, replayed: bool = False) -> events.ToldAside:
    return events.ToldAside(event, turn, replayed)


def state_of(*told: events.SessionEvent) -> SessionState:
    state = SessionState("s", ManualScheduler())
    for event in told:
        state.apply(event)
    return state


def messages(state: SessionState) -> list[tuple[str, int | None, bool]]:
    entries = state.snapshot().transcript
    return [(each.text, each.turn, each.replayed) for each in entries if isinstance(each, MessageEntry)]


def test_neither_joins_the_other() -> None:
    second = events.TurnStarted(2, (TextContent("Hi"),), ())
    state = state_of(second, said("a"), late(said("x")), said("b"), late(said("y")), said("c"))
    assert messages(state) == [("Hi", 2, False), ("abc", 2, False), ("xy", 1, False)]


def test_each_place_has_a_message_of_its_own() -> None:
    again = late(said("z"), None, replayed=True)
    state = state_of(late(said("x")), late(said("y"), 2), again, late(said("w"), 2))
    assert messages(state) == [("x", 1, False), ("y", 2, False), ("z", None, True), ("w", 2, False)]


def test_a_turn_ends_what_was_told_aside() -> None:
    state = state_of(late(said("x")), events.TurnStarted(2, (TextContent("Hi"),), ()), late(said("y")))
    assert messages(state) == [("x", 1, False), ("Hi", 2, False), ("y", 1, False)]


def test_it_is_no_echo_of_the_prompt() -> None:
    prompt = (TextContent("Hi"),)
    state = state_of(events.TurnStarted(2, prompt, prompt), late(said("Hi", Speaker.USER)), said("Hi", Speaker.USER))
    assert messages(state) == [("Hi", 2, False), ("Hi", 1, False)]


@pytest.mark.parametrize("event", [said("x"), events.PlanReplaced(None, PlanItems("", ()))])
def test_it_is_no_sign_that_the_agent_is_at_work(event: events.SessionEvent) -> None:
    assert state_of(event).snapshot().turn.activity
    assert not state_of(late(event)).snapshot().turn.activity
