"""How a session was last spoken to: its newest call, and what that call was given."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import suppress
from typing import TYPE_CHECKING

from msgspec.structs import replace

from holdfast.engine.lazy import later
from holdfast.errors import NotFound
from holdfast.model import wire
from holdfast.model.log import SessionInfo
from holdfast.model.reply import Call

if TYPE_CHECKING:
    from holdfast.engine.context import SessionContext
    from holdfast.engine.window import sections
    from holdfast.engine.window.sections import Given
else:
    sections = later("holdfast.engine.window.sections")


BESIDE = frozenset({"summary", "verify", "notes", "title", "keep-warm", "memory", "recall"})
"""Why calls are made beside the conversation: none of them shows how full its window is."""


async def newest_call(session: SessionContext) -> Call | None:
    """The call that was made last in a session's line."""
    last = session.info.head
    async for home in line(session):
        if found := await _newest(session, home, last):
            return found
        last = min(last, home.fork)
    return None


async def _newest(session: SessionContext, home: SessionInfo, last: int) -> Call | None:
    """The newest call of one session that answered, and took no later entry into account."""
    limit, seen = 8, -1
    while True:
        calls = await session.store.calls.newest(home.id, limit)
        if found := next(
            (one for one in calls if _answered(one) and before(one, home, last)), None
        ):
            return found
        if len(calls) in (seen, 0):
            return None
        limit, seen = limit * 8, len(calls)


async def newest_calls(session: SessionContext, limit: int = 8) -> tuple[Call, ...]:
    """The newest calls of a session's line that took no later entry into account, newest first.

    Calls belong to the session they were made in: to a fork those of what it shares are its past.
    """
    found, last = list(await session.store.calls.newest(session.id, limit)), session.info.head
    if session.info.parent and session.info.fork:
        async for home in line(session):
            if home.id != session.id:
                older = await session.store.calls.newest(home.id, limit * 8)
                found += [call for call in older if before(call, home, last)]
            last = min(last, home.fork)
            if len(found) >= limit:
                break
    return tuple(found[:limit])


def before(call: Call, home: SessionInfo, last: int) -> bool:
    """Whether a call of `home` took no entry behind `last` into account.

    Of an import from before places were kept, that is only known of all of its calls together.
    """
    if call.outcome == "imported" and not call.head:
        return last >= home.head
    return call.head <= last


def _answered(call: Call) -> bool:
    return call.cause not in BESIDE and call.outcome != "failed"


async def given_of(session: SessionContext, call: Call) -> Given:
    """What a call was given besides the log."""
    return wire.decode(await session.store.calls.kept(call.session, call.given), sections.Given)


async def given_now(session: SessionContext, model: str = "") -> Given:
    """What the newest call was given, for the model named or else for the one in use."""
    newest = await newest_call(session)
    given = sections.Given()
    if newest and newest.given:
        with suppress(NotFound):  # `holdfast doctor` tells that it is missing
            given = await given_of(session, newest)
    view = await session.view()
    led = await sections.in_use(session.store.log, view)
    since = newest is None or newest.head < view.folded.switch  # another policy may hold since
    shown = await sections.snapshot(session.store.log, session.id, view.folded.context)
    return replace(
        given,
        model=model or led or given.model or (newest.model if newest else ""),
        policy=session.info.policy if since else given.policy or session.info.policy,
        sections=given.sections if shown is None else shown,
    )


async def line(session: SessionContext) -> AsyncIterator[SessionInfo]:
    """The session, and those it was forked from, nearest first."""
    home = await session.refresh()
    yield home
    while home.parent and home.fork:  # a subtask shares nothing with whose it is
        home = await session.store.sessions.session(home.parent)
        yield home
