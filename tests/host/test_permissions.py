"""What an agent may do on a connection: by policy, by a person, by what was answered before; and the trail of it."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

import acp_host
from acp_host import (
    AuditRecord,
    AuditTrail,
    ElicitationHandlers,
    HostConnection,
    HostPermissionRequest,
    PendingPermission,
    PermissionPolicy,
    PermissionQueue,
    PermissionRule,
    Permissions,
    RememberedDecisions,
)
from acp_host.services.files import FileService
from acp_host.services.permission_memory import AnswerToRemember
from acp_host.services.permission_subject import PermissionSubject
from acp_host.testing import ScriptedAgent
from acp_host.wire.elicitation import ElicitationAcceptAction, ElicitationDeclineAction
from acp_host.wire.mcp import McpServerStdio
from acp_host.wire.permission import SelectedPermissionOutcome
from acp_host.wire.terminals import EnvVariable
from tests.host.scripts import DONE, connected, trail, until
from tests.interop.users import Asked

FORM = {"properties": {"token": {"type": "string"}}}
YES_NO = [
    {"optionId": "yes", "name": "Yes", "kind": "allow_once"},
    {"optionId": "no", "name": "No", "kind": "reject_once"},
]


def ask(options: Any = YES_NO, session_id: str = "s-1", **call: Any) -> tuple[str, dict[str, Any]]:
    params = {"sessionId": session_id, "toolCall": {"toolCallId": "c-1", **call}, "options": options}
    return "session/request_permission", params


def write(path: Path, content: str = "text") -> tuple[str, dict[str, Any]]:
    return "fs/write_text_file", {"sessionId": "s-1", "path": str(path), "content": content}


def run(*argv: str, **more: Any) -> tuple[str, dict[str, Any]]:
    return "terminal/create", {"sessionId": "s-1", "command": argv[0], "args": list(argv[1:]), **more}


def said(answer: dict[str, Any]) -> str:
    """An answer in a word: the chosen option, ``done``, or the error's code."""
    if "error" in answer:
        return str(answer["error"]["code"])
    outcome = (answer["result"] or {}).get("outcome")
    return "done" if outcome is None else outcome.get("optionId", outcome["outcome"])


class Asks:
    """An agent that, in its one turn, asks for some things one after the other; ``answers`` are in words."""

    def __init__(self, *wishes: tuple[str, dict[str, Any]], before: tuple[dict[str, Any], ...] = ()) -> None:
        self.wishes, self.before = wishes, before
        self.answers: list[str] = []

    async def __call__(self, agent: ScriptedAgent) -> None:
        await agent.open_session("s-1")
        await agent.expect("session/prompt")
        for update in self.before:
            agent.update(update, "s-1")
        for wish in self.wishes:
            self.answers.append(said(await agent.call(*wish)))
        agent.reply(DONE)


async def answers(*wishes: tuple[str, dict[str, Any]], cwd: Path, **options: Any) -> tuple[list[str], HostConnection]:
    """What an agent is told that asks for some things in one turn."""
    script = Asks(*wishes)
    async with connected(script, **{"files": True, "terminals": True, **options}) as host:
        session = await host.new_session(cwd)
        await session.prompt("go")
    return script.answers, host


READ_ONLY = PermissionPolicy.read_only()
SOURCES = PermissionPolicy(
    "ask",
    rules=(
        PermissionRule(name="sources", decision="allow_once", paths=("src/**",)),
        PermissionRule(name="no rm", decision="reject_once", programs=("rm",)),
        PermissionRule(name="echo", decision="allow_once", commands=("echo *",)),
    ),
)


@pytest.fixture
def cwd(tmp_path: Path) -> Path:
    (tmp_path / "src").mkdir()
    return tmp_path.resolve()


# --- who decides ----------------------------------------------------------------------------------------------------


