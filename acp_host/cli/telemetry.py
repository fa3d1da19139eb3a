"""Telemetry of the command, by the variables of OpenTelemetry: :func:`telemetry_of_environment`."""

from __future__ import annotations

import importlib.util
import os
import sys
from collections.abc import Mapping
from importlib.metadata import entry_points
from typing import Any

from acp_host.printable import printable

__all__ = ["telemetry_of_environment"]

_EXPORTERS = ("OTEL_TRACES_EXPORTER", "OTEL_METRICS_EXPORTER")


def telemetry_of_environment(environment: Mapping[str, str] = os.environ) -> bool:
    """Tell whether connections are to be told of, and make it so that something comes of it.

    They are where ``OTEL_TRACES_EXPORTER`` or ``OTEL_METRICS_EXPORTER`` names an exporter and the SDK is installed. It
    is then set up by these and its own variables, unless somebody has done that before, such as
    ``opentelemetry-instrument``. Where that fails, a line on stderr says so, and the command goes on without.
    """
    if environment.get("OTEL_SDK_DISABLED", "").strip().lower() == "true":
        return False
    if all(environment.get(name, "").strip() in ("", "none") for name in _EXPORTERS) or not _has_sdk():
        return False
    if not _is_configured():
        try:
            _configure(environment)
        except Exception as error:  # of the SDK, or of the exporter that is named
            print(f"acp-host: no telemetry: {printable(str(error))}", file=sys.stderr)
            return False
    return True


def _has_sdk() -> bool:
    return all(importlib.util.find_spec(name) is not None for name in ("opentelemetry", "opentelemetry.sdk"))


def _is_configured() -> bool:
    from opentelemetry import trace

    return not isinstance(trace.get_tracer_provider(), trace.ProxyTracerProvider)


def _configure(environment: Mapping[str, str]) -> None:
    from opentelemetry import metrics, trace
    from opentelemetry.sdk.metrics import MeterProvider
    from opentelemetry.sdk.metrics.export import PeriodicExportingMetricReader
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor

    named = "OTEL_SERVICE_NAME" in environment or "service.name=" in environment.get("OTEL_RESOURCE_ATTRIBUTES", "")
    resource = Resource.create({} if named else {"service.name": "acp-host"})
    of_spans, of_metrics = (_exporters(environment, name) for name in _EXPORTERS)
    tracers = TracerProvider(resource=resource)
    for exporter in of_spans:
        tracers.add_span_processor(BatchSpanProcessor(exporter))
    trace.set_tracer_provider(tracers)
    readers = [PeriodicExportingMetricReader(exporter) for exporter in of_metrics]
    metrics.set_meter_provider(MeterProvider(readers, resource=resource))


def _exporters(environment: Mapping[str, str], variable: str) -> list[Any]:
    """Return the exporters that a variable names, as the packages that are installed offer them."""
    group = f"opentelemetry_{variable.split('_')[1].lower()}_exporter"
    names = [name.strip() for name in environment.get(variable, "").split(",")]
    return [_exporter(environment, group, name) for name in names if name not in ("", "none")]


def _exporter(environment: Mapping[str, str], group: str, name: str) -> Any:
    if name == "otlp":
        protocol = environment.get("OTEL_EXPORTER_OTLP_PROTOCOL", "http/protobuf")
        name = "otlp_proto_grpc" if protocol == "grpc" else "otlp_proto_http"
    found = entry_points(group=group, name=name)
    if not found:
        raise ImportError(f"the exporter {name!r} is not installed")
    return next(iter(found)).load()()
