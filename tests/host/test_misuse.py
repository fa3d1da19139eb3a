"""What a caller may get wrong, and a fault within this library: a clear error at once, and nobody is left waiting."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import acp_host
from acp_host import AuthRequired, ConnectionLost, InvalidInput, InvalidState
from acp_host.protocol.host_protocol import HostProtocol
from acp_host.services.files import FileService
from acp_host.testing import ReferenceAgent, ScriptedAgent
from tests.chaos.bad_agents import DONE, open_session
from tests.host.scripts import connected


async def test_a_fault_of_this_library_leaves_no_call_waiting(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """The answer is lost within this host: it was taken from the stream, and nobody was told of it."""

    def broken(self: Any, event: Any) -> Any:
        raise ZeroDivisionError("a fault")

    async def script(agent: ScriptedAgent) -> None:
        await agent.expect("session/prompt")
        agent.reply(DONE)

    async with open_session(script) as (_, session):
        monkeypatch.setattr(HostProtocol, "_translate_response", broken)
        with pytest.raises(ConnectionLost, match="failed to read a message: ZeroDivisionError"):
            await session.prompt("question")
    assert "a fault" in caplog.text


async def test_one_connect_is_not_entered_twice_at_a_time() -> None:
    connection = acp_host.connect(ReferenceAgent().transport())
    async with connection as host:
        with pytest.raises(InvalidState, match="in use"):
            await connection.__aenter__()
        assert not host.closed
    assert host.closed


@pytest.mark.parametrize("target", ["unclosed 'quote", 5, {"agent"}])
def test_a_command_that_is_none(target: Any) -> None:
    with pytest.raises(InvalidInput, match="the agent's command"):
        acp_host.connect(target)


UNREADABLE = Path("/proc/self/mem")
"""A file that is one, and cannot be read from its beginning; on Linux."""


async def test_a_prompt_of_another_type(tmp_path: Path) -> None:
    unreadable = tmp_path / "loop"
    unreadable.symlink_to(unreadable)

    async def script(agent: ScriptedAgent) -> None: ...

    async with open_session(script) as (_, session):
        for arguments in ({"idle_timeout": "5"}, {"idle_timeout": float("nan")}, {"meta": 5}):
            with pytest.raises(InvalidInput, match=next(iter(arguments))):
                session.prompt("question", **arguments)
        for path in (unreadable, UNREADABLE):
            with pytest.raises(InvalidInput, match="part of a prompt"):
                session.prompt(path)


async def test_a_handler_whose_own_work_is_cancelled_has_failed() -> None:
    """The task of a dialog that the user closes, say; the connection is not closing, and nobody is told so."""

    async def dialog(*_: Any) -> None:
        task = asyncio.ensure_future(asyncio.sleep(3600))
        asyncio.get_running_loop().call_soon(task.cancel)
        await task

    refusal = {"optionId": "no", "name": "No", "kind": "reject_once"}
    questions: list[tuple[str, dict[str, Any]]] = [
        ("_extension", {}),
        ("session/request_permission", {"sessionId": "s-1", "toolCall": {"toolCallId": "c"}, "options": [refusal]}),
        ("elicitation/create", {"sessionId": "s-1", "mode": "form", "message": "?", "requestedSchema": {}}),
        ("mcp/message", {"serverId": "mcp-1", "requestId": "1", "method": "tools/list"}),
    ]

    async def script(agent: ScriptedAgent) -> None:
        await agent.expect("session/new")
        agent.reply_error(-32000, "log in first", {"authMethods": [{"id": "browser", "name": "Browser"}]})
        await agent.open_session("s-1")
        await agent.expect("session/prompt")
        answers = [await agent.call(*question) for question in questions]
        assert [answer["error"]["code"] for answer in (answers[0], answers[3])] == [-32603, -33002]
        assert answers[1]["result"]["outcome"] == {"outcome": "selected", "optionId": "no"}
        assert answers[2]["result"]["action"] == "decline"
        agent.reply(DONE)

    options: Any = dict.fromkeys(("permissions", "elicitation", "authenticate"), dialog)
    serves_mcp = {"mcpCapabilities": {"acp": True}}
    async with connected(script, serves_mcp, handlers={"_extension": dialog}, **options) as host:
        with pytest.raises(AuthRequired) as refused:
            await host.new_session()
        assert "HandlerCancelled" in str(refused.value.__cause__)
        session = await host.new_session(mcp_servers=[acp_host.HostMcpServer(dialog)])
        await session.prompt("go")
        assert [note.kind for note in host.diagnostics] == ["unexpected", *["handler_failed"] * 4]
        assert [record.decided_by for record in host.audit.records] == ["host", "host"]


async def test_what_was_meant_is_said_where_something_else_is_passed(tmp_path: Path) -> None:
    def serve(method: str, params: Any) -> Any:
        raise AssertionError("never called")

    wrong: Any
    async with acp_host.connect(ReferenceAgent().transport()) as host:
        session = await host.new_session(tmp_path)
        assert repr(session) == f"<Session {session.id!r} in {str(tmp_path)!r}>"
        for wrong in (serve, "server"):
            with pytest.raises(InvalidInput, match=r"HostMcpServer\(…\)"):
                await host.new_session(mcp_servers=[wrong])
        for wrong in (acp_host.HostMcpServer(serve), "server"):
            with pytest.raises(InvalidInput, match="mcp_servers is a list of servers"):
                await host.new_session(mcp_servers=wrong)
        wrong = 5
        with pytest.raises(InvalidInput, match="a directory of a session is a path, not int"):
            await host.new_session(wrong)
        wrong = session
        with pytest.raises(InvalidInput, match=r"takes session.state.snapshot\(\), not Session"):
            acp_host.DeltaMaker(wrong)
        with pytest.raises(TypeError, match=r"SessionState has no JSON form, what its snapshot\(\) returns has"):
            acp_host.to_json(session.state)
        snapshot: Any = session.state.snapshot()
        with pytest.raises(InvalidInput, match=r"session\.state\.changed tells, not SessionSnapshot"):
            acp_host.DeltaMaker(snapshot).delta(snapshot)
    wrong = "60"
    with pytest.raises(InvalidInput, match="timeout is a number of seconds above 0, not '60'"):
        acp_host.PermissionQueue(timeout=wrong)
    with pytest.raises(InvalidInput, match=r"PermissionPolicy.load\(path\) reads a file"):
        acp_host.PermissionPolicy.from_toml("policy.toml")


async def test_a_review_that_was_not_awaited() -> None:
    queue = acp_host.ElicitationQueue()
    async with acp_host.connect(ReferenceAgent().transport(), elicitation=queue) as host:
        turn = (await host.new_session()).prompt("/ask Who?")
        async for pending in queue.watch():
            if pending:
                break
        [question] = pending
        review: Any = question.review()
        with pytest.raises(InvalidInput, match=r"accept\(await question.review\(\)\)"):
            question.accept(review)
        await review
        question.decline()
        await turn


async def test_a_refusal_for_want_of_a_login_says_how_to_log_in() -> None:
    async with acp_host.connect(ReferenceAgent(require_auth=True).transport()) as host:
        with pytest.raises(AuthRequired) as raised:
            await host.new_session()
    assert raised.value.__notes__ == [
        "To log in, pass connect(authenticate=…), or call host.authentication.log_in(…) before."
    ]


WRONG: list[tuple[str, Callable[[Any], Any]]] = [
    ("find_document", lambda wrong: FileService(buffers=wrong)),
    ("find_document", lambda wrong: FileService(buffers=[wrong])),
    ("conflict", lambda wrong: FileService(conflict=wrong)),
    ("max_file_size", lambda wrong: FileService(max_file_size=-wrong)),
    ("direct", lambda wrong: acp_host.Permissions(direct=wrong)),
    ("check_changes", lambda wrong: acp_host.Permissions(check_changes=wrong)),
    ("a function or a queue", lambda wrong: acp_host.ElicitationHandlers(form=wrong)),
    ("a function or a queue", lambda wrong: acp_host.ElicitationHandlers(url=wrong)),
    ("capacity", lambda wrong: acp_host.AuditTrail(capacity=-wrong)),
    ("AuditTrail", lambda wrong: acp_host.AuditTrail(file=wrong)),
    ("is no path", lambda wrong: acp_host.RememberedDecisions(wrong)),
    ("tries", lambda wrong: acp_host.ReopenPolicy(tries=str(wrong))),
    ("pause", lambda wrong: acp_host.ReopenPolicy(pause=-wrong)),
]


@pytest.mark.parametrize(("named", "make"), WRONG)
def test_what_a_service_cannot_use_is_said_when_it_is_made(named: str, make: Callable[[Any], Any]) -> None:
    with pytest.raises(InvalidInput, match=named):
        make(7)


async def test_a_turn_that_was_awaited_first_says_that_its_updates_are_gone() -> None:
    async with acp_host.connect(ReferenceAgent().transport()) as host:
        assert repr(host) == "<HostConnection to 'Reference Agent', open>"
        assert repr(host.health) == "<ConnectionHealth connected>"
        assert repr(host.authentication) == "<Authentication at version 0>"
        session = await host.new_session()
        turn = session.prompt("/say Hello")
        assert repr(turn) == "<Turn 1, under way or waiting>"
        await turn
        assert repr(turn) == "<Turn 1, over>"
        with pytest.raises(InvalidState, match="iterate first"):
            async for _ in turn:
                pass
        turn = session.prompt("/say Hello")
        assert [update async for update in turn]
        await turn
        assert [update async for update in turn] == []