async def test_nothing_given_rejects_questions_and_takes_services_for_consent(cwd: Path) -> None:
    told, host = await answers(
        ask(kind="edit", locations=[{"path": str(cwd / "a")}]), write(cwd / "b"), run("true"), cwd=cwd
    )
    assert told == ["no", "done", "done"]
    assert trail(host) == [
        ("session/request_permission", "rejected", "policy"),
        ("fs/write_text_file", "allowed", "consent"),
        ("terminal/create", "allowed", "consent"),
    ]


async def test_what_was_refused_is_not_done_in_the_same_turn(cwd: Path) -> None:
    told, host = await answers(
        ask(kind="edit", locations=[{"path": str(cwd / "a")}]),
        write(cwd / "a"),
        ask(kind="execute", rawInput={"command": "echo hi"}),
        run("echo", "hi"),
        cwd=cwd,
    )
    assert told == ["no", "-32602", "no", "-32602"]
    assert not (cwd / "a").exists()
    assert trail(host)[1] == ("fs/write_text_file", "rejected", "approval")


async def test_a_policy_decides_direct_writes_and_commands_too(cwd: Path) -> None:
    told, host = await answers(
        write(cwd / "src" / "a"), write(cwd / "b"), run("echo", "hi"), run("rm", "x"), cwd=cwd, permissions=SOURCES
    )
    assert told == ["done", "-32602", "done", "-32602"]
    assert [(record.rule, record.decision) for record in host.audit.records] == [
        ("sources", "allowed"),
        (None, "rejected"),
        ("echo", "allowed"),
        ("no rm", "rejected"),
    ]
    assert "nobody is there to be asked" in host.audit.records[1].detail


async def test_a_command_with_more_in_it_is_not_the_command_that_is_allowed(cwd: Path) -> None:
    wishes = [
        run("echo hi; touch x"),
        run("/bin/sh", "-c", "echo hi; touch x"),
        run("echo", "$(touch x)"),
        run("echo", "a\ntouch x"),
        run("./echo", "hi"),
        run("echo", "hi", env=[{"name": "LD_PRELOAD", "value": "/tmp/x.so"}]),
    ]
    told, _ = await answers(*wishes, cwd=cwd, permissions=SOURCES)
    assert told == ["-32602"] * len(wishes)
    assert not (cwd / "x").exists()


@pytest.mark.skipif(os.name == "nt", reason="a file is a program there by its name")
async def test_a_program_that_is_called_like_a_line_that_is_allowed_is_not_run(cwd: Path) -> None:
    program = cwd / "echo --to=" / "it"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\ntouch ran\n")
    program.chmod(0o755)
    told, host = await answers(run("echo --to=/it"), run("echo --to=/else"), cwd=cwd, permissions=SOURCES)
    assert told == ["-32602", "done"]
    assert [record.subject for record in host.audit.records] == ["'echo --to=/it'", "echo --to=/else"]
    assert not (cwd / "ran").exists()


async def test_a_link_out_of_an_allowed_directory_is_not_in_it(cwd: Path) -> None:
    (cwd / "other").mkdir()
    (cwd / "src" / "out").symlink_to(cwd / "other")
    told, _ = await answers(write(cwd / "src" / "out" / "a"), cwd=cwd, permissions=SOURCES)
    assert told == ["-32602"]
    assert not list((cwd / "other").iterdir())


async def test_what_the_agent_said_of_the_call_before_counts(cwd: Path) -> None:
    """It announces the kind and the path, and repeats neither in the question."""
    script = Asks(
        ask(),
        before=(
            {
                "sessionUpdate": "tool_call",
                "toolCallId": "c-1",
                "title": "Edit",
                "kind": "edit",
                "rawInput": {"file_path": str(cwd / "src" / "a")},
            },
        ),
    )
    async with connected(script, permissions=SOURCES) as host:
        await (await host.new_session(cwd)).prompt("go")
    assert script.answers == ["yes"]


