"""After a turn, what has changed is held against the policy: when, and what the result says of it."""

from __future__ import annotations

import asyncio
import os
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import acp_host
from acp_host import DiagnosticKind, FileService, OutcomeKind, PermissionPolicy, RequestFailed, TurnResult
from acp_host.host import change_check
from acp_host.services.permissions import PermissionRule, Permissions
from acp_host.services.working_copy import Fingerprint, FingerprintLimits, take_fingerprint
from acp_host.testing import ReferenceAgent, ScriptedAgent
from tests.host.scripts import DONE, connected, until

LIMITS = FingerprintLimits(max_seconds=60)
RULES = (
    PermissionRule(name="keys", decision="reject_once", paths=("secret/",)),
    PermissionRule(name="source", decision="allow_once", paths=("src/",)),
)
POLICY = PermissionPolicy(rules=RULES)
CHECKED = Permissions(policy=POLICY, check_changes=LIMITS)


@pytest.fixture
def work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("src", "secret"):
        (tmp_path / name).mkdir()
    monkeypatch.chdir(tmp_path)
    return Path(os.path.realpath(tmp_path))


def put(path: str, text: str) -> None:
    Path(path).write_text(text)


def writes(*names: str, answer: dict[str, Any] = DONE) -> Callable[[ScriptedAgent], Any]:
    """The script of an agent that asks nobody: in each turn it writes one of these, or nothing."""

    async def script(agent: ScriptedAgent) -> None:
        await agent.open_session("s-1")
        for name in names:
            prompt = await agent.expect("session/prompt")
            if name:
                put(name, "agent")
            agent.reply(answer, to=prompt)

    return script


async def turns(script: Any, count: int = 1, **options: Any) -> tuple[acp_host.HostConnection, list[TurnResult]]:
    options = {"permissions": CHECKED, **options}
    async with connected(script, **options) as host:
        session = await host.new_session()
        return host, [await session.prompt("go") for _ in range(count)]


class Looks:
    """Holds up every look at the disk until it is let go, and counts them."""

    def __init__(self) -> None:
        self.begun = 0
        self.go = threading.Semaphore(0)

    def __call__(self, *arguments: Any, **more: Any) -> Fingerprint:
        self.begun += 1
        while not self.go.acquire(timeout=0.01):
            if more["stopped"]():
                return Fingerprint({}, "stopped")
        return take_fingerprint(*arguments, **more)


@pytest.fixture
def looks(monkeypatch: pytest.MonkeyPatch) -> Iterator[Looks]:
    made = Looks()
    monkeypatch.setattr(change_check, "take_fingerprint", made)
    yield made
    made.go.release(100)


# Whether it is checked


@pytest.mark.parametrize(
    "permissions, checked",
    [
        (None, False),
        (PermissionPolicy.reject(), False),
        (POLICY, True),
        (PermissionPolicy(rules=(PermissionRule(decision="allow_once", kinds=("read",)),)), False),
        (Permissions(policy=POLICY), True),
        (Permissions(policy=POLICY, check_changes=False), False),
        (Permissions(check_changes=True), True),
        (Permissions(check_changes=LIMITS), True),
        (lambda request: "no", False),
    ],
)
async def test_it_is_checked_where_a_rule_is_about_paths_or_if_it_was_said(
    work: Path, looks: Looks, permissions: Any, checked: bool
) -> None:
    looks.go.release(2)
    _, [result] = await turns(writes(""), permissions=permissions)
    assert looks.begun == (2 if checked else 0)
    assert (result.changes is not None) == checked
    assert result.outcome.kind == OutcomeKind.COMPLETED


# What the result says


