"""How the reference agent answers the methods that concern a session as a whole: :class:`SessionMethods`."""

from __future__ import annotations

import asyncio
import copy
import functools
import os
from typing import TYPE_CHECKING, Any

from acp_host.errors import InvalidParams, InvalidRequest, ResourceNotFound
from acp_host.testing.agent_session import SWITCHES, AgentSession
from acp_host.testing.agent_side import Handler
from acp_host.wire._model import UNSET
from acp_host.wire.commands import AvailableCommandsUpdate
from acp_host.wire.content import TextContent
from acp_host.wire.session import (
    ArchiveSessionRequest,
    CloseSessionRequest,
    DeleteSessionRequest,
    ForkSessionRequest,
    ForkSessionResponse,
    ListSessionsRequest,
    ListSessionsResponse,
    LoadSessionRequest,
    LoadSessionResponse,
    NewSessionRequest,
    NewSessionResponse,
    ResumeSessionRequest,
    ResumeSessionResponse,
    SessionArchiveFilter,
    SessionStatus,
    SessionStatusRequest,
    SessionStatusResponse,
    SetSessionTitleRequest,
    SetSessionTitleResponse,
    SystemPrompt,
    SystemPromptMode,
    UnarchiveSessionRequest,
)
from acp_host.wire.updates import SessionInfoUpdate

if TYPE_CHECKING:
    from acp_host.testing._connection import Connection

__all__ = ["SessionMethods"]

_LONGEST_TITLE = 80


