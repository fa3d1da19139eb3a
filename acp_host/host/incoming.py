"""What the agent asks of the host: :class:`IncomingRequests`.

Every request is answered exactly once: by its handler, by an error when the handler raises, or by the withdrawal of the
agent or the cancellation of the turn it belongs to. Handlers run as tasks of the connection; the reader never waits for
one.
"""

from __future__ import annotations

import asyncio
import inspect
import traceback
from collections.abc import Awaitable, Callable
from typing import Any, Protocol

from attrs import define

from acp_host.diagnostics import Diagnostic, DiagnosticKind, throttled
from acp_host.errors import InternalError, InvalidInput, RequestCancelled, RequestFailed
from acp_host.host.driver import Driver
from acp_host.host.tasks import TaskOwner
from acp_host.protocol.events import RequestReceived
from acp_host.wire._model import UNSET, Model
from acp_host.wire.elicitation import ElicitationCancelAction
from acp_host.wire.ids import RequestId
from acp_host.wire.permission import CancelledPermissionOutcome, RequestPermissionResponse

__all__ = ["IncomingRequests", "OpenRequest", "RequestHandler"]

RequestHandler = Callable[[Any], Any | Awaitable[Any]]
"""Takes the parameters (a wire type, or plain JSON for an extension); returns the result or an awaitable of it."""

_CANCELLED_ANSWERS: dict[str, Callable[[], Model]] = {
    "session/request_permission": lambda: RequestPermissionResponse(CancelledPermissionOutcome()),
    "elicitation/create": ElicitationCancelAction,
}
"""Requests that ask the user something → how they are answered when the turn is cancelled."""


@define(eq=False)
class OpenRequest:
    """A request that is being handled.

    Attributes:
        id: the agent's id.
        method: wire method.
        params: its parameters: a wire type, or plain JSON for an extension.
        session: the session that it belongs to; ``None`` if that is not known, or it belongs to none.
        task: runs the handler.
    """

    id: RequestId
    method: str
    params: Any
    session: Asking | None = None
    task: asyncio.Task[None] | None = None

    @property
    def is_question(self) -> bool:
        """Whether it asks the user something."""
        return self.method in _CANCELLED_ANSWERS

    def concerns(self, session_id: str, prompt_id: RequestId) -> bool:
        """Tell whether the request belongs to a session, or to the prompt that runs in it."""
        if getattr(self.params, "session_id", UNSET) == session_id:
            return True
        request_id = getattr(self.params, "request_id", UNSET)
        return request_id is not UNSET and prompt_id is not None and request_id == prompt_id


class Asking(Protocol):
    """A session, as far as the agent's requests concern it."""

    @property
    def is_cancelling(self) -> bool:
        """Whether its turn is being cancelled."""

    def request_begins(self, request: OpenRequest) -> None:
        """Learn that the agent asks for something that belongs to this session."""

    def request_ends(self, request: OpenRequest) -> None:
        """Learn that such a request has been answered."""


class Sessions(Protocol):
    """The sessions of a connection."""

    def get(self, session_id: str) -> Asking | None:
        """Return the session with this id, or ``None``."""


