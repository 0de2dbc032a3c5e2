"""What the sessions of Copilot CLI used: told of each reply in part, and of all at the end.

Rule 1: its count of the input holds what came from the cache and went into it; ours does not.
Rule 2: the sum of all that is told is what the end of the session says.
"""

from __future__ import annotations

from typing import Any

from holdfast.importers.values import count, table, text
from holdfast.model.reply import Iteration, Usage
from holdfast.model.transcript_events import CallRead, TranscriptEvent

REST = "session"
"""The cause of a call that stands for what all calls of a session took beside what they told."""

MOST = 10_000
"""Into how many samplings such a rest is parted at most."""


class Used:
    """What has been told of each model since a session was last ended."""

    def __init__(self) -> None:
        self._wrote: dict[str, int] = {}

    def wrote(self, model: str, output: int, when: int, request: str) -> list[TranscriptEvent]:
        """A reply tells how much it wrote."""
        if not output:
            return []
        self._wrote[model] = self._wrote.get(model, 0) + output
        used = Usage(output=output)
        return [CallRead(usage=used, request=request, started=when, ended=when, model=model)]

    def rest(self, data: dict[str, Any], when: int) -> list[TranscriptEvent]:
        """What every model took in all, without what its replies have told."""
        told: list[TranscriptEvent] = []
        for model, (usage, calls) in _totals(data).items():
            wrote = self._wrote.pop(model, 0)
            left = Usage(
                input=usage.input, cache_read=usage.cache_read, cache_write=usage.cache_write,
                output=max(usage.output - wrote, 0), reasoning=usage.reasoning,
            )  # fmt: skip
            if left.total:
                told.append(
                    CallRead(
                        usage=left, iterations=_parted(left, calls), started=when, ended=when,
                        model=model, cause=REST,
                    )
                )  # fmt: skip
        self._wrote.clear()
        return told


def summarised(data: dict[str, Any], model: str, when: int) -> list[TranscriptEvent]:
    """What a compaction took."""
    used = table(data.get("compactionTokensUsed"))
    cached = count(used.get("cacheReadTokens")) or count(used.get("cachedInput"))
    written = count(used.get("cacheWriteTokens"))
    sent = count(used.get("inputTokens")) or count(used.get("input"))
    usage = Usage(
        input=max(sent - cached - written, 0), cache_read=cached, cache_write=written,
        output=count(used.get("outputTokens")) or count(used.get("output")),
    )  # fmt: skip
    if not usage.total:
        return []
    own = text(data.get("model")) or text(used.get("model")) or model
    request = text(data.get("requestId"))
    return [CallRead(usage=usage, request=request, started=when, ended=when, model=own,
                   cause="summary")]  # fmt: skip


def _totals(data: dict[str, Any]) -> dict[str, tuple[Usage, int]]:
    """What each model took, and in how many calls."""
    found: dict[str, tuple[Usage, int]] = {}
    for model, metrics in table(data.get("modelMetrics")).items():
        used = table(table(metrics).get("usage"))
        calls = count(table(table(metrics).get("requests")).get("count"))
        if used:
            found[model] = (_usage(used, "inputTokens", "outputTokens", "cacheReadTokens",
                                   "cacheWriteTokens"), calls)  # fmt: skip
    details = table(data.get("tokenDetails"))
    if not found and details:
        counts = {name: count(table(one).get("tokenCount")) for name, one in details.items()}
        named = text(data.get("currentModel"))
        found[named] = (_usage(counts, "input", "output", "cache_read", "cache_write"), 0)
    return found


def _usage(told: dict[str, Any], sent: str, wrote: str, read: str, written: str) -> Usage:
    cached, kept = count(told.get(read)), count(told.get(written))
    return Usage(
        input=max(count(told.get(sent)) - cached - kept, 0),
        cache_read=cached,
        cache_write=kept,
        output=count(told.get(wrote)),
        reasoning=count(told.get("reasoningTokens")),
    )


def _parted(usage: Usage, calls: int) -> tuple[Iteration, ...]:
    """The same in as many samplings as there were: none paid the price of a prompt of them all."""
    many = min(max(calls, 1), MOST)
    names = ("input", "cache_read", "cache_write", "output", "reasoning")
    shares = {name: divmod(getattr(usage, name), many) for name in names}
    return tuple(
        Iteration(**{name: share + (at < more) for name, (share, more) in shares.items()})
        for at in range(many)
    )
