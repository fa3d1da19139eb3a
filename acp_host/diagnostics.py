"""What was dropped, repaired or unexpected, as data: :class:`Diagnostic`.

A fault of the agent that a session survives never raises; it becomes one of these. Each is small: of a text in it, on
which an agent may have a say, at most :data:`MAX_DATA` characters are kept, and what looks like a secret is hidden.
This is a leaf module: every layer may use it.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from typing import Any

from attrs import evolve, field, frozen

from acp_host.printable import printable
from acp_host.redaction import redact, redact_text

__all__ = ["MAX_DATA", "Diagnostic", "DiagnosticKind", "Throttle", "excerpt", "throttled"]

MAX_DATA = 2048
"""Longest text that a diagnostic keeps, such as an excerpt of offending input, in characters."""


def excerpt(raw: bytes | str) -> str:
    """Return at most :data:`MAX_DATA` characters of ``raw``, as text, with undecodable bytes as U+FFFD."""
    if isinstance(raw, bytes):
        raw = raw[: 4 * MAX_DATA].decode("utf-8", "replace")
    return raw if len(raw) <= MAX_DATA else raw[: MAX_DATA - 1] + "…"


def _shown(text: str) -> str:
    return printable(redact_text(excerpt(text)))


def _named(text: str | None) -> str | None:
    """Return a name as it is shown: an agent can put a secret into that of a method, of a member or of a session."""
    return None if text is None else _shown(text)


class DiagnosticKind(StrEnum):
    """What sort of thing a :class:`Diagnostic` reports."""

    NOISE = "noise"
    """A line that is not a JSON object (a log, a banner, an array, a scalar)."""
    OVERSIZED = "oversized"
    """A message longer than the configured maximum; skipped."""
    UNREADABLE = "unreadable"
    """A line that looks like a message but cannot be read as JSON."""
    ENCODING = "encoding"
    """Invalid UTF-8 was replaced by U+FFFD, or what is not quite JSON was read all the same."""
    INVALID_MESSAGE = "invalid_message"
    """A JSON object that is no JSON-RPC message, or breaks a rule of JSON-RPC."""
    UNKNOWN_RESPONSE = "unknown_response"
    """A response whose id no request is waiting for, or an error response without an id."""
    REPAIRED = "repaired"
    """A field took its default, or an invalid list item was left out, as the schema's annotations say."""
    MALFORMED = "malformed"
    """The parameters of a known method do not fit the schema."""
    SCHEMA = "schema"
    """A message of either side does not fit the schema; only where somebody asks to be told, by ``connect(lint=…)``."""
    UNKNOWN_METHOD = "unknown_method"
    """A request or notification with a method nobody handles."""
    UNEXPECTED = "unexpected"
    """A well-formed message that breaks a rule of the protocol, e.g. an update for an unknown session."""
    HANDLER_FAILED = "handler_failed"
    """A handler or observer of the application raised."""
    PERMISSION = "permission"
    """A decision about a permission could not be remembered or used, or the agent did not take it or keep to it."""
    TRANSPORT = "transport"
    """The transport had to do something out of the ordinary, e.g. kill a process that did not end."""
    RECORDING = "recording"
    """The recording of the conversation is not complete."""


@frozen
class Diagnostic:
    """One thing that was dropped, repaired or unexpected.

    Attributes:
        kind: what sort of thing it is.
        message: one sentence for a person.
        path: JSON path of the value in the message, rooted at ``$``; ``None`` where there is none.
        method: wire method of the message, if known.
        session_id: the session it belongs to, if known.
        data: excerpt of the input, at most :data:`MAX_DATA` characters when it is text, without secrets.
        count: how many equal occurrences this value stands for, at least 1.
    """

    kind: DiagnosticKind
    message: str = field(converter=_shown)
    path: str | None = field(default=None, converter=_named)
    method: str | None = field(default=None, converter=_named)
    session_id: str | None = field(default=None, converter=_named)
    data: Any = field(default=None, converter=redact)
    count: int = 1


class Throttle:
    """Lets the first diagnostics of each kind through, then ever fewer, so that a flood stays small.

    After the first :attr:`burst` of a kind, one is let through each time the number seen has doubled; its ``count``
    says how many it stands for. At most one of each kind is held back.
    """

    burst = 20

    def __init__(self) -> None:
        self._reported: dict[DiagnosticKind, int] = {}
        self._held: dict[DiagnosticKind, tuple[Diagnostic, int]] = {}

    def admit(self, diagnostic: Diagnostic) -> Diagnostic | None:
        """Return what to report for ``diagnostic``, or ``None`` while it is held back."""
        kind = diagnostic.kind
        reported = self._reported.get(kind, 0)
        count = diagnostic.count + (self._held[kind][1] if kind in self._held else 0)
        if reported >= self.burst and count < reported:
            self._held[kind] = diagnostic, count
            return None
        self._held.pop(kind, None)
        self._reported[kind] = reported + count
        # To make another one is to look for secrets again.
        return diagnostic if count == diagnostic.count else evolve(diagnostic, count=count)

    def flush(self) -> list[Diagnostic]:
        """Return what is held back: the newest of each kind, standing for the others. For the end of a connection."""
        held, self._held = self._held.values(), {}
        return [evolve(diagnostic, count=count) for diagnostic, count in held]


def throttled(report: Callable[[Diagnostic], None]) -> Callable[[Diagnostic], None]:
    """Return ``report`` with a throttle of its own before it, for a source that an agent can make repeat itself."""
    throttle = Throttle()

    def admit(diagnostic: Diagnostic) -> None:
        admitted = throttle.admit(diagnostic)
        if admitted is not None:
            report(admitted)

    return admit
