"""Fixtures for pytest, for tests of programs that hold conversations with agents. Installed with the library.

=======================  ==============================================================================================
``acp_scripted_agent``   makes a :class:`~acp_host.testing.ScriptedAgent`; what goes wrong in its script fails the test
``acp_replayed_agent``   makes a transport to the agent of a recording; a host that says something else fails the test
``acp_reference_agent``  makes a :class:`~acp_host.testing.ReferenceAgent`
``acp_virtual_host``     runs something with a host for which waiting takes no time
=======================  ==============================================================================================

Each works in plain tests and in coroutines, whichever plugin runs these. Without a test that asks for them they load
nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Iterator
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, TypeVar

import pytest

if TYPE_CHECKING:
    import os

    import acp_host
    from acp_host.recording.replay_transport import ReplayTransport
    from acp_host.testing.reference import ReferenceAgent
    from acp_host.testing.scripted import Script, ScriptedAgent
    from acp_host.transports import Transport

__all__ = [
    "MakeReferenceAgent",
    "MakeReplayedAgent",
    "MakeScriptedAgent",
    "RunVirtualHost",
    "acp_reference_agent",
    "acp_replayed_agent",
    "acp_scripted_agent",
    "acp_virtual_host",
]

T = TypeVar("T")

MakeReferenceAgent: TypeAlias = "type[ReferenceAgent]"
"""The fixture ``acp_reference_agent``: it takes what the class takes."""


class MakeScriptedAgent(Protocol):
    """The fixture ``acp_scripted_agent``."""

    def __call__(self, script: Script) -> ScriptedAgent:
        """Return an agent that follows a script; connect to its ``transport()``."""


class MakeReplayedAgent(Protocol):
    """The fixture ``acp_replayed_agent``."""

    def __call__(self, recording: str | os.PathLike[str], **options: Any) -> ReplayTransport:
        """Return what to connect to.

        Args:
            recording: the file.
            options: for :class:`~acp_host.testing.ReplayTransport`: ``match``, ``patience``.
        """


class HasTransport(Protocol):
    """An agent of :mod:`acp_host.testing`."""

    def transport(self) -> Transport:
        """Return the way to it."""


class RunVirtualHost(Protocol):
    """The fixture ``acp_virtual_host``."""

    def __call__(
        self,
        agent: HasTransport | Transport,
        scenario: Callable[[acp_host.HostConnection], Coroutine[Any, Any, T]],
        **options: Any,
    ) -> T:
        """Connect to an agent, run a coroutine function with the host, close the host, and return the result.

        All that waits for a time is over at once, in the order of the times: pauses, deadlines, toasts. So the agent
        has to be in this process, not a command or a URL. The times that records and snapshots tell are those of the
        machine.

        Args:
            agent: the agent, or a transport to one in this process.
            scenario: takes the host.
            options: for :func:`acp_host.connect`.
        """


@pytest.fixture
def acp_scripted_agent() -> Iterator[MakeScriptedAgent]:
    """Make scripted agents; at the end of the test, an expectation of theirs that was not met fails it."""
    from acp_host.testing.scripted import ScriptedAgent

    agents: list[ScriptedAgent] = []

    def make(script: Script) -> ScriptedAgent:
        agents.append(ScriptedAgent(script))
        return agents[-1]

    yield make
    for agent in agents:
        if agent.failure is not None:
            raise agent.failure


@pytest.fixture
def acp_replayed_agent() -> Iterator[MakeReplayedAgent]:
    """Make agents out of recordings; at the end of the test, a host that left its recording fails it."""
    from acp_host.recording.format import read_recording
    from acp_host.recording.replay_transport import ReplayTransport

    transports: list[ReplayTransport] = []

    def make(recording: str | os.PathLike[str], **options: Any) -> ReplayTransport:
        transports.append(ReplayTransport(list(read_recording(recording)), **options))
        return transports[-1]

    yield make
    for transport in transports:
        if transport.divergence is not None:
            raise transport.divergence


@pytest.fixture
def acp_reference_agent() -> MakeReferenceAgent:
    """Make reference agents."""
    from acp_host.testing.reference import ReferenceAgent

    return ReferenceAgent


@pytest.fixture
def acp_virtual_host() -> RunVirtualHost:
    """Run something with a host for which waiting takes no time."""
    import acp_host
    from acp_host.replay.virtual_time import run_in_virtual_time
    from acp_host.transports import Transport

    def run(
        agent: HasTransport | Transport,
        scenario: Callable[[acp_host.HostConnection], Coroutine[Any, Any, T]],
        **options: Any,
    ) -> T:
        async def connected() -> T:
            transport = agent if isinstance(agent, Transport) else agent.transport()
            async with acp_host.connect(transport, **options) as host:
                return await scenario(host)

        return run_in_virtual_time(connected())

    return run
