"""The state of a session for a status line, in the words that people's scripts already read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from holdfast.engine.costs import calls_of
from holdfast.engine.lately import newest_call

if TYPE_CHECKING:
    from holdfast.engine.session import OpenSession

LARGE = 200_000
"""Above so many tokens some providers charge more."""


async def status(session: OpenSession) -> dict[str, Any]:
    """What a script gets on its standard input; the share is that of the last call's input."""
    call = await newest_call(session)
    usage = call.usage if call else None
    model = (call.model if call else "") or session.info.model
    window = session.catalogue.profile(model).window if model else 0
    used = usage.prompt if usage else 0
    share = round(100 * used / window) if window else 0
    spent = [one async for one in calls_of(session.store, session.id)]
    return {
        "session_id": session.id,
        "session_name": session.info.title,
        "cwd": session.info.directory,
        "workspace": {
            "current_dir": session.info.directory,
            "project_dir": session.info.project,
        },
        "model": {"id": model, "display_name": model},
        "cost": {
            "total_cost_usd": session.cost,
            "total_duration_ms": max(session.info.updated - session.info.created, 0),
            "total_api_duration_ms": sum(max((c.ended or c.started) - c.started, 0) for c in spent),
        },
        "context_window": {
            "context_window_size": window,
            "used_percentage": share,
            "remaining_percentage": 100 - share,
            "total_input_tokens": sum(c.usage.prompt for c in spent),
            "total_output_tokens": sum(c.usage.output for c in spent),
            "current_usage": None if usage is None else {
                "input_tokens": usage.input,
                "output_tokens": usage.output,
                "cache_creation_input_tokens": usage.cache_write,
                "cache_read_input_tokens": usage.cache_read,
            },
        },
        "exceeds_200k_tokens": used > LARGE,
    }  # fmt: skip
