"""A compaction as a transaction: planned and shown, edited, applied, undone, done again."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Unpack

from msgspec.structs import replace

from holdfast.core.compaction.acceptance import CHECKED
from holdfast.core.ledger.checks.objections import objections
from holdfast.core.ledger.checks.retention import retention
from holdfast.core.log.fold import in_force, undone
from holdfast.core.log.marker_rules import REVERSIBLE
from holdfast.core.log.transcript_text import told
from holdfast.core.log.validate import typed
from holdfast.core.tokens.estimate import estimate
from holdfast.core.window.occupancy import whole_prompt
from holdfast.engine import loading
from holdfast.engine.calls.last_call import given_now
from holdfast.engine.compaction.ladder import Ladder
from holdfast.engine.compaction.sizes import Marked, sized
from holdfast.engine.inspect.ledger import unpacked
from holdfast.engine.inspect.lookup import seq_of
from holdfast.engine.usage.recorded_window import recorded, recorded_call
from holdfast.engine.usage.telemetry import compacted
from holdfast.engine.window.token_count import TokenCount
from holdfast.engine.workspace import rewind
from holdfast.errors import Conflict, InvalidRequest
from holdfast.model.log import Body, Checkpoint, Entry, Redo, Summary, Undo
from holdfast.model.plan import Plan
from holdfast.model.policy import Policy
from holdfast.model.span import Span, remaining, union, without
from holdfast.model.view import View
from holdfast.model.window import Count
from holdfast.ports import Log

if TYPE_CHECKING:
    from holdfast.engine.context import SessionContext
    from holdfast.engine.turns import Turns
    from holdfast.engine.window.sections import Asking


async def plan(
    session: SessionContext,
    turns: Turns,
    *,
    focus: str = "",
    since: str | int = "",
    upto: str | int = "",
    **given: Unpack[Asking],
) -> Plan:
    """What a compaction would do now, its summary written; nothing is changed.

    What instruction files that act say under `# Compact instructions` is added to the focus.
    """
    first = await seq_of(session, since) if since != "" else 0
    last = await seq_of(session, upto) if upto != "" else 0
    turn = await turns.turn(**given)
    view = await session.view()
    climb = Ladder(turn, await TokenCount(turn).begin())
    found, made = await climb.planned(view, focus=focus, since=first, upto=last, noted=not focus)
    if found is None:
        raise InvalidRequest(_nothing(turn.policy, first, last))
    if made is None:
        raise InvalidRequest(_unwritten(found))
    against = made.objections  # what was held against summaries that were not accepted
    made = await reviewed(session.store.log, view, made)
    made.objections = against
    return made


def _unwritten(found: Plan) -> str:
    """Why there is no summary though there is something to compact."""
    if found.veto:
        do = "have it allow this, or take it out"
        return f"nothing was compacted: {found.veto} was against it; {do}"
    if not found.objections:
        return (
            "nothing was compacted: without a model no summary could be made of what would leave; "
            "have a model write one, as `holdfast compact --ask` does"
        )
    why = "; ".join(dict.fromkeys(f"{one.rule}: {one.why}" for one in found.objections[:4]))
    return f"nothing was compacted, since no summary was accepted ({why}); try again, or no model"


def _nothing(policy: Policy, first: int, last: int) -> str:
    if policy.summarise is None and policy.compact is None:
        return (
            f"there is nothing to compact by the policy {policy.name}, which makes no summaries; "
            "name another, `holdfast policy list` has them"
        )
    where = " between the entries that were named" if first or last else ""
    return (
        f"there is nothing to compact{where}: what is visible is too little, or has to stay as it "
        "is; `holdfast context` shows what fills the window"
    )


def taken(made: Plan) -> int:
    """What the summary of a plan takes with all that is laid beside it, by estimate."""
    return made.frame + sum(map(estimate, (made.summary, made.ledger, made.expand)))


async def reviewed(log: Log, view: View, made: Plan) -> Plan:
    """The plan with its summary held against the ledger, and against all that was said, anew."""
    if not made.facts:
        return made
    known, covered = unpacked(made.facts), await _covered(log, view, made)
    visible = remaining(view.spans, made.covers, made.kept)
    text = "\n\n".join(filter(None, (made.summary, made.ledger, made.expand)))
    made.report = retention(known, text, visible=visible, covered=covered)
    made.objections = tuple(objections(known, made.summary, covered, visible))
    return made


async def _covered(log: Log, view: View, made: Plan) -> str:
    """What a summary stands for, as text, the summaries it carries on included."""
    texts, held = list[str](), 0
    spans = union(made.covers, tuple(Span(seq, seq) for seq in made.merges))
    async for page in loading.pages(log, view.session.id, spans):
        texts += [_text(entry, made) for entry in page]
        held += sum(map(len, texts[-len(page) :]))
        if held > CHECKED:
            break
    return "\n".join(texts)[-CHECKED:]


def _text(entry: Entry, made: Plan) -> str:
    if isinstance(entry.body, Summary):
        return entry.body.text + entry.body.ledger if entry.seq in made.merges else ""
    return told(entry)


async def apply(session: SessionContext, turns: Turns, made: Plan) -> Entry:
    """Carry a plan out; Conflict where a marker came since, and nothing is changed then."""
    typed(made, Plan)
    if made.session and made.session != session.id:
        raise InvalidRequest(
            f"the plan was made for the session {made.session}, not for {session.id}; make one here"
        )
    if not made.clears and not (made.summary or "").strip():
        raise InvalidRequest("the plan has no summary; write one, or make the plan again")
    if not made.clears and taken(made) >= made.before - made.stays:
        raise InvalidRequest(
            f"the summary takes {taken(made):,} tokens, and what it stands for only "
            f"{made.before - made.stays:,}; shorten it"
        )
    after = made.stays + taken(made) if not made.clears else 0
    started = session.now()
    marker = await _sized(session, turns, await session.view(), made.marker(after))
    try:
        entry = await session.append(marker, epoch=made.epoch)
    except Conflict as stale:
        stale.args = (
            f"the plan no longer holds: entry {stale.found} changed the window of {session.id} "
            "since it was made, so nothing was done; do it again",
        )
        raise
    session.watch.emit(compacted(session.id, marker, started, session.now()))
    await session.upkeep.applied(entry)
    return entry


async def _sized(session: SessionContext, turns: Turns, view: View, marker: Marked) -> Marked:
    """The marker with the sizes of the prompt around it; unchanged where no model is named."""
    if not (await given_now(session)).model:
        return marker
    turn = await turns.turn()
    count = await TokenCount(turn, asks=False).begin()
    made = await sized(turn, count, view, marker)
    if not made.prompt_before:
        return made
    call = await recorded_call(session)
    if call is None:
        return made
    found = await recorded(session, call, turn, count.ratio)
    before = whole_prompt(Count(tokens=made.prompt_before), found)[0].tokens
    after = whole_prompt(Count(tokens=made.prompt_after), replace(found, moved=True))[0].tokens
    return replace(made, prompt_before=before, prompt_after=after)


async def undo(
    session: SessionContext, marker: str | int = "", resolve: Mapping[str, str] | None = None
) -> Entry:
    """Put a compaction or a rewind out of force, the newest where none is named, files included."""
    known = in_force(await loading.every_marker(session.store.log, session.id))
    standing = [e for e in known if isinstance(e.body, REVERSIBLE) and not _is_name(e.body)]
    if marker == "":
        if not standing:
            raise InvalidRequest("there is no compaction to undo; `holdfast compact` makes one")
        return await _undone(session, standing[-1], resolve)
    seq = await seq_of(session, marker)
    found = next((e for e in standing if e.seq == seq), None)
    if found is None:
        reversible = [e.seq for e in standing]
        raise InvalidRequest(
            f"entry {seq} is no compaction in force; {_named('in force', reversible)}"
        )
    return await _undone(session, found, resolve)


async def _undone(
    session: SessionContext, marker: Entry, resolve: Mapping[str, str] | None
) -> Entry:
    turned = await rewind.turn(session, marker, resolve or {}, back=True)
    return turned or await session.append(Undo(marker=marker.seq))


def _is_name(body: Body) -> bool:
    """Whether a Checkpoint only names a place: there is nothing to take back."""
    return isinstance(body, Checkpoint) and not body.files


async def redo(
    session: SessionContext, marker: str | int = "", resolve: Mapping[str, str] | None = None
) -> Entry:
    """Put a compaction that was undone in force again, the last one undone where none is named."""
    known = await loading.every_marker(session.store.log, session.id)
    found = [entry.seq for entry in undone(known)]
    if marker == "":
        if not found:
            raise InvalidRequest(
                "there is nothing that was undone, so nothing to do again; `holdfast undo` undoes"
            )
        return await _redone(session, known, found[-1], resolve)
    seq = await seq_of(session, marker)
    if seq not in found:
        raise InvalidRequest(f"entry {seq} was not undone; {_named('undone', found)}")
    return await _redone(session, known, seq, resolve)


async def _redone(
    session: SessionContext,
    known: tuple[Entry, ...],
    seq: int,
    resolve: Mapping[str, str] | None = None,
) -> Entry:
    """Put a marker in force again, unless another summary stands for the same stretch by now."""
    marker = next(entry for entry in known if entry.seq == seq)
    body = marker.body
    later = [e for e in in_force(known) if e.seq > seq and isinstance(e.body, Summary)]
    if isinstance(body, Summary):
        for entry in later:
            assert isinstance(entry.body, Summary)
            if without(body.covers, entry.body.covers) != body.covers:
                raise InvalidRequest(
                    f"entry {entry.seq} covers some of the same by now; undo it first, then redo"
                )
    turned = await rewind.turn(session, marker, resolve or {}, back=False)
    return turned or await session.append(Redo(marker=seq))


def _named(what: str, seqs: list[int]) -> str:
    return f"{what} {'is' if len(seqs) == 1 else 'are'} {', '.join(map(str, seqs)) or 'none'}"