class IncomingRequests:
    """The table of handlers, and the agent's requests that are being handled.

    Args:
        tasks: owns the handlers' tasks.
        report: takes diagnostics.
    """

    def __init__(self, tasks: TaskOwner, report: Callable[[Diagnostic], None]) -> None:
        self._tasks = tasks
        self._report = throttled(report)
        self._handlers: dict[str, RequestHandler] = {}
        self._open: dict[tuple[type, RequestId], OpenRequest] = {}
        self._prompts: dict[RequestId, str] = {}
        self._driver: Driver | None = None
        self._sessions: Sessions = {}

    def attach(self, driver: Driver, sessions: Sessions) -> None:
        """Say where the answers go, and whose the requests may be."""
        self._driver = driver
        self._sessions = sessions

    def prompt_is(self, session_id: str, prompt_id: RequestId, earlier: RequestId) -> None:
        """Learn the id of a session's newest prompt, and of the one before; ``None`` for none.

        A question may name the prompt in place of the session that it belongs to.
        """
        self._prompts.pop(earlier, None)
        if prompt_id is not None:
            self._prompts[prompt_id] = session_id

    def serve(self, method: str, handler: RequestHandler) -> None:
        """Answer requests of ``method`` with ``handler``, in place of what answered them before."""
        self._handlers[method] = handler

    def serves(self, method: str) -> bool:
        """Tell whether ``method`` has a handler."""
        return method in self._handlers

    def receive(self, event: RequestReceived) -> None:
        """Start to handle a request."""
        request = OpenRequest(event.id, event.method, event.params, self._session_of(event.params))
        self._open[type(event.id), event.id] = request
        if not self._tasks.is_open:
            self._answer(request, RequestCancelled("the host is closing the connection"))
            return
        cancelled = _CANCELLED_ANSWERS.get(request.method)
        if cancelled is not None and request.session is not None and request.session.is_cancelling:
            # It crossed the cancel on its way: nobody is to be asked about a turn that they have ended (R60).
            self._answer(request, cancelled())
            return
        if request.session is not None:
            request.session.request_begins(request)
        request.task = self._tasks.start(self._handle(request, self._handlers[event.method]))

    def withdraw(self, request_id: RequestId) -> None:
        """Answer a request that the agent withdrew (``$/cancel_request``), and cancel its handler."""
        request = self._open.get((type(request_id), request_id))
        if request is not None:
            self._close(request, RequestCancelled("the request was cancelled"))

    def is_waiting(self, session_id: str, prompt_id: RequestId) -> bool:
        """Tell whether a request of a session is being handled; arguments as for :meth:`cancel_questions`."""
        return any(request.concerns(session_id, prompt_id) for request in self._open.values())

    def cancel_questions(self, session_id: str, prompt_id: RequestId) -> None:
        """Answer every open question of a session as cancelled, without writing yet; other requests go on.

        Args:
            session_id: the session.
            prompt_id: id of the prompt that runs in it; questions that name it belong to the session too.
        """
        for request in tuple(self._open.values()):
            answer = _CANCELLED_ANSWERS.get(request.method)
            if answer is not None and request.concerns(session_id, prompt_id):
                self._close(request, answer(), write=False)

    def cancel_all(self) -> None:
        """Answer everything that is open: questions as cancelled, the rest with an error."""
        for request in tuple(self._open.values()):
            answer = _CANCELLED_ANSWERS.get(request.method)
            self._close(request, answer() if answer else RequestCancelled("the host is closing the connection"))

    def _session_of(self, params: Any) -> Asking | None:
        session_id = getattr(params, "session_id", None) or self._prompts.get(getattr(params, "request_id", None))
        return None if session_id is None else self._sessions.get(session_id)

    async def _handle(self, request: OpenRequest, handler: RequestHandler) -> None:
        try:
            result = handler(request.params)
            if inspect.isawaitable(result):
                result = await result
            self._answer(request, result)
        except RequestFailed as error:
            self._answer(request, error)
        except asyncio.CancelledError:
            self._answer(request, RequestCancelled("the host is closing the connection"))
            raise
        except BaseException as error:  # pytest.fail() raises none of Exception; it must not end the task group
            self._report_failure(request, error)
            self._answer(request, InternalError(f"the host failed to handle {request.method}"))
            if isinstance(error, KeyboardInterrupt | SystemExit):
                raise

    def _answer(self, request: OpenRequest, answer: Any, *, write: bool = True) -> None:
        """Answer a request unless it was answered before."""
        if self._open.get((type(request.id), request.id)) is not request:
            return
        del self._open[type(request.id), request.id]
        if request.session is not None:
            request.session.request_ends(request)
        assert self._driver is not None
        protocol = self._driver.protocol
        if isinstance(answer, RequestFailed):
            protocol.respond_error(request.id, answer)
        else:
            try:
                protocol.respond(request.id, request.method, answer)
            except InvalidInput as error:
                self._report_failure(request, error)
                protocol.respond_error(request.id, InternalError(f"the host's answer to {request.method} is invalid"))
        if write:
            self._driver.flush()

    def _close(self, request: OpenRequest, answer: Any, *, write: bool = True) -> None:
        self._answer(request, answer, write=write)
        if request.task is not None:
            request.task.cancel()

    def _report_failure(self, request: OpenRequest, error: BaseException) -> None:
        self._report(
            Diagnostic(
                DiagnosticKind.HANDLER_FAILED,
                f"the handler of {request.method} failed: {type(error).__name__}: {error}",
                method=request.method,
                session_id=getattr(request.params, "session_id", None),
                data="".join(traceback.format_exception(error, limit=-5)),
            )
        )
