"""The same conversation, told in version 1 and in version 2, is the same transcript, where both can say it."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from acp_host.state.json_form import to_json
from acp_host.translate import v1
from acp_host.translate.v2 import updates as v2
from acp_host.wire import updates as v1_wire
from acp_host.wire.converters import structure
from acp_host.wire.v2 import updates as v2_wire
from tests.state.session_events import Folding, end, start

Update = dict[str, Any]

TEXTS = st.text(min_size=1, max_size=8)
MESSAGES = st.sampled_from(["m1", "m2", "m3"])
CALLS = st.sampled_from(["c1", "c2"])
BLOCKS = st.builds(lambda words: {"type": "text", "text": words}, TEXTS) | st.just(
    {"type": "resource_link", "name": "a", "uri": "file:///a"}
)
CONTENT = st.builds(lambda block: {"type": "content", "content": block}, BLOCKS) | st.just(
    {"type": "terminal", "terminalId": "t"}
)


def same(update: Update) -> tuple[list[Update], list[Update]]:
    return [update], [update]


def both(first: Update, second: Update) -> tuple[list[Update], list[Update]]:
    return [first], [second]


def chunk(kind: str, message_id: str, block: Update) -> tuple[list[Update], list[Update]]:
    return same({"sessionUpdate": f"{kind}_chunk", "messageId": message_id, "content": block})


def whole(kind: str, message_id: str, blocks: list[Update]) -> tuple[list[Update], list[Update]]:
    """A message that is told once: block by block, or at once."""
    pieces = [{"sessionUpdate": f"{kind}_chunk", "messageId": message_id, "content": block} for block in blocks]
    return pieces, [{"sessionUpdate": kind, "messageId": message_id, "content": blocks}]


def call(first: bool, call_id: str, said: Update) -> tuple[list[Update], list[Update]]:
    word = "tool_call" if first else "tool_call_update"
    told = {"toolCallId": call_id, **({"title": "Do it"} if first else {}), **said}
    return both({"sessionUpdate": word, **told}, {"sessionUpdate": "tool_call_update", **told})


SAID = st.fixed_dictionaries(
    {},
    optional={
        "kind": st.sampled_from(["read", "edit"]),
        "status": st.sampled_from(["pending", "in_progress", "completed", "failed"]),
        "content": st.lists(CONTENT, min_size=1, max_size=2),
        "locations": st.just([{"path": "/a", "line": 3}]),
        "rawInput": st.just({"a": 1}),
        "rawOutput": TEXTS,
    },
)
KINDS = st.sampled_from(["agent_message", "agent_thought"])
STEPS = st.one_of(
    st.tuples(st.just("chunk"), KINDS, MESSAGES, BLOCKS),
    st.tuples(st.just("whole"), KINDS, st.lists(BLOCKS, min_size=1, max_size=3)),
    st.tuples(st.just("call"), CALLS, SAID),
    st.tuples(st.just("compaction"), BLOCKS),
    st.tuples(st.just("usage"), st.integers(0, 9)),
    st.tuples(st.just("turn"), TEXTS),
)


def told(steps: list[Any]) -> tuple[list[Any], list[Any]]:
    """Return what an agent of each version sends; a string begins another turn."""
    first: list[Any] = []
    second: list[Any] = []
    calls: set[str] = set()
    turn = 0
    for number, (step, *arguments) in enumerate(steps):
        match step:
            case "chunk":
                kind, message_id, block = arguments
                one, two = chunk(kind, f"{message_id}-{turn}", block)
            case "whole":
                one, two = whole(arguments[0], f"w{number}", arguments[1])
            case "call":
                call_id = f"{arguments[0]}-{turn}"
                one, two = call(call_id not in calls, call_id, arguments[1])
                calls.add(call_id)
            case "compaction":
                summary = {"sessionUpdate": "compaction_summary_chunk", "compactionId": "k", "content": arguments[0]}
                one, two = same(summary)
            case "usage":
                one, two = same({"sessionUpdate": "usage_update", "used": arguments[0], "size": 9})
            case _:
                turn += 1
                one, two = arguments, arguments
        first += one
        second += two
    return first, second


def folded(told: list[Any], hint: Any, translate: Any) -> Any:
    folding = Folding(start(1))
    turn = 1
    for item in told:
        if isinstance(item, str):
            folding.fold(end(turn), start(turn + 1, item))
            turn += 1
        else:
            folding.fold(translate(structure(item, hint)))
    form = to_json(folding.fold(end(turn)).snapshot)
    return {name: form[name] for name in ("transcript", "usage", "info", "turn")}


@given(st.lists(STEPS, max_size=12))
def test_a_conversation_is_the_same_in_both_versions(steps: list[Any]) -> None:
    first, second = told(steps)
    assert folded(first, v1_wire.SessionUpdate, v1.translate) == folded(second, v2_wire.SessionUpdate, v2.translate)
