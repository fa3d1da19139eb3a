"""The boundary between bytes and messages: :class:`Transport` moves bytes, its :class:`Receiver` takes them.

A transport knows no ACP: it neither splits nor joins messages, and it delivers what it reads at once and in order,
whatever the receiver does with it. Everything here happens on one event loop; nothing is thread-safe.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Protocol

from acp_host.errors import AcpError
from acp_host.transports._launch import Launch

__all__ = ["Receiver", "Transport"]


class Receiver(Protocol):
    """Where a :class:`Transport` delivers what it reads. Both methods are called on the loop and must not block."""

    def data_received(self, data: bytes) -> None:
        """Take the next bytes of the stream, never empty, split anywhere."""

    def connection_lost(self, error: AcpError | None) -> None:
        """Learn that nothing more will come. Called exactly once after a successful start.

        Args:
            error: why the stream ended; ``None`` for a clean end, which is one that a ``close()`` asked for.
        """


class Transport(ABC):
    """One two-way stream of bytes to an agent, used once: start, write and receive, close.

    Attributes:
        description: what is at the other end, for messages to people, e.g. the command line.
        remote: whether the agent is elsewhere, behind a network: then it is offered nothing of this machine unless the
            application insists.
        connection_id: what the server of a remote agent calls this connection (``Acp-Connection-Id``), e.g. for its
            logs; ``None`` before the start, and where there is no such name.
    """

    description: str
    remote: bool = False
    connection_id: str | None = None

    @property
    def peer(self) -> str:
        """Who is at the other end, for the audit trail; without secrets."""
        return self.description

    @property
    def secrets(self) -> tuple[str, ...]:
        """Values that this transport sends and that nobody must be shown, e.g. a token; may grow while it runs."""
        return ()

    @property
    def exit_status(self) -> int | None:
        """Exit code of the launched process, negative for a signal; ``None`` while it runs or where there is none."""
        return None

    @property
    def queued(self) -> int:
        """How many bytes were written that the other end has not taken yet; 0 where nobody knows."""
        return 0

    def stderr_tail(self) -> str:
        """Return the end of what the other end wrote to its stderr, decoded; empty where there is no such thing."""
        return ""

    @property
    def launch(self) -> Launch | None:
        """The command that is launched, with its surroundings; ``None`` where this end launches nothing."""
        return None

    def as_started(self, launch: Launch) -> Launch:
        """Return what is started for another command of the agent, e.g. one in the same sandbox; may look at the disk.

        Raises:
            StartFailed: nothing may be started for it.
        """
        return launch

    def again(self, env: Mapping[str, str]) -> Transport | None:
        """Return a transport to the same agent that was not started yet; ``None`` where there can be none.

        Args:
            env: further variables for the agent's environment.
        """
        return None

    @abstractmethod
    async def start(self, receiver: Receiver) -> None:
        """Connect, and deliver to ``receiver`` from now on.

        Raises:
            StartFailed: the other end cannot be reached or launched; the receiver is not called.
            InvalidState: the transport was started or closed before.
        """

    @abstractmethod
    def write(self, data: bytes) -> None:
        """Queue ``data`` for the other end; never blocks. Call :meth:`drain` to be held back by a slow reader.

        Raises:
            ConnectionClosed: this side called :meth:`close`.
            ConnectionLost: the other end takes no more; nothing of ``data`` was sent. The receiver's
                ``connection_lost`` follows, at the latest when the other end has been silent for some seconds.
            InvalidState: the transport was not started.
        """

    @abstractmethod
    async def drain(self) -> None:
        """Wait while more is queued than the transport likes to hold, because the other end reads too slowly.

        Raises:
            ConnectionClosed: this side called :meth:`close`.
            ConnectionLost: the other end takes no more; what was queued may not have reached it. For the rest, as for
                :meth:`write`.
            InvalidState: the transport was not started.
        """

    @abstractmethod
    async def close(self) -> None:
        """End the connection and leave nothing behind: no process, no open file, no task.

        Bounded in time, idempotent, and concurrent calls share one close. A caller that is cancelled stops waiting, and
        the close goes on without it.
        """
