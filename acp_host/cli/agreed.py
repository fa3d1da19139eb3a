"""What was agreed with an agent, as rows and as JSON: the data behind ``acp-host inspect``, without any layout."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from attrs import frozen

from acp_host.protocol.negotiation import Agreement
from acp_host.quirks import QuirkKind
from acp_host.wire._model import UNSET, Model
from acp_host.wire._shape import BoolShape, ModelShape, fields_of
from acp_host.wire.auth import AuthMethod, AuthMethodTerminal
from acp_host.wire.capabilities import AgentCapabilities, ClientCapabilities
from acp_host.wire.converters import unstructure
from acp_host.wire.initialize import InitializeResponse
from acp_host.wire.methods import Direction, Method

__all__ = ["CapabilityRow", "MethodRow", "agreement_json", "auth_type", "capability_rows", "method_rows"]

_HANDSHAKES = frozenset({"initialize", "proxy/initialize"})


@frozen
class CapabilityRow:
    """One capability of one side.

    Attributes:
        path: in wire names, below the side's root.
        offered: whether it is offered.
        value: what was sent, for a member that the schema does not know; ``UNSET`` for the others.
    """

    path: str
    offered: bool
    value: Any = UNSET


@frozen
class MethodRow:
    """One method that the host can call.

    Attributes:
        method: the method.
        usable: whether it can be called without ``force=True``.
        why: the capability that allows or would allow it, or the quirk that decides; empty where nothing is needed.
    """

    method: Method
    usable: bool
    why: str


def capability_rows(capabilities: AgentCapabilities | ClientCapabilities) -> list[CapabilityRow]:
    """Return every capability the schema knows, then the members it does not know."""
    members = unstructure(capabilities)
    known = [CapabilityRow(path, _is_offered(members, path)) for path in _known(type(capabilities))]
    return known + [CapabilityRow(path, bool(value), value) for path, value in _others(members, type(capabilities))]


def method_rows(agreement: Agreement) -> list[MethodRow]:
    """Return every method that a host can send to an agent after the handshake, with what allows or forbids it."""
    return [
        MethodRow(method, agreement.supports(method.name), _why(agreement, method))
        for method in agreement.methods.methods
        if method.direction is Direction.HOST_TO_AGENT and method.name not in _HANDSHAKES
    ]


def agreement_json(agreement: Agreement) -> dict[str, Any]:
    """Return what was agreed as JSON: the handshake in wire form, and what follows from it."""
    answer = InitializeResponse(
        protocol_version=agreement.protocol_version,
        agent_capabilities=agreement.agent_capabilities,
        auth_methods=agreement.auth_methods,
        agent_info=agreement.agent_info or UNSET,
        meta=agreement.meta or UNSET,
    )
    return {
        "version": 1,
        "agreement": {**unstructure(answer), "clientCapabilities": unstructure(agreement.client_capabilities)},
        "methods": {row.method.name: _method_json(row) for row in method_rows(agreement)},
        "quirks": [{"kind": str(quirk.kind), "subject": quirk.subject, "why": quirk.why} for quirk in agreement.quirks],
    }


def auth_type(method: AuthMethod) -> str:
    """Return the type of a way to sign in, as the schema names it; the agent's own has no name there."""
    if isinstance(method, Model):
        return "terminal" if isinstance(method, AuthMethodTerminal) else "agent"
    return method.tag


def _method_json(row: MethodRow) -> dict[str, Any]:
    return {
        "usable": row.usable,
        "capability": row.method.capability,
        "stable": row.method.stable,
        "notification": row.method.result is None,
    }


def _why(agreement: Agreement, method: Method) -> str:
    for kind in (QuirkKind.WORKS_UNADVERTISED, QuirkKind.ABSENT_THOUGH_ADVERTISED):
        quirk = agreement.quirk(kind, method.name)
        if quirk is not None:
            return f"quirk: {quirk.why}"
    return method.capability or ""


def _known(cls: Any, root: str = "") -> Iterator[str]:
    """Yield the path of each flag, and of each object whose being there says something."""
    for field in fields_of(cls):
        path = root + field.wire
        if isinstance(field.shape, BoolShape):
            yield path
        elif isinstance(field.shape, ModelShape):
            if field.nullable:
                yield path
            yield from _known(field.shape.cls, f"{path}.")


def _others(members: Mapping[str, Any], cls: Any, root: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the members that the schema does not name, those of ``_meta`` one by one."""
    fields = {} if cls is None else {field.wire: field for field in fields_of(cls)}
    for name, value in members.items():
        field = fields.get(name)
        if name == "_meta" and isinstance(value, Mapping):
            yield from _others(value, None, f"{root}_meta.")
        elif field is None:
            yield root + name, value
        elif isinstance(field.shape, ModelShape) and isinstance(value, Mapping):
            yield from _others(value, field.shape.cls, f"{root}{name}.")


def _is_offered(members: Mapping[str, Any], path: str) -> bool:
    value: Any = members
    for name in path.split("."):
        value = value.get(name) if isinstance(value, Mapping) else None
    return value is True or isinstance(value, Mapping)
