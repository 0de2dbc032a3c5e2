"""Traces: a span for each turn, and beneath it one for each call, tool and compaction.

A span is made when what it stands for is over, with the times it had. Without a turn it stands
beneath whatever span the program is in.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from opentelemetry.trace import Span, SpanKind, StatusCode, TracerProvider, set_span_in_context

from holdfast.model.event import Called, CallFailed, Compacted, Event, ToolRan, TurnBegan, TurnEnded
from holdfast.telemetry import names

MOST = 1_000
"""So many turns may be under way at once; of more the oldest is let go."""


class Tracing:
    """Makes spans of what happens."""

    def __init__(self, provider: TracerProvider) -> None:
        self._tracer = provider.get_tracer(names.SCOPE)
        self._turns: dict[str, Span] = {}
        """The turn that each session is in."""
        self._by: dict[type, Callable[[Any], None]] = {
            TurnBegan: self._turn, TurnEnded: self._turned, Called: self._call,
            CallFailed: self._failure, ToolRan: self._ran, Compacted: self._compaction,
        }  # fmt: skip

    def emit(self, event: Event) -> None:
        """Begin or make the span that an event is about."""
        if told := self._by.get(type(event)):
            told(event)

    def _turn(self, event: TurnBegan) -> None:
        about = {
            names.OPERATION: names.INVOKE_AGENT,
            names.AGENT: "holdfast",
            names.CONVERSATION: event.session,
        }
        if len(self._turns) >= MOST:
            del self._turns[next(iter(self._turns))]
        whole = self._turns.get(event.within)
        self._turns[event.session] = self._tracer.start_span(
            f"{names.INVOKE_AGENT} holdfast",
            set_span_in_context(whole) if whole else None,
            attributes=about,
            start_time=_nanoseconds(event.at),
        )

    def _turned(self, event: TurnEnded) -> None:
        span = self._turns.pop(event.session, None)
        if span is not None:
            _end(span, event.ended, event.error)

    def _call(self, event: Called) -> None:
        call, usage = event.call, event.call.usage
        about: dict[str, Any] = {
            **_model(call.provider, call.model),
            names.RESPONSE_MODEL: call.model,
            names.CONVERSATION: call.session,
            names.INPUT: usage.prompt,
            names.OUTPUT: usage.output,
            names.CACHE_READ: usage.cache_read,
            names.CACHE_WRITE: usage.cache_write,
            names.REASONING: usage.reasoning,
            "holdfast.call.cause": call.cause,
        }
        if call.request:
            about[names.RESPONSE_ID] = call.request
        if call.stop:
            about[names.FINISH] = (call.stop,)
        if call.cost is not None:
            about["holdfast.call.cost_usd"] = call.cost / 1e9
        error = "" if call.outcome == "done" else call.outcome
        named, ended = f"{names.CHAT} {call.model}", call.ended or call.started
        self._made(named, SpanKind.CLIENT, call.session, call.started, ended, about, error)

    def _failure(self, event: CallFailed) -> None:
        about: dict[str, Any] = {
            **_model(event.provider, event.model),
            names.CONVERSATION: event.session,
        }
        if event.status:
            about["http.response.status_code"] = event.status
        self._made(
            f"{names.CHAT} {event.model}", SpanKind.CLIENT, event.session, event.started,
            event.ended, about, event.error,
        )  # fmt: skip

    def _ran(self, event: ToolRan) -> None:
        about: dict[str, Any] = {
            names.OPERATION: names.EXECUTE_TOOL,
            names.TOOL: event.tool,
            names.TOOL_CALL: event.call,
            names.TOOL_TYPE: "function",
            names.CONVERSATION: event.session,
        }
        self._made(
            f"{names.EXECUTE_TOOL} {event.tool}", SpanKind.INTERNAL, event.session, event.started,
            event.ended, about, "" if event.ok else "tool_error",
        )  # fmt: skip

    def _compaction(self, event: Compacted) -> None:
        about: dict[str, Any] = {
            names.OPERATION: names.COMPACT,
            names.CONVERSATION: event.session,
            "holdfast.compaction.step": event.step,
            "holdfast.compaction.trigger": event.trigger,
            "holdfast.compaction.policy": event.policy,
            "holdfast.compaction.tokens_before": event.before,
            "holdfast.compaction.tokens_after": event.after,
        }
        self._made(
            f"{names.COMPACT} {event.step}", SpanKind.INTERNAL, event.session, event.started,
            event.ended, about, "",
        )  # fmt: skip

    def _made(
        self,
        name: str,
        kind: SpanKind,
        session: str,
        started: int,
        ended: int,
        about: dict[str, Any],
        error: str,
    ) -> None:
        """A span of something that is over."""
        turn = self._turns.get(session)
        span = self._tracer.start_span(
            name,
            set_span_in_context(turn) if turn else None,
            kind=kind,
            attributes=about,
            start_time=_nanoseconds(started),
        )
        _end(span, ended, error)


def _model(provider: str, model: str) -> dict[str, str]:
    return {
        names.OPERATION: names.CHAT,
        names.PROVIDER: names.provider(provider),
        names.REQUEST_MODEL: model,
    }


def _end(span: Span, at: int, error: str) -> None:
    if error:
        span.set_attribute(names.ERROR, error)
        span.set_status(StatusCode.ERROR)
    span.end(_nanoseconds(at))


def _nanoseconds(milliseconds: int) -> int:
    return milliseconds * 1_000_000