async def test_a_handler_is_asked_about_what_the_agent_did_not_ask(cwd: Path) -> None:
    person = Asked("allow_once")
    told, host = await answers(write(cwd / "a"), run("echo", "hi"), cwd=cwd, permissions=person)
    assert told == ["done", "done"]
    assert [type(request) for request in person.requests] == [HostPermissionRequest] * 2
    assert [request.method for request in person.requests] == ["fs/write_text_file", "terminal/create"]
    assert person.requests[0].tool_call.raw_input == {"path": str(cwd / "a"), "content": "text"}
    assert person.requests[1].tool_call.title == "echo hi"
    assert trail(host)[0] == ("fs/write_text_file", "allowed", "user")


async def test_nobody_is_asked_twice_about_the_same_thing(cwd: Path) -> None:
    person = Asked("allow_once")
    told, host = await answers(
        ask(kind="edit", locations=[{"path": str(cwd / "a")}]),
        write(cwd / "a"),
        write(cwd / "a"),
        ask(kind="execute", rawInput={"command": "echo hi"}),
        run("/bin/sh", "-lc", "echo hi"),
        cwd=cwd,
        permissions=person,
    )
    assert told == ["yes", "done", "done", "yes", "done"]
    hosts_own = [isinstance(request, HostPermissionRequest) for request in person.requests]
    assert hosts_own == [False, True, False]  # the second write is another one
    assert [by for _, _, by in trail(host)] == ["user", "approval", "user", "user", "approval"]


async def test_permission_for_a_piece_is_none_for_the_rest_of_a_file(cwd: Path) -> None:
    (cwd / "a").write_text("one two\n")
    person = Asked("allow_once")
    edit = ask(kind="edit", content=[{"type": "diff", "path": str(cwd / "a"), "oldText": "one", "newText": "1"}])
    writes = write(cwd / "a", "1 and all that"), write(cwd / "a", "1 two\n")
    told, host = await answers(edit, writes[1], edit, writes[0], cwd=cwd, permissions=person)
    assert told == ["yes", "done", "yes", "done"]
    assert [by for _, _, by in trail(host)] == ["user", "approval", "user", "user"]
    assert host.audit.records[-1].subject == str(cwd / "a")


async def test_an_answer_holds_for_its_turn_only(cwd: Path) -> None:
    person = Asked("allow_once")

    async def script(agent: ScriptedAgent) -> None:
        await agent.open_session("s-1")
        await agent.expect("session/prompt")
        await agent.call(*ask(kind="edit", locations=[{"path": str(cwd / "a")}]))
        agent.reply(DONE)
        await agent.expect("session/prompt")
        await agent.call(*write(cwd / "a"))
        agent.reply(DONE)

    async with connected(script, files=True, permissions=person) as host:
        session = await host.new_session(cwd)
        await session.prompt("one")
        await session.prompt("two")
    assert len(person.requests) == 2


async def test_offered_services_can_be_consent_beside_a_handler(cwd: Path) -> None:
    person = Asked("reject_once")
    told, _ = await answers(write(cwd / "a"), run("true"), cwd=cwd, permissions=Permissions(ask=person, direct=False))
    assert (told, person.requests) == (["done", "done"], [])


async def test_a_handler_that_fails_allows_nothing(cwd: Path) -> None:
    def fails(_: Any) -> str:
        raise ValueError("no idea")

    told, host = await answers(ask(), write(cwd / "a"), run("true"), cwd=cwd, permissions=fails)
    assert told == ["no", "-32602", "-32602"]
    assert {record.decided_by for record in host.audit.records} == {"host"}
    assert "no idea" in next(iter(host.diagnostics)).message


async def test_a_handler_that_fails_utterly_allows_nothing_either(cwd: Path) -> None:
    class Odd(BaseException):
        pass

    def fails(_: Any) -> str:
        raise Odd

    told, host = await answers(ask(), cwd=cwd, permissions=fails)
    assert told == ["-32603"]
    assert trail(host) == [("session/request_permission", "failed", "host")]


