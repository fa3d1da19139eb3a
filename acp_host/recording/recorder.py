"""Writes a recording without holding anybody up: :class:`Recorder`.

Whoever moves bytes hands them over as they are: a reference, a time, and an entry in a queue. A thread takes them from
there, cuts them into messages, redacts and writes. If it falls behind, messages are left out and counted; if the disk
is full, that is told once, and tried again with what comes next.
"""

from __future__ import annotations

import atexit
import contextlib
import platform
import queue
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from acp_host._version import __version__
from acp_host.diagnostics import Diagnostic, DiagnosticKind
from acp_host.recording.file import RecordingFile
from acp_host.recording.format import MetaEvent, RecordedDirection
from acp_host.recording.lines import LineMaker
from acp_host.recording.redaction import LineRedactor
from acp_host.recording.settings import Recording
from acp_host.redaction import Redactor
from acp_host.wire.framing import LineFramer, Oversized

__all__ = ["RecordedConnection", "RecordedStream", "Recorder"]

MAX_WAITING = 16 * 2**20
"""Bytes of one direction that wait to be written at most; what comes then is left out."""

_PAUSE = 0.02
"""Seconds that the writer lets messages gather: it wakes seldom, and takes the interpreter from its owner seldom."""
_BATCH = 256
"""Entries that are written together."""
_LAST_LINES = 5.0
"""Seconds that the end of a recording waits for what is not written yet."""

_Entry = Callable[[], bytes]
"""Makes lines, on the thread that writes."""


class Recorder:
    """A recording that is being made, of one connection after the other, or of several at a time.

    The file is open while connections are. All of it may be called from any thread.

    Attributes:
        known: the secrets that it was told; more can be added at any time.

    Args:
        recording: where and how.
        known: where secrets are learnt; ``None`` for a redactor of its own.
        report: called, on a thread of the recorder's, with what went wrong; at most once for each sort of it.
    """

    def __init__(
        self,
        recording: Recording,
        *,
        known: Redactor | None = None,
        report: Callable[[Diagnostic], None] = lambda diagnostic: None,
    ) -> None:
        self._recording = recording
        self.known = known or Redactor()
        self._lines = LineMaker(LineRedactor(recording.redact, self.known), recording.max_line)
        self._report = report
        self._reported: set[str] = set()
        self._lock = threading.Lock()
        self._queue: queue.SimpleQueue[_Entry | None] = queue.SimpleQueue()
        self._hurry = threading.Event()
        self._thread: threading.Thread | None = None
        self._file: RecordingFile | None = None
        self._open = 0
        self._connections = 0
        self._began: float | None = None
        self._unwritten = 0

    def connection(self, agent: Mapping[str, Any], note: str) -> RecordedConnection:
        """Begin to record a connection, and open the file if it is the first one. Blocks.

        Args:
            agent: what is connected to, without secrets.
            note: the same for people.

        Raises:
            InvalidInput: the file cannot be written.
        """
        with self._lock:
            if self._open == 0:
                self._start()
            self._open += 1
            self._connections += 1
            made = RecordedConnection(self, self._connections)
        made.note(note, MetaEvent.CONNECTION, number=made.number, agent=agent)
        return made

    def _start(self) -> None:
        if self._thread is not None:
            self._thread.join(_LAST_LINES)
        self._queue, self._hurry = queue.SimpleQueue(), threading.Event()
        where = self._recording.path if self._file is None else self._file.path  # of a folder: the same file again
        self._file = RecordingFile(where, max_bytes=self._recording.max_bytes, max_files=self._recording.max_files)
        if self._began is None:
            self._began = time.monotonic()
            self._put_start()
        arguments = self._file, self._queue, self._hurry
        self._thread = threading.Thread(target=self._work, args=arguments, name="acp_host recording", daemon=True)
        self._thread.start()
        atexit.register(self._end_soon)

    def _put_start(self) -> None:
        versions = {"acp_host": __version__, "python": platform.python_version(), "platform": platform.platform()}
        at = datetime.now(UTC).isoformat(timespec="seconds")
        self.put(lambda: self._lines.meta(0.0, "the recording begins", MetaEvent.START, at=at, **versions))

    # --- for the connections ----------------------------------------------------------------------------------------

    def now(self) -> float:
        """Return the seconds since the recording began."""
        return time.monotonic() - (self._began or 0.0)

    def put(self, entry: _Entry) -> None:
        """Let the writer's thread make and write lines; never blocks."""
        self._queue.put(entry)

    @property
    def lines(self) -> LineMaker:
        """Makes the lines, on the writer's thread."""
        return self._lines

    def release(self) -> None:
        """End a connection; with the last one the file is closed once all is written. Does not wait for that."""
        with self._lock:
            self._open -= 1
            if self._open == 0:
                self._end_soon(wait=False)

    def _end_soon(self, wait: bool = True) -> None:
        self._queue.put(None)
        self._hurry.set()
        if wait and self._thread is not None:
            self._thread.join(_LAST_LINES)
        atexit.unregister(self._end_soon)

    def flush(self) -> None:
        """Wait until the recording is written, if no connection is open. Blocks, for some seconds at most."""
        with self._lock:
            thread = self._thread if self._open == 0 else None
        if thread is not None:
            thread.join(_LAST_LINES)
            if thread.is_alive():
                self._tell("slow", f"it was not written within {_LAST_LINES:g} s, and its end may be missing")

    # --- the writer's thread ----------------------------------------------------------------------------------------

    def _work(self, file: RecordingFile, waiting: queue.SimpleQueue[_Entry | None], hurry: threading.Event) -> None:
        batch: list[_Entry | None] = []
        while None not in batch:
            batch = _next_batch(waiting)
            self._write(file, [self._made(entry) for entry in batch if entry is not None])
            if waiting.empty():
                hurry.wait(_PAUSE)
        with contextlib.suppress(OSError):
            file.close()

    def _made(self, entry: _Entry) -> bytes:
        try:
            return entry()
        except Exception as error:  # a fault of this library: the recording goes on without the message
            self._tell("fault", f"a message is missing in it: {type(error).__name__}")
            return b""

    def _write(self, file: RecordingFile, pieces: list[bytes]) -> None:
        missing, now = self._unwritten, self.now()
        if missing:
            note = f"up to {missing} lines not recorded: they could not be written"
            pieces = [self._lines.meta(now, note, MetaEvent.NOT_RECORDED, count=missing), *pieces]
        try:
            file.write(pieces, now)
            self._unwritten = 0
        except OSError as error:
            self._unwritten = missing + sum(piece.count(b"\n") for piece in pieces) - bool(missing)
            self._tell("disk", f"messages are missing in it: {error.strerror or error}")

    def _tell(self, sort: str, text: str) -> None:
        if sort in self._reported:
            return
        self._reported.add(sort)
        path = self._file.path if self._file is not None else self._recording.path
        with contextlib.suppress(Exception):  # e.g. the loop that is to be told has gone
            self._report(Diagnostic(DiagnosticKind.RECORDING, f"the recording {path}: {text}"))


