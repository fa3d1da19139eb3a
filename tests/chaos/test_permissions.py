"""What agents do with permissions: ask in odd ways, not ask, ask for one thing and do another, give up, hide things."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

import acp_host
from acp_host import (
    DiagnosticKind,
    PendingPermission,
    PermissionPolicy,
    PermissionQueue,
    PermissionRule,
    Permissions,
)
from acp_host.testing import ScriptedAgent
from acp_host.testing.chaos.agents.asking import ODD_IDS, UNCLEAR_CALLS
from acp_host.testing.chaos.messages import ASK
from acp_host.wire.permission import RequestPermissionRequest
from acp_host.wire.tool_calls import ToolCallUpdate
from tests.chaos.bad_agents import (
    cancelled,
    conversation,
    open_session,
    permission,
    reported,
    selected,
    until,
)


@pytest.fixture(autouse=True)
def cwd(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working directory of the sessions."""
    (tmp_path / "src").mkdir()
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write(path: Path | str, content: str = "new text") -> tuple[str, dict[str, Any]]:
    return "fs/write_text_file", {"sessionId": "session-1", "path": str(path), "content": content}


def create(*argv: str, **more: Any) -> tuple[str, dict[str, Any]]:
    return "terminal/create", {"sessionId": "session-1", "command": argv[0], "args": list(argv[1:]), **more}


def made(name: str) -> bool:
    """Whether there is a file of this name anywhere below the working directory."""
    return any(Path.cwd().rglob(name))


async def one(queue: PermissionQueue) -> PendingPermission:
    await until(lambda: len(queue.pending) == 1)
    return queue.pending[0]


# --- questions ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("policy", [PermissionPolicy.allow_once(), PermissionPolicy.reject(), PermissionPolicy.ask()])
async def test_r120_a_question_without_an_option_informs_and_is_cancelled(policy: PermissionPolicy) -> None:
    queue = PermissionQueue()

    async def bad(agent: ScriptedAgent) -> None:
        request = {**permission(), "options": []}
        assert (await agent.call(ASK, request))["result"] == cancelled

    async def person() -> None:
        (await one(queue)).acknowledge()

    informed = asyncio.create_task(person())
    seen = await conversation(bad, permissions=Permissions(policy=policy, ask=queue))
    await informed
    assert "offers no answer" in seen.reported(DiagnosticKind.UNEXPECTED)[0].message


@pytest.mark.parametrize("option_id", ODD_IDS)
async def test_r121_an_id_goes_back_as_it_came_whatever_it_looks_like(option_id: str) -> None:
    queue = PermissionQueue()
    offered = [
        {"optionId": "decoy", "name": option_id or "yes", "kind": "reject_once"},
        {"optionId": option_id, "name": "decoy", "kind": "allow_once"},
    ]

    async def bad(agent: ScriptedAgent) -> None:
        answer = await agent.call(ASK, {**permission(), "options": offered})
        assert answer["result"] == selected(option_id)

    async def person() -> None:
        question = await one(queue)
        question.choose(question.options[1].option_id)

    chosen = asyncio.create_task(person())
    await conversation(bad, permissions=queue)
    await chosen


HARMLESS = PermissionPolicy(
    "reject_once",
    rules=(PermissionRule(name="harmless", decision="allow_once", kinds=("read", "search", "think", "edit")),),
)


@pytest.mark.parametrize("call", UNCLEAR_CALLS)
async def test_r122_what_does_not_say_what_it_is_is_not_harmless(call: dict[str, Any]) -> None:
    async def bad(agent: ScriptedAgent) -> None:
        asked = await agent.call(ASK, permission(**{"toolCallId": "fresh", **call}))
        assert asked["result"] == selected("reject_once")

    await conversation(bad, permissions=HARMLESS)


