"""Metrics: what happens becomes counters, histograms and gauges."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from opentelemetry.metrics import MeterProvider

from holdfast.model.event import (
    Called,
    CallFailed,
    Compacted,
    Event,
    FirstHeard,
    Limited,
    SessionBegan,
    ToolDecided,
    ToolRan,
    TurnEnded,
)
from holdfast.telemetry import names

EDITORS = frozenset({"write", "edit"})
"""The tools whose use is a decision about code."""


class Metering:
    """The instruments, and what each event adds to them."""

    def __init__(self, provider: MeterProvider, *, prefix: str, sessions: bool) -> None:
        self._sessions = sessions
        """Whether each session has a series of its own."""
        meter = provider.get_meter(names.SCOPE)

        def counter(name: str, unit: str, about: str) -> Any:
            return meter.create_counter(f"{prefix}.{name}", unit, about)

        def gauge(name: str, about: str) -> Any:
            return meter.create_gauge(f"{prefix}.{name}", "", about)

        def histogram(name: str, unit: str, about: str) -> Any:
            bounds = names.BUCKETS[unit]
            return meter.create_histogram(
                name, unit, about, explicit_bucket_boundaries_advisory=bounds
            )

        self._begun = counter(names.SESSIONS, "", "Sessions that were worked in")
        self._lines = counter(names.LINES, "", "Lines of code added and removed")
        self._requests = counter(names.PULL_REQUESTS, "", "Pull requests created")
        self._commits = counter(names.COMMITS, "", "Commits made")
        self._cost = counter(names.COST, "USD", "What calls of models have cost")
        self._tokens = counter(names.TOKENS, "tokens", "Tokens of calls of models")
        self._decided = counter(names.DECISIONS, "", "Whether code might be changed")
        self._active = counter(names.ACTIVE, "s", "Time the agent was at work")
        self._compacted = counter(names.COMPACTIONS, "", "Compactions of the window")
        self._freed = counter(names.FREED, "tokens", "Tokens that left the window")
        self._limit = gauge(names.LIMIT, "What a provider takes at the most")
        self._remaining = gauge(names.REMAINING, "What a provider still takes")
        self._rate = gauge(names.PER_MINUTE, "Tokens of the last minute")
        self._usage = histogram(names.TOKEN_USAGE, "{token}", "Tokens of one operation")
        self._duration = histogram(names.DURATION, "s", "How long an operation took")
        self._first = histogram(names.FIRST_CHUNK, "s", "How long until a reply began")
        self._by: dict[type, Callable[[Any], None]] = {
            SessionBegan: self._session, Called: self._call, CallFailed: self._failure,
            FirstHeard: self._heard, ToolRan: self._ran, ToolDecided: self._decision,
            TurnEnded: self._turn, Compacted: self._compaction, Limited: self._limits,
        }  # fmt: skip

    def emit(self, event: Event) -> None:
        """Add what an event is worth."""
        if told := self._by.get(type(event)):
            told(event)

    def _of(self, session: str, **more: str) -> dict[str, str]:
        """The attributes of a point, with its session where that is wanted."""
        return {names.SESSION: session, **more} if self._sessions else more

    def _session(self, event: SessionBegan) -> None:
        start = "resume" if event.resumed else "fresh"
        self._begun.add(1, self._of(event.session, start_type=start))

    def _call(self, event: Called) -> None:
        call, usage = event.call, event.call.usage
        by = self._of(call.session, model=call.model, query_source=names.source(call.cause))
        if call.cost:
            self._cost.add(call.cost / 1e9, by)
        kinds = {
            "input": usage.input, "output": usage.output, "cacheRead": usage.cache_read,
            "cacheCreation": usage.cache_write,
        }  # fmt: skip
        for kind, tokens in kinds.items():
            if tokens:
                self._tokens.add(tokens, {**by, "type": kind})
        about = _about(names.CHAT, call.provider, call.model)
        about[names.RESPONSE_MODEL] = call.model
        for kind, tokens in (("input", usage.prompt), ("output", usage.output)):
            if tokens:
                self._usage.record(tokens, {**about, names.TOKEN_TYPE: kind})
        self._took(call.started, call.ended or call.started, about)

    def _failure(self, event: CallFailed) -> None:
        about = _about(names.CHAT, event.provider, event.model)
        self._took(event.started, event.ended, {**about, names.ERROR: event.error})

    def _took(self, started: int, ended: int, about: dict[str, str]) -> None:
        self._duration.record(names.milliseconds(started, ended) / 1000, about)

    def _heard(self, event: FirstHeard) -> None:
        waited = names.milliseconds(event.started, event.at) / 1000
        self._first.record(waited, _about(names.CHAT, event.provider, event.model))

    def _ran(self, event: ToolRan) -> None:
        for kind, many in (("added", event.added), ("removed", event.removed)):
            if many:
                self._lines.add(many, self._of(event.session, type=kind))
        if event.commits:
            self._commits.add(event.commits, self._of(event.session))
        if event.pull_requests:
            self._requests.add(event.pull_requests, self._of(event.session))
        about = {names.OPERATION: names.EXECUTE_TOOL, names.TOOL: event.tool}
        failed = {} if event.ok else {names.ERROR: "tool_error"}
        self._took(event.started, event.ended, {**about, **failed})

    def _decision(self, event: ToolDecided) -> None:
        if event.tool in EDITORS:
            by = self._of(
                event.session, tool_name=event.tool, source=event.source,
                decision="accept" if event.accepted else "reject", language=event.language,
            )  # fmt: skip
            self._decided.add(1, by)

    def _turn(self, event: TurnEnded) -> None:
        if event.within:
            return  # the turn it is a part of takes as long
        seconds = names.milliseconds(event.started, event.ended) / 1000
        self._active.add(seconds, self._of(event.session, type="cli"))

    def _compaction(self, event: Compacted) -> None:
        by = self._of(event.session, step=event.step, trigger=event.trigger)
        self._compacted.add(1, by)
        self._freed.add(max(event.before - event.after, 0), by)

    def _limits(self, event: Limited) -> None:
        provider = event.limits.provider
        for one in event.limits.limits:
            by = {"provider": provider, "type": one.kind}
            self._limit.set(one.limit, by)
            self._remaining.set(one.remaining, by)
        self._rate.set(event.per_minute, {"provider": provider})


def _about(operation: str, provider: str, model: str) -> dict[str, str]:
    return {
        names.OPERATION: operation,
        names.PROVIDER: names.provider(provider),
        names.REQUEST_MODEL: model,
    }
