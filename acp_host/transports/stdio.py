"""An agent as a child process, spoken to over stdin and stdout: :class:`StdioTransport`.

Owns the process with all its descendants, from launch to a stop that leaves nothing behind, and what is said about it
when it ends. Bytes go straight from the pipe to the receiver; there is no limit on a line and no buffer of ours.

When is the connection lost? When stdout has ended, whatever became of the process. Many agents are a small launcher and
the real process behind it, and the launcher may die first while the other still holds stdout: then the connection lives
on as long as any member of the process tree does. And an agent that has closed its stdin, but not its stdout, may still
say how a turn ended; it is lost when it has been silent for :data:`_LAST_WORDS` seconds.
"""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import weakref
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import attrs
from attrs import frozen

from acp_host.diagnostics import Diagnostic, DiagnosticKind
from acp_host.errors import ConnectionClosed, ConnectionLost, InvalidState, TransportError
from acp_host.transports._base import Receiver, Transport
from acp_host.transports._callbacks import call_back
from acp_host.transports._launch import Launch, Launcher, relaunched
from acp_host.transports._process import AgentProcess, within
from acp_host.transports.leftovers import end_leftovers, record
from acp_host.transports.process_tree import ProcessTree, wait_until_gone
from acp_host.validators import number

__all__ = ["StdioTransport", "StopTimeouts"]

_SETTLE = 0.5
"""Seconds that an error waits for what it can say more: that the process has just died, the rest of stderr."""
_EXITS = 3.0
"""Seconds that the end of stdout waits for the exit status: an interpreter closes stdout first, then clears up, which
takes it a while on a busy machine."""
_LOOK_AGAIN = 2.0
"""Longest time between two looks at who still holds stdout after the launched process has exited, in seconds."""
_LAST_WORDS = 5.0
"""Seconds of silence after which an agent that takes no more messages counts as lost (R89)."""
_ERROR_TAIL = 8 * 1024
"""Bytes of stderr that an error carries."""
_SECONDS = number("seconds", least=0)


@frozen(kw_only=True)
class StopTimeouts:
    """How long each step of ending an agent may take, in seconds. A step of 0 is not waited for.

    Attributes:
        exit: from closing stdin, for the agent to end by itself. Several agents need about 2 s to save their sessions.
        terminate: from asking its processes to end (SIGTERM; Ctrl+Break on Windows).
        kill: from ending them by force, for the system to do so.
    """

    exit: float = attrs.field(default=3.0, validator=_SECONDS)
    terminate: float = attrs.field(default=2.0, validator=_SECONDS)
    kill: float = attrs.field(default=2.0, validator=_SECONDS)


