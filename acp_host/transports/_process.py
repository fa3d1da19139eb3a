"""The launched process as asyncio shows it: what its three pipes and its end have said so far.

:class:`AgentProcess` is the ``SubprocessProtocol`` behind a stdio transport. It turns callbacks into events that one
can wait for and hands on stdout as it comes. It decides nothing: whether the connection is over, its owner says.
"""

from __future__ import annotations

import asyncio
import contextlib
import sys
from collections.abc import Callable
from typing import Any, cast

from acp_host.transports._ring import ByteRing, LineDecoder

__all__ = ["AgentProcess", "within"]

_STDIN, _STDOUT, _STDERR = 0, 1, 2
_PIPE_SIZE = 256 * 1024  # more would eat up what a user's pipes may hold in all
_PIECE = 96 * 1024  # sessions are quickest with it, of all sizes up to asyncio's own
_STDERR_KEPT = 64 * 1024


async def within(event: asyncio.Event, seconds: float) -> bool:
    """Wait for ``event``, at most ``seconds``; tell whether it is set."""
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await event.wait()
    return event.is_set()


class AgentProcess(asyncio.SubprocessProtocol):
    """One process with pipes at stdin, stdout and stderr.

    Attributes:
        stderr: the last 64 KiB of stderr.
        pid: the process id; ``None`` before the start.
        received: bytes that came from stdout so far.
        returncode: exit code, negative for a signal; ``None`` while the process runs.
        unsent: what the pipe's end cut off: the size of the message that could not be written whole, else 0.
        stirred: set when stdin is lost, stdout has ended or the process has exited, whichever comes first.
        exited: set when the process itself has exited; others may still hold its pipes.
        stdin_lost: set when nobody reads stdin any more.
        stdout_ended: set when nobody can write to stdout any more.
        stderr_ended: the same for stderr.
        writable: set unless writers should wait.
        gone: set when the process has exited and all pipes are closed.

    Args:
        on_stdout: takes the bytes of stdout.
        on_stderr: takes each line of stderr, or ``None`` if nobody wants them.
    """

    def __init__(self, on_stdout: Callable[[bytes], None], on_stderr: Callable[[str], None] | None) -> None:
        self._on_stdout = on_stdout
        self._on_stderr = on_stderr
        self._lines = LineDecoder()
        self._transport: asyncio.SubprocessTransport | None = None
        self._last_write = 0
        self.stderr = ByteRing(_STDERR_KEPT)
        self.pid: int | None = None
        self.received = 0
        self.returncode: int | None = None
        self.unsent = 0
        self.stirred = asyncio.Event()
        self.exited = asyncio.Event()
        self.stdin_lost = asyncio.Event()
        self.stdout_ended = asyncio.Event()
        self.stderr_ended = asyncio.Event()
        self.writable = asyncio.Event()
        self.writable.set()
        self.gone = asyncio.Event()

    # What the owner does

    @property
    def queued(self) -> int:
        """Bytes that wait to be read from stdin, those in the pipe itself not counted."""
        pipe = self._stdin()
        return 0 if pipe is None else pipe.get_write_buffer_size()

    def write(self, data: bytes) -> None:
        """Queue ``data`` for stdin."""
        pipe = self._stdin()
        if pipe is not None:
            self._last_write = len(data)
            pipe.write(data)

    def close_stdin(self) -> None:
        """Close stdin once what is queued has been read."""
        pipe = self._stdin()
        if pipe is not None:
            pipe.close()

    def abandon(self) -> None:
        """Close all pipes at once, whoever holds their other ends."""
        stdin = self._stdin()
        if stdin is not None and stdin.get_write_buffer_size():
            stdin.abort()  # a plain close would wait for a reader
        for fd in (_STDIN, _STDOUT, _STDERR):
            pipe = None if self._transport is None else self._transport.get_pipe_transport(fd)
            if pipe is not None:
                pipe.close()

    # What asyncio calls

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.SubprocessTransport, transport)
        self.pid = self._transport.get_pid()
        _tune(self._transport.get_pipe_transport(_STDOUT))

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        if fd == _STDOUT:
            self.received += len(data)
            self._on_stdout(data)
        else:
            self.stderr.append(data)
            self._show(data)

    def pipe_connection_lost(self, fd: int, exc: Exception | None) -> None:
        if fd == _STDIN:
            if exc is not None:
                self.unsent = self._last_write
            self.stdin_lost.set()
            self.stirred.set()
            self.writable.set()
        elif fd == _STDOUT:
            self.stdout_ended.set()
            self.stirred.set()
        else:
            self._show(b"", final=True)
            self.stderr_ended.set()

    def process_exited(self) -> None:
        if self._transport is not None:
            self.returncode = self._transport.get_returncode()
        self.exited.set()
        self.stirred.set()

    def connection_lost(self, exc: Exception | None) -> None:
        if self._transport is not None:
            self._transport.close()  # not before the process is reaped: that would lose its exit status
        self.gone.set()

    def pause_writing(self) -> None:
        self.writable.clear()

    def resume_writing(self) -> None:
        self.writable.set()

    def _stdin(self) -> asyncio.WriteTransport | None:
        if self._transport is None or self.stdin_lost.is_set():
            return None
        return cast("asyncio.WriteTransport | None", self._transport.get_pipe_transport(_STDIN))

    def _show(self, data: bytes, *, final: bool = False) -> None:
        if self._on_stderr is not None:
            for line in self._lines.feed(data, final=final):
                self._on_stderr(line)


def _tune(pipe: Any) -> None:
    """Let the pipe hold more before the agent has to wait for us, but read it in small pieces.

    What is decoded from one piece is alive at the same time. With asyncio's pieces of 256 KiB that is thousands of
    objects, and the garbage collector goes through the whole heap for them; with these it has little to do.
    """
    with contextlib.suppress(AttributeError):  # a loop that is not asyncio's own
        pipe.max_size = _PIECE
    if sys.platform == "linux":
        import fcntl

        # OSError: this user's limit on pipes; AttributeError: a loop that does not show its pipes; ValueError: the pipe
        # of a program that ended at once is closed already.
        with contextlib.suppress(OSError, AttributeError, ValueError):
            fcntl.fcntl(pipe.get_extra_info("pipe").fileno(), fcntl.F_SETPIPE_SZ, _PIPE_SIZE)
