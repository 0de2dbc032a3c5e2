"""Work ahead: a summary on a frozen prefix, running notes. The door runs it beside the turns.

What is prepared holds against the marker it was made after; where another came since it is dropped.
What is said meanwhile is never covered, since a plan names what it covers when it is made.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from msgspec.structs import replace

from holdfast.core.compaction.acceptance import answer
from holdfast.core.compaction.ladder import first_telling
from holdfast.core.compaction.notes import TEMPLATE, adopted, empty, is_sound, is_time, overlong
from holdfast.core.compaction.situation import Situation
from holdfast.core.compaction.summarise import is_due
from holdfast.core.log.transcript_text import chunks, told
from holdfast.core.tokens.estimate import estimate
from holdfast.core.window.scaffold import wrap
from holdfast.engine.calls.ask import Guard, Question, ask, room_for
from holdfast.engine.compaction.lease import Lease
from holdfast.errors import Conflict
from holdfast.model.log import Entry, Notes
from holdfast.model.plan import Plan
from holdfast.model.policy import Due
from holdfast.model.policy import Notes as Rule

if TYPE_CHECKING:
    from holdfast.engine.compaction.ladder import Ladder
    from holdfast.engine.window.turn_state import TurnState

SECTION_SLACK = 2
"""Notes may come back this many times as long as they may be: they are cut when they are used, and
whoever writes them next is told so."""


def wants_summary(now: Situation) -> bool:
    """Whether a summary is near enough to be prepared ahead."""
    rule = now.policy.summarise or now.policy.compact
    if not now.policy.background or rule is None or not now.asks or now.over:
        return False
    share = now.policy.ahead
    due = rule.due
    near = Due(
        window=due.window * share,
        room=due.room * share,
        history=due.history * share,
        tokens=int(due.tokens * share),
    )
    return is_due(now, near) and not is_due(now, due)


def wants_notes(now: Situation) -> bool:
    """Whether the running notes are to be brought up to date."""
    rule = now.policy.notes
    if rule is None or not now.asks:
        return False
    before = _notes(now)
    return is_time(_fresh(now, before), now.count.tokens, before, rule)


def _notes(now: Situation) -> Notes | None:
    return now.notes.body if now.notes and isinstance(now.notes.body, Notes) else None


def _fresh(now: Situation, before: Notes | None) -> Sequence[Entry]:
    last = before.upto if before else 0
    return [entry for entry in now.entries if entry.seq > last]


async def prepared(climb: Ladder) -> Plan | None:
    """A summary of what is visible now, written and accepted, to be applied when it is due."""
    scene = climb.scene
    rule = scene.policy.summarise or scene.policy.compact
    seconds = rule.timeout if rule else 0.0
    flight = await Lease.begin(scene.session, "summary", seconds)
    if flight is None:
        return None
    outcome = "failed"
    try:
        now = await climb.situation(await scene.session.view())
        plan = first_telling(replace(now, forced=True))
        made = await climb.drafting.drafted(plan, now, flight=flight) if plan else None
        outcome = "done" if made and made.model else "nothing"
        return made if made and made.model else None
    finally:
        await flight.end(outcome)


async def noted(climb: Ladder) -> Entry | None:
    """Bring the running notes up to date; None where that failed, and the old ones stay."""
    scene, rule = climb.scene, climb.scene.policy.notes
    if rule is None:
        return None
    flight = await Lease.begin(scene.session, "notes", rule.timeout)
    if flight is None:
        return None
    outcome = "failed"
    try:
        now = await climb.situation(await scene.session.view())
        entry = await _written(scene, now, rule, flight)
        outcome = "done" if entry else "nothing"
        return entry
    finally:
        await flight.end(outcome)


async def _written(scene: TurnState, now: Situation, rule: Rule, flight: Lease) -> Entry | None:
    before = _notes(now)
    fresh = _fresh(now, before)
    if not fresh or await Guard(scene.session, scene.policy).why_not("notes"):
        return None
    text, cost = adopted(before.text) if before else empty(), 0
    profile = scene.session.catalogue.profile(scene.given.model)
    prompt = scene.session.catalogue.prompt(rule.prompt)
    most = min(rule.most * SECTION_SLACK, profile.output_limit)
    room = room_for(profile, most) - estimate(prompt) - most - 256
    for piece in chunks(filter(None, map(told, fresh)), max(room, 256)):
        question = Question(
            profile, prompt, _asked(text, piece, rule), cause="notes", most=most,
            timeout=rule.timeout, effort=rule.effort,
        )  # fmt: skip
        if not await flight.renew():
            return None
        reply = await ask(scene.session, question)
        cost += reply.cost
        found = answer(reply.text)
        if reply.stop != "end" or not is_sound(found):
            return None
        text = found
    marker = Notes(text=text, upto=fresh[-1].seq, model=profile.name, cost=cost)
    try:
        return await scene.session.append(marker, epoch=now.view.folded.epoch)
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
