"""What is told of a turn that is over, or told again, while another thing is being written."""

from __future__ import annotations

from typing import Any

import pytest

from acp_host.state import events
from acp_host.state.clock import ManualScheduler
from acp_host.state.entries import MessageEntry, Speaker, ToolCallEntry
from acp_host.state.session_state import SessionState
from acp_host.wire.content import TextContent
from acp_host.wire.plans import PlanItems
from acp_host.wire.tool_calls import ToolCallUpdate


def said(text: str, speaker: Speaker = Speaker.ASSISTANT, message_id: str | None = None) -> events.MessageChunk:
    return events.MessageChunk(speaker, TextContent(text), message_id)


def call(status: str, **more: Any) -> events.ToolCallReported:
    return events.ToolCallReported(ToolCallUpdate("c", status=status, **more), announced=False)


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


def test_ids_of_a_turn_mean_nothing_in_another_one() -> None:
    first, second = (events.TurnStarted(number, (TextContent("Hi"),), ()) for number in (1, 2))
    named = [said(text, message_id="m") for text in "abcd"]
    state = state_of(first, named[0], second, named[1], call("completed"), late(named[2]), named[3])
    assert messages(state) == [("Hi", 1, False), ("a", 1, False), ("Hi", 2, False), ("bd", 2, False), ("c", 1, False)]


def test_there_they_mean_the_same_for_as_long_as_it_is_told_of() -> None:
    state = state_of(late(said("a", message_id="m")), late(call("pending")), late(said("b", message_id="m")))
    assert messages(state) == [("ab", 1, False)]


@pytest.mark.parametrize("again", [late(call("in_progress"), None, replayed=True), late(call("in_progress"))])
def test_a_call_that_goes_on_is_unfinished_when_its_own_turn_is_over(again: events.ToldAside) -> None:
    second = events.TurnStarted(2, (TextContent("Hi"),), ())
    state = state_of(second, call("in_progress"), again, events.TurnEnded(2, "completed"))
    [entry] = [entry for entry in state.snapshot().transcript if isinstance(entry, ToolCallEntry)]
    assert entry.unfinished


def test_it_begins_no_turn_of_a_history() -> None:
    history = [events.ReplayStarted(), said("One", Speaker.USER), call("in_progress")]
    state = state_of(*history, late(said("x", Speaker.USER)), said("a"), events.ReplayEnded())
    assert messages(state) == [("One", -1, True), ("x", 1, True), ("a", -1, True)]
