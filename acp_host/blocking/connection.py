"""The connection to an agent, without ``await``: :class:`HostConnection`."""

from __future__ import annotations

import atexit
import contextlib
import functools
from collections.abc import Awaitable, Callable
from types import TracebackType
from typing import Concatenate, ParamSpec, TypeVar

from attrs import frozen

from acp_host.blocking._adapted import adapted
from acp_host.blocking._callbacks import Callbacks
from acp_host.blocking._forward import Facade, asks, iterates, reads, waits
from acp_host.blocking._thread import LoopThread
from acp_host.blocking.observables import Observable
from acp_host.blocking.session import Session
from acp_host.diagnostics import Diagnostic
from acp_host.errors import ConnectionClosed
from acp_host.host import authentication as async_authentication
from acp_host.host import connection as async_connection
from acp_host.host import health as async_health
from acp_host.host import reopening as async_reopening
from acp_host.host import session as async_session
from acp_host.host.health import HealthSnapshot
from acp_host.host.incoming import RequestHandler
from acp_host.host.incoming_notifications import NotificationHandler
from acp_host.host.login_methods import LoginMethod
from acp_host.host.login_status import AuthenticationSnapshot
from acp_host.host.reopening import Lost, ReopenAttempt, ReopenStep
from acp_host.protocol.negotiation import Agreement
from acp_host.services.audit import AuditTrail
from acp_host.state import observable as async_observable

__all__ = ["Authentication", "ConnectionHealth", "HostConnection", "ReopenedSession"]

P = ParamSpec("P")
R = TypeVar("R")
S = TypeVar("S")

_Async = async_connection.HostConnection


class Authentication(Observable[async_authentication.Authentication, AuthenticationSnapshot]):
    """As ``HostConnection.authentication``."""

    methods = reads[async_authentication.Authentication, tuple[LoginMethod, ...]](lambda it: it.methods)
    log_in = waits(async_authentication.Authentication.log_in)
    log_out = waits(async_authentication.Authentication.log_out)
    refresh = waits(async_authentication.Authentication.refresh)


class ConnectionHealth(Observable[async_health.ConnectionHealth, HealthSnapshot]):
    """As ``HostConnection.health``."""


def _opens(
    method: Callable[Concatenate[_Async, P], Awaitable[async_session.Session]],
) -> Callable[Concatenate[HostConnection, P], Session]:
    """Make a method that opens a session."""

    def forward(self: HostConnection, /, *args: P.args, **kwargs: P.kwargs) -> Session:
        options = adapted(kwargs, self._callbacks)
        return self._session(self._thread.run(lambda: method(self.asynchronous, *args, **options)))

    functools.update_wrapper(forward, method)
    return forward


@frozen(kw_only=True)
class ReopenedSession:
    """As :class:`acp_host.host.reopening.ReopenedSession`.

    Attributes:
        session: the session; another one, with another id, if ``step`` is ``new``.
        step: what worked.
        lost: what is missing.
        attempts: everything that was tried, in order; the last one worked.
        summary: one sentence for the user; empty if nothing was lost.
    """

    session: Session
    step: ReopenStep
    lost: Lost
    attempts: tuple[ReopenAttempt, ...]
    summary: str


def _reopens(
    method: Callable[Concatenate[_Async, P], Awaitable[async_reopening.ReopenedSession]],
) -> Callable[Concatenate[HostConnection, P], ReopenedSession]:
    """Make a method that opens a session of earlier."""

    def forward(self: HostConnection, /, *args: P.args, **kwargs: P.kwargs) -> ReopenedSession:
        options = adapted(kwargs, self._callbacks)
        opened = self._thread.run(lambda: method(self.asynchronous, *args, **options))
        return ReopenedSession(
            session=self._session(opened.session),
            step=opened.step,
            lost=opened.lost,
            attempts=opened.attempts,
            summary=opened.summary,
        )

    functools.update_wrapper(forward, method)
    return forward


