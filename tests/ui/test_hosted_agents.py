"""Agents in a server's process, without a server: which start, which are refused, and what their settings may say."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from acp_host import AgentTarget, PermissionPolicy, PermissionQueue
from acp_host.errors import InvalidInput, InvalidState
from acp_host.services import FileService
from acp_host.testing import ReferenceAgent
from acp_host.ui.jupyter_server.agent_settings import AgentSettings
from acp_host.ui.jupyter_server.hosted_agent import HostedAgent
from acp_host.ui.jupyter_server.hosted_agents import HostedAgents, HostingRules
from tests.chaos.bad_agents import until
from tests.processes import started_by_tests
from tests.ui.pages import Page

REFERENCE = {"reference": AgentSettings.of("reference", ReferenceAgent.command())}


@asynccontextmanager
async def hosting(
    folder: Path, settings: dict[str, AgentSettings] | None = None, used: Callable[[], Any] = lambda: None, **rules: Any
) -> AsyncIterator[HostedAgents]:
    given = {"root": str(folder), "process_records": str(folder / "records"), "max_agents": 2, "idle_timeout": 0.0}
    agents = HostedAgents(settings or REFERENCE, HostingRules(**{**given, **rules}), used=used)
    try:
        yield agents
    finally:
        await agents.close()


async def started(agents: HostedAgents, name: str = "reference") -> HostedAgent:
    agent = await agents.start(name)
    await agents.started(agent, 60)
    assert agent.status == "running", agent.error
    return agent


async def test_after_the_end_nothing_is_started(tmp_path: Path) -> None:
    async with hosting(tmp_path) as agents:
        agent = await started(agents)
    assert agent.status == "stopped"
    assert agents.living == ()
    with pytest.raises(InvalidState, match="is ending"):
        await agents.start("reference")


async def test_one_that_ends_by_itself_is_shown_until_its_place_is_needed(tmp_path: Path) -> None:
    async with hosting(tmp_path) as agents:
        agent = await started(agents)
        for process in started_by_tests():
            process.kill()
        await until(lambda: agent.status == "ended")
        assert "ended" in str(agent.error)
        await started(agents)
        assert agents.find(agent.id) is agent
        await started(agents)
        assert agents.find(agent.id) is None


async def test_starts_at_once_are_counted_as_well(tmp_path: Path) -> None:
    async with hosting(tmp_path) as agents:
        outcomes = await asyncio.gather(*(agents.start("reference") for _ in range(5)), return_exceptions=True)
        assert len(agents.living) == 2
        assert [type(outcome) for outcome in outcomes] == [HostedAgent] * 2 + [InvalidState] * 3


async def test_an_agent_that_wants_a_login_waits_for_it(tmp_path: Path) -> None:
    login = [*ReferenceAgent.command(), "--require-auth"]
    async with hosting(tmp_path, {"login": AgentSettings.of("login", login)}) as agents:
        agent = await started(agents, "login")
        [told] = await agents.described()
        assert (told["sessions"], told["status"], told["busy"]) == ([], "running", False)
        assert agent.error


async def test_a_login_is_asked_for_on_the_page_at_first_and_in_the_midst_of_a_session(tmp_path: Path) -> None:
    settings = AgentSettings.of("login", [*ReferenceAgent.command(), "--require-auth"])
    agent = HostedAgent(settings, str(tmp_path), str(tmp_path / "records"), ())
    page = Page()

    async def log_in(method: str) -> None:
        [question] = await page.questions()
        assert question["method"] == method
        await page.do("answer", question=question["number"], login=question["ways"][0]["id"])
        await page.until(lambda: not page.latest["questions"]["items"])

    agent.start()
    try:
        await agent.ready()
        page.viewer = await agent.join(page.take, may_control=True)
        page.give = page.viewer.receive
        await log_in("session/new")
        [session] = await page.until(lambda: page.latest["sessions"]["items"])
        assert agent.described()["error"] is None
        await page.do("resume", session=session["id"])
        await page.do("log_out")
        await page.do("prompt", session=session["id"], text="/say Hello")
        await log_in("session/prompt")
        await page.until(lambda: "Hello" in page.texts(session["id"]))
    finally:
        await agent.stop()


async def test_who_does_not_log_in_is_told_that_there_is_no_session(tmp_path: Path) -> None:
    settings = AgentSettings.of("login", [*ReferenceAgent.command(), "--require-auth"])
    agent = HostedAgent(settings, str(tmp_path), str(tmp_path / "records"), ())
    page = Page()
    agent.start()
    try:
        await agent.ready()
        page.viewer = await agent.join(page.take, may_control=True)
        page.give = page.viewer.receive
        [question] = await page.questions()
        before = agent.error
        await page.do("answer", question=question["number"], action="cancel")
        await until(lambda: agent.error != before)
        assert (agent.status, agent.sessions()) == ("running", [])
    finally:
        await agent.stop()


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ([], "target is its command"),
        (3, "target is its command"),
        ([3], "target is its command"),
        ({"files": True}, "target is its command"),
        ({"target": "agent", "sidebar": False, "audit": None}, "audit, sidebar cannot be set here"),
        ({"target": "agent", "session_cwd": 3}, "session_cwd is the path"),
    ],
)
def test_what_cannot_be_an_agent(given: Any, words: str) -> None:
    with pytest.raises(InvalidInput, match=words):
        AgentSettings.of("one", given)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"files": FileService()}, "files is True, or arguments"),
        ({"files": {"den": []}}, "files: .*den"),
        ({"permissions": "/no/such/policy"}, "No such file"),
        ({"permissions": 3}, "permissions is a policy, a word such as 'ask', or"),
        ({"permisions": "ask"}, "agent 'one' takes no 'permisions'; is 'permissions' meant"),
    ],
)
def test_options_that_are_wrong(options: dict[str, Any], words: str) -> None:
    settings = AgentSettings.of("one", {"target": "agent", **options})
    with pytest.raises(InvalidInput, match=words):
        settings.connect_options(PermissionQueue(), [])


def test_options_that_are_right() -> None:
    policy, queue = PermissionPolicy.reject(), PermissionQueue()
    given = {"target": "agent", "files": {"write": False}, "permissions": policy, "unstable": True}
    options = AgentSettings.of("one", given).connect_options(queue, [])
    assert (options["files"].can_read, options["files"].can_write) == (True, False)
    assert (options["permissions"].policy, options["permissions"].ask) == (policy, queue)
    assert options["unstable"] is True
    assert AgentSettings.of("one", "agent --acp").connect_options(queue, [])["permissions"] is queue
    by_word = AgentSettings.of("one", {"target": "agent", "permissions": "read-only"}).connect_options(queue, [])
    assert (by_word["permissions"].policy, by_word["permissions"].ask) == (PermissionPolicy.read_only(), queue)
    assert "files" not in AgentSettings.of("one", "agent").connect_options(queue, [])
    target = AgentTarget(command=("agent", "--acp"))
    assert AgentSettings.of("one", target).target is AgentSettings.of("one", {"target": target}).target is target


def test_settings_do_not_show_secrets() -> None:
    settings = AgentSettings.of("one", {"target": "agent", "env": {"KEY": "secret"}})
    assert "secret" not in repr(settings)