async def test_what_cannot_be_run_is_refused_before_anybody_is_asked(cwd: Path) -> None:
    person = Asked("allow_once")
    told, host = await answers(run("true", cwd="/"), cwd=cwd, permissions=person)
    assert (told, person.requests) == (["-32602"], [])
    assert trail(host) == [("terminal/create", "rejected", "confinement")]


async def test_deny_without_a_reject_option_is_cancelled_and_recorded_as_a_refusal(cwd: Path) -> None:
    told, host = await answers(ask(YES_NO[:1]), cwd=cwd, permissions=PermissionPolicy.reject())
    assert told == ["cancelled"]
    assert trail(host) == [("session/request_permission", "rejected", "policy")]


# --- the queue ------------------------------------------------------------------------------------------------------


async def waiting(queue: PermissionQueue, number: int = 1) -> tuple[PendingPermission, ...]:
    await until(lambda: len(queue.pending) == number)
    return queue.pending


async def test_the_queue_agrees_with_the_questions_of_the_state(cwd: Path) -> None:
    queue, script = PermissionQueue(), Asks(ask(kind="edit", title="Edit it"), write(cwd / "a"), run("echo", "hi"))
    async with connected(script, files=True, terminals=True, permissions=queue) as host:
        session = await host.new_session(cwd)
        turn = session.prompt("go")
        for method in ("session/request_permission", "fs/write_text_file", "terminal/create"):
            [pending] = await waiting(queue)
            [question] = session.state.snapshot().questions
            assert (question.method, question.request) == (method, pending.request)
            assert (question.position is None) is pending.is_hosts_own
            assert session.state.snapshot().turn.status == "waiting"
            acp_host.to_json(session.state.snapshot())
            pending.choose("yes" if method.startswith("session") else "allow_once")
            await until(lambda pending=pending: pending not in queue.pending)
        await turn
        assert session.state.snapshot().questions == ()
        assert len(session.state.snapshot().tool_calls) == 1
    assert script.answers == ["yes", "done", "done"]


async def test_any_number_waits_at_once_and_is_answered_in_any_order(cwd: Path) -> None:
    queue = PermissionQueue()

    async def script(agent: ScriptedAgent) -> None:
        await agent.open_session("s-1")
        await agent.expect("session/prompt")
        for number in range(3):
            agent.request(*ask(title=f"call {number}"))
        told = [said(await agent.response(number)) for number in (3, 1, 2)]
        assert told == ["no", "yes", "no"]
        agent.reply(DONE)

    async with connected(script, permissions=queue) as host:
        session = await host.new_session(cwd)
        turn = session.prompt("go")
        # Each is judged in a thread before it is queued, so several of one moment come in any order.
        one, two, three = sorted(await waiting(queue, 3), key=lambda question: str(question.request.tool_call.title))
        assert len(session.state.snapshot().questions) == 3
        three.choose("no")
        one.choose("yes")
        two.choose("no")
        await turn


async def test_cancelling_the_turn_expires_what_waits(cwd: Path) -> None:
    queue = PermissionQueue()

    async def script(agent: ScriptedAgent) -> None:
        await agent.open_session("s-1")
        prompt = await agent.expect("session/prompt")
        agent.request(*ask())
        agent.request(*write(cwd / "a"))
        await agent.expect("session/cancel")
        assert said(await agent.response(1)) == "cancelled"
        assert said(await agent.response(2)) == "-32800"
        assert said(await agent.call(*write(cwd / "a"))) == "-32800"
        agent.reply({"stopReason": "cancelled"}, to=prompt)

    async with connected(script, files=True, permissions=queue) as host:
        session = await host.new_session(cwd)
        turn = session.prompt("go")
        pending = await waiting(queue, 2)
        turn.cancel()
        assert session.state.snapshot().questions == ()
        await turn
        assert queue.pending == ()
        assert all(question.expired for question in pending)
        assert {record.decision for record in host.audit.records} == {"cancelled"}
        assert len(host.audit.records) == 3
    assert not (cwd / "a").exists()