class SessionMethods:
    """The life of sessions on one connection."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._agent = connection.agent

    def handlers(self) -> dict[str, Handler]:
        """Return the handlers by wire method."""
        return {
            "session/new": self.new,
            "session/load": self.load,
            "session/resume": self.resume,
            "session/fork": self.fork,
            "session/list": self.list,
            "session/status": self.status,
            "session/set_title": self.set_title,
            "session/archive": self.archive,
            "session/unarchive": self.unarchive,
            "session/close": self.close,
            "session/delete": self.delete,
        }

    # --- to open one ------------------------------------------------------------------------------------------------

    def new(self, request: NewSessionRequest) -> NewSessionResponse:
        """Start a session."""
        self._check(request)
        session = self._add(request)
        return NewSessionResponse(session.id, **self._settings(session))

    def load(self, request: LoadSessionRequest) -> LoadSessionResponse:
        """Open a session and replay its history before the answer."""
        session = self._reopen(request)
        for update in session.replay(marked="harn_reminders" in self._agent.features):
            self._connection.side.update(session.id, update)
        return LoadSessionResponse(**self._settings(session))

    def resume(self, request: ResumeSessionRequest) -> ResumeSessionResponse:
        """Open a session without a replay."""
        return ResumeSessionResponse(**self._settings(self._reopen(request)))

    def fork(self, request: ForkSessionRequest) -> ForkSessionResponse:
        """Start a session with the history of another."""
        origin = self._known(request.session_id)
        self._check(request)
        session = self._add(request)
        session.history = list(origin.history)
        session.shelf = origin.shelf.inherited(origin.id, functools.partial(self._agent.number, "reminder"))
        session.settings = copy.copy(origin.settings)
        session.tokens = origin.tokens
        session.title = origin.title
        return ForkSessionResponse(session.id, **self._settings(session))

    def _add(self, request: NewSessionRequest | ForkSessionRequest) -> AgentSession:
        session = AgentSession(self._agent.number("session"), request.cwd, request.additional_directories or ())
        self._agent.sessions[session.id] = session
        session.mcp_servers = request.mcp_servers or ()
        self._open(session)
        return session

    def _reopen(self, request: LoadSessionRequest | ResumeSessionRequest) -> AgentSession:
        session = self._known(request.session_id)
        self._check(request)
        if session.turn is not None:
            raise InvalidRequest("a turn is running in this session", data={"sessionId": session.id})
        session.mcp_servers = request.mcp_servers or ()
        session.cwd, session.additional_directories = request.cwd, request.additional_directories or ()
        self._open(session)
        return session

    def _open(self, session: AgentSession) -> None:
        session.reader = self._connection
        session.updated_at = self._agent.now()
        # After the answer, because a host learns the id of a new session from that.
        asyncio.get_running_loop().call_soon(self._announce_commands, session)

    def _announce_commands(self, session: AgentSession) -> None:
        self._connection.side.update(session.id, AvailableCommandsUpdate(self._agent.commands))

    def _settings(self, session: AgentSession) -> dict[str, Any]:
        if "old_options" in self._agent.features:
            return {"modes": session.settings.modes(), "extra": {"models": session.settings.models()}}
        options = session.settings.options(switches=self._connection.offers(SWITCHES))
        return {"modes": session.settings.modes(), "config_options": options}

    def _check(self, request: Any) -> None:
        """Refuse what no session can be opened with."""
        self._connection.require_login()
        for name, path in (("cwd", request.cwd), *(("an additional directory", d) for d in self._additional(request))):
            if not os.path.isabs(path):
                raise InvalidParams(f"{name} must be an absolute path, not {path!r}", data={"path": path})
        if request.system_prompt:
            self._check_system_prompt(request.system_prompt)

    def _additional(self, request: Any) -> tuple[str, ...]:
        directories: tuple[str, ...] = request.additional_directories or ()
        if directories and "additionalDirectories" not in self._agent.features:
            raise InvalidParams("this agent takes no additional directories")
        return directories

    def _check_system_prompt(self, prompt: SystemPrompt) -> None:
        if "systemPrompt" not in self._agent.features:
            raise InvalidParams("this agent takes no system prompt")
        if prompt.mode not in tuple(SystemPromptMode):
            raise InvalidParams(f"a system prompt cannot be used in the mode {prompt.mode!r}")
        if not prompt.content or not all(isinstance(block, TextContent) for block in prompt.content):
            raise InvalidParams("a system prompt is made of text")

    # --- to find one ------------------------------------------------------------------------------------------------

    def list(self, request: ListSessionsRequest) -> ListSessionsResponse:
        """Return a page of the sessions, the newest first."""
        archives = "archive" in self._agent.features
        wanted = request.archived or SessionArchiveFilter.EXCLUDE
        if wanted not in tuple(SessionArchiveFilter):
            raise InvalidParams(f"archived cannot be {wanted!r}")
        found = [
            session.info(archives=archives)
            for session in sorted(self._agent.sessions.values(), key=lambda each: each.updated_at, reverse=True)
            if (not request.cwd or session.cwd == request.cwd)
            and (wanted == SessionArchiveFilter.INCLUDE or session.archived == (wanted == SessionArchiveFilter.ONLY))
        ]
        start = self._position(request.cursor or "0")
        end = start + self._agent.page_size
        return ListSessionsResponse(tuple(found[start:end]), next_cursor=str(end) if end < len(found) else UNSET)

    def status(self, request: SessionStatusRequest) -> SessionStatusResponse:
        """Tell whether a session is open on any connection."""
        session = self._known(request.session_id)
        return SessionStatusResponse(SessionStatus.SAVED if session.reader is None else SessionStatus.OPEN)

    def _known(self, session_id: str) -> AgentSession:
        session = self._agent.sessions.get(session_id)
        if session is None:
            raise ResourceNotFound(f"there is no session {session_id}", data={"sessionId": session_id})
        return session

    @staticmethod
    def _position(cursor: str) -> int:
        if not cursor.isascii() or not cursor.isdigit():
            raise InvalidParams(f"{cursor!r} is no cursor of this agent", data={"cursor": cursor})
        return int(cursor)

    # --- to name one, put it away, and end it -----------------------------------------------------------------------

    def set_title(self, request: SetSessionTitleRequest) -> SetSessionTitleResponse:
        """Name a session; the title is trimmed and cut."""
        session = self._known(request.session_id)
        title = " ".join(request.title.split())[:_LONGEST_TITLE]
        if not title:
            raise InvalidParams("a title cannot be empty")
        session.title = title
        if session.reader is self._connection:
            self._connection.side.update(session.id, SessionInfoUpdate(title=title))
        return SetSessionTitleResponse(title)

    async def archive(self, request: ArchiveSessionRequest) -> None:
        """Hide a session, closing it first."""
        session = self._known(request.session_id)
        await self._close(session)
        session.archived = True

    def unarchive(self, request: UnarchiveSessionRequest) -> None:
        """Show a session again."""
        self._known(request.session_id).archived = False

    async def close(self, request: CloseSessionRequest) -> None:
        """Cancel what a session does, and put it out of memory."""
        await self._close(self._known(request.session_id))

    async def delete(self, request: DeleteSessionRequest) -> None:
        """Remove a session; one that is not there is removed already."""
        session = self._agent.sessions.pop(request.session_id, None)
        if session is not None:
            await self._close(session)

    async def _close(self, session: AgentSession) -> None:
        session.reader = None
        if session.turn is not None:
            session.turn.cancel()
            await session.turn.finished.wait()
