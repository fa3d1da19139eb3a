"""The agent's methods about the sessions that it keeps, by id, open or not: :class:`KeptSessions`.

They check and raise as those of :mod:`acp_host.host.agent_methods` do.
"""

from __future__ import annotations

import asyncio
from abc import abstractmethod
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, TypeVar

from acp_host.diagnostics import Diagnostic, DiagnosticKind
from acp_host.errors import InvalidInput, RequestFailed, ResourceNotFound
from acp_host.host.account_methods import AccountMethods
from acp_host.host.directories import Directories
from acp_host.host.session_gone import says_gone
from acp_host.host.session_methods import title_request
from acp_host.host.session_table import SessionTable
from acp_host.wire._model import UNSET
from acp_host.wire.session import (
    ArchiveSessionRequest,
    ArchiveSessionResponse,
    CloseSessionRequest,
    CloseSessionResponse,
    DeleteSessionRequest,
    DeleteSessionResponse,
    ListSessionsRequest,
    ListSessionsResponse,
    SessionInfo,
    SessionStatusRequest,
    SessionStatusResponse,
    SetSessionTitleResponse,
    UnarchiveSessionRequest,
    UnarchiveSessionResponse,
)

__all__ = ["KeptSessions"]

_T = TypeVar("_T")

_MAX_PAGES = 1_000
"""Pages of a list that are asked for at most; an agent may have a next page for ever."""


class KeptSessions(AccountMethods):
    """The typed requests about kept sessions; a base of :class:`~acp_host.host.connection.HostConnection`."""

    _sessions: SessionTable
    _directories: Directories

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
            cwd=UNSET if cwd is None else self._directories.absolute(cwd),
            cursor=UNSET if cursor is None else cursor,
            archived=UNSET if archived is None else archived,
        )
        return await self._call("session/list", request, ListSessionsResponse, force)

    async def iter_sessions(
        self,
        *,
        cwd: str | Path | None = None,
        archived: str | None = None,
        limit: int = 10_000,
        force: bool = False,
    ) -> AsyncIterator[SessionInfo]:
        """Iterate over the conversations that the agent knows, page by page as they are wanted.

        Each is told once. A cursor that comes again, 1,000 pages or ``limit`` sessions end it, with a diagnostic.

        Args:
            cwd: only those with this working directory.
            archived: as for :meth:`list_sessions`.
            limit: how many at most.
            force: send it although it was not agreed.

        Raises:
            InvalidInput: ``limit`` is not positive.
        """
        if limit < 1:
            raise InvalidInput(f"limit is 1 or more, not {limit}")
        told: set[str] = set()
        cursors: set[str] = set()
        cursor: str | None = None
        while True:
            page = await self.list_sessions(cwd=cwd, cursor=cursor, archived=archived, force=force)
            for info in page.sessions:
                if info.session_id in told:
                    continue
                if len(told) == limit:
                    self._report_list(f"has more than {limit} entries; the rest was left out")
                    return
                told.add(info.session_id)
                yield info
            cursor = page.next_cursor or None
            if cursor is None:
                return
            if cursor in cursors or len(cursors) == _MAX_PAGES:
                what = "came back to a page of before" if cursor in cursors else f"has more than {_MAX_PAGES} pages"
                self._report_list(f"{what}; it was taken as over")
                return
            cursors.add(cursor)

    async def session_status(self, session_id: str, *, force: bool = False) -> SessionStatusResponse:
        """Ask whether the agent holds a session open (``session/status``). Unstable.

        Raises:
            ResourceNotFound: the agent does not know it.
        """
        return await self._call("session/status", SessionStatusRequest(session_id), SessionStatusResponse, force)

    async def set_session_title(self, session_id: str, title: str, *, force: bool = False) -> SetSessionTitleResponse:
        """Name a session (``session/set_title``); the answer has the title as the agent stored it. Unstable.

        Raises:
            InvalidInput: the title is blank.
        """
        session = self._sessions.get(session_id)
        if session is not None:
            return await session.set_title(title, force=force)
        request = title_request(session_id, title)
        return await self._call("session/set_title", request, SetSessionTitleResponse, force)

    async def close_session(
        self, session_id: str, *, force: bool = False, timeout: float | None = None
    ) -> CloseSessionResponse:
        """Let the agent free what a session holds (``session/close``); the host's processes for it are ended too.

        A session that the agent does not know is closed. ``timeout`` is as for :meth:`Session.close`.
        """
        request = CloseSessionRequest(session_id)
        return await self._finish_session("session/close", request, session_id, CloseSessionResponse, force, timeout)

    async def delete_session(self, session_id: str, *, force: bool = False) -> DeleteSessionResponse:
        """Remove a session from the agent's list (``session/delete``); one that it does not know is deleted."""
        request = DeleteSessionRequest(session_id)
        return await self._finish_session("session/delete", request, session_id, DeleteSessionResponse, force)

    async def archive_session(self, session_id: str, *, force: bool = False) -> ArchiveSessionResponse:
        """Put a session away (``session/archive``), which closes it. Unstable."""
        request = ArchiveSessionRequest(session_id)
        response = await self._call("session/archive", request, ArchiveSessionResponse, force)
        await self._forget_session(session_id)
        return response

    async def unarchive_session(self, session_id: str, *, force: bool = False) -> UnarchiveSessionResponse:
        """Bring a session back to the list (``session/unarchive``), without opening it. Unstable."""
        request = UnarchiveSessionRequest(session_id)
        return await self._call("session/unarchive", request, UnarchiveSessionResponse, force)

    async def _finish_session(
        self,
        method: str,
        request: Any,
        session_id: str,
        result: type[_T],
        force: bool,
        timeout: float | None = None,
    ) -> _T:
        """Close or delete a session; if the agent does not know it, that is what was wanted."""
        if force or self.agreement.supports(method):
            self._end_commands(session_id)  # an agent may wait for them before it answers
        try:
            async with asyncio.timeout(timeout):
                response = await self._call(method, request, result, force)
        except RequestFailed as error:
            if not isinstance(error, ResourceNotFound) and not says_gone(error, session_id, was_open=False):
                raise
            text = f"the agent does not know the session, so there was nothing to do: {error}"
            note = Diagnostic(DiagnosticKind.UNEXPECTED, text, method=method, session_id=session_id)
            self.diagnostics.add(note)
            response = result()
        await self._forget_session(session_id)
        return response

    def _report_list(self, what: str) -> None:
        text = f"the agent's list of sessions {what}"
        self.diagnostics.add(Diagnostic(DiagnosticKind.UNEXPECTED, text, method="session/list"))

    @abstractmethod
    def _end_commands(self, session_id: str) -> None:
        """Begin to end what runs for a session in the host's terminals."""

    @abstractmethod
    async def _forget_session(self, session_id: str) -> None:
        """Free what the host holds for a session that is over."""
