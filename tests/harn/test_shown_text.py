"""Of a Harn agent's text, what is for people is shown; the rest stays in the updates."""

from __future__ import annotations

from typing import Any

import pytest

import acp_host
from acp_host.state.entries import BlockPart, MessageEntry
from acp_host.testing import ScriptedAgent
from acp_host.wire._model import UNSET
from acp_host.wire.content import TextContent
from acp_host.wire.harn.content import PermissionPreview, as_shown, permission_preview
from acp_host.wire.tool_calls import Diff


def chunk(text: str, **harn: Any) -> dict[str, Any]:
    content: dict[str, Any] = {"type": "text", "text": text}
    if harn:
        content["_meta"] = {"harn": harn}
    return {"sessionUpdate": "agent_message_chunk", "content": content}


def older(text: str, **told: Any) -> dict[str, Any]:
    return {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": text, **told}}


async def shown(*updates: dict[str, Any]) -> tuple[str, list[Any], list[str]]:
    """Return the text of the turn, the parts of the agent's message, and the texts of the updates."""

    async def script(agent: ScriptedAgent) -> None:
        await agent.handshake()
        await agent.open_session("s1")
        await agent.expect("session/prompt")
        for update in updates:
            agent.notify("session/update", {"sessionId": "s1", "update": update})
        agent.reply({"stopReason": "end_turn"})

    raw: list[str] = []
    async with acp_host.connect(ScriptedAgent(script).transport()) as host:
        session = await host.new_session()
        session.on_update(lambda update: raw.append(update.content.text))
        result = await session.prompt("Hi")
        entries = [entry for entry in session.state.snapshot().transcript if isinstance(entry, MessageEntry)]
    return result.text, [part for entry in entries[1:] for part in entry.parts], raw


async def test_the_visible_piece_is_shown_in_place_of_the_text() -> None:
    text, parts, raw = await shown(
        chunk("<plan>x</plan>Hel", visible_delta="Hel", visible_text="Hel"),
        chunk("lo<hidden/>", visible_delta="lo", visible_text="Hello"),
        chunk("!"),
    )
    assert text == "Hello!"
    assert [part.text for part in parts] == ["Hello!"]
    assert raw == ["<plan>x</plan>Hel", "lo<hidden/>", "!"]


async def test_an_empty_piece_shows_nothing() -> None:
    text, parts, _ = await shown(chunk("<thinking>", visible_delta="", visible_text=""))
    assert (text, parts) == ("", [])


async def test_only_the_piece_counts_and_never_the_whole() -> None:
    text, _, _ = await shown(chunk("a", visible_text="whole"), chunk("b", visible_delta=None, visible_text="whole b"))
    assert text == "ab"


async def test_the_older_form_has_it_in_the_content() -> None:
    text, parts, _ = await shown(older("<x>a", visible_delta="a", visible_text="a"), older("<y>", visible_delta=""))
    assert text == "a"
    assert [part.text for part in parts] == ["a"]


@pytest.mark.parametrize("harn", [{"visible_delta": 7}, {"visible_delta": ["a"]}, {"other": 1}])
async def test_what_is_no_text_hides_nothing(harn: Any) -> None:
    text, _, _ = await shown(chunk("kept", **harn))
    assert text == "kept"


async def test_other_content_keeps_what_is_said_of_it() -> None:
    text, parts, _ = await shown(
        {
            "sessionUpdate": "agent_message_chunk",
            "content": {"type": "text", "text": "x", "_meta": {"harn": {"visible_delta": "y", "more": 1}, "own": 2}},
        }
    )
    assert text == "y"
    [part] = parts
    assert isinstance(part, BlockPart)
    assert part.block == TextContent("y", meta={"own": 2, "harn": {"more": 1}})


def test_nothing_of_it_is_left_where_there_was_nothing_else() -> None:
    content = as_shown(TextContent("x", meta={"harn": {"visible_delta": "y", "visible_text": "y"}}))
    assert content == TextContent("y")
    assert content is not None
    assert content.meta is UNSET


def test_a_diff_that_is_shown_before_it_is_permitted() -> None:
    told = {"source": "pre_approval", "preimageSha256": "3a7b", "byteCount": 120}
    diff = Diff("/a", "new", meta={"harn": {"permission_preview": told}})
    assert permission_preview(diff) == PermissionPreview(source="pre_approval", preimage_sha256="3a7b", byte_count=120)
    assert permission_preview(Diff("/a", "new")) is None
    assert permission_preview(Diff("/a", "new", meta={"harn": {"permission_preview": "x"}})) is None
