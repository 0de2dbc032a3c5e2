"""Logs: a record of each thing that happens, without a word of what was said."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from opentelemetry._logs import LoggerProvider, LogRecord, SeverityNumber

from holdfast.model.event import (
    Called,
    CallFailed,
    Compacted,
    Event,
    SessionBegan,
    ToolDecided,
    ToolRan,
    TurnEnded,
)
from holdfast.telemetry import names

Told = tuple[str, int | None, dict[str, Any]]
"""The name of a record, when it was, and what it says."""


class Records:
    """Writes down what happens."""

    def __init__(self, provider: LoggerProvider, *, prefix: str) -> None:
        self._logger = provider.get_logger(names.SCOPE)
        self._prefix = prefix

    def emit(self, event: Event) -> None:
        """Write a record of an event, where it deserves one."""
        written = WRITTEN.get(type(event))
        if written is None:
            return
        name, at, said = written(event)
        failed = name == "api_error"
        self._logger.emit(
            LogRecord(
                timestamp=at * 1_000_000 if at else None,
                severity_number=SeverityNumber.WARN if failed else SeverityNumber.INFO,
                body=f"{self._prefix}.{name}",
                event_name=f"{self._prefix}.{name}",
                attributes={"event.name": name, **said},
            )
        )


def _session(event: SessionBegan) -> Told:
    start = "resume" if event.resumed else "fresh"
    return "session", None, {names.SESSION: event.session, "start_type": start}


def _turn(event: TurnEnded) -> Told:
    took = names.milliseconds(event.started, event.ended)
    said = {names.SESSION: event.session, "duration_ms": took, "error_type": event.error}
    return "turn", event.ended, said


def _call(event: Called) -> Told:
    call, usage = event.call, event.call.usage
    ended = call.ended or call.started
    return "api_request", ended, {
        names.SESSION: call.session, "provider": call.provider, "model": call.model,
        "query_source": call.cause, "outcome": call.outcome, "request_id": call.request,
        "cost_usd": (call.cost or 0) / 1e9, "duration_ms": names.milliseconds(call.started, ended),
        "input_tokens": usage.input, "output_tokens": usage.output,
        "cache_read_tokens": usage.cache_read, "cache_creation_tokens": usage.cache_write,
    }  # fmt: skip


def _failure(event: CallFailed) -> Told:
    took = names.milliseconds(event.started, event.ended)
    return "api_error", event.ended, {
        names.SESSION: event.session, "provider": event.provider, "model": event.model,
        "error_type": event.error, "status_code": event.status or 0, "duration_ms": took,
    }  # fmt: skip


def _ran(event: ToolRan) -> Told:
    took = names.milliseconds(event.started, event.ended)
    return "tool_result", event.ended, {
        names.SESSION: event.session, "tool_name": event.tool, "tool_use_id": event.call,
        "success": "true" if event.ok else "false", "duration_ms": took,
        "tool_input_size_bytes": event.given, "tool_result_size_bytes": event.answered,
    }  # fmt: skip


def _decision(event: ToolDecided) -> Told:
    return "tool_decision", None, {
        names.SESSION: event.session, "tool_name": event.tool, "tool_use_id": event.call,
        "decision": "accept" if event.accepted else "reject", "source": event.source,
    }  # fmt: skip


def _compaction(event: Compacted) -> Told:
    took = names.milliseconds(event.started, event.ended)
    return "compaction", event.ended, {
        names.SESSION: event.session, "step": event.step, "trigger": event.trigger,
        "policy": event.policy, "tokens_before": event.before, "tokens_after": event.after,
        "duration_ms": took,
    }  # fmt: skip


WRITTEN: dict[type, Callable[[Any], Told]] = {
    SessionBegan: _session, TurnEnded: _turn, Called: _call, CallFailed: _failure, ToolRan: _ran,
    ToolDecided: _decision, Compacted: _compaction,
}  # fmt: skip
