"""The agent's methods that concern a session as a whole, typed: :class:`AgentMethods`.

Each checks the agreement before anything is sent and raises :class:`~acp_host.errors.NotSupported` naming the missing
capability, unless the quirks table says that the method works or ``force=True`` is passed. All of them raise
:class:`~acp_host.errors.RequestFailed` where the agent refuses, :class:`~acp_host.errors.OutcomeUnknown` where the
connection ends before the answer, and :class:`~acp_host.errors.InvalidInput` for arguments that no agent could take.
"""

from __future__ import annotations

import os
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from attrs import frozen

from acp_host.diagnostics import Diagnostic, DiagnosticKind
from acp_host.errors import AcpError, InvalidInput, RequestFailed
from acp_host.host.account_methods import AccountMethods
from acp_host.host.diagnostic_log import DiagnosticLog
from acp_host.host.services import ServiceSet
from acp_host.host.session import Opening, Session
from acp_host.host.session_table import SessionTable
from acp_host.services.mcp import HostMcpServer, McpServers
from acp_host.wire._model import UNSET
from acp_host.wire.mcp import McpServer, McpServerAcp, McpServerHttp, McpServerSse
from acp_host.wire.session import (
    ArchiveSessionRequest,
    ArchiveSessionResponse,
    CloseSessionRequest,
    CloseSessionResponse,
    DeleteSessionRequest,
    DeleteSessionResponse,
    ForkSessionRequest,
    ListSessionsRequest,
    ListSessionsResponse,
    LoadSessionRequest,
    NewSessionRequest,
    ResumeSessionRequest,
    SystemPrompt,
    UnarchiveSessionRequest,
    UnarchiveSessionResponse,
)

__all__ = ["AgentMethods"]

_MCP_NEEDS = {
    McpServerHttp: "mcpCapabilities.http",
    McpServerSse: "mcpCapabilities.sse",
    McpServerAcp: "mcpCapabilities.acp",
    HostMcpServer: "mcpCapabilities.acp",
}
"""An agent that does not offer these leaves such a server out without a word; every agent takes the others."""


@frozen
class _Setup:
    """What the requests that open a session share: its roots, ``cwd`` first, and the attributes of the request."""

    roots: list[str]
    fields: dict[str, Any]


