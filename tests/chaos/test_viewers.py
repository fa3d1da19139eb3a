"""What viewers of a conversation, and agents that are shown to them, can do to each other and to the host."""

from __future__ import annotations

import asyncio
import itertools
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from websockets.exceptions import InvalidStatus

import acp_host
from acp_host import PermissionQueue
from acp_host.host.connection import HostConnection
from acp_host.state.session_facts import MAX_SUBAGENTS
from acp_host.testing import ReferenceAgent, ScriptedAgent
from acp_host.ui.feed import Feed
from acp_host.ui.serve import ServedFeed, serve_feed
from tests.ui.browsers import Browser
from tests.ui.pages import Page


@asynccontextmanager
async def shown(agent: Any = None) -> AsyncIterator[tuple[HostConnection, Feed, ServedFeed]]:
    queue = PermissionQueue()
    async with (
        acp_host.connect((agent or ReferenceAgent()).transport(), permissions=queue) as host,
        Feed(host, permissions=queue) as feed,
        serve_feed(feed) as served,
    ):
        yield host, feed, served


def stuck(feed: Feed) -> Page:
    """Return a viewer that takes nothing but its first message."""
    page = Page()

    async def send(message: bytes) -> None:
        await page.take(message)
        await asyncio.Event().wait()

    page.viewer = feed.join(send)
    page.give = page.viewer.receive
    return page


async def test_r300_a_viewer_that_takes_nothing_holds_up_nobody() -> None:
    async with shown() as (host, feed, _):
        session = await host.new_session()
        await stuck(feed).send("resume", session=session.id)
        quick = Page.of(feed)
        await quick.do("resume", session=session.id)
        assert (await session.prompt("/flood 20000\n/say done")).text.endswith("done")
        await quick.until(lambda: quick.texts(session.id)[-1:] and quick.texts(session.id)[-1].endswith("done"))


async def test_r301_a_viewer_that_comes_back_misses_nothing() -> None:
    async with shown() as (host, feed, _):
        session = await host.new_session()
        page = Page.of(feed)
        await page.do("resume", session=session.id)
        for number in range(5):
            page.viewer.leave()
            await session.prompt(f"/say {number}")
            token, version = page.hello["resume"], page.versions[session.id]
            page = Page.of(feed, before=page)
            await page.do("resume", session=session.id, version=version, resume=token)
            assert page.texts(session.id)[-1] == f"{number}"


async def test_r302_a_flood_of_entries_costs_viewers_little() -> None:
    async with shown() as (host, feed, _):
        session = await host.new_session()
        page = Page.of(feed)
        await page.do("resume", session=session.id)
        await session.prompt("\n".join(f"/tool Call {number}" for number in range(1_000)))
        await page.until(lambda: page.states[session.id]["version"] == session.state.version)
        assert len(page.told) < 200


@pytest.mark.parametrize("origin", ["https://evil.example", "null", "http://127.0.0.1:9"])
async def test_r303_pages_of_other_sites_reach_nothing(origin: str) -> None:
    async with shown() as (_, feed, served):
        browser = Browser(served)
        await browser.open()
        with pytest.raises(InvalidStatus, match="403"):
            async with browser.page(origin=origin):
                pass
        assert (await browser.get("/", Host="rebound.example")).status == 421
        assert not feed.viewers


async def test_r304_without_the_cookie_nothing_is_served() -> None:
    async with shown() as (_, feed, served):
        browser = Browser(served)
        for target in ("/", "/feed", "/page.js", "/?token=guessed"):
            assert (await browser.get(target)).status == 401
        assert not feed.viewers


async def test_r305_a_viewer_that_may_look_only_cannot_act() -> None:
    async with shown() as (host, feed, _):
        session = await host.new_session()
        watcher = Page.of(feed, may_control=False)
        for name, members in (("prompt", {"text": "x"}), ("close_session", {}), ("cancel", {})):
            assert not (await watcher.ask(name, session=session.id, **members))["ok"]
        assert not (await watcher.ask("new_session"))["ok"]
        assert not (await watcher.ask("control", take=True))["ok"]
        assert host.sessions == (session,)
        assert session.state.snapshot().turn.turn is None


