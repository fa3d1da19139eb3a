"""The way in without ``await``: :func:`connect`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from attrs import evolve

from acp_host.blocking._callbacks import Callbacks, Dispatch
from acp_host.blocking._thread import LoopThread
from acp_host.blocking.connection import HostConnection
from acp_host.errors import InvalidInput
from acp_host.host.agent_target import AgentTarget
from acp_host.host.connect import connect as async_connect
from acp_host.host.incoming import TurnHandler
from acp_host.services.elicitation_handlers import ElicitationHandlers
from acp_host.services.permissions import PermissionPolicy, Permissions
from acp_host.transports import Transport

__all__ = ["adapted", "connect"]


def connect(
    target: Sequence[str] | str | Transport | AgentTarget, *, dispatch: Dispatch | None = None, **options: Any
) -> HostConnection:
    """Connect to an agent, as :class:`acp_host.connect` does, and return when it is ready. ::

        with acp_host.blocking.connect(["some-agent", "--acp"]) as host:
            session = host.new_session(cwd=".")
            print(session.prompt("Fix the failing test").wait().text)

    The connection lives on an event loop in a thread of its own, so that the agent is served whatever the caller does.
    Handlers may be plain functions that block, e.g. ask a person with ``input()``, and may make blocking calls.

    Args:
        target: as for ``acp_host.connect``.
        dispatch: runs functions without arguments on the application's own thread, one at a time and in order, e.g. on
            the main thread of a user interface: there every callback is called. ``None``: observers are called on a
            thread for them, and each handler on one of its own. Coroutine functions run on the connection's loop.
        **options: as for ``acp_host.connect``.

    Raises:
        InvalidInput: ``dispatch`` is no function; and else what ``acp_host.connect`` raises.
    """
    if dispatch is not None and not callable(dispatch):
        raise InvalidInput(f"connect(dispatch=…) takes a function that runs functions, not {type(dispatch).__name__}")
    callbacks = Callbacks(dispatch)
    thread = LoopThread("acp_host connection")
    try:
        adapted_options = adapted(options, callbacks)
        host = thread.run(lambda: async_connect(target, **adapted_options))
    except BaseException:
        callbacks.close()
        thread.stop()
        raise
    return HostConnection(host, thread, callbacks)


def adapted(options: Mapping[str, Any], callbacks: Callbacks) -> dict[str, Any]:
    """Return options with what is called in them called elsewhere."""
    return {name: _adapted(name, value, callbacks) for name, value in options.items()}


def _adapted(name: str, value: Any, callbacks: Callbacks) -> Any:
    """Return an option with what is called in it called elsewhere; what is none of these is checked by ``connect``."""
    adapt = _ADAPTERS.get(name)
    return value if adapt is None or isinstance(value, bool) or value is None else adapt(value, callbacks)


def _permissions(given: Any, callbacks: Callbacks) -> Any:
    if isinstance(given, Permissions):
        return given if given.ask is None else evolve(given, ask=callbacks.handler(given.ask))
    return given if isinstance(given, PermissionPolicy) else _handler(given, callbacks)


def _elicitation(given: Any, callbacks: Callbacks) -> Any:
    if isinstance(given, ElicitationHandlers):
        return evolve(given, form=_handler(given.form, callbacks), url=_handler(given.url, callbacks))
    return _handler(given, callbacks)


def _handlers(given: Any, callbacks: Callbacks) -> Any:
    if not isinstance(given, Mapping):
        return given
    return {method: _request_handler(handler, callbacks) for method, handler in given.items()}


def _request_handler(given: Any, callbacks: Callbacks) -> Any:
    return (
        TurnHandler(_handler(given.handle, callbacks)) if isinstance(given, TurnHandler) else _handler(given, callbacks)
    )


def _handler(given: Any, callbacks: Callbacks) -> Any:
    return callbacks.handler(given) if callable(given) and not isinstance(given, type) else given


def _observer(given: Any, callbacks: Callbacks) -> Any:
    return callbacks.observer(given) if callable(given) and not isinstance(given, type) else given


_ADAPTERS: Mapping[str, Callable[[Any, Callbacks], Any]] = {
    "permissions": _permissions,
    "elicitation": _elicitation,
    "handlers": _handlers,
    "authenticate": _handler,
    "auth_terminal": _handler,
    "on_stderr": _observer,
}