async def test_a_request_that_the_agent_withdraws_expires(cwd: Path) -> None:
    queue = PermissionQueue()

    async def script(agent: ScriptedAgent) -> None:
        await agent.open_session("s-1")
        await agent.expect("session/prompt")
        for number, wish in enumerate((ask(), write(cwd / "a")), start=1):
            agent.request(*wish)
            await agent.expect("_test/seen")
            agent.notify("$/cancel_request", {"requestId": number})
            assert said(await agent.response(number)) == "-32800"
        agent.reply(DONE)

    async with connected(script, files=True, permissions=queue) as host:
        session = await host.new_session(cwd)
        turn = session.prompt("go")
        for _ in range(2):
            [pending] = await waiting(queue)
            await host.notify("_test/seen", {})
            await until(lambda: queue.pending == ())
            assert pending.expired
        await turn


@pytest.mark.parametrize("status", ["completed", "failed"])
async def test_the_end_of_the_tool_call_expires_its_question(cwd: Path, status: str) -> None:
    queue = PermissionQueue()

    async def script(agent: ScriptedAgent) -> None:
        await agent.open_session("s-1")
        await agent.expect("session/prompt")
        agent.request(*ask())
        await agent.expect("_test/seen")
        agent.update({"sessionUpdate": "tool_call_update", "toolCallId": "other", "status": status}, "s-1")
        agent.update({"sessionUpdate": "tool_call_update", "toolCallId": "c-1", "status": "in_progress"}, "s-1")
        agent.update({"sessionUpdate": "tool_call_update", "toolCallId": "c-1", "status": status}, "s-1")
        assert said(await agent.response(1)) == "no"
        agent.reply(DONE)

    async with connected(script, permissions=queue) as host:
        session = await host.new_session(cwd)
        turn = session.prompt("go")
        [pending] = await waiting(queue)
        await host.notify("_test/seen", {})
        await turn
        assert pending.expired
        assert session.state.snapshot().questions == ()


async def test_without_options_a_person_is_informed_whatever_the_policy_says(cwd: Path) -> None:
    for policy in (PermissionPolicy.allow_once(), PermissionPolicy.ask()):
        queue, script = PermissionQueue(), Asks(ask([]))
        async with connected(script, permissions=Permissions(policy=policy, ask=queue)) as host:
            turn = (await host.new_session(cwd)).prompt("go")
            [pending] = await waiting(queue)
            pending.acknowledge()
            await turn
        assert script.answers == ["cancelled"]
        assert any("offers no answer" in note.message for note in host.diagnostics)


async def test_out_of_time_rejects_and_says_so(cwd: Path) -> None:
    told, host = await answers(ask(), write(cwd / "a"), cwd=cwd, permissions=PermissionQueue(timeout=0.01))
    assert told == ["no", "-32602"]
    assert [(record.decided_by, record.detail) for record in host.audit.records] == [
        ("host", "nobody has answered within 0.01 s")
    ] * 2


# --- remembering ----------------------------------------------------------------------------------------------------


async def test_what_is_remembered_always_answers_on_the_next_connection(cwd: Path) -> None:
    path, person = cwd / "memory.toml", Asked("allow_once")

    def always(request: Any) -> AnswerToRemember:
        return AnswerToRemember(SelectedPermissionOutcome(person(request)), "always")

    edit = ask(kind="edit", locations=[{"path": str(cwd / "a")}])
    other = ask(kind="edit", locations=[{"path": str(cwd / "b")}])
    await answers(edit, cwd=cwd, permissions=Permissions(ask=always, remember=RememberedDecisions(path)))
    told, host = await answers(edit, other, cwd=cwd, permissions=Permissions(remember=RememberedDecisions(path)))
    assert told == ["yes", "no"]
    assert [record.decided_by for record in host.audit.records] == ["remembered", "policy"]
    assert len(person.requests) == 1
    path.chmod(0o644)
    told, host = await answers(edit, cwd=cwd, permissions=Permissions(remember=RememberedDecisions(path)))
    assert told == ["no"]
    assert "mode is 644" in next(iter(host.diagnostics)).message


