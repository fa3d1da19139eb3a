"""Agents that want a login, and say so in every way."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping
from typing import Any

import pytest

import acp_host
from acp_host import AuthRequired, DiagnosticKind, EnvVarLogin, LoginRequest, StartFailed, TerminalLogin
from acp_host.testing import ScriptedAgent
from tests.chaos.bad_agents import ALL, DONE, connected, reported, until
from tests.host.processes import Process

BROWSER = {"id": "browser", "name": "Log in"}
REFUSED = (-32000, "Authentication required", {"authMethods": [BROWSER]})
SECRET = "swordfish-swordfish"


class Handler:
    """Chooses the same way each time, and remembers what it was asked."""

    def __init__(self, choice: Any = "browser") -> None:
        self.choice = choice
        self.asked: list[LoginRequest] = []

    def __call__(self, request: LoginRequest) -> Any:
        self.asked.append(request)
        return self.choice


async def in_terminal(login: TerminalLogin) -> int:
    return 0


@pytest.mark.parametrize("terminals", [False, True])
@pytest.mark.parametrize("login", [False, True])
async def test_r170_terminals_and_logins_in_terminals_are_two_things(terminals: bool, login: bool) -> None:
    told: list[Any] = []

    async def script(agent: ScriptedAgent) -> None:
        told.append((await agent.handshake())["clientCapabilities"])

    async with connected(script, terminals=terminals, auth_terminal=in_terminal if login else False):
        pass
    assert told[0]["terminal"] is terminals
    assert told[0]["auth"]["terminal"] is login
    assert ("_meta" in told[0]) is login


@pytest.mark.parametrize(
    "method",
    [
        "session/new",
        "session/load",
        "session/resume",
        "session/fork",
        "session/set_mode",
        "session/prompt",
        "_own/x",
    ],
)
async def test_r171_any_call_that_is_refused_is_made_once_more_after_a_login(method: str) -> None:
    inside = method in ("session/set_mode", "session/prompt")
    result: dict[str, Any] = DONE if method == "session/prompt" else {"sessionId": "s-1"}

    async def script(agent: ScriptedAgent) -> None:
        await agent.handshake(ALL)
        if inside:
            await agent.open_session("s-1")
        first = await agent.expect(method)
        agent.reply_error(*REFUSED)
        assert (await agent.expect("authenticate"))["params"] == {"methodId": "browser"}
        agent.reply({})
        again = await agent.expect(method)
        assert again.get("params") == first.get("params")
        agent.reply(result)

    handler = Handler()
    async with connected(script, authenticate=handler) as host:
        session: Any = await host.new_session() if inside else None
        calls: dict[str, Any] = {
            "session/new": lambda: host.new_session(),
            "session/load": lambda: host.load_session("s-1"),
            "session/resume": lambda: host.resume_session("s-1"),
            "session/fork": lambda: host.fork_session("s-0"),
            "session/set_mode": lambda: session.set_mode("m"),
            "session/prompt": lambda: session.prompt("go").wait(),
            "_own/x": lambda: host.request("_own/x"),
        }
        await calls[method]()
        assert [request.method for request in handler.asked] == [method]
        assert list(host.diagnostics) == []


async def test_r171_the_second_refusal_is_the_last() -> None:
    async def script(agent: ScriptedAgent) -> None:
        await agent.handshake()
        for method in ("session/new", "authenticate", "session/new"):
            await agent.expect(method)
            if method == "authenticate":
                agent.reply(None)
            else:
                agent.reply_error(*REFUSED)

    handler = Handler()
    async with connected(script, authenticate=handler) as host:
        with pytest.raises(AuthRequired) as refused:
            await host.new_session()
    assert [method.id for method in refused.value.methods] == ["browser"]
    assert len(handler.asked) == 1


@pytest.mark.parametrize("code", [-32000, -32603])
async def test_r172_an_agent_that_says_it_by_another_code(code: int) -> None:
    async def script(agent: ScriptedAgent) -> None:
        info = {"name": "copilot", "version": "0.0.372"}
        await agent.handshake(agentInfo=info, authMethods=[BROWSER])
        await agent.expect("session/new")
        agent.reply_error(code, "Authentication required")
        await agent.expect("authenticate")
        agent.reply({})
        await agent.open_session("s-1")

    async with connected(script, authenticate=Handler()) as host:
        assert (await host.new_session()).id == "s-1"


@pytest.mark.parametrize(
    "listed",
    [
        {"type": "terminal", "args": ["login", "--now"], "env": {"X": "1"}},
        {"type": "terminal", "args": ["login", "--now"], "env": None},
        {"_meta": {"type": "terminal", "args": ["login", "--now"]}},
        {"_meta": {"terminal-auth": {"command": "the-agent", "args": ["--acp", "login", "--now"], "label": "L"}}},
    ],
)
async def test_r173_logins_in_a_terminal_in_all_their_forms(listed: Any) -> None:
    ran: list[TerminalLogin] = []

    async def terminal(login: TerminalLogin) -> int:
        ran.append(login)
        return 0

    def make(env: Mapping[str, str]) -> ScriptedAgent:
        async def script(agent: ScriptedAgent) -> None:
            await agent.handshake(authMethods=[{"id": "t", "name": "T", **listed}])
            await agent.expect("session/new")
            if not ran:
                agent.reply_error(-32000, "Authentication required")
                await agent.stall()
            agent.reply({"sessionId": "s-1"})

        return ScriptedAgent(script)

    async with acp_host.connect(Process(make), auth_terminal=terminal, authenticate=Handler("t")) as host:
        await host.new_session()
    assert [login.argv for login in ran] == [("the-agent", "--acp", "login", "--now")]


async def test_r174_logins_by_variables_and_of_kinds_that_nobody_knows() -> None:
    key = {"type": "env_var", "id": "key", "name": "Key", "vars": [{"name": "KEY"}], "link": "https://example.org"}
    card = {"type": "card", "id": "card", "name": "Card"}

    def make(env: Mapping[str, str]) -> ScriptedAgent:
        async def script(agent: ScriptedAgent) -> None:
            await agent.handshake(authMethods=[key, card, {"type": 5}, "nonsense"])
            await agent.expect("session/new")
            if not env:
                agent.reply_error(-32000, "Authentication required")
                await agent.stall()
            assert env == {"KEY": SECRET}
            agent.reply({"sessionId": "s-1"})

        return ScriptedAgent(script)

    offered: list[tuple[str, bool]] = []

    async def handler(request: LoginRequest) -> Any:
        offered.extend((method.id, method.available) for method in request.methods)
        [choice] = [method for method in request.methods if isinstance(method, EnvVarLogin)]
        return choice.with_values({"KEY": SECRET})

    async with acp_host.connect(Process(make), authenticate=handler) as host:
        await host.new_session()
    assert offered[:2] == [("key", True), ("card", False)]


async def test_r175_what_only_looks_never_logs_in() -> None:
    async def script(agent: ScriptedAgent) -> None:
        await agent.handshake({"sessionCapabilities": {"list": {}}, "auth": {"status": {}}, "providers": {}})
        for _ in range(3):
            await agent.expect()
            agent.reply_error(*REFUSED)

    handler = Handler()
    async with connected(script, authenticate=handler) as host:
        for probe in (host.list_sessions, host.auth_status, host.list_providers):
            with pytest.raises(AuthRequired):
                await probe()
    assert handler.asked == []


async def test_r176_secrets_that_the_agent_repeats_are_not_shown(caplog: pytest.LogCaptureFixture) -> None:
    async def script(agent: ScriptedAgent) -> None:
        await agent.handshake(authMethods=[BROWSER])
        agent.send_raw(f'{{"apiKey": "{SECRET}"\n'.encode())
        agent.send_raw(f"Authorization: Bearer {SECRET}1\n".encode())
        agent.notify("_own/config", {"headers": {"X-Own": SECRET}, "env": [{"name": "PLAIN", "value": SECRET}]})
        await agent.expect("session/new")
        agent.reply_error(-32603, f"request failed: password={SECRET}", {"headers": {"Authorization": SECRET}})
        await agent.expect("session/new")
        agent.reply_error(-32000, "no", {"token": SECRET})

    caplog.set_level(logging.DEBUG)
    shown: list[str] = []
    async with connected(script, authenticate=Handler(None)) as host:
        for _ in range(2):
            with pytest.raises(acp_host.RequestFailed) as failed:
                await host.new_session()
            shown += [str(failed.value), repr(failed.value)]
        await until(lambda: len(host.diagnostics) >= 3)
        shown += [repr(list(host.diagnostics)), caplog.text, repr(host.authentication.snapshot())]
    assert [text for text in shown if "swordfish" in text] == []


async def test_r177_an_agent_that_dies_during_the_login() -> None:
    async def script(agent: ScriptedAgent) -> None:
        await agent.handshake()
        await agent.expect("session/new")
        agent.reply_error(*REFUSED)
        await agent.expect("authenticate")
        await agent.close()

    async with connected(script, authenticate=Handler()) as host:
        with pytest.raises(AuthRequired) as refused:
            await host.new_session()
        assert isinstance(refused.value.__cause__, acp_host.OutcomeUnknown)


async def test_r177_an_agent_that_does_not_come_up_again() -> None:
    starts: list[Any] = []

    def make(env: Mapping[str, str]) -> ScriptedAgent:
        async def script(agent: ScriptedAgent) -> None:
            starts.append(env)
            if len(starts) > 1:
                raise SystemExit(3)
            await agent.handshake(authMethods=[{"type": "terminal", "id": "t", "name": "T"}])
            await agent.expect("session/new")
            agent.reply_error(-32000, "no")
            await agent.stall()

        return ScriptedAgent(script)

    async with acp_host.connect(Process(make), auth_terminal=in_terminal, authenticate=Handler("t")) as host:
        with pytest.raises(AuthRequired) as refused:
            await host.new_session()
        assert isinstance(refused.value.__cause__, StartFailed)
        assert host.closed


async def test_r177_an_agent_that_is_lost_while_the_user_thinks() -> None:
    asked = asyncio.Event()

    async def handler(request: LoginRequest) -> None:
        asked.set()
        await asyncio.Event().wait()

    async def script(agent: ScriptedAgent) -> None:
        await agent.handshake()
        await agent.open_session("s-1")
        await agent.expect("session/prompt")
        agent.reply_error(*REFUSED)
        await asked.wait()
        await agent.close()

    async with connected(script, authenticate=handler) as host:
        session = await host.new_session()
        with pytest.raises(AuthRequired):
            await session.prompt("go")


async def test_r178_who_is_logged_in_is_told_in_all_sorts_of_ways() -> None:
    told: list[Any] = [
        {"authStatus": {"kind": "api_key", "label": "Key", "detail": "API_KEY"}},
        {"authStatus": None},
        {"authStatus": {"kind": ["x"]}},
        "nonsense",
        [],
    ]

    async def script(agent: ScriptedAgent) -> None:
        agent.notify("_auth/status_update", told[0])
        agent.notify("auth/status_update", {"state": "unauthenticated"})
        await agent.handshake({"auth": {"status": {}}})
        for params in told[1:]:
            agent.notify("_auth/status_update", params)
        agent.notify("auth/status_update", {"state": "on holiday", "accounts": [{"label": "A"}, 5]})
        agent.notify("auth/status_update", {"accounts": []})
        await agent.open_session("s-1")

    async with connected(script) as host:
        await host.new_session()
        snapshot = host.authentication.snapshot()
        assert snapshot.state == "on holiday"
        assert [account.label for account in snapshot.accounts] == ["A"]
        assert len(reported(host, DiagnosticKind.MALFORMED)) == 1
