"""What calls have cost, grouped by day, model, session, project, agent or cause: all of them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Literal

from msgspec import Struct
from msgspec.structs import replace

from holdfast.core.search.nearest import nearest
from holdfast.engine.usage.periods import LATEST, named
from holdfast.errors import NotFound
from holdfast.model.log import SessionInfo
from holdfast.model.reply import MINUTE, QUARTER, Call, Spent, Usage
from holdfast.model.reply import By as Apart
from holdfast.model.span import OPEN
from holdfast.ports import Store

if TYPE_CHECKING:
    from holdfast.engine.context import EngineContext

By = Literal[
    "minute", "hour", "day", "week", "month", "block", "model", "session", "project", "agent",
    "cause",
]  # fmt: skip

PERIODS = ("minute", "hour", "day", "week", "month", "block")

FAILED = ("failed", "aborted")
"""How calls end that were cut short, or brought nothing."""

APART: dict[By, Apart] = {
    "minute": "minute",
    "hour": "quarter",
    "day": "quarter",
    "week": "quarter",
    "month": "quarter",
    "block": "quarter",
    "model": "model",
    "session": "session",
    "project": "session",
    "agent": "session",
    "cause": "cause",
}
"""What a store tells calls apart by, so that they can be grouped."""


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
    begun: int = 0
    ended: int = 0
    """Where calls are summed by time: from the first quarter of an hour to the end of the last, in
    ms."""
    models: tuple[Costs, ...] = ()
    """The same by model, the dearest first; empty in a group of models."""


async def costs(
    engine: EngineContext,
    by: By,
    *,
    project: str | None = None,
    agent: str = "",
    session: str = "",
    since: int = 0,
    until: int = OPEN,
) -> list[Costs]:
    """What was spent, group by group, the dearest first; days, weeks, months and blocks of five
    hours in their order.

    `since` and `until` are times in ms; a call belongs to the time it was begun at.
    """
    check_group(by, APART)
    apart: set[Apart] = {APART[by], "model", "outcome"}
    known: dict[str, SessionInfo] = {}
    if by in ("project", "agent") or project is not None or agent:
        apart.add("session")
        known = {one.id: one async for one in engine.every_session()}
    sums = await engine.store.calls.spent(session, since=since, until=until, by=sorted(apart))
    found: dict[str, Costs] = {}
    periods = named(by, {_time(one) for one in sums}) if by in PERIODS else {}
    for one in sums:
        of = known.get(one.session)
        if (project is None or (of and of.project == project)) and _is_of(agent, of):
            name = periods.get(_time(one)) or _name(by, one, of)
            found[name] = _with(found.get(name) or Costs(name=name), one, within=by != "model")
    return _in_order(found, by)


def _is_of(agent: str, session: SessionInfo | None) -> bool:
    """Whether a session is a program's; without a name, any is."""
    return not agent or (session is not None and agent_of(session).lower() == agent.lower())


def agent_of(session: SessionInfo) -> str:
    """The program that a session was made by: imported from, or ours."""
    return session.agent or "holdfast"


async def spent_on(engine: EngineContext) -> dict[str, Spent]:
    """What the calls of each session took, by its id; those of its subtasks are theirs."""
    return {one.session: one for one in await engine.store.calls.spent(by=("session",))}


def check_group(by: str, known: Iterable[str]) -> None:
    """Refuse what nothing is grouped by."""
    names = tuple(known)
    if by not in names:
        raise NotFound("group", by, nearest(by, names), f"name one of {', '.join(names)}")


def total(found: list[Costs]) -> Costs:
    """All groups in one."""
    whole = Costs(name="in all")
    for one in found:
        whole = replace(
            whole,
            calls=whole.calls + one.calls,
            failed=whole.failed + one.failed,
            usage=whole.usage + one.usage,
            cost=whole.cost + one.cost,
            unpriced=whole.unpriced + one.unpriced,
            milliseconds=whole.milliseconds + one.milliseconds,
        )
    return whole


async def calls_of(store: Store, session: str) -> AsyncIterator[Call]:
    """Every call of a session, in the order they were begun."""
    after = ""
    while page := await store.calls.calls(session, after=after):
        for call in page:
            yield call
        after = page[-1].id


def midnight(now: int) -> int:
    """When the calendar day of a time began where this program runs, in ms."""
    local = datetime.fromtimestamp(min(now, LATEST) / 1_000, UTC).astimezone().replace(tzinfo=None)
    begun = local.replace(hour=0, minute=0, second=0, microsecond=0)
    return int(begun.astimezone().timestamp() * 1_000)


def _time(one: Spent) -> int:
    """When the minute or the quarter of an hour began that calls are summed by."""
    return one.minute or one.quarter


def _name(by: By, one: Spent, session: SessionInfo | None) -> str:
    if by == "project":
        return (session and session.project) or "unknown"
    if by == "agent":
        return agent_of(session) if session else "unknown"
    return {"session": one.session, "model": one.model, "cause": one.cause}[by] or "unknown"


def _with(group: Costs, one: Spent, *, within: bool) -> Costs:
    """A group with some more calls, those of each model apart where that says anything."""
    models = group.models
    if within:
        known = {each.name: each for each in models}
        name = one.model or "unknown"
        known[name] = _with(known.get(name) or Costs(name=name), one, within=False)
        models = tuple(_in_order(known, "model"))
    return replace(
        group,
        calls=group.calls + one.calls,
        failed=group.failed + (one.calls if one.outcome in FAILED else 0),
        usage=group.usage + one.usage,
        cost=group.cost + one.cost,
        unpriced=group.unpriced + one.unpriced,
        milliseconds=group.milliseconds + one.milliseconds,
        begun=min(group.begun or _time(one), _time(one)),
        ended=max(group.ended, _time(one) + (MINUTE if one.minute else QUARTER) * bool(_time(one))),
        models=models,
    )


def _in_order(found: dict[str, Costs], by: By) -> list[Costs]:
    if by in PERIODS:
        return sorted(found.values(), key=lambda one: one.name)
    return sorted(found.values(), key=lambda one: (-one.cost, -one.usage.total, one.name))
