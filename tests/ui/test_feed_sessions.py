"""The agent's own sessions in the feed, its subagents, and toasts that are held."""

from __future__ import annotations

import asyncio

import acp_host
from acp_host import NoticePreferences, SeverityPreferences
from acp_host.testing import ReferenceAgent, ScriptedAgent
from acp_host.ui.feed import Feed
from tests.host.scripts import DONE, words
from tests.ui.pages import Page

OFFERED = ("list", "load", "resume", "delete", "images", "files")


async def test_sessions_of_earlier_are_listed_opened_and_deleted() -> None:
    async with acp_host.connect(ReferenceAgent().transport()) as host, Feed(host) as feed:
        page = Page.of(feed)
        await page.until(lambda: page.latest.get("offers"))
        assert {name: page.latest["offers"][name] for name in OFFERED} == dict.fromkeys(OFFERED, True)
        session = await host.new_session()
        await session.prompt("/say Hello")
        await session.close()
        assert session.id in {item["sessionId"] for item in (await page.do("list_sessions"))["sessions"]}
        opened = await page.do("open_session", session=session.id, steps=["load", "resume"])
        assert (opened["session"], opened["lost"]) == (session.id, "nothing")
        await page.do("resume", session=session.id)
        assert page.texts(session.id) == ["/say Hello", "Hello"]
        await page.do("delete_session", session=session.id)
        await page.until(lambda: page.latest["sessions"]["items"] == [])
        assert (await page.do("list_sessions"))["sessions"] == []
        gone = await page.ask("open_session", session=session.id, steps=["load", "resume"])
        assert gone["error"]["kind"] == "SessionNotReopened"
        assert host.sessions == ()


async def test_what_the_agent_does_not_offer_is_told_beforehand() -> None:
    agent = ReferenceAgent(without=["delete", "list", "image"])
    async with acp_host.connect(agent.transport()) as host, Feed(host) as feed:
        page = Page.of(feed)
        await page.until(lambda: page.latest.get("offers"))
        assert [page.latest["offers"][name] for name in ("list", "delete", "images", "files")] == [
            False,
            False,
            False,
            True,
        ]


async def subagents(agent: ScriptedAgent) -> None:
    await agent.handshake()
    await agent.open_session("s-1")
    for number in range(2):
        await agent.expect("session/prompt")
        agent.update({"sessionUpdate": "subagent_update", "sessionId": "child", "title": "Helper"}, "s-1")
        agent.update(words("agent", f"I look around {number}"), "child")
        agent.update({"sessionUpdate": "subagent_update", "sessionId": "grandchild"}, "child")
        agent.update(words("agent", "deep"), "grandchild")
        agent.reply(DONE)
    await agent.expect("session/close")
    agent.reply({})
    await agent.stall()


async def test_subagents_are_followed_like_sessions() -> None:
    connection = acp_host.connect(ScriptedAgent(subagents).transport(), unstable=True)
    async with connection as host, Feed(host) as feed:
        page = Page.of(feed)
        session = await host.new_session()
        assert not (await page.ask("resume", session="child"))["ok"]
        await session.prompt("go")
        items = await page.until(lambda: (found := page.latest["sessions"]["items"])[2:] and found)
        assert [(item["id"], item["parent"], item["title"]) for item in items] == [
            ("s-1", None, None if items[0]["title"] is None else items[0]["title"]),
            ("child", "s-1", "Helper"),
            ("grandchild", "child", None),
        ]
        await page.do("resume", session="child")
        assert page.texts("child") == ["I look around 0"]
        await session.prompt("again")
        await page.until(lambda: len(page.texts("child")[0]) > 20)
        assert page.texts("child") == ["I look around 0I look around 1"]
        await page.do("resume", session="grandchild")
        assert page.texts("grandchild") == ["deepdeep"]
        assert (await page.ask("prompt", session="child", text="x"))["error"]["kind"] == "InvalidState"
        await session.close(force=True)
        await page.until(lambda: not any(item["open"] for item in page.latest["sessions"]["items"]))
        await page.do("resume", session="child")


async def test_toasts_stay_while_somebody_reads_them() -> None:
    async with acp_host.connect(ReferenceAgent().transport()) as host, Feed(host) as feed:
        one, other = Page.of(feed), Page.of(feed)
        session = await host.new_session()
        session.notices.preferences = NoticePreferences(info=SeverityPreferences(duration=0.05))
        await one.do("hold_notices", session=session.id, hold=True)
        await other.do("hold_notices", session=session.id, hold=True)
        await session.prompt("/notice info Read me")
        await one.do("hold_notices", session=session.id, hold=False)
        await asyncio.sleep(0.15)
        assert len(session.notices.snapshot().toasts) == 1
        other.viewer.leave()
        async with asyncio.timeout(10):
            async for notices in session.notices.watch():
                if not notices.toasts:
                    break
