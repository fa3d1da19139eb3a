"""Stands between a host and an agent on stdio: :func:`run_proxy`.

Bytes pass as they come, in both directions and on stderr, and are recorded on the way. To the host the proxy is the
agent: it ends when the agent has ended and all that it wrote is passed on, with the agent's own exit status, and
signals reach the agent. What the agent has left behind, and holds its stdout, keeps nobody waiting. To the agent it is
the host: its stdin ends when the host's does.
"""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import FrameType
from typing import Any

from acp_host.recording import MetaEvent, Recorder, Recording
from acp_host.recording.format import CLOSED_BY_HOST
from acp_host.recording.recorder import RecordedConnection
from acp_host.recording.redaction import command_without_secrets
from acp_host.redaction import secrets_of_command
from acp_host.transports import Launch
from acp_host.transports._ring import LineDecoder

__all__ = ["end_like", "run_proxy"]

_PIECE = 64 * 1024
_SILENCE = 0.5
"""Seconds in which nothing comes from an agent that has ended, after which nothing will."""
_PASSED_ON = tuple(
    getattr(signal, name) for name in ("SIGTERM", "SIGHUP", "SIGINT", "SIGQUIT", "SIGBREAK") if hasattr(signal, name)
)


async def run_proxy(argv: Sequence[str], recording: Recording, *, env: Mapping[str, str] | None = None) -> int:
    """Run an agent between this process's stdin, stdout and stderr, and return its exit status as a parent sees it.

    Args:
        argv: the agent's command, run directly and not by a shell.
        recording: where the conversation is recorded.
        env: variables added to this process's environment for the agent.

    Raises:
        InvalidInput: the recording cannot be written; nothing was started.
        StartFailed: the agent cannot be started.
    """
    launch = Launch.of(argv, None, env, inherit_env=True)
    recorder = Recorder(recording, report=lambda each: print(f"acp-host: {each.message}", file=sys.stderr))
    recorder.known.add(secrets_of_command(argv))
    command = command_without_secrets(argv)
    recorded = await asyncio.to_thread(recorder.connection, {"command": command}, f"connects to {' '.join(command)}")
    status: int | None = None
    by_host = threading.Event()
    try:
        agent = _started(launch)
        with _signals_to(agent, by_host):
            status = await _passed(agent, recorded, by_host)
    finally:
        ended = CLOSED_BY_HOST if by_host.is_set() else "the agent has ended"
        recorded.end("not started" if status is None else ended, exit_status=status)
        recorded.close()
        await asyncio.to_thread(recorder.flush)
    return status


def end_like(status: int) -> int:
    """End this process by the signal that ended the agent, if one did; else return the exit status to end with."""
    if status < 0 and sys.platform != "win32":
        signal.signal(-status, signal.SIG_DFL)
        os.kill(os.getpid(), -status)
    return status if status >= 0 else 128 - status


def _started(launch: Launch) -> subprocess.Popen[bytes]:
    env = launch.environment()
    try:
        return subprocess.Popen(
            launch.command(env),
            env=env,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,
        )
    except (OSError, ValueError) as error:
        raise launch.explain(error, env) from error


async def _passed(agent: subprocess.Popen[bytes], recorded: RecordedConnection, by_host: threading.Event) -> int:
    """Pass everything on until the agent has ended and has nothing more to say; return its exit status."""
    stdin, stdout, errors = agent.stdin, agent.stdout, agent.stderr
    assert stdin is not None
    assert stdout is not None
    assert errors is not None
    lines = LineDecoder()

    def note(data: bytes) -> None:
        for line in lines.feed(data, final=not data):
            if line:
                recorded.note(line, MetaEvent.STDERR)

    def host_ended() -> None:
        if agent.poll() is None:
            by_host.set()

    def no_more_to_agent() -> None:
        stdin.close()
        with open(os.devnull, "rb") as nothing:
            os.dup2(nothing.fileno(), 0)  # what the host still writes is refused, as the agent would

    _Pump(0, stdin.fileno(), recorded.sent.put, no_more_to_agent, host_ended).start()  # it may wait for ever
    to_host = [
        _Pump(stdout.fileno(), 1, recorded.received.put, stdout.close),
        _Pump(errors.fileno(), 2, note, errors.close),
    ]
    for pump in to_host:
        pump.start()
    try:
        status = await asyncio.to_thread(agent.wait)
        for pump in to_host:
            await asyncio.to_thread(pump.finish)
        note(b"")  # a last line may have no end
        return status
    except BaseException:
        agent.kill()
        raise


class _Pump(threading.Thread):
    """A thread that passes on what it reads until there is no more, or nobody who takes it."""

    def __init__(
        self,
        source: int,
        sink: int,
        record: Callable[[bytes], None],
        then: Callable[[], None],
        at_end: Callable[[], None] = lambda: None,
    ) -> None:
        super().__init__(name=f"pass on {source}", daemon=True)
        self._source, self._sink = source, sink
        self._record, self._then, self._at_end = record, then, at_end
        self._waits_since: float | None = None

    def run(self) -> None:
        try:
            while data := self._read():
                self._record(data)
                view = memoryview(data)
                while view:
                    view = view[os.write(self._sink, view) :]
            self._at_end()
        except OSError:
            pass  # the other side is gone
        finally:
            self._then()

    def finish(self) -> None:
        """Wait until all is passed on that was there when the writer ended, though others may keep its end open."""
        while self.is_alive():
            self.join(_SILENCE / 5)
            waits_since = self._waits_since
            if waits_since is not None and time.monotonic() - waits_since > _SILENCE:
                return

    def _read(self) -> bytes:
        self._waits_since = time.monotonic()
        try:
            return os.read(self._source, _PIECE)
        finally:
            self._waits_since = None


@contextmanager
def _signals_to(agent: subprocess.Popen[bytes], by_host: threading.Event) -> Iterator[None]:
    """Let the agent decide what to do about the signals that this process gets."""

    def pass_on(number: int, _frame: FrameType | None) -> None:
        at_a_terminal = number == signal.SIGINT and os.isatty(0)  # then the agent got it by itself
        if agent.poll() is None:
            by_host.set()
            if not at_a_terminal:
                agent.send_signal(number)

    before: dict[int, Any] = {}
    if threading.current_thread() is threading.main_thread():
        before = {number: signal.signal(number, pass_on) for number in _PASSED_ON}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
