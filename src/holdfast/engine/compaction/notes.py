"""Running notes: a model brings them up to date in the background, piece by piece, within its room.

They hold against the marker they were made after; where another came since they are dropped.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from holdfast.core.compaction.acceptance import answer
from holdfast.core.compaction.notes import (
    TEMPLATE,
    adopted,
    empty,
    is_sound,
    noted,
    overlong,
    unnoted,
)
from holdfast.core.compaction.situation import Situation
from holdfast.core.log.transcript_text import chunks, told
from holdfast.core.tokens.estimate import estimate
from holdfast.core.window.scaffold import wrap
from holdfast.engine.calls.ask import Guard, Question, ask, room_for
from holdfast.engine.compaction.lease import Lease
from holdfast.errors import Conflict
from holdfast.model.log import Entry, Notes
from holdfast.model.policy import Notes as Rule
from holdfast.model.view import View

if TYPE_CHECKING:
    from holdfast.engine.window.turn_state import TurnState

SECTION_SLACK = 2
"""Notes may come back this many times as long as they may be: they are cut when they are used, and
whoever writes them next is told so."""


async def take_notes(
    turn: TurnState, situation: Callable[[View], Awaitable[Situation]]
) -> Entry | None:
    """Bring the running notes up to date; None where that failed, and the old ones stay."""
    session, rule = turn.session, turn.policy.notes
    if rule is None:
        return None
    lease = await Lease.begin(session, "notes", rule.timeout)
    if lease is None:
        return None
    outcome = "failed"
    try:
        entry = await _written(turn, await situation(await session.view()), rule, lease)
        outcome = "done" if entry else "nothing"
        return entry
    finally:
        await lease.end(outcome)


async def _written(turn: TurnState, now: Situation, rule: Rule, lease: Lease) -> Entry | None:
    before = noted(now)
    fresh = unnoted(now, before)
    if not fresh or await Guard(turn.session, turn.policy).why_not("notes"):
        return None
    text, cost = adopted(before.text) if before else empty(), 0
    profile = turn.session.catalogue.profile(turn.given.model)
    prompt = turn.session.catalogue.prompt(rule.prompt)
    most = min(rule.most * SECTION_SLACK, profile.output_limit)
    room = room_for(profile, most) - estimate(prompt) - most - 256
    for piece in chunks(filter(None, map(told, fresh)), max(room, 256)):
        question = Question(
            profile, prompt, _asked(text, piece, rule), cause="notes", most=most,
            timeout=rule.timeout, effort=rule.effort,
        )  # fmt: skip
        if not await lease.renew():
            return None
        reply = await ask(turn.session, question)
        cost += reply.cost
        found = answer(reply.text)
        if reply.stop != "end" or not is_sound(found):
            return None
        text = found
    marker = Notes(text=text, upto=fresh[-1].seq, model=profile.name, cost=cost)
    try:
        return await turn.session.append(marker, epoch=now.view.folded.epoch)
    except Conflict:
        return None


def _asked(text: str, piece: str, rule: Rule) -> str:
    """What is asked for: the notes so far, what has been said since, and what is too long."""
    headings = "\n".join(f"# {title}" for title, _ in TEMPLATE)
    limits = (
        f"Keep these headings, each with the line in italics below it, and nothing else as a "
        f"heading:\n{headings}\nAt most {rule.section:,} tokens a section, {rule.most:,} in all."
    )
    notes = wrap("current_notes_content", text)
    return "\n\n".join(
        filter(None, (limits, overlong(text, rule), notes, wrap("conversation", piece)))
    )
