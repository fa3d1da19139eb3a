"""What agents ask of the host: unknown methods, handlers that fail or hang, requests that are withdrawn."""

from __future__ import annotations

import asyncio
import logging
import time
import traceback
from pathlib import Path
from typing import Any

import pytest

import acp_host
from acp_host import DiagnosticKind, ElicitationHandlers, MethodNotFound, RequestFailed
from acp_host.host.incoming import MOST_OPEN
from acp_host.testing import ScriptedAgent
from acp_host.testing.chaos import find
from acp_host.testing.chaos.agents.asking import NOT_METHODS, VENDORS
from acp_host.wire.elicitation import ElicitationAcceptAction, ElicitationDeclineAction
from tests.chaos.bad_agents import (
    DONE,
    FORM,
    Hangs,
    cancelled,
    connected,
    conversation,
    open_session,
    permission,
    reported,
    selected,
    until,
)


@pytest.mark.parametrize(
    "method",
    [*NOT_METHODS, "fs/read_text_file", "terminal/create"],
)
async def test_r50_an_unknown_request_is_refused_at_once(method: str) -> None:
    async def bad(agent: ScriptedAgent) -> None:
        error = (await agent.call(method, {"sessionId": "session-1"}))["error"]
        assert (error["code"], error["data"]) == (-32601, {"method": method})

    seen = await conversation(bad)
    assert [note.method for note in seen.reported(DiagnosticKind.UNKNOWN_METHOD)] == [method]


@pytest.mark.parametrize("method", VENDORS)
@pytest.mark.parametrize("as_request", [True, False])
async def test_r51_an_extension_that_nobody_serves_stays_visible(method: str, as_request: bool) -> None:
    async def bad(agent: ScriptedAgent) -> None:
        if as_request:
            assert (await agent.call(method, VENDORS[method]))["error"]["code"] == -32601
        else:
            agent.notify(method, VENDORS[method])

    seen = await conversation(bad)
    [note] = seen.reported(DiagnosticKind.UNKNOWN_METHOD)
    assert note.method == method
    assert all(str(name) in note.data for name in VENDORS[method]), "what it wanted to say can be read"


@pytest.mark.parametrize("method", VENDORS)
async def test_r51_an_extension_that_the_application_serves(method: str) -> None:
    told: list[Any] = []

    async def script(agent: ScriptedAgent) -> None:
        prompt = await agent.expect("session/prompt")
        response = await agent.call(method, VENDORS[method])
        assert response["result"] == {"outcome": "accepted", "of": VENDORS[method]}
        agent.notify(method, VENDORS[method])
        agent.reply(DONE, to=prompt)

    async with open_session(script) as (host, session):
        host.on_request(method, lambda params: {"outcome": "accepted", "of": params})
        host.on_notification(method, told.append)
        await session.prompt("question")
        assert told == [VENDORS[method]]
        assert list(host.diagnostics) == []


async def test_r51_a_flood_of_notifications_that_nobody_listens_to() -> None:
    seen = await conversation(find("unknown-notifications"))
    assert len(seen.reported(DiagnosticKind.UNKNOWN_METHOD)) < 40


async def test_r52_forms_are_offered_only_where_somebody_shows_them() -> None:
    async def refused(agent: ScriptedAgent) -> None:
        params = await agent.handshake()
        assert "elicitation" not in params["clientCapabilities"]
        assert (await agent.call("elicitation/create", FORM))["error"]["code"] == -32601

    async with connected(refused):
        pass

    async def answered(agent: ScriptedAgent) -> None:
        params = await agent.handshake()
        assert params["clientCapabilities"]["elicitation"] == {"form": {}}
        response = await agent.call("elicitation/create", FORM)
        assert response["result"] == {"action": "accept", "content": {"one": "this"}}
        for mode in ("url", "hologram"):
            other = {**FORM, "mode": mode, "url": "https://example.org", "elicitationId": "e"}
            assert (await agent.call("elicitation/create", other))["result"] == {"action": "decline"}

    async with connected(answered, elicitation=lambda _: ElicitationAcceptAction({"one": "this"})) as host:
        pass
    assert len(reported(host, DiagnosticKind.UNEXPECTED)) == 2


