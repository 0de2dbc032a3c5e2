"""What each call used, from totals that only ever grow.

Rule 1: a total that is told again is no further call.
Rule 2: what has been added since the last total is what was used; where totals begin anew, the
        program's own word on its last call holds.
Rule 3: totals that a fork has copied from the session it began in were paid for there.
Rule 4: since 0.166 each response has a record of its own. They count more than the totals, which
        leave out what the provider's own compaction took; so from the first on they alone count.
"""

from __future__ import annotations

from hashlib import blake2b
from typing import Any

from holdfast.importers.values import count, table, text
from holdfast.model import wire
from holdfast.model.reply import Usage
from holdfast.model.transcript_events import CallRead

BUCKETS = (
    "input_tokens",
    "cached_input_tokens",
    "cache_write_input_tokens",
    "output_tokens",
    "reasoning_output_tokens",
)
USUAL = ("", "auto", "default", "standard")
"""The words for the usual way of serving."""

COPIED = 2_000
"""Within so many ms of its beginning, a fork's file holds what was copied."""


class Meter:
    """The usage of one session, as its totals tell it."""

    def __init__(self) -> None:
        self._totals: tuple[int, ...] | None = None
        self.recorded = False
        """Whether each response is recorded by itself: then totals tell of no call."""
        self.last = 0
        """How many tokens the newest call has processed: how full the window is."""
        self.window = 0
        """How many tokens the window holds."""
        self._tier = ""

    def settled(self, settings: dict[str, Any]) -> None:
        """How calls are served from here on, where the settings of a thread say so."""
        if "service_tier" in settings:
            tier = text(settings.get("service_tier"))
            self._tier = "" if tier in USUAL else tier

    def told(
        self, payload: dict[str, Any], time: int, copied: int, provider: str, model: str
    ) -> CallRead | None:
        """The call that an event tells of; None where it tells of none, or of one again.

        `copied` is when a fork's file began; 0 where the session is none.
        """
        info = table(payload.get("info"))
        last, total = (table(info.get(f"{name}_token_usage")) for name in ("last", "total"))
        self.last = count(last.get("total_tokens")) if last else self.last
        self.window = count(info.get("model_context_window")) or self.window
        used = self._used(_buckets(total) if total else None, _buckets(last) if last else None)
        if used is None or not any(used) or (copied and time - copied < COPIED):
            return None
        return CallRead(
            usage=_usage(used, self._tier),
            request=_request(time, model, total or last),
            started=time,
            ended=time,
            provider=provider,
            model=model,
            window=self.window,
        )

    def record(
        self, payload: dict[str, Any], time: int, copied: int, provider: str, model: str
    ) -> CallRead | None:
        """The call that a response's own record tells of."""
        used = _buckets(table(payload.get("usage")))
        self.recorded = self.recorded or any(used)
        if not any(used) or (copied and time - copied < COPIED):
            return None
        return CallRead(
            usage=_usage(used, self._tier),
            request=text(payload.get("response_id")),
            started=time,
            ended=time,
            provider=provider,
            model=model,
            window=self.window,
        )

    def _used(
        self, total: tuple[int, ...] | None, last: tuple[int, ...] | None
    ) -> tuple[int, ...] | None:
        if total is None:
            return last
        before, self._totals = self._totals, total
        if before is None:
            return total
        added = tuple(now - then for now, then in zip(total, before, strict=True))
        return added if min(added) >= 0 else last or total


def _buckets(told: dict[str, Any]) -> tuple[int, ...]:
    return tuple(count(told.get(name)) for name in BUCKETS)


def _usage(used: tuple[int, ...], tier: str) -> Usage:
    """Four disjoint buckets: what was read includes what the cache held."""
    read, cached, written, output, reasoning = used
    return Usage(
        input=max(read - cached - written, 0),
        cache_read=min(cached, read),
        cache_write=written,
        output=output,
        reasoning=reasoning,
        tier=tier,
    )


def _request(time: int, model: str, told: dict[str, Any]) -> str:
    """A name for a call that has none: the same wherever its event was copied to as it was."""
    if not time:
        return ""
    print = blake2b(wire.encode([time, model, _buckets(told)]), digest_size=12).hexdigest()
    return f"codex-{print}"
