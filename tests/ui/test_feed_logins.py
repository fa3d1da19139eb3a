"""Logging in by way of the feed: as a question, and unasked."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

import acp_host
from acp_host import LoginQueue, TerminalLogin
from acp_host.errors import AuthRequired
from acp_host.host.connection import HostConnection
from acp_host.testing import ReferenceAgent
from acp_host.ui.feed import Feed
from acp_host.ui.feed.logins import login_ways
from tests.ui.pages import Page


@asynccontextmanager
async def fed(target: Any = None) -> AsyncIterator[tuple[HostConnection, Page]]:
    queue = LoginQueue()
    target = target if target is not None else ReferenceAgent(require_auth=True).transport()
    async with (
        acp_host.connect(target, authenticate=queue) as host,
        Feed(host, logins=queue) as feed,
    ):
        page = Page.of(feed)
        await page.until(lambda: "login" in page.latest)
        yield host, page


async def test_a_refused_call_asks_how_to_log_in_and_is_made_again() -> None:
    async with fed() as (host, page):
        asked = await page.send("new_session")
        (question,) = await page.questions()
        assert (question["kind"], question["agent"]) == ("login", host.agreement.agent_name)
        assert question["method"] == "session/new"
        (way,) = question["ways"]
        assert (way["id"], way["kind"], way["unavailable"]) == ("reference-login", "agent", "")
        await page.until(lambda: page.latest["login"]["state"] == "unauthenticated")
        for wrong in ({"login": "none of them"}, {"login": way["id"], "values": {"KEY": "x"}}, {"action": "accept"}):
            refused = await page.ask("answer", question=question["number"], **wrong)
            assert refused["error"]["kind"] == "InvalidInput"
        await page.do("answer", question=question["number"], login=way["id"])
        result = await page.until(lambda: page.results.get(asked))
        assert result["ok"]
        await page.until(lambda: page.latest["login"]["state"] == "authenticated")


async def test_who_does_not_log_in_gets_the_refusal() -> None:
    async with fed() as (_, page):
        asked = await page.send("new_session")
        (question,) = await page.questions()
        await page.do("answer", question=question["number"], action="cancel")
        result = await page.until(lambda: page.results.get(asked))
        assert (result["error"]["kind"], result["error"]["code"]) == ("AuthRequired", -32000)


async def test_one_logs_in_and_out_without_being_asked() -> None:
    async with fed() as (host, page):
        assert page.latest["login"]["canLogIn"]
        (way,) = (await page.do("list_logins"))["methods"]
        await page.do("log_in", login=way["id"])
        await page.do("new_session")
        await page.until(lambda: page.latest["login"]["state"] == "authenticated")
        await page.do("log_out")
        await page.until(lambda: page.latest["login"]["state"] == "unauthenticated")
        assert host.authentication.snapshot().state == "unauthenticated"


def test_a_login_in_a_terminal_is_told_as_a_command() -> None:
    environment = {**os.environ, "AGENT_HOME": "/a b", "AGENT_TOKEN": "a-very-secret-token"}
    login = TerminalLogin(
        id="t", name="In a terminal", unavailable="no terminal", argv=("agent", "--log in"), env=environment
    )
    (way,) = login_ways([login])
    assert (way["kind"], way["unavailable"]) == ("terminal", "no terminal")
    assert way["command"] == "'AGENT_HOME=/a b' 'AGENT_TOKEN=[redacted]' agent '--log in'"
    assert "env" not in way


async def test_values_are_asked_for_and_go_nowhere_else() -> None:
    agent = ReferenceAgent.command("--login", "env_var")
    async with fed(agent) as (host, page):
        asked = await page.send("new_session")
        (question,) = await page.questions()
        (way,) = question["ways"]
        (variable,) = [each for each in way["variables"] if not each["optional"]]
        assert variable["secret"]
        missing = await page.ask("answer", question=question["number"], login=way["id"], values={})
        assert variable["name"] in missing["error"]["message"]
        values = {variable["name"]: "a-very-secret-key"}
        await page.do("answer", question=question["number"], login=way["id"], values=values)
        assert (await page.until(lambda: page.results.get(asked)))["ok"]
        assert "a-very-secret-key" not in repr((page.told, list(host.diagnostics)))


async def test_a_queue_times_out_with_the_refusal() -> None:
    queue = LoginQueue(timeout=0.01)
    async with acp_host.connect(ReferenceAgent(require_auth=True).transport(), authenticate=queue) as host:
        with pytest.raises(AuthRequired):
            await host.new_session()
        assert queue.pending == ()
