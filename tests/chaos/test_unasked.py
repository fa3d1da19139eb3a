"""An agent that never asks, but changes files by itself and hides that; and one that asks under a false name."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest

import acp_host
from acp_host import DiagnosticKind, PermissionPolicy
from acp_host.services.permissions import PermissionRule, Permissions
from acp_host.services.working_copy import FingerprintLimits
from acp_host.testing import ScriptedAgent
from tests.chaos.bad_agents import DONE, open_session, reported

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="links, modes and signals of POSIX")

POLICY = PermissionPolicy(
    rules=(
        PermissionRule(name="keys", decision="reject_once", paths=("**/.env", ".git/")),
        PermissionRule(name="source", decision="allow_once", paths=("src/",)),
    )
)
LIMITS = FingerprintLimits(max_seconds=60)


@pytest.fixture
def work(tmp_path: Path) -> Path:
    """A repository with a clean working copy, in which `.env` is ignored."""
    work = tmp_path / "work"
    (work / "src").mkdir(parents=True)
    for name in ("README", "src/code", "src/old"):
        (work / name).write_text("before")
    (work / ".env").write_text("KEY=1")
    (work / ".gitignore").write_text(".env\n")
    git(work, "init", "--quiet")
    git(work, "add", ".")
    git(work, "commit", "--quiet", "--message", "before")
    (work / ".git/hooks").mkdir(exist_ok=True)
    return Path(os.path.realpath(work))


def git(work: Path, *arguments: str) -> None:
    name = ["-c", "user.name=x", "-c", "user.email=x@example.com"]
    subprocess.run(["git", *name, *arguments], cwd=work, check=True)


async def unasked(work: Path, act: Callable[[Path], Any], limits: FingerprintLimits = LIMITS) -> Any:
    """Let an agent act in a turn and ask nobody; return the connection and the turn's result."""

    async def script(agent: ScriptedAgent) -> None:
        await agent.handshake()
        await agent.open_session("session-1")
        prompt = await agent.expect("session/prompt")
        act(work)
        agent.say("I have only looked around.")
        agent.reply(DONE, to=prompt)

    permissions = Permissions(policy=POLICY, check_changes=limits)
    agent = ScriptedAgent(script)
    async with acp_host.connect(agent.transport(), permissions=permissions) as host:
        return host, await (await host.new_session(work)).prompt("look around")


def set_back(work: Path) -> None:
    """The size and the time are as before, and the file is a new one with the old one's name."""
    status = (work / "README").stat()
    (work / "other").write_text("AFTER!")
    os.utime(work / "other", ns=(status.st_atime_ns, status.st_mtime_ns))
    (work / "other").rename(work / "README")


def commit(work: Path) -> None:
    """The working copy is clean again."""
    (work / "README").write_text("after")
    git(work, "commit", "--quiet", "--all", "--message", "after")


def ignore(work: Path) -> None:
    (work / ".git/info").mkdir(exist_ok=True)
    (work / ".git/info/exclude").write_text("*\n")
    (work / "loot").write_text("x")


def hide(work: Path) -> None:
    git(work, "update-index", "--assume-unchanged", "README")
    (work / "README").write_text("after")


def through_a_link(work: Path) -> None:
    (work / "src/link").symlink_to("../.env")
    (work / "src/link").write_text("KEY=2")


def hard_link(work: Path) -> None:
    os.link(work / ".env", work / "src/hard")
    (work / "src/hard").write_text("KEY=2")


UNASKED: dict[str, tuple[Callable[[Path], Any], dict[str, str]]] = {
    "creates": (lambda work: (work / "new").write_text("x"), {"new": "created"}),
    "modifies": (lambda work: (work / "README").write_text("after"), {"README": "modified"}),
    "deletes": (lambda work: (work / "README").unlink(), {"README": "deleted"}),
    "moves": (lambda work: (work / "README").rename(work / "src/README"), {"README": "deleted"}),
    "makes executable": (lambda work: (work / "README").chmod(0o755), {"README": "mode"}),
    "exchanges for a link": (through_a_link, {".env": "modified"}),
    "writes through a hard link": (hard_link, {".env": "modified"}),
    "changes what git ignores": (lambda work: (work / ".env").write_text("KEY=2"), {".env": "modified"}),
    "sets times back": (set_back, {"README": "modified"}),
    "commits it": (commit, {"README": "modified"}),
    "lets git ignore it": (ignore, {"loot": "created"}),
    "tells git to look away": (hide, {"README": "modified"}),
    "plants a hook": (
        lambda work: (work / ".git/hooks/pre-commit").write_text("#!/bin/sh\n"),
        {".git/hooks/pre-commit": "created"},
    ),
    "configures git": (lambda work: git(work, "config", "core.fsmonitor", "evil"), {".git/config": "modified"}),
    "only does its work": (lambda work: (work / "src/code").write_text("after"), {}),
}


@pytest.mark.parametrize("what", UNASKED)
async def test_r148_what_an_agent_changes_without_asking_is_found(work: Path, what: str) -> None:
    act, expected = UNASKED[what]
    host, result = await unasked(work, act)
    found = {violation.path.removeprefix(f"{work}/"): str(violation.kind) for violation in result.outcome.violations}
    assert found == expected
    assert result.outcome.kind == ("policy_violated" if expected else "completed")
    assert {record.subject for record in host.audit.records} == {f"{work}/{name}" for name in expected}
    assert {str(record.decision) for record in host.audit.records} <= {"violated"}