async def test_r306_what_is_no_command_is_answered_and_ends_nothing() -> None:
    async with shown() as (_, feed, _served):
        page = Page.of(feed)
        for data in (b"", b"\x00", b"[" * 10_000, b'{"id":1}', b"x" * 2**21, b'{"id":2,"command":"eval"}'):
            await page.viewer.receive(data)
        await page.until(lambda: sum(message["type"] == "result" for message in page.told) == 6)
        assert not any(message.get("ok") for message in page.told)
        assert page.viewer in feed.viewers


async def test_r307_what_an_agent_nests_too_deeply_or_cuts_in_two_is_shown_without_it() -> None:
    async def script(agent: ScriptedAgent) -> None:
        await agent.handshake()
        await agent.open_session("s")
        await agent.expect("session/prompt")
        for name, value in (("deep", "[" * 900 + "]" * 900), ("half", '"\\ud83d"')):
            call = {"sessionUpdate": "tool_call", "toolCallId": name, "title": name, "rawInput": "HERE"}
            params = {"sessionId": "s", "update": call}
            line = json.dumps({"jsonrpc": "2.0", "method": "session/update", "params": params})
            agent.send_raw(line.replace('"HERE"', value).encode() + b"\n")
        agent.reply({"stopReason": "end_turn"})
        await agent.stall()

    async with shown(ScriptedAgent(script)) as (host, feed, _):
        page = Page.of(feed)
        session = await host.new_session()
        await page.do("resume", session=session.id)
        await session.prompt("go")
        await page.until(lambda: page.states[session.id]["turn"]["outcome"])
        titles = [entry.get("title") for entry in page.states[session.id]["transcript"]["entries"]]
        assert titles[-2:] == ["deep", "half"]


async def test_r308_a_question_is_answered_once_by_whoever_has_the_seat() -> None:
    async def script(turn: Any) -> None:
        async with turn.tool_call("Write", kind="edit", path=turn.path("a")) as call:
            await turn.permitted(call)

    async with shown(ReferenceAgent(script=script)) as (host, feed, _):
        one, other = Page.of(feed), Page.of(feed)
        turn = (await host.new_session()).prompt("go")
        (question,) = await one.questions()
        option = question["options"][0]["id"]
        assert not (await other.ask("answer", question=question["number"], option=option))["ok"]
        await other.do("control", take=True)
        assert not (await one.ask("answer", question=question["number"], option=option))["ok"]
        assert (await other.do("answer", question=question["number"], option=option)) == {"accepted": True}
        assert not (await other.ask("answer", question=question["number"], option=option))["ok"]
        await turn
        await one.until(lambda: one.latest["questions"]["items"] == [])


async def test_r309_viewers_see_that_the_agent_has_gone_and_what_was_said() -> None:
    async def script(agent: ScriptedAgent) -> None:
        await agent.handshake()
        await agent.open_session("s")
        await agent.expect("session/prompt")
        agent.say("Half an ans")
        await agent.close()

    async with shown(ScriptedAgent(script)) as (host, feed, _):
        page = Page.of(feed)
        session = await host.new_session()
        await page.do("resume", session=session.id)
        await page.do("prompt", session=session.id, text="go")
        await page.until(lambda: page.states[session.id]["health"]["status"] != "connected")
        await page.until(lambda: page.latest["health"]["status"] != "connected")
        assert page.texts(session.id) == ["go", "Half an ans"]
        assert not (await page.ask("prompt", session=session.id, text="more"))["ok"]
        late = Page.of(feed)
        await late.do("resume", session=session.id)
        assert late.texts(session.id) == ["go", "Half an ans"]


async def test_r310_no_path_leads_out_of_the_page(tmp_path: Path) -> None:
    async with shown() as (_, _feed, served):
        browser = Browser(served)
        await browser.open()
        for target in ("/../serve.py", "/%2e%2e/serve.py", "//etc/passwd", "/page.js/../../serve.py"):
            assert (await browser.get(target)).status == 404


async def test_r355_no_path_leads_out_of_the_sessions_directory(tmp_path: Path) -> None:
    inside, secret = tmp_path / "project", tmp_path / "secret.txt"
    inside.mkdir()
    secret.write_text("not for the agent")
    (inside / "link.txt").symlink_to(secret)
    async with acp_host.connect(ReferenceAgent().transport()) as host, Feed(host, cwd=inside) as feed:
        page = Page.of(feed)
        session = (await page.do("new_session"))["session"]
        for path in ("../secret.txt", str(secret), "link.txt", "a/../../secret.txt", "\0", "~/.ssh/id_rsa", "."):
            refused = await page.ask("prompt", session=session, text="Look", paths=[path])
            assert refused["error"]["kind"] == "InvalidInput", path
            assert "not for the agent" not in json.dumps(page.told)
        assert host.sessions[0].current_turn is None


