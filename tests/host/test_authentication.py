"""Logging in: the ways that an agent lists, and calls that are refused for want of it."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

import acp_host
from acp_host import AuthRequired, HostConnection
from acp_host.errors import ConnectionClosed, InvalidInput, InvalidState, LoginFailed, NotSupported, StartFailed
from acp_host.host.authentication import LoginRequest
from acp_host.host.login_methods import AgentLogin, EnvVarLogin, LoginKind, TerminalLogin
from acp_host.services.login_terminal import run_in_this_terminal
from acp_host.testing import AgentTurn, ReferenceAgent, ScriptedAgent
from acp_host.transports._launch import Launch
from tests.host.processes import Process
from tests.host.scripts import DONE, connected, shown, until

LOGIN = {"id": "browser", "name": "Log in"}
KEY = {"type": "env_var", "id": "key", "name": "Key", "vars": [{"name": "KEY"}, {"name": "HINT", "optional": True}]}
IN_TERMINAL = {"type": "terminal", "id": "term", "name": "Terminal", "args": ["--login"], "env": {"TTY": "1"}}
SECRET = "correct horse battery staple"


class Chooses:
    """A handler that always gives the same answer, or gives it when it is let."""

    def __init__(self, answer: Any, *, held: bool = False) -> None:
        self.answer = answer
        self.asked: list[LoginRequest] = []
        self.may_answer = asyncio.Event()
        if not held:
            self.may_answer.set()

    async def __call__(self, request: LoginRequest) -> Any:
        self.asked.append(request)
        await self.may_answer.wait()
        return self.answer


async def in_terminal(login: TerminalLogin) -> int:
    return 0


def notes(host: HostConnection) -> str:
    return "\n".join(f"{note.message} {note.data}" for note in host.diagnostics)


# --- what is offered ------------------------------------------------------------------------------------------------


class Offers:
    """The choices for what an agent lists, where it is a process and where it is not."""

    @staticmethod
    async def of(*listed: Mapping[str, Any], process: bool = True, **options: Any) -> tuple[Any, ...]:
        async def script(agent: ScriptedAgent) -> None:
            await agent.handshake(authMethods=list(listed))
            await agent.stall()

        agent = ScriptedAgent(script)
        target = Process(lambda env: agent, {"INHERITED": "yes"}) if process else agent.transport()
        async with acp_host.connect(target, **options) as host:
            return host.authentication.methods


async def test_each_kind_is_a_choice_of_its_own() -> None:
    unknown = {"type": "card", "id": "card", "name": "Card", "slot": 1}
    methods = await Offers.of(LOGIN, IN_TERMINAL, KEY, unknown, auth_terminal=in_terminal)
    assert [method.kind for method in methods] == ["agent", "terminal", "env_var", "unknown"]
    assert [method.available for method in methods] == [True, True, True, False]
    browser, terminal, key, card = methods
    assert (browser.id, browser.name) == ("browser", "Log in")
    assert terminal.argv == ("the-agent", "--acp", "--login")
    assert (terminal.env["INHERITED"], terminal.env["TTY"], terminal.cwd) == ("yes", "1", "/")
    assert [(one.name, one.secret, one.optional) for one in key.variables] == [
        ("KEY", True, False),
        ("HINT", True, True),
    ]
    assert card.data["slot"] == 1
    assert "card" in card.unavailable


async def test_a_terminal_is_offered_only_where_there_is_one() -> None:
    [method] = await Offers.of(IN_TERMINAL)
    assert "terminal" in method.unavailable


@pytest.mark.parametrize("listed", [IN_TERMINAL, KEY])
async def test_what_needs_a_new_process_is_offered_only_for_a_process(listed: Any) -> None:
    [method] = await Offers.of(listed, process=False, auth_terminal=in_terminal)
    assert "not a process" in method.unavailable


@pytest.mark.parametrize(
    ("meta", "argv", "own"),
    [
        ({"terminal-auth": {"command": "other", "args": ["/login"], "label": "x"}}, ("other", "/login"), False),
        ({"type": "terminal", "args": ["--auth-type=x"]}, ("the-agent", "--acp", "--auth-type=x"), True),
    ],
)
async def test_older_forms_of_a_login_in_a_terminal(meta: Any, argv: tuple[str, ...], own: bool) -> None:
    [method] = await Offers.of({**LOGIN, "_meta": meta}, auth_terminal=in_terminal)
    assert isinstance(method, TerminalLogin)
    assert (method.argv, method.own_command) == (argv, own)
    [method] = await Offers.of({**LOGIN, "_meta": meta})
    assert isinstance(method, AgentLogin), "without a terminal it is the agent's own"


@pytest.mark.parametrize(
    "meta", [{"terminal-auth": 1}, {"terminal-auth": {"command": ""}}, {"type": "terminal", "args": [1]}]
)
async def test_an_older_form_that_cannot_be_read_is_the_agents_own(meta: Any) -> None:
    [method] = await Offers.of({**LOGIN, "_meta": meta}, auth_terminal=in_terminal)
    assert isinstance(method, AgentLogin)


async def test_a_variable_that_cannot_be_set_is_not_offered() -> None:
    [method] = await Offers.of({**KEY, "vars": [{"name": "A=B"}]})
    assert method.unavailable == "'A=B' cannot be set"


async def test_the_oldest_form_with_one_variable() -> None:
    [method] = await Offers.of({"type": "env_var", "id": "key", "name": "Key", "varName": "KEY"})
    assert isinstance(method, EnvVarLogin)
    assert [variable.name for variable in method.variables] == ["KEY"]


@pytest.mark.parametrize("vars", [None, [], "KEY", [{"label": "nameless"}]])
async def test_variables_that_cannot_be_read_are_unknown(vars: Any) -> None:
    [method] = await Offers.of({**KEY, "vars": vars})
    assert method.kind == LoginKind.UNKNOWN
    assert not method.available


async def test_terminal_and_login_terminal_are_two_capabilities() -> None:
    """R170 has the whole of it; here the four combinations."""
    for terminals in (False, True):
        for auth_terminal in (False, in_terminal):
            agent = ReferenceAgent()
            async with acp_host.connect(agent.transport(), terminals=terminals, auth_terminal=auth_terminal) as host:
                offered = host.agreement.client_capabilities
                assert offered.terminal is terminals
                assert offered.auth
                assert offered.auth.terminal is bool(auth_terminal)


# --- calls that are refused -----------------------------------------------------------------------------------------


async def test_without_a_handler_the_error_has_the_methods(tmp_path: Path) -> None:
    async with acp_host.connect(ReferenceAgent(require_auth=True).transport()) as host:
        with pytest.raises(AuthRequired) as refused:
            await host.new_session(tmp_path)
        assert [method.id for method in refused.value.methods] == ["reference-login"]
        assert host.authentication.snapshot().state == "unauthenticated"
        await host.authentication.log_in("reference-login")
        assert host.authentication.snapshot().state == "authenticated"
        await host.new_session(tmp_path)


async def test_a_refused_call_is_made_again_after_the_login(tmp_path: Path) -> None:
    handler = Chooses("reference-login")
    async with acp_host.connect(ReferenceAgent(require_auth=True).transport(), authenticate=handler) as host:
        session = await host.new_session(tmp_path)
        assert (await session.prompt("/say hello")).text == "hello"
        [request] = handler.asked
        assert (request.agent, request.method) == ("Reference Agent", "session/new")
        assert [method.id for method in request.methods] == ["reference-login"]
        assert list(host.diagnostics) == []


async def test_methods_in_the_error_count_more_than_those_of_the_handshake() -> None:
    async def script(agent: ScriptedAgent) -> None:
        await agent.expect("session/new")
        agent.reply_error(-32000, "no", {"authMethods": [LOGIN]})
        await agent.expect("session/new")
        agent.reply_error(-32000, "no", {"authMethods": "?"})

    async with connected(script) as host:
        for methods in (["browser"], []):
            with pytest.raises(AuthRequired) as refused:
                await host.new_session()
            assert [method.id for method in refused.value.methods] == methods


async def test_it_never_loops() -> None:
    """The agent says that the login worked, and refuses all the same."""
    asked = Chooses("browser")

    async def script(agent: ScriptedAgent) -> None:
        for method in ("session/new", "authenticate", "session/new"):
            await agent.expect(method)
            if method == "authenticate":
                agent.reply({})
            else:
                agent.reply_error(-32000, "Authentication required", {"authMethods": [LOGIN]})

    async with connected(script, authenticate=asked) as host:
        with pytest.raises(AuthRequired):
            await host.new_session()
    assert len(asked.asked) == 1


async def test_calls_that_are_refused_at_the_same_time_share_one_login() -> None:
    handler = Chooses("browser", held=True)

    async def script(agent: ScriptedAgent) -> None:
        opening = [await agent.expect("session/new") for _ in range(3)]
        for request in opening:
            agent.reply_error(-32000, "no", {"authMethods": [LOGIN]}, to=request)
        await agent.expect("authenticate")
        agent.reply({})
        for number in range(3):
            await agent.expect("session/new")
            agent.reply({"sessionId": f"s-{number}"})

    async with connected(script, authenticate=handler) as host:
        opening = asyncio.gather(*(host.new_session() for _ in range(3)))
        await until(lambda: handler.asked)
        assert host.authentication.snapshot().state == "unauthenticated"
        handler.may_answer.set()
        assert len(await opening) == 3
    assert len(handler.asked) == 1


async def test_a_call_that_was_sent_before_a_login_asks_for_no_second_one() -> None:
    handler = Chooses("browser")

    async def script(agent: ScriptedAgent) -> None:
        first, second = [await agent.expect("session/new") for _ in range(2)]
        agent.reply_error(-32000, "no", {"authMethods": [LOGIN]}, to=first)
        await agent.expect("authenticate")
        agent.reply({})
        await agent.expect("session/new")
        agent.reply({"sessionId": "s-1"})
        agent.reply_error(-32000, "no", to=second)
        await agent.expect("session/new")
        agent.reply({"sessionId": "s-2"})

    async with connected(script, authenticate=handler) as host:
        assert len(await asyncio.gather(host.new_session(), host.new_session())) == 2
    assert len(handler.asked) == 1


@pytest.mark.parametrize("probe", ["list", "status", "auth"])
async def test_what_only_looks_never_logs_in(probe: str) -> None:
    handler = Chooses("browser")
    capabilities = {"sessionCapabilities": {"list": {}, "status": {}}, "auth": {"status": {}}}

    async def script(agent: ScriptedAgent) -> None:
        if probe == "status":
            await agent.open_session("s-1")
        await agent.expect()
        agent.reply_error(-32000, "no", {"authMethods": [LOGIN]})

    async with connected(script, capabilities, authenticate=handler) as host:
        if probe == "status":
            ask: Any = (await host.new_session()).status
        else:
            ask = host.list_sessions if probe == "list" else host.authentication.refresh
        with pytest.raises(AuthRequired):
            await ask()
    assert handler.asked == []


@pytest.mark.parametrize("answer", [None, "nonsense", ValueError("oops")])
async def test_a_login_that_does_not_come_about(answer: Any) -> None:
    async def handler(request: LoginRequest) -> Any:
        if isinstance(answer, Exception):
            raise answer
        return answer

    async def script(agent: ScriptedAgent) -> None:
        await agent.expect("session/new")
        agent.reply_error(-32000, "no", {"authMethods": [LOGIN]})

    async with connected(script, authenticate=handler) as host:
        with pytest.raises(AuthRequired) as refused:
            await host.new_session()
        assert isinstance(refused.value.__cause__, LoginFailed | InvalidInput)
        assert bool(list(host.diagnostics)) == (answer is not None)


async def test_a_login_that_the_agent_refuses() -> None:
    async def script(agent: ScriptedAgent) -> None:
        await agent.expect("session/new")
        agent.reply_error(-32000, "no", {"authMethods": [LOGIN]})
        await agent.expect("authenticate")
        agent.reply_error(-32603, f"wrong password={SECRET}")

    async with connected(script, authenticate=Chooses("browser")) as host:
        with pytest.raises(AuthRequired) as refused:
            await host.new_session()
        assert isinstance(refused.value.__cause__, acp_host.InternalError)
        assert "correct" not in notes(host) + str(refused.value.__cause__)


async def test_a_handler_may_log_in_by_itself() -> None:
    async def handler(request: LoginRequest) -> None:
        await host.authentication.log_in(request.methods[0])

    agent = ReferenceAgent(require_auth=True)
    async with acp_host.connect(agent.transport(), authenticate=handler) as host:
        await host.new_session()


async def test_the_connection_ends_while_the_user_thinks() -> None:
    handler = Chooses("browser", held=True)

    async def script(agent: ScriptedAgent) -> None:
        await agent.expect("session/new")
        agent.reply_error(-32000, "no", {"authMethods": [LOGIN]})
        await until(lambda: handler.asked)
        await agent.close()

    async with connected(script, authenticate=handler) as host:
        with pytest.raises(AuthRequired) as refused:
            await host.new_session()
        assert isinstance(refused.value.__cause__, ConnectionClosed)


async def test_a_login_that_nobody_waits_for_any_more_is_given_up() -> None:
    asked, cancelled = asyncio.Event(), asyncio.Event()

    async def handler(request: LoginRequest) -> None:
        asked.set()
        try:
            await asyncio.Event().wait()
        finally:
            cancelled.set()

    async def script(agent: ScriptedAgent) -> None:
        await agent.expect("session/new")
        agent.reply_error(-32000, "no", {"authMethods": [LOGIN]})
        await cancelled.wait()

    async with connected(script, authenticate=handler) as host:
        opening = asyncio.create_task(host.new_session())
        await asked.wait()
        opening.cancel()
        await asyncio.wait([opening])
        await cancelled.wait()
        assert opening.cancelled()


# --- prompts --------------------------------------------------------------------------------------------------------


async def test_a_refused_prompt_is_sent_once_more(tmp_path: Path) -> None:
    agent = ReferenceAgent(require_auth=True)
    handler = Chooses("reference-login")
    async with acp_host.connect(agent.transport(), authenticate=handler) as host:
        session = await host.new_session(tmp_path)
        await host.authentication.log_out()
        result = await session.prompt("/say again")
        assert result.text == "again"
        assert len(handler.asked) == 2
        assert shown(session) == [("/say again", False), ("again", False)]


async def test_a_refused_prompt_without_a_login_fails(tmp_path: Path) -> None:
    agent = ReferenceAgent(require_auth=True)
    handler = Chooses("reference-login")
    async with acp_host.connect(agent.transport(), authenticate=handler) as host:
        session = await host.new_session(tmp_path)
        await host.authentication.log_out()
        handler.answer = None
        with pytest.raises(AuthRequired) as refused:
            await session.prompt("hello")
        assert isinstance(refused.value.__cause__, LoginFailed)
        handler.answer = "reference-login"
        assert (await session.prompt("/say on")).text == "on"


@pytest.mark.parametrize("how", ["cancel", "close", "end"])
async def test_a_prompt_that_waits_for_a_login_ends_at_once(how: str, tmp_path: Path) -> None:
    agent = ReferenceAgent(require_auth=True)
    handler = Chooses("reference-login")
    async with acp_host.connect(agent.transport(), authenticate=handler) as host:
        session = await host.new_session(tmp_path)
        await host.authentication.log_out()
        handler.may_answer.clear()
        turn = session.prompt("/say never")
        await until(lambda: len(handler.asked) == 2)
        if how == "cancel":
            turn.cancel()
        elif how == "close":
            await session.close()
        else:
            await host.close()
        if how == "end":
            with pytest.raises(AuthRequired):
                await turn
        else:
            assert (await turn).stop_reason == "cancelled"
        assert session.current_turn is None
        handler.may_answer.set()


async def test_no_new_process_is_started_for_a_login_that_would_lose_the_sessions() -> None:
    def make(env: Mapping[str, str]) -> ReferenceAgent:
        return ReferenceAgent(require_auth=True, logins=["agent", "env_var"], without=["load", "resume"])

    async with acp_host.connect(Process(make), authenticate=Chooses("reference-login")) as host:
        await host.new_session()
        _, key = host.authentication.methods
        assert "sessions are open" in key.unavailable
        with pytest.raises(InvalidState, match="sessions are open"):
            await host.authentication.log_in(key, values={"REFERENCE_AGENT_KEY": SECRET})


async def test_no_new_process_is_started_for_a_login_while_a_turn_runs() -> None:
    async def slow(turn: AgentTurn) -> None:
        await asyncio.Event().wait()

    def make(env: Mapping[str, str]) -> ReferenceAgent:
        return ReferenceAgent(script=slow, require_auth=True, logins=["agent", "env_var"])

    async with acp_host.connect(Process(make), authenticate=Chooses("reference-login")) as host:
        session = await host.new_session()
        _, key = host.authentication.methods
        assert key.available
        turn = session.prompt("go")
        _, key = host.authentication.methods
        assert "a turn is running" in key.unavailable
        turn.cancel()
        await turn


async def test_a_login_that_takes_a_new_process_opens_the_sessions_again() -> None:
    agents = [ReferenceAgent(require_auth=True, logins=["agent", "env_var"])]

    def make(env: Mapping[str, str]) -> ReferenceAgent:
        if "REFERENCE_AGENT_KEY" in env:  # what it keeps on disk
            agents[0].logged_in = True
        return agents[0]

    async with acp_host.connect(Process(make), authenticate=Chooses("reference-login")) as host:
        session = await host.new_session()
        await session.prompt("/say before")
        agents[0].logged_in = False
        _, key = host.authentication.methods
        await host.authentication.log_in(key, values={"REFERENCE_AGENT_KEY": SECRET})
        assert host.sessions == (session,)
        assert (await session.prompt("/say after")).text == "after"
        assert [entry.text for entry in session.state.snapshot().transcript] == [
            "/say before",
            "before",
            "/say after",
            "after",
        ]


# --- a new process --------------------------------------------------------------------------------------------------


def needs_key(env: Mapping[str, str]) -> ScriptedAgent:
    """An agent that opens sessions only with the key in its environment, and tells of it."""

    async def script(agent: ScriptedAgent) -> None:
        await agent.handshake(authMethods=[LOGIN, KEY, IN_TERMINAL], agentInfo={"name": "agent", "version": "1"})
        request = await agent.expect("session/new")
        if env.get("KEY") != SECRET:
            agent.reply_error(-32000, "Authentication required", to=request)
            await agent.stall()
        agent.reply({"sessionId": "s-1"})
        await agent.expect("session/prompt")
        agent.reply_error(-32603, f"the upstream refused the key {SECRET!r}")
        agent.send_raw(f"debug: {SECRET}\n".encode())
        agent.notify("_agent/leak", {"said": SECRET})
        await agent.stall()

    return ScriptedAgent(script)


async def test_variables_are_asked_for_and_the_agent_is_started_with_them() -> None:
    async def handler(request: LoginRequest) -> Any:
        [key] = [method for method in request.methods if isinstance(method, EnvVarLogin)]
        return key.with_values({"KEY": SECRET})

    async with acp_host.connect(Process(needs_key), authenticate=handler) as host:
        before = host.agreement
        session = await host.new_session()
        assert host.agreement is not before
        with pytest.raises(acp_host.InternalError) as failed:
            await session.prompt("go")
        await until(lambda: len(host.diagnostics) == 2)
        shown = notes(host) + str(failed.value) + repr(failed.value) + repr(host.authentication.methods)
        assert "staple" not in shown, "the value is hidden wherever the agent says it"


@pytest.mark.parametrize(
    ("values", "problem"),
    [({}, "needs a value for KEY"), ({"KEY": ""}, "needs a value"), ({"KEY": "x", "PATH": "y"}, "no variable PATH")],
)
async def test_values_are_checked_before_anything_happens(values: dict[str, str], problem: str) -> None:
    async with acp_host.connect(Process(needs_key)) as host:
        with pytest.raises(InvalidInput, match=problem):
            await host.authentication.log_in("key", values=values)
        with pytest.raises(InvalidInput, match="takes no values"):
            await host.authentication.log_in("browser", values=values or {"KEY": "x"})


def needs_terminal(done: list[TerminalLogin]) -> Any:
    def make(env: Mapping[str, str]) -> ScriptedAgent:
        async def script(agent: ScriptedAgent) -> None:
            await agent.handshake(authMethods=[IN_TERMINAL])
            request = await agent.expect("session/new")
            if not done:
                agent.reply_error(-32000, "Authentication required", to=request)
                await agent.stall()
            agent.reply({"sessionId": "s-1"})
            await agent.stall()

        return ScriptedAgent(script)

    return make


async def test_a_login_in_a_terminal_and_then_a_new_process() -> None:
    done: list[TerminalLogin] = []

    async def terminal(login: TerminalLogin) -> int:
        done.append(login)
        return 0

    target = Process(needs_terminal(done))
    async with acp_host.connect(target, auth_terminal=terminal, authenticate=Chooses("term")) as host:
        await host.new_session()
        assert [login.argv for login in done] == [("the-agent", "--acp", "--login")]
        assert list(host.diagnostics) == []


@pytest.mark.parametrize("by_id", [True, False])
async def test_what_the_agent_lists_anew_meanwhile_is_not_what_the_user_agreed_to(by_id: bool) -> None:
    ran: list[TerminalLogin] = []
    other = {**IN_TERMINAL, "args": ["--wipe"]}

    async def terminal(login: TerminalLogin) -> int:
        ran.append(login)
        return 0

    async def handler(request: LoginRequest) -> Any:
        with pytest.raises(AuthRequired):
            await host.list_sessions(force=True)
        return "term" if by_id else request.methods[0]

    def make(env: Mapping[str, str]) -> ScriptedAgent:
        async def script(agent: ScriptedAgent) -> None:
            await agent.handshake(authMethods=[IN_TERMINAL])
            await agent.expect("session/new")
            agent.reply_error(-32000, "no", {"authMethods": [IN_TERMINAL]})
            await agent.expect("session/list")
            agent.reply_error(-32000, "no", {"authMethods": [other]})
            await agent.stall()

        return ScriptedAgent(script)

    async with acp_host.connect(Process(make), auth_terminal=terminal, authenticate=handler) as host:
        with pytest.raises(AuthRequired) as refused:
            await host.new_session()
        assert "has changed what the login" in str(refused.value.__cause__)
    assert ran == []


async def test_a_login_in_a_terminal_that_fails() -> None:
    async def terminal(login: TerminalLogin) -> int:
        return 3

    target = Process(needs_terminal([]))
    async with acp_host.connect(target, auth_terminal=terminal, authenticate=Chooses("term")) as host:
        with pytest.raises(AuthRequired) as refused:
            await host.new_session()
        cause = refused.value.__cause__
        assert isinstance(cause, LoginFailed)
        assert (cause.method_id, cause.exit_status) == ("term", 3)
        assert not host.closed, "the agent is left as it was"


async def test_calls_wait_while_the_agent_is_started_anew() -> None:
    async with acp_host.connect(Process(lambda env: ReferenceAgent())) as host:
        restarting = asyncio.create_task(host.restart())
        await asyncio.sleep(0)
        assert host.agreement.agent_name == "Reference Agent"
        opening = asyncio.create_task(host.new_session())
        with pytest.raises(InvalidState, match="being started already"):
            await host.restart()
        await restarting
        session = await opening
        assert (await session.prompt("/say hi")).text == "hi"


async def test_an_agent_that_does_not_come_up_again_is_lost() -> None:
    starts: list[Mapping[str, str]] = []

    def make(env: Mapping[str, str]) -> ScriptedAgent:
        starts.append(env)

        async def script(agent: ScriptedAgent) -> None:
            if len(starts) > 1:
                raise SystemExit(7)
            await agent.handshake()
            await agent.stall()

        return ScriptedAgent(script)

    async with acp_host.connect(Process(make)) as host:
        with pytest.raises(StartFailed, match="status 7"):
            await host.restart({"A": "1"})
        assert host.closed
        assert starts[1] == {"A": "1"}
        with pytest.raises(acp_host.AcpError):
            await host.new_session()


async def test_what_is_not_a_process_cannot_be_started_anew() -> None:
    async with acp_host.connect(ReferenceAgent().transport()) as host:
        with pytest.raises(InvalidState, match="cannot be started anew"):
            await host.restart()


async def test_the_real_program_with_variables_and_in_a_terminal(tmp_path: Path) -> None:
    command = ReferenceAgent.command("--login", "env_var", "--login", "card")

    async def handler(request: LoginRequest) -> Any:
        key, card = request.methods
        assert isinstance(key, EnvVarLogin)
        assert not card.available
        return key.with_values({"REFERENCE_AGENT_KEY": SECRET})

    async with acp_host.connect(command, authenticate=handler) as host:
        assert (await (await host.new_session(tmp_path)).prompt("/say in")).text == "in"


async def test_the_real_program_logs_in_in_this_terminal(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    command = ReferenceAgent.command("--login", "terminal", "--login-file", str(tmp_path / "login"))
    async with acp_host.connect(command, auth_terminal=True, authenticate=Chooses("reference-terminal")) as host:
        assert (await (await host.new_session(tmp_path)).prompt("/say in")).text == "in"
    assert "You are logged in." in capfd.readouterr().out


async def test_what_confines_the_agent_confines_its_login_and_its_next_process_too(tmp_path: Path) -> None:
    started: list[tuple[str, ...]] = []

    def launcher(launch: Launch) -> Launch:
        started.append(launch.argv)
        return Launch(("env", *launch.argv), launch.cwd, launch.env, launch.inherit_env)

    async def terminal(login: TerminalLogin) -> int:
        assert login.argv[0] == "env"
        return await run_in_this_terminal(login.argv, cwd=login.cwd, env=login.env)

    command = ReferenceAgent.command("--login", "terminal", "--login-file", str(tmp_path / "login"))
    chooses = Chooses("reference-terminal")
    async with acp_host.connect(command, launcher=launcher, auth_terminal=terminal, authenticate=chooses) as host:
        await host.new_session(tmp_path)
        assert chooses.asked[0].methods[0].argv == (*command, "--log-in")
    assert started == [tuple(command), (*command, "--log-in"), tuple(command)]


async def test_a_login_that_may_not_be_started_is_not(tmp_path: Path) -> None:
    allowed = [True, False]

    def launcher(launch: Launch) -> Launch:
        if not allowed.pop(0):
            raise PermissionError("no sandbox")
        return launch

    async def terminal(login: TerminalLogin) -> int:
        raise AssertionError("it must not run")

    command = ReferenceAgent.command("--login", "terminal", "--login-file", str(tmp_path / "login"))
    async with acp_host.connect(
        command, launcher=launcher, auth_terminal=terminal, authenticate=Chooses("reference-terminal")
    ) as host:
        with pytest.raises(AuthRequired) as refused:
            await host.new_session(tmp_path)
        assert isinstance(refused.value.__cause__, StartFailed)


# --- who is logged in -----------------------------------------------------------------------------------------------


async def test_status_is_observable() -> None:
    seen: list[str] = []
    async with acp_host.connect(ReferenceAgent(require_auth=True).transport()) as host:
        host.authentication.changed.connect(lambda changes: seen.append(changes.snapshot.state))
        assert (await host.authentication.refresh()).state == "unauthenticated"
        await host.authentication.log_in("reference-login")
        await until(lambda: host.authentication.snapshot().accounts)
        snapshot = host.authentication.snapshot()
        assert [account.label for account in snapshot.accounts] == ["Reference User"]
        assert not snapshot.logging_in
        await host.authentication.log_out()
        await until(lambda: seen and seen[-1] == "unauthenticated")
    assert "authenticated" in seen


@pytest.mark.parametrize(
    ("status", "state", "labels"),
    [
        ({"kind": "api_key", "label": "API key", "detail": "KEY"}, "authenticated", ["API key"]),
        ({"kind": "gateway", "label": "Custom model gateway"}, "authenticated", ["Custom model gateway"]),
        ({"kind": "none"}, "unknown", []),
        ({}, "unknown", []),
        ("nonsense", "unknown", []),
    ],
)
async def test_agents_that_tell_it_their_own_way(status: Any, state: str, labels: list[str]) -> None:
    async def script(agent: ScriptedAgent) -> None:
        agent.notify("_auth/status_update", {"authStatus": status})
        await agent.open_session("s-1")

    async with connected(script) as host:
        await host.new_session()
        snapshot = host.authentication.snapshot()
        assert snapshot.state == state
        assert [account.label for account in snapshot.accounts] == labels
        assert snapshot.details == (status if isinstance(status, dict) else {})
        assert list(host.diagnostics) == []


async def test_an_observer_that_raises_is_reported() -> None:
    def oops(changes: Any) -> None:
        raise ValueError("oops")

    async with acp_host.connect(ReferenceAgent(require_auth=True).transport()) as host:
        host.authentication.changed.connect(oops)
        await host.authentication.log_in("reference-login")
        await until(lambda: list(host.diagnostics))
        assert "an observer of the login failed" in notes(host)


async def test_an_agent_that_cannot_log_out() -> None:
    async with acp_host.connect(ReferenceAgent(without=["logout"]).transport()) as host:
        with pytest.raises(NotSupported):
            await host.authentication.log_out()


async def test_a_prompt_is_not_repeated_twice() -> None:
    async def script(agent: ScriptedAgent) -> None:
        await agent.open_session("s-1")
        for _ in range(2):
            await agent.expect("session/prompt")
            agent.reply_error(-32000, "no", {"authMethods": [LOGIN]})
            if _ == 0:
                await agent.expect("authenticate")
                agent.reply({})
        await agent.expect("session/prompt")
        agent.reply(DONE)

    handler = Chooses("browser")
    async with connected(script, authenticate=handler) as host:
        session = await host.new_session()
        with pytest.raises(AuthRequired):
            await session.prompt("one")
        await session.prompt("two")
    assert len(handler.asked) == 1


async def test_nobody_logs_in_for_a_prompt_that_is_cancelled() -> None:
    async def script(agent: ScriptedAgent) -> None:
        await agent.open_session("s-1")
        prompt = await agent.expect("session/prompt")
        await agent.expect("session/cancel")
        agent.reply_error(-32000, "no", {"authMethods": [LOGIN]}, to=prompt)

    handler = Chooses("browser")
    async with connected(script, authenticate=handler) as host:
        session = await host.new_session()
        turn = session.prompt("one")
        turn.cancel()
        assert (await turn).stop_reason == "cancelled"
    assert handler.asked == []


async def test_secret_variables_of_the_connection_are_hidden() -> None:
    def make(env: Mapping[str, str]) -> ScriptedAgent:
        async def script(agent: ScriptedAgent) -> None:
            await agent.handshake()
            agent.send_raw(f"my token is {env['API_TOKEN']}, in {env['PLACE']}\n".encode())
            await agent.stall()

        return ScriptedAgent(script)

    async with acp_host.connect(Process(make, {"API_TOKEN": SECRET, "PLACE": "the-kitchen"})) as host:
        await until(lambda: list(host.diagnostics))
        assert "staple" not in notes(host)
        assert "the-kitchen" in notes(host)