async def test_r148_the_check_runs_nothing_of_the_repository(work: Path, tmp_path: Path) -> None:
    """What the agent has configured git to run would be run by this program, outside of any sandbox."""
    trap = tmp_path / "trap"
    for key in ("core.fsmonitor", "filter.x.clean", "filter.x.process", "core.sshCommand", "diff.external"):
        git(work, "config", key, f"touch {trap}")
    (work / ".gitattributes").write_text("* filter=x diff=x\n")

    def act(work: Path) -> None:
        (work / "README").write_text("after")

    _, result = await unasked(work, act)
    assert [violation.path for violation in result.outcome.violations] == [f"{work}/README"]
    assert not trap.exists()


async def test_r148_names_with_escapes_are_shown_as_text(work: Path) -> None:
    host, result = await unasked(work, lambda work: (work / "\x1b]0;title\x07\u202e\n.txt").write_text("x"))
    [note] = reported(host, DiagnosticKind.PERMISSION)
    for shown in (note.message, result.outcome.detail, str(result.outcome.violations[0])):
        assert not {"\x1b", "\x07", "\u202e"} & set(shown)
        assert "title" in shown


async def test_r148_more_than_can_be_looked_at_is_said(work: Path) -> None:
    def act(work: Path) -> None:
        (work / "README").write_text("after")
        for number in range(300):
            (work / "src" / str(number)).write_text("x")

    _, result = await unasked(work, act, FingerprintLimits(max_files=200, max_seconds=60))
    assert result.changes.problem == "there are more than 200 files and directories"
    assert [violation.path for violation in result.outcome.violations] == [f"{work}/README"], "what both looks have"
    _, result = await unasked(work, lambda work: None, FingerprintLimits(max_files=200, max_seconds=60))
    assert result.outcome.kind == "unverified"


# Questions that are not what they seem


async def test_r149_a_question_is_about_what_it_says_whatever_it_is_called(work: Path) -> None:
    """It uses the id of a call that was allowed, or a harmless kind and title, for something else."""
    inside, env = f"{work}/src/code", f"{work}/.env"
    calls: list[tuple[dict[str, Any], bool]] = [
        ({"toolCallId": "1", "title": "Edit", "kind": "edit", "locations": [{"path": inside}]}, True),
        ({"toolCallId": "1", "title": "Edit", "kind": "edit", "locations": [{"path": env}]}, False),
        ({"toolCallId": "2", "kind": "edit", "locations": [{"path": inside}, {"path": env}]}, False),
        ({"toolCallId": "3", "kind": "read", "title": "Read", "rawInput": {"file_path": env}}, False),
        ({"toolCallId": "4", "kind": "edit", "locations": [{"path": f"{work}/src/../.env"}]}, False),
        ({"toolCallId": "5", "kind": "edit", "locations": [{"path": inside}], "rawInput": {"command": "rm x"}}, False),
        ({"toolCallId": "6", "title": f"Edit {inside}", "kind": "edit"}, False),
        ({"toolCallId": "7", "title": f"Edit {inside}", "rawInput": {"path": "~/.ssh/id"}}, False),
        ({"toolCallId": "8", "kind": "think", "title": "Think", "locations": [{"path": "/etc/passwd"}]}, False),
    ]
    options = [{"optionId": str(number), "name": "OK", "kind": kind} for number, kind in enumerate(KINDS)]

    async def script(agent: ScriptedAgent) -> None:
        prompt = await agent.expect("session/prompt")
        for session_id in ("session-1", "nobody's", ""):
            for call, allowed in calls:
                params = {"sessionId": session_id, "toolCall": call, "options": options}
                answer = (await agent.call("session/request_permission", params))["result"]["outcome"]
                allows = answer.get("optionId") in ("0", "1")
                assert allows == (allowed and session_id == "session-1"), call
        agent.reply(DONE, to=prompt)

    async with connected_in(work, script) as (host, session):
        await session.prompt("go")
    asked = [record for record in host.audit.records if record.action == "session/request_permission"]
    assert [str(record.decision) for record in asked].count("allowed") == 1
    assert len(asked) == 3 * len(calls)


KINDS = ["allow_once", "allow_always", "reject_once", "reject_always"]


@contextlib.asynccontextmanager
async def connected_in(work: Path, script: Callable[[ScriptedAgent], Any]) -> AsyncIterator[Any]:
    with contextlib.chdir(work):
        async with open_session(script, permissions=POLICY) as opened:
            yield opened


async def test_r149_thousands_of_questions_are_all_answered(work: Path) -> None:
    async def script(agent: ScriptedAgent) -> None:
        prompt = await agent.expect("session/prompt")
        call = {"toolCallId": "1", "title": "x" * 1000, "kind": "edit", "locations": [{"path": f"{work}/.env"}]}
        options = [{"optionId": kind, "name": kind, "kind": kind} for kind in KINDS]
        params = {"sessionId": "session-1", "toolCall": call, "options": options}
        asked = [agent.request("session/request_permission", params) for _ in range(1000)]
        for request in asked:
            assert (await agent.response(request))["result"]["outcome"]["optionId"] == "reject_once"
        agent.reply(DONE, to=prompt)

    async with connected_in(work, script) as (host, session):
        await session.prompt("go")
    assert len(host.audit.records) == 1000