@pytest.mark.parametrize(
    ("kinds", "answer"),
    [
        (("allow_once", "reject_once"), selected("reject_once")),
        (("allow_once", "reject_always"), selected("reject_always")),
        (("allow_once", "allow_always"), cancelled),
    ],
)
@pytest.mark.parametrize("who", ["policy", "nobody in time", "a handler that fails"])
async def test_r123_a_refusal_is_a_refusal_and_cancelled_only_where_there_is_none(
    kinds: tuple[str, ...], answer: dict[str, Any], who: str
) -> None:
    def fails(_: Any) -> str:
        raise ValueError("no idea")

    deciders: dict[str, Any] = {
        "policy": PermissionPolicy.reject(),
        "nobody in time": PermissionQueue(timeout=0.01),
        "a handler that fails": fails,
    }

    async def bad(agent: ScriptedAgent) -> None:
        assert (await agent.call(ASK, permission(*kinds)))["result"] == answer

    await conversation(bad, permissions=deciders[who])


@pytest.mark.parametrize("how", ["withdraws", "completed", "failed"])
async def test_r124_a_question_that_the_agent_gives_up_expires(how: str) -> None:
    queue, given_up = PermissionQueue(), asyncio.Event()

    async def bad(agent: ScriptedAgent) -> None:
        number = agent.request(ASK, permission())
        await given_up.wait()
        if how == "withdraws":
            agent.notify("$/cancel_request", {"requestId": number})
        else:
            agent.update({"sessionUpdate": "tool_call_update", "toolCallId": "call-1", "status": how})
        await agent.response(number)

    async def person() -> PendingPermission:
        question = await one(queue)
        given_up.set()
        await until(lambda: question.expired)
        with pytest.raises(acp_host.InvalidState):
            question.choose("allow_once")
        return question

    asked = asyncio.create_task(person())
    await conversation(bad, permissions=queue)
    await asked
    assert queue.pending == ()


async def test_r125_questions_of_subagents_are_their_parents() -> None:
    queue = PermissionQueue()

    async def script(agent: ScriptedAgent) -> None:
        agent.update({"sessionUpdate": "subagent_update", "sessionId": "child", "title": "Helper"}, "session-1")
        answer = await agent.call(ASK, permission(session_id="child"))
        assert answer["result"] == selected("allow_once")
        answer = await agent.call(ASK, permission(session_id="nobody"))
        assert answer["result"] == selected("reject_once")

    async with open_session(script, permissions=queue, unstable=True) as (_, session):
        question = await one(queue)
        assert [asked.request for asked in session.state.snapshot().questions] == [question.request]
        question.choose("allow_once")
        await until(lambda: queue.pending and queue.pending[0] is not question)
        assert session.state.snapshot().questions == ()
        queue.pending[0].choose("reject_once")


async def test_r126_an_answer_that_the_agent_does_not_take_is_reported_with_its_ids() -> None:
    async def script(agent: ScriptedAgent) -> None:
        prompt = await agent.expect("session/prompt")
        await agent.call(ASK, permission())
        agent.reply_error(-32602, "unknown optionId", to=prompt)

    async with open_session(script, permissions=PermissionPolicy.allow_once()) as (host, session):
        with pytest.raises(acp_host.InvalidParams, match="unknown optionId"):
            await session.prompt("go")
        [note] = reported(host, DiagnosticKind.PERMISSION)
    assert note.data == "'allow_once' of 'allow_once', 'reject_once' for the tool call 'call-1'"


async def test_r127_a_thousand_questions_at_once_wait_and_are_answered_each() -> None:
    queue = PermissionQueue()

    async def bad(agent: ScriptedAgent) -> None:
        numbers = [agent.request(ASK, permission(toolCallId=f"call-{number}")) for number in range(1000)]
        for number in numbers:
            kind = "allow_once" if number % 2 else "reject_once"
            assert (await agent.response(number))["result"] == selected(kind)

    async def person() -> None:
        await until(lambda: len(queue.pending) == 1000)
        for question in reversed(queue.pending):
            number = int(question.request.tool_call.tool_call_id.removeprefix("call-")) + 1
            question.choose("allow_once" if number % 2 else "reject_once")

    answering = asyncio.create_task(person())
    await conversation(bad, permissions=queue)
    await answering


# --- deeds ----------------------------------------------------------------------------------------------------------

