"""The feed: what viewers are told, and what becomes of what they ask for."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

import acp_host
from acp_host import ElicitationQueue, PermissionQueue
from acp_host.errors import InvalidState
from acp_host.host.connection import HostConnection
from acp_host.state.json_form import to_json
from acp_host.testing import ReferenceAgent, ScriptedAgent
from acp_host.testing.harn import HarnAgent, HarnTurn
from acp_host.ui.feed import Feed
from acp_host.ui.feed.command_forms import read_command
from tests.ui.pages import Page


@asynccontextmanager
async def fed(agent: ReferenceAgent | None = None, **options: Any) -> AsyncIterator[tuple[HostConnection, Feed]]:
    permissions, forms = PermissionQueue(), ElicitationQueue()
    connection = acp_host.connect(
        (agent or ReferenceAgent()).transport(), permissions=permissions, elicitation=forms, sidebar=True
    )
    async with connection as host, Feed(host, permissions=permissions, elicitation=forms, **options) as feed:
        yield host, feed


async def asks(turn: Any) -> None:
    """Ask for permission, and do nothing."""
    async with turn.tool_call("Write notes.txt", kind="edit", path=turn.path("notes.txt")) as call:
        await turn.permitted(call)


def plain(state: Any) -> Any:
    return json.loads(json.dumps(to_json(state)))


async def test_a_page_has_the_state_of_the_session_after_every_turn() -> None:
    async with fed() as (host, feed):
        page = Page.of(feed)
        session = (await page.do("new_session"))["session"]
        await page.do("resume", session=session)
        shown = host.sessions[0].state
        for text in ("Show me what you can do", "/content", "/flood 300", "/notices", "/remind x", "/say Hello"):
            await page.do("prompt", session=session, text=text)
            await page.until(lambda: page.states[session]["turn"]["status"] == "idle")
            await page.until(lambda: page.states[session]["version"] == shown.version)
            assert page.states[session] == plain(shown.snapshot())
        assert page.told[0]["type"] == "hello"
        assert page.hello["agent"]["name"] == host.agreement.agent_name


async def test_changes_come_as_deltas_and_few_for_a_flood() -> None:
    async with fed() as (host, feed):
        page = Page.of(feed)
        session = await host.new_session()
        await page.do("resume", session=session.id)
        await session.prompt("/flood 20000")
        await page.until(lambda: page.states[session.id]["turn"]["status"] == "idle")
        kinds = [message["type"] for message in page.told if message.get("session")]
        assert kinds.count("snapshot") == 1
        assert kinds.count("delta") < 200
        assert page.states[session.id] == plain(session.state.snapshot())


async def test_a_flood_of_entries_comes_as_snapshots_of_the_newest() -> None:
    async with fed() as (host, feed):
        page = Page.of(feed)
        session = await host.new_session()
        await page.do("resume", session=session.id)
        await session.prompt("\n".join(f"/tool Call {number}" for number in range(2_000)))
        await page.until(lambda: page.states[session.id]["version"] == session.state.version)
        entries = page.states[session.id]["transcript"]["entries"]
        assert len(entries) == 2_001
        assert entries[-150:] == plain(session.state.snapshot())["transcript"]["entries"][-150:]
        assert sum(len(json.dumps(message)) for message in page.told) < 10 * len(json.dumps(page.states[session.id]))


async def test_a_slow_viewer_gets_much_at_once_and_holds_up_nobody() -> None:
    async with fed() as (host, feed):
        session = await host.new_session()
        slow, quick = Page(), Page.of(feed)
        gate = asyncio.Event()

        async def send(message: bytes) -> None:
            await slow.take(message)
            await gate.wait()

        slow.viewer = feed.join(send)
        slow.give = slow.viewer.receive
        await slow.send("resume", session=session.id)
        await quick.do("resume", session=session.id)
        for number in range(20):
            await session.prompt(f"/say {number}")
            await quick.until(lambda number=number: f"{number}" in quick.texts(session.id))
        assert [message["type"] for message in slow.told] == ["hello"]
        gate.set()
        await slow.until(lambda: session.id in slow.states)
        assert slow.states[session.id] == plain(session.state.snapshot())
        assert sum(message["type"] == "snapshot" for message in slow.told) == 1


async def test_a_viewer_that_is_behind_gets_what_it_missed_as_one_delta() -> None:
    async with fed() as (host, feed):
        session = await host.new_session()
        slow, quick = Page(), Page.of(feed)
        gate = asyncio.Event()
        gate.set()

        async def send(message: bytes) -> None:
            await gate.wait()
            await slow.take(message)

        slow.viewer = feed.join(send)
        slow.give = slow.viewer.receive
        await slow.do("resume", session=session.id)
        await quick.do("resume", session=session.id)
        gate.clear()
        for number in range(10):
            await session.prompt(f"/say {number}")
            await quick.until(lambda number=number: f"{number}" in quick.texts(session.id))
        before = len(slow.told)
        gate.set()
        await slow.until(lambda: slow.versions[session.id] == quick.versions[session.id])
        assert slow.states[session.id] == quick.states[session.id]
        deltas = [message for message in slow.told[before:] if message["type"] == "delta"]
        assert len(deltas) <= 2  # one may have been on its way


async def test_who_comes_back_gets_what_was_missed() -> None:
    async with fed() as (host, feed):
        session = await host.new_session()
        page = Page.of(feed)
        await page.do("resume", session=session.id)
        page.viewer.leave()
        await session.prompt("/say meanwhile")
        again = Page.of(feed, before=page)
        await again.do("resume", session=session.id, version=page.versions[session.id], resume=page.hello["resume"])
        assert again.texts(session.id) == ["/say meanwhile", "meanwhile"]
        assert [message["type"] for message in again.told if message.get("session")] == ["delta"]


@pytest.mark.parametrize("version, token", [(10**9, None), (1, "of another feed"), (None, None), (-5, None)])
async def test_who_comes_back_from_elsewhere_gets_a_snapshot(version: int | None, token: str | None) -> None:
    async with fed() as (host, feed):
        session = await host.new_session()
        page = Page.of(feed)
        await page.until(lambda: page.hello)
        await page.do("resume", session=session.id, version=version, resume=token or page.hello["resume"])
        assert [message["type"] for message in page.told if message.get("session")] == ["snapshot"]


async def test_a_long_session_comes_with_its_newest_entries_and_the_rest_is_fetched() -> None:
    async with fed() as (host, feed):
        session = await host.new_session()
        for number in range(150):
            await session.prompt(f"/say {number}")
        page = Page.of(feed)
        await page.do("resume", session=session.id)
        entries = page.states[session.id]["transcript"]["entries"]
        assert [entry is None for entry in entries] == [True] * 100 + [False] * 200
        value = await page.do("fetch", session=session.id, first=0, last=99)
        assert [entry["position"] for entry in value["entries"]] == list(range(100))
        entries[:100] = value["entries"]
        await session.prompt("/say last")
        await page.until(lambda: page.texts(session.id)[-1] == "last")
        await page.until(lambda: page.states[session.id]["version"] == session.state.version)
        assert page.states[session.id] == plain(session.state.snapshot())
        refused = await page.ask("fetch", session=session.id, first=0, last=500)
        assert refused["error"]["kind"] == "InvalidInput"


async def test_one_viewer_may_act_and_the_others_look() -> None:
    async with fed() as (host, feed):
        session = await host.new_session()
        first, second = Page.of(feed), Page.of(feed)
        watcher = Page.of(feed, may_control=False)
        for page, controller, may in ((first, True, True), (second, False, True), (watcher, False, False)):
            await page.until(lambda page=page: page.hello)
            assert (page.hello["controller"], page.hello["mayControl"]) == (controller, may)
        for name, members in {
            "prompt": {"text": "/say Hello"},
            "cancel": {},
            "remind": {"body": "x"},
            "set_option": {"option": "mode", "value": "plan"},
            "close_session": {},
            "dismiss_notice": {"notice": "n"},
        }.items():
            refused = await second.ask(name, session=session.id, **members)
            assert not refused["ok"]
            assert "controller" in refused["error"]["message"]
        assert session.current_turn is None
        assert not (await watcher.ask("control", take=True))["ok"]
        await second.do("control", take=True)
        await first.until(lambda: first.latest["control"]["controller"] == second.viewer.number)
        assert not (await first.ask("prompt", session=session.id, text="/say x"))["ok"]
        await second.do("prompt", session=session.id, text="/say Hello")
        second.viewer.leave()
        await first.until(lambda: first.latest["control"]["controller"] is None)
        await first.do("control", take=True)
        assert first.viewer.is_controller


async def test_nobody_acts_where_the_feed_is_read_only() -> None:
    async with fed(read_only=True) as (host, feed):
        session = await host.new_session()
        page = Page.of(feed)
        refused = await page.ask("prompt", session=session.id, text="/say x")
        assert "nobody" in refused["error"]["message"]
        assert not (await page.ask("control", take=True))["ok"]
        await page.do("resume", session=session.id)


async def test_permissions_are_told_with_the_agents_name_and_answered() -> None:
    async with fed(ReferenceAgent(script=asks)) as (host, feed):
        page = Page.of(feed)
        session = await host.new_session()
        turn = session.prompt("go")
        (question,) = await page.questions()
        assert question["agent"] == host.agreement.agent_name
        assert (question["kind"], question["session"]) == ("permission", session.id)
        assert question["raw"]["toolCall"]["toolCallId"] == question["toolCallId"]
        number, option = question["number"], question["options"][-1]["id"]
        refused = await page.ask("answer", question=number, option="of the page's own making")
        assert refused["error"]["kind"] == "InvalidInput"
        assert (await page.ask("answer", question=number, action="accept"))["error"]["kind"] == "InvalidInput"
        assert await page.do("answer", question=number, option=option) == {"accepted": True}
        await turn
        await page.until(lambda: page.latest["questions"]["items"] == [])
        assert (await page.ask("answer", question=number, option=option))["error"]["kind"] == "InvalidState"


async def test_forms_are_told_and_checked() -> None:
    async with fed() as (host, feed):
        page = Page.of(feed)
        session = await host.new_session()
        turn = session.prompt("/ask How?")
        (question,) = await page.questions()
        assert question["kind"] == "form"
        names = {field["name"]: field for field in question["fields"]}
        needed = [name for name, field in names.items() if field["required"]]
        assert needed
        wrong = await page.do("answer", question=question["number"], action="accept", content={})
        assert wrong["accepted"] is False
        assert {error["name"] for error in wrong["errors"]} == set(needed)
        assert not (await page.ask("answer", question=question["number"], action="accept", content={"no": 1}))["ok"]
        await page.do("answer", question=question["number"], action="decline")
        await turn


async def test_what_a_harn_agent_asks_people_is_answered() -> None:
    async def script(turn: HarnTurn) -> None:
        turn.ask_human("approval", detail="Push?")

    async with acp_host.connect(HarnAgent(script).transport()) as host, Feed(host) as feed:
        page = Page.of(feed)
        session = await host.new_session()
        await page.do("resume", session=session.id)
        await session.prompt("go")
        requests = await page.until(lambda: (page.states[session.id]["harn"] or {}).get("humanRequests"))
        (request,) = requests
        for wrong in ({}, {"accepted": True}, {"answer": "yes"}):
            refused = await page.ask("answer_human", session=session.id, request=request, **wrong)
            assert refused["error"]["kind"] == "InvalidInput"
        await page.do("answer_human", session=session.id, request=request, approved=True, reason="It is tested.")
        await page.until(lambda: page.states[session.id]["harn"]["humanRequests"][request]["status"] == "answered")


async def test_a_web_page_is_opened_by_the_viewer_and_not_by_the_host() -> None:
    opened: list[str] = []
    forms = ElicitationQueue(opener=opened.append)
    async with (
        acp_host.connect(ReferenceAgent().transport(), elicitation=forms) as host,
        Feed(host, elicitation=forms) as feed,
    ):
        page = Page.of(feed)
        session = await host.new_session()
        turn = session.prompt("/visit https://example.com/login")
        (question,) = await page.questions()
        assert (question["kind"], question["host"]) == ("page", "example.com")
        await page.do("answer", question=question["number"], action="accept")
        await turn
        assert opened == []


async def test_reminders_and_notices_by_command() -> None:
    async with fed() as (host, feed):
        page = Page.of(feed)
        session = await host.new_session()
        await page.do("resume", session=session.id)
        members = {"session": session.id, "body": "2 tests failed", "tags": ["tests"], "ttlTurns": 2}
        steps = (await page.do("plan_reminder", **members))["steps"]
        assert steps[0]["available"]
        assert {"rung", "reason", "adjustments"} <= steps[0].keys()
        assert session.reminders.snapshot().entries == ()
        reminder = (await page.do("remind", **members))["reminder"]
        await page.until(lambda: page.states[session.id]["reminders"]["entries"])
        assert (await page.do("revoke_reminder", session=session.id, reminder=reminder))["result"]
        side = await page.do("remind", session=session.id, body="x", policy={"rungs": ["sidebar"]})
        assert await page.do("dismiss_reminder", session=session.id, reminder=side["reminder"]) == {"dismissed": True}
        refused = await page.ask("remind", session=session.id, body="x", mode="loudly")
        assert refused["error"]["kind"] == "ReminderInvalid"
        await session.prompt("/notice warning Careful")
        toast = await page.until(lambda: page.states[session.id]["notices"]["toasts"])
        assert await page.do("dismiss_notice", session=session.id, notice=toast[0]["id"]) == {"dismissed": True}


async def test_a_running_turn_is_cancelled_although_others_wait() -> None:
    async with fed() as (host, feed):
        page = Page.of(feed)
        session = await host.new_session()
        await page.do("prompt", session=session.id, text="/wait")
        second = (await page.do("prompt", session=session.id, text="/say later"))["turn"]
        await page.do("cancel", session=session.id, turn=second)
        assert session.queued_turns == ()
        await page.do("resume", session=session.id)
        await page.do("cancel", session=session.id)
        await page.until(lambda: page.states[session.id]["turn"]["outcome"] == "cancelled")
        assert (await page.ask("cancel", session=session.id, turn=second))["error"]["kind"] == "InvalidState"


async def test_attachments_go_as_links_and_nothing_is_read() -> None:
    async with fed() as (host, feed):
        page = Page.of(feed)
        session = await host.new_session()
        await page.do(
            "prompt", session=session.id, text="Look", attachments=["file:///etc/passwd", "https://x.y/a%20b"]
        )
        prompt = session.current_turn.prompt if session.current_turn else session.queued_turns[0].prompt
        assert [to_json(block) for block in prompt.blocks[1:]] == [
            {"type": "resource_link", "name": "passwd", "uri": "file:///etc/passwd"},
            {"type": "resource_link", "name": "a b", "uri": "https://x.y/a%20b"},
        ]
        for uri in ("javascript:alert(1)", "data:text/html,x", "//[", "notes.txt"):
            refused = await page.ask("prompt", session=session.id, text="Look", attachments=[uri])
            assert refused["error"]["kind"] == "InvalidInput"


async def test_sessions_come_and_go() -> None:
    async with fed() as (host, feed):
        page = Page.of(feed)
        one = (await page.do("new_session"))["session"]
        two = await host.new_session()
        await page.until(lambda: [item["id"] for item in page.latest["sessions"]["items"]] == [one, two.id])
        await two.prompt("/title A name")
        await page.until(lambda: page.latest["sessions"]["items"][1]["title"] == "A name")
        listed = (await page.do("list_sessions"))["sessions"]
        assert {item["sessionId"] for item in listed} >= {one, two.id}
        await page.do("close_session", session=one)
        await page.until(lambda: [item["id"] for item in page.latest["sessions"]["items"]] == [two.id])
        again = await page.do("open_session", session=one)
        assert again["session"] == one
        await two.close()
        await page.until(
            lambda: {i["id"]: i["open"] for i in page.latest["sessions"]["items"]} == {one: True, two.id: False}
        )
        assert (await page.ask("prompt", session=two.id, text="x"))["error"]["kind"] == "InvalidState"
        await page.do("resume", session=two.id)  # it can be read on


async def test_options_are_set_and_refused() -> None:
    async with fed() as (host, feed):
        page = Page.of(feed)
        session = await host.new_session()
        option = next(each for each in session.options.snapshot().entries if each.choices)
        value = next(choice.value for choice in option.choices if choice.value != option.value)
        await page.do("set_option", session=session.id, option=option.id, value=value)
        assert session.options.snapshot().get(option.id).value == value
        refused = await page.ask("set_option", session=session.id, option=option.id, value="none of them")
        assert refused["error"]["kind"] == "InvalidInput"


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"no JSON",
        b"[]",
        b"7",
        b'{"command": "prompt"}',
        b'{"id": "1", "command": "prompt"}',
        b'{"id": true, "command": "prompt"}',
        b'{"id": 999}',
        b'{"id": 999, "command": ["prompt"]}',
        b'{"id": 999, "command": "eval", "text": "1"}',
        b'{"id": 999, "command": "prompt", "session": "s"}',
        b'{"id": 999, "command": "prompt", "session": 7, "text": "x"}',
        b'{"id": 999, "command": "prompt", "session": "s", "text": "x", "shell": true}',
        b'{"id": 999, "command": "fetch", "session": "s", "first": -1, "last": 3}',
        b'{"id": 999, "command": "fetch", "session": "s", "first": 5.0, "last": 6.0}',
        b'{"id": 999, "command": "answer", "question": 1, "content": {"a": {"b": 1}}}',
        b'{"id": 999, "command": "resume", "session": "unknown"}',
        b'{"id": 999, "command": "prompt", "session": "unknown", "text": "x"}',
        b"[" * 100_000,
        b'{"id": 999, "command": "prompt", "text": "' + b"x" * 2**20 + b'"}',
        b"\xff\xfe",
    ],
)
async def test_what_is_no_command_is_answered_with_an_error(data: bytes) -> None:
    async with fed() as (_host, feed):
        page = Page.of(feed)
        await page.viewer.receive(data)
        result = await page.until(lambda: next((m for m in page.told if m["type"] == "result"), None))
        assert result["ok"] is False
        assert result["error"]["message"]
        assert result["error"]["kind"] in ("InvalidInput", "InvalidState")
        assert len(result["error"]["message"]) < 1_000
        await page.do("control", take=True)  # and it goes on


@pytest.mark.parametrize(
    "members",
    [
        {"command": "prompt", "session": "s", "text": "x", "attachments": [1] * 200_000},
        {"command": "prompt", "session": "s", "text": "x", "files": [{"name": 1}] * 100_000},
        {"command": "answer", "question": 1, "content": {f"{number}": [1] * 900 for number in range(500)}},
        {"command": "answer", "question": 1, "values": {f"{number}": number for number in range(100_000)}},
        {"command": "remind", "session": "s", "body": "x", **{f"{number}": number for number in range(100_000)}},
    ],
)
async def test_a_command_with_many_faults_takes_no_longer_than_to_read_it(members: dict[str, Any]) -> None:
    data = json.dumps({"id": 999, **members})
    began = time.process_time()
    _, _, fault = read_command(data)
    assert fault is not None
    assert len(str(fault)) < 1_000
    assert time.process_time() - began < 1.0


async def test_what_the_agent_refuses_is_told_with_its_code() -> None:
    async with fed(ReferenceAgent(require_auth=True)) as (_host, feed):
        page = Page.of(feed)
        refused = await page.ask("new_session")
        assert (refused["error"]["kind"], refused["error"]["code"]) == ("AuthRequired", -32000)


async def test_diagnostics_and_health_are_told_once() -> None:
    async with fed() as (host, feed):
        page = Page.of(feed)
        await page.until(lambda: "health" in page.latest)
        assert page.latest["health"]["status"] == "connected"
        for number in range(3):
            host.diagnostics.add(acp_host.Diagnostic(acp_host.DiagnosticKind.UNEXPECTED, f"news {number}"))
        await page.until(lambda: len(page.diagnostics) == 3)
        assert [item["number"] for item in page.diagnostics] == [1, 2, 3]
        await host.close()
        await page.until(lambda: page.latest["health"]["status"] == "closed")


async def test_a_viewer_whose_transport_fails_is_gone() -> None:
    async with fed() as (_host, feed):

        async def send(message: bytes) -> None:
            raise ConnectionResetError

        viewer = feed.join(send)
        left = Page.of(feed)
        await left.until(lambda: left.latest.get("control", {}).get("viewers") == [left.viewer.number])
        assert viewer.gone
        assert feed.controller is None
        await viewer.receive(b"anything")


async def test_what_goes_wrong_in_telling_a_viewer_costs_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    async with fed() as (host, feed):
        page = Page.of(feed)
        await page.until(lambda: page.hello)
        with monkeypatch.context() as patch:
            patch.setattr(feed, "hello", lambda _: 1 / 0)
            lost = Page.of(feed)
            await page.until(lambda: page.diagnostics)
        assert lost.viewer.gone
        assert [diagnostic.kind for diagnostic in host.diagnostics] == ["handler_failed"]
        await page.do("new_session")


async def test_commands_of_a_viewer_that_takes_nothing_are_held_back() -> None:
    async with fed() as (_host, feed):
        never = asyncio.Event()

        async def send(message: bytes) -> None:
            await never.wait()

        viewer = feed.join(send)
        for _ in range(64):
            await viewer.receive(b"{}")
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.05):
                await viewer.receive(b"{}")
        viewer.leave()
        await viewer.receive(b"{}")


async def test_what_is_nested_too_deeply_is_left_out() -> None:
    async def script(agent: ScriptedAgent) -> None:
        await agent.handshake()
        await agent.open_session("s")
        await agent.expect("session/prompt")
        call = {"sessionUpdate": "tool_call", "toolCallId": "c", "title": "Deep", "rawInput": "DEEP"}
        line = json.dumps({"jsonrpc": "2.0", "method": "session/update", "params": {"sessionId": "s", "update": call}})
        agent.send_raw(line.replace('"DEEP"', "[" * 1_000 + "]" * 1_000).encode() + b"\n")
        agent.reply({"stopReason": "end_turn"})
        await agent.stall()

    async with acp_host.connect(ScriptedAgent(script).transport()) as host, Feed(host) as feed:
        page = Page.of(feed)
        session = await host.new_session()
        await page.do("resume", session=session.id)
        await session.prompt("go")
        await page.until(lambda: page.states[session.id]["turn"]["outcome"])
        assert "too deeply" in json.dumps(page.states[session.id]["transcript"]["entries"][-1])


async def test_a_feed_that_is_not_open_takes_no_viewers() -> None:
    async with acp_host.connect(ReferenceAgent().transport()) as host:
        with pytest.raises(InvalidState, match="not open"):
            Page.of(Feed(host))
