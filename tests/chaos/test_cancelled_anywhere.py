"""A conversation whose task is cancelled after any number of steps of the event loop leaves nothing behind."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import weakref
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import acp_host
from acp_host import HostConnection, Turn
from acp_host.services import form_answers
from acp_host.testing import ScriptedAgent
from acp_host.wire.elicitation import ElicitationAcceptAction
from tests.chaos.bad_agents import ALL, DONE, FORM, PATIENCE, permission

MOST_STEPS = 1_000


async def agent_script(agent: ScriptedAgent) -> None:
    """A whole conversation with everything in it that makes the host wait."""
    await agent.handshake(ALL)
    cwd = (await agent.open_session())["cwd"]
    await agent.expect("session/set_mode")
    agent.reply({})
    for _ in range(2):
        prompt = await agent.expect("session/prompt")
        agent.say("one ")
        await agent.call("session/request_permission", permission())
        file = {"sessionId": "session-1", "path": f"{cwd}/notes.txt"}
        await agent.call("fs/write_text_file", {**file, "content": "x"})
        asked = agent.request("elicitation/create", FORM)
        agent.say("two ", "session-1")
        await agent.call("_vendor/ask", {})
        await agent.response(asked)
        agent.reply(DONE, to=prompt)
        agent.say("late", "session-1")
    await agent.expect("session/close")
    agent.reply({})


class StepsForThreads(ThreadPoolExecutor):
    """Does each piece of work on the loop itself, a few steps later, so that no thread decides how many they are."""

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()
        future.set_running_or_notify_cancel()  # like a thread's, it is not called off once it has begun
        asyncio.get_running_loop().call_soon(self._step, future, 3, lambda: fn(*args, **kwargs))
        return future

    def _step(self, future: Future[Any], left: int, work: Callable[[], Any]) -> None:
        if left:
            asyncio.get_running_loop().call_soon(self._step, future, left - 1, work)
            return
        try:
            future.set_result(work())
        except Exception as error:
            future.set_exception(error)


class Conversation:
    """The host's side of it, with what has to be over at the end."""

    def __init__(self, cwd: Path) -> None:
        self.cwd = cwd
        self.hosts: list[HostConnection] = []
        self.turns: list[Turn] = []
        self.agent = ScriptedAgent(agent_script)

    async def answer(self, request: Any) -> Any:
        for _ in range(3):
            await asyncio.sleep(0)
        return ElicitationAcceptAction({"one": "x"}) if hasattr(request, "requested_schema") else "allow_once"

    async def hold(self) -> None:
        connecting = acp_host.connect(
            self.agent.transport(), permissions=self.answer, elicitation=self.answer, files=True
        )
        async with connecting as host:
            self.hosts.append(host)
            session = await host.new_session(self.cwd)
            await session.set_mode("code")
            self.turns += [session.prompt("first", idle_timeout=60), session.prompt("second")]
            async for _ in self.turns[0]:
                pass
            assert (await self.turns[1]).text == "one two "
            await session.next_update_between_turns()
            await host.close_session(session.id)

    async def is_over(self) -> None:
        for host in self.hosts:
            await host.close()
            assert host.closed
        assert all(turn.done for turn in self.turns)
        for turn in self.turns:
            with contextlib.suppress(acp_host.AcpError):
                await turn.wait()


def pending_futures() -> list[asyncio.Future[Any]]:
    loop = asyncio.get_running_loop()
    futures = (one for one in gc.get_objects() if isinstance(one, asyncio.Future))
    return [future for future in futures if not future.done() and future.get_loop() is loop]


@pytest.mark.timeout(60)
@pytest.mark.parametrize("again", [None, 1, 3], ids=["once", "twice at once", "twice"])
async def test_r77_a_task_cancelled_after_any_number_of_steps(
    tmp_path: Path, again: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    threads = StepsForThreads()
    asyncio.get_running_loop().set_default_executor(threads)
    monkeypatch.setattr(form_answers, "_executor", lambda: threads)
    before = set(map(id, pending_futures()))
    tasks = asyncio.all_tasks()
    seen: set[int] = set()
    for steps in range(MOST_STEPS):
        conversation = Conversation(tmp_path)
        task = asyncio.create_task(conversation.hold())
        for _ in range(steps):
            await asyncio.sleep(0)
        if task.done():
            task.result()
            break
        task.cancel()
        if again is not None:
            for _ in range(again):
                await asyncio.sleep(0)
            task.cancel()
        async with asyncio.timeout(PATIENCE):
            with pytest.raises(asyncio.CancelledError):
                await task
            await conversation.is_over()
            # A connection whose opening or closing was cancelled twice ends on its own.
            while left := asyncio.all_tasks() - tasks:
                assert again is not None, left
                await asyncio.wait(left)
        seen.add(len(conversation.agent.received))
        if steps % 10 == 0:
            assert [one for one in pending_futures() if id(one) not in before] == []
    else:
        pytest.fail("the conversation took more steps than were tried")
    assert steps > 50
    assert len(seen) > 6, "the cancels were spread over the whole conversation"


async def test_r77_nothing_holds_on_to_a_connection_that_is_closed(tmp_path: Path) -> None:
    conversation = Conversation(tmp_path)
    await conversation.hold()
    gone = weakref.ref(conversation.hosts[0])
    del conversation
    gc.collect()
    assert gone() is None
