"""What an application gives to the blocking form, with its functions called where they may block: :func:`adapted`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from attrs import evolve

from acp_host.blocking._callbacks import Callbacks
from acp_host.host.incoming import TurnHandler
from acp_host.services.elicitation_handlers import ElicitationHandlers
from acp_host.services.files import FileService
from acp_host.services.mcp import HostMcpServer
from acp_host.services.permissions import PermissionPolicy, Permissions

__all__ = ["adapted"]


def adapted(options: Mapping[str, Any], callbacks: Callbacks) -> dict[str, Any]:
    """Return options with what is called in them called elsewhere."""
    return {name: _adapted(name, value, callbacks) for name, value in options.items()}


def _adapted(name: str, value: Any, callbacks: Callbacks) -> Any:
    """Return an option with what is called in it called elsewhere; what takes it checks what is none of these."""
    adapt = _ADAPTERS.get(name)
    return value if adapt is None or isinstance(value, bool) or value is None else adapt(value, callbacks)


def _permissions(given: Any, callbacks: Callbacks) -> Any:
    if isinstance(given, Permissions):
        return given if given.ask is None else evolve(given, ask=callbacks.handler(given.ask))
    return given if isinstance(given, PermissionPolicy) else _handler(given, callbacks)


def _files(given: Any, callbacks: Callbacks) -> Any:
    if isinstance(given, FileService):
        given.call_by(callbacks.handler, callbacks.observer)
    return given


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


def _mcp_servers(given: Any, callbacks: Callbacks) -> Any:
    if not isinstance(given, Iterable):
        return given
    return [each.called_by(callbacks.handler) if isinstance(each, HostMcpServer) else each for each in given]


_ADAPTERS: Mapping[str, Callable[[Any, Callbacks], Any]] = {
    "permissions": _permissions,
    "elicitation": _elicitation,
    "files": _files,
    "handlers": _handlers,
    "authenticate": _handler,
    "auth_terminal": _handler,
    "mcp_servers": _mcp_servers,
    "on_stderr": _observer,
}