async def test_a_change_that_no_rule_allows_is_a_violation(work: Path) -> None:
    host, [result] = await turns(writes("secret/key"))
    outcome = result.outcome
    assert (outcome.kind, outcome.verified) == ("policy_violated", False)
    [violation] = outcome.violations
    assert (violation.path, violation.kind, violation.rule) == (f"{work}/secret/key", "created", "keys")
    assert f"{work}/secret/key (created)" in outcome.detail
    assert result.stop_reason == "end_turn"
    [note] = [note for note in host.diagnostics if note.kind == DiagnosticKind.PERMISSION]
    assert f"{work}/secret/key (created)" in note.message
    [record] = host.audit.records
    assert (record.action, record.subject, record.session_id) == ("session/prompt", f"{work}/secret/key", "s-1")
    assert (record.decision, record.decided_by, record.rule) == ("violated", "policy", "keys")


async def test_a_change_that_a_rule_allows_is_listed_and_fine(work: Path) -> None:
    host, [result] = await turns(writes("src/code"))
    assert result.outcome.kind == "completed"
    assert result.changes is not None
    assert [(change.path, change.verdict) for change in result.changes.changes] == [(f"{work}/src/code", "allowed")]
    assert result.changes.problem is None
    assert list(host.diagnostics) == []
    assert host.audit.records == ()


async def test_each_turn_answers_for_itself(work: Path) -> None:
    _, results = await turns(writes("", "other", "", "other", "secret/key"), 5)
    kinds = [str(result.outcome.kind) for result in results]
    assert kinds == ["completed", "policy_violated", "completed", "completed", "policy_violated"]


async def test_what_happens_between_turns_is_nobodys(work: Path) -> None:
    async with connected(writes("", ""), permissions=CHECKED) as host:
        session = await host.new_session()
        await session.prompt("go")
        (work / "secret/key").write_text("user")
        assert (await session.prompt("go")).outcome.kind == "completed"


async def test_a_file_that_the_application_announces_is_not_the_agents(work: Path) -> None:
    async with connected(writes("secret/key"), permissions=CHECKED) as host:
        session = await host.new_session()
        turn = session.prompt("go")
        await until(lambda: session.current_turn is turn)
        session.announce_change("secret/key")
        result = await turn
    assert result.outcome.kind == "completed"
    assert result.changes is not None
    assert [str(change.verdict) for change in result.changes.changes] == ["announced"]


