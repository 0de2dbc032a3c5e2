"""Real exporters in a process of their own, chosen by the SDK's own variables."""

import json
import os
import re
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from holdfast.telemetry import bounds
from tests.telemetry.playing import KEY, WORDS

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples" / "telemetry"

EIGHT = ("session.count", "lines_of_code.count", "pull_request.count", "commit.count", "cost.usage",
         "token.usage", "code_edit_tool.decision", "active_time.total")  # fmt: skip


def work(tmp_path: Path, **told: str) -> subprocess.CompletedProcess[str]:
    """A day's work in a process of its own."""
    env = {name: value for name, value in os.environ.items() if not name.startswith("OTEL_")}
    return subprocess.run(
        [sys.executable, "-m", "tests.telemetry.playing", str(tmp_path)],
        cwd=ROOT, env={**env, "ANTHROPIC_API_KEY": KEY, **told}, text=True, capture_output=True,
        check=True, timeout=120,
    )  # fmt: skip


class Collector(HTTPServer):
    """Takes what OTLP exporters post, and keeps it by path."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Visitor)
        self.posted: list[tuple[str, dict[str, str], bytes]] = []


class _Visitor(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        server: Any = self.server
        server.posted.append((self.path, dict(self.headers), body))
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, format: str, *args: Any) -> None: ...


@contextmanager
def collector() -> Iterator[Collector]:
    server = Collector()
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.mark.seed("001", 168, 170)
def test_a_collector_gets_all_three(tmp_path: Path) -> None:
    with collector() as to:
        work(
            tmp_path,
            OTEL_METRICS_EXPORTER="otlp", OTEL_TRACES_EXPORTER="otlp", OTEL_LOGS_EXPORTER="otlp",
            OTEL_EXPORTER_OTLP_ENDPOINT=f"http://127.0.0.1:{to.server_port}",
            OTEL_RESOURCE_ATTRIBUTES="team.id=blue,department=engineering",
        )  # fmt: skip
        posted = to.posted
    metrics = [
        ExportMetricsServiceRequest.FromString(b) for p, _, b in posted if p == "/v1/metrics"
    ]
    named = {m.name for one in metrics for r in one.resource_metrics for s in r.scope_metrics
             for m in s.metrics}  # fmt: skip
    assert named >= {f"holdfast.{name}" for name in EIGHT}
    about = {
        a.key: a.value.string_value for a in metrics[-1].resource_metrics[0].resource.attributes
    }
    assert (about["service.name"], about["team.id"]) == ("holdfast", "blue")
    traces = [ExportTraceServiceRequest.FromString(b) for p, _, b in posted if p == "/v1/traces"]
    spans = [
        s for one in traces for r in one.resource_spans for c in r.scope_spans for s in c.spans
    ]
    assert sum(span.name == "chat claude-sonnet-4-6" for span in spans) >= 8
    logs = [ExportLogsServiceRequest.FromString(b) for p, _, b in posted if p == "/v1/logs"]
    records = [
        r for one in logs for x in one.resource_logs for c in x.scope_logs for r in c.log_records
    ]
    assert "holdfast.tool_result" in {record.event_name for record in records}
    whole = b"".join(body + str(headers).encode() for _, headers, body in posted)
    assert WORDS.encode() not in whole
    assert KEY.encode() not in whole


def scraped(tmp_path: Path) -> str:
    """What a scrape of the process says."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    told = {"OTEL_METRICS_EXPORTER": "prometheus", "OTEL_EXPORTER_PROMETHEUS_PORT": str(port)}
    return work(tmp_path, **told).stdout


@pytest.mark.seed("001", 102)
def test_prometheus_scrapes_what_the_dashboard_asks_for(tmp_path: Path) -> None:
    said = scraped(tmp_path)
    there = set(re.findall(r"^([a-z][\w:]*)\{", said, re.MULTILINE))
    assert "holdfast_commit_count_total{" in said
    assert WORDS not in said
    bare = re.sub(r"\{[^}]*\}|\bby \([^)]*\)", "", " ".join(queries()))
    asked = set(re.findall(r"\b(?:holdfast|gen_ai)_\w+", bare))
    assert len(asked) >= 12
    assert asked <= there
    labels = set(re.findall(r"\bby \(([^)]*)\)", " ".join(queries())))
    named = {label.strip() for several in labels for label in several.split(",")}
    assert named - {"le"} <= set(re.findall(r"[{,](\w+)=\"", said))


def queries() -> list[str]:
    """Every query of the dashboard."""
    board = json.loads((EXAMPLES / "grafana-dashboard.json").read_text("utf-8"))
    return [target["expr"] for panel in board["panels"] for target in panel.get("targets", ())]


