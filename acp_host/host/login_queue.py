"""Logins that wait for a person: :class:`LoginQueue`, :class:`PendingLogin`.

A queue is a handler for ``connect(authenticate=…)``; an application shows what is ``pending`` and takes the user's
choice::

    queue = acp_host.LoginQueue()
    async with acp_host.connect(command, authenticate=queue) as host:
        queue.changed.connect(lambda changes: show(changes.snapshot))

Calls that are refused at the same time wait for one login, so that there is one question for all of them.
"""

from __future__ import annotations

from collections.abc import Mapping

from acp_host.errors import InvalidInput, InvalidState
from acp_host.host.authentication import LoginRequest
from acp_host.host.login_methods import EnvVarLogin, LoginMethod
from acp_host.services.question_queue import PendingQuestion, QuestionQueue

__all__ = ["LoginQueue", "PendingLogin"]


class PendingLogin(PendingQuestion[LoginRequest, LoginMethod | None]):
    """A choice of a way to log in that waits; ``request`` has the ways."""

    def choose(self, method_id: str, values: Mapping[str, str] | None = None) -> None:
        """Log in by one of the ways. Whether that works, the call tells that was refused.

        Args:
            method_id: its id.
            values: of the environment variables that it asks for, by name.

        Raises:
            InvalidInput: there is no such way, or a value is missing or wrong; the question stays open.
            InvalidState: it is not available, and why; or the question was answered before, or has expired.
        """
        method = next((method for method in self.request.methods if method.id == method_id), None)
        if method is None:
            raise InvalidInput(f"there is no way to log in with the id {method_id!r}")
        if not method.available:
            raise InvalidState(f"the login {method.name!r} is not available: {method.unavailable}")
        if isinstance(method, EnvVarLogin):
            method = method.with_values(values or {})
        elif values:
            raise InvalidInput(f"the login {method.name!r} takes no values")
        self.answer(method)

    def refuse(self) -> None:
        """Not now: the call that was refused raises ``AuthRequired``. Raises like :meth:`answer`."""
        self.answer(None)


class LoginQueue(QuestionQueue[LoginRequest, LoginMethod | None]):
    """The logins that wait for the user; pass one to each :func:`acp_host.connect`. It is watched like any queue.

    Args:
        timeout: seconds that a person may take, after which the refused call raises ``AuthRequired``; ``None``: as long
            as the call waits.
        scheduler: decides when observers are called; ``None``: the event loop of the connection.
        report: called with an observer and what it raised; without it that is logged.
    """

    def make_question(self, number: int, request: LoginRequest) -> PendingLogin:
        """Return what stands for a request in the queue."""
        return PendingLogin(number, request, self)

    def timed_out(self, request: LoginRequest) -> LoginMethod | None:
        """Return the answer to a question that nobody has answered in time."""
        return None
