"""What calls have cost, grouped: by day, model, session, project or cause; background ones too."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Literal

from msgspec import Struct
from msgspec.structs import replace

from holdfast.model.log import Session
from holdfast.model.reply import Call, Usage
from holdfast.ports import Store

if TYPE_CHECKING:
    from holdfast.engine.engine import Engine

By = Literal["day", "model", "session", "project", "cause"]


class Costs(Struct, frozen=True, kw_only=True):
    """What one group of calls took: four disjoint buckets, money, time."""

    name: str
    calls: int = 0
    failed: int = 0
    usage: Usage = Usage()
    cost: int = 0
    """In billionths of a US dollar, of the calls whose price is known."""
    unpriced: int = 0
    """Calls that no price is known for."""
    milliseconds: int = 0
    """How long the provider took, all calls together."""


async def costs(engine: Engine, by: By, *, project: str | None = None) -> list[Costs]:
    """What was spent, group by group, the dearest first; days in their order."""
    found: dict[str, Costs] = {}
    async for session in engine.every_session():
        if project is not None and session.project != project:
            continue
        async for call in calls_of(engine.store, session.id):
            name = _name(by, session, call)
            found[name] = _with(found.get(name) or Costs(name=name), call)
    if by == "day":
        return sorted(found.values(), key=lambda one: one.name)
    return sorted(found.values(), key=lambda one: (-one.cost, -one.usage.total, one.name))


async def calls_of(store: Store, session: str) -> AsyncIterator[Call]:
    """Every call of a session, in the order they were begun."""
    after = ""
    while page := await store.calls.calls(session, after=after):
        for call in page:
            yield call
        after = page[-1].id


def _name(by: By, session: Session, call: Call) -> str:
    if by == "day":
        local = datetime.fromtimestamp(call.started / 1_000, UTC).astimezone()
        return local.strftime("%Y-%m-%d")
    if by == "session":
        return session.id
    names = {"model": call.model, "project": session.project, "cause": call.cause}
    return names[by] or "unknown"


def _with(one: Costs, call: Call) -> Costs:
    took = (call.ended or call.started) - call.started
    return replace(
        one,
        calls=one.calls + 1,
        failed=one.failed + (call.outcome in ("failed", "aborted")),
        usage=one.usage + call.usage,
        cost=one.cost + (call.cost or 0),
        unpriced=one.unpriced + (call.cost is None),
        milliseconds=one.milliseconds + max(took, 0),
    )
