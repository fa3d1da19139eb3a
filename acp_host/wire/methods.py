"""The method table: what can be asked and told, in which direction, with what parameters, and what allows it.

Owns the table of version 1 and its look-up; whether a capability was agreed is the ``Agreement``'s to say. Types are
named, not imported: their modules are loaded when a method's types are first asked for, so that this module costs
nothing to import. Version 2's table is in :mod:`acp_host.wire.v2.methods`.
"""

from __future__ import annotations

import enum
import functools
import importlib
from collections.abc import Mapping
from typing import Any, TypeAlias

import attrs

__all__ = [
    "METHODS",
    "TABLE",
    "Direction",
    "Method",
    "MethodKind",
    "MethodTable",
    "Row",
    "agent_method",
    "client_method",
]


class MethodKind(enum.Enum):
    """Whether a method is answered."""

    REQUEST = "request"
    NOTIFICATION = "notification"


class Direction(enum.Enum):
    """Who sends a method to whom. In a chain of proxies, a conductor stands in the host's place."""

    HOST_TO_AGENT = "host to agent"
    AGENT_TO_HOST = "agent to host"
    BOTH = "both"


@functools.cache
def _resolve(reference: str) -> Any:
    module, _, name = reference.partition(":")
    return getattr(importlib.import_module(f"acp_host.wire.{module}"), name)


@attrs.frozen
class Method:
    """One method, in one direction and of one kind.

    Attributes:
        name: as on the wire.
        params: where the type of the parameters is, as ``module:name`` within ``acp_host.wire``.
        result: the same for the result; ``None`` for a notification.
        capability: path of the capability that allows it, in wire names from ``agentCapabilities`` or
            ``clientCapabilities``; ``None`` where nothing needs to be agreed. Its owner offers it by ``true`` or by an
            object.
        stable: whether it is in the stable schema; if not, it may change or go.
    """

    name: str
    kind: MethodKind
    direction: Direction
    params: str
    result: str | None
    capability: str | None
    stable: bool

    @property
    def params_type(self) -> Any:
        """The wire type, or the alias of a union, of the parameters."""
        return _resolve(self.params)

    @property
    def result_type(self) -> Any:
        """The wire type, or the alias of a union, of the result; ``None`` for a notification."""
        return None if self.result is None else _resolve(self.result)


_STABLE, _DRAFT = True, False

Row: TypeAlias = tuple[str, str, str | None, bool]
"""Name, types (params are …Request or …Notification, the result is …Response), capability, stable or not."""

