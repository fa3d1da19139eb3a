"""The metrics of connections: :class:`Instruments`.

Attributes of metrics have few values: methods that are served or that this program sends, words of the protocol, names
of classes, the name of the agent. What else an agent says is counted under ``other``.
"""

from __future__ import annotations

import time
from collections.abc import Container
from typing import Any

from opentelemetry.metrics import Meter

from acp_host.host.outcome import OutcomeKind
from acp_host.wire.usage import Usage

__all__ = ["Instruments", "known_word"]

_SECONDS = (0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92, 163.84, 655.36)
_TOGETHER = 0.5
"""Seconds in which updates are counted together."""
_TOKENS = tuple([4**power for power in range(14)])


def known_word(word: Any, vocabulary: Container[str]) -> str:
    """Return a word of the protocol if it is one, else ``other``."""
    return str(word) if isinstance(word, str) and word in vocabulary else "other"


class Instruments:
    """What is measured.

    Attributes:
        agent: the attributes that every measurement of the connection has; empty before the handshake.
    """

    def __init__(self, meter: Meter) -> None:
        self.agent: dict[str, str] = {}
        self._uncounted = 0
        self._counted_at = time.monotonic()
        self._turn_duration = meter.create_histogram(
            "gen_ai.client.operation.duration",
            unit="s",
            description="How long turns take",
            explicit_bucket_boundaries_advisory=_SECONDS,
        )
        self._tokens = meter.create_histogram(
            "gen_ai.client.token.usage",
            unit="{token}",
            description="Tokens of turns, as agents tell them",
            explicit_bucket_boundaries_advisory=_TOKENS,
        )
        self._turns = meter.create_counter("acp.turns", unit="{turn}", description="Turns that are over")
        self._tool_calls = meter.create_counter("acp.tool_calls", unit="{call}", description="Tool calls that are over")
        self._requests = meter.create_histogram(
            "acp.request.duration",
            unit="s",
            description="How long requests take, those sent to agents and those served for them",
            explicit_bucket_boundaries_advisory=_SECONDS,
        )
        self._updates = meter.create_counter("acp.updates", unit="{update}", description="Updates of sessions")
        self._errors = meter.create_counter("acp.errors", unit="{error}", description="What has failed, by class")
        self._diagnostics = meter.create_counter(
            "acp.diagnostics", unit="{diagnostic}", description="What was dropped, repaired or unexpected"
        )
        self._reminders = meter.create_counter(
            "acp.reminders", unit="{reminder}", description="Reminders, by the rung that took them"
        )
        self._reconnects = meter.create_counter(
            "acp.reconnects", unit="{reconnect}", description="Connections that were lost, by what became of them"
        )
        self._connections = meter.create_up_down_counter(
            "acp.connections.active", unit="{connection}", description="Connections that are open"
        )
        self._sessions = meter.create_up_down_counter(
            "acp.sessions.active", unit="{session}", description="Sessions that are open"
        )

    def turn_ended(self, kind: str, stop_reason: str, seconds: float, error: str | None) -> None:
        """Count a turn; arguments are words of the protocol and names of classes."""
        attributes = {"acp.turn.outcome": str(kind), "acp.turn.stop_reason": stop_reason, **self.agent}
        self._turns.add(1, attributes)
        operation = {"gen_ai.operation.name": "invoke_agent", "gen_ai.provider.name": "acp", **self.agent}
        failed = {} if error is None else {"error.type": error}
        self._turn_duration.record(seconds, {**operation, **failed})
        if kind in (OutcomeKind.FAILED, OutcomeKind.POLICY_VIOLATED):
            self.failed("turn", error or str(kind))

    def tokens_used(self, usage: Usage) -> None:
        """Count the tokens of a turn."""
        operation = {"gen_ai.operation.name": "invoke_agent", "gen_ai.provider.name": "acp", **self.agent}
        for sort, tokens in (("input", usage.input_tokens), ("output", usage.output_tokens)):
            self._tokens.record(tokens, {"gen_ai.token.type": sort, **operation})

    def tool_call_ended(self, kind: str, status: str) -> None:
        """Count a tool call."""
        self._tool_calls.add(1, {"acp.tool.kind": kind, "acp.tool.status": status, **self.agent})

    def request_ended(self, method: str, *, served: bool, seconds: float, error: str | None) -> None:
        """Count a request: one that was ``served`` for the agent, or one that it was sent."""
        attributes = {"rpc.method": method, "acp.request.direction": "served" if served else "sent", **self.agent}
        self._requests.record(seconds, attributes if error is None else {**attributes, "error.type": error})
        if error is not None:
            self.failed("served" if served else "sent", error)

    def updated(self, number: int) -> None:
        """Count updates; to count one costs more than all else that is done with it, so they are counted together."""
        self._uncounted += number
        if time.monotonic() - self._counted_at >= _TOGETHER:
            self.flush()

    def flush(self) -> None:
        """Count the updates that are not counted yet."""
        number, self._uncounted, self._counted_at = self._uncounted, 0, time.monotonic()
        if number:
            self._updates.add(number, self.agent)

    def failed(self, where: str, error: str) -> None:
        """Count an error: of a ``turn``, of a request that was ``sent`` or ``served``, or of the ``connection``."""
        self._errors.add(1, {"error.type": error, "acp.error.where": where, **self.agent})

    def diagnosed(self, kind: str) -> None:
        """Count a diagnostic."""
        self._diagnostics.add(1, {"acp.diagnostic.kind": str(kind), **self.agent})

    def reminded(self, rung: str, status: str) -> None:
        """Count a reminder that has come to rest."""
        self._reminders.add(1, {"acp.reminder.rung": rung, "acp.reminder.status": status, **self.agent})

    def reconnected(self, outcome: str) -> None:
        """Count a connection that was lost and is ``restored``, or is given up (``lost``, ``closed``)."""
        self._reconnects.add(1, {"acp.reconnect.outcome": outcome, **self.agent})

    def connections_changed(self, by: int) -> None:
        """Count open connections."""
        self._connections.add(by)

    def sessions_changed(self, by: int) -> None:
        """Count open sessions."""
        self._sessions.add(by)