@pytest.mark.parametrize("offer", ["nothing", "files", "reading", "terminals", "urls"])
async def test_r53_what_is_offered_is_what_is_served(offer: str, tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("buy milk")
    arguments: dict[str, Any] = {
        "nothing": {},
        "files": {"files": True},
        "reading": {"files": acp_host.FileService(write=False)},
        "terminals": {"terminals": True},
        "urls": {"elicitation": ElicitationHandlers(url=lambda _: ElicitationDeclineAction())},
    }[offer]
    expected = {
        "fs": {"readTextFile": offer in ("files", "reading"), "writeTextFile": offer == "files"},
        "terminal": offer == "terminals",
    }

    async def script(agent: ScriptedAgent) -> None:
        capabilities = (await agent.handshake())["clientCapabilities"]
        assert {name: capabilities[name] for name in expected} == expected
        assert capabilities.get("elicitation") == ({"url": {}} if offer == "urls" else None)
        await agent.open_session()
        file = {"sessionId": "session-1", "path": str(tmp_path / "notes.txt")}
        answers = [
            await agent.call("fs/read_text_file", file),
            await agent.call("fs/write_text_file", {**file, "content": "buy tea"}),
            await agent.call("terminal/create", {"sessionId": "session-1", "command": "true"}),
        ]
        served = [answer.get("error", {}).get("code") != -32601 for answer in answers]
        assert served == [*expected["fs"].values(), expected["terminal"]]

    async with connected(script, **arguments) as host:
        await host.new_session(tmp_path)
    assert (tmp_path / "notes.txt").read_text() == ("buy tea" if offer == "files" else "buy milk")


async def raises(request: Any) -> Any:
    raise ZeroDivisionError("oops")


@pytest.mark.parametrize("handler", [raises, lambda _: "no-such-option", lambda _: None, lambda _: 5])
async def test_r54_a_permission_handler_that_fails_allows_nothing(handler: Any) -> None:
    async def bad(agent: ScriptedAgent) -> None:
        response = await agent.call("session/request_permission", permission("allow_once", "reject_once"))
        assert response["result"] == selected("reject_once")
        response = await agent.call("session/request_permission", permission("allow_once"))
        assert response["result"] == cancelled

    seen = await conversation(bad, permissions=handler)
    assert len(seen.reported(DiagnosticKind.HANDLER_FAILED)) == 2


@pytest.mark.parametrize("handler", [raises, lambda _: {1, 2}, lambda _: float("nan") and object()])
async def test_r54_a_handler_that_fails_is_answered_for(handler: Any) -> None:
    async def script(agent: ScriptedAgent) -> None:
        prompt = await agent.expect("session/prompt")
        error = (await agent.call("_vendor/ask", {}))["error"]
        assert error["code"] == -32603
        assert "oops" not in error["message"], "what went wrong here is not the agent's business"
        agent.reply(DONE, to=prompt)

    async with open_session(script) as (host, session):
        host.on_request("_vendor/ask", handler)
        await session.prompt("question")
    assert len(reported(host, DiagnosticKind.HANDLER_FAILED)) == 1


async def test_r54_a_handler_that_raises_what_is_no_exception_ends_nothing() -> None:
    async def fails(request: Any) -> Any:
        pytest.fail("nobody should have asked")

    async def script(agent: ScriptedAgent) -> None:
        prompt = await agent.expect("session/prompt")
        for _ in range(2):
            response = await agent.call("session/request_permission", permission("allow_once"))
            assert response["error"]["code"] == -32603
        agent.reply(DONE, to=prompt)

    async with open_session(script, permissions=fails) as (host, session):
        await session.prompt("question")
    assert "nobody should" in reported(host, DiagnosticKind.HANDLER_FAILED)[0].message


async def test_r54_a_handler_may_refuse_in_its_own_words() -> None:
    def refuses(params: Any) -> Any:
        raise acp_host.RequestFailed("not today", code=-31000, data={"until": "tomorrow"})

    async def script(agent: ScriptedAgent) -> None:
        prompt = await agent.expect("session/prompt")
        error = (await agent.call("_vendor/ask", {}))["error"]
        assert error == {"code": -31000, "message": "not today", "data": {"until": "tomorrow"}}
        agent.reply(DONE, to=prompt)

    async with open_session(script) as (host, session):
        host.on_request("_vendor/ask", refuses)
        await session.prompt("question")


async def test_r55_a_request_that_the_agent_withdraws() -> None:
    hangs = Hangs()

    async def bad(agent: ScriptedAgent) -> None:
        for _ in range(2):  # the second is withdrawn before its handler takes its first step
            asked = agent.request("session/request_permission", permission())
            if not hangs.asked:
                await until(lambda: hangs.asked)
            agent.notify("$/cancel_request", {"requestId": asked})
            assert (await agent.response(asked))["error"]["code"] == -32800
            agent.notify("$/cancel_request", {"requestId": asked})

    seen = await conversation(bad, permissions=hangs)
    assert (hangs.asked, hangs.cancelled) == (1, 1)
    assert seen.diagnostics == [], "a withdrawal that crosses the answer is nobody's fault"


async def test_r55_an_id_may_be_used_again_after_its_answer() -> None:
    hangs = Hangs()

    async def bad(agent: ScriptedAgent) -> None:
        ask = {"jsonrpc": "2.0", "id": 1, "method": "session/request_permission", "params": permission()}
        agent.send(ask)
        await until(lambda: hangs.asked)
        for _ in range(2):
            agent.send({"jsonrpc": "2.0", "method": "$/cancel_request", "params": {"requestId": 1}})
            agent.send(ask)  # while the handler of the first is still ending
            assert (await agent.response(1))["error"]["code"] == -32800
        await until(lambda: hangs.asked >= 2)
        agent.send({"jsonrpc": "2.0", "method": "$/cancel_request", "params": {"requestId": 1}})
        assert (await agent.response(1))["error"]["code"] == -32800

    await conversation(bad, permissions=hangs)
    assert hangs.asked == hangs.cancelled


@pytest.mark.parametrize(
    "params", [None, [], {}, {"requestId": 77}, {"requestId": {"a": 1}}, {"requestId": True}, {"requestId": "1"}]
)
async def test_r55_withdrawals_of_nothing(params: Any) -> None:
    async def bad(agent: ScriptedAgent) -> None:
        answered.clear()
        asked = agent.request("session/request_permission", permission())
        agent.notify("$/cancel_request", params)
        answered.set()
        assert (await agent.response(asked))["result"] == selected("allow_once")

    answered = asyncio.Event()

    async def handler(request: Any) -> str:
        await answered.wait()
        return "allow_once"

    seen = await conversation(bad, permissions=handler)
    assert len(seen.answers) == 1


async def test_r56_a_question_is_closed_when_the_agent_is_gone() -> None:
    hangs = Hangs()

    async def script(agent: ScriptedAgent) -> None:
        await agent.expect("session/prompt")
        agent.request("session/request_permission", permission())
        await until(lambda: hangs.asked)
        raise SystemExit(3)

    agent = ScriptedAgent(script)
    async with open_session(script, permissions=hangs) as (host, session):
        with pytest.raises(acp_host.OutcomeUnknown):
            await session.prompt("question")
        await until(lambda: hangs.cancelled)
        assert host.closed
        assert reported(host, DiagnosticKind.HANDLER_FAILED) == []
    assert agent.received == []


async def test_r56_an_answer_for_an_agent_that_is_gone() -> None:
    started, late = asyncio.Event(), asyncio.Event()

    async def stubborn(request: Any) -> str:
        started.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            late.set()
            return "allow_once"  # a handler that answers all the same
        raise AssertionError

    async def script(agent: ScriptedAgent) -> None:
        agent.request("session/request_permission", permission())
        await started.wait()
        await agent.close()

    async with open_session(script, permissions=stubborn) as (host, _):
        await host.wait_closed()
        await late.wait()
    assert list(host.diagnostics) == []


async def test_r57_many_requests_at_once() -> None:
    running = highest = 0

    async def handler(request: Any) -> str:
        nonlocal running, highest
        running += 1
        highest = max(highest, running)
        await asyncio.sleep(0.01)
        running -= 1
        return "allow_once"

    seen = await conversation(find("five-hundred-questions"), permissions=handler)
    assert all(answer["result"] == selected("allow_once") for answer in seen.answers)
    assert len(seen.answers) == 500
    assert highest > 1


async def test_r442_more_requests_than_anybody_could_answer() -> None:
    answered: list[int] = []

    async def script(agent: ScriptedAgent) -> None:
        prompt = await agent.expect("session/prompt")
        asked = [agent.request("session/request_permission", permission()) for _ in range(MOST_OPEN + 50)]
        for number in asked[MOST_OPEN:]:
            assert (await agent.response(number))["error"]["code"] == -32603
        answered.extend(asked[MOST_OPEN:])
        await agent.expect("session/cancel")
        for number in asked[:MOST_OPEN]:
            assert (await agent.response(number))["result"] == cancelled
        assert (await agent.call("session/request_permission", permission()))["result"] == cancelled
        agent.reply({"stopReason": "cancelled"}, to=prompt)

    async with open_session(script, permissions=Hangs()) as (host, session):
        turn = session.prompt("question")
        await until(lambda: answered)
        turn.cancel()
        assert (await turn).stop_reason == "cancelled"
        [first, *_] = reported(host, DiagnosticKind.UNEXPECTED)
        assert "1000 requests of the agent are open" in first.message


async def test_r58_a_request_sent_as_a_notification_is_not_answered() -> None:
    seen = await conversation(find("request-as-notification"))
    assert seen.answers == []
    assert [note.method for note in seen.reported(DiagnosticKind.UNKNOWN_METHOD)] == ["session/request_permission"]


async def test_r59_an_agent_that_does_not_know_a_method_it_offers() -> None:
    async def script(agent: ScriptedAgent) -> None:
        for _ in range(2):
            await agent.expect()
            agent.reply_error(-32601, '"Method not found": session/x', [1])

    async with open_session(script) as (host, _):
        with pytest.raises(MethodNotFound) as caught:
            await host.resume_session("old")
        assert (caught.value.method, caught.value.data) == ("session/resume", [1])
        assert [session.id for session in host.sessions] == ["session-1"]
        with pytest.raises(MethodNotFound):
            await host.list_sessions()


STEERS = "\x1b[2J\x1b]0;title\x07\u202e\r"


async def test_r485_what_steers_a_terminal_in_errors_diagnostics_and_logs(caplog: pytest.LogCaptureFixture) -> None:
    async def script(agent: ScriptedAgent) -> None:
        prompt = await agent.expect("session/prompt")
        agent.update({"sessionUpdate": "agent_message_chunk", "content": 1}, f"session{STEERS}")
        answer = await agent.call(f"vendor/{STEERS}", {STEERS: STEERS})
        assert STEERS in answer["error"]["message"], "the agent has its own words back"
        agent.reply_error(-32603, f"failed{STEERS}", {"details": STEERS}, to=prompt)

    caplog.set_level(logging.DEBUG)
    async with open_session(script) as (host, session):
        with pytest.raises(RequestFailed) as failed:
            await session.prompt("question")
    assert failed.value.message == f"failed{STEERS}"
    shown = [str(failed.value), "".join(traceback.format_exception(failed.value)), caplog.text]
    for diagnostic in host.diagnostics:
        shown += [diagnostic.message, str(diagnostic.method), str(diagnostic.session_id)]
    assert any("vendor/\\x1b[2J" in text for text in shown)
    assert [text for text in shown for mark in set(STEERS) & set("\x1b\x07\u202e\r") if mark in text] == []


@pytest.mark.parametrize("unit", [" ", "\n ", "0", "conversation:0", "session -"])
async def test_r503_errors_that_nearly_say_that_a_session_is_gone(unit: str) -> None:
    async def script(agent: ScriptedAgent) -> None:
        prompt = await agent.expect("session/prompt")
        agent.reply_error(-32603, "session " + unit * 4_000, to=prompt)
        agent.reply(DONE, to=await agent.expect("session/prompt"))

    began = time.process_time()
    async with open_session(script) as (_, session):
        with pytest.raises(RequestFailed):
            await session.prompt("question")
        assert (await session.prompt("another")).stop_reason == "end_turn"
    assert time.process_time() - began < 10  # a fraction of a second, and not minutes
