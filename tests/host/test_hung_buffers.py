"""An editor that never says what it has open holds up nothing for longer than the turn that asks."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from acp_host import FileService, PermissionPolicy
from acp_host.testing import ScriptedAgent
from tests.host.scripts import DONE, connected


class Hung:
    """Never finds out whether a document is open."""

    def __init__(self) -> None:
        self.asked = asyncio.Event()
        self.cancelled = 0

    async def find_document(self, path: str, /) -> Any:
        self.asked.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            self.cancelled += 1
            raise

    def apply_edit(self, edit: Any, /) -> bool:
        raise AssertionError("nothing is open")


@pytest.mark.parametrize("method", ["read", "write"])
async def test_the_turns_cancel_ends_what_waits_for_it_and_what_would(tmp_path: Path, method: str) -> None:
    (tmp_path / "x").write_text("before")
    params = {"sessionId": "s-1", "path": str(tmp_path / "x"), **({"content": "after"} if method == "write" else {})}

    async def script(agent: ScriptedAgent) -> None:
        await agent.open_session("s-1")
        prompt = await agent.expect("session/prompt")
        asked = agent.request(f"fs/{method}_text_file", params)
        await agent.expect("session/cancel")
        assert (await agent.response(asked))["error"]["code"] == -32800
        assert (await agent.call(f"fs/{method}_text_file", params))["error"]["code"] == -32800
        agent.reply({"stopReason": "cancelled"}, to=prompt)
        await agent.expect("session/prompt")
        agent.reply(DONE)

    editor = Hung()
    files = FileService(buffers=editor)
    async with connected(script, files=files, permissions=PermissionPolicy.allow_once()) as host:
        session = await host.new_session(tmp_path)
        turn = session.prompt("go")
        await editor.asked.wait()
        turn.cancel()
        assert (await turn).stop_reason == "cancelled"
        await session.prompt("on")
    assert editor.cancelled == 1
    assert {record.decided_by for record in host.audit.records[:1]} == {"host"}
    assert (tmp_path / "x").read_text() == "before"
