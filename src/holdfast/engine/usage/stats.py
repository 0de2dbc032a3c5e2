"""The numbers of a whole store, by agent, project or model: sessions are read page by page."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Literal, get_args

from holdfast.core.stats import Looking, Seen, Stats, Tally
from holdfast.core.window.occupancy import HELD
from holdfast.engine import loading
from holdfast.engine.usage.costs import check_group
from holdfast.model.log import SessionInfo
from holdfast.model.reply import Spent
from holdfast.model.span import EVERYTHING

if TYPE_CHECKING:
    from holdfast.engine.context import EngineContext

By = Literal["agent", "project", "model"]

OURS = "holdfast"
"""The agent of a session that was imported from nowhere."""

UNKNOWN = "unknown"


async def stats(engine: EngineContext, by: By, since: int = 0) -> list[Stats]:
    """What the sessions of a store show, group by group, the dearest first.

    With `since`, a time in ms, only what was said and called from then on.
    """
    check_group(by, get_args(By))
    spent: defaultdict[str, list[Spent]] = defaultdict(list)
    for one in await engine.store.calls.spent(since=since, by=("session", "model")):
        spent[one.session].append(one)
    groups: dict[str, Tally] = {}
    async for session in engine.every_session():
        if session.updated >= since or session.id in spent:
            seen = await _looked(engine, session, since)
            _add(groups, by, session, spent.pop(session.id, []), seen)
    found = [group.stats() for group in groups.values()]
    return sorted(found, key=lambda one: (-one.cost, -one.usage.total, -one.sessions, one.name))


async def _looked(engine: EngineContext, session: SessionInfo, since: int) -> dict[str, Seen]:
    def window(model: str) -> int:
        profile = engine.catalogue.profile(model)
        return profile.input_limit or profile.window

    looking = Looking(session, window, since, await _largest(engine, session))
    async for page in loading.pages(engine.store.log, session.id, EVERYTHING):
        for entry in page:
            looking.feed(entry)
    looking.finish()
    return looking.seen


async def _largest(engine: EngineContext, session: SessionInfo) -> int:
    """How much the largest call of a session took, where that tells how large its window is."""
    largest, after = 0, ""
    while session.agent in HELD and (
        page := await engine.store.calls.calls(session.id, after=after)
    ):
        largest = max(largest, *(call.usage.prompt for call in page))
        after = page[-1].id
    return largest


def _add(
    groups: dict[str, Tally],
    by: By,
    session: SessionInfo,
    spent: list[Spent],
    seen: dict[str, Seen],
) -> None:
    """Put what is known of a session where it belongs; with each of its models apart."""

    def group(model: str) -> Tally:
        names = {
            "agent": session.agent or OURS,
            "project": session.project or session.directory or UNKNOWN,
            "model": model or UNKNOWN,
        }
        return groups.setdefault(names[by], Tally(names[by]))

    for one in spent:
        group(one.model).spent(session.id, one)
    for model, found in seen.items():
        group(model).saw(session.id, found)
