"""Puts the services that an application passes, a :class:`ServiceSet`, behind the agent's requests."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from attrs import field, frozen

from acp_host.diagnostics import Diagnostic, DiagnosticKind, throttled
from acp_host.errors import ResourceNotFound
from acp_host.host.incoming import IncomingRequests
from acp_host.host.permission_gate import PermissionGate
from acp_host.host.session import Session
from acp_host.host.session_table import SessionTable
from acp_host.protocol.negotiation import Agreement, Registered
from acp_host.quirks import QuirkKind
from acp_host.services.audit import Attribution, AuditDecision, AuditTrail, DecidedBy
from acp_host.services.elicitation_handlers import ElicitationHandlers
from acp_host.services.permissions import Permissions
from acp_host.wire._model import UNSET, evolve
from acp_host.wire.files import ReadTextFileResponse, WriteTextFileRequest, WriteTextFileResponse
from acp_host.wire.terminals import CreateTerminalRequest

if TYPE_CHECKING:
    from acp_host.services.files import FileService
    from acp_host.services.terminals import TerminalListener, TerminalService
    from acp_host.wire.elicitation import (
        CompleteElicitationNotification,
        CreateElicitationRequest,
        CreateElicitationResponse,
    )
    from acp_host.wire.terminals import CreateTerminalResponse, WaitForTerminalExitRequest, WaitForTerminalExitResponse

__all__ = ["ServiceHandlers", "ServiceSet"]


@frozen(kw_only=True)
class ServiceSet:
    """What the host does for the agent.

    Attributes:
        files: answers ``fs/*``; ``None``: not offered.
        terminals: answers ``terminal/*``; ``None``: not offered.
        permissions: how it is decided what the agent may do; the default rejects what it asks permission for.
        audit: takes a record of everything that it was allowed or refused.
        elicitation: answers ``elicitation/create``; without handlers it is not offered.
    """

    files: FileService | None = None
    terminals: TerminalService | None = None
    permissions: Permissions = field(factory=lambda: Permissions.of(None))
    audit: AuditTrail = field(factory=AuditTrail)
    elicitation: ElicitationHandlers = field(factory=ElicitationHandlers)

    def registered(self, *, auth_terminal: bool, notices: bool, unstable: bool) -> Registered:
        """Return what the handshake may offer."""
        return Registered(
            read_files=self.files is not None and self.files.can_read,
            write_files=self.files is not None and self.files.can_write,
            terminals=self.terminals is not None,
            elicitation_form=self.elicitation.form is not None,
            elicitation_url=self.elicitation.url is not None,
            auth_terminal=auth_terminal,
            notices=notices,
            unstable=unstable,
        )

    def open_session(
        self, session_id: str, cwd: str, additional_directories: Sequence[str], on_terminal: TerminalListener
    ) -> None:
        """Tell the services where a session works, and who wants to know what its commands do."""
        roots = [cwd, *additional_directories]
        if self.files is not None:
            self.files.open_session(session_id, roots)
        if self.terminals is not None:
            self.terminals.open_session(session_id, roots, cwd, on_terminal)

    async def text_of(self, request: WriteTextFileRequest) -> str | None:
        """Return the text that a file has now, which the agent wants to write; ``None`` if there is none to be read."""
        return None if self.files is None else await self.files.current_text(request.session_id, request.path)

    async def turn_cancelled(self, session_id: str) -> None:
        """End the commands of a cancelled turn; some agents leave them running."""
        if self.terminals is not None:
            await self.terminals.kill_all(session_id)

    async def close_session(self, session_id: str) -> None:
        """Tell the services that a session is over; its processes are ended."""
        if self.files is not None:
            self.files.close_session(session_id)
        if self.terminals is not None:
            await self.terminals.close_session(session_id)

    async def close(self) -> None:
        """End everything that runs for the agent."""
        if self.terminals is not None:
            await self.terminals.close()


class ServiceHandlers:
    """The handlers that answer the agent's requests with a :class:`ServiceSet`.

    Args:
        services: the services.
        gate: decides what the agent may do.
        sessions: says which sessions exist.
        agreement: returns what was agreed with the agent.
        report: takes diagnostics.
    """

    def __init__(
        self,
        services: ServiceSet,
        gate: PermissionGate,
        sessions: SessionTable,
        agreement: Callable[[], Agreement],
        report: Callable[[Diagnostic], None],
    ) -> None:
        self._services = services
        self._gate = gate
        self._sessions = sessions
        self._agreement = agreement
        self._report = throttled(report)

    def register(self, incoming: IncomingRequests) -> None:
        """Put a handler behind every method that has a service."""
        incoming.serve("session/request_permission", self._gate.answer)
        files, terminals = self._services.files, self._services.terminals
        in_session = partial(self._in_session, incoming)
        if files is not None:
            files.looking = incoming.ending_with_turn
        if files is not None and files.can_read:
            incoming.serve("fs/read_text_file", in_session(self._read_text_file))
        if files is not None and files.can_write:
            files.asking = lambda request: incoming.asking(request, request)
            incoming.serve("fs/write_text_file", in_session(self._write_text_file))
        if terminals is not None:
            incoming.serve("terminal/create", in_session(self._create_terminal))
            incoming.serve("terminal/output", in_session(terminals.output))
            incoming.serve("terminal/wait_for_exit", in_session(self._wait_for_exit))
            incoming.serve("terminal/kill", in_session(terminals.kill))
            incoming.serve("terminal/release", in_session(terminals.release))
        if self._services.elicitation != ElicitationHandlers():
            incoming.serve("elicitation/create", partial(self._create_elicitation, incoming))

    def _in_session(
        self, incoming: IncomingRequests, handler: Callable[[Any], Awaitable[Any]]
    ) -> Callable[[Any], Awaitable[Any]]:
        """Wrap a handler so that it runs once the session of its request is known.

        A subagent works in the directories of the session that has announced it, whatever it says of its own.
        """

        async def handle(params: Any) -> Any:
            try:
                session = await self._known_session(params.session_id)
            except ResourceNotFound:
                incoming.attribute(params, Attribution(DecidedBy.HOST, decision=AuditDecision.REJECTED))
                raise
            if session.id != params.session_id:
                own, params = params, _of_parent(params, session)
                incoming.means(own, params)
            return await handler(params)

        return handle

    async def _known_session(self, session_id: str) -> Session:
        """Return a session; while one is being created the agent may use its id before it has told us."""
        while (session := self._sessions.owner(session_id)) is None:
            if not self._sessions.is_creating:
                raise ResourceNotFound(f"there is no session {session_id}", data={"sessionId": session_id})
            created = asyncio.Event()
            self._sessions.when_created(created.set)
            await created.wait()
        return session

    async def _read_text_file(self, params: Any) -> ReadTextFileResponse:
        assert self._services.files is not None
        try:
            return await self._services.files.read_text_file(params)
        except ResourceNotFound:
            if self._agreement().quirk(QuirkKind.MISSING_FILE_READS_EMPTY) is not None:
                return ReadTextFileResponse("")
            raise

    async def _write_text_file(self, params: WriteTextFileRequest) -> WriteTextFileResponse:
        assert self._services.files is not None
        session = await self._known_session(params.session_id)
        await self._gate.admit(params)
        session.file_written(params.path)  # whoever watches the disk may see it before the write has returned
        try:
            return await self._services.files.write_text_file(params)
        finally:
            session.file_written(params.path)

    async def _create_terminal(self, request: CreateTerminalRequest) -> CreateTerminalResponse:
        assert self._services.terminals is not None
        command = await self._services.terminals.describe(request)  # what cannot be run, nobody is asked about
        await self._gate.admit(request, is_program=not command.via_shell and command.shell is None)
        return await self._services.terminals.create(request, command)

    async def _wait_for_exit(self, request: WaitForTerminalExitRequest) -> WaitForTerminalExitResponse:
        """Answer when the command has ended, to Harn with the output in the answer: it takes it from nowhere else.

        Both outputs are one here, in the order in which they were printed.
        """
        assert self._services.terminals is not None
        known = self._services.terminals.terminals(request.session_id)  # it may be released while it is waited for
        response = await self._services.terminals.wait_for_exit(request)
        terminal = next((terminal for terminal in known if terminal.terminal_id == request.terminal_id), None)
        if terminal is None:
            return response
        if terminal.command.shell is None and self._agreement().harn is None:
            return response
        return evolve(response, extra={"stdout": terminal.output, "stderr": "", "combined": terminal.output})

    async def _create_elicitation(
        self, incoming: IncomingRequests, request: CreateElicitationRequest
    ) -> CreateElicitationResponse:
        from acp_host.services.elicitation import answer_elicitation  # loaded for agents that ask something

        def decided_here(why: str) -> None:
            incoming.attribute(request, Attribution(DecidedBy.HOST, detail=why))

        return await answer_elicitation(self._services.elicitation, request, self._report, decided_here)

    def elicitation_completed(self, notification: CompleteElicitationNotification) -> bool:
        """Take the agent's word that the user is done on a page; return whether anybody here keeps account of them."""
        from acp_host.services.elicitation_queue import ElicitationQueue

        queue = self._services.elicitation.url
        if not isinstance(queue, ElicitationQueue):
            return False
        if not queue.complete(notification.elicitation_id):
            text = f"the page visit {notification.elicitation_id} is over, but none of this id was under way"
            self._report(Diagnostic(DiagnosticKind.UNEXPECTED, text, method="elicitation/complete"))
        return True


def _of_parent(params: Any, session: Session) -> Any:
    """Return the parameters of a subagent's request as those of its session; commands start where the subagent is."""
    changes: dict[str, Any] = {"session_id": session.id}
    if isinstance(params, CreateTerminalRequest) and not params.cwd:
        changes["cwd"] = session.subagents.cwd(params.session_id) or UNSET
    return evolve(params, **changes)
