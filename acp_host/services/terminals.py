"""Runs commands for agents, ``terminal/*``: :class:`TerminalService`.

Owns which terminals a session has, what the five methods mean, and that no command outlives its session. The running
command itself is :class:`~acp_host.services._terminal_process.TerminalProcess`.

A command starts in the session's working directory, or in a directory below the session's roots. That keeps an agent
from starting in the wrong place by mistake; it does not confine the command, which can do whatever this program may do.

``command`` is a program, and ``args`` are its arguments; no shell sees either. Several agents send a whole command line
in ``command`` and nothing in ``args``. It is taken for one if it has a blank or a sign that only a shell understands in
it and no program of that name exists; then the platform's shell runs it (``/bin/sh -c``, on Windows ``cmd.exe /c``) and
the terminal's ``via_shell`` says so.

Errors:

==============================================================  ==================================
what is wrong                                                   raised
==============================================================  ==================================
no such session, no such terminal in this session, or released  ``ResourceNotFound`` (-32002)
a working directory that is missing or outside the roots        ``InvalidParams`` (-32602)
a command that cannot be launched                               ``InvalidParams`` (-32602)
too many terminals that still run                               ``InternalError`` (-32603)
==============================================================  ==================================
"""

from __future__ import annotations

import asyncio
import os
import shutil
import uuid
from collections.abc import Coroutine, Mapping, Sequence
from pathlib import Path
from typing import Any

import attrs

from acp_host.errors import InternalError, InvalidInput, InvalidParams, ResourceNotFound, StartFailed
from acp_host.services._confined import Roots, confine
from acp_host.services._terminal_process import TerminalListener, TerminalProcess
from acp_host.transports._launch import Launch
from acp_host.wire._model import UNSET
from acp_host.wire.ids import SessionId, TerminalId
from acp_host.wire.terminals import (
    CreateTerminalRequest,
    CreateTerminalResponse,
    KillTerminalRequest,
    KillTerminalResponse,
    ReleaseTerminalRequest,
    ReleaseTerminalResponse,
    TerminalOutputRequest,
    TerminalOutputResponse,
    WaitForTerminalExitRequest,
    WaitForTerminalExitResponse,
)

__all__ = ["MAX_OUTPUT", "MAX_TERMINALS", "TerminalListener", "TerminalProcess", "TerminalService"]

MAX_OUTPUT = 1024 * 1024
"""Default for how much output is kept of one command, in bytes."""
MAX_TERMINALS = 100
"""Most terminals of one session; beyond, those that have ended are forgotten, the oldest first."""

_SHELL_SIGNS = frozenset(" \t\n|&;<>()$`\"'*?~")


@attrs.define(eq=False)
class _Session:
    roots: Roots
    cwd: str
    listener: TerminalListener
    terminals: dict[TerminalId, TerminalProcess] = attrs.Factory(dict)


