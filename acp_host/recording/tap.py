"""Records whatever a transport moves: :class:`RecordingTransport`."""

from __future__ import annotations

import asyncio
from typing import Any

from acp_host.errors import AcpError, InvalidState
from acp_host.recording.format import CLOSED_BY_HOST
from acp_host.recording.recorder import RecordedConnection, Recorder
from acp_host.recording.redaction import command_without_secrets
from acp_host.redaction import secrets_of_command
from acp_host.transports import Receiver, Transport
from acp_host.transports._around import TransportAround

__all__ = ["RecordingTransport"]

_STDERR_TAIL = 4 * 1024
"""Characters of the agent's stderr that the end of a connection carries."""


class RecordingTransport(TransportAround):
    """A transport that records what another one moves; for the rest it is that one.

    Recording takes nothing from the stream and holds nothing up. A transport to the same agent that :meth:`again`
    returns goes on in the same recording.

    Args:
        inner: the transport, not started yet.
        recorder: makes the recording; the file is open from the start of a transport to its close.
    """

    def __init__(self, inner: Transport, recorder: Recorder) -> None:
        super().__init__(inner)
        self._recorder = recorder
        self._receiver: Receiver | None = None
        self._opening: asyncio.Task[None] | None = None
        self._connection: RecordedConnection | None = None

    def around(self, inner: Transport) -> RecordingTransport:
        return RecordingTransport(inner, self._recorder)

    # --- the stream -------------------------------------------------------------------------------------------------

    async def start(self, receiver: Receiver) -> None:
        """Start the other transport, and record from now on.

        Raises:
            InvalidInput: the recording cannot be written; nothing was started.
            StartFailed: as the other transport has it.
            InvalidState: likewise.
        """
        if self._opening is not None:
            raise InvalidState(f"the transport to `{self.description}` was started before")
        self._receiver = receiver
        self._opening = asyncio.create_task(self._open_recording(), name="open a recording")
        await asyncio.shield(self._opening)
        try:
            await self._inner.start(self)
        except BaseException as error:
            await self._end(f"not started: {type(error).__name__}: {_without_stderr(error)}")
            raise

    async def _open_recording(self) -> None:
        self._recorder.known.add(self.secrets)
        if self.launch is not None:
            self._recorder.known.add(secrets_of_command(self.launch.argv))
        self._connection = await asyncio.to_thread(self._recorder.connection, self._agent(), self._note())

    def write(self, data: bytes) -> None:
        self._inner.write(data)
        assert self._connection is not None
        self._connection.sent.put(data)

    async def close(self) -> None:
        """Close the other transport, and wait some seconds at most until the recording is written."""
        await self._inner.close()
        if self._opening is not None:
            await asyncio.wait([self._opening])  # its caller may have been cancelled
        await self._end(CLOSED_BY_HOST)

    async def _end(self, reason: str) -> None:
        connection = self._connection
        if connection is None:
            return
        self._say_end(reason)
        connection.close()
        await asyncio.to_thread(self._recorder.flush)

    # --- the transport's callbacks ----------------------------------------------------------------------------------

    def data_received(self, data: bytes) -> None:
        """Take bytes from the transport."""
        assert self._connection is not None
        assert self._receiver is not None
        self._connection.received.put(data)
        self._receiver.data_received(data)

    def connection_lost(self, error: AcpError | None) -> None:
        """Take the end of the transport."""
        if error is not None:
            self._say_end(_without_stderr(error))
        assert self._receiver is not None
        self._receiver.connection_lost(error)

    # --- remarks ----------------------------------------------------------------------------------------------------

    def _say_end(self, reason: str) -> None:
        assert self._connection is not None
        tail = self._inner.stderr_tail()[-_STDERR_TAIL:]
        self._connection.end(reason, exit_status=self._inner.exit_status, stderr=tail or None)

    def _agent(self) -> dict[str, Any]:
        launch = self._inner.launch
        if launch is None:
            return {"peer": command_without_secrets([self.peer])[0]}
        command: dict[str, Any] = {"command": command_without_secrets(launch.argv)}
        return command if launch.cwd is None else {**command, "cwd": launch.cwd}

    def _note(self) -> str:
        launch = self._inner.launch
        words = [self.peer] if launch is None else launch.argv
        return f"connects to {' '.join(command_without_secrets(words))}"


def _without_stderr(error: BaseException) -> str:
    return str(error).partition("\n---")[0]  # the end of stderr stands in a member of its own
