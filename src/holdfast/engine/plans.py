"""A compaction as a transaction: planned and shown, applied, undone, done again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Unpack

from holdfast.core.estimate import estimate
from holdfast.core.fold import in_force
from holdfast.core.markers import REVERSIBLE
from holdfast.engine.climb import Climb
from holdfast.engine.load import every_marker
from holdfast.errors import Misuse
from holdfast.model.log import Clear, Entry, Redo, Summary, Undo
from holdfast.model.plan import Plan

if TYPE_CHECKING:
    from holdfast.engine.session import OpenSession
    from holdfast.engine.turns import Asking


async def plan(
    session: OpenSession,
    *,
    focus: str = "",
    since: str | int = "",
    upto: str | int = "",
    **given: Unpack[Asking],
) -> Plan:
    """What a compaction would do now, its summary written; nothing is changed."""
    preparation = await session.turns.preparation(**given)
    counting = await preparation.counting(write=False)
    view = await session.view()
    climb = Climb(preparation.scene, counting, write=True)
    made = await climb.planned(
        view,
        focus=focus,
        since=await session.seq(since) if since != "" else 0,
        upto=await session.seq(upto) if upto != "" else 0,
    )
    if made is None:
        raise Misuse("there is nothing to compact: all that is visible has to stay as it is")
    return made


async def apply(session: OpenSession, made: Plan) -> Entry:
    """Carry a plan out; Conflict where a marker came since, and nothing is changed then."""
    if not made.clears and not made.summary.strip():
        raise Misuse("the plan has no summary; write one, or make the plan again")
    taken = sum(map(estimate, (made.summary, made.ledger, made.expand)))
    if not made.clears and taken >= made.before - made.stays:
        raise Misuse(
            f"the summary takes {taken:,} tokens, and what it stands for only "
            f"{made.before - made.stays:,}; shorten it"
        )
    after = made.stays + taken if not made.clears else 0
    return await session.append(made.marker(after), epoch=made.epoch)


async def undo(session: OpenSession, marker: str | int = "") -> Entry:
    """Put a compaction out of force, the newest where none is named; all it hid comes back."""
    known = await every_marker(session.store.log, session.id)
    standing = [e for e in in_force(known) if isinstance(e.body, (Summary, Clear))]
    if marker == "":
        if not standing:
            raise Misuse("there is no compaction to undo")
        return await session.append(Undo(marker=standing[-1].seq))
    seq = await session.seq(marker)
    if not any(e.seq == seq for e in in_force(known) if isinstance(e.body, REVERSIBLE)):
        raise Misuse(f"entry {seq} is no compaction in force; `holdfast context` lists them")
    return await session.append(Undo(marker=seq))


async def redo(session: OpenSession, marker: str | int = "") -> Entry:
    """Put a compaction that was undone in force again, the last one undone where none is named."""
    known = await every_marker(session.store.log, session.id)
    undone = [e.body.marker for e in in_force(known) if isinstance(e.body, Undo)]
    again = [e.body.marker for e in in_force(known) if isinstance(e.body, Redo)]
    for seq in again:
        if seq in undone:
            undone.remove(seq)
    wanted = await session.seq(marker) if marker != "" else (undone[-1] if undone else 0)
    if wanted not in undone:
        raise Misuse("there is nothing that was undone, so nothing to do again")
    return await session.append(Redo(marker=wanted))