def test_the_console_is_the_standard_error(tmp_path: Path) -> None:
    done = work(tmp_path, OTEL_METRICS_EXPORTER="console", OTEL_TRACES_EXPORTER="console")
    assert done.stdout == ""
    assert '"name": "holdfast.commit.count"' in done.stderr
    assert '"name": "execute_tool shell"' in done.stderr


def test_a_port_that_is_taken_stops_nobody(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        done = subprocess.run(
            [sys.executable, "-c", TOLD, str(tmp_path)], cwd=ROOT, text=True, capture_output=True,
            check=True, timeout=60,
            env={**os.environ, "OTEL_METRICS_EXPORTER": "prometheus",
                 "OTEL_EXPORTER_PROMETHEUS_HOST": "127.0.0.1",
                 "OTEL_EXPORTER_PROMETHEUS_PORT": str(taken.getsockname()[1])},
        )  # fmt: skip
    assert "NotMeasured: nothing is measured" in done.stderr
    assert done.stdout.strip() == "fine"


TOLD = """
import sys, holdfast
with holdfast.open(sys.argv[1] + "/log.db") as hf:
    s = hf.session(model="claude-sonnet-4-6")
    s.user("hi")
    s.window()
    print("fine")
"""


def modules(tmp_path: Path, first: str, **told: str) -> list[str]:
    """What of OpenTelemetry was imported once a window was prepared."""
    env = {name: value for name, value in os.environ.items() if not name.startswith("OTEL_")}
    ours = "('holdfast.telemetry', 'opentelemetry')"
    loaded = f"print(*sorted(name for name in sys.modules if name.startswith({ours})))"
    done = subprocess.run(
        [sys.executable, "-c", f"{first}\n{TOLD}\n{loaded}", str(tmp_path)], cwd=ROOT, text=True,
        capture_output=True, check=True, timeout=60, env={**env, **told},
    )  # fmt: skip
    return done.stdout.splitlines()[-1].split()


def test_nothing_is_imported_where_nobody_measures(tmp_path: Path) -> None:
    assert modules(tmp_path, "") == ["holdfast.telemetry"]
    assert modules(tmp_path, "", OTEL_METRICS_EXPORTER="none") == ["holdfast.telemetry"]
    off = {"OTEL_SDK_DISABLED": "true", "OTEL_METRICS_EXPORTER": "console"}
    assert modules(tmp_path, "", **off) == ["holdfast.telemetry"]


def test_without_the_extra_the_variables_are_for_others(tmp_path: Path) -> None:
    absent = "import sys; sys.modules['opentelemetry.metrics'] = None"
    assert modules(tmp_path, absent, OTEL_METRICS_EXPORTER="otlp")[0] == "holdfast.telemetry"


THEIRS = """
from opentelemetry import metrics
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
reader = InMemoryMetricReader()
metrics.set_meter_provider(MeterProvider([reader]))
"""


@pytest.mark.seed("001", 169)
def test_the_providers_of_the_program_are_used_as_they_are(tmp_path: Path) -> None:
    shown = 'print(reader.get_metrics_data().to_json().count("holdfast.session.count"))'
    done = subprocess.run(
        [sys.executable, "-c", f"{THEIRS}\n{TOLD}\n{shown}", str(tmp_path)], cwd=ROOT, text=True,
        capture_output=True, check=True, timeout=60,
        env={**os.environ, "OTEL_METRICS_EXPORTER": "console"},
    )  # fmt: skip
    assert done.stdout.split() == ["fine", "1"]
    assert done.stderr == ""  # nothing of ours was set up beside theirs


def test_a_collector_that_is_down_is_told_once(tmp_path: Path) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        closed = f"http://127.0.0.1:{free.getsockname()[1]}"
    done = subprocess.run(
        [sys.executable, "-c", TOLD, str(tmp_path)], cwd=ROOT, text=True, capture_output=True,
        check=True, timeout=60,
        env={**os.environ, "OTEL_METRICS_EXPORTER": "otlp", "OTEL_LOGS_EXPORTER": "otlp",
             "OTEL_EXPORTER_OTLP_ENDPOINT": closed},
    )  # fmt: skip
    assert done.stdout.strip() == "fine"
    assert done.stderr.count("NotMeasured: what is measured does not arrive") == 1
    assert done.stderr.count("Connection refused") == 1


def test_the_end_of_a_program_does_not_wait_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    arrived, never = threading.Event(), threading.Event()

    class Stuck:
        def shutdown(self) -> None:
            arrived.set()
            never.wait()

    monkeypatch.setattr(bounds, "_ENDING", [Stuck(), Stuck()])
    monkeypatch.setattr(bounds, "GRACE", 0.1)
    bounds._end()  # type: ignore[reportPrivateUsage]
    assert arrived.is_set()
    never.set()