async def test_r356_what_cannot_go_along_is_refused_and_nothing_is_sent() -> None:
    async with shown() as (host, feed, _):
        page = Page.of(feed)
        session = await host.new_session()
        for wrong in (
            {"images": ["no Base64"]},
            {"images": ["PHN2Zy8+"]},
            {"images": ["x"] * 21},
            {"files": [{"name": "a", "text": "x" * 300_000}]},
            {"files": [{"name": "a"}]},
            {"files": [{"name": "a", "text": "b", "path": "/etc/passwd"}]},
            {"attachments": ["javascript:alert(1)"]},
        ):
            refused = await page.ask("prompt", session=session.id, text="Look", **wrong)
            assert refused["error"]["kind"] == "InvalidInput", wrong
        assert session.current_turn is None


async def test_r357_toasts_that_a_viewer_held_leave_when_it_has_gone() -> None:
    async with shown() as (host, feed, _):
        session = await host.new_session()
        page, watcher = Page.of(feed), Page.of(feed, may_control=False)
        for viewer in (page, watcher):
            await viewer.do("hold_notices", session=session.id, hold=True)
            await viewer.do("hold_notices", session=session.id, hold=True)
        page.viewer.leave()
        assert session.notices.timeouts_paused
        watcher.viewer.leave()
        assert not session.notices.timeouts_paused


def announcing(*updates: tuple[str, dict[str, Any]]) -> ScriptedAgent:
    """Return an agent that sends updates of sessions, by their ids, in its first turn."""

    async def script(agent: ScriptedAgent) -> None:
        await agent.handshake()
        await agent.open_session("s-1")
        await agent.expect("session/prompt")
        for session_id, update in updates:
            agent.update(update, session_id)
        agent.reply({"stopReason": "end_turn"})
        await agent.stall()

    return ScriptedAgent(script)


def announced(session_id: str, by: str = "s-1") -> tuple[str, dict[str, Any]]:
    return by, {"sessionUpdate": "subagent_update", "sessionId": session_id}