async def test_always_in_the_hosts_own_question_is_for_the_session_and_exact(cwd: Path) -> None:
    person = Asked("allow_always")
    told, _ = await answers(
        write(cwd / "a"), write(cwd / "a"), write(cwd / "b"), run("true"), run("true"), cwd=cwd, permissions=person
    )
    assert told == ["done"] * 5
    assert [request.tool_call.title for request in person.requests] == [
        f"Write {cwd / 'a'}",
        f"Write {cwd / 'b'}",
        "true",
    ]


async def test_always_in_the_agents_question_is_the_agents_to_remember(cwd: Path) -> None:
    person = Asked("allow_always")
    options = [{"optionId": "ever", "name": "Always", "kind": "allow_always"}]
    edit = ask(options, kind="edit", locations=[{"path": str(cwd / "a")}])
    told, _ = await answers(edit, edit, cwd=cwd, permissions=person)
    assert (told, len(person.requests)) == (["ever", "ever"], 2)


# --- whose it is ----------------------------------------------------------------------------------------------------


async def test_requests_of_subagents_go_to_their_parent_and_end_with_its_turn(cwd: Path) -> None:
    queue = PermissionQueue()

    async def script(agent: ScriptedAgent) -> None:
        await agent.open_session("s-1")
        prompt = await agent.expect("session/prompt")
        agent.update({"sessionUpdate": "subagent_update", "sessionId": "child", "title": "Helper"}, "s-1")
        assert said(await agent.call(*ask(session_id="child"))) == "yes"
        agent.request(*ask(session_id="child"))
        await agent.expect("session/cancel")
        assert said(await agent.response(2)) == "cancelled"
        agent.reply({"stopReason": "cancelled"}, to=prompt)

    async with connected(script, permissions=queue, unstable=True) as host:
        session = await host.new_session(cwd)
        turn = session.prompt("go")
        [pending] = await waiting(queue)
        assert pending.request.session_id == "child"
        assert pending.subject is not None
        assert pending.subject.cwd == os.fspath(cwd)
        [question] = session.state.snapshot().questions
        assert (question.request, question.position) == (pending.request, None)
        pending.choose("yes")
        await until(lambda: queue.pending and queue.pending[0] is not pending)
        turn.cancel()
        await turn
        assert queue.pending == ()


async def test_what_subagents_do_through_the_host_is_asked_about_and_in_the_trail(cwd: Path) -> None:
    person, shown = Asked("allow_once"), []
    child = {"sessionUpdate": "subagent_update", "sessionId": "child", "title": "Helper"}

    def decide(conflict: Any) -> str:
        shown.extend(session.state.snapshot().questions)
        return str(conflict.proposed)

    async def change(params: Any) -> None:
        (cwd / "a").write_text("mine")

    reads = "fs/read_text_file", {"sessionId": "s-1", "path": str(cwd / "a")}
    wishes = [write(cwd / "a"), run("echo", "hi"), reads, ("_change", {}), write(cwd / "a", "more"), write(cwd / "b")]
    for _, params in (*wishes[:3], wishes[4]):
        params["sessionId"] = "child"
    script = Asks(*wishes, before=(child,))
    options: Any = {"files": FileService(conflict=decide), "terminals": True, "handlers": {"_change": change}}
    async with connected(script, permissions=person, unstable=True, **options) as host:
        session = await host.new_session(cwd)
        await session.prompt("go")
    assert script.answers == ["done"] * len(wishes)
    assert ((cwd / "a").read_text(), len(shown)) == ("more", 1)
    assert [request.method for request in person.requests] == [
        "fs/write_text_file",
        "terminal/create",
        "fs/write_text_file",
        "fs/write_text_file",
    ]
    assert [(record.session_id, record.decided_by) for record in host.audit.records] == [
        ("child", "user"),
        ("child", "user"),
        ("child", "consent"),
        ("child", "user"),
        ("s-1", "user"),
    ]


