"""What viewers attach to prompts: pictures, texts, and files of the session's own directory."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any

import pytest

import acp_host
from acp_host.state.json_form import to_json
from acp_host.testing import ReferenceAgent
from acp_host.ui.feed import Feed
from acp_host.ui.feed.attachments import prompt_parts
from tests.ui.pages import Page

PICTURE = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)


async def sent(agent: ReferenceAgent, cwd: Path, **members: Any) -> Any:
    """Send a prompt; return the blocks behind its text, or the error."""
    async with acp_host.connect(agent.transport()) as host, Feed(host, cwd=str(cwd)) as feed:
        page = Page.of(feed)
        session = (await page.do("new_session"))["session"]
        result = await page.ask("prompt", session=session, text="/wait", **members)
        if not result["ok"]:
            return result["error"]
        turn = host.sessions[0].current_turn
        assert turn is not None
        return [to_json(block) for block in turn.prompt.blocks[1:]]


async def test_a_picture_and_a_text_go_along(tmp_path: Path) -> None:
    data = base64.b64encode(PICTURE).decode()
    blocks = await sent(ReferenceAgent(), tmp_path, images=[data], files=[{"name": "a b.txt", "text": "Words"}])
    assert blocks == [
        {"type": "resource", "resource": {"text": "Words", "uri": "attachment:a%20b.txt"}},
        {"type": "image", "data": data, "mimeType": "image/png"},
    ]


async def test_files_of_the_session_go_as_the_agent_takes_them(tmp_path: Path) -> None:
    (tmp_path / "notes.md").write_text("A note")
    (tmp_path / "large.txt").write_text("x" * 100_000)
    note, large = await sent(ReferenceAgent(), tmp_path, paths=["notes.md", "large.txt"])
    assert note["resource"]["text"] == "A note"
    assert (large["type"], large["size"]) == ("resource_link", 100_000)
    (link,) = await sent(ReferenceAgent(without=["embeddedContext"]), tmp_path, paths=["notes.md"])
    assert link["type"] == "resource_link"


async def test_no_path_leads_out_of_the_directory(tmp_path: Path) -> None:
    inside, secret = tmp_path / "project", tmp_path / "secret.txt"
    inside.mkdir()
    secret.write_text("not for the agent")
    (inside / "link.txt").symlink_to(secret)
    for path in ("../secret.txt", str(secret), "link.txt", "a\0b", "missing.txt", "."):
        assert (await sent(ReferenceAgent(), inside, paths=[path]))["kind"] == "InvalidInput", path


async def test_what_the_agent_does_not_take_is_refused(tmp_path: Path) -> None:
    agent = ReferenceAgent(without=["image", "embeddedContext"])
    picture = {"images": [base64.b64encode(PICTURE).decode()]}
    assert (await sent(agent, tmp_path, **picture))["kind"] == "NotSupported"
    assert (await sent(agent, tmp_path, files=[{"name": "a", "text": "b"}]))["kind"] == "NotSupported"
    for image in ("no Base64!", base64.b64encode(b"<svg/>").decode()):
        assert (await sent(ReferenceAgent(), tmp_path, images=[image]))["kind"] == "InvalidInput"


def test_a_session_elsewhere_has_no_paths_here() -> None:
    with pytest.raises(acp_host.InvalidInput, match="another machine"):
        prompt_parts({"text": "x", "paths": ["/etc/passwd"]}, None)
