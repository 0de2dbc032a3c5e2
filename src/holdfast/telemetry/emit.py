"""What happens, told to OpenTelemetry through its API alone."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from typing import Any

from msgspec.structs import replace
from opentelemetry._logs import LoggerProvider
from opentelemetry.metrics import MeterProvider
from opentelemetry.trace import TracerProvider

from holdfast.model.event import Compacted, Event, ToolDecided, ToolRan
from holdfast.telemetry.logs import Records
from holdfast.telemetry.metrics import Metering
from holdfast.telemetry.names import SCOPE
from holdfast.telemetry.traces import Tracing

_PLAIN = re.compile(r"[A-Za-z0-9_.:-]{1,64}")


class Emitter:
    """Metrics, traces and logs of what happens, for the providers it is given."""

    def __init__(
        self,
        meters: MeterProvider,
        tracers: TracerProvider,
        loggers: LoggerProvider,
        environ: Mapping[str, str] | None = None,
    ) -> None:
        env = os.environ if environ is None else environ
        prefix = env.get("HOLDFAST_METRIC_PREFIX", "").strip() or SCOPE
        sessions = env.get("OTEL_METRICS_INCLUDE_SESSION_ID", "").strip().lower() != "false"
        self._all: tuple[Any, ...] = (
            Metering(meters, prefix=prefix, sessions=sessions),
            Tracing(tracers),
            Records(loggers, prefix=prefix),
        )

    def emit(self, event: Event) -> None:
        """Tell all three of it."""
        event = _nameable(event)
        for one in self._all:
            one.emit(event)


def _nameable(event: Event) -> Event:
    """An event whose names are names: a model may call a tool anything, a policy may be a path."""
    if isinstance(event, (ToolRan, ToolDecided)) and not _PLAIN.fullmatch(event.tool):
        return replace(event, tool="other")
    if isinstance(event, Compacted) and "/" in event.policy:
        return replace(event, policy="file")
    return event
