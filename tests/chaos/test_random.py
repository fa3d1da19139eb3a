"""Agents that do anything in any order; `make chaos` lets them for longer, and never the same twice."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis.stateful import run_state_machine_as_test

from acp_host.host.connection import HostConnection
from acp_host.host.driver import Driver
from acp_host.host.incoming import IncomingRequests
from acp_host.host.turn_queue import TurnQueue
from acp_host.recording.format import RecordedLine
from acp_host.replay.player import RecordingPlayer
from acp_host.testing.chaos.messages import ASK, DONE, line, permission
from tests.chaos import any_agent
from tests.chaos.any_agent import AnyAgent

EXAMPLES = int(os.environ.get("ACP_HOST_CHAOS_EXAMPLES", "0"))
"""How many agents; 0 for the few of every run, which are the same each time."""


@pytest.mark.skipif(sys.platform == "win32", reason="counts open files as POSIX has them")
@pytest.mark.timeout(0 if EXAMPLES else 120)
def test_r441_an_agent_that_does_anything_in_any_order() -> None:
    chosen = settings(
        max_examples=EXAMPLES or 15,
        stateful_step_count=60 if EXAMPLES else 25,
        derandomize=not EXAMPLES,
        deadline=None,
        suppress_health_check=list(HealthCheck),
        phases=tuple(Phase) if EXAMPLES else (Phase.generate,),  # whoever fails a run of few is to know it soon
        print_blob=True,
    )
    run_state_machine_as_test(AnyAgent, settings=chosen)


async def never(*_: Any) -> None:
    await asyncio.Event().wait()


async def closes_for_ever(host: HostConnection) -> None:
    await CLOSE(host)
    await never()


def also(done: Callable[..., Any], more: Callable[..., Any]) -> Callable[..., Any]:
    """Return what does something, and then something else."""

    async def both(*arguments: Any) -> None:
        await done(*arguments)
        kept.append(more(*arguments))

    return both


def twice(self: Driver, number: Any, *answer: Any) -> None:
    RESPOND(self, number, *answer)
    self.transport.write(line({"jsonrpc": "2.0", "id": number, "result": None}))


async def deaf(self: RecordingPlayer, recorded: RecordedLine) -> None:
    if "agent_message_chunk" not in repr(recorded):
        await RECEIVE(self, recorded)


CLOSE, RESPOND, RECEIVE = HostConnection.close, Driver.respond, RecordingPlayer._receive
kept: list[Any] = []

SPOILED: dict[str, tuple[type, str, Any, str | None]] = {
    "closing hangs": (HostConnection, "close", closes_for_ever, None),
    "an answer to a prompt is lost": (TurnQueue, "_finish", lambda *_: None, None),
    "a question is not answered": (IncomingRequests, "_answer", lambda *_, **__: None, "answered once"),
    "a question is answered twice": (Driver, "respond", twice, "answered once"),
    "a process goes on": (
        HostConnection,
        "close",
        also(CLOSE, lambda _: subprocess.Popen(["sleep", "600"])),
        "a process",
    ),
    "a task goes on": (HostConnection, "close", also(CLOSE, lambda _: asyncio.create_task(never())), "a task is left"),
    "a file stays open": (HostConnection, "close", also(CLOSE, lambda _: os.dup(1)), "a descriptor is left"),
    "the connection is kept": (HostConnection, "close", also(CLOSE, lambda host: host), "is forgotten"),
    "a session's log is kept": (HostConnection, "close", also(CLOSE, lambda host: host.diagnostics), "so is all"),
    "the recording is not read whole": (RecordingPlayer, "_receive", deaf, "amounts to something else"),
}
"""What is broken in the library: by its class, its name, with what; and in which words that is found, but for hangs."""


@pytest.fixture
def machine() -> Iterator[AnyAgent]:
    agent = AnyAgent()
    yield agent
    for each in kept:
        if isinstance(each, int):
            os.close(each)
        if isinstance(each, subprocess.Popen):
            each.kill()
            each.wait()
    kept.clear()


@pytest.mark.skipif(sys.platform == "win32", reason="counts open files as POSIX has them")
@pytest.mark.parametrize("what", SPOILED)
def test_r441_what_is_broken_is_found(what: str, machine: AnyAgent, monkeypatch: pytest.MonkeyPatch) -> None:
    owner, name, instead, words = SPOILED[what]
    machine.connect("never answers" if what == "a question is not answered" else "allows", gives_up=False)
    monkeypatch.setattr(owner, name, instead)
    if words is None:
        monkeypatch.setattr(any_agent, "DEADLINE", 0.5)
    with pytest.raises(TimeoutError if words is None else AssertionError, match=words):
        try:
            machine.asks((ASK, permission()), withdraws=False)
            machine.says("a", 1)
            machine.ends_the_turn(DONE, again=False)
            machine.no_turn_that_has_ended_is_lost()
        finally:
            machine.teardown()
