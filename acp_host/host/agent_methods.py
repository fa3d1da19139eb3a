"""The agent's methods that open a session, typed: :class:`AgentMethods`.

Each checks the agreement before anything is sent and raises :class:`~acp_host.errors.NotSupported` naming the missing
capability, unless the quirks table says that the method works or ``force=True`` is passed. All of them raise
:class:`~acp_host.errors.RequestFailed` where the agent refuses, :class:`~acp_host.errors.OutcomeUnknown` where the
connection ends before the answer, and :class:`~acp_host.errors.InvalidInput` for arguments that no agent could take.
"""

from __future__ import annotations

import asyncio
import re
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from acp_host.diagnostics import Diagnostic, DiagnosticKind
from acp_host.errors import AcpError, InvalidParams, RequestFailed
from acp_host.host.child_environment import ChildEnvironment, environment_member
from acp_host.host.kept_sessions import KeptSessions
from acp_host.host.reopening import ReopenedSession, ReopenPolicy, ReopenStep, reopen
from acp_host.host.services import ServiceSet
from acp_host.host.session import Session
from acp_host.host.session_context import Opening
from acp_host.host.session_origin import SessionOrigin
from acp_host.host.session_setup import SessionSetup, secrets_of, session_setup
from acp_host.quirks import QuirkKind
from acp_host.wire.mcp import McpServer
from acp_host.wire.session import (
    CloseSessionRequest,
    ForkSessionRequest,
    LoadSessionRequest,
    LoadSessionResponse,
    NewSessionRequest,
    ResumeSessionRequest,
    SystemPrompt,
)

if TYPE_CHECKING:
    from acp_host.services.mcp import HostMcpServer, McpServers

__all__ = ["AgentMethods"]

_LET_GO = 10.0
"""Seconds that an agent may take to close a session that is to be opened again."""
_LOCKED = re.compile(r"\block(?:ed|s)?\b|\bopen in another process\b", re.IGNORECASE)
_OPEN_ALREADY = re.compile(r"\balready\s+(?:loaded|open)", re.IGNORECASE)