class StdioTransport(Transport):
    """Launches an agent and moves bytes to its stdin and from its stdout.

    The command is run directly, never through a shell; the child gets pipes of its own and a session of its own (a job
    object on Windows), so that nothing reaches the terminal of the host and the whole tree can be ended. Its stderr is
    always read; the last 64 KiB are kept.

    If the interpreter or the event loop ends without :meth:`close`, the process tree is killed.

    Args:
        argv: program and arguments. A bare name is looked up in ``PATH``; on Windows also with the extensions of
            ``PATHEXT``, and a batch file is run by ``cmd.exe`` with its arguments quoted.
        cwd: the agent's working directory; the current one by default.
        env: environment variables added over those inherited; ``None`` as a value takes a variable away.
        inherit_env: whether the host's environment is inherited at all.
        launcher: called in a thread just before the start; what it returns is launched in place of all this, e.g. the
            command in a sandbox, see :mod:`acp_host.sandbox`. Where it fails, nothing is started.
        timeouts: how long :meth:`close` waits at each step.
        on_stderr: called with each line of stderr as it comes, e.g. to show what a slow first start is doing. A line
            longer than 8192 characters comes in pieces.
        on_diagnostic: called with what went otherwise than it should but is no error, e.g. a process that had to be
            killed.
        records: a directory in which the running agent is written down, so that the next start of any host with this
            directory ends it if this one is killed; see :mod:`acp_host.transports.leftovers`.

    Raises:
        InvalidInput: the command or environment can never be launched.
    """

    def __init__(
        self,
        argv: Sequence[str | os.PathLike[str]],
        *,
        cwd: str | os.PathLike[str] | None = None,
        env: Mapping[str, str | None] | None = None,
        inherit_env: bool = True,
        launcher: Launcher | None = None,
        timeouts: StopTimeouts | None = None,
        on_stderr: Callable[[str], None] | None = None,
        on_diagnostic: Callable[[Diagnostic], None] | None = None,
        records: str | os.PathLike[str] | None = None,
    ) -> None:
        self._launch = Launch.of(argv, cwd, env, inherit_env)
        self.description = self._launch.description
        self._launcher = launcher
        self._timeouts = timeouts or StopTimeouts()
        self._on_stderr = on_stderr
        self._on_diagnostic = on_diagnostic
        self._records = records
        self._record: Path | None = None
        self._receiver: Receiver | None = None
        self._process = AgentProcess(self._deliver, None if on_stderr is None else self._show)
        self._tree: ProcessTree | None = None
        self._net: weakref.finalize[[], StdioTransport] | None = None
        self._starting: asyncio.Task[None] | None = None
        self._supervisor: asyncio.Task[None] | None = None
        self._closer: asyncio.Task[None] | None = None
        self._started = False
        self._reported = False

    # State

    @property
    def pid(self) -> int | None:
        """Id of the launched process, also after its end; ``None`` before the start."""
        return self._process.pid

    @property
    def exit_status(self) -> int | None:
        """Exit code of the launched process, negative for a signal; ``None`` while it runs.

        A launcher may have exited while the agent behind it lives: this says nothing about the connection.
        """
        return self._process.returncode

    @property
    def queued(self) -> int:
        return self._process.queued

    def stderr_tail(self) -> str:
        """Return the last 64 KiB of stderr as text, invalid UTF-8 as U+FFFD."""
        return self._process.stderr.text()

    @property
    def launch(self) -> Launch:
        return self._launch

    def again(self, env: Mapping[str, str]) -> StdioTransport:
        return StdioTransport(
            self._launch.argv,
            cwd=self._launch.cwd,
            env={**self._launch.env, **env},
            inherit_env=self._launch.inherit_env,
            timeouts=self._timeouts,
            on_stderr=self._on_stderr,
            on_diagnostic=self._on_diagnostic,
            records=self._records,
            launcher=self._launcher,
        )

    def as_started(self, launch: Launch) -> Launch:
        return launch if self._launcher is None else relaunched(launch, self._launcher)

    # Start

    async def start(self, receiver: Receiver) -> None:
        """Launch the agent.

        A caller that is cancelled waits until the process that may exist already is gone.

        Raises:
            StartFailed: the process cannot be started; the message says why and what to do.
            InvalidState: the transport was started or closed before.
        """
        if self._receiver is not None or self._closer is not None:
            raise InvalidState(f"the transport to `{self.description}` was started or closed before")
        self._receiver = receiver
        self._starting = asyncio.create_task(self._spawn(), name=f"start {self.description}")
        try:
            await asyncio.shield(self._starting)
        except asyncio.CancelledError:
            self._reported = True  # the receiver belongs to a start that never returned
            await self._closed(gently=False)
            raise
        self._check_open()

    async def _spawn(self) -> None:
        """Launch the process and take possession of it."""
        launch, process = self._launch, self._process
        if self._launcher is not None:
            launch = await asyncio.to_thread(self.as_started, launch)
        if self._records is not None:
            await self._end_leftovers(self._records)
        self._tree = tree = ProcessTree()
        env = launch.environment()
        try:
            transport, _ = await asyncio.get_running_loop().subprocess_exec(
                lambda: process,
                *launch.command(env),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                cwd=launch.cwd,
                env=tree.mark(env),
                **tree.spawn_options,
            )
            tree.attach(transport.get_pid())
        except BaseException as error:
            tree.kill()
            process.abandon()
            tree.release()
            if isinstance(error, OSError | RuntimeError | ValueError):
                raise launch.explain(error, env) from error
            raise
        if self._records is not None:
            self._keep_record(self._records, tree, transport.get_pid())
        self._net = weakref.finalize(self, tree.kill)
        self._supervisor = asyncio.create_task(self._supervise(), name=f"watch {self.description}")
        self._started = True

    async def _end_leftovers(self, records: str | os.PathLike[str]) -> None:
        try:
            ended = await asyncio.to_thread(end_leftovers, records)
        except OSError as error:
            self._note(f"records of running agents cannot be read: {error}")
            return
        if ended:
            self._note(f"processes that a host had left behind when it died were killed: {_listed(ended)}")

    def _keep_record(self, records: str | os.PathLike[str], tree: ProcessTree, pid: int) -> None:
        try:
            self._record = record(records, tree, pid)
        except OSError as error:
            self._note(f"the running agent cannot be written down: {error}")

    # Writing

    def write(self, data: bytes) -> None:
        self._check_open()
        if self._takes_no_more():
            raise self._loss()
        self._process.write(data)

    async def drain(self) -> None:
        self._check_open()
        await self._process.writable.wait()
        self._check_open()
        if self._takes_no_more():
            await within(self._process.exited, _SETTLE)  # mostly the process has just died, and the error can say so
            self._check_open()
            raise self._loss()

    def _takes_no_more(self) -> bool:
        return self._process.stdin_lost.is_set() or self._reported

    def _check_open(self) -> None:
        if self._closer is not None:
            raise ConnectionClosed(f"the connection to `{self.description}` is closed")
        if not self._started:
            raise InvalidState(f"the transport to `{self.description}` is not started")

    # Reading, and the end of it

    def _deliver(self, data: bytes) -> None:
        if self._receiver is not None and not self._reported:
            self._receiver.data_received(data)

    def _show(self, line: str) -> None:
        assert self._on_stderr is not None
        try:
            self._on_stderr(line)
        except Exception as error:
            self._note(f"on_stderr raised {type(error).__name__}: {error}", DiagnosticKind.HANDLER_FAILED)

    async def _supervise(self) -> None:
        """Report the end of the stream. Cancelled means that the loop is going away: then the agent ends before it."""
        try:
            await self._end_of_stream()
            await self._settle()
        except asyncio.CancelledError:
            await asyncio.wait([self._begin_close(gently=False)])
            await within(self._process.gone, _SETTLE)
            raise
        if self._closer is None:  # else it is a clean end, and the close reports it when all is done
            self._report(self._loss())
        if self._tree is not None and self._process.exited.is_set() and not self._tree.alive():
            self._tree.release()  # from now on its process id may be given to others

    def _lives(self) -> bool:
        return self._tree is not None and self._tree.alive()

    async def _end_of_stream(self) -> None:
        """Wait until stdout has ended, or nobody is left who could write to it, or listens and writes to it."""
        process, clock = self._process, asyncio.get_running_loop().time
        await process.stirred.wait()
        pause, received, since = _SETTLE, process.received, clock()
        while not await within(process.stdout_ended, pause):
            if process.received != received:
                received, since = process.received, clock()
            elif not self._lives() or (process.stdin_lost.is_set() and clock() - since >= _LAST_WORDS):
                return
            pause = min(2 * pause, _LOOK_AGAIN)

    async def _settle(self) -> None:
        """Wait for the exit status, and a moment for the rest of stderr."""
        await within(self._process.exited, _EXITS)
        await within(self._process.stderr_ended, _SETTLE)

    def _loss(self) -> ConnectionLost:
        """Return the error that says how the agent was lost, with all that is known by now."""
        process = self._process
        if process.returncode is not None:
            what = f"the agent `{self.description}` {_how_it_ended(process.returncode)}"
        elif process.stdout_ended.is_set():
            what = f"the agent `{self.description}` has closed its stdout but is still running"
        else:
            what = f"the agent `{self.description}` has closed its stdin and takes no more messages"
        if process.unsent:
            what += f"; it stopped reading in a message of {process.unsent} bytes (broken pipe), maybe too long for it"
        tail = process.stderr.text(_ERROR_TAIL).strip()
        return ConnectionLost(what, exit_status=process.returncode, stderr_tail=tail)

    def _report(self, error: TransportError | None) -> None:
        if self._started and not self._reported and self._receiver is not None:
            self._reported = True
            self._process.writable.set()
            call_back(self._receiver.connection_lost, error, description=self.description)

    def _note(self, message: str, kind: DiagnosticKind = DiagnosticKind.TRANSPORT) -> None:
        if self._on_diagnostic is not None:
            call_back(self._on_diagnostic, Diagnostic(kind, message), description=self.description)

    # Stop

    async def close(self) -> None:
        """End the agent: close its stdin, wait, ask its processes to end, wait, kill them, wait.

        Takes at most the sum of the three timeouts and about a second more. Returns when no process of the tree is
        left, those that went into a session of their own included; if the system does not end one in time, a diagnostic
        says so. The receiver gets ``connection_lost(None)`` unless it was told of a loss before.
        """
        await self._closed(gently=True)

    async def _closed(self, *, gently: bool) -> None:
        closer = self._begin_close(gently=gently)
        await asyncio.wait([closer])
        if not closer.cancelled():
            closer.result()

    def _begin_close(self, *, gently: bool) -> asyncio.Task[None]:
        """Return the one task that closes; it is not the caller's, so a cancelled caller leaves it at work."""
        if self._closer is None:
            self._process.writable.set()
            self._closer = asyncio.create_task(self._stop(gently), name=f"close {self.description}")
            self._closer.add_done_callback(self._wind_up)
        return self._closer

    async def _stop(self, gently: bool) -> None:
        try:
            if self._starting is not None:
                # A loop that is going away has cancelled everything at once: asyncio then waits for ever for the pipes
                # of the process that it starts, since what would connect them is cancelled too.
                patience = _SETTLE if self._starting.cancelling() else None
                await asyncio.wait([self._starting], timeout=patience)
                self._starting.cancel()
                await asyncio.wait([self._starting])
            if gently and self._started and self._tree is not None:
                await self._stop_gently(self._tree)
        finally:  # also when this task is cancelled, which means that the loop is going away
            if self._tree is not None:
                await self._stop_now(self._tree)

    def _wind_up(self, closer: asyncio.Task[None]) -> None:
        """Make sure that the close has happened, even if its task was cancelled before its first step."""
        self._process.abandon()
        if self._tree is not None:
            self._tree.kill()
            if self._record is not None and not self._tree.alive():
                self._record.unlink(missing_ok=True)
            self._tree.release()
        if self._net is not None:
            self._net.detach()
        self._report(None)

    async def _stop_gently(self, tree: ProcessTree) -> None:
        timeouts, name = self._timeouts, f"the agent `{self.description}`"
        tree.snapshot()
        self._process.close_stdin()
        if await self._exits(tree, timeouts.exit):
            return
        if self._process.exited.is_set():
            self._note(f"{name} has exited but left processes behind: {_listed(tree.snapshot())}; they are ended")
        else:
            self._note(f"{name} did not exit within {timeouts.exit:g} s after its stdin was closed; it is ended")
        if tree.terminate():
            await wait_until_gone(tree, timeouts.terminate)

    async def _exits(self, tree: ProcessTree, seconds: float) -> bool:
        """Wait until the agent has ended by itself; tell whether it has, with all its processes."""
        clock = asyncio.get_running_loop().time
        deadline = clock() + seconds
        if not await within(self._process.exited, seconds):
            return False
        while not await wait_until_gone(tree, min(_SETTLE, max(0.0, deadline - clock()))):
            # Behind a launcher that was quicker, the agent may need the time. Once stdout has ended there is no agent.
            if self._process.stdout_ended.is_set() or clock() >= deadline:
                return False
        tree.release()  # nothing is left to look for
        await within(self._process.stdout_ended, _SETTLE)  # its last messages may still be in the pipe
        return True

    async def _stop_now(self, tree: ProcessTree) -> None:
        if tree.alive():
            self._note(f"processes of the agent `{self.description}` are killed: {_listed(tree.snapshot())}")
            await self._kill(tree)
        self._process.abandon()
        if self._supervisor is not None:
            await within(self._process.gone, _SETTLE)
            if not self._supervisor.cancelling():  # it has nothing to wait for any more
                await asyncio.wait([self._supervisor], timeout=2 * _SETTLE)

    async def _kill(self, tree: ProcessTree) -> None:
        """Kill until nothing is left, again and again, since what is being killed may still have forked."""
        clock = asyncio.get_running_loop().time
        deadline = clock() + self._timeouts.kill
        while True:
            tree.kill()
            if await wait_until_gone(tree, min(0.1, max(0.0, deadline - clock()))):
                return
            if clock() >= deadline:
                self._note(f"the system did not end processes of `{self.description}`: {_listed(tree.snapshot())}")
                return


def _listed(pids: frozenset[int]) -> str:
    return ", ".join(str(pid) for pid in sorted(pids)) or "none any more"


def _how_it_ended(status: int) -> str:
    if status >= 0:
        return f"exited with status {status}" + (f" (0x{status:08X})" if status > 255 else "")
    try:
        return f"was ended by {signal.Signals(-status).name}"
    except ValueError:
        return f"was ended by signal {-status}"
