"""The SDK's own readers, in memory, and what they have heard."""

from typing import Any

from opentelemetry.sdk._logs import LoggerProvider
from opentelemetry.sdk._logs.export import InMemoryLogRecordExporter, SimpleLogRecordProcessor
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from holdfast.telemetry.emit import Emitter


class Listening:
    """Three providers of the SDK that keep what they are told."""

    def __init__(self, **environ: str) -> None:
        self._metrics = InMemoryMetricReader()
        self._spans = InMemorySpanExporter()
        self._logs = InMemoryLogRecordExporter()
        meters = MeterProvider([self._metrics])
        tracers, loggers = TracerProvider(), LoggerProvider()
        tracers.add_span_processor(SimpleSpanProcessor(self._spans))
        loggers.add_log_record_processor(SimpleLogRecordProcessor(self._logs))
        self.emitter = Emitter(meters, tracers, loggers, environ)
        self._points: dict[str, list[Any]] | None = None

    def metrics(self) -> dict[str, list[Any]]:
        """The points of every metric, by its name."""
        if self._points is None:
            data = self._metrics.get_metrics_data()
            assert data
            self._points = {
                metric.name: list(metric.data.data_points)
                for resource in data.resource_metrics
                for scope in resource.scope_metrics
                for metric in scope.metrics
            }
        return self._points

    def total(self, name: str, **by: Any) -> float:
        """The sum of a metric over the points that have these attributes."""
        wanted = {key.replace("__", "."): value for key, value in by.items()}
        found = [
            point
            for point in self.metrics().get(name, [])
            if wanted.items() <= dict(point.attributes).items()
        ]
        return sum(getattr(one, "value", None) or getattr(one, "sum", 0) for one in found)

    def spans(self, beginning: str = "") -> list[ReadableSpan]:
        """The spans that are over, in the order they ended."""
        return [one for one in self._spans.get_finished_spans() if one.name.startswith(beginning)]

    def records(self, name: str) -> list[dict[str, Any]]:
        """What the records of a name say."""
        told = [one.log_record for one in self._logs.get_finished_logs()]
        return [dict(one.attributes or {}) for one in told if one.event_name == name]

    def everything(self) -> str:
        """All that was told, as text."""
        spans = [span.to_json() for span in self.spans()]
        logs = [one.to_json() for one in self._logs.get_finished_logs()]
        return "\n".join([*spans, *logs, str(self.metrics())])