STRICT = PermissionPolicy(
    "reject_once",
    rules=(
        PermissionRule(name="sources", decision="allow_once", kinds=("edit",), paths=("src/**",)),
        PermissionRule(name="git", decision="allow_once", commands=("git status*",)),
    ),
)


async def test_r128_what_is_done_without_asking_is_asked_about() -> None:
    queue, told = PermissionQueue(), []

    async def bad(agent: ScriptedAgent) -> None:
        for wish in (write(Path.cwd() / "a"), create("touch", "b")):
            assert (await agent.call(*wish))["error"]["code"] == -32602

    async def person() -> None:
        for _ in range(2):
            question = await one(queue)
            told.append((question.is_hosts_own, question.request.tool_call.kind))
            question.choose("reject_once")
            await until(lambda question=question: question not in queue.pending)

    answering = asyncio.create_task(person())
    await conversation(bad, files=True, terminals=True, permissions=queue)
    await answering
    assert told == [(True, "edit"), (True, "execute")]
    assert not made("a")
    assert not made("b")


@pytest.mark.parametrize(
    ("asked", "done"),
    [
        ({"locations": [{"path": "a"}]}, write("{cwd}/b")),
        ({"kind": "read", "locations": [{"path": "b"}]}, write("{cwd}/b")),
        ({"content": [{"type": "diff", "path": "b", "newText": "harmless"}]}, write("{cwd}/b")),
        ({"kind": "execute", "rawInput": {"command": "touch a"}}, create("touch", "b")),
        ({"kind": "execute", "rawInput": {"command": "touch b"}}, create("touch", "b", cwd="{cwd}/src")),
        ({"kind": "execute", "rawInput": {"command": "true b"}}, create("/bin/sh", "-c", "true b; touch b")),
        (
            {"kind": "execute", "rawInput": {"command": "touch b"}},
            create("touch", "b", env=[{"name": "LD_PRELOAD", "value": "x"}]),
        ),
    ],
)
async def test_r129_asking_for_one_thing_permits_no_other(
    cwd: Path, asked: dict[str, Any], done: tuple[str, dict[str, Any]]
) -> None:
    by_title = PermissionPolicy("reject_once", rules=(PermissionRule(decision="allow_once", titles=("Nice",)),))
    if "rawInput" in asked:
        by_title = PermissionPolicy(
            "reject_once", rules=(PermissionRule(decision="allow_once", kinds=("execute",), titles=("Nice",)),)
        )

    async def bad(agent: ScriptedAgent) -> None:
        call = {"toolCallId": "fresh", "title": "Nice", **asked}
        assert (await agent.call(ASK, permission(**call)))["result"] == selected("allow_once")
        method, params = done
        for key in params.keys() & {"path", "cwd"}:
            params = {**params, key: params[key].replace("{cwd}", str(cwd))}
        assert (await agent.call(method, params))["error"]["code"] == -32602

    await conversation(bad, files=True, terminals=True, permissions=by_title)
    assert not made("b")


async def test_r516_an_answer_that_allows_as_well_as_it_rejects_permits_nothing(cwd: Path) -> None:
    audit = acp_host.AuditTrail()

    async def bad(agent: ScriptedAgent) -> None:
        asks = permission(toolCallId="fresh", kind="edit", locations=[{"path": "b"}])
        both = [{"optionId": "x", "name": kind, "kind": kind} for kind in ("allow_once", "reject_once")]
        assert (await agent.call(ASK, {**asks, "options": both}))["result"] == selected("x")
        assert (await agent.call(*write(f"{cwd}/b")))["error"]["code"] == -32602

    await conversation(bad, files=True, permissions=lambda request: "x", audit=audit)
    assert [record.decision for record in audit.records] == ["cancelled", "rejected"]
    assert not made("b")


