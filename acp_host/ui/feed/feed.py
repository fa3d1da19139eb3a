"""What front-ends in another process or page get of a connection, and give it: :class:`Feed`.

It is made of JSON messages, which ``docs/feed.md`` describes, and knows no transport: a viewer is a function that takes
messages. Everything happens on the loop of the connection.
"""

from __future__ import annotations

import asyncio
import itertools
import os
import secrets
from collections.abc import Callable, Mapping
from pathlib import PurePosixPath
from types import TracebackType
from typing import Any

from acp_host._version import __version__
from acp_host.diagnostics import Diagnostic, DiagnosticKind
from acp_host.errors import AcpError, InvalidInput, InvalidState, RequestFailed
from acp_host.given_files import absolute
from acp_host.host.connection import HostConnection
from acp_host.host.login_queue import LoginQueue
from acp_host.host.tasks import TaskOwner
from acp_host.redaction import redact
from acp_host.services.elicitation_queue import ElicitationQueue
from acp_host.services.permission_queue import PermissionQueue
from acp_host.state.json_form import to_json
from acp_host.ui.feed.command_forms import COMMANDS, read_command
from acp_host.ui.feed.commands import Commands
from acp_host.ui.feed.held_notices import HeldNotices
from acp_host.ui.feed.logins import login_message
from acp_host.ui.feed.messages import FEED_VERSION
from acp_host.ui.feed.questions import Questions
from acp_host.ui.feed.session_stream import SessionStream
from acp_host.ui.feed.shown_sessions import ShownSessions
from acp_host.ui.feed.topics import DiagnosticTopic, Topic
from acp_host.ui.feed.viewer import Send, Viewer

__all__ = ["Feed"]

_MAX_RUNNING = 32
"""Commands of one viewer that are done at a time."""
_LONGEST_FETCH = 500
"""Entries that one command fetches."""
_LIST_INTERVAL = 0.25
"""Seconds between two lists of sessions in which nothing but titles and statuses has changed."""
_LAST_STEPS = 2.0
"""Seconds that commands may take to end once they have been cancelled."""
_BY_VIEWER = ("resume", "leave", "control", "fetch", "hold_notices")
"""Commands that concern the viewer only, and are done at once."""
_SHOWN_ONLY = ("resume", "fetch")
_OFFERS = {
    "list": "session/list",
    "load": "session/load",
    "resume": "session/resume",
    "delete": "session/delete",
    "images": "promptCapabilities.image",
    "files": "promptCapabilities.embeddedContext",
}
"""What viewers are told of what the agent offers: name, and capability."""


