"""Telling an agent what has happened at the host: the result of a tool, or something to look at.

``session/inject_host_event``. These are facts and no words of the user; where they come from goes with them.
"""

from __future__ import annotations

import re
import time
from collections.abc import Mapping
from typing import Any

import attrs
from attrs import field, frozen

from acp_host.errors import InvalidInput, NotSupported
from acp_host.harn.calls import Calls

__all__ = ["HostAttachment", "HostEvent", "HostEventReceipt", "HostToolResult", "Provenance", "inject_host_event"]

_METHOD = "session/inject_host_event"
_SHA256 = re.compile(r"[0-9a-f]{64}", re.IGNORECASE)


@frozen(kw_only=True)
class Provenance:
    """Where something comes from.

    Attributes:
        initiator: who caused it, e.g. ``"user"``.
        source: what it comes from, e.g. ``"notebook"``.
        host: the program.
        ts_ms: when, in milliseconds since 1970; by default now.
    """

    initiator: str
    source: str
    host: str | None = None
    ts_ms: int = field(factory=lambda: int(time.time() * 1000))


@frozen(kw_only=True)
class HostToolResult:
    """A tool was run at the host, without the agent.

    Attributes:
        tool_name: the tool.
        status: how it ended, e.g. ``"completed"``.
        raw_input: what it was given; any JSON.
        raw_output: what it returned; any JSON.
        tool_call_id: an id of the call.
        kind: the kind of tool, in ACP's words.
        result_pointer: where all of the result is.
        error: what went wrong.
        duration_ms: how long it took.
    """

    tool_name: str
    status: str
    raw_input: Any = None
    raw_output: Any = None
    tool_call_id: str | None = None
    kind: str | None = None
    result_pointer: str | None = None
    error: str | None = None
    duration_ms: int | None = None


@frozen(kw_only=True)
class HostAttachment:
    """Something to look at, which is not sent itself.

    Attributes:
        media_type: what it is, e.g. ``"image/png"``.
        flavor: what sort of attachment, in the agent's words.
        artifact_pointer: where it is.
        sha256: its digest, 64 hexadecimal digits.
        size_bytes: how long it is.
        description: what is to be seen on it.
        description_model: the model that has described it.
    """

    media_type: str
    flavor: str
    artifact_pointer: str
    sha256: str
    size_bytes: int
    description: str | None = None
    description_model: str | None = None


HostEvent = HostToolResult | HostAttachment
_KINDS: Mapping[type, str] = {HostToolResult: "host_tool_result", HostAttachment: "host_attachment"}
_ALWAYS = ("raw_input", "raw_output")
"""What is sent even where it is ``None``."""


@frozen(kw_only=True)
class HostEventReceipt:
    """The agent's answer.

    Attributes:
        injection_id: the agent's id of the event.
        status: ``injected``, ``queued``, or another word.
        delivery: when the model gets it.
        sequence: its number.
    """

    injection_id: str | None = None
    status: str | None = None
    delivery: str | None = None
    sequence: int | None = None


async def inject_host_event(
    calls: Calls, event: HostEvent, provenance: Provenance, delivery: str | None
) -> HostEventReceipt:
    """Tell the agent of an event; see :meth:`acp_host.harn.session.HarnSession.inject_host_event`."""
    kind = _KINDS.get(type(event))
    if kind is None:
        raise InvalidInput(f"an event is a HostToolResult or a HostAttachment, not {type(event).__name__}")
    if isinstance(event, HostAttachment):
        _check(event)
    harn = calls.session.agreement.harn
    if harn is not None:
        _check_offer(calls, "kinds", kind, harn.host_event_kinds)
        _check_offer(calls, "delivery", delivery, harn.host_event_delivery)
    told = {
        "kind": kind,
        **({} if delivery is None else {"delivery": delivery}),
        "payload": _members(event),
        "provenance": _members(provenance),
    }
    answer = await calls.answer(_METHOD, {"event": told})
    receipt = HostEventReceipt(
        injection_id=answer.text("injection_id"),
        status=answer.text("status"),
        delivery=answer.text("delivery"),
        sequence=answer.whole("sequence"),
    )
    calls.read(_METHOD, answer)
    return receipt


def _check(event: HostAttachment) -> None:
    if not _SHA256.fullmatch(event.sha256):
        raise InvalidInput(f"sha256 of an attachment has 64 hexadecimal digits, unlike {event.sha256!r}")
    if event.size_bytes < 0:
        raise InvalidInput(f"size_bytes of an attachment is at least 0, not {event.size_bytes!r}")


def _check_offer(calls: Calls, name: str, wanted: str | None, offered: tuple[str, ...]) -> None:
    if wanted is not None and offered and wanted not in offered:
        capability = f"session.injectHostEvent.{name}"
        text = f"{calls.session.agreement.agent_name} does not take {wanted!r}: {capability} has {', '.join(offered)}"
        raise NotSupported(text, capability=f"agentCapabilities.{capability}", method=_METHOD)


def _members(value: Any) -> dict[str, Any]:
    members = attrs.asdict(value, recurse=False)
    return {name: member for name, member in members.items() if member is not None or name in _ALWAYS}