class AgentMethods(KeptSessions):
    """The typed requests of a connection; a base of :class:`~acp_host.host.connection.HostConnection`."""

    _services: ServiceSet
    _mcp: McpServers

    async def new_session(
        self,
        cwd: str | Path = ".",
        *,
        additional_directories: Sequence[str | Path] = (),
        mcp_servers: Sequence[McpServer | HostMcpServer] = (),
        system_prompt: SystemPrompt | None = None,
        meta: Mapping[str, Any] | None = None,
        environment: ChildEnvironment | None = None,
        force: bool = False,
    ) -> Session:
        """Start a conversation (``session/new``).

        Args:
            cwd: its working directory; made absolute. For an agent elsewhere, an absolute path of its machine.
            additional_directories: further roots; the agent must offer ``sessionCapabilities.additionalDirectories``.
            mcp_servers: MCP servers for the agent to connect to, and servers of this program
                (:class:`~acp_host.services.mcp.HostMcpServer`), which it calls over this connection.
            system_prompt: instructions for the session; the agent must offer ``sessionCapabilities.systemPrompt``.
            meta: ``_meta`` of the request.
            environment: what the programs that a Harn agent's model starts get of the agent's environment; ``None``:
                all of it if this host has started the agent, else the agent decides, and may refuse.
            force: send what was not agreed, too.

        Raises:
            AuthRequired: the agent wants the user to log in first; see :meth:`authenticate`.
            InvalidInput: ``cwd`` is not a directory.
        """
        setup = self._setup(cwd, additional_directories, mcp_servers, system_prompt, meta, force, environment)
        told = self._environment(environment, by_default=True, force=force)
        request = NewSessionRequest(**setup.fields, extra=told)
        return await self._create("session/new", request, setup, force)

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
        mcp_servers = self._servers_for("session/load", session_id, mcp_servers)
        setup = self._setup(cwd, additional_directories, mcp_servers, system_prompt, meta, force)
        request = LoadSessionRequest(session_id=session_id, **setup.fields)
        return await self._reopen("session/load", request, session_id, setup, continues, force)

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
        mcp_servers = self._servers_for("session/resume", session_id, mcp_servers)
        setup = self._setup(cwd, additional_directories, mcp_servers, system_prompt, meta, force)
        request = ResumeSessionRequest(session_id=session_id, **setup.fields)
        return await self._reopen("session/resume", request, session_id, setup, continues, force)

    async def fork_session(
        self,
        session_id: str,
        cwd: str | Path = ".",
        *,
        additional_directories: Sequence[str | Path] = (),
        mcp_servers: Sequence[McpServer | HostMcpServer] = (),
        system_prompt: SystemPrompt | None = None,
        meta: Mapping[str, Any] | None = None,
        environment: ChildEnvironment | None = None,
        force: bool = False,
    ) -> Session:
        """Start a conversation with the history of another (``session/fork``); otherwise as :meth:`new_session`.

        ``environment`` can only take something away; ``None`` leaves it as it is in the other. Unstable.
        """
        setup = self._setup(cwd, additional_directories, mcp_servers, system_prompt, meta, force, environment)
        told = self._environment(environment, by_default=False, force=force)
        request = ForkSessionRequest(session_id=session_id, **setup.fields, extra=told)
        return await self._create("session/fork", request, setup, force)

    async def open_session(
        self,
        session_id: str,
        cwd: str | Path = ".",
        *,
        policy: ReopenPolicy | None = None,
        additional_directories: Sequence[str | Path] = (),
        mcp_servers: Sequence[McpServer | HostMcpServer] = (),
        system_prompt: SystemPrompt | None = None,
        meta: Mapping[str, Any] | None = None,
        environment: ChildEnvironment | None = None,
        continues: Session | None = None,
    ) -> ReopenedSession:
        """Take up a conversation again by the first way that works: resume, load, or as another session.

        Arguments as for :meth:`load_session`; what the agent does not offer is left to the next way.

        Args:
            session_id: the session of earlier.
            cwd: its working directory.
            policy: which ways may be tried, in order; ``None`` for all.
            additional_directories: further roots.
            mcp_servers: MCP servers for the agent to connect to.
            system_prompt: instructions for the session.
            meta: ``_meta`` of the requests.
            environment: as for :meth:`new_session`, where another one is begun.
            continues: the session's object on an earlier connection; its reminders go on, except in another session.

        Returns:
            The session, by which way it was opened, and what was lost.

        Raises:
            SessionNotReopened: no way worked. Where the session may still exist no new one is begun, unless the policy
                says so.
            AuthRequired: the user has to log in first.
        """
        rest: dict[str, Any] = {
            "additional_directories": additional_directories,
            "mcp_servers": mcp_servers,
            "system_prompt": system_prompt,
            "meta": meta,
        }

        async def open_by(step: ReopenStep) -> Session:
            if step is ReopenStep.RESUME:
                return await self.resume_session(session_id, cwd, continues=continues, **rest)
            if step is ReopenStep.LOAD:
                return await self.load_session(session_id, cwd, continues=continues, **rest)
            return await self.new_session(cwd, **rest, environment=environment)

        return await reopen(session_id, policy or ReopenPolicy(), open_by, self._lock_may_linger)

    def _lock_may_linger(self, error: RequestFailed) -> bool:
        known = self.agreement.quirk(QuirkKind.LOCK_OUTLIVES_AGENT) is not None
        return known and _LOCKED.search(error.words) is not None

    # --- shared -----------------------------------------------------------------------------------------------------

    def _setup(
        self,
        cwd: str | Path,
        additional_directories: Sequence[str | Path],
        mcp_servers: Sequence[McpServer | HostMcpServer],
        system_prompt: SystemPrompt | None,
        meta: Mapping[str, Any] | None,
        force: bool,
        environment: ChildEnvironment | None = None,
    ) -> SessionSetup:
        """Return what all requests that open a session share, after checking it against the agreement."""
        origin = SessionOrigin(
            cwd=cwd,
            additional_directories=additional_directories,
            mcp_servers=mcp_servers,
            system_prompt=system_prompt,
            meta=meta,
            environment=environment,
        )
        setup = session_setup(origin, None if force else self.agreement, self._mcp.lend, self._directories)
        for server in mcp_servers:
            self.diagnostics.redactor.add(secrets_of(server))
        return setup

    def _environment(self, environment: ChildEnvironment | None, *, by_default: bool, force: bool) -> Mapping[str, Any]:
        started_here = by_default and self._driver.transport.launch is not None
        return environment_member(environment, self.agreement, started_here=started_here, force=force)

    def _servers_for(
        self, method: str, session_id: str, servers: Sequence[McpServer | HostMcpServer]
    ) -> Sequence[McpServer | HostMcpServer]:
        """Return the MCP servers to name where a session is opened again: some agents refuse any."""
        quirk = self.agreement.quirk(QuirkKind.REOPENS_WITHOUT_MCP_SERVERS, method)
        if quirk is None or not servers:
            return servers
        text = f"the MCP servers were left out, since the agent {quirk.why}"
        self.diagnostics.add(Diagnostic(DiagnosticKind.UNEXPECTED, text, method=method, session_id=session_id))
        return ()

    async def _create(self, method: str, request: Any, setup: SessionSetup, force: bool) -> Session:
        """Open a session whose id the agent chooses."""
        with self._mcp.lent(request.mcp_servers) as lent_to:
            session: Session = await self.authentication.logged_in(
                method, lambda: self._create_once(method, request, setup, force)
            )
            lent_to(session.id)
        return session

    async def _create_once(self, method: str, request: Any, setup: SessionSetup, force: bool) -> Session:
        created: list[Session] = []

        def add(response: Any) -> None:
            is_fork = method == "session/fork"
            session = self._add_session(response.session_id, setup.roots, response, is_fork=is_fork)
            session.origin = setup.origin
            created.append(session)

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
        setup: SessionSetup,
        continues: Session | None,
        force: bool,
    ) -> Session:
        """Open a session whose id is known."""
        with self._mcp.lent(request.mcp_servers) as lent_to:
            if not force:
                self.agreement.require(method)
            session: Session = await self.authentication.logged_in(
                method, lambda: self._reopen_once(method, request, session_id, setup, continues, force)
            )
            lent_to(session_id)
        return session

    async def _reopen_once(
        self,
        method: str,
        request: Any,
        session_id: str,
        setup: SessionSetup,
        continues: Session | None,
        force: bool,
    ) -> Session:
        # It is there before the request, so that its replay has a place.
        known = self._sessions.get(session_id)
        if known is None:
            session = self._add_session(session_id, setup.roots, None)
        else:
            session = known
            await self._let_go(session)
            roots, session.cwd = setup.roots, setup.roots[0]
            self._services.open_session(session_id, roots[0], roots[1:], session.terminal_changed)
        if continues is not None:
            session.continue_from(continues)
        session.replay_begins(whole=method == "session/load")
        before, tells_history = session.state.entries_so_far, method == "session/load"

        def opened(response: Any) -> None:
            session.origin = setup.origin
            session.opened(response)

        try:
            # In the same step as the response is read: updates may follow it at once.
            await self._driver.call(
                method, request, force=force, on_result=opened, on_error=lambda _: session.replay_ends()
            )
        except BaseException as error:
            session.replay_ends()  # nothing was sent, or the call was given up
            if self._is_open_already(method, error):
                self._report_open_already(session_id)
                opened(LoadSessionResponse())
                tells_history = False
            else:
                if known is None:
                    await self._forget_session(session_id)
                raise
        # Some agents tell the history on resume, too; some tell it behind the answer to load.
        if tells_history or session.state.entries_so_far > before:
            session.lacks_history = False
        elif known is None:
            session.lacks_history = True
        return session

    def _is_open_already(self, method: str, error: BaseException) -> bool:
        if not isinstance(error, InvalidParams) or method != "session/load":
            return False
        return bool(_OPEN_ALREADY.search(error.message)) and bool(self.agreement.quirk(QuirkKind.OPEN_IS_NOT_LOADED))

    def _report_open_already(self, session_id: str) -> None:
        text = "the agent has the session open already, and does not tell its history again"
        note = Diagnostic(DiagnosticKind.UNEXPECTED, text, method="session/load", session_id=session_id)
        self.diagnostics.add(note)

    async def _let_go(self, session: Session) -> None:
        """Close a session that is about to be opened again: some agents else keep a process for each time (R28)."""
        if session.is_suspended:
            return  # this connection has never had it open
        if session.current_turn is not None or not self.agreement.supports("session/close"):
            return
        self._end_commands(session.id)
        try:
            async with asyncio.timeout(_LET_GO):
                await self._driver.call("session/close", CloseSessionRequest(session.id))
        except (RequestFailed, TimeoutError) as error:
            why = f"no answer within {_LET_GO:g} s" if isinstance(error, TimeoutError) else error
            text = f"the session could not be closed before it was opened again: {why}"
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