class AgentMethods(AccountMethods):
    """The typed requests of a connection; a base of :class:`~acp_host.host.connection.HostConnection`."""

    diagnostics: DiagnosticLog
    _sessions: SessionTable
    _services: ServiceSet
    _mcp: McpServers

    # --- sessions ---------------------------------------------------------------------------------------------------

    async def new_session(
        self,
        cwd: str | Path = ".",
        *,
        additional_directories: Sequence[str | Path] = (),
        mcp_servers: Sequence[McpServer | HostMcpServer] = (),
        system_prompt: SystemPrompt | None = None,
        meta: Mapping[str, Any] | None = None,
        force: bool = False,
    ) -> Session:
        """Start a conversation (``session/new``).

        Args:
            cwd: its working directory; made absolute.
            additional_directories: further roots; the agent must offer ``sessionCapabilities.additionalDirectories``.
            mcp_servers: MCP servers for the agent to connect to, and servers of this program
                (:class:`~acp_host.services.mcp.HostMcpServer`), which it calls over this connection.
            system_prompt: instructions for the session; the agent must offer ``sessionCapabilities.systemPrompt``.
            meta: ``_meta`` of the request.
            force: send what was not agreed, too.

        Raises:
            AuthRequired: the agent wants the user to log in first; see :meth:`authenticate`.
            InvalidInput: ``cwd`` is not a directory.
        """
        setup = self._setup(cwd, additional_directories, mcp_servers, system_prompt, meta, force)
        request = NewSessionRequest(**setup.fields)
        return await self._create("session/new", request, setup.roots, force)

    async def load_session(
        self,
        session_id: str,
        cwd: str | Path = ".",
        *,
        additional_directories: Sequence[str | Path] = (),
        mcp_servers: Sequence[McpServer | HostMcpServer] = (),
        system_prompt: SystemPrompt | None = None,
        meta: Mapping[str, Any] | None = None,
        continues: Session | None = None,
        force: bool = False,
    ) -> Session:
        """Take up a conversation again, with its history replayed as updates (``session/load``).

        Arguments and errors as for :meth:`new_session`; ``continues`` is the session's object on an earlier connection,
        whose reminders panel goes on: what was uncertain when that one ended is settled as far as it can be. The replay
        belongs to no turn; most agents send it before they answer, some after. A session that is open on this
        connection is closed first, where the agent offers that and no turn is running; the
        :class:`~acp_host.host.session.Session` stays the same.
        """
        setup = self._setup(cwd, additional_directories, mcp_servers, system_prompt, meta, force)
        request = LoadSessionRequest(session_id=session_id, **setup.fields)
        return await self._reopen("session/load", request, session_id, setup.roots, continues, force)

    async def resume_session(
        self,
        session_id: str,
        cwd: str | Path = ".",
        *,
        additional_directories: Sequence[str | Path] = (),
        mcp_servers: Sequence[McpServer | HostMcpServer] = (),
        system_prompt: SystemPrompt | None = None,
        meta: Mapping[str, Any] | None = None,
        continues: Session | None = None,
        force: bool = False,
    ) -> Session:
        """Take up a conversation again without a replay (``session/resume``); otherwise as :meth:`load_session`."""
        setup = self._setup(cwd, additional_directories, mcp_servers, system_prompt, meta, force)
        request = ResumeSessionRequest(session_id=session_id, **setup.fields)
        return await self._reopen("session/resume", request, session_id, setup.roots, continues, force)

    async def fork_session(
        self,
        session_id: str,
        cwd: str | Path = ".",
        *,
        additional_directories: Sequence[str | Path] = (),
        mcp_servers: Sequence[McpServer | HostMcpServer] = (),
        system_prompt: SystemPrompt | None = None,
        meta: Mapping[str, Any] | None = None,
        force: bool = False,
    ) -> Session:
        """Start a conversation with the history of another (``session/fork``); otherwise as :meth:`new_session`.

        Unstable.
        """
        setup = self._setup(cwd, additional_directories, mcp_servers, system_prompt, meta, force)
        request = ForkSessionRequest(session_id=session_id, **setup.fields)
        return await self._create("session/fork", request, setup.roots, force)

    async def list_sessions(
        self,
        *,
        cwd: str | Path | None = None,
        cursor: str | None = None,
        archived: str | None = None,
        force: bool = False,
    ) -> ListSessionsResponse:
        """Return one page of the conversations that the agent knows (``session/list``).

        Args:
            cwd: only those with this working directory.
            cursor: ``next_cursor`` of the page before; ``None`` for the first page.
            archived: ``"exclude"``, ``"include"`` or ``"only"``; ``None`` for the agent's default. Unstable.
            force: send it although it was not agreed.
        """
        request = ListSessionsRequest(
            cwd=UNSET if cwd is None else _absolute(cwd),
            cursor=UNSET if cursor is None else cursor,
            archived=UNSET if archived is None else archived,
        )
        return await self._call("session/list", request, ListSessionsResponse, force)

    async def close_session(self, session_id: str, *, force: bool = False) -> CloseSessionResponse:
        """Let the agent free what a session holds (``session/close``); the host's processes for it are ended too."""
        request = CloseSessionRequest(session_id)
        response = await self._call("session/close", request, CloseSessionResponse, force)
        await self._forget_session(session_id)
        return response

    async def delete_session(self, session_id: str, *, force: bool = False) -> DeleteSessionResponse:
        """Remove a session from the agent's list (``session/delete``)."""
        request = DeleteSessionRequest(session_id)
        response = await self._call("session/delete", request, DeleteSessionResponse, force)
        await self._forget_session(session_id)
        return response

    async def archive_session(self, session_id: str, *, force: bool = False) -> ArchiveSessionResponse:
        """Put a session away (``session/archive``). Unstable."""
        return await self._call("session/archive", ArchiveSessionRequest(session_id), ArchiveSessionResponse, force)

    async def unarchive_session(self, session_id: str, *, force: bool = False) -> UnarchiveSessionResponse:
        """Bring a session back (``session/unarchive``). Unstable."""
        request = UnarchiveSessionRequest(session_id)
        return await self._call("session/unarchive", request, UnarchiveSessionResponse, force)

    # --- shared -----------------------------------------------------------------------------------------------------

    def _setup(
        self,
        cwd: str | Path,
        additional_directories: Sequence[str | Path],
        mcp_servers: Sequence[McpServer | HostMcpServer],
        system_prompt: SystemPrompt | None,
        meta: Mapping[str, Any] | None,
        force: bool,
    ) -> _Setup:
        """Return what all requests that open a session share, after checking it against the agreement."""
        agreement = self.agreement
        if not force:
            if additional_directories:
                agreement.require_capability("sessionCapabilities.additionalDirectories", "additional directories")
            if system_prompt is not None:
                agreement.require_capability("sessionCapabilities.systemPrompt", "a system prompt")
            for capability in {_MCP_NEEDS[type(server)] for server in mcp_servers if type(server) in _MCP_NEEDS}:
                agreement.require_capability(capability, "MCP servers of this kind")
        roots = [_absolute(cwd), *(_absolute(directory) for directory in additional_directories)]
        for root in roots:
            if not os.path.isdir(root):
                raise InvalidInput(f"{root} is not a directory, so no session can work in it")
        return _Setup(
            roots,
            {
                "cwd": roots[0],
                "mcp_servers": tuple([self._lend(server) for server in mcp_servers]),
                "additional_directories": tuple(roots[1:]) or UNSET,
                "system_prompt": system_prompt or UNSET,
                "meta": meta or UNSET,
            },
        )

    def _lend(self, server: McpServer | HostMcpServer) -> McpServer:
        return self._mcp.lend(server) if isinstance(server, HostMcpServer) else server

    async def _create(self, method: str, request: Any, roots: Sequence[str], force: bool) -> Session:
        """Open a session whose id the agent chooses."""
        with self._mcp.lent(request.mcp_servers) as lent_to:
            session = await self.authentication.logged_in(
                method, lambda: self._create_once(method, request, roots, force)
            )
            lent_to(session.id)
        return session

    async def _create_once(self, method: str, request: Any, roots: Sequence[str], force: bool) -> Session:
        created: list[Session] = []

        def add(response: Any) -> None:
            created.append(self._add_session(response.session_id, roots, response, is_fork=method == "session/fork"))

        with self._sessions.creating():
            # In the same step as the response is read: updates for the new session may follow it at once.
            await self._driver.call(method, request, force=force, on_result=add, on_late=self._close_unwanted)
        return created[0]

    def _close_unwanted(self, response: Any) -> None:
        """Close a session that the agent opened although its caller was cancelled meanwhile; nobody holds it."""
        with suppress(AcpError):  # an agent that does not offer it, or that is gone by now, keeps or loses the session
            self._driver.send("session/close", CloseSessionRequest(response.session_id), lambda _: None)

    async def _reopen(
        self,
        method: str,
        request: Any,
        session_id: str,
        roots: Sequence[str],
        continues: Session | None,
        force: bool,
    ) -> Session:
        """Open a session whose id is known."""
        with self._mcp.lent(request.mcp_servers) as lent_to:
            if not force:
                self.agreement.require(method)
            session = await self.authentication.logged_in(
                method, lambda: self._reopen_once(method, request, session_id, roots, continues, force)
            )
            lent_to(session_id)
        return session

    async def _reopen_once(
        self,
        method: str,
        request: Any,
        session_id: str,
        roots: Sequence[str],
        continues: Session | None,
        force: bool,
    ) -> Session:
        # It is there before the request, so that its replay has a place.
        known = self._sessions.get(session_id)
        if known is None:
            session = self._add_session(session_id, roots, None)
        else:
            session = known
            await self._let_go(session)
            session.cwd = roots[0]
            self._services.open_session(session_id, roots[0], roots[1:], session.terminal_changed)
        if continues is not None:
            session.continue_from(continues)
        session.replay_begins(whole=method == "session/load")
        try:
            # In the same step as the response is read: updates may follow it at once.
            await self._driver.call(
                method, request, force=force, on_result=session.opened, on_error=lambda _: session.replay_ends()
            )
        except BaseException:
            session.replay_ends()  # nothing was sent, or the call was given up
            if known is None:
                await self._forget_session(session_id)
            raise
        return session

    async def _let_go(self, session: Session) -> None:
        """Close a session that is about to be opened again: some agents else keep a process for each time (R28)."""
        if session.current_turn is not None or not self.agreement.supports("session/close"):
            return
        try:
            await self._driver.call("session/close", CloseSessionRequest(session.id))
        except RequestFailed as error:
            text = f"the session could not be closed before it was opened again: {error}"
            note = Diagnostic(DiagnosticKind.UNEXPECTED, text, method="session/close", session_id=session.id)
            self.diagnostics.add(note)
        await self._services.close_session(session.id)

    @abstractmethod
    def _add_session(
        self, session_id: str, roots: Sequence[str], opening: Opening | None, *, is_fork: bool = False
    ) -> Session:
        """Make a session that is open on this connection, and hand it the updates that came before it."""

    async def _forget_session(self, session_id: str) -> None:
        self._sessions.remove(session_id)
        self._mcp.session_closed(session_id)
        await self._services.close_session(session_id)


def _absolute(path: str | Path) -> str:
    return os.path.abspath(os.path.expanduser(path))