async def test_all_roots_are_looked_at(work: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    extra = tmp_path_factory.mktemp("extra")
    capabilities = {"sessionCapabilities": {"additionalDirectories": {}}}
    script = writes(str(extra / "file"))
    async with connected(script, capabilities, permissions=CHECKED) as host:
        session = await host.new_session(additional_directories=[extra])
        assert [change.path for change in (await session.prompt("go")).outcome.violations] == [f"{extra}/file"]


async def test_what_goes_through_the_host_was_decided_there(work: Path) -> None:
    asked: list[Any] = []

    def ask(request: Any) -> str:
        asked.append(request)
        return "allow_once"

    async def script(agent: ScriptedAgent) -> None:
        await agent.open_session("s-1")
        prompt = await agent.expect("session/prompt")
        for name in ("notes", "secret/key"):
            await agent.call("fs/write_text_file", {"sessionId": "s-1", "path": f"{work}/{name}", "content": "x"})
        put("notes.bak", "x")
        agent.reply(DONE, to=prompt)

    permissions = Permissions(policy=PermissionPolicy("ask", rules=RULES), ask=ask, check_changes=LIMITS)
    _, [result] = await turns(script, permissions=permissions, files=FileService())
    assert len(asked) == 1, "the rule about keys does not ask"
    assert result.changes is not None
    verdicts = {change.path.removeprefix(f"{work}/"): str(change.verdict) for change in result.changes.changes}
    assert verdicts == {"notes": "approved", "notes.bak": "forbidden"}


@pytest.mark.parametrize("choice, second", [("allow_once", "policy_violated"), ("allow_always", "completed")])
async def test_what_the_user_permits(work: Path, choice: str, second: str) -> None:
    async def script(agent: ScriptedAgent) -> None:
        await agent.open_session("s-1")
        prompt = await agent.expect("session/prompt")
        options = [{"optionId": kind, "name": kind, "kind": kind} for kind in ("allow_once", "allow_always")]
        call = {"toolCallId": "1", "title": "Edit", "kind": "edit", "locations": [{"path": f"{work}/notes"}]}
        params = {"sessionId": "s-1", "toolCall": call, "options": options}
        assert (await agent.call("session/request_permission", params))["result"]["outcome"]["optionId"] == choice
        put("notes", "first")
        agent.reply(DONE, to=prompt)
        prompt = await agent.expect("session/prompt")
        put("notes", "second")
        agent.reply(DONE, to=prompt)

    permissions = Permissions(policy=PermissionPolicy.ask(), ask=lambda request: choice, check_changes=LIMITS)
    _, results = await turns(script, 2, permissions=permissions)
    assert [str(result.outcome.kind) for result in results] == ["completed", second]


@pytest.mark.parametrize("through", ["session/request_permission", "fs/write_text_file"])
async def test_what_the_user_refuses(work: Path, through: str) -> None:
    """It is done all the same, in a turn in which a command was permitted that could have been the one who did it."""

    async def script(agent: ScriptedAgent) -> None:
        await agent.open_session("s-1")
        prompt = await agent.expect("session/prompt")
        options = [{"optionId": kind, "name": kind, "kind": kind} for kind in ("allow_once", "reject_once")]
        run = {"toolCallId": "1", "title": "make", "kind": "execute", "rawInput": {"command": "make"}}
        edit = {"toolCallId": "2", "title": "Edit", "kind": "edit", "locations": [{"path": f"{work}/notes"}]}
        ask = {"sessionId": "s-1", "options": options}
        await agent.call("session/request_permission", {**ask, "toolCall": run})
        if through == "session/request_permission":
            await agent.call(through, {**ask, "toolCall": edit})
        else:
            await agent.call(through, {"sessionId": "s-1", "path": f"{work}/notes", "content": "x"})
        put("notes", "x")
        put("made", "x")
        agent.reply(DONE, to=prompt)

    def ask(request: Any) -> str:
        return "allow_once" if request.tool_call.kind == "execute" else "reject_once"

    permissions = Permissions(policy=PermissionPolicy.ask(), ask=ask, check_changes=LIMITS)
    _, [result] = await turns(script, permissions=permissions, files=FileService())
    assert result.changes is not None
    verdicts = {change.path.removeprefix(f"{work}/"): str(change.verdict) for change in result.changes.changes}
    assert verdicts == {"notes": "forbidden", "made": "unattributed"}
    assert [str(violation) for violation in result.outcome.violations] == [
        f"{work}/notes (created): it was refused in this turn"
    ]


async def test_what_a_policy_permits_for_always_is_what_it_says_and_no_more(work: Path) -> None:
    rule = PermissionRule(name="source", decision="allow_always", kinds=("edit",), paths=("src/",))

    async def script(agent: ScriptedAgent) -> None:
        await agent.open_session("s-1")
        prompt = await agent.expect("session/prompt")
        options = [{"optionId": "always", "name": "always", "kind": "allow_always"}]
        call = {"toolCallId": "1", "title": "Edit", "kind": "edit", "locations": [{"path": f"{work}/src/code"}]}
        params = {"sessionId": "s-1", "toolCall": call, "options": options}
        assert (await agent.call("session/request_permission", params))["result"]["outcome"]["optionId"] == "always"
        put("src/code", "x")
        put("other", "x")
        agent.reply(DONE, to=prompt)

    permissions = Permissions(policy=PermissionPolicy("ask", rules=(rule,)), check_changes=LIMITS)
    _, [result] = await turns(script, permissions=permissions)
    assert [violation.path for violation in result.outcome.violations] == [f"{work}/other"]


async def test_a_turn_that_fails_is_checked_too(work: Path) -> None:
    async def script(agent: ScriptedAgent) -> None:
        await agent.open_session("s-1")
        prompt = await agent.expect("session/prompt")
        put("secret/key", "x")
        agent.reply_error(-32603, "out of memory", to=prompt)

    async with connected(script, permissions=CHECKED) as host:
        turn = (await host.new_session()).prompt("go")
        with pytest.raises(RequestFailed, match="out of memory"):
            await turn
        assert turn.outcome is not None
        assert [violation.rule for violation in turn.outcome.violations] == ["keys"]
        assert [str(record.decision) for record in host.audit.records] == ["violated"]


async def test_what_could_not_be_checked_is_not_called_completed(work: Path) -> None:
    few = FingerprintLimits(max_files=1, max_seconds=60)
    (work / "a").mkdir()
    for number in range(5):
        (work / "a" / str(number)).write_text("x")
    host, [result] = await turns(writes("secret/key"), permissions=Permissions(policy=POLICY, check_changes=few))
    assert (result.outcome.kind, result.outcome.violations) == ("unverified", ())
    assert "more than 1 files" in result.outcome.detail
    assert result.changes is not None
    assert result.changes.problem == "there are more than 1 files and directories"
    [note] = host.diagnostics
    assert "more than 1 files" in note.message
    _, [result] = await turns(writes("", answer={"stopReason": "refusal"}), permissions=Permissions(check_changes=few))
    assert result.outcome.kind == "refused", "what is worse is kept"


@pytest.mark.parametrize("name", ["take_fingerprint", "judge_changes"])
async def test_a_fault_of_this_library_is_said(work: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    def fails(*arguments: Any, **more: Any) -> Any:
        raise ZeroDivisionError("a fault")

    monkeypatch.setattr(change_check, name, fails)
    _, results = await turns(writes("", ""), 2)
    assert [str(result.outcome.kind) for result in results] == ["unverified"] * 2
    assert "a fault" in results[0].outcome.detail


# When it is looked at


async def test_a_prompt_is_sent_once_it_was_looked_and_ends_once_it_was_judged(work: Path, looks: Looks) -> None:
    received: list[str] = []

    async def script(agent: ScriptedAgent) -> None:
        await agent.open_session("s-1")
        for _ in range(2):
            prompt = await agent.expect("session/prompt")
            received.append(prompt["params"]["prompt"][0]["text"])
            agent.reply(DONE, to=prompt)

    async with connected(script, permissions=CHECKED) as host:
        session = await host.new_session()
        first, second = session.prompt("first"), session.prompt("second")
        for count, sent, ended in [(1, [], 0), (2, ["first"], 0), (3, ["first"], 1), (4, ["first", "second"], 1)]:
            await until(lambda count=count: looks.begun == count)
            await asyncio.sleep(0.01)
            assert (received, first.done + second.done) == (sent, ended)
            looks.go.release()
        await second


async def test_a_turn_that_is_cancelled_before_it_was_looked_is_never_sent(work: Path, looks: Looks) -> None:
    async with connected(writes("secret/key"), permissions=CHECKED) as host:
        session = await host.new_session()
        turn = session.prompt("never sent")
        await until(lambda: looks.begun == 1)
        turn.cancel()
        assert (await turn).outcome.kind == "cancelled"
        looks.go.release(1)
        await asyncio.sleep(0.02)
        looks.go.release(10)
        assert (await session.prompt("go")).outcome.kind == "policy_violated"
        assert looks.begun == 3, "the first look is too old"


async def test_a_turn_that_is_over_is_not_cancelled_while_it_is_judged(work: Path, looks: Looks) -> None:
    looks.go.release(1)
    async with connected(writes("secret/key"), permissions=CHECKED) as host:
        session = await host.new_session()
        turn = session.prompt("go")
        await until(lambda: looks.begun == 2)
        turn.cancel()
        session.cancel()
        looks.go.release(1)
        result = await turn
    assert (result.outcome.kind, result.cancel_requested) == ("policy_violated", False)


async def test_a_cancelled_turn_is_checked_too(work: Path) -> None:
    async def script(agent: ScriptedAgent) -> None:
        await agent.open_session("s-1")
        prompt = await agent.expect("session/prompt")
        agent.say("wait", "s-1")
        await agent.expect("session/cancel")
        put("secret/key", "x")
        agent.reply({"stopReason": "cancelled"}, to=prompt)

    async with connected(script, permissions=CHECKED) as host:
        async for _ in (turn := (await host.new_session()).prompt("go")):
            turn.cancel()
        result = await turn
    assert (result.outcome.kind, result.cancel_requested) == ("policy_violated", True)


@pytest.mark.parametrize("looked", [0, 1])
async def test_a_connection_that_is_closed_waits_for_no_look(work: Path, looks: Looks, looked: int) -> None:
    if looked:
        looks.go.release(looked)
    host = await acp_host.connect(
        ScriptedAgent(lambda agent: _shake_and(agent, writes("", ""))).transport(), permissions=CHECKED
    )
    turn = (await host.new_session()).prompt("go")
    await until(lambda: looks.begun == looked + 1)
    async with asyncio.timeout(40):
        await host.close()
        if looked:
            assert "given up" in (await turn).outcome.detail
        else:
            with pytest.raises(acp_host.ConnectionClosed):
                await turn


async def _shake_and(agent: ScriptedAgent, script: Any) -> None:
    await agent.handshake()
    await script(agent)


async def test_the_hosts_own_audit_file_is_not_laid_to_the_agent(work: Path) -> None:
    audit = acp_host.AuditTrail(file="audit.jsonl")
    _, results = await turns(writes("secret/key", ""), count=2, audit=audit)
    audit.close()
    assert [result.outcome.kind for result in results] == [OutcomeKind.POLICY_VIOLATED, OutcomeKind.COMPLETED]
    assert (work / "audit.jsonl").exists()
    told = [(change.path, change.verdict) for result in results if result.changes for change in result.changes.changes]
    assert (str(work / "audit.jsonl"), "forbidden") not in told


@pytest.mark.parametrize("record", ["talk.jsonl", "talks"])
async def test_the_hosts_own_recording_is_not_laid_to_the_agent(work: Path, record: str) -> None:
    (work / "talks").mkdir()

    def recordings() -> list[Path]:
        return list(work.glob("**/*.jsonl"))

    def until_recorded() -> None:
        while not any("session/prompt" in path.read_text() for path in recordings()):
            time.sleep(0.01)

    async def script(agent: ScriptedAgent) -> None:
        await agent.open_session("s-1")
        prompt = await agent.expect("session/prompt")
        put("secret/key", "agent")
        await asyncio.to_thread(until_recorded)
        agent.reply(DONE, to=prompt)

    _, [result] = await turns(script, record=record)
    recording = recordings()[0]
    assert result.changes is not None
    verdicts = {change.path: change.verdict for change in result.changes.changes}
    assert verdicts == {str(work / "secret/key"): "forbidden", str(recording): "announced"}


async def test_the_hosts_own_file_of_remembered_answers_is_not_laid_to_the_agent(work: Path) -> None:
    queue = acp_host.PermissionQueue()

    def always(changes: Any) -> None:
        for question in changes.snapshot:
            question.choose("allow", remember="always")

    queue.changed.connect(always)
    memory = acp_host.RememberedDecisions("permissions.toml")
    policy = PermissionPolicy(rules=RULES, default="ask")
    permissions = Permissions(policy=policy, ask=queue, remember=memory, check_changes=LIMITS)
    async with acp_host.connect(ReferenceAgent().transport(), permissions=permissions, files=True) as host:
        result = await (await host.new_session(".")).prompt("/edit notes.txt")
    assert result.outcome.kind is OutcomeKind.COMPLETED
    assert len(memory.decisions) == 1
    assert result.changes is not None
    verdicts = {os.path.basename(change.path): change.verdict for change in result.changes.changes}
    assert verdicts == {"notes.txt": "approved", "permissions.toml": "announced"}
