"""What the agent asks of the host: :class:`IncomingRequests`.

Every request is answered exactly once: by its handler, by an error when the handler raises, or by the withdrawal of the
agent or the cancellation of the turn it belongs to. Which requests a turn takes with it: the user's questions, and what
is served by a :class:`TurnHandler`. Handlers run as tasks of the connection; the reader never waits for one.
"""

from __future__ import annotations

import asyncio
import traceback
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Protocol

from attrs import define, field, frozen

from acp_host.diagnostics import Diagnostic, DiagnosticKind, excerpt, throttled
from acp_host.errors import InternalError, InvalidInput, RequestCancelled, RequestFailed
from acp_host.host.driver import MOST_UNREAD, Driver
from acp_host.host.tasks import TaskOwner
from acp_host.protocol.events import RequestReceived
from acp_host.services._awaiting import awaited
from acp_host.services.audit import Attribution
from acp_host.services.permission_options import PermissionDecision, outcome_for
from acp_host.wire._model import UNSET, Model
from acp_host.wire.harn.correlation import prompt_name
from acp_host.wire.ids import RequestId
from acp_host.wire.permission import (
    CancelledPermissionOutcome,
    RequestPermissionRequest,
    RequestPermissionResponse,
)

__all__ = ["HandlerFailed", "IncomingRequests", "OpenRequest", "RequestHandler", "TurnHandler"]

MOST_OPEN = 1_000
"""Requests of the agent that are handled at once; what comes beyond is answered with an error, so that neither tasks
nor questions pile up without an end."""

_LARGE = frozenset({"fs/read_text_file", "terminal/output"})
"""Requests that change nothing and whose answers are as large as the agent pleases."""

RequestHandler = Callable[[Any], Any | Awaitable[Any]]
"""Takes the parameters (a wire type, or plain JSON for an extension); returns the result or an awaitable of it."""


class HandlerFailed(RequestFailed):
    """Raised by a handler that has failed and says what the agent is answered; its cause becomes a diagnostic."""


@frozen
class TurnHandler:
    """A handler whose work is part of a turn: when that is cancelled it is too, and the request answered with an error.

    A request that names no session belongs to the only one that has a turn on the wire, if there is just one.

    Attributes:
        handle: the handler itself.
    """

    handle: RequestHandler

    def __call__(self, params: Any) -> Any | Awaitable[Any]:
        """Handle a request."""
        return self.handle(params)


def _cancelled_question() -> Model:
    from acp_host.wire.elicitation import ElicitationCancelAction  # loaded for agents that ask something

    return ElicitationCancelAction()


_CANCELLED_ANSWERS: dict[str, Callable[[], Model]] = {
    "session/request_permission": lambda: RequestPermissionResponse(CancelledPermissionOutcome()),
    "elicitation/create": _cancelled_question,
}
"""Requests that ask the user something → how they are answered when the turn is cancelled."""


@define(eq=False)
class OpenRequest:
    """A request that is being handled.

    Attributes:
        id: the agent's id.
        method: wire method.
        params: its parameters: a wire type, or plain JSON for an extension.
        meant: what its handler works with in their place; ``None``: they are what is meant.
        session: the session that it belongs to; ``None`` if that is not known, or it belongs to none.
        asks: what the user is asked about it at the moment; ``None``: nothing.
        of_turn: it ends with its turn, whatever it is.
        by_host: it was answered here, in place of its handler.
        handler_failed: its handler raised what is no answer, or returned none that can be sent.
        attribution: who decided about it; ``None``: nobody has said so.
        task: runs the handler.
    """

    id: RequestId
    method: str
    params: Any
    meant: Any = field(default=None, kw_only=True)
    session: Asking | None = None
    asks: Any = None
    of_turn: bool = False
    by_host: bool = False
    handler_failed: bool = False
    attribution: Attribution | None = None
    task: asyncio.Task[None] | None = None

    @property
    def is_question(self) -> bool:
        """Whether the user has something to answer."""
        return self.asks is not None

    @property
    def ends_with_turn(self) -> bool:
        """Whether nobody is to see to it any more once its turn is cancelled."""
        return self.is_question or self.of_turn

    @property
    def when_cancelled(self) -> Any:
        """The answer when nobody is to see to it any more."""
        if self.of_turn:
            return RequestCancelled("the turn was cancelled")
        answer = _CANCELLED_ANSWERS.get(self.method)
        return answer() if answer else RequestCancelled("the turn was cancelled before anybody had permitted this")

    def concerns(self, session_id: str, prompt_id: RequestId) -> bool:
        """Tell whether the request belongs to a session or a subagent of it, or to the prompt that runs in it."""
        if getattr(self.params, "session_id", UNSET) == session_id:
            return True
        if self.session is not None and self.session.id == session_id:
            return True
        request_id = getattr(self.params, "request_id", UNSET)
        return request_id is not UNSET and prompt_id is not None and request_id == prompt_id