class TerminalService:
    """Runs commands for agents and ends them with their session.

    Follows the specification's *Terminals* section. All methods are to be called from one event loop.

    Args:
        max_output: how much output is kept of one command, in bytes; an agent can ask for less, not for more.
        environment: what commands find in their environment before the agent's own variables are added; ``None``: what
            this program has in its own.
    """

    def __init__(self, *, max_output: int = MAX_OUTPUT, environment: Mapping[str, str] | None = None) -> None:
        self._max_output = max_output
        self._environment = environment
        self._sessions: dict[SessionId, _Session] = {}
        self._tasks: set[asyncio.Task[Any]] = set()

    def open_session(
        self,
        session_id: SessionId,
        roots: Sequence[str | Path],
        cwd: str | Path,
        listener: TerminalListener = lambda _, printed: None,
    ) -> None:
        """Let a session run commands; its terminals stay if it was open already.

        Args:
            session_id: the agent's id of the session.
            roots: absolute paths of the directories that commands may start in or below.
            cwd: absolute path of the directory that they start in when the agent names none.
            listener: told of everything that happens to the session's commands from now on, at once and on the event
                loop's thread; it must not raise.

        Raises:
            InvalidInput: a path is not absolute.
        """
        if not os.path.isabs(cwd):
            raise InvalidInput(f"the working directory must be an absolute path, not {os.fspath(cwd)!r}")
        session, known = _Session(confine(roots), os.fspath(cwd), listener), self._sessions.get(session_id)
        if known is not None:
            session.terminals = known.terminals
            if known.listener != listener:
                for terminal in session.terminals.values():
                    terminal.listen(listener)
        self._sessions[session_id] = session

    async def close_session(self, session_id: SessionId) -> None:
        """End and forget all terminals of the session; whoever waits for one is answered. Bounded in time.

        When the calling task is cancelled, the work is finished all the same.
        """
        session = self._sessions.pop(session_id, None)
        if session is not None:
            await self._finish(*(terminal.release() for terminal in session.terminals.values()))

    async def close(self) -> None:
        """Close every session, and wait for what is still being ended."""
        await self._finish(*(self.close_session(session_id) for session_id in tuple(self._sessions)))
        if self._tasks:
            await asyncio.wait(self._tasks)

    async def kill_all(self, session_id: SessionId) -> None:
        """End the running commands of the session and keep their output, as ``terminal/kill`` does for one.

        For a host that cancels a turn: some agents then neither kill nor release what they started.
        """
        session = self._sessions.get(session_id)
        if session is not None:
            running = [terminal for terminal in session.terminals.values() if terminal.exit_status is None]
            await self._finish(*(terminal.end() for terminal in running))

    def terminals(self, session_id: SessionId) -> tuple[TerminalProcess, ...]:
        """Return the terminals of the session that are not released, the oldest first."""
        session = self._sessions.get(session_id)
        return () if session is None else tuple(session.terminals.values())

    async def create(self, request: CreateTerminalRequest) -> CreateTerminalResponse:
        """Start a command, and answer as soon as it runs.

        Raises:
            RequestFailed: as the table of this module says.
        """
        session = self._session(request.session_id)
        launch, via_shell = await asyncio.to_thread(self._prepare, session, request)
        if self._session(request.session_id).terminals is not session.terminals:
            raise ResourceNotFound("the session was closed meanwhile", data={"sessionId": request.session_id})
        self._make_room(session)
        asked = request.output_byte_limit
        limit = min(asked, self._max_output) if isinstance(asked, int) else self._max_output
        terminal = TerminalProcess(
            f"term-{uuid.uuid4().hex}", request.session_id, launch, via_shell=via_shell, output_limit=limit
        )
        session.terminals[terminal.terminal_id] = terminal
        await self._start(session, terminal)
        terminal.listen(self._sessions.get(request.session_id, session).listener)
        return CreateTerminalResponse(terminal_id=terminal.terminal_id)

    async def output(self, request: TerminalOutputRequest) -> TerminalOutputResponse:
        """Return what the command has printed so far and, once it has ended, how."""
        terminal = self._terminal(request.session_id, request.terminal_id)
        status = UNSET if terminal.exit_status is None else terminal.exit_status
        return TerminalOutputResponse(output=terminal.output, truncated=terminal.truncated, exit_status=status)

    async def wait_for_exit(self, request: WaitForTerminalExitRequest) -> WaitForTerminalExitResponse:
        """Wait until the command has ended, by itself, by a kill, or with its terminal or session."""
        status = await self._terminal(request.session_id, request.terminal_id).wait()
        return WaitForTerminalExitResponse(exit_code=status.exit_code, signal=status.signal)

    async def kill(self, request: KillTerminalRequest) -> KillTerminalResponse:
        """End the command and all it started; its output and exit status stay readable.

        It is asked to end first, and killed after a second. When the calling task is cancelled, it is ended all the
        same.
        """
        await self._finish(self._terminal(request.session_id, request.terminal_id).end())
        return KillTerminalResponse()

    async def release(self, request: ReleaseTerminalRequest) -> ReleaseTerminalResponse:
        """End the command and all it started as :meth:`kill` does, and forget the terminal."""
        terminal = self._terminal(request.session_id, request.terminal_id)
        del self._sessions[request.session_id].terminals[request.terminal_id]
        await self._finish(terminal.release())
        return ReleaseTerminalResponse()

    def _session(self, session_id: SessionId) -> _Session:
        session = self._sessions.get(session_id)
        if session is None:
            raise ResourceNotFound("there is no such session", data={"sessionId": session_id})
        return session

    def _terminal(self, session_id: SessionId, terminal_id: TerminalId) -> TerminalProcess:
        terminal = self._session(session_id).terminals.get(terminal_id)
        if terminal is None:
            raise ResourceNotFound("this session has no such terminal", data={"terminalId": terminal_id})
        return terminal

    def _prepare(self, session: _Session, request: CreateTerminalRequest) -> tuple[Launch, bool]:
        """Decide what is run where. Looks at the disk."""
        cwd = _working_directory(session, request.cwd or None)
        env: dict[str, str | None] = {**(self._environment or {})}
        env |= {variable.name: variable.value for variable in request.env or ()}
        argv = (request.command, *(request.args or ()))
        try:
            "".join((*argv, *env, *filter(None, env.values()))).encode()
            launch = Launch.of(argv, cwd, env, inherit_env=self._environment is None)
        except UnicodeEncodeError:
            raise InvalidParams("the command has half a surrogate pair in it") from None
        except InvalidInput as error:
            raise InvalidParams(str(error), data={"command": request.command}) from None
        return launch, _is_command_line(launch)

    def _make_room(self, session: _Session) -> None:
        """Forget the oldest terminal that has ended when there are as many as may be."""
        if len(session.terminals) < MAX_TERMINALS:
            return
        ended = next((terminal for terminal in session.terminals.values() if terminal.exit_status is not None), None)
        if ended is None:
            raise InternalError(f"{MAX_TERMINALS} commands of this session are still running")
        del session.terminals[ended.terminal_id]
        self._own(ended.release())

    async def _start(self, session: _Session, terminal: TerminalProcess) -> None:
        try:
            await asyncio.shield(self._own(terminal.start()))
        except BaseException as error:
            session.terminals.pop(terminal.terminal_id, None)
            self._own(terminal.release())
            if isinstance(error, StartFailed):
                raise InvalidParams(str(error), data={"command": terminal.argv[0]}) from error
            raise

    def _own(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    async def _finish(self, *work: Coroutine[Any, Any, None]) -> None:
        """Do all of ``work`` to the end, even when the calling task is cancelled."""
        await asyncio.gather(*(asyncio.shield(self._own(item)) for item in work))


def _working_directory(session: _Session, asked: str | None) -> str:
    path = session.cwd if asked is None else asked
    try:
        if asked is not None:
            return session.roots.directory(asked)
        if not os.path.isdir(path):
            raise NotADirectoryError
    except OSError:
        problem = f"the working directory {path} does not exist or is not a directory"
        raise InvalidParams(problem, data={"path": path}) from None
    return path


def _is_command_line(launch: Launch) -> bool:
    """Whether the whole command line stands in the place of the program."""
    (command, *args) = launch.argv
    if args or _SHELL_SIGNS.isdisjoint(command):
        return False
    if os.path.dirname(command):
        return not os.path.isfile(os.path.join(launch.cwd or "", command))
    return shutil.which(command, path=launch.environment().get("PATH", os.defpath)) is None
