"""Agents elsewhere, at the other end of a WebSocket: frames, ends, refusals, and what they must not get."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

import acp_host
from acp_host import ConnectionLost, DiagnosticKind, InvalidInput, OutcomeUnknown, RemoteOptions, StartFailed
from acp_host.errors import StartTimeout
from tests.chaos.bad_agents import PATIENCE
from tests.chaos.elsewhere import WORKSPACE, Line, elsewhere

TOKEN = "a-token-that-nobody-may-see-1"
OURS = ("acp_host", "connect to ws:", "close ws:")
"""How the names of the tasks of a connection begin."""
QUICK = RemoteOptions(keepalive=0.1, keepalive_timeout=0.1, close_timeout=0.2)


async def test_r200_frames_that_are_no_messages() -> None:
    async def turn(line: Line, prompt: dict[str, Any]) -> None:
        await line.say("one ")
        for frame in (
            b"\x00binary",
            "",
            "  \n",
            "heartbeat",
            "42",
            '{"type":"ping"}',
            '{"jsonrpc":"2.0","method":"x/y"}',
        ):
            await line.socket.send(frame)
        await line.say("two")
        await line.done(prompt)

    async with asyncio.timeout(PATIENCE), elsewhere(turn) as place, acp_host.connect(place.url) as host:
        session = await host.new_session(WORKSPACE)
        for _ in range(2):
            assert (await session.prompt("Hi")).text == "one two"
        kinds = {diagnostic.kind for diagnostic in host.diagnostics}
        assert kinds == {
            DiagnosticKind.TRANSPORT,
            DiagnosticKind.NOISE,
            DiagnosticKind.INVALID_MESSAGE,
            DiagnosticKind.UNKNOWN_METHOD,
        }
        assert len(place.lines) == 1


async def test_r201_json_over_several_lines_and_several_messages_in_a_frame() -> None:
    async def turn(line: Line, prompt: dict[str, Any]) -> None:
        await line.say("a line\nand another ", indent=2)
        update = {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "x"}}
        chunk = json.dumps(
            {"jsonrpc": "2.0", "method": "session/update", "params": {"sessionId": "s-1", "update": update}}
        )
        end = json.dumps({"jsonrpc": "2.0", "id": prompt["id"], "result": {"stopReason": "end_turn"}})
        await line.socket.send(f"{chunk}\r\n{chunk}\n\n{end}\n")

    async with asyncio.timeout(PATIENCE), elsewhere(turn) as place, acp_host.connect(place.url) as host:
        result = await (await host.new_session(WORKSPACE)).prompt("Hi")
        assert result.text == "a line\nand another xx"
        assert list(host.diagnostics) == []


async def test_r202_messages_beyond_the_maximum() -> None:
    async def turn(line: Line, prompt: dict[str, Any]) -> None:
        await line.say("x" * 100_000)
        await line.done(prompt)

    options = RemoteOptions(max_size=10_000)
    async with (
        asyncio.timeout(PATIENCE),
        elsewhere(turn) as place,
        acp_host.connect(place.url, reconnect=False, remote=options) as host,
    ):
        session = await host.new_session(WORKSPACE)
        with pytest.raises(OutcomeUnknown, match=r"more than 10000 bytes.*max_size"):
            await session.prompt("Hi")
        error = await host.wait_closed()
        assert isinstance(error, ConnectionLost)
        assert (error.close_code, error.retryable) == (1009, False)


async def test_r203_a_connection_that_is_cut_in_a_turn() -> None:
    async def turn(line: Line, prompt: dict[str, Any]) -> None:
        await line.say("half of ")
        line.socket.transport.abort()

    async with (
        asyncio.timeout(PATIENCE),
        elsewhere(turn) as place,
        acp_host.connect(place.url, reconnect=False) as host,
    ):
        session = await host.new_session(WORKSPACE)
        with pytest.raises(OutcomeUnknown, match="cut without a goodbye"):
            await session.prompt("Hi")
        error = await host.wait_closed()
        assert isinstance(error, ConnectionLost)
        assert (error.close_code, error.retryable) == (1006, True)
        assert place.url in str(error)


@pytest.mark.parametrize("code, retryable", [(1000, True), (1001, True), (1008, False), (1012, True), (4403, False)])
async def test_r204_goodbyes_in_a_turn(code: int, retryable: bool) -> None:
    async def turn(line: Line, prompt: dict[str, Any]) -> None:
        await line.socket.close(code, f"\x1b]0;owned\x07 {TOKEN} is bad")

    options = RemoteOptions(bearer=TOKEN)
    async with (
        asyncio.timeout(PATIENCE),
        elsewhere(turn) as place,
        acp_host.connect(place.url, reconnect=False, remote=options) as host,
    ):
        session = await host.new_session(WORKSPACE)
        with pytest.raises(OutcomeUnknown) as raised:
            await session.prompt("Hi")
        error = await host.wait_closed()
        assert isinstance(error, ConnectionLost)
        assert (error.close_code, error.retryable) == (code, retryable)
        for text in (str(error), str(raised.value)):
            assert TOKEN not in text
            assert "\x1b" not in text
            assert r"\x1b]0;owned" in text


async def test_r205_the_end_of_a_turn_and_then_the_end() -> None:
    async def turn(line: Line, prompt: dict[str, Any]) -> None:
        await line.say("All of it.")
        await line.done(prompt)
        await line.socket.close(1011)

    async with (
        asyncio.timeout(PATIENCE),
        elsewhere(turn) as place,
        acp_host.connect(place.url, reconnect=False) as host,
    ):
        assert (await (await host.new_session(WORKSPACE)).prompt("Hi")).text == "All of it."
        error = await host.wait_closed()
        assert isinstance(error, ConnectionLost)
        assert error.close_code == 1011


async def test_r206_an_agent_that_neither_reads_nor_answers() -> None:
    async def turn(line: Line, prompt: dict[str, Any]) -> None:
        line.socket.transport.pause_reading()
        await line.socket.wait_closed()

    async with asyncio.timeout(PATIENCE), elsewhere(turn, ping_interval=None) as place:
        async with acp_host.connect(place.url, remote=QUICK) as host:
            session = await host.new_session(WORKSPACE)
            with pytest.raises(OutcomeUnknown, match=r"not answered a ping within 0\.1 s"):
                await session.prompt("Hi")
        place.lines[0].socket.transport.abort()


@pytest.mark.parametrize(
    "status, words",
    [
        (200, "like a web page"),
        (401, "did not accept the token"),
        (403, "refuses this user"),
        (404, "nothing at this path"),
        (503, "try again later"),
    ],
)
async def test_r207_servers_that_refuse_the_upgrade(status: int, words: str) -> None:
    refused = (status, {}, f"no: {TOKEN} \x1b[2J")
    async with asyncio.timeout(PATIENCE), elsewhere(refuses=lambda _: refused) as place:
        with pytest.raises(StartFailed, match=words) as raised:
            await acp_host.connect(place.url, remote=RemoteOptions(bearer=TOKEN))
        assert raised.value.http_status == status
        assert TOKEN not in str(raised.value)
        assert "\x1b" not in str(raised.value)


async def test_r208_redirects_to_another_server() -> None:
    async with asyncio.timeout(PATIENCE), elsewhere() as other:
        async with elsewhere(refuses=lambda _: (307, {"Location": other.url}, "")) as place:
            with pytest.raises(StartFailed, match="another server must not get your token"):
                await acp_host.connect(place.url, remote=RemoteOptions(headers={"X-Api-Key": TOKEN}))
        assert other.requests == []


async def test_r209_a_new_connection_is_a_new_handshake_with_the_cookies_of_the_old_one() -> None:
    headers = {"Set-Cookie": "node=7; Path=/", "Acp-Connection-Id": "one"}
    async with asyncio.timeout(PATIENCE), elsewhere(headers=headers) as place, acp_host.connect(place.url) as host:
        before = host.agreement
        await host.restart()
        assert len(place.initialized) == 2
        assert [request.headers.get("Cookie") for request in place.requests] == [None, "node=7"]
        assert host.agreement is not before
        assert host.connection_id == "one"
        assert (await (await host.new_session(WORKSPACE)).prompt("Hi")).stop_reason == "end_turn"
        assert place.lines[0].socket.close_code == 1000


async def test_r210_agents_elsewhere_that_want_files_and_commands() -> None:
    answers: list[dict[str, Any]] = []

    async def turn(line: Line, prompt: dict[str, Any]) -> None:
        answers.append(await line.ask("fs/read_text_file", {"sessionId": "s-1", "path": "/etc/passwd"}))
        answers.append(await line.ask("terminal/create", {"sessionId": "s-1", "command": "id"}))
        await line.done(prompt)

    async with asyncio.timeout(PATIENCE), elsewhere(turn) as place:
        for service in ("files", "terminals"):
            with pytest.raises(InvalidInput, match="allow_remote_services"):
                acp_host.connect(place.url, **{service: True})
        assert place.requests == []
        async with acp_host.connect(place.url) as host:
            await (await host.new_session(WORKSPACE)).prompt("Hi")
            assert [answer["error"]["code"] for answer in answers] == [-32601, -32601]
            told = [(record.action, record.decision, record.peer) for record in host.audit.records]
            assert told == [
                ("fs/read_text_file", "rejected", place.url),
                ("terminal/create", "rejected", place.url),
            ]


async def test_r211_servers_that_never_answer_the_handshake() -> None:
    async with asyncio.timeout(PATIENCE), elsewhere(answers_initialize=False) as place:
        with pytest.raises(StartTimeout, match="did not answer initialize"):
            await acp_host.connect(place.url, start_timeouts=acp_host.StartTimeouts(warm=0.2))
        assert place.lines[0].socket.close_code == 1000


async def test_r211_servers_that_say_no_in_place_of_the_handshake() -> None:
    async def handler(line: Line) -> None:
        await line.socket.send("401: who are you?")
        await line.socket.close(4401, "log in first")

    async with asyncio.timeout(PATIENCE), elsewhere(greets=handler) as place:
        with pytest.raises(StartFailed, match=r"log in first\n--- from it ---\n401: who are you\?") as raised:
            await acp_host.connect(place.url)
        assert (raised.value.close_code, raised.value.retryable) == (4401, False)


async def test_r212_floods_of_small_frames_and_messages_in_fragments() -> None:
    async def turn(line: Line, prompt: dict[str, Any]) -> None:
        for number in range(2000):
            await line.say(f"{number} ")
        update = {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "ünd Schluß"}}
        whole = json.dumps(
            {"jsonrpc": "2.0", "method": "session/update", "params": {"sessionId": "s-1", "update": update}},
            ensure_ascii=False,
        )
        await line.socket.send([whole[start : start + 3] for start in range(0, len(whole), 3)])
        await line.done(prompt)

    async with asyncio.timeout(PATIENCE), elsewhere(turn) as place, acp_host.connect(place.url) as host:
        result = await (await host.new_session(WORKSPACE)).prompt("Hi")
        assert result.text == "".join(f"{number} " for number in range(2000)) + "ünd Schluß"
        assert list(host.diagnostics) == []


async def test_r213_a_conversation_that_is_cancelled_after_any_number_of_steps() -> None:
    async def turn(line: Line, prompt: dict[str, Any]) -> None:
        await line.say("one")
        await line.done(prompt)

    async def hold(url: str) -> None:
        async with acp_host.connect(url, remote=QUICK) as host:
            assert (await (await host.new_session(WORKSPACE)).prompt("Hi")).text == "one"

    async with elsewhere(turn, ping_interval=None) as place:
        before = asyncio.all_tasks()
        for steps in range(0, 1000, 3):
            task = asyncio.create_task(hold(place.url))
            for _ in range(steps):
                await asyncio.sleep(0)
            if task.done():
                task.result()
                break
            task.cancel()
            async with asyncio.timeout(PATIENCE):
                with pytest.raises(asyncio.CancelledError):
                    await task
                # A close that its caller does not wait for goes on without it.
                while left := {one for one in asyncio.all_tasks() - before if one.get_name().startswith(OURS)}:
                    await asyncio.wait(left)
        else:
            pytest.fail("the conversation took more steps than were tried")
        assert len(place.requests) > 3
        assert len(place.initialized) < len(place.requests)
        for line in place.lines:
            await asyncio.wait_for(line.socket.wait_closed(), PATIENCE)