class Asking(Protocol):
    """A session, as far as the agent's requests concern it."""

    id: str

    @property
    def is_cancelling(self) -> bool:
        """Whether its turn is being cancelled."""

    def is_over(self, prompt: str) -> bool:
        """Tell whether the turn is over whose prompt has this name, which a Harn agent was given."""

    def request_begins(self, request: OpenRequest) -> None:
        """Learn that the agent asks for something that belongs to this session."""

    def request_ends(self, request: OpenRequest) -> None:
        """Learn that such a request has been answered."""

    def question_begins(self, request: OpenRequest) -> None:
        """Learn that the user is asked about such a request from now on."""

    def question_shown(self, request: OpenRequest) -> None:
        """Learn that the user is to answer it although another program was to, before."""

    def question_ends(self, request: OpenRequest) -> None:
        """Learn that the user is asked about it no more."""


class Sessions(Protocol):
    """The sessions of a connection."""

    def owner(self, session_id: str) -> Asking | None:
        """Return the session with this id, or the one whose subagent has it, or ``None``."""

    def of_prompt(self, name: str) -> Asking | None:
        """Return the session that has sent the prompt with this name, or ``None``."""

    def only_busy(self) -> Asking | None:
        """Return the session that has a turn on the wire, if there is just one."""


class IncomingRequests:
    """The table of handlers, and the agent's requests that are being handled.

    Args:
        tasks: owns the handlers' tasks.
        report: takes diagnostics.
        answered: told of every answer as it is sent.
    """

    def __init__(
        self,
        tasks: TaskOwner,
        report: Callable[[Diagnostic], None],
        answered: Callable[[OpenRequest, Any], None] = lambda request, answer: None,
    ) -> None:
        self._tasks = tasks
        self._report = throttled(report)
        self._answered = answered
        self._handlers: dict[str, RequestHandler] = {}
        self._open: dict[tuple[type, RequestId], OpenRequest] = {}
        self._prompts: dict[RequestId, str] = {}
        self._driver: Driver | None = None
        self._sessions: Sessions | None = None

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
        if not callable(handler):
            raise InvalidInput(f"requests of {method} are answered by a function, not {type(handler).__name__}")
        self._handlers[method] = handler

    def serves(self, method: str) -> bool:
        """Tell whether ``method`` has a handler."""
        return method in self._handlers

    def receive(self, event: RequestReceived) -> None:
        """Start to handle a request."""
        handler = self._handlers[event.method]
        request = OpenRequest(event.id, event.method, event.params, of_turn=isinstance(handler, TurnHandler))
        request.session = self._session_of(request)
        if event.method in _CANCELLED_ANSWERS:
            request.asks = event.params
        self._open[type(event.id), event.id] = request
        if not self._tasks.is_open:
            self._refuse(request, RequestCancelled("the host is closing the connection"))
            return
        if len(self._open) > MOST_OPEN:
            self._refuse(request, self._too_many(event))
            return
        if request.ends_with_turn and request.session is not None and request.session.is_cancelling:
            # It crossed the cancel on its way: nobody is to be asked about a turn that they have ended (R60).
            self._refuse(request, request.when_cancelled)
            return
        prompt = prompt_name(event.params)
        if prompt is not None and request.session is not None and request.session.is_over(prompt):
            self._refuse(request, RequestCancelled("Inactive prompt: the turn that this belongs to is over"))
            return
        if request.session is not None:
            request.session.request_begins(request)
        request.task = self._tasks.start(self._handle(request, handler))

    def _too_many(self, event: RequestReceived) -> InternalError:
        problem = f"{MOST_OPEN} requests of the agent are open; this one was not handled"
        self._report(Diagnostic(DiagnosticKind.UNEXPECTED, problem, method=event.method, data=excerpt(event.line)))
        return InternalError(f"{MOST_OPEN} requests wait for their answers; ask again when there are fewer")

    def _unread(self, request: OpenRequest) -> InternalError | None:
        """Return the error that a request is answered with in place of more than the agent reads, if it is so."""
        if request.method not in _LARGE or self._driver is None or not self._driver.is_overfull:
            return None
        problem = f"{MOST_UNREAD // 2**20} MiB wait to be read by the agent; what it asked for was not added to them"
        self._report(Diagnostic(DiagnosticKind.UNEXPECTED, problem, method=request.method))
        return InternalError(f"{MOST_UNREAD // 2**20} MiB wait to be read; ask again when you have read them")

    def _refuse(self, request: OpenRequest, answer: Any) -> None:
        """Answer a request that nobody begins to handle, and nobody is asked about."""
        request.by_host, request.asks = True, None
        if request.session is not None:
            request.session.request_begins(request)
        self._answer(request, answer)

    def withdraw(self, request_id: RequestId) -> None:
        """Answer a request that the agent withdrew (``$/cancel_request``), and cancel its handler."""
        request = self._open.get((type(request_id), request_id))
        if request is not None:
            self._close(request, RequestCancelled("the request was cancelled"))

    def is_waiting(self, session_id: str, prompt_id: RequestId) -> bool:
        """Tell whether a request of a session is being handled; arguments as for :meth:`cancel_questions`."""
        return any(request.concerns(session_id, prompt_id) for request in self._open.values())

    def cancel_questions(self, session_id: str, prompt_id: RequestId) -> None:
        """Answer what ends with a session's turn as cancelled, without writing yet; other requests go on.

        Args:
            session_id: the session.
            prompt_id: id of the prompt that runs in it; questions that name it belong to the session too.
        """
        for request in tuple(self._open.values()):
            if request.ends_with_turn and request.concerns(session_id, prompt_id):
                self._close(request, request.when_cancelled, write=False)

    def call_ended(self, session_id: str, tool_call_id: str) -> None:
        """Answer the questions about a tool call that is over: nobody needs the user's answer any more."""
        for request in tuple(self._open.values()):
            params = request.params
            if not request.is_question or getattr(params, "session_id", None) != session_id:
                continue
            if isinstance(params, RequestPermissionRequest) and params.tool_call.tool_call_id == tool_call_id:
                refusal = outcome_for(PermissionDecision.REJECT_ONCE, params.options)
                self._close(request, RequestPermissionResponse(refusal))
            elif getattr(params, "tool_call_id", None) == tool_call_id:
                self._close(request, request.when_cancelled)

    def means(self, params: Any, meant: Any) -> None:
        """Learn that the handler of an open request works with other parameters in place of its own."""
        request = self.by_params(params)
        if request is not None:
            request.meant = meant

    def attribute(self, params: Any, attribution: Attribution) -> None:
        """Learn who decided about a request; one that has been answered meanwhile stays as it was.

        Args:
            params: the parameters that the request's handler works with.
            attribution: who, and what else the audit trail is to have of it.
        """
        request = self.by_params(params)
        if request is not None:
            request.attribution = attribution

    @contextmanager
    def asking(self, params: Any, question: Any) -> Iterator[None]:
        """Show that the user is asked about an open request while the block runs.

        Meanwhile it is a question like one of the agent's own: it is withdrawn when the turn is cancelled.

        Args:
            params: the parameters that the request's handler works with.
            question: what the user is asked.

        Raises:
            RequestCancelled: nobody waits for it, or its turn is being cancelled.
        """
        request = self.by_params(params)
        if request is None or (request.session is not None and request.session.is_cancelling):
            raise RequestCancelled("the turn was cancelled before anybody had permitted this")
        request.asks = question
        if request.session is not None:
            request.session.question_begins(request)
        try:
            yield
        finally:
            if request.asks is not None and request.session is not None:
                request.session.question_ends(request)
            request.asks = None

    @contextmanager
    def ending_with_turn(self) -> Iterator[None]:
        """End the open request that this task handles with its turn while the block runs: the block may take for ever.

        Raises:
            RequestCancelled: its turn is being cancelled.
        """
        task = asyncio.current_task()
        request = next((request for request in self._open.values() if request.task is task), None)
        if request is None:
            yield
            return
        if request.session is not None and request.session.is_cancelling:
            raise RequestCancelled("the turn was cancelled")
        before, request.of_turn = request.of_turn, True
        try:
            yield
        finally:
            request.of_turn = before

    def show_question(self, params: Any) -> None:
        """Show a question that was another program's to answer; ``params``: those of the request."""
        request = self.by_params(params)
        if request is not None and request.session is not None:
            request.session.question_shown(request)

    def cancel_all(self) -> None:
        """Answer everything that is open: questions as cancelled, the rest with an error."""
        for request in tuple(self._open.values()):
            closing = RequestCancelled("the host is closing the connection")
            self._close(request, request.when_cancelled if request.method in _CANCELLED_ANSWERS else closing)

    def by_params(self, params: Any) -> OpenRequest | None:
        """Return the open request with the very parameters that its handler works with, or ``None``."""
        found = (request for request in self._open.values() if params is request.params or params is request.meant)
        return next(found, None)

    def _session_of(self, request: OpenRequest) -> Asking | None:
        if self._sessions is None:
            return None
        params = request.params
        if isinstance(params, Mapping):  # of an extension
            session_id = params.get("sessionId")
        else:
            session_id = getattr(params, "session_id", None) or self._prompts.get(getattr(params, "request_id", None))
        if isinstance(session_id, str) and session_id:
            return self._sessions.owner(session_id)
        name = prompt_name(params)
        if name is not None:
            return self._sessions.of_prompt(name)
        return self._sessions.only_busy() if request.of_turn else None

    async def _handle(self, request: OpenRequest, handler: RequestHandler) -> None:
        try:
            result = await awaited(handler(request.params))
            self._answer(request, self._unread(request) or result)
        except HandlerFailed as error:
            self._report_failure(request, error.__cause__ or error)
            self._answer(request, error)
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
        request.asks = None
        assert self._driver is not None
        protocol = self._driver.protocol
        try:
            if isinstance(answer, RequestFailed):
                protocol.respond_error(request.id, answer)
            else:
                self._driver.respond(request.id, request.method, answer)
        except InvalidInput as error:
            self._report_failure(request, error)
            answer = InternalError(f"the host's answer to {request.method} is invalid")
            protocol.respond_error(request.id, answer)
        self._answered(request, answer)
        if write:
            self._driver.flush()

    def _close(self, request: OpenRequest, answer: Any, *, write: bool = True) -> None:
        request.by_host = True
        self._answer(request, answer, write=write)
        if request.task is not None:
            request.task.cancel()

    def _report_failure(self, request: OpenRequest, error: BaseException) -> None:
        request.handler_failed = True
        known = None if request.session is None else request.session.id
        session_id = getattr(request.params, "session_id", None) or known
        self._report(
            Diagnostic(
                DiagnosticKind.HANDLER_FAILED,
                f"the handler of {request.method} failed: {type(error).__name__}: {error}",
                method=request.method,
                session_id=session_id,
                data="".join(traceback.format_exception(error, limit=-5)),
            )
        )
