"""One command that runs for an agent, as the host and its views see it: :class:`TerminalProcess`.

Owns its output and its exit status, and sees to it that it ends: whatever the runner does, nobody waits for ever. Which
command runs where, and who may ask, is :mod:`acp_host.services.terminals`' work; how it runs is the runner's
(:mod:`acp_host.services.terminal_runner`).

The states, and what moves a terminal on::

    starting ──the runner has started it──▶ running ──the runner tells its end──▶ ended ──release()──▶ released
        │                                     └──end(): the runner ends it─────────▲
        └──the runner cannot──▶ failed

A command has ended when the runner says so; what it left in the background may still print, until it is released.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import threading
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any, cast

from acp_host.errors import InvalidInput, InvalidState, StartFailed
from acp_host.printable import one_line
from acp_host.services._output import OutputBuffer
from acp_host.services.terminal_runner import RunningCommand, TerminalCommand, TerminalRunner, TerminalSize
from acp_host.state.change_signal import Subscription
from acp_host.state.snapshot import TerminalView
from acp_host.wire._model import UNSET
from acp_host.wire.ids import TerminalId
from acp_host.wire.terminals import TerminalExitStatus

__all__ = ["TerminalListener", "TerminalProcess"]

_PATIENCE = 5.0
"""How long a start may still take when the terminal is to end, and an end to be told, in seconds."""
_END_LIMIT = 10.0
"""How long a runner has to end a command, in seconds."""
_UNHEARD = 1024 * 1024
"""How much output is kept for the first listener, in bytes."""
_MAX_CODE = 2**32 - 1
"""Largest exit code that there is; on Windows they have 32 bits."""
_MAX_COMMAND = 2_000
"""Longest command line that is shown, in characters."""

_logger = logging.getLogger("acp_host.services")

TerminalListener = Callable[["TerminalProcess", str], None]
"""Called when a command has begun, ended, was released, or has printed something: with that, else with ``""``."""


class TerminalProcess:
    """A command and its output. Made by a :class:`~acp_host.services.terminals.TerminalService`; read it freely.

    Attributes:
        terminal_id: the id that the agent knows it by.
        command: what runs where.
        exit_status: how the command ended; ``None`` while it runs.
        released: it is over, and the agent does not know it any more.
    """

    def __init__(self, terminal_id: TerminalId, command: TerminalCommand, *, output_limit: int) -> None:
        self.terminal_id = terminal_id
        self.command = command
        self.exit_status: TerminalExitStatus | None = None
        self.released = False
        self._buffer = OutputBuffer(output_limit)
        self._running: RunningCommand | None = None
        self._starting: asyncio.Task[Any] | None = None
        self._launched = asyncio.Event()
        self._ended = asyncio.Event()
        self._changed = asyncio.Event()
        self._listeners: dict[Subscription, TerminalListener] = {}
        self._unheard: OutputBuffer | None = OutputBuffer(_UNHEARD)

    # --- for readers ------------------------------------------------------------------------------------------------

    @property
    def session_id(self) -> str:
        """The session it belongs to."""
        return self.command.session_id

    @property
    def argv(self) -> tuple[str, ...]:
        """The program and its arguments; where a shell reads them, the one command line."""
        return self.command.argv

    @property
    def via_shell(self) -> bool:
        """Whether the platform's shell reads the command line, because the agent sent a whole one. Show it."""
        return self.command.via_shell

    @property
    def cwd(self) -> str:
        """The working directory."""
        return self.command.cwd

    @property
    def command_line(self) -> str:
        """What runs, as one would type it."""
        return self.command.command_line

    @property
    def shown_line(self) -> str:
        """:attr:`command_line` on one line, of bounded length, and harmless to a terminal."""
        return one_line(self.command_line, _MAX_COMMAND)

    @property
    def output(self) -> str:
        """What the command has printed so far, as far as it is kept."""
        return self._buffer.text()

    @property
    def truncated(self) -> bool:
        """Whether the beginning of the output is missing."""
        return self._buffer.truncated

    def view(self) -> TerminalView:
        """Return what a view shows of it now, with the output in one piece, as far as it is kept for the agent."""
        status, output = self.exit_status or TerminalExitStatus(), self.output
        return TerminalView(
            terminal_id=self.terminal_id,
            command=self.shown_line,
            via_shell=self.via_shell,
            output=(output,) if output else (),
            truncated=self.truncated,
            ended=self.exit_status is not None,
            exit_code=None if status.exit_code is UNSET else status.exit_code,
            signal=status.signal or None,
            released=self.released,
        )

    async def watch(self) -> AsyncIterator[TerminalView]:
        """Yield the present :meth:`view`, then the latest one after changes, until the release; never a backlog."""
        while True:
            changed, view = self._changed, self.view()
            yield view
            if view.released:
                return
            await changed.wait()

    def listen(self, listener: TerminalListener) -> Subscription:
        """Tell ``listener`` of every change from now on, and at once of what has been printed so far.

        Who comes first hears the last MiB of that, even if the agent wants less to be kept; later ones what is kept.
        A listener is called on the event loop's thread for every piece of output; it must not block. What it raises
        is logged.
        """
        printed = self.output if self._unheard is None else self._unheard.text()
        self._unheard = None

        def end() -> None:
            self._listeners.pop(subscription, None)

        subscription = Subscription(end)
        self._listeners[subscription] = listener
        self._call(listener, printed)
        return subscription

    async def wait(self) -> TerminalExitStatus:
        """Wait until the command has ended, and return how. Any number of tasks may wait."""
        await self._ended.wait()
        return cast("TerminalExitStatus", self.exit_status)

    # --- for the user -----------------------------------------------------------------------------------------------

    async def write(self, data: bytes) -> None:
        """Give the command what the user has typed: ``b"y\\n"``, ``b"\\x03"`` (Ctrl+C), ``b"\\x04"`` (end of input).

        Raises:
            InvalidState: it runs in no pseudo-terminal, or has ended.
            InvalidInput: ``data`` is no bytes.
        """
        if not isinstance(data, bytes | bytearray | memoryview):
            raise InvalidInput(f"what is typed into a terminal is bytes, not {type(data).__name__}")
        await self._now_running().write(bytes(data))

    def resize(self, size: TerminalSize) -> None:
        """Change the size of the pseudo-terminal.

        Raises:
            InvalidState: it runs in no pseudo-terminal, or has ended.
        """
        self._now_running().resize(size)

    async def end(self) -> None:
        """End the command and everything it started, as ``terminal/kill`` does: for a button that stops it.

        It is asked to end first, and killed after a second. Its output stays readable, and the agent is told of the end
        as of any other. Bounded in time; harmless when all of it has ended.

        A command whose end nobody tells, or whose runner fails to end it, counts as ended. When the task is cancelled,
        what still runs is killed at once.
        """
        await self._until_launched()
        if self._running is not None:
            await self._done(self._running.end())
            await _within(self._ended, _PATIENCE)
        self._finish(None, None)

    # --- for the service --------------------------------------------------------------------------------------------

    async def start(self, runner: TerminalRunner) -> None:
        """Have the command started; to be called once, in a task of its own.

        Raises:
            StartFailed: it cannot be launched; says why.
        """
        self._starting = asyncio.current_task()
        try:
            running = await runner.start(self.command, _Events(self))
            if not isinstance(running, RunningCommand):
                raise TypeError(f"a runner's start() must return a RunningCommand, not {running!r}")
            self._running = running
        except asyncio.CancelledError:
            raise StartFailed("the terminal was given up before its command had started") from None
        finally:
            if self._running is None:
                self._finish(None, None)
            self._launched.set()

    async def release(self) -> None:
        """End everything, as :meth:`end` does, and give back what is held for it."""
        try:
            await self.end()
            if self._running is not None:
                await self._done(self._running.release())
        finally:
            if not self.released:
                self.released = True
                self._tell("")

    # ----------------------------------------------------------------------------------------------------------------

    def _now_running(self) -> RunningCommand:
        if self._running is None or self.released:
            raise InvalidState("the command does not run")
        return self._running

    async def _until_launched(self) -> None:
        """Wait until the start has come to something; one that takes too long is given up."""
        if not await _within(self._launched, _PATIENCE) and self._starting is not None:
            self._starting.cancel()
            await _within(self._launched, _PATIENCE)

    async def _done(self, work: Awaitable[None]) -> None:
        """Have the runner do something that the host does not depend on; a failure is logged."""
        try:
            async with asyncio.timeout(_END_LIMIT):
                await work
        except Exception:
            _logger.exception("the runner of %r has not ended or released it; it counts as ended", self.shown_line)

    def _printed(self, data: bytes) -> None:
        if not self.released:
            self._tell(self._buffer.feed(data))

    def _finish(self, exit_code: int | None, signal: str | None) -> None:
        """Note how the command ended, once; neither code nor signal: nobody can tell."""
        if self.exit_status is None:
            rest = self._buffer.feed(b"", final=True)
            self.exit_status = TerminalExitStatus(exit_code=exit_code, signal=signal)
            self._ended.set()
            self._tell(rest)

    def _tell(self, printed: str) -> None:
        self._changed.set()
        self._changed = asyncio.Event()
        if self._unheard is not None:
            self._unheard.feed(printed.encode())  # for the moment between the launch and the first listener
        for listener in tuple(self._listeners.values()):
            self._call(listener, printed)

    def _call(self, listener: TerminalListener, printed: str) -> None:
        try:
            listener(self, printed)
        except (KeyboardInterrupt, SystemExit):
            raise
        except BaseException as error:
            _logger.error("a listener to a terminal failed: %r", listener, exc_info=error)


