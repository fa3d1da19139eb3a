"""What is expected of transcripts: what fits, what does not, and how it is said."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import acp_host
from acp_host.testing import (
    ReferenceAgent,
    ScriptedAgent,
    agent_said,
    assert_transcript,
    entry,
    thought,
    tool_call,
    user_said,
)
from acp_host.testing._transcript_diff import align

CALL = {"toolCallId": "c1", "title": "Edit notes.txt", "kind": "edit", "status": "completed"}


async def script(agent: ScriptedAgent) -> None:
    await agent.handshake()
    await agent.open_session()
    await agent.expect("session/prompt")
    agent.update({"sessionUpdate": "agent_thought_chunk", "content": {"type": "text", "text": "Hm."}})
    content = [{"type": "content", "content": {"type": "text", "text": "1 line"}}]
    place = [{"path": "/w/notes.txt"}]
    agent.update({"sessionUpdate": "tool_call", **CALL, "content": content, "locations": place})
    agent.say("It is done.")
    agent.update({"sessionUpdate": "hologram", "of": "rain"})
    agent.reply({"stopReason": "end_turn"})
    await agent.expect("session/prompt")
    agent.say("Again.")
    agent.reply({"stopReason": "end_turn"})


WHOLE: list[Any] = [
    user_said("Do it"),
    thought("Hm."),
    tool_call("Edit notes.txt", kind="edit", status="completed", text="1 line", paths=["/w/notes.txt"]),
    agent_said("It is done."),
    entry("unknown", tag="hologram"),
    user_said(),
    agent_said(re.compile("^Again")),
]


@pytest.fixture
async def session() -> Any:
    async with acp_host.connect(ScriptedAgent(script).transport()) as host:
        session = await host.new_session()
        await session.prompt("Do it")
        await session.prompt("And again")
        return session


@pytest.mark.parametrize(
    "expected",
    [
        WHOLE,
        [...],
        [..., *WHOLE, ...],
        [WHOLE[0], ..., WHOLE[-1]],
        [..., tool_call(), ..., agent_said("Again."), ...],
        [..., tool_call(..., provisional=False, turn=1), ..., ...],
    ],
)
async def test_what_fits(session: Any, expected: list[Any]) -> None:
    for subject in (session, session.state, session.state.snapshot(), session.state.snapshot().transcript):
        assert_transcript(subject, expected)


async def test_one_turn_alone(session: Any) -> None:
    assert_transcript(session, [user_said("And again"), agent_said("Again.")], turn=2)


@pytest.mark.parametrize(
    "expected, lines",
    [
        (WHOLE[:-1], ["+ assistant  'Again.'"]),
        ([*WHOLE, thought("more")], ["- thought    'more'"]),
        ([*WHOLE[:2], *WHOLE[3:]], ["+ tool_call  'Edit notes.txt' kind='edit' status='completed'"]),
        ([*WHOLE[:2], tool_call(..., status="failed"), ...], ["- tool_call  … status='failed'",
                                                             "+ tool_call  'Edit notes.txt' status='completed'"]),
        ([user_said("Do it!"), *WHOLE[1:]], ["- user       'Do it!'", "?                  -", "+ user       'Do it'"]),
        ([..., agent_said(re.compile("never")), ...], ["- assistant  /never/"]),
        ([WHOLE[3], *WHOLE[:3], ...], ["- assistant  'It is done.'"]),
        ([], ["+ user       'Do it'"]),
    ],
)  # fmt: skip
async def test_what_does_not_fit(session: Any, expected: list[Any], lines: list[str]) -> None:
    with pytest.raises(AssertionError) as caught:
        assert_transcript(session, expected)
    said = str(caught.value).splitlines()
    assert said[0].startswith("the transcript is not as expected")
    changed = [line for line in said[2:] if not line.startswith("  ")]
    assert [line for line in changed if line in lines] == lines, str(caught.value)


async def test_what_fits_is_shown_as_such(session: Any) -> None:
    with pytest.raises(AssertionError) as caught:
        assert_transcript(session, [user_said("Do it"), ..., agent_said("Once more.")])
    lines = str(caught.value).splitlines()
    assert "  user       'Do it'" in lines
    assert "- assistant  'Once more.'" in lines


async def test_names_that_cannot_be() -> None:
    async with acp_host.connect(ReferenceAgent().transport()) as host:
        session = await host.new_session()
        await session.prompt("/say \x1b[31mred")
    with pytest.raises(acp_host.InvalidInput, match="'message' has no member 'status'"):
        assert_transcript(session, [user_said(status="completed"), ...])
    with pytest.raises(acp_host.InvalidInput, match="'sentence'"):
        entry("sentence")
    with pytest.raises(AssertionError) as caught:
        assert_transcript(session, [])
    assert "\x1b" not in str(caught.value)


ITEMS = st.lists(st.sampled_from("abc"), max_size=6)
WISHES = st.lists(st.sampled_from(["a", "b", "c", ...]), max_size=6)


@given(WISHES, ITEMS)
def test_it_fits_exactly_where_a_pattern_of_the_same_form_would(wishes: list[Any], items: list[str]) -> None:
    pairs = align(wishes, items, str.__eq__, lambda *_: False)
    pattern = "".join(".*" if wish is ... else wish for wish in wishes)
    assert all(pair.fits for pair in pairs) == bool(re.fullmatch(pattern, "".join(items)))
    assert [pair.actual for pair in pairs if pair.actual is not None] == items
    assert [pair.expected for pair in pairs if pair.expected not in (None, ...)] == [w for w in wishes if w is not ...]
