"""Tools that wait to be found: which ones a window has, and what the search for them answers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from msgspec.structs import replace

from holdfast.core.log.tool_input import arguments
from holdfast.core.window.tool_deferral import HITS, TOOL_SEARCH, named, offer, search, told, wanted
from holdfast.core.window.truncate import cap
from holdfast.engine.calls.last_call import given_now
from holdfast.engine.window.sections import Given
from holdfast.errors import InvalidRequest
from holdfast.model.message import Message, ToolCall, ToolResult
from holdfast.model.policy import Policy
from holdfast.model.profile import Profile
from holdfast.model.window import Tool

if TYPE_CHECKING:
    from holdfast.engine.context import SessionContext

ANSWER = 16
"""What is found is told in at most this part of the window: a sixteenth,"""

MOST = 4_000
"""and never in more tokens than this."""

LISTED = 2
"""The names of the tools that wait take at most this part of what tools may take: a half."""


async def offered(
    session: SessionContext, given: Given, more: Sequence[Tool], profile: Profile, policy: Policy
) -> Given:
    """What was given, with as many of these tools as the budget for tools has room for."""
    most = int(profile.window * policy.budget.tools_fraction)
    if not most:
        return replace(given, tools=(*given.tools, *more))
    made = offer(given.tools, more, most)
    if not made.finding:
        return replace(given, tools=made.tools)
    if any(one.name == TOOL_SEARCH.name for one in (*given.tools, *more)):
        raise InvalidRequest(
            f"a tool of yours is called {TOOL_SEARCH.name}, as the one that finds tools which take "
            "too much of the window; give yours another name, or give them all as tools="
        )
    view = await session.view()
    said = await session.message_cache.messages(view, cap(policy, profile))
    used = wanted(entry.body for entry in said if isinstance(entry.body, Message))
    made = offer(given.tools, more, most, used)
    names = named(made.deferred, most // LISTED)
    return replace(given, tools=made.tools, deferred=made.deferred, deferred_names=names)


async def answer(
    session: SessionContext, deferred: Sequence[Tool], call: ToolCall
) -> ToolResult | None:
    """What tool_search answers to a call; None where the call is another tool's."""
    if call.name != TOOL_SEARCH.name:
        return None
    deferred = deferred or (await given_now(session)).deferred
    if not deferred:
        return None
    fields = arguments(call.input)
    query, limit = str(fields.get("query", "")), fields.get("limit")
    many = limit if isinstance(limit, int) and not isinstance(limit, bool) else HITS
    text = told(search(query, deferred, many), query, _room(session))
    return ToolResult(call.id, text, name=call.name)


def _room(session: SessionContext) -> int:
    model = session.info.model
    window = session.catalogue.profile(model).window if model else MOST * ANSWER
    return min(MOST, window // ANSWER)
