"""What the agent tells the host besides updates of sessions: :class:`IncomingNotifications`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from acp_host.diagnostics import Diagnostic, DiagnosticKind, excerpt, throttled
from acp_host.errors import InvalidInput
from acp_host.protocol.events import NotificationReceived
from acp_host.state.observers import check_observer

__all__ = ["IncomingNotifications", "NotificationHandler"]

NotificationHandler = Callable[[Any], None]
"""Takes the parameters: a wire type, or plain JSON for an extension."""


class IncomingNotifications:
    """The application's handlers, and before them what the library itself does with a notification.

    Args:
        report: takes diagnostics.
    """

    def __init__(self, report: Callable[[Diagnostic], None]) -> None:
        self._report = throttled(report)
        self._handlers: dict[str, NotificationHandler] = {}
        self._own: dict[str, Callable[[Any], bool]] = {}
        self._others: Callable[[str, Any], bool] = lambda method, params: False

    def serve(self, method: str, handler: NotificationHandler) -> None:
        """Call ``handler`` with notifications of ``method``, in place of what was called before.

        Raises:
            InvalidInput: for ``session/update``, or ``handler`` is no plain function.
        """
        if method == "session/update":
            raise InvalidInput("session/update goes to its session; use Session.on_update")
        check_observer(handler)
        self._handlers[method] = handler

    def take(self, method: str, taker: Callable[[Any], bool]) -> None:
        """Give notifications of ``method`` to ``taker`` first; it tells whether somebody listens."""
        self._own[method] = taker

    def take_others(self, taker: Callable[[str, Any], bool]) -> None:
        """Give notifications that nobody has claimed by :meth:`take` to ``taker``, with their method; as there."""
        self._others = taker

    def receive(self, event: NotificationReceived) -> None:
        """Hand a notification on, in the order of arrival; one that nobody listens to is reported."""
        taker, handler = self._own.get(event.method), self._handlers.get(event.method)
        taken = self._others(event.method, event.params) if taker is None else taker(event.params)
        if handler is not None:
            self._call(handler, event)
        elif not taken:
            text = f"the agent sent {event.method}, which nobody here listens to"
            kind = DiagnosticKind.UNKNOWN_METHOD
            self._report(Diagnostic(kind, text, method=event.method, data=excerpt(event.line)))

    def _call(self, handler: NotificationHandler, event: NotificationReceived) -> None:
        try:
            handler(event.params)
        except (KeyboardInterrupt, SystemExit):
            raise
        except BaseException as error:
            text = f"the handler of {event.method} failed: {type(error).__name__}: {error}"
            self._report(Diagnostic(DiagnosticKind.HANDLER_FAILED, text, method=event.method))
