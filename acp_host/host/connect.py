"""The way in: :func:`connect`."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Generator, Mapping, Sequence
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

from attrs import frozen

from acp_host._version import __version__
from acp_host.diagnostics import Diagnostic
from acp_host.errors import InvalidInput, InvalidState
from acp_host.host.agent_target import AgentTarget
from acp_host.host.authentication import LoginHandler, LoginRunner
from acp_host.host.cancel_timeouts import CancelTimeouts
from acp_host.host.connect_arguments import check, check_remote, check_telemetry, target_of
from acp_host.host.connection import HostConnection
from acp_host.host.connection_options import ConnectionOptions
from acp_host.host.diagnostic_log import DiagnosticLog
from acp_host.host.directories import Directories
from acp_host.host.incoming import RequestHandler
from acp_host.host.lint_mode import LintMode
from acp_host.host.own_files import own_files
from acp_host.host.reconnect_policy import ReconnectPolicy
from acp_host.host.services import ServiceSet
from acp_host.host.telemetry.settings import Telemetry
from acp_host.protocol.versions import checked_versions
from acp_host.quirks import QUIRKS, Quirk
from acp_host.services.audit import AuditTrail
from acp_host.services.elicitation_handlers import ElicitationHandler, ElicitationHandlers
from acp_host.services.permissions import PermissionHandler, PermissionPolicy, Permissions
from acp_host.state.memory import MemoryPolicy
from acp_host.state.notice_preferences import NoticePreferences
from acp_host.transports import (
    Launcher,
    RemoteOptions,
    StdioTransport,
    StopTimeouts,
    Transport,
    remote_transport,
)
from acp_host.wire.framing import MAX_MESSAGE_SIZE
from acp_host.wire.initialize import Implementation

if TYPE_CHECKING:
    from acp_host.host.login_methods import TerminalLogin
    from acp_host.recording import Recording
    from acp_host.services.files import FileService
    from acp_host.services.terminals import TerminalService

__all__ = ["StartTimeouts", "connect"]

_SMALLEST_MAXIMUM = 1_024
"""Smallest ``max_message_size``, in bytes: a host that reads less cannot read the answer to ``initialize``."""
_INSTALLERS = frozenset({"npx", "npm", "pnpm", "yarn", "bunx", "bun", "uvx", "uv", "pipx", "docker", "podman", "nix"})


@frozen(kw_only=True)
class StartTimeouts:
    """How long an agent may take to answer ``initialize``.

    Attributes:
        warm: seconds for a program that is installed; slow agents need ten on a busy machine.
        cold: seconds for a launcher that may install the agent first (``npx``, ``uvx``, ``docker``, …).
    """

    warm: float = 60.0
    cold: float = 300.0

    def for_command(self, argv: Sequence[str]) -> float:
        """Return the deadline for a command."""
        program = os.path.basename(argv[0]).lower() if argv else ""
        return self.cold if os.path.splitext(program)[0] in _INSTALLERS else self.warm


class connect:
    """Connect to an agent: launch it, shake hands, and return the :class:`HostConnection`. ::

        async with acp_host.connect(["some-agent", "--acp"]) as host:
            session = await host.new_session(cwd=".")
            print((await session.prompt("Fix the failing test")).text)

    ``host = await connect(…)`` works too; call ``await host.close()`` then. Nothing that lets the agent act is offered
    unless it is passed.

    Args:
        target: the agent's command as a sequence of strings, or as one string that is split like a POSIX shell does but
            never run by one; the URL of an agent elsewhere, ``ws://…`` or ``wss://…`` for WebSocket, ``http://…`` or
            ``https://…`` for Streamable HTTP; a :class:`~acp_host.transports.Transport`; or an
            :class:`~acp_host.host.agent_target.AgentTarget`, e.g. of :func:`acp_host.known`.
        remote: how to reach an agent elsewhere, e.g. its token; only for a URL.
        allow_remote_services: serve files and terminals, and check changes, for an agent elsewhere, too. Whoever
            controls it, or its network, then reads and writes files and runs commands on this machine.
        cwd: working directory of the agent's process; ``None`` for this one's.
        env: variables added to this process's environment for the agent.
        launcher: may change how the agent's process is launched, e.g. put it into a sandbox, see
            :mod:`acp_host.sandbox`; only for a command.
        files: serve the session's files: ``True``, or a :class:`~acp_host.services.files.FileService`.
        terminals: run commands for the agent: ``True``, or a :class:`~acp_host.services.terminals.TerminalService`.
        permissions: decides what the agent may do: a :class:`~acp_host.services.permissions.PermissionPolicy`, a
            :class:`~acp_host.services.permission_queue.PermissionQueue`, a (coroutine) function, or
            :class:`~acp_host.services.permissions.Permissions`. Each also decides about the files that the agent
            writes and the commands that it runs through the host. ``None`` rejects all that the agent asks permission
            for, and takes ``files=`` and ``terminals=`` for consent.
        audit: takes a record of everything that the agent was allowed or refused; ``None``: a trail in memory.
        elicitation: answers ``elicitation/create``: an
            :class:`~acp_host.services.elicitation_queue.ElicitationQueue` for forms and web pages, a (coroutine)
            function that shows forms, or :class:`~acp_host.services.elicitation.ElicitationHandlers` for each;
            ``None``: not offered.
        handlers: answers requests of extensions, by wire method, from the first message on; later ones can be added
            with :meth:`HostConnection.on_request`. One that works for a turn and is to end with it is a
            :class:`~acp_host.host.incoming.TurnHandler`.
        authenticate: chooses how to log in when the agent refuses a call for want of it, which is then made once more:
            a (coroutine) function that takes a :class:`~acp_host.host.authentication.LoginRequest` and returns one of
            its ``methods`` (one by environment variables ``with_values``), or ``None``. ``None``: such a call raises
            :class:`~acp_host.errors.AuthRequired`.
        auth_terminal: offer to run the agent's command in a terminal the user sees, for its login: a coroutine function
            that takes a :class:`~acp_host.host.login_methods.TerminalLogin` and returns the exit status; ``True`` runs
            it in the terminal of this process, which then belongs to the user until it ends.
        notices: offer to show notices; until an observer is connected they go to the logger ``acp_host.notices``.
            :class:`~acp_host.state.notice_preferences.NoticePreferences` set how every session shows them.
        unstable: offer draft features: plan variants and subagents.
        sidebar: a person sees the reminders panel, so that a reminder may be shown there when no agent takes it.
        protocol_versions: the versions of the protocol to speak, the preferred one first: ``(2, 1)`` for version 2 with
            agents that have it, and version 1 with all others.
        client_info: name and version of the host program; ``None`` for this library's.
        start_timeouts: deadlines for the answer to ``initialize``.
        cancel_timeouts: deadlines for a cancelled turn.
        stop_timeouts: deadlines for the steps in which the agent's processes are ended.
        process_records: a directory in which running agents are written down; an agent whose host was killed is ended
            at the next start with the same directory. ``None``: nothing is written.
        on_stderr: called with each line the agent writes to stderr, e.g. to show what an installer does.
        reconnect: whether a lost connection is made again, and its sessions opened again: ``True``, ``False``, or a
            :class:`~acp_host.host.reconnect_policy.ReconnectPolicy`. ``None``: over the network it is; a process that
            has ended is not started again.
        memory: how much of the sessions' transcripts is kept; ``None`` keeps all.
        record: a file to which all messages in both directions are written, without secrets; or a
            :class:`~acp_host.recording.Recording`, which says more. ``None``: nothing is recorded.
        telemetry: tell OpenTelemetry what the connection does: ``True``, or a
            :class:`~acp_host.host.telemetry.settings.Telemetry`, which says more. ``None``: nothing is told.
        quirks: the table of quirks in force; ``None``: :data:`acp_host.QUIRKS`; empty to switch them off.
        max_message_size: longest message that is read, in bytes.
        lint: hold every message against the schema: ``"warn"`` makes a diagnostic of what does not fit, ``"strict"``
            also ends the connection at the first message of the agent that does not; see
            :mod:`acp_host.host.lint_transport`.

    Raises:
        InvalidInput: the target is none that can be connected to, an argument does not go with it, or the recording
            cannot be written.
        StartFailed: the agent cannot be launched or reached, ended early, or (``StartTimeout``) did not answer in time;
            with its exit status and the end of its stderr.
        UnsupportedVersion: it speaks another version of the protocol.
        PeerError: its answer cannot be used.
    """

    def __init__(
        self,
        target: Sequence[str] | str | Transport | AgentTarget,
        *,
        remote: RemoteOptions | None = None,
        allow_remote_services: bool = False,
        cwd: str | Path | None = None,
        env: Mapping[str, str] | None = None,
        launcher: Launcher | None = None,
        files: FileService | bool | None = None,
        terminals: TerminalService | bool | None = None,
        permissions: Permissions | PermissionPolicy | PermissionHandler | None = None,
        audit: AuditTrail | None = None,
        elicitation: ElicitationHandlers | ElicitationHandler | None = None,
        handlers: Mapping[str, RequestHandler] | None = None,
        authenticate: LoginHandler | None = None,
        auth_terminal: LoginRunner | bool = False,
        notices: NoticePreferences | bool = True,
        unstable: bool = False,
        sidebar: bool = False,
        protocol_versions: Sequence[int] = (1,),
        client_info: Implementation | None = None,
        start_timeouts: StartTimeouts | None = None,
        cancel_timeouts: CancelTimeouts | None = None,
        stop_timeouts: StopTimeouts | None = None,
        process_records: str | Path | None = None,
        on_stderr: Callable[[str], None] | None = None,
        reconnect: ReconnectPolicy | bool | None = None,
        memory: MemoryPolicy | None = None,
        record: Recording | str | os.PathLike[str] | None = None,
        telemetry: Telemetry | bool | None = None,
        quirks: tuple[Quirk, ...] | None = None,
        max_message_size: int = MAX_MESSAGE_SIZE,
        lint: LintMode | str = LintMode.OFF,
    ) -> None:
        check("remote", remote, RemoteOptions, None)
        check("allow_remote_services", allow_remote_services, bool)
        check("cwd", cwd, str, Path, None)
        check("env", env, Mapping, None)
        check("launcher", launcher, Callable, None)
        if isinstance(target, AgentTarget):
            env, remote = target.environment(env), remote or target.remote
            target = target.url or target.command
        if launcher is not None and isinstance(target, Transport):
            raise InvalidInput("connect(launcher=…) is for a command: a Transport launches what it launches")
        services: dict[str, Any] = {"files": _files(files), "terminals": _terminals(terminals)}
        check("permissions", permissions, Permissions, PermissionPolicy, Callable, None)
        check("audit", audit, AuditTrail, None)
        check("elicitation", elicitation, ElicitationHandlers, Callable, None)
        check("handlers", handlers, Mapping, None)
        check("authenticate", authenticate, Callable, None)
        check("auth_terminal", auth_terminal, Callable, bool)
        check("notices", notices, NoticePreferences, bool)
        check("unstable", unstable, bool)
        check("sidebar", sidebar, bool)
        check("client_info", client_info, Implementation, None)
        check("start_timeouts", start_timeouts, StartTimeouts, None)
        check("cancel_timeouts", cancel_timeouts, CancelTimeouts, None)
        check("stop_timeouts", stop_timeouts, StopTimeouts, None)
        check("process_records", process_records, str, Path, None)
        check("on_stderr", on_stderr, Callable, None)
        check("reconnect", reconnect, ReconnectPolicy, bool, None)
        check("memory", memory, MemoryPolicy, None)
        check("telemetry", telemetry, Telemetry, bool, None)
        check("quirks", quirks, tuple, None)
        check("max_message_size", max_message_size, int)
        if max_message_size < _SMALLEST_MAXIMUM:
            raise InvalidInput(f"max_message_size is at least {_SMALLEST_MAXIMUM} bytes, not {max_message_size}")
        if lint not in tuple(LintMode):
            raise InvalidInput(f"connect(lint=…) takes {', '.join(LintMode)}, not {lint!r}")
        if telemetry:
            check_telemetry()
        self._lint = LintMode(lint)
        timeouts = start_timeouts or StartTimeouts()
        self._launch: dict[str, Any] = {
            "cwd": cwd,
            "env": env,
            "launcher": launcher,
            "on_stderr": on_stderr,
            "timeouts": stop_timeouts,
            "records": process_records,
        }
        self._target = target_of(target, self._launch, remote)
        self._remote = remote
        self._services = ServiceSet(
            **services,
            permissions=Permissions.of(permissions),
            audit=audit or AuditTrail(),
            elicitation=_elicitation(elicitation),
        )
        self._recording = None if record is None else _recording(record)
        self._options = ConnectionOptions(
            client_info=client_info or Implementation("acp_host", __version__, title="acp_host"),
            directories=Directories(here=allow_remote_services or not self._is_remote()),
            start_timeout=timeouts.for_command(self._target) if isinstance(self._target, list) else timeouts.warm,
            cancel_timeouts=cancel_timeouts or CancelTimeouts(),
            protocol_versions=checked_versions(protocol_versions),
            login_handler=authenticate,
            login_terminal=_in_this_terminal if auth_terminal is True else auth_terminal or None,
            notices=notices is not False,
            notice_preferences=notices if isinstance(notices, NoticePreferences) else NoticePreferences(),
            unstable=unstable,
            sidebar=sidebar,
            reconnect=reconnect,
            memory=memory or MemoryPolicy(),
            telemetry=Telemetry.of(telemetry),
            quirks=QUIRKS if quirks is None else quirks,
            max_message_size=max_message_size,
            own_files=partial(own_files, self._services.audit, self._recording),
        )
        if self._is_remote():
            check_remote(self._services, self._options, allow_remote_services)
        self._handlers = dict(handlers or {})
        self._host: HostConnection | None = None
        self._entered = False

    if not TYPE_CHECKING:  # a type checker finds this mistake by itself

        def __getattr__(self, name: str) -> Any:
            raise AttributeError(
                f"connect(…) has no {name!r}; the connection has what you look for: write"
                " `async with acp_host.connect(…) as host:`, or `host = await acp_host.connect(…)`"
            )

    def __await__(self) -> Generator[Any, None, HostConnection]:
        return self._open().__await__()

    async def __aenter__(self) -> HostConnection:
        if self._entered:
            raise InvalidState("this connect() is in use; call connect() again for another connection")
        self._entered = True
        try:
            self._host = await self._open()
        except BaseException:
            self._entered = False
            raise
        return self._host

    async def __aexit__(
        self, exc_type: type[BaseException] | None, exc: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._entered = False
        if self._host is not None:
            await self._host.close()

    def _is_remote(self) -> bool:
        return self._target.remote if isinstance(self._target, Transport) else isinstance(self._target, str)

    async def _open(self) -> HostConnection:
        target, diagnostics = self._target, DiagnosticLog()
        if isinstance(target, str):
            target = remote_transport(target, self._remote, on_diagnostic=diagnostics.add)
        elif not isinstance(target, Transport):
            target = StdioTransport(target, **self._launch, on_diagnostic=diagnostics.add)
        if self._recording is not None:
            target = _recorded(target, self._recording, diagnostics)
        if self._lint is not LintMode.OFF:
            target = self._linted(target, diagnostics)
        host = HostConnection(target, self._services, self._options, diagnostics)
        for method, handler in self._handlers.items():
            host.on_request(method, handler)
        await host.open()
        return host

    def _linted(self, target: Transport, diagnostics: DiagnosticLog) -> Transport:
        from acp_host.host.lint_transport import LintTransport  # it loads what hosts need for Harn only

        return LintTransport(
            target,
            diagnostics.add,
            strict=self._lint is LintMode.STRICT,
            max_message_size=self._options.max_message_size,
        )


def _recording(given: Recording | str | os.PathLike[str]) -> Recording:
    from acp_host.recording import Recording  # loaded for those who record

    check("record", given, Recording, str, os.PathLike, None)
    return Recording.of(given)


def _recorded(target: Transport, recording: Recording, diagnostics: DiagnosticLog) -> Transport:
    from acp_host.recording import Recorder, RecordingTransport

    loop = asyncio.get_running_loop()

    def report(diagnostic: Diagnostic) -> None:
        loop.call_soon_threadsafe(diagnostics.add, diagnostic)

    return RecordingTransport(target, Recorder(recording, known=diagnostics.redactor, report=report))


def _files(given: FileService | bool | None) -> FileService | None:
    if given is None or given is False:
        return None
    from acp_host.services.files import FileService  # loaded for those who serve files

    check("files", given, FileService, bool, None)
    return FileService() if given is True else given


def _terminals(given: TerminalService | bool | None) -> TerminalService | None:
    if given is None or given is False:
        return None
    from acp_host.services.terminals import TerminalService  # loaded for those who run commands

    check("terminals", given, TerminalService, bool, None)
    return TerminalService() if given is True else given


async def _in_this_terminal(login: TerminalLogin) -> int:
    from acp_host.services.login_terminal import run_in_this_terminal  # loaded for those who log in

    return await run_in_this_terminal(login.argv, cwd=login.cwd, env=login.env)


def _elicitation(given: ElicitationHandlers | ElicitationHandler | None) -> ElicitationHandlers:
    if given is None or isinstance(given, ElicitationHandlers):
        return given or ElicitationHandlers()
    from acp_host.services.elicitation_queue import ElicitationQueue  # loaded for those who answer questions

    return ElicitationHandlers(form=given, url=given if isinstance(given, ElicitationQueue) else None)