class _Events:
    """Brings to a terminal, on its thread, what its runner tells: see :class:`TerminalEvents`."""

    def __init__(self, terminal: TerminalProcess) -> None:
        self._terminal = terminal
        self._loop = asyncio.get_running_loop()
        self._thread = threading.get_ident()

    def printed(self, data: bytes | str) -> None:
        if isinstance(data, str):
            data = data.encode(errors="replace")
        if not isinstance(data, bytes | bytearray):
            raise InvalidInput(f"printed() takes bytes or text, not {type(data).__name__}")
        self._on_loop(self._terminal._printed, bytes(data))

    def ended(self, exit_code: int | None = None, signal: str | None = None) -> None:
        is_code = isinstance(exit_code, int) and not isinstance(exit_code, bool) and 0 <= exit_code <= _MAX_CODE
        if (exit_code is None or is_code) and isinstance(signal, str | None):
            self._on_loop(self._terminal._finish, exit_code, signal)
        else:
            self._on_loop(self._terminal._finish, None, None)
            raise InvalidInput(
                f"ended() takes an exit code of 32 bits and the name of a signal, not {exit_code!r}, {signal!r}"
            )

    def _on_loop(self, take: Callable[..., None], *values: Any) -> None:
        if threading.get_ident() == self._thread:
            take(*values)
        else:
            with contextlib.suppress(RuntimeError):  # the loop is closed: there is nobody left to tell
                self._loop.call_soon_threadsafe(take, *values)


async def _within(event: asyncio.Event, seconds: float) -> bool:
    """Wait for ``event``, at most ``seconds``; tell whether it is set."""
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await event.wait()
    return event.is_set()
