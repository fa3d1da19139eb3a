"""What a caller may get wrong, and a fault within this library: a clear error at once, and nobody is left waiting."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import acp_host
from acp_host import ConnectionLost, InvalidInput, InvalidState
from acp_host.protocol.host_protocol import HostProtocol
from acp_host.testing import ReferenceAgent, ScriptedAgent
from tests.chaos.bad_agents import DONE, open_session


async def test_a_fault_of_this_library_leaves_no_call_waiting(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """The answer is lost within this host: it was taken from the stream, and nobody was told of it."""

    def broken(self: Any, event: Any) -> Any:
        raise ZeroDivisionError("a fault")

    async def script(agent: ScriptedAgent) -> None:
        await agent.expect("session/prompt")
        agent.reply(DONE)

    async with open_session(script) as (_, session):
        monkeypatch.setattr(HostProtocol, "_translate_response", broken)
        with pytest.raises(ConnectionLost, match="failed to read a message: ZeroDivisionError"):
            await session.prompt("question")
    assert "a fault" in caplog.text


async def test_one_connect_is_not_entered_twice_at_a_time() -> None:
    connection = acp_host.connect(ReferenceAgent().transport())
    async with connection as host:
        with pytest.raises(InvalidState, match="in use"):
            await connection.__aenter__()
        assert not host.closed
    assert host.closed


@pytest.mark.parametrize("target", ["unclosed 'quote", 5, {"agent"}])
def test_a_command_that_is_none(target: Any) -> None:
    with pytest.raises(InvalidInput, match="the agent's command"):
        acp_host.connect(target)


UNREADABLE = Path("/proc/self/mem")
"""A file that is one, and cannot be read from its beginning; on Linux."""


async def test_a_prompt_of_another_type(tmp_path: Path) -> None:
    unreadable = tmp_path / "loop"
    unreadable.symlink_to(unreadable)

    async def script(agent: ScriptedAgent) -> None: ...

    async with open_session(script) as (_, session):
        for arguments in ({"idle_timeout": "5"}, {"idle_timeout": float("nan")}, {"meta": 5}):
            with pytest.raises(InvalidInput, match=next(iter(arguments))):
                session.prompt("question", **arguments)
        for path in (unreadable, UNREADABLE):
            with pytest.raises(InvalidInput, match="part of a prompt"):
                session.prompt(path)