class Feed:
    """Tells any number of viewers of a connection, one of which may act. ::

        async with Feed(host, permissions=queue) as feed:
            viewer = feed.join(websocket.send)
            async for command in websocket:
                await viewer.receive(command)

    Args:
        host: the connection.
        permissions: the queue that was passed to ``connect(permissions=…)``; ``None``: viewers answer no permissions.
        elicitation: likewise for ``connect(elicitation=…)``.
        logins: likewise for ``connect(authenticate=…)``.
        cwd: where sessions work that viewers open.
        read_only: nobody may act.

    Attributes:
        controller: the viewer that may act; ``None``: the seat is free.
        topics: what viewers are told beside the sessions, by name.
    """

    def __init__(
        self,
        host: HostConnection,
        *,
        permissions: PermissionQueue | None = None,
        elicitation: ElicitationQueue | None = None,
        logins: LoginQueue | None = None,
        cwd: str | os.PathLike[str] = ".",
        read_only: bool = False,
    ) -> None:
        self.controller: Viewer | None = None
        self._host = host
        self._read_only = read_only
        self._resume = secrets.token_urlsafe(16)
        self._viewer_numbers = itertools.count(1)
        self._viewers: dict[Viewer, None] = {}
        # An absolute one may be that of another machine, whose form says nothing here.
        self._cwd = os.fspath(cwd) if PurePosixPath(cwd).is_absolute() else absolute(cwd)
        self._sessions = ShownSessions(
            lambda: host.sessions, itertools.count(1), self._wake, lambda: self._changed("sessions"), self._renamed
        )
        self._held = HeldNotices()
        self._tasks = TaskOwner()
        self._questions = Questions(
            permissions, elicitation, logins, self._agent_name, lambda: self._changed("questions")
        )
        self._commands = Commands(host, self._questions, self._cwd, self._sessions.show, self._sessions.hide)
        self._diagnostics = DiagnosticTopic(host.diagnostics)
        self.topics: dict[str, Any] = {
            "control": Topic(self._seats),
            "sessions": Topic(lambda: {"type": "sessions", "items": self._sessions.items()}),
            "questions": Topic(self._questions.message),
            "offers": Topic(self._offers),
            "login": Topic(lambda: login_message(host.authentication, host.agreement)),
            "health": Topic(lambda: {"type": "health", **to_json(host.health.snapshot())}),
            "diagnostics": self._diagnostics,
        }
        self._endings: list[Callable[[], None]] = []
        self._waking: asyncio.TimerHandle | None = None

    async def __aenter__(self) -> Feed:
        await self._tasks.open()
        host = self._host
        self._endings = [
            self._questions.close,
            host.health.changed.connect(lambda _: self._health_changed()).end,
            host.authentication.changed.connect(lambda _: self._changed("login")).end,
            host.diagnostics.connect(self._diagnosed),
            host.on_sessions_changed(lambda _: self._sessions.follow()),
        ]
        self._sessions.follow()
        return self

    async def __aexit__(
        self, exc_type: type[BaseException] | None, exc: BaseException | None, traceback: TracebackType | None
    ) -> None:
        for end in self._endings:
            end()
        if self._waking is not None:
            self._waking.cancel()
        for viewer in tuple(self._viewers):
            viewer.leave()
        self._sessions.hide_all()
        await self._tasks.close(_LAST_STEPS)

    # --- viewers ----------------------------------------------------------------------------------------------------

    @property
    def viewers(self) -> tuple[Viewer, ...]:
        """Who looks, in the order in which they came."""
        return tuple(self._viewers)

    def join(self, send: Send, *, may_control: bool = True) -> Viewer:
        """Add a viewer, which gets messages from now on; it has the controller's seat if that is free.

        Args:
            send: takes its messages; what it raises means that the viewer is gone.
            may_control: it may have the seat.

        Raises:
            InvalidState: the feed is not open.
        """
        if not self._tasks.is_open:
            raise InvalidState("the feed is not open: use it in `async with Feed(…) as feed:`")
        viewer = Viewer(self, next(self._viewer_numbers), send, may_control=may_control and not self._read_only)
        self._viewers[viewer] = None
        if self.controller is None and viewer.may_control:
            self.controller = viewer
        self._changed("control")
        self._tasks.start(viewer.run())
        return viewer

    def left(self, viewer: Viewer) -> None:
        """Learn that a viewer has left."""
        self._viewers.pop(viewer, None)
        self._held.left(viewer)
        if self.controller is viewer:
            self.controller = None
        self._changed("control")

    def viewer_failed(self, error: Exception) -> None:
        """Take what went wrong in telling a viewer."""
        text = f"a viewer was lost: {type(error).__name__}: {error}"
        self._host.diagnostics.add(Diagnostic(DiagnosticKind.HANDLER_FAILED, text))

    def hello(self, viewer: Viewer) -> dict[str, Any]:
        """Return the first message for a viewer."""
        agreement = self._host.agreement
        agent = agreement.agent_info
        return {
            "type": "hello",
            "feed": FEED_VERSION,
            "agent": {
                "name": self._agent_name(),
                "title": agent.title if agent is not None and isinstance(agent.title, str) else None,
                "version": agent.version if agent is not None else None,
            },
            "host": {"name": "acp_host", "version": __version__},
            "protocolVersion": agreement.protocol_version,
            "viewer": viewer.number,
            "controller": viewer.is_controller,
            "mayControl": viewer.may_control,
            "cwd": self._cwd,
            "sessions": self._sessions.items(),
            "resume": self._resume,
        }

    def stream(self, session_id: str) -> SessionStream | None:
        """Return what is told of a session; ``None`` if it is not shown."""
        return self._sessions.stream(session_id)

    def session_items(self) -> list[dict[str, Any]]:
        """Return what viewers are told of the sessions, as in the message ``sessions``."""
        return self._sessions.items()

    # --- news -------------------------------------------------------------------------------------------------------

    def _changed(self, topic: str) -> None:
        self.topics[topic].changed()
        self._wake()

    def _health_changed(self) -> None:
        """Learn that the agent is lost, or another process: that may offer something else."""
        for topic in ("health", "offers", "login"):
            self._changed(topic)

    def _renamed(self) -> None:
        """Learn of a title or a status, which can change as fast as an agent writes."""
        self.topics["sessions"].changed()
        if self._waking is None:
            self._waking = asyncio.get_running_loop().call_later(_LIST_INTERVAL, self._wake_at_last)

    def _wake_at_last(self) -> None:
        self._waking = None
        self._wake()

    def _diagnosed(self, diagnostic: Diagnostic) -> None:
        self._diagnostics.add(diagnostic)
        self._wake()

    def _wake(self) -> None:
        for viewer in self._viewers:
            viewer.wake()

    def _agent_name(self) -> str:
        return self._host.agreement.agent_name

    def _seats(self) -> dict[str, Any]:
        controller = None if self.controller is None else self.controller.number
        return {"type": "control", "controller": controller, "viewers": [viewer.number for viewer in self._viewers]}

    def _offers(self) -> dict[str, Any]:
        supports = self._host.agreement.supports
        return {"type": "offers", **{name: supports(capability) for name, capability in _OFFERS.items()}}

    # --- commands ---------------------------------------------------------------------------------------------------

    def take_command(self, viewer: Viewer, data: str | bytes) -> None:
        """Take a command of a viewer, whose result it gets; for the viewer."""
        number, command, fault = read_command(data)
        problem = fault or self._refusal(viewer, command)
        if problem is not None:
            failed = self._failed(number, problem)
            viewer.put(lambda: failed)
        elif command["command"] in _BY_VIEWER:
            self._do_for(viewer, command)
        else:
            viewer.running += 1
            self._tasks.start(self._do(viewer, command))

    def _refusal(self, viewer: Viewer, command: Mapping[str, Any]) -> AcpError | None:
        if COMMANDS[command["command"]].acts and not viewer.is_controller:
            whose = "nobody can act here" if self._read_only else "only the viewer with the controller's seat can act"
            return InvalidState(f"{command['command']} was not done: {whose}")
        if viewer.running >= _MAX_RUNNING:
            return InvalidState(f"{command['command']} was not done: {_MAX_RUNNING} commands are being done")
        if command["command"] in _SHOWN_ONLY and self.stream(command["session"]) is None:
            return InvalidInput("there is no such session here")
        if command["command"] == "control" and command["take"] and not viewer.may_control:
            return InvalidState("this viewer may look only")
        return None

    def _do_for(self, viewer: Viewer, command: Mapping[str, Any]) -> None:
        """Do what concerns the viewer only."""
        match command["command"]:
            case "resume":
                known = command.get("resume") == self._resume
                viewer.watch(command["session"], command.get("version") if known else None)
            case "leave":
                viewer.unwatch(command["session"])
            case "control":
                self._seat(viewer, take=command["take"])
            case "hold_notices":
                self._hold_notices(viewer, command)
            case "fetch":
                viewer.put(lambda: self._fetched(command))
                return
        viewer.put(lambda: _done(command, {}))

    def _hold_notices(self, viewer: Viewer, command: Mapping[str, Any]) -> None:
        for session in self._host.sessions:
            if session.id == command["session"]:
                self._held.hold(viewer, session, hold=command["hold"])

    def _seat(self, viewer: Viewer, *, take: bool) -> None:
        if take:
            self.controller = viewer
        elif self.controller is viewer:
            self.controller = None
        self._changed("control")

    def _fetched(self, command: Mapping[str, Any]) -> dict[str, Any]:
        first, last, stream = command["first"], command["last"], self.stream(command["session"])
        try:
            if stream is None or not 0 <= last - first < _LONGEST_FETCH:
                raise InvalidInput(f"fetch takes a session that is shown, and at most {_LONGEST_FETCH} entries")
            return _done(command, {"first": first, "entries": stream.entries(first, last)})
        except Exception as error:  # an archive is the application's own
            return self._failed(command["id"], error)

    async def _do(self, viewer: Viewer, command: Mapping[str, Any]) -> None:
        try:
            value = await self._commands.do(command)
            viewer.put(lambda: _done(command, value))
        except Exception as error:
            failed = self._failed(command["id"], error)
            viewer.put(lambda: failed)
        finally:
            viewer.running -= 1

    def _failed(self, number: int | None, error: Exception) -> dict[str, Any]:
        told: dict[str, Any] = {"kind": type(error).__name__, "message": str(error)}
        if isinstance(error, RequestFailed):
            told |= {"message": error.message, "code": error.code, "data": redact(error.data)}
        elif not isinstance(error, AcpError | TimeoutError):
            text = f"a command of a viewer failed: {type(error).__name__}: {error}"
            self._host.diagnostics.add(Diagnostic(DiagnosticKind.HANDLER_FAILED, text))
        told["message"] = self._host.diagnostics.redactor.text(told["message"])
        return {"type": "result", "id": number, "ok": False, "error": told}


def _done(command: Mapping[str, Any], value: Any) -> dict[str, Any]:
    return {"type": "result", "id": command["id"], "ok": True, "value": value}