def said(session_id: str, text: str) -> tuple[str, dict[str, Any]]:
    return session_id, {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": text}}


async def test_r358_of_thousands_of_subagents_the_newest_are_listed() -> None:
    names = [f"child-{number}" for number in range(2_000)]
    agent = announcing(*(update for name in names for update in (announced(name), said(name, "Hello"))))
    async with acp_host.connect(agent.transport(), unstable=True) as host, Feed(host) as feed:
        page = Page.of(feed)
        session = await host.new_session()
        await session.prompt("go")
        items = await page.until(lambda: (found := page.latest["sessions"]["items"])[200:] and found)
        assert [item["id"] for item in items] == ["s-1", *names[-200:]]
        await page.do("resume", session="child-1999")
        assert page.texts("child-1999") == ["Hello"]


async def test_r359_a_subagent_that_is_called_like_the_session_takes_nothing_of_it() -> None:
    agent = announcing(
        announced("s-1"), announced("child"), said("child", "of the child"), said("s-1", "of the session")
    )
    async with acp_host.connect(agent.transport(), unstable=True) as host, Feed(host) as feed:
        page = Page.of(feed)
        session = await host.new_session()
        await session.prompt("go")
        items = await page.until(lambda: (found := page.latest["sessions"]["items"])[1:] and found)
        assert [(item["id"], item["parent"]) for item in items] == [("s-1", None), ("child", "s-1")]
        await page.do("resume", session="s-1")
        assert page.texts("s-1") == ["go", "of the session"]


async def test_r360_what_is_typed_for_a_login_is_told_to_nobody(tmp_path: Path) -> None:
    queue = acp_host.LoginQueue()
    recording = tmp_path / "recording.jsonl"
    command = ReferenceAgent.command("--login", "env_var")
    async with (
        acp_host.connect(command, authenticate=queue, record=recording) as host,
        Feed(host, logins=queue) as feed,
    ):
        page, watcher = Page.of(feed), Page.of(feed, may_control=False)
        asked = await page.send("new_session")
        (question,) = await page.questions()
        (name,) = [variable["name"] for variable in question["ways"][0]["variables"] if not variable["optional"]]
        values = {name: "a-very-secret-key"}
        await watcher.until(lambda: watcher.latest.get("questions", {}).get("items"))
        await page.do("answer", question=question["number"], login=question["ways"][0]["id"], values=values)
        assert (await page.until(lambda: page.results.get(asked)))["ok"]
        told = repr((page.told, watcher.told, list(host.diagnostics), host.authentication.snapshot()))
    assert "a-very-secret-key" not in told + recording.read_text()


async def test_r361_an_agent_that_refuses_after_a_login_is_asked_no_third_time() -> None:
    async def script(agent: ScriptedAgent) -> None:
        await agent.handshake(authMethods=[{"id": "way", "name": "Log in"}])
        await agent.expect("session/new")
        agent.reply_error(-32000, "Log in")
        await agent.expect("authenticate")
        agent.reply({})
        await agent.expect("session/new")
        agent.reply_error(-32000, "Log in all the same")
        await agent.stall()

    queue = acp_host.LoginQueue()
    async with (
        acp_host.connect(ScriptedAgent(script).transport(), authenticate=queue) as host,
        Feed(host, logins=queue) as feed,
    ):
        page = Page.of(feed)
        asked = await page.send("new_session")
        (question,) = await page.questions()
        await page.do("answer", question=question["number"], login="way")
        again = await page.ask("answer", question=question["number"], login="way")
        assert again["error"]["kind"] == "InvalidState"
        refused = await page.until(lambda: page.results.get(asked))
        assert (refused["error"]["kind"], refused["error"]["message"]) == ("AuthRequired", "Log in all the same")
        assert queue.pending == ()


async def test_r362_a_list_of_sessions_without_an_end_is_read_as_far_as_is_asked() -> None:
    async def script(agent: ScriptedAgent) -> None:
        await agent.handshake(agentCapabilities={"sessionCapabilities": {"list": {}}})
        for number in itertools.count():
            await agent.expect("session/list")
            agent.reply({"sessions": [{"sessionId": f"s{number}", "cwd": "/"}], "nextCursor": "again"})

    async with acp_host.connect(ScriptedAgent(script).transport()) as host, Feed(host) as feed:
        page = Page.of(feed)
        first = await page.do("list_sessions")
        second = await page.do("list_sessions", cursor=first["nextCursor"])
        assert [item["sessionId"] for item in (*first["sessions"], *second["sessions"])] == ["s0", "s1"]


async def test_r363_of_very_large_entries_a_snapshot_has_fewer() -> None:
    updates = [
        ("s-1", {"sessionUpdate": "tool_call", "toolCallId": f"c{number}", "title": "Read", "rawOutput": "x" * 50_000})
        for number in range(100)
    ]
    async with acp_host.connect(announcing(*updates).transport()) as host, Feed(host) as feed:
        page = Page.of(feed)
        session = await host.new_session()
        await session.prompt("go")
        await page.do("resume", session="s-1")
        assert max(len(json.dumps(message)) for message in page.told) < 2**20
        entries = page.states["s-1"]["transcript"]["entries"]
        assert len(entries) == 101
        assert entries[-1]["toolCallId"] == "c99"
        fetched = await page.do("fetch", session="s-1", first=1, last=3)
        assert [entry["toolCallId"] for entry in fetched["entries"]] == ["c0", "c1", "c2"]


async def test_r510_no_subagent_is_below_itself() -> None:
    forgotten = [announced(f"other-{number}") for number in range(MAX_SUBAGENTS)]
    agent = announcing(
        *(announced("one"), announced("two", by="one")),
        *(announced("one", by="two"), announced("one", by="one"), said("one", "of the one")),
        *forgotten,  # by the session
    )
    async with acp_host.connect(agent.transport(), unstable=True) as host, Feed(host) as feed:
        page = Page.of(feed)
        session = await host.new_session()
        await session.prompt("go")
        assert "one" not in session.state.snapshot().subagents
        items = await page.until(lambda: (found := page.latest["sessions"]["items"])[2:] and found)
        assert [(item["id"], item["parent"]) for item in items] == [("s-1", None), ("one", "s-1"), ("two", "one")]
