"""What ``connect()`` does with an agent elsewhere: which targets, which options, and what it is not served."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path
from typing import Any

import pytest
from websockets.utils import accept_key

import acp_host
from acp_host.errors import InvalidInput, StartFailed
from acp_host.testing import ScriptedAgent, memory_pair
from acp_host.transports import RemoteOptions, Transport, remote_transport
from tests.transports.websocket_servers import listening

URL = "ws://127.0.0.1:9/acp"
PERMISSION = {
    "sessionId": "s-1",
    "toolCall": {"toolCallId": "t-1", "title": "rm"},
    "options": [{"optionId": "no", "name": "No", "kind": "reject_once"}],
}


@pytest.mark.parametrize(
    "target, words",
    [
        ("ftp://host/acp", "begins with ws://"),
        ("ws:///acp", "names no host"),
        ("ws://host/acp#part", "fragment"),
        ("ws://host/a b", "spaces"),
        ("ws://host:70000/", "cannot be read"),
        ("ws://user@host/", "without a password"),
        ("ws://\u202e.example/", "host name that cannot be"),
        ("ws://[::]:[::@]:80/", "host name that cannot be"),
        ("ws://a<b>.example/", "host name that cannot be"),
    ],
)
def test_a_url_that_no_agent_can_have_is_refused_at_once(target: str, words: str) -> None:
    with pytest.raises(InvalidInput, match=words):
        acp_host.connect(target)


def test_a_url_is_no_item_of_a_command() -> None:
    with pytest.raises(InvalidInput, match="one string"):
        acp_host.connect([URL])


@pytest.mark.parametrize(
    "option",
    [
        {"cwd": "/"},
        {"env": {"A": "b"}},
        {"launcher": lambda launch: launch},
        {"on_stderr": print},
        {"stop_timeouts": acp_host.StopTimeouts()},
        {"process_records": "records"},
    ],
)
def test_options_of_a_process_do_not_go_with_a_url(option: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput, match=next(iter(option))):
        acp_host.connect(URL, **option)


def test_remote_options_go_with_a_url_only() -> None:
    with pytest.raises(InvalidInput, match="remote="):
        acp_host.connect(["agent"], remote=RemoteOptions())
    with pytest.raises(InvalidInput, match="bearer="):
        acp_host.connect(URL, remote="token")


@pytest.mark.parametrize("service", ["files", "terminals"])
def test_an_agent_elsewhere_is_served_nothing_of_this_machine_unless_that_is_said(service: str) -> None:
    with pytest.raises(InvalidInput, match="allow_remote_services=True"):
        acp_host.connect(URL, **{service: True})
    acp_host.connect(URL, **{service: True}, allow_remote_services=True)


def test_its_changes_are_not_looked_for_on_this_machine() -> None:
    permissions = acp_host.Permissions(check_changes=True)
    with pytest.raises(InvalidInput, match="check_changes"):
        acp_host.connect(URL, permissions=permissions)
    acp_host.connect(URL, permissions=permissions, allow_remote_services=True)


def test_there_is_no_command_for_a_login_in_a_terminal() -> None:
    with pytest.raises(InvalidInput, match="auth_terminal"):
        acp_host.connect(URL, auth_terminal=True, allow_remote_services=True)


def test_a_transport_that_says_it_is_remote_counts_as_such() -> None:
    left, _ = memory_pair()
    left.remote = True
    with pytest.raises(InvalidInput, match="allow_remote_services"):
        acp_host.connect(left, files=True)


def test_a_session_elsewhere_works_in_a_directory_of_that_machine() -> None:
    from acp_host.host.directories import Directories

    there = Directories(here=False)
    assert there.existing("/no/such/directory/here") == "/no/such/directory/here"
    assert there.existing(r"C:\work") == r"C:\work"
    for relative in (".", "~/work", "work", Path("work")):
        with pytest.raises(InvalidInput, match="agent's machine"):
            there.absolute(relative)


def test_a_url_is_shown_without_what_may_be_secret() -> None:
    transport: Transport = remote_transport("ws://user:pa55word@host.example:81/acp?token=s3cret-value")
    assert transport.remote
    assert transport.peer == transport.description == "ws://host.example:81/acp"
    assert "s3cret-value" in transport.secrets
    assert "pa55word" in transport.secrets


def test_a_host_name_that_looks_like_another_is_shown_in_its_ascii_form() -> None:
    assert remote_transport("wss://аpple.example/acp").peer == "wss://xn--pple-43d.example/acp"


async def test_files_of_a_prompt_are_sent_along_or_refused(tmp_path: Path) -> None:
    small, large = tmp_path / "small.txt", tmp_path / "large.txt"
    small.write_text("hello")
    large.write_text("x" * 100_000)
    prompts: list[Any] = []

    async def script(agent: ScriptedAgent) -> None:
        await agent.handshake({"promptCapabilities": {"embeddedContext": True}})
        await agent.open_session("s-1")
        prompt = await agent.expect("session/prompt")
        prompts.append(prompt["params"]["prompt"])
        agent.reply({"stopReason": "end_turn"}, to=prompt)

    transport = ScriptedAgent(script).transport()
    transport.remote = True
    async with acp_host.connect(transport) as host:
        session = await host.new_session("/workspace")
        with pytest.raises(InvalidInput, match="is not absolute"):
            session.prompt(Path("small.txt"))
        with pytest.raises(InvalidInput, match="could not follow a link"):
            session.prompt(large)
        await session.prompt(["Read this", small])
    assert [block["type"] for block in prompts[0]] == ["text", "resource"]


async def test_the_audit_trail_names_the_peer() -> None:
    async def script(agent: ScriptedAgent) -> None:
        await agent.handshake()
        await agent.open_session("s-1")
        prompt = await agent.expect("session/prompt")
        await agent.call("session/request_permission", PERMISSION)
        agent.reply({"stopReason": "end_turn"}, to=prompt)

    transport = ScriptedAgent(script).transport()
    transport.remote, transport.description = True, "ws://agent.example/acp"
    async with acp_host.connect(transport) as host:
        session = await host.new_session("/workspace")
        await session.prompt("hi")
        [record] = host.audit.records
        assert (record.peer, record.decision) == ("ws://agent.example/acp", "rejected")


async def test_an_agent_on_this_machine_has_no_peer_in_the_audit_trail(tmp_path: Path) -> None:
    async def script(agent: ScriptedAgent) -> None:
        await agent.handshake()
        await agent.open_session("s-1")
        prompt = await agent.expect("session/prompt")
        await agent.call("session/request_permission", PERMISSION)
        agent.reply({"stopReason": "end_turn"}, to=prompt)

    async with acp_host.connect(ScriptedAgent(script).transport()) as host:
        await (await host.new_session(tmp_path)).prompt("hi")
        assert [record.peer for record in host.audit.records] == [None]


async def test_a_server_that_goes_away_right_after_the_upgrade_has_failed_to_start() -> None:
    """The end is there before ``initialize`` is written."""

    async def upgrade(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        asked = (await reader.readuntil(b"\r\n\r\n")).decode()
        (key,) = re.findall(r"(?i)sec-websocket-key: *(\S+)", asked)
        lines = ["HTTP/1.1 101 Switching Protocols", "Upgrade: websocket", "Connection: Upgrade"]
        lines += [f"Sec-WebSocket-Accept: {accept_key(key)}", "", ""]
        writer.write("\r\n".join(lines).encode())
        writer.write_eof()
        await reader.read()

    async with listening(upgrade) as port:
        with pytest.raises(StartFailed, match=r"was lost before it answered initialize: .*without a goodbye") as raised:
            await acp_host.connect(f"ws://127.0.0.1:{port}/acp")
    assert (raised.value.close_code, raised.value.retryable) == (1006, True)


async def test_no_server_is_said_in_the_same_words_over_both_transports() -> None:
    for scheme in ("ws", "http"):
        with pytest.raises(StartFailed) as raised:
            await acp_host.connect(f"{scheme}://127.0.0.1:1/acp")
        assert str(raised.value).startswith(f"cannot connect to {scheme}://127.0.0.1:1/acp: ")
        assert str(raised.value).count("127.0.0.1:1/acp") == 1


async def test_http_where_only_websocket_is_spoken() -> None:
    async def hang_up(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")

    async with listening(hang_up) as port:
        with pytest.raises(StartFailed, match=r"WebSocket only \(connect to ws://"):
            await acp_host.connect(f"http://127.0.0.1:{port}/acp")
