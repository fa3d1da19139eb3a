"""What is told of a connection to OpenTelemetry: :class:`Telemetry`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import frozen

if TYPE_CHECKING:
    from opentelemetry.metrics import MeterProvider
    from opentelemetry.trace import TracerProvider

__all__ = ["Telemetry"]


@frozen(kw_only=True)
class Telemetry:
    """How ``connect(telemetry=…)`` tells OpenTelemetry what a connection does; needs the extra ``otel``.

    Attributes:
        tracer_provider: where spans go; ``None`` for the global provider.
        meter_provider: where metrics go; likewise.
        propagate: put the trace context into ``_meta`` of the requests that the agent is sent (``traceparent``,
            ``tracestate``), and heed that of its own requests.
        baggage: put the baggage of the context there, too (``baggage``). It may hold what the agent is not to know.
        content: record what is said, and what tools are given and return, without secrets that can be told as such.
    """

    tracer_provider: TracerProvider | None = None
    meter_provider: MeterProvider | None = None
    propagate: bool = True
    baggage: bool = False
    content: bool = False

    @classmethod
    def of(cls, given: Telemetry | bool | None) -> Telemetry | None:
        """Return the settings that an argument means; ``None``: nothing is told."""
        if given is True:
            return cls()
        return given or None
