"""Bad agents, and what the tests of this directory ask of every host that meets one.

Most faults are put into the middle of a conversation by :func:`conversation`, which then shows that the turn they came
in and the next one both end as they should. What the host wrote back is in :attr:`Seen.answers`.
"""

from __future__ import annotations

import asyncio
import functools
from collections.abc import AsyncIterator, Callable, Coroutine, Iterable, Sequence
from contextlib import asynccontextmanager
from typing import Any

from attrs import field, frozen

import acp_host
from acp_host import Diagnostic, DiagnosticKind, HostConnection, Session, TurnResult
from acp_host.replay.virtual_time import run_in_virtual_time
from acp_host.testing import ScriptedAgent
from acp_host.testing.chaos import BadAgent, Encounter
from acp_host.testing.chaos.encounter import first_turn
from acp_host.testing.chaos.messages import (
    ALL,
    CANCELLED,
    DONE,
    EDIT,
    FORM,
    chunk,
    line,
    options,
    permission,
    selected,
)

__all__ = [
    "ALL",
    "DONE",
    "EDIT",
    "FORM",
    "PATIENCE",
    "Hangs",
    "Seen",
    "cancelled",
    "chunk",
    "connected",
    "conversation",
    "in_virtual_time",
    "kinds",
    "line",
    "open_session",
    "options",
    "permission",
    "reported",
    "selected",
    "until",
]

PATIENCE = 30.0
"""Seconds that anything may take here before it counts as hanging."""

Bad = Callable[[Encounter], Any]
"""Does something bad; what it returns is awaited where it can be."""

cancelled = CANCELLED
"""The result that chooses no option."""


@frozen
class Seen:
    """What a host saw of a conversation with something bad in its first turn.

    Attributes:
        updates: those of the first turn.
        result: of the first turn.
        between: updates that belonged to no turn.
        diagnostics: of the whole connection.
        answers: what the host answered the agent's own requests, whole messages.
    """

    updates: list[Any]
    result: TurnResult
    between: list[Any] = field(factory=list)
    diagnostics: list[Diagnostic] = field(factory=list)
    answers: list[dict[str, Any]] = field(factory=list)

    def reported(self, kind: DiagnosticKind) -> list[Diagnostic]:
        return [diagnostic for diagnostic in self.diagnostics if diagnostic.kind == kind]


@asynccontextmanager
async def connected(script: Callable[[ScriptedAgent], Any], **arguments: Any) -> AsyncIterator[HostConnection]:
    """Connect to an agent in this process; its script has to come to its end before the host closes."""
    agent = ScriptedAgent(script)
    async with asyncio.timeout(PATIENCE):
        async with acp_host.connect(agent.transport(), **arguments) as host:
            yield host
            await agent.finished()


@asynccontextmanager
async def open_session(
    script: Callable[[ScriptedAgent], Any], **arguments: Any
) -> AsyncIterator[tuple[HostConnection, Session]]:
    """As :func:`connected`, with the handshake and ``session/new`` done on both sides before the script begins."""

    async def whole(agent: ScriptedAgent) -> None:
        await agent.handshake(ALL)
        await agent.open_session("session-1")
        await script(agent)

    async with connected(whole, **arguments) as host:
        yield host, await host.new_session()


async def conversation(bad: Bad | BadAgent, **arguments: Any) -> Seen:
    """Hold a conversation of two turns, with something bad in the first after its first words.

    Args:
        bad: does it, or an agent of the public catalogue that does.
        arguments: for ``connect()``.
    """
    step = bad.step if isinstance(bad, BadAgent) else bad
    assert step is not None
    agent = Encounter(first_turn(step))
    async with asyncio.timeout(PATIENCE), acp_host.connect(agent.transport(), **arguments) as host:
        session = await host.new_session()
        turn = session.prompt("first")
        updates = [update async for update in turn]
        result = await turn
        assert (await session.prompt("second")).text == "second", "the connection goes on as if nothing had happened"
    if agent.failure is not None:
        raise agent.failure
    return Seen(
        updates=updates,
        result=result,
        between=[update async for update in _left(session)],
        diagnostics=list(host.diagnostics),
        answers=[message for message in agent.received if "method" not in message],
    )


async def _left(session: Session) -> AsyncIterator[Any]:
    try:
        while True:
            yield await session.next_update_between_turns()
    except acp_host.ConnectionClosed:
        return


class Hangs:
    """A handler that never answers, and knows whether it was cancelled."""

    def __init__(self) -> None:
        self.asked = 0
        self.cancelled = 0

    async def __call__(self, request: Any) -> str:
        self.asked += 1
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            self.cancelled += 1
            raise
        raise AssertionError("nobody answers")


def kinds(diagnostics: Iterable[Diagnostic]) -> list[DiagnosticKind]:
    return [diagnostic.kind for diagnostic in diagnostics]


def reported(host: HostConnection, kind: DiagnosticKind) -> list[Diagnostic]:
    return [diagnostic for diagnostic in host.diagnostics if diagnostic.kind == kind]


async def until(done: Callable[[], Any]) -> None:
    """Wait for something that no callback tells of."""
    async with asyncio.timeout(PATIENCE):
        while not done():  # noqa: ASYNC110 - there is no event
            await asyncio.sleep(0.002)


def in_virtual_time(test: Callable[..., Coroutine[Any, Any, None]]) -> Callable[..., None]:
    """Let a test whose parts are all in this process run where waiting takes no time."""

    @functools.wraps(test)
    def run(*arguments: Any, **more: Any) -> None:
        run_in_virtual_time(test(*arguments, **more))

    return run


def texts(updates: Sequence[Any]) -> list[str]:
    return [update.content.text for update in updates]
