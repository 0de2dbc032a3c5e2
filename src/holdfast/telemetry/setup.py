"""The providers that are told: those of the program, or else what its environment names.

Rule 1: a provider that the program has set is used as it is, and never replaced.
Rule 2: ours are our own: they do not become those of the program, which may set its own later.
Rule 3: the SDK's own variables say where everything goes; a console is the standard error, since
        the standard output belongs to what a command says.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from importlib.metadata import entry_points
from typing import Any

from opentelemetry import _logs, metrics, trace

from holdfast.errors import InvalidRequest
from holdfast.telemetry.bounds import bounded
from holdfast.telemetry.emit import Emitter

OTLP = {"": "otlp_proto_http", "http/protobuf": "otlp_proto_http", "grpc": "otlp_proto_grpc"}
"""The exporter of each protocol; the SDK would take gRPC where nothing is said."""


def emitter() -> Emitter:
    """Whom to tell, by what the program has set and its environment says."""
    return Emitter(
        _chosen("metrics", metrics.get_meter_provider(), _meters),
        _chosen("traces", trace.get_tracer_provider(), _tracers),
        _chosen("logs", _logs.get_logger_provider(), _loggers),
    )


def _chosen(signal: str, found: Any, made: Any) -> Any:
    """The program's provider where it has set one; ours where the environment asks for it."""
    waiting = "Proxy" in type(found).__name__  # the API's own stand-in until one is set
    return made(signal) if waiting and exporters(signal) else found


def exporters(signal: str) -> list[str]:
    """The exporters that the environment names for a signal."""
    named = os.environ.get(f"OTEL_{signal.upper()}_EXPORTER", "").strip().lower()
    return [] if named in ("", "none") else [name.strip() for name in named.split(",")]


def _meters(signal: str) -> Any:
    from opentelemetry.sdk.metrics import MeterProvider
    from opentelemetry.sdk.metrics.export import MetricReader, PeriodicExportingMetricReader

    made = _made(signal)
    readers = (
        one if isinstance(one, MetricReader) else PeriodicExportingMetricReader(one) for one in made
    )
    return bounded(MeterProvider(tuple(readers), _resource(), shutdown_on_exit=False))


def _tracers(signal: str) -> Any:
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor

    provider = TracerProvider(resource=_resource(), shutdown_on_exit=False)
    for exporter in _made(signal):
        provider.add_span_processor(BatchSpanProcessor(exporter))
    return bounded(provider)


def _loggers(signal: str) -> Any:
    from opentelemetry.sdk._logs import LoggerProvider
    from opentelemetry.sdk._logs.export import BatchLogRecordProcessor

    provider = LoggerProvider(_resource(), shutdown_on_exit=False)
    for exporter in _made(signal):
        provider.add_log_record_processor(BatchLogRecordProcessor(exporter))
    return bounded(provider)


def _resource() -> Any:
    """Who is measured: OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES say more, or otherwise."""
    from opentelemetry.sdk.resources import Resource

    told = "OTEL_SERVICE_NAME", "OTEL_RESOURCE_ATTRIBUTES"
    named = any("service.name" in os.environ.get(one, "") for one in told) or os.environ.get(
        told[0]
    )
    return Resource.create({} if named else {"service.name": "holdfast"})


def _made(signal: str) -> Iterator[Any]:
    for name in exporters(signal):
        known = {p.name: p for p in entry_points(group=f"opentelemetry_{signal}_exporter")}
        meant = OTLP.get(_protocol(signal), "") if name == "otlp" else name
        if meant not in known:
            raise InvalidRequest(
                f"OTEL_{signal.upper()}_EXPORTER={name} needs one of {', '.join(known)}"
            )
        kind = known[meant].load()
        yield kind(out=sys.stderr) if name == "console" else kind()


def _protocol(signal: str) -> str:
    own = os.environ.get(f"OTEL_EXPORTER_OTLP_{signal.upper()}_PROTOCOL", "")
    return (own or os.environ.get("OTEL_EXPORTER_OTLP_PROTOCOL", "")).strip()