@pytest.mark.parametrize(
    "line",
    [
        "git status; touch b",
        "git status && touch b",
        "git status || touch b",
        "git status | tee b",
        "git status & touch b",
        "git status $(touch b)",
        "git status `touch b`",
        "git status\ntouch b",
        "git status > b",
        "git status {>b,}",
        "X=$(touch b) git status",
        "./git status",
        "sh -c 'git status; touch b'",
    ],
)
async def test_r130_nothing_hides_behind_an_allowed_command(cwd: Path, line: str) -> None:
    async def bad(agent: ScriptedAgent) -> None:
        call = {"toolCallId": "fresh", "kind": "execute", "title": "git status"}
        for raw in ({"command": line}, {"command": ["/bin/sh", "-c", line]}, {"command": "git status", "cmd": line}):
            asked = await agent.call(ASK, permission(**call, rawInput=raw))
            assert asked["result"] == selected("reject_once")
        for wish in (create(line), create("/bin/sh", "-c", line), create("git", *line.split(" ")[1:], "; touch b")):
            assert (await agent.call(*wish))["error"]["code"] == -32602

    await conversation(bad, terminals=True, permissions=STRICT)
    assert not made("b")


@pytest.mark.parametrize(
    "call",
    [
        {"locations": [{"path": "src/out/a"}]},
        {"locations": [{"path": "src/../a"}]},
        {"locations": [{"path": "src/a"}, {"path": "a"}]},
        {"locations": [{"path": "src/a"}], "rawInput": {"file_path": "a"}},
        {"locations": [{"path": "src/a"}], "rawInput": {"edits": [{"anything": "/etc/passwd"}]}},
        {"locations": [{"path": "src/a"}], "content": [{"type": "diff", "path": "a", "newText": "x"}]},
        {"locations": [{"path": "src/a"}], "rawInput": {"paths": ["src/b", "~/c"]}},
        {"locations": [{"path": "src/a"}], "rawInput": {"uri": "file:///etc/passwd"}},
        {"locations": [{"path": "src/a\0b"}]},
        {"locations": []},
        {},
    ],
)
async def test_r131_every_path_counts_and_where_it_really_leads(cwd: Path, call: dict[str, Any]) -> None:
    (cwd / "src" / "out").symlink_to(cwd)

    async def bad(agent: ScriptedAgent) -> None:
        asked = await agent.call(ASK, permission(**{"toolCallId": "fresh", **call}))
        assert asked["result"] == selected("reject_once")
        asked = await agent.call(ASK, permission(toolCallId="good", locations=[{"path": "src/a"}]))
        assert asked["result"] == selected("allow_once")

    await conversation(bad, permissions=STRICT)


async def test_r515_a_command_that_starts_elsewhere_names_files_from_there(cwd: Path) -> None:
    """From the working directory the file is in ``src``; from ``src`` it is in another directory of that name."""
    rule = PermissionRule(decision="allow_once", commands=("cat *",), paths=("src", "src/**"))
    line, answers = f"cat ../{cwd.name}/src/a", []

    async def bad(agent: ScriptedAgent) -> None:
        for where in ({}, {"cwd": "src"}):
            call = {"toolCallId": "fresh", "kind": "execute", "rawInput": {"command": line, **where}}
            answers.append((await agent.call(ASK, permission(**call)))["result"])

    await conversation(bad, permissions=PermissionPolicy("reject_once", rules=(rule,)))
    assert answers == [selected("allow_once"), selected("reject_once")]


async def test_r132_whatever_is_asked_is_in_the_audit_trail_and_can_be_printed() -> None:
    hostile = "\x1b[2J\u202e\n" * 10_000
    told: list[Any] = []
    audit = acp_host.AuditTrail()
    audit.on_record(told.append)

    async def bad(agent: ScriptedAgent) -> None:
        await agent.call(ASK, permission(toolCallId="fresh", title=hostile, rawInput={"path": hostile[:100]}))
        agent.request(ASK, {"sessionId": "session-1"})
        await agent.call(*write("/etc/acp-host"))

    await conversation(bad, files=True, permissions=STRICT, audit=audit)
    assert [(record.action, record.decision) for record in told] == [
        (ASK, "rejected"),
        (ASK, "rejected"),
        ("fs/write_text_file", "rejected"),
    ]
    assert len(told[0].subject) <= 2_048
    request = RequestPermissionRequest("s", ToolCallUpdate("t", title=hostile, raw_input={"path": hostile[:100]}), ())
    assert "\x1b" not in str(STRICT.explain(request))