def _next_batch(waiting: queue.SimpleQueue[_Entry | None]) -> list[_Entry | None]:
    """Wait for an entry, and return it with those that are there by then; ``None`` is the last one of all."""
    batch = [waiting.get()]
    while batch[-1] is not None and len(batch) < _BATCH and not waiting.empty():
        batch.append(waiting.get())
    return batch


class RecordedConnection:
    """One process or connection in a recording.

    Attributes:
        number: which one of the recording it is, from 1.
        received: what comes from the agent.
        sent: what goes to it.
    """

    def __init__(self, recorder: Recorder, number: int) -> None:
        self.number = number
        self._recorder = recorder
        self.received = RecordedStream(recorder, RecordedDirection.IN)
        self.sent = RecordedStream(recorder, RecordedDirection.OUT)
        self._ended = False
        self._released = False

    def note(self, text: str, event: str, **details: Any) -> None:
        """Write a remark."""
        lines, now = self._recorder.lines, self._recorder.now()
        self._recorder.put(lambda: lines.meta(now, text, event, **details))

    def end(self, text: str, **details: Any) -> None:
        """Say once why it is over, after what was not a whole line yet."""
        if not self._ended:
            self._ended = True
            self.received.end()
            self.sent.end()
            self.note(text, MetaEvent.END, **{name: value for name, value in details.items() if value is not None})

    def close(self) -> None:
        """Let go of the recording; does not wait. May be called repeatedly."""
        if not self._released:
            self._released = True
            self._recorder.release()


class RecordedStream:
    """One direction of a connection: takes bytes, split anywhere, from one thread."""

    def __init__(self, recorder: Recorder, direction: RecordedDirection) -> None:
        self._recorder = recorder
        self._direction = direction
        self._put = 0  # counted by the thread that hands over
        self._taken = 0  # counted by the thread that writes
        self._lost = 0
        self._lost_inside = False
        self._framer = LineFramer()
        self._skips_rest = False

    def put(self, data: bytes) -> None:
        """Hand over what was moved just now; never blocks."""
        waiting = self._put - self._taken
        if waiting and waiting + len(data) > MAX_WAITING:
            self._lost += data.count(b"\n")
            self._lost_inside = not data.endswith(b"\n")
            return
        if self._lost or self._lost_inside:
            self._put_gap()
        self._put += len(data)
        now = self._recorder.now()
        self._recorder.put(lambda: self._lines(data, now))

    def end(self) -> None:
        """Write what is left of a line that did not end."""
        if self._lost or self._lost_inside:
            self._put_gap()
        now = self._recorder.now()
        self._recorder.put(lambda: self._made(self._framer.eof(), now))

    def _put_gap(self) -> None:
        count, inside, now = self._lost + self._lost_inside, self._lost_inside, self._recorder.now()
        self._lost, self._lost_inside = 0, False
        self._recorder.put(lambda: self._gap(count, inside, now))

    # --- on the writer's thread -------------------------------------------------------------------------------------

    def _lines(self, data: bytes, now: float) -> bytes:
        self._taken += len(data)
        if self._skips_rest:
            _, newline, data = data.partition(b"\n")
            self._skips_rest = not newline
        return self._made(self._framer.feed(data), now)

    def _made(self, found: Sequence[bytes | Oversized], now: float) -> bytes:
        make, direction = self._recorder.lines.line, self._direction
        return b"".join([make(direction, now, line) for line in found])

    def _gap(self, count: int, inside: bool, now: float) -> bytes:
        self._framer = LineFramer()  # what was begun before it has no end
        self._skips_rest = inside
        note = f"{count} message{'' if count == 1 else 's'} not recorded: the recording could not keep up"
        return self._recorder.lines.meta(now, note, MetaEvent.NOT_RECORDED, count=count, of=self._direction)
