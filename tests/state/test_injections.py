"""What the user says to an agent while it works, in the state: from a chip to a message."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from acp_host.state import events
from acp_host.state.entries import MessageEntry, Speaker
from acp_host.state.injections import (
    MAX_INJECTIONS,
    Injection,
    InjectionAccepted,
    InjectionEnded,
    InjectionMade,
    InjectionReplaced,
    InjectionStatus,
    InjectionWished,
    UserMessageTold,
)
from acp_host.wire.content import TextContent
from tests.harn.harness import Desk

TEXT = (TextContent("also run the tests"),)
OTHER = (TextContent("only the fast ones"),)
MADE = InjectionMade("inj-1", "steer", TEXT)
TAKEN = InjectionAccepted("inj-1", "m-1")
TOLD = UserMessageTold("m-1", TEXT)


def folded(*told: events.SessionEvent) -> Desk:
    desk = Desk()
    desk.apply(events.TurnStarted(1, (TextContent("go"),), (TextContent("go"),)), *told).deliver()
    desk.assert_exact()
    return desk


def only(desk: Desk) -> Injection:
    [entry] = desk.state.snapshot().injections.values()
    return entry


def said(desk: Desk) -> list[tuple[str, str]]:
    entries = desk.state.snapshot().transcript
    return [(entry.speaker.value, entry.text) for entry in entries if isinstance(entry, MessageEntry)]


def test_a_chip_becomes_a_message_when_the_model_has_it() -> None:
    assert only(folded(MADE)).status == "sending"
    waiting = folded(MADE, TAKEN)
    assert (only(waiting).status, only(waiting).message_id) == ("pending", "m-1")
    assert said(waiting) == [("user", "go")]
    delivered = folded(MADE, TAKEN, TOLD)
    assert (only(delivered).status, only(delivered).position, only(delivered).is_open) == ("delivered", 1, False)
    assert said(delivered) == [("user", "go"), ("user", "also run the tests")]
    assert delivered.state.snapshot().transcript[1].turn == 1


def test_delivery_before_the_answer() -> None:
    desk = folded(MADE, TOLD, TAKEN)
    assert (only(desk).status, only(desk).position) == ("delivered", 1)
    assert len(said(desk)) == 2


def test_a_message_that_is_told_again_is_the_same() -> None:
    desk = folded(MADE, TAKEN, TOLD, UserMessageTold("m-1", OTHER))
    assert said(desk) == [("user", "go"), ("user", "only the fast ones")]


def test_a_message_of_another_client_and_one_without_an_id() -> None:
    desk = folded(UserMessageTold("m-9", TEXT), UserMessageTold(None, OTHER))
    assert said(desk)[1:] == [("user", "also run the tests"), ("user", "only the fast ones")]
    assert desk.state.snapshot().injections == {}


def test_a_delivery_without_its_words_has_those_that_were_sent() -> None:
    assert said(folded(MADE, TAKEN, UserMessageTold("m-1", ())))[1] == ("user", "also run the tests")


def test_a_delivery_of_which_nobody_knows_the_words() -> None:
    desk = folded(MADE, UserMessageTold("m-1", ()), TAKEN)
    assert (only(desk).status, only(desk).position) == ("delivered", None)
    assert said(desk) == [("user", "go")]


def test_it_ends_what_the_agent_is_saying() -> None:
    chunk = events.MessageChunk(Speaker.ASSISTANT, TextContent("a"))
    assert said(folded(chunk, TOLD, chunk))[1:] == [("assistant", "a"), ("user", TEXT[0].text), ("assistant", "a")]


def test_what_is_asked_about_a_message() -> None:
    assert only(folded(MADE, TAKEN, InjectionWished("inj-1", "revoke"))).wish == "revoke"
    desk = folded(MADE, TAKEN, InjectionWished("inj-1", "replace"), InjectionReplaced("inj-1", OTHER))
    assert only(desk).content == OTHER
    revoked = InjectionEnded("inj-1", InjectionStatus.REVOKED)
    assert only(folded(MADE, TAKEN, revoked)).status == "revoked"
    assert only(folded(MADE, TAKEN, TOLD, revoked)).status == "delivered"
    assert only(folded(MADE, TAKEN, revoked, TOLD)).status == "delivered"
    nobody = "inj-7"
    desk = folded(InjectionWished(nobody, "revoke"), InjectionReplaced(nobody, OTHER), InjectionAccepted(nobody, "m"))
    assert desk.state.snapshot().injections == {}


def test_a_message_in_a_history_belongs_to_its_turn() -> None:
    desk = Desk()
    first = events.MessageChunk(Speaker.USER, TextContent("first"))
    answer = events.MessageChunk(Speaker.ASSISTANT, TextContent("ok"))
    desk.apply(events.ReplayStarted(whole=True), first, TOLD, answer, events.ReplayAnswered(), events.ReplayEnded())
    desk.deliver()
    entries = list(desk.state.snapshot().transcript)
    assert [(entry.turn, entry.replayed) for entry in entries] == [(-1, True)] * 3
    desk = Desk()
    desk.apply(events.ReplayStarted(whole=True), TOLD, events.ReplayAnswered(), events.ReplayEnded()).deliver()
    assert [entry.turn for entry in desk.state.snapshot().transcript] == [-1]


def test_only_so_many_are_kept() -> None:
    desk = Desk()
    desk.apply(InjectionMade("kept", "steer", TEXT))
    for number in range(2 * MAX_INJECTIONS):
        name = f"inj-{number}"
        desk.apply(InjectionMade(name, "steer", TEXT), InjectionEnded(name, InjectionStatus.REVOKED))
        desk.apply(UserMessageTold(f"m-{number}", TEXT))
    desk.deliver()
    desk.assert_exact()
    injections = desk.state.snapshot().injections
    assert len(injections) == MAX_INJECTIONS
    assert "kept" in injections


ANY = st.sampled_from(
    [
        TAKEN,
        TOLD,
        InjectionWished("inj-1", "revoke"),
        InjectionWished("inj-1", None),
        InjectionReplaced("inj-1", OTHER),
        *[InjectionEnded("inj-1", status) for status in InjectionStatus if status not in ("delivered", "sending")],
        InjectionMade("inj-2", "queue", OTHER, listed_as="m-2"),
        UserMessageTold("m-2", OTHER),
    ]
)


@given(st.lists(ANY, max_size=12))
def test_whatever_the_order_what_was_told_and_taken_is_delivered_once(order: list[events.SessionEvent]) -> None:
    desk = folded(MADE, *order)
    if TAKEN in order and TOLD in order:
        assert desk.state.snapshot().injections["inj-1"].status == "delivered"
    assert [text for _, text in said(desk)].count(TEXT[0].text) == (1 if TOLD in order else 0)
