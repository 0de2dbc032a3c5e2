"""The state of a session for a status line, in the words that people's scripts already read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from holdfast.core.calls.price import dollars
from holdfast.engine import loading
from holdfast.engine.calls.last_call import newest_call
from holdfast.engine.inspect import explain
from holdfast.engine.inspect.ledger import Ledgers
from holdfast.model.ledger import Effort
from holdfast.model.reply import Usage
from holdfast.model.window import BudgetSnapshot, CallUsage

if TYPE_CHECKING:
    from holdfast.engine.context import SessionContext
    from holdfast.ports import FileHistory

LARGE = 200_000
"""Above so many tokens some providers charge more."""


async def status(session: SessionContext) -> dict[str, Any]:
    """What a script gets on its standard input; the share is that of the next prompt."""
    from importlib.metadata import version

    call = await newest_call(session)
    usage = call.last if call else None
    told = await explain.explain_now(session)
    model = "" if told.model == explain.UNKNOWN else told.model
    (spent,) = await session.store.calls.spent(session.id)
    done = await effort(session)
    info = session.info
    return {
        "hook_event_name": "Status",
        "session_id": session.id,
        "session_name": info.title,
        "transcript_path": "",
        "cwd": info.directory,
        "workspace": {"current_dir": info.directory, "project_dir": info.project},
        "version": version("holdfast"),
        "output_style": {"name": "default"},
        "model": {"id": model, "display_name": model},
        "cost": {
            "total_cost_usd": dollars(spent.cost),
            "unpriced_calls": spent.unpriced,
            "total_duration_ms": done.active,
            "total_api_duration_ms": spent.milliseconds,
            "total_lines_added": done.added,
            "total_lines_removed": done.removed,
        },
        "context_window": {
            **_fullness(told.tokens if info.head else 0, told.window if model else 0),
            "sent_tokens": told.sent or None,
            "total_input_tokens": spent.usage.prompt,
            "total_output_tokens": spent.usage.output,
            "current_usage": usage and _usage(usage),
        },
        "exceeds_200k_tokens": told.sent > LARGE,
    }


def _fullness(used: int, window: int) -> dict[str, int | None]:
    """What would be sent now, and its share of the window; None where nobody knows that."""
    share = min(round(100 * used / window), 100) if window else None
    return {
        "context_window_size": window,
        "used_tokens": used,
        "used_percentage": share,
        "remaining_percentage": None if share is None else 100 - share,
    }


def _usage(usage: Usage) -> dict[str, int]:
    return {
        "input_tokens": usage.input,
        "output_tokens": usage.output,
        "cache_creation_input_tokens": usage.cache_write,
        "cache_read_input_tokens": usage.cache_read,
    }


async def snapshot(session: SessionContext) -> BudgetSnapshot:
    """The state of the window for display: what the last call sent, and the session's sums."""
    (spent,) = await session.store.calls.spent(session.id)
    last, done = await newest_call(session), await effort(session)
    told = await explain.explain_now(session)
    window, used = told.window, told.tokens if session.info.head else 0
    known = session.catalogue.profile(told.model).provider
    provider = (last.provider if last else "") or known
    return BudgetSnapshot(
        context_window_size=window,
        used_tokens=used,
        used_percentage=round(100 * used / window, 1) if window else 0.0,
        remaining_tokens=max(0, window - used),
        sent_tokens=told.sent,
        session_cost_usd=dollars(spent.cost),
        unpriced_calls=spent.unpriced,
        session_duration_ms=done.active,
        api_duration_ms=spent.milliseconds,
        lines_added=done.added,
        lines_removed=done.removed,
        total_input_tokens=spent.usage.prompt,
        total_output_tokens=spent.usage.output,
        last_call_usage=CallUsage.of(last.usage) if last else None,
        tokens_per_minute=session.watch.per_minute(provider, session.now()),
        limits=session.watch.limits(provider),
    )


async def effort(session: SessionContext) -> Effort:
    """Lines and active time of a session, without what it shares with the one it was forked from.

    It is computed from the log, and read on from where it was computed last.
    """
    view = await session.view()
    summaries = await loading.summaries(session.store.log, view)
    whole = (await session.ledgers.near(session.id, view.last, summaries)).effort
    shared = await _shared(session)
    added, removed = await lines_of(session.store.files, session.id, after=session.info.fork)
    return replace(
        whole,
        added=whole.added - shared.added + added,
        removed=whole.removed - shared.removed + removed,
        active=whole.active - shared.active,
    )


async def lines_of(
    files: FileHistory, session: str, *, causes: Sequence[str] = ("command",), after: int = 0
) -> tuple[int, int]:
    """The lines that commands added and removed; those of file tools the log tells itself."""
    added = removed = number = 0
    while page := await files.changes(session, after=number):
        mine = [one for one in page if one.cause in causes and one.at > after]
        added += sum(one.added for one in mine)
        removed += sum(one.removed for one in mine)
        number = page[-1].number
    return added, removed


async def _shared(session: SessionContext) -> Effort:
    """What had been done before a fork; computed once, since it never changes."""
    place = (session.id, session.info.fork)
    if not place[1]:
        return Effort()
    if session.before_fork[0] != place:
        known = await Ledgers(session.store, session.secrets).at(*place)
        session.before_fork = (place, known.effort)
    return session.before_fork[1]
