"""A transport around another one: :class:`TransportAround`, for what looks at a stream and moves nothing itself."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping

from acp_host.transports._base import Transport
from acp_host.transports._launch import Launch

__all__ = ["TransportAround"]


class TransportAround(Transport):
    """Says of itself whatever the transport within says; what is done with the stream is a subclass's to say.

    Args:
        inner: the transport within, not started yet.
    """

    def __init__(self, inner: Transport) -> None:
        self.description = inner.description
        self.remote = inner.remote
        self._inner = inner

    @abstractmethod
    def around(self, inner: Transport) -> Transport:
        """Return a transport of this kind around another one to the same agent."""

    @property
    def connection_id(self) -> str | None:  # type: ignore[override] # it is the other one that sets it
        return self._inner.connection_id

    @property
    def peer(self) -> str:
        return self._inner.peer

    @property
    def secrets(self) -> tuple[str, ...]:
        return self._inner.secrets

    @property
    def exit_status(self) -> int | None:
        return self._inner.exit_status

    @property
    def queued(self) -> int:
        return self._inner.queued

    def stderr_tail(self) -> str:
        return self._inner.stderr_tail()

    @property
    def launch(self) -> Launch | None:
        return self._inner.launch

    def as_started(self, launch: Launch) -> Launch:
        return self._inner.as_started(launch)

    def again(self, env: Mapping[str, str]) -> Transport | None:
        inner = self._inner.again(env)
        return None if inner is None else self.around(inner)

    async def drain(self) -> None:
        await self._inner.drain()

    async def close(self) -> None:
        await self._inner.close()
