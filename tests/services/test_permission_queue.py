"""Permission requests that wait for a person: all options shown, each answered once, by id."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from acp_host.errors import InvalidInput, InvalidState
from acp_host.services.permission_memory import AnswerToRemember
from acp_host.services.permission_queue import PendingPermission, PermissionQueue
from acp_host.services.permission_requests import HostPermissionRequest, asks_for
from acp_host.services.permission_subject import subject_of_command, subject_of_request, subject_of_write
from acp_host.wire.converters import unstructure
from acp_host.wire.files import WriteTextFileRequest
from acp_host.wire.permission import (
    CancelledPermissionOutcome,
    PermissionOption,
    RequestPermissionRequest,
    SelectedPermissionOutcome,
)
from acp_host.wire.terminals import CreateTerminalRequest, EnvVariable
from acp_host.wire.tool_calls import ToolCallLocation, ToolCallUpdate

FOUR = (("a", "allow_once"), ("b", "allow_once"), ("c", "allow_once"), ("no", "reject_once"))


def request(options: tuple[tuple[str, str], ...] = FOUR, **call: Any) -> RequestPermissionRequest:
    made = tuple(PermissionOption(id, f"Label of {id}", kind) for id, kind in options)
    return RequestPermissionRequest("s", ToolCallUpdate("t", **call), made)


async def pending(queue: PermissionQueue, number: int = 1) -> tuple[PendingPermission, ...]:
    async for waiting in queue.watch():
        if len(waiting) == number:
            return queue.pending
    raise AssertionError("they never came")


async def test_all_options_are_there_in_order_and_chosen_by_id() -> None:
    queue = PermissionQueue()
    task = asyncio.create_task(queue(request()))
    [question] = await pending(queue)
    assert [option.option_id for option in question.options] == ["a", "b", "c", "no"]
    assert not question.is_hosts_own
    with pytest.raises(InvalidInput, match="'a', 'b', 'c', 'no'"):
        question.choose("Label of b")
    question.choose("b")
    with pytest.raises(InvalidState):
        question.choose("b")
    assert await task == SelectedPermissionOutcome("b")


async def test_one_without_options_can_only_be_acknowledged() -> None:
    queue = PermissionQueue()
    tasks = [asyncio.create_task(queue(request(()))), asyncio.create_task(queue(request()))]
    empty, full = await pending(queue, 2)
    assert empty.options == ()
    for answer in ("a", ""):
        with pytest.raises(InvalidInput):
            empty.choose(answer)
    with pytest.raises(InvalidInput, match="choose one of them"):
        full.acknowledge()
    empty.acknowledge()
    full.choose("no")
    assert await asyncio.gather(*tasks) == [CancelledPermissionOutcome(), SelectedPermissionOutcome("no")]


async def test_out_of_time_is_a_refusal_and_not_a_cancel() -> None:
    queue = PermissionQueue(timeout=0.01)
    assert await queue(request()) == SelectedPermissionOutcome("no")
    assert await queue(request(FOUR[:1])) == CancelledPermissionOutcome()


async def test_remembering_is_chosen_with_the_answer_and_says_what() -> None:
    queue, about = PermissionQueue(), request(kind="edit", locations=(ToolCallLocation("/w/x"),))
    subject = subject_of_request(about, agent="agent", cwd="/w")
    task = asyncio.create_task(queue.ask(about, subject, None))
    [question] = await pending(queue)
    assert question.can_be_remembered == "agent: edit /w/x"
    with pytest.raises(InvalidInput, match="not 'ever'"):
        question.choose("a", remember="ever")
    with pytest.raises(InvalidInput, match=r"not with 'z'$"):
        question.choose("z", remember="always")
    question.choose("a", remember="always")
    assert await task == AnswerToRemember(SelectedPermissionOutcome("a"), "always")


async def test_what_is_too_vague_cannot_be_remembered() -> None:
    queue = PermissionQueue()
    task = asyncio.create_task(queue(request(kind="edit")))
    [question] = await pending(queue)
    assert question.can_be_remembered is None
    with pytest.raises(InvalidInput, match="nothing exact"):
        question.choose("a", remember="session")
    question.choose("a")
    await task


async def test_the_hosts_own_questions_are_marked_and_hold_no_secret() -> None:
    write = WriteTextFileRequest("s", "/w/x", "text")
    about = asks_for(write, subject_of_write(write, agent="a", cwd="/w"))
    assert about.method == "fs/write_text_file"
    assert [option.kind for option in about.options] == ["allow_once", "allow_always", "reject_once", "reject_always"]
    run = CreateTerminalRequest("s", "make", env=(EnvVariable("TOKEN", "hidden"),))
    own = asks_for(run, subject_of_command(run, agent="a", cwd="/w"))
    assert "hidden" not in str(unstructure(own))
    assert own.tool_call.tool_call_id != about.tool_call.tool_call_id
    queue = PermissionQueue()
    task = asyncio.create_task(queue(own))
    [question] = await pending(queue)
    assert question.is_hosts_own
    assert isinstance(question.request, HostPermissionRequest)
    question.choose("reject_once")
    await task
