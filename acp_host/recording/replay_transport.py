"""The agent's part of a recording, played to a host: :class:`ReplayTransport`, for tests without the agent.

The recorded agent goes on only when the host has said what the recorded host said: messages of the host are matched
with those of the recording, ids and directories are mapped, and a host that says something else is told what was
expected. ::

    async with acp_host.connect(ReplayTransport("talk.jsonl")) as host:
        session = await host.new_session()
        result = await session.prompt("Fix the failing test")

When a message is taken for a recorded one, :mod:`acp_host.recording.matching` says.
"""

from __future__ import annotations

import asyncio
import os
from collections import deque
from collections.abc import Mapping, Sequence
from typing import IO, Any

from acp_host.diagnostics import excerpt
from acp_host.errors import ConnectionClosed, ConnectionLost, InvalidInput, InvalidState
from acp_host.recording.exact_json import loads
from acp_host.recording.format import (
    CLOSED_BY_HOST,
    END_OF_STREAM,
    MetaEvent,
    RecordedDirection,
    RecordedLine,
    read_recording,
)
from acp_host.recording.matching import ReplayMatch, is_recorded
from acp_host.recording.recorded_directories import RecordedDirectories
from acp_host.recording.recorded_ids import RecordedIds
from acp_host.transports import Receiver, Transport
from acp_host.wire.codec import encode

__all__ = ["ReplayDiverged", "ReplayTransport"]

_SHOWN = 300


class ReplayDiverged(ConnectionLost):
    """The host does not say what the host of the recording said.

    Attributes:
        line: number of the line of the recording that was expected; ``None`` where nothing was.
    """

    def __init__(self, problem: str, line: int | None = None) -> None:
        super().__init__(problem)
        self.line = line


