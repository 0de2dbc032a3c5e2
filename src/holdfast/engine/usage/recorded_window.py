"""What the program that recorded an imported session knew of its window: sizes, and no texts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from holdfast.core.tokens.calibrate import LEAST
from holdfast.core.window.occupancy import HELD, Held, Recorded, held
from holdfast.engine.calls.last_call import before, line, newest_call
from holdfast.model.log import Entry
from holdfast.model.profile import Profile
from holdfast.model.reply import Call
from holdfast.model.span import Span, Spans, clip

if TYPE_CHECKING:
    from holdfast.engine.context import SessionContext
    from holdfast.engine.window.turn_state import TurnState


async def recorded_call(session: SessionContext, model: str = "") -> Call | None:
    """The newest call, where another program made it and nothing was sent from here since.

    With a model, only where it is that one: what another took says nothing of it.
    """
    if not session.info.agent:
        return None
    call = await newest_call(session)
    if call is None or call.given or call.outcome != "imported":
        return None
    return call if model in ("", call.model) else None


async def call_behind(session: SessionContext, reply: Entry) -> Call | None:
    """The call of another program that a reply answers: by its id, or else by when it began.

    None where the program tells of a call apart from its reply, or of several that fit.
    """
    found: list[Call] = []
    async for home in line(session):
        after = ""
        while page := await session.store.calls.calls(home.id, after=after):
            found += [call for call in page if _answers(reply, call)]
            after = page[-1].id
    return found[0] if len(found) == 1 else None


def _answers(reply: Entry, call: Call) -> bool:
    if call.outcome != "imported":
        return False
    return call.request == reply.request if reply.request else call.started == reply.created


async def window_of(session: SessionContext, call: Call | None, profile: Profile) -> Held:
    """What the window holds of the session that a call of another program was made in."""
    if call is None:
        source = "assumed" if "window" in profile.assumed else "model"
        return Held(window=profile.window, source=source)
    largest = await largest_prompt(session) if session.info.agent in HELD else 0
    found = held(profile.window, session.info.agent, call.model, largest, call.window)
    if found.source == "model" and "window" in profile.assumed:
        return replace(found, source="assumed")
    return found


async def largest_prompt(session: SessionContext) -> int:
    """What the largest call of a session was sent, those of what it shares among them."""
    largest, last = 0, session.info.head
    async for home in line(session):
        after = ""
        while page := await session.store.calls.calls(home.id, after=after):
            sent = (call.last.prompt for call in page if before(call, home, last))
            largest = max(largest, *sent, 0)
            after = page[-1].id
        last = min(last, home.fork)
    return largest


async def recorded(session: SessionContext, call: Call, turn: TurnState, by: float) -> Recorded:
    """What the call was sent, and what its messages are estimated at; `by` corrects estimates."""
    program, sent = session.info.agent, call.last.prompt
    reply = await _newest_reply(session) if sent else 0
    if reply < 2:
        return Recorded(program=program, sent=sent)
    then, now = await session.view(str(reply - 1)), await session.view()
    window = (await turn.assembled(then)).window
    estimated = round(window.tokens.tokens * by)
    if sent < LEAST * estimated:  # no tokenizer strays that far: it is no size of that prompt
        return Recorded(program=program, sent=0)
    moved = then.folded.epoch != now.folded.epoch
    return Recorded(program=program, sent=sent, then=estimated, moved=moved)


async def _newest_reply(session: SessionContext) -> int:
    """The place of the newest reply, visible or not; 0 where there is none."""
    left: Spans = (Span(1, session.info.head),)
    while left and (page := await session.store.log.heads(session.id, left, limit=64)):
        found = [head.seq for head in page if head.kind == "message" and head.role == "assistant"]
        if found:
            return found[-1]
        left = clip(left, 1, page[0].seq - 1)
    return 0