async def test_to_read_a_file_always_is_not_to_write_it(cwd: Path) -> None:
    """The host would take an answer about a diff for the answer about writing it."""
    diff = {"type": "diff", "path": str(cwd / "src/a"), "newText": "text"}
    memory, person = RememberedDecisions(), Asked("reject_once")
    asked = Permissions(ask=person, remember=memory)
    read = ask(kind="read", title="Look", rawInput={"path": "src/a"})
    path = str(cwd / "src/a")
    subject = PermissionSubject(agent="scripted-agent", session_id="s-1", kind="read", paths=(path,), cwd=str(cwd))
    memory.remember(subject, allows=True, scope="session")
    told, _ = await answers(read, ask(kind="read", content=[diff]), write(cwd / "src/a"), cwd=cwd, permissions=asked)
    assert told == ["yes", "no", "-32602"]
    assert len(person.requests) == 1
    told, _ = await answers(read, ask(kind="read", content=[diff]), cwd=cwd, permissions=READ_ONLY)
    assert told == ["yes", "no"]


async def test_requests_of_unknown_sessions_are_answered_and_no_path_of_theirs_is_allowed(cwd: Path) -> None:
    anywhere = PermissionPolicy(rules=(PermissionRule(decision="allow_once", paths=("/**",)),))
    told, host = await answers(ask(session_id="nobody", locations=[{"path": "/x"}]), cwd=cwd, permissions=anywhere)
    assert told == ["no"]
    assert host.audit.records[0].session_id == "nobody"


# --- the trail ------------------------------------------------------------------------------------------------------


async def test_every_attempt_is_in_the_trail_and_no_secret(cwd: Path, tmp_path_factory: Any) -> None:
    path = tmp_path_factory.mktemp("audit") / "audit.jsonl"
    (cwd / "a").write_text("secret of the file")
    read = ("fs/read_text_file", {"sessionId": "s-1", "path": str(cwd / "a")})
    outside = ("fs/read_text_file", {"sessionId": "s-1", "path": "/etc/passwd"})
    missing = ("fs/read_text_file", {"sessionId": "s-1", "path": str(cwd / "missing")})
    nobody = ("fs/read_text_file", {"sessionId": "nobody", "path": "/x"})
    hidden = [{"name": "TOKEN", "value": "secret of the environment"}]
    told, host = await answers(
        read,
        outside,
        missing,
        nobody,
        write(Path("/etc/acp"), "secret of the write"),
        run("true", env=hidden),
        ("fs/read_text_file", {"sessionId": "s-1"}),
        ("elicitation/create", {"sessionId": "s-1", "mode": "form", "message": "?", "requestedSchema": {}}),
        cwd=cwd,
        audit=AuditTrail(file=path),
    )
    assert told == ["done", "-32602", "-32002", "-32002", "-32602", "done", "-32602", "-32601"]
    records = host.audit.records
    assert [(record.decision, record.decided_by) for record in records] == [
        ("allowed", "consent"),
        ("rejected", "confinement"),
        ("failed", "consent"),
        ("rejected", "host"),
        ("rejected", "confinement"),
        ("allowed", "consent"),
        ("rejected", "host"),
        ("rejected", "host"),
    ]
    assert records[1].subject == "/etc/passwd"
    lines = path.read_text().splitlines()
    assert [json.loads(line)["action"] for line in lines] == [record.action for record in records]
    assert "secret" not in path.read_text() + repr(records)


