"""Logins, and sessions of earlier, with an agent built on the official Python SDK."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

import acp_host
from acp_host import AuthRequired, EnvVarLogin, LoginRequest, Lost, ReopenPolicy, SessionNotReopened
from acp_host.state.entries import MessageEntry


def command(folder: Path) -> list[str]:
    return [sys.executable, str(Path(__file__).with_name("python_sdk_account_agent.py")), str(folder)]


def texts(session: acp_host.Session) -> list[str]:
    return [entry.text for entry in session.state.snapshot().transcript if isinstance(entry, MessageEntry)]


async def test_it_says_how_to_log_in(folder: Path) -> None:
    async with acp_host.connect(command(folder)) as host:
        with pytest.raises(AuthRequired) as refused:
            await host.new_session(folder)
        assert [method.id if hasattr(method, "id") else method.tag for method in refused.value.methods] == [
            "agent",
            "env_var",
        ]
        agent, key = host.authentication.methods
        assert (agent.kind, key.kind, key.available) == ("agent", "env_var", True)
        assert isinstance(key, EnvVarLogin)
        assert [(one.name, one.label, one.optional) for one in key.variables] == [
            ("SDK_AGENT_KEY", "Key", False),
            ("SDK_HINT", "SDK_HINT", True),
        ]
        await host.authentication.log_in("agent")
        assert (await (await host.new_session(folder)).prompt("hello")).text == "hello"


async def test_calls_and_prompts_are_made_once_more_after_a_login(folder: Path) -> None:
    asked: list[str] = []

    def ask(request: LoginRequest) -> str:
        asked.append(request.method)
        return "agent"

    async with acp_host.connect(command(folder), authenticate=ask) as host:
        session = await host.new_session(folder)
        with pytest.raises(AuthRequired):
            await session.prompt("log out")  # it refuses this one each time
        assert (await session.prompt("back")).text == "back"
    assert asked == ["session/new", "session/prompt", "session/prompt"]


async def test_a_key_in_the_environment(folder: Path) -> None:
    def ask(request: LoginRequest) -> Any:
        return next(method for method in request.methods if isinstance(method, EnvVarLogin)).with_values(
            {"SDK_AGENT_KEY": "swordfish"}
        )

    async with acp_host.connect(command(folder), authenticate=ask) as host:
        assert (await (await host.new_session(folder)).prompt("hello")).text == "hello"


async def test_a_login_in_a_terminal(folder: Path) -> None:
    async with acp_host.connect(command(folder), auth_terminal=True, authenticate=lambda _: "terminal") as host:
        assert (await (await host.new_session(folder)).prompt("hello")).text == "hello"


async def test_sessions_of_earlier(folder: Path) -> None:
    (folder / "logged-in").touch()
    async with acp_host.connect(command(folder)) as host:
        ids = []
        for number in range(5):
            session = await host.new_session(folder)
            await session.prompt(f"hello {number}")
            ids.append(session.id)
    async with acp_host.connect(command(folder)) as host:
        assert [info.session_id async for info in host.iter_sessions()] == ids
        resumed = await host.open_session(ids[0], folder)
        assert (resumed.step, resumed.lost, texts(resumed.session)) == ("resume", Lost.HISTORY, [])
        loaded = await host.open_session(ids[1], folder, policy=ReopenPolicy(steps=("load", "new")))
        assert (loaded.lost, texts(loaded.session)) == (Lost.NOTHING, ["hello 1"])
        begun = await host.open_session("no-such-session", folder)
        assert [attempt.result for attempt in begun.attempts] == ["gone", "gone", "worked"]
        assert begun.lost is Lost.CONTEXT
        await host.close_session("no-such-session")
        [note] = host.diagnostics
        assert "does not know the session" in note.message


async def test_a_history_that_breaks_off(folder: Path) -> None:
    (folder / "logged-in").touch()
    async with acp_host.connect(command(folder)) as host:
        session = await host.new_session(folder)
        await session.prompt("hello")
        await session.prompt("break")
        before = texts(session)
        with pytest.raises(SessionNotReopened, match="the history is broken"):
            await host.open_session(session.id, folder, policy=ReopenPolicy(steps=("load",), pause=0))
        assert texts(session) == before


async def test_a_session_that_the_agent_forgets(folder: Path) -> None:
    (folder / "logged-in").touch()
    async with acp_host.connect(command(folder)) as host:
        session = await host.new_session(folder)
        with pytest.raises(acp_host.InternalError):
            await session.prompt("forget")
        assert session.is_lost
        begun = await host.open_session(session.id, folder)
        assert begun.lost is Lost.CONTEXT
        assert (await begun.session.prompt("on")).text == "on"
