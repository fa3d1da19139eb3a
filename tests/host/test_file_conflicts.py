"""A conflict that the user decides is a question of the session: shown, and over with its turn."""

from __future__ import annotations

import asyncio
from pathlib import Path

import acp_host
from acp_host.services.files import WriteConflict
from acp_host.testing import ScriptedAgent


class Undecided:
    """A user who looks at a conflict until it is taken away."""

    def __init__(self) -> None:
        self.asked = asyncio.Event()
        self.withdrawn = asyncio.Event()

    async def __call__(self, conflict: WriteConflict) -> str | None:
        self.asked.set()
        try:
            return await asyncio.Future()
        except asyncio.CancelledError:
            self.withdrawn.set()
            raise


async def test_a_conflict_is_a_question_that_ends_with_the_turn(tmp_path: Path) -> None:
    notes = tmp_path / "notes.txt"
    notes.write_text("one")
    answers: list[dict[str, object]] = []

    async def script(agent: ScriptedAgent) -> None:
        await agent.handshake()
        await agent.open_session("session-1")
        prompt = await agent.expect("session/prompt")
        file = {"sessionId": "session-1", "path": str(notes)}
        await agent.call("fs/read_text_file", file)
        notes.write_text("two")
        answers.append(await agent.call("fs/write_text_file", {**file, "content": "three"}))
        agent.reply({"stopReason": "cancelled"}, to=prompt)
        await agent.stall()

    user = Undecided()
    files = acp_host.FileService(conflict=user)
    async with acp_host.connect(ScriptedAgent(script).transport(), files=files) as host:
        session = await host.new_session(tmp_path)
        turn = session.prompt("Go")
        await user.asked.wait()
        [question] = session.state.snapshot().questions
        assert (question.method, question.request.content) == ("fs/write_text_file", "three")
        turn.cancel()
        result = await turn
        await user.withdrawn.wait()
        assert session.state.snapshot().questions == ()
    assert result.stop_reason == "cancelled"
    assert answers[0]["error"]["code"] == -32800
    assert notes.read_text() == "two"