class ReplayTransport(Transport):
    """Plays the recorded agent, in lock-step with a host.

    A recording of several connections is played one by one: after a restart or a reconnection, the next one.

    Args:
        recording: its path, a file that is open for bytes, or its lines.
        match: one of :class:`~acp_host.recording.matching.ReplayMatch`.
        patience: seconds that the host may take for what comes next once it has sent what comes later.

    Attributes:
        divergence: how the host left the recording; ``None`` as long as it has not.

    Raises:
        InvalidInput: an argument is wrong.
    """

    def __init__(
        self,
        recording: str | os.PathLike[str] | IO[bytes] | Sequence[RecordedLine],
        *,
        match: ReplayMatch | str = ReplayMatch.PARAMS,
        patience: float = 10.0,
    ) -> None:
        if match not in tuple(ReplayMatch):
            raise InvalidInput(f"match is one of {', '.join(ReplayMatch)}, not {match!r}")
        self.description = "the recorded agent"
        self.divergence: ReplayDiverged | None = None
        self._recording = recording
        self._match = ReplayMatch(match)
        self._patience = patience
        self._ids = RecordedIds()
        self._directories = RecordedDirectories()
        self._later: deque[RecordedLine] = deque()
        self._following: deque[RecordedLine] = deque()
        self._expected: list[RecordedLine] = []
        self._sent: list[dict[str, Any]] = []
        self._asked: dict[Any, str] = {}
        self._receiver: Receiver | None = None
        self._handle: asyncio.Handle | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._is_read = False
        self._over = False
        self._closed = False

    # --- the transport ----------------------------------------------------------------------------------------------

    def again(self, env: Mapping[str, str]) -> Transport | None:
        """Return what plays the next connection of the recording; ``None`` if there was none."""
        if not self._following:
            return None
        other = ReplayTransport((), match=self._match, patience=self._patience)
        other._ids, other._directories, other._is_read = self._ids, self._directories, True
        other._ids.forget_requests()
        other._take_connection(self._following)
        return other

    async def start(self, receiver: Receiver) -> None:
        """Begin to play.

        Raises:
            InvalidInput: the recording cannot be read.
            InvalidState: the transport was started or closed before.
        """
        if self._receiver is not None or self._closed:
            raise InvalidState("this replay was started or closed before; make another one")
        self._receiver = receiver
        if not self._is_read:
            self._is_read = True
            self._take_connection(deque(await asyncio.to_thread(_read, self._recording)))
        self._go_on()

    def write(self, data: bytes) -> None:
        """Take messages of the host; for the rest as every transport."""
        self._check()
        self._sent += [loads(line, lenient=True) for line in data.splitlines() if line.strip()]
        self._go_on()

    async def drain(self) -> None:
        """Wait for nothing."""
        self._check()

    async def close(self) -> None:
        """End the replay."""
        if not self._closed:
            self._closed = True
            self._end(None)

    def check_finished(self) -> None:
        """Check that the recording was played to its end.

        Raises:
            ReplayDiverged: the host left it, or did not say all that the recorded host said.
        """
        if self.divergence is not None:
            raise self.divergence
        left = [*self._expected, *(line for line in self._later if line.direction == RecordedDirection.OUT)]
        if left:
            text = f"the recording was not played to its end: the host never sent {_shown(left[0].message)}"
            raise ReplayDiverged(text, left[0].number)

    def _check(self) -> None:
        if self._closed:
            raise ConnectionClosed("this replay is closed")
        if self._receiver is None:
            raise InvalidState("this replay is not started")
        if self._over:
            raise self.divergence or ConnectionLost("the recorded connection has ended")

    # --- playing ----------------------------------------------------------------------------------------------------

    def _take_connection(self, lines: deque[RecordedLine]) -> None:
        """Keep the lines up to the next connection, and those behind them apart."""
        while lines:
            if lines[0].begins_connection and self._later:
                self._following = lines
                return
            line = lines.popleft()
            if line.problem is None and (line.direction != RecordedDirection.META or line.event == MetaEvent.END):
                self._later.append(line)

    def _go_on(self) -> None:
        if self._handle is None and not self._over:
            self._handle = asyncio.get_running_loop().call_soon(self._play)

    def _play(self) -> None:
        """Play until the host has to say something."""
        self._handle = None
        while not self._over:
            self._match_sent()
            if self._expected:
                self._wait_for_host()
                return
            self._stop_timer()
            if not self._later:
                self._check_nothing_sent()
                return
            self._play_line(self._later.popleft())

    def _play_line(self, line: RecordedLine) -> None:
        assert self._receiver is not None
        if line.direction == RecordedDirection.OUT:
            if isinstance(line.message, dict):
                self._expected.append(line)
            while self._later and self._later[0].direction == RecordedDirection.OUT:
                following = self._later.popleft()
                self._expected += [following] if isinstance(following.message, dict) else []
        elif line.direction == RecordedDirection.META:
            if line.note != CLOSED_BY_HOST:
                self._end(ConnectionLost(line.note or "the recorded connection has ended"))
        elif isinstance(line.message, dict):
            self._play_message(line.message, line.number)
        elif line.raw is not None and line.raw != END_OF_STREAM:
            self._receiver.data_received(f"{line.raw}\n".encode("utf-8", "replace"))

    def _play_message(self, recorded: dict[str, Any], number: int) -> None:
        assert self._receiver is not None
        try:
            message = self._directories.as_now(self._ids.translated(recorded))
            data = encode(message)
        except (InvalidInput, RecursionError) as error:
            self._end_diverged(f"line {number} of the recording cannot be played: {error}", number)
            return
        if "method" in message and isinstance(message.get("id"), str | int | float):
            self._asked[message["id"]] = str(message["method"])
        self._receiver.data_received(data)

    def _match_sent(self) -> None:
        for message in tuple(self._sent):
            line = next((line for line in self._expected if self._is_one(line.message, message)), None)
            if line is not None:
                self._expected.remove(line)
                self._sent.remove(message)
                self._ids.bind(line.message, message)
                self._directories.learn(line.message, message)

    def _wait_for_host(self) -> None:
        """Wait for what the host has to say; what it will say nowhere in the recording is a divergence."""
        for message in self._sent:
            if not any(self._is_one(line.message, message) for line in self._later if _is_message_of_host(line)):
                self._diverge(self._expected[0], message)
                return
        if self._sent and self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(self._patience, self._lose_patience)

    def _check_nothing_sent(self) -> None:
        if self._sent:
            self._end_diverged(f"the recording has ended, and the host sent {_shown(self._sent[0])}")

    def _lose_patience(self) -> None:
        line = self._expected[0]
        sent = f"{self._patience:g} s after it had sent {_shown(self._sent[0])}, which comes later"
        text = f"the host has not sent {_shown(line.message)} (line {line.number}), {sent}"
        self._end_diverged(text, line.number)

    def _diverge(self, line: RecordedLine, message: Mapping[str, Any]) -> None:
        expected = f"expected {_shown(line.message)} (line {line.number})"
        self._end_diverged(f"the host left the recording: {expected}, got {_shown(message)}", line.number)

    def _end_diverged(self, text: str, line: int | None = None) -> None:
        self.divergence = ReplayDiverged(text, line)
        self._end(self.divergence)

    def _end(self, error: ConnectionLost | None) -> None:
        self._stop_timer()
        if self._handle is not None:
            self._handle.cancel()
        if not self._over and self._receiver is not None:
            self._over = True
            self._receiver.connection_lost(error)

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _is_one(self, recorded: Mapping[str, Any], message: Mapping[str, Any]) -> bool:
        """Tell whether a message of the host is a recorded one."""
        as_recorded = self._directories.as_recorded(message)
        return is_recorded(recorded, as_recorded, self._match, answers=self._asked.get(recorded.get("id")))


def _read(recording: str | os.PathLike[str] | IO[bytes] | Sequence[RecordedLine]) -> list[RecordedLine]:
    if isinstance(recording, Sequence) and not isinstance(recording, str):
        return list(recording)
    return list(read_recording(recording))


def _is_message_of_host(line: RecordedLine) -> bool:
    return line.direction == RecordedDirection.OUT and isinstance(line.message, dict)


def _shown(message: Any) -> str:
    """Return a message for people, of bounded length."""
    return excerpt(encode(message).strip())[:_SHOWN]
