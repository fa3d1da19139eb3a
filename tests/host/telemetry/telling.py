"""An OpenTelemetry SDK that keeps in memory what it is told."""

from __future__ import annotations

from typing import Any

from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import ReadableSpan, Span, SpanProcessor, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

import acp_host

__all__ = ["HOSTILE", "Told"]

HOSTILE = [
    None,
    "",
    1,
    [],
    {},
    "00-" + "0" * 32 + "-" + "1" * 16 + "-01",
    "00-" + "1" * 32 + "-" + "0" * 16 + "-01",
    "ff-" + "1" * 32 + "-" + "1" * 16 + "-01",
    "00-" + "G" * 32 + "-" + "1" * 16 + "-01",
    "00-" + "1" * 32 + "-" + "1" * 16 + "-01-more",
    "00-" + "1" * 32 + "-" + "1" * 16 + "-01\r\nX-Injected: 1",
    "01-" + "1" * 32 + "-" + "1" * 16 + "-01-" + "x" * 100_000,
    "\u0661" * 55,
]
"""What is no ``traceparent``."""


class _Open(SpanProcessor):
    """Knows which spans are open."""

    def __init__(self) -> None:
        self.spans: list[Any] = []

    def on_start(self, span: Span, parent_context: Any = None) -> None:
        self.spans.append(span)

    def on_end(self, span: ReadableSpan) -> None:
        self.spans = [each for each in self.spans if each.context.span_id != span.context.span_id]


class Told:
    """What was told.

    Args:
        settings: as for :class:`acp_host.Telemetry`.

    Attributes:
        telemetry: for ``connect(telemetry=…)``.
        provider: where the spans go.
    """

    def __init__(self, **settings: Any) -> None:
        self._exporter = InMemorySpanExporter()
        self._open = _Open()
        self.provider = TracerProvider(shutdown_on_exit=False)
        self.provider.add_span_processor(SimpleSpanProcessor(self._exporter))
        self.provider.add_span_processor(self._open)
        self._reader = InMemoryMetricReader()
        meters = MeterProvider([self._reader], shutdown_on_exit=False)
        self.telemetry = acp_host.Telemetry(tracer_provider=self.provider, meter_provider=meters, **settings)

    @property
    def open(self) -> list[str]:
        """The names of the spans that have not ended."""
        return [span.name for span in self._open.spans]

    def spans(self, name: str = "") -> list[ReadableSpan]:
        """The spans whose names begin so, in the order in which they ended."""
        return [span for span in self._exporter.get_finished_spans() if span.name.startswith(name)]

    def span(self, name: str) -> ReadableSpan:
        """The one span whose name begins so."""
        spans = self.spans(name)
        assert len(spans) == 1, [span.name for span in self.spans()]
        return spans[0]

    def metrics(self) -> dict[str, list[tuple[dict[str, Any], Any]]]:
        """What was measured: by name, attributes and values (of histograms: the count)."""
        data = self._reader.get_metrics_data()
        found: dict[str, list[tuple[dict[str, Any], Any]]] = {}
        for resource in data.resource_metrics if data else ():
            for scope in resource.scope_metrics:
                for metric in scope.metrics:
                    found[metric.name] = [
                        (dict(point.attributes or {}), getattr(point, "value", getattr(point, "count", 0)))
                        for point in metric.data.data_points
                    ]
        return found

    def values(self, name: str, *keys: str) -> dict[Any, Any]:
        """The values of a metric by some of its attributes."""
        return {tuple(attributes.get(key) for key in keys): value for attributes, value in self.metrics()[name]}

    def everything(self) -> str:
        """All that was told, as one text."""
        spans = [span.to_json() for span in self.spans()]
        return "\n".join([*spans, repr(self.metrics())])
