"""What holds of the reducers whatever they are fed."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from acp_host.state import events
from acp_host.state.changes import ChangeSet
from acp_host.state.json_form import to_json
from acp_host.state.memory import MemoryPolicy
from acp_host.wire.content import TextContent
from tests.state.session_events import Folding
from tests.state.strategies import BATCHES, EVENTS, KNOWN_EVENTS, UNKNOWN


def form(snapshot: Any, *, without: tuple[str, ...] = ("version",)) -> str:
    """Return the JSON form; the version counts deliveries, so it differs where those do."""
    return json.dumps({name: member for name, member in to_json(snapshot).items() if name not in without})


SECTIONS = (
    "plans",
    "commands",
    "config_options",
    "questions",
    "subagents",
    "terminals",
    "turn",
    "info",
    "usage",
)
LOOKS = st.sampled_from(["nothing", "snapshot", "flush", "both"])
POLICIES = st.sampled_from([None, MemoryPolicy(keep_turns=1)])


@given(st.lists(st.tuples(EVENTS, LOOKS), max_size=30), POLICIES)
def test_folding_in_pieces_is_folding_in_one_go(steps, memory):
    whole, pieces = Folding(memory=memory), Folding(memory=memory)
    pieces.state.changed.connect(lambda changes: None)
    for event, look in steps:
        whole.fold(event)
        pieces.fold(event)
        if look in ("flush", "both"):
            pieces.flush()
        if look in ("snapshot", "both"):
            pieces.snapshot  # noqa: B018 - looking is what this is about
    assert form(pieces.snapshot) == form(whole.snapshot)


@given(st.lists(EVENTS, max_size=20))
def test_a_run_of_chunks_is_each_of_its_chunks(folded):
    chunks: list[Any] = []
    for event in folded:
        if isinstance(event, events.TextStreamed):
            chunks += [events.MessageChunk(event.speaker, TextContent(text), event.message_id) for text in event.texts]
        else:
            chunks.append(event)
    assert form(Folding(*folded).snapshot) == form(Folding(*chunks).snapshot)


@given(st.lists(EVENTS, max_size=30))
def test_folding_twice_gives_the_same(folded):
    assert Folding(*folded).snapshot.transcript[:] == Folding(*folded).snapshot.transcript[:]


@given(st.lists(st.one_of(KNOWN_EVENTS.map(lambda event: (event, True)), UNKNOWN.map(lambda event: (event, False)))))
def test_unknown_input_never_changes_known_state(steps):
    with_unknown = Folding(*[event for event, _ in steps])
    without = Folding(*[event for event, is_known in steps if is_known])
    assert form(_known_part(with_unknown)) == form(_known_part(without))
    unknown = sum(entry.type == "unknown" for entry in with_unknown.entries)
    assert unknown <= sum(not is_known for _, is_known in steps)


def _known_part(folding: Folding) -> Any:
    """Return the state without unknown entries, and with positions that do not count them."""
    form = to_json(folding.snapshot)
    known = [entry for entry in form["transcript"]["entries"] if entry["type"] != "unknown"]
    places = {entry["position"]: place for place, entry in enumerate(known)}
    entries = [{**entry, "position": places[entry["position"]]} for entry in known]
    questions = [{**question, "position": places.get(question["position"])} for question in form["questions"]]
    return {**form, "transcript": entries, "questions": questions}


@given(st.lists(EVENTS, max_size=20))
def test_an_unknown_entry_is_kept_as_it_came(folded):
    entries = [entry for entry in Folding(*folded).entries if entry.type == "unknown"]
    sent = [event for event in folded if isinstance(event, events.UnknownReported)]
    # A replay may take the place of the older ones.
    assert [(entry.tag, entry.data, entry.problem) for entry in entries] == [
        (event.tag, event.data, event.problem) for event in sent[len(sent) - len(entries) :]
    ]


@given(BATCHES, POLICIES)
def test_snapshots_are_never_changed_afterwards(batches, memory):
    folding, taken = Folding(memory=memory), []
    for batch in batches:
        for event in batch:
            folding.fold(event)
            taken.append((folding.snapshot, form(folding.snapshot, without=())))
        folding.flush()
        taken.append((folding.snapshot, form(folding.snapshot, without=())))
    for snapshot, then in taken:
        assert form(snapshot, without=()) == then


@given(BATCHES, POLICIES)
def test_entries_that_no_change_set_names_are_the_same_objects(batches, memory):
    folding, received = Folding(memory=memory), []
    folding.state.changed.connect(received.append)
    folding.flush()
    before = folding.snapshot
    for batch in batches:
        folding.fold(*batch)
        folding.flush()
        changes: ChangeSet | None = received.pop() if received else None
        named = set(changes.keys("transcript")) if changes else set()
        for entry in folding.snapshot.transcript:
            if entry.position not in named:
                assert before.transcript.at(entry.position) is entry
        for section in SECTIONS:
            if changes is None or not changes.touches(section):
                assert getattr(folding.snapshot, section) is getattr(before, section)
        before = folding.snapshot


@given(BATCHES)
def test_a_snapshot_is_the_same_object_until_something_is_folded(batches):
    folding = Folding()
    for batch in batches:
        folding.fold(*batch)
        before = folding.snapshot
        assert folding.snapshot is before
        folding.flush()
        assert folding.snapshot is before


@given(st.lists(EVENTS, max_size=40))
def test_positions_count_up_and_turns_of_entries_are_turns_that_were(folded):
    folded = [event for event in folded if not isinstance(event, events.ToldAside)]
    entries = Folding(*folded).entries
    first = entries[0].position if entries else 0
    assert [entry.position for entry in entries] == list(range(first, first + len(entries)))
    started = {event.turn for event in folded if isinstance(event, events.TurnStarted)}
    for entry in entries:
        assert entry.turn is None or entry.turn < 0 or entry.turn in started
        if entry.turn is not None:
            assert (entry.turn < 0) == entry.replayed
    keys = [entry.key for entry in entries if entry.type == "tool_call"]
    assert len(keys) == len(set(keys))


@given(st.lists(EVENTS, max_size=30))
def test_nothing_that_the_agent_says_is_lost_or_doubled(folded):
    # What is told whole takes the place of what was said, and may be told anew.
    live = [event for event in folded if not isinstance(event, events.ReplayStarted | events.MessageReplaced)]
    shown, said = Counter(), Counter()
    for entry in Folding(*live).entries:
        if entry.type == "message" and entry.speaker != "user":
            shown.update(entry.text)
    for event in (each.event if isinstance(each, events.ToldAside) else each for each in live):
        if isinstance(event, events.MessageChunk) and event.speaker != "user":
            said.update(getattr(event.content, "text", ""))
        if isinstance(event, events.TextStreamed) and event.speaker != "user":
            said.update("".join(event.texts))
    for cut in "\ud83d\ude00😀":  # the halves of a character become one
        del shown[cut], said[cut]
    assert shown == said