_ROWS: dict[tuple[MethodKind, Direction], tuple[Row, ...]] = {
    (MethodKind.REQUEST, Direction.HOST_TO_AGENT): (
        ("initialize", "initialize:Initialize", None, _STABLE),
        ("authenticate", "auth:Authenticate", None, _STABLE),
        ("logout", "auth:Logout", "agentCapabilities.auth.logout", _STABLE),
        ("auth/status", "auth:AuthStatus", "agentCapabilities.auth.status", _DRAFT),
        ("providers/list", "providers:ListProviders", "agentCapabilities.providers", _DRAFT),
        ("providers/set", "providers:SetProvider", "agentCapabilities.providers", _DRAFT),
        ("providers/disable", "providers:DisableProvider", "agentCapabilities.providers", _DRAFT),
        ("session/new", "session:NewSession", None, _STABLE),
        ("session/load", "session:LoadSession", "agentCapabilities.loadSession", _STABLE),
        ("session/resume", "session:ResumeSession", "agentCapabilities.sessionCapabilities.resume", _STABLE),
        ("session/fork", "session:ForkSession", "agentCapabilities.sessionCapabilities.fork", _DRAFT),
        ("session/list", "session:ListSessions", "agentCapabilities.sessionCapabilities.list", _STABLE),
        ("session/status", "session:SessionStatus", "agentCapabilities.sessionCapabilities.status", _DRAFT),
        ("session/set_title", "session:SetSessionTitle", "agentCapabilities.sessionCapabilities.title", _DRAFT),
        ("session/archive", "session:ArchiveSession", "agentCapabilities.sessionCapabilities.archive", _DRAFT),
        ("session/unarchive", "session:UnarchiveSession", "agentCapabilities.sessionCapabilities.archive", _DRAFT),
        ("session/close", "session:CloseSession", "agentCapabilities.sessionCapabilities.close", _STABLE),
        ("session/delete", "session:DeleteSession", "agentCapabilities.sessionCapabilities.delete", _STABLE),
        ("session/set_mode", "config_options:SetSessionMode", None, _STABLE),
        ("session/set_config_option", "config_options:SetSessionConfigOption", None, _STABLE),
        ("session/prompt", "prompt:Prompt", None, _STABLE),
        ("proxy/initialize", "proxy:InitializeProxy", None, _DRAFT),
    ),
    (MethodKind.REQUEST, Direction.AGENT_TO_HOST): (
        ("session/request_permission", "permission:RequestPermission", None, _STABLE),
        ("fs/read_text_file", "files:ReadTextFile", "clientCapabilities.fs.readTextFile", _STABLE),
        ("fs/write_text_file", "files:WriteTextFile", "clientCapabilities.fs.writeTextFile", _STABLE),
        ("terminal/create", "terminals:CreateTerminal", "clientCapabilities.terminal", _STABLE),
        ("terminal/output", "terminals:TerminalOutput", "clientCapabilities.terminal", _STABLE),
        ("terminal/wait_for_exit", "terminals:WaitForTerminalExit", "clientCapabilities.terminal", _STABLE),
        ("terminal/kill", "terminals:KillTerminal", "clientCapabilities.terminal", _STABLE),
        ("terminal/release", "terminals:ReleaseTerminal", "clientCapabilities.terminal", _STABLE),
        ("elicitation/create", "elicitation:CreateElicitation", "clientCapabilities.elicitation", _STABLE),
        ("mcp/message", "mcp:MessageMcp", "agentCapabilities.mcpCapabilities.acp", _DRAFT),
    ),
    (MethodKind.REQUEST, Direction.BOTH): (("proxy/successor", "proxy:ProxySuccessor", None, _DRAFT),),
    (MethodKind.NOTIFICATION, Direction.HOST_TO_AGENT): (
        ("session/cancel", "prompt:Cancel", None, _STABLE),
        ("mcp/message", "mcp:MessageMcp", "agentCapabilities.mcpCapabilities.acp", _DRAFT),
    ),
    (MethodKind.NOTIFICATION, Direction.AGENT_TO_HOST): (
        ("session/update", "updates:Session", None, _STABLE),
        ("elicitation/complete", "elicitation:CompleteElicitation", "clientCapabilities.elicitation.url", _STABLE),
        ("auth/status_update", "auth:AuthStatusUpdate", "agentCapabilities.auth.status", _DRAFT),
    ),
    (MethodKind.NOTIFICATION, Direction.BOTH): (
        ("$/cancel_request", "cancellation:CancelRequest", None, _STABLE),
        ("proxy/successor", "proxy:ProxySuccessor", None, _DRAFT),
    ),
}


class MethodTable:
    """All methods of one version of the protocol; a name can be there once for each kind and direction.

    Args:
        rows: the rows by kind and direction.

    Attributes:
        methods: them all.
    """

    def __init__(self, rows: Mapping[tuple[MethodKind, Direction], tuple[Row, ...]]) -> None:
        self.methods = tuple([_method(*where, row) for where, part in rows.items() for row in part])
        self._to_agent = _sent(self.methods, Direction.HOST_TO_AGENT)
        self._to_host = _sent(self.methods, Direction.AGENT_TO_HOST)

    def agent_method(self, name: str, kind: MethodKind | None = None) -> Method | None:
        """Return the method that an agent receives under this name, or ``None`` if the protocol has none.

        Args:
            name: as on the wire.
            kind: needed only to find the notification of a name that is also a request's (``proxy/successor``).
        """
        return self._to_agent.get((name, kind))

    def client_method(self, name: str, kind: MethodKind | None = None) -> Method | None:
        """Return the method that a host receives under this name; arguments as for :meth:`agent_method`."""
        return self._to_host.get((name, kind))


def _method(kind: MethodKind, direction: Direction, row: Row) -> Method:
    name, stem, capability, stable = row
    if kind is MethodKind.REQUEST:
        return Method(name, kind, direction, f"{stem}Request", f"{stem}Response", capability, stable)
    return Method(name, kind, direction, f"{stem}Notification", None, capability, stable)


def _sent(methods: tuple[Method, ...], direction: Direction) -> dict[tuple[str, MethodKind | None], Method]:
    """Index the methods that go this way by name and kind, and by name alone, where a request comes first."""
    found = [method for method in methods if method.direction in (direction, Direction.BOTH)]
    by_kind: dict[tuple[str, MethodKind | None], Method] = {(method.name, method.kind): method for method in found}
    return {(method.name, None): method for method in reversed(found)} | by_kind


TABLE = MethodTable(_ROWS)
"""Version 1's methods, and where they are looked up."""
METHODS: tuple[Method, ...] = TABLE.methods
"""All methods of version 1."""
agent_method = TABLE.agent_method
client_method = TABLE.client_method