class HostConnection(Facade[_Async]):
    """As :class:`acp_host.HostConnection`; made by :func:`acp_host.blocking.connect`, and closed at the latest at exit.

    Safe to use from any thread. A call that is interrupted by Ctrl-C is withdrawn.
    """

    def __init__(self, asynchronous: _Async, thread: LoopThread, callbacks: Callbacks) -> None:
        super().__init__(asynchronous, thread)
        self._callbacks = callbacks
        atexit.register(self.close)

    def __enter__(self) -> HostConnection:
        return self

    def __exit__(
        self, exc_type: type[BaseException] | None, exc: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def _session(self, session: async_session.Session) -> Session:
        return Session(session, self._thread, self._callbacks)

    # --- what was agreed, and how it is -----------------------------------------------------------------------------

    agreement = reads[_Async, Agreement](lambda host: host.agreement)
    connection_id = reads[_Async, str | None](lambda host: host.connection_id)
    closed = reads[_Async, bool](lambda host: host.closed)
    audit = reads[_Async, AuditTrail](lambda host: host.audit)
    diagnostics = reads[_Async, tuple[Diagnostic, ...]](lambda host: tuple(host.diagnostics))
    wait_closed = waits(_Async.wait_closed)

    @functools.cached_property
    def authentication(self) -> Authentication:
        """The ways to log in."""
        return Authentication(self.asynchronous.authentication, self._thread, self._callbacks)

    @functools.cached_property
    def health(self) -> ConnectionHealth:
        """Whether the agent can be reached, and what is done about it."""
        return ConnectionHealth(self.asynchronous.health, self._thread, self._callbacks)

    def on_diagnostic(self, observer: Callable[[Diagnostic], None]) -> Callable[[], None]:
        """Call ``observer`` elsewhere with each diagnostic from now on; return a function that ends this."""
        observe = self._callbacks.observer(observer)
        end = self._thread.ask(lambda: self.asynchronous.diagnostics.connect(observe))
        return lambda: self._thread.ask(end)

    # --- sessions ---------------------------------------------------------------------------------------------------

    @property
    def sessions(self) -> tuple[Session, ...]:
        """The sessions that are open on this connection."""
        return tuple([self._session(session) for session in self._thread.ask(lambda: self.asynchronous.sessions)])

    def on_sessions_changed(self, observer: Callable[[Session], None]) -> Callable[[], None]:
        """Call ``observer`` elsewhere with each session that is opened or let go; return a function that ends this."""
        tell = self._callbacks.observer(observer)
        end = self._thread.ask(lambda: self.asynchronous.on_sessions_changed(lambda it: tell(self._session(it))))
        return lambda: self._thread.ask(end)

    new_session = _opens(_Async.new_session)
    load_session = _opens(_Async.load_session)
    resume_session = _opens(_Async.resume_session)
    fork_session = _opens(_Async.fork_session)
    open_session = _reopens(_Async.open_session)
    list_sessions = waits(_Async.list_sessions)
    iter_sessions = iterates(_Async.iter_sessions)
    session_status = waits(_Async.session_status)
    set_session_title = waits(_Async.set_session_title)
    close_session = waits(_Async.close_session)
    delete_session = waits(_Async.delete_session)
    archive_session = waits(_Async.archive_session)
    unarchive_session = waits(_Async.unarchive_session)

    # --- accounts and providers -------------------------------------------------------------------------------------

    authenticate = waits(_Async.authenticate)
    logout = waits(_Async.logout)
    auth_status = waits(_Async.auth_status)
    list_providers = waits(_Async.list_providers)
    set_provider = waits(_Async.set_provider)
    disable_provider = waits(_Async.disable_provider)

    # --- anything else ----------------------------------------------------------------------------------------------

    request = waits(_Async.request)
    notify = waits(_Async.notify)
    register_rung = asks(_Async.register_rung)
    restart = waits(_Async.restart)
    reconnect_now = asks(_Async.reconnect_now)
    send_mcp_message = waits(_Async.send_mcp_message)

    def on_request(self, method: str, handler: RequestHandler) -> None:
        """Answer the agent's requests of ``method`` with ``handler``, which is called elsewhere and may block."""
        self._thread.ask(lambda: self.asynchronous.on_request(method, self._callbacks.handler(handler)))

    def on_notification(self, method: str, handler: NotificationHandler) -> None:
        """Call ``handler`` elsewhere with the parameters of the agent's notifications of ``method``, in order."""
        self._thread.ask(lambda: self.asynchronous.on_notification(method, self._callbacks.observer(handler)))

    def observe(self, state: async_observable.Observable[S]) -> Observable[async_observable.Observable[S], S]:
        """Return the blocking form of a state that this connection writes, e.g. of a ``PermissionQueue``."""
        return Observable(state, self._thread, self._callbacks)

    def run(self, function: Callable[P, Awaitable[R]], *args: P.args, **kwargs: P.kwargs) -> R:
        """Run a coroutine function on the connection's own loop, and return its result.

        For what has no blocking form, with the objects' ``asynchronous``::

            from acp_host import harn

            host.run(harn.of(session.asynchronous).compact)
        """
        return self._thread.run(lambda: function(*args, **kwargs))

    # --- life -------------------------------------------------------------------------------------------------------

    def close(self) -> None:
        """End the connection, as :meth:`acp_host.HostConnection.close`, and its thread. May be called repeatedly."""
        atexit.unregister(self.close)
        try:
            with contextlib.suppress(ConnectionClosed):  # it was closed before
                self._thread.run(self.asynchronous.close)
        finally:
            self._callbacks.close()
            self._thread.stop()