async def test_a_secret_that_the_agent_repeats_is_not_in_the_trail(cwd: Path) -> None:
    """What was typed into a login, or stands in a header; here it is one of an MCP server's variables."""
    wishes = [run("echo", "open-sesame"), write(cwd / "open-sesame"), ask(title="Use open-sesame"), run("A_TOKEN=x1 y")]
    script = Asks(*wishes)
    async with connected(script, terminals=True, files=True) as host:
        server = McpServerStdio("s", "/bin/s", (), (EnvVariable("A", "open-sesame"),))
        session = await host.new_session(cwd, mcp_servers=[server])
        await session.prompt("go")
    assert [record.subject for record in host.audit.records] == [
        "echo [redacted]",
        str(cwd / "[redacted]"),
        "Use [redacted]",
        "A_TOKEN=[redacted] y",
    ]


async def test_forms_are_in_the_trail_without_their_answers(cwd: Path) -> None:
    form = {"sessionId": "s-1", "mode": "form", "message": "Your token?", "requestedSchema": FORM}
    page = {"sessionId": "s-1", "mode": "url", "message": "!", "elicitationId": "e", "url": "https://x.org/a?secret=1"}
    wishes = [("elicitation/create", form), ("elicitation/create", page)]
    told = iter([ElicitationAcceptAction({"token": "secret"}), ElicitationDeclineAction()])

    async def script(agent: ScriptedAgent) -> None:
        await agent.open_session("s-1")
        for wish in wishes:
            await agent.call(*wish)

    def handler(_: Any) -> Any:
        return next(told)

    async with connected(script, elicitation=ElicitationHandlers(form=handler, url=handler)) as host:
        await host.new_session(cwd)
    assert [(record.subject, record.decision, record.decided_by) for record in host.audit.records] == [
        ("Your token?", "allowed", "user"),
        ("https://x.org/a", "rejected", "user"),
    ]
    assert "secret" not in repr(host.audit.records)


async def test_an_option_of_an_unknown_kind_is_an_answer_and_no_permission_for_more(cwd: Path) -> None:
    options = [{"optionId": "odd", "name": "Odd", "kind": "allow_for_now"}]
    edit = ask(options, kind="edit", locations=[{"path": str(cwd / "a")}])

    def person(request: Any) -> str:
        return "reject_once" if isinstance(request, HostPermissionRequest) else "odd"

    told, host = await answers(edit, write(cwd / "a"), cwd=cwd, permissions=person)
    assert told == ["odd", "-32602"]
    assert trail(host) == [
        ("session/request_permission", "answered", "user"),
        ("fs/write_text_file", "rejected", "user"),
    ]


async def test_an_observer_hears_of_records_as_they_come(cwd: Path) -> None:
    seen: list[AuditRecord] = []
    audit = AuditTrail()
    audit.on_record(seen.append)
    _, host = await answers(ask(title="Do it\x1b"), cwd=cwd, audit=audit)
    assert tuple(seen) == host.audit.records
    assert (seen[0].subject, seen[0].agent) == ("Do it\x1b", host.agreement.agent_name)


async def test_an_option_that_the_agent_does_not_take_is_reported_with_the_ids(cwd: Path) -> None:
    async def script(agent: ScriptedAgent) -> None:
        await agent.open_session("s-1")
        await agent.expect("session/prompt")
        await agent.call(*ask())
        agent.reply_error(-32602, "unknown option")

    async with connected(script, permissions=Asked("allow_once")) as host:
        turn = (await host.new_session(cwd)).prompt("go")
        with pytest.raises(acp_host.InvalidParams):
            await turn
    [note] = [note for note in host.diagnostics if note.kind == "permission"]
    assert note.data == "'yes' of 'yes', 'no' for the tool call 'c-1'"
    assert "unknown option" in note.message
