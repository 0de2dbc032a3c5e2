"""What a summary is to stand for: which stretch, what stays word for word, and how long it may be.

Rule 1: the cut is legal, and what was just asked stays word for word, in the tail or kept.
Rule 2: what is freed is promised beforehand; a plan that frees nothing is none.
Rule 3: a stretch whose compaction was undone is not covered again by itself.
Rule 4: every summary that stands where it will is merged: what was carried on is carried on again.
Rule 5: what no reply has come to yet is never covered, however much of the room it takes: what is
        kept beside a summary gives way to it, then the summary itself.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from holdfast.core.compaction.cache_economics import Change, decide, is_cold
from holdfast.core.compaction.clear import worth
from holdfast.core.compaction.situation import Situation
from holdfast.core.log.boundary import boundaries, is_request
from holdfast.core.window.budget import clamp
from holdfast.model.log import Entry, Shortened
from holdfast.model.message import Message
from holdfast.model.plan import Plan
from holdfast.model.policy import Due, Step, Summarise
from holdfast.model.span import Spans, clip, within, without
from holdfast.model.view import place_of

LEAST_CUT = 200
"""A message of the user's is not cut to fewer tokens than this; it is left out instead."""

LEAST = 40
"""A summary of fewer tokens is not worth having."""

SMALL = 6
"""Where a policy names no share, a summary is at most this part of the room: a sixth."""

SMALLEST = 3
"""However large a share a policy names, it is at most this part: a third."""


def summarise(now: Situation) -> Plan | None:
    """A head is told in a summary; a tail stays."""
    return _planned(now, now.policy.summarise, "summarise")


def compact(now: Situation) -> Plan | None:
    """The whole conversation is told in a summary; messages of the user's stay beside it."""
    return _planned(now, now.policy.compact, "compact")


def _planned(now: Situation, rule: Summarise | None, step: Step) -> Plan | None:
    if rule is None or not now.entries or now.unread_is_beyond:
        return None
    if not (now.forced or now.over or is_due(now, rule.due) or _could_pay(now, rule)):
        return None
    cut = _cut(now, rule)
    covers = covered(now, cut)
    kept = _kept(now, rule, cut, covers)
    plan = _plan(now, rule, step, covers, kept)
    if plan is None:
        return None
    if not (now.forced or now.over or is_due(now, rule.due)):
        return plan if _pays(now, rule.due, plan) else None
    return plan


def is_near(now: Situation) -> bool:
    """Whether a summary is near enough to be prepared ahead of time, beside the turns."""
    rule = now.policy.summarise or now.policy.compact
    if not now.policy.background or rule is None or not now.asks or now.over:
        return False
    share, due = now.policy.ahead, rule.due
    near = Due(
        window=due.window * share,
        room=due.room * share,
        history=due.history * share,
        tokens=int(due.tokens * share),
    )
    return is_due(now, near) and not is_due(now, due)


def is_due(now: Situation, due: Due) -> bool:
    """Whether a mark is reached."""
    tokens = now.tokens
    marks = [share * whole for share, whole in _shares(now, due) if share]
    marks += [due.tokens] if due.tokens else []
    marks += [now.profile.auto_compact_limit] if now.profile.auto_compact_limit else []
    if marks and tokens >= min(marks):
        return True
    if not due.history:
        return False
    history = sum(map(now.gauge, now.entries[: now.turn])) + sum(map(now.said, now.summaries))
    return history > due.history * now.budget.history


def _shares(now: Situation, due: Due) -> list[tuple[float, int]]:
    return [(due.window, now.profile.window), (due.room, now.budget.room)]


def _could_pay(now: Situation, rule: Summarise) -> bool:
    """Whether it might pay if all but the floor could leave: told from the count alone."""
    if not rule.due.by_price or now.tokens < rule.due.least * now.budget.room:
        return False
    saved = max(now.count.tokens - now.fixed, 0)
    most = min(longest(now, rule), saved * 3 // 4)
    prose = int(most * (1 - rule.names)) if now.asks else 0
    change = Change(
        prompt=now.count.tokens, before=now.fixed, saved=saved, written=most,
        asked=int(now.asks), prose=prose,
    )  # fmt: skip
    cold = is_cold(now.idle, now.profile)
    return decide(change, now.profile, turns=now.turns_left, cold=cold, asking=now.asking).pays


def _pays(now: Situation, due: Due, plan: Plan) -> bool:
    enough = now.count.tokens >= due.least * now.budget.room
    worthwhile = plan.promised * now.worth >= due.saves * now.count.tokens
    pays = plan.decision is not None and plan.decision.pays
    return due.by_price and enough and worthwhile and pays


def _cut(now: Situation, rule: Summarise) -> int:
    """The index of the first entry that stays in the tail."""
    if now.since or now.upto:
        return _chosen(now)
    messages = [_message(entry) for entry in now.entries]
    legal = boundaries(messages)
    last = _last(now)
    legal = [at for at in legal if at <= last]
    wanted = min(_wanted(now, rule), last)
    chosen = [at for at in legal if _may_begin(messages, at, rule)]
    cut = _nearest(now, rule, chosen, wanted)
    if cut is None:
        cut = next((at for at in legal if at >= wanted), last)
    turn = _at_most(legal, now.turn)  # somebody may have spoken while a tool was at work
    taken = sum(map(now.gauge, now.entries[turn:]))
    most = tail_tokens(now, rule) if now.trigger == "manual" else _free(now, rule)
    return turn if rule.tail.turn and turn < cut and taken <= most else cut


def _last(now: Situation) -> int:
    """The last cut there may be: what no reply has come to stays, calls that wait with results.

    A request alone stays in any case, be it in the tail or kept beside the summary.
    """
    alone = now.unread == now.turn == len(now.entries) - 1
    return len(now.entries) if alone else now.unread


def _at_most(legal: Sequence[int], wanted: int) -> int:
    """The last legal cut at or before an index."""
    return max((at for at in legal if at <= wanted), default=0)


def _chosen(now: Situation) -> int:
    """Everything from an entry on, or up to one: as somebody asked."""
    if not now.upto:
        return now.unread
    wanted = sum(entry.seq <= now.upto for entry in now.entries)
    legal = boundaries([_message(entry) for entry in now.entries])
    return _at_most(legal, min(wanted, now.unread))


def _may_begin(messages: Sequence[Message], at: int, rule: Summarise) -> bool:
    """Whether a tail may begin here, as its policy has it; an empty one only behind a reply."""
    after, begins = rule.tail.after, rule.tail.begins
    if at == 0 or after == begins == "any":
        return True
    if at == len(messages):
        return begins == "any" or messages[-1].role == "assistant"
    fits = begins == "any" or is_request(messages[at])
    return fits and after in ("any", messages[at - 1].role)


def _nearest(now: Situation, rule: Summarise, cuts: Sequence[int], wanted: int) -> int | None:
    """The cut next to where the tail's share ends; None where no tail from there on fits."""
    shorter = next((at for at in cuts if at >= wanted), None)
    longer = max((at for at in cuts if 0 < at <= wanted), default=None)
    if longer is not None and not _fits(now, rule, longer):
        longer = None
    first, second = (longer, shorter) if rule.tail.lean == "longer" else (shorter, longer)
    return first if first is not None else second


def _fits(now: Situation, rule: Summarise, at: int) -> bool:
    """Whether a tail from here on leaves room for a summary before it."""
    whole = sum(map(now.gauge, now.entries[at:])) <= _free(now, rule)
    if rule.tail.of != "history":
        return whole
    before = sum(map(now.gauge, now.entries[at : now.turn]))
    return whole and before + longest(now, rule) // 2 <= now.budget.history


def tail_tokens(now: Situation, rule: Summarise) -> int:
    """How much stays word for word behind a summary."""
    tail = rule.tail
    if not tail.share:
        return 0
    wholes = {
        "room": now.budget.room,
        "window": now.profile.window,
        "history": now.budget.history,
        "visible": sum(map(now.gauge, now.entries)) + now.beyond_tokens,
    }
    whole = wholes[tail.of]
    if now.trigger == "manual":  # what somebody asks for happens, however much room there still is
        whole = min(whole, wholes["visible"])
    least = min(tail.least, now.budget.room // 4)
    wanted = clamp(tail.share * whole, least, tail.most or now.budget.room)
    return min(wanted, _free(now, rule))


def _free(now: Situation, rule: Summarise) -> int:
    """What a tail may take so that all fits in the end."""
    return max(_room(now) - longest(now, rule) - users_tokens(now, rule), 0)


def _room(now: Situation) -> int:
    """What is left for a summary, what is kept beside it and the tail."""
    return (now.safe or now.budget.room) - now.fixed


def _wanted(now: Situation, rule: Summarise) -> int:
    """Where the tail's share ends; a share of history is one of what came before this turn."""
    tokens = tail_tokens(now, rule)
    taken, index = 0, now.turn if rule.tail.of == "history" else len(now.entries)
    while index > 0:
        taken += now.gauge(now.entries[index - 1])
        if taken > tokens:
            return index
        index -= 1
    return index


def covered(now: Situation, cut: int) -> Spans:
    """The stretches that leave: all that is visible before the cut and may be covered."""
    entries = now.entries
    last = entries[cut].seq - 1 if cut < len(entries) else now.view.last
    spans = clip(now.view.spans, _first(now), last)
    return spans if now.trigger == "manual" else without(spans, now.view.folded.shielded)


def told_from(now: Situation, covers: Spans) -> int:
    """The first entry that a new summary tells of, with all that those it replaces have covered.

    What stays visible before it is not told of, nor what another standing summary covers.
    """
    if not now.replaced:
        return covers[0].first
    before = clip(without(now.view.spans, covers), 1, covers[-1].last)
    ends = [span.last for span in before if span.last < covers[0].first]
    others = [one for one in now.summaries if one not in now.replaced]
    ends += [int(at) for one in others if (at := place_of(one)) < covers[0].first]
    return min(max(ends, default=0) + 1, covers[0].first)


def _first(now: Situation) -> int:
    """The first entry that may be covered: as somebody asked, where a cut is legal."""
    wanted = sum(entry.seq < now.since for entry in now.entries)
    if not wanted:
        return max(now.since, 1)
    legal = boundaries([_message(entry) for entry in now.entries])
    at = next((at for at in legal if at >= wanted), len(now.entries))
    return now.entries[at].seq if at < len(now.entries) else now.view.last + 1


class Kept(Struct, frozen=True):
    """What of the covered stretch stays word for word."""

    seqs: tuple[int, ...] = ()
    shortened: tuple[Shortened, ...] = ()
    asked: int = 0
    tokens: int = 0


def _kept(now: Situation, rule: Summarise, at: int, covers: Spans) -> Kept:
    """Messages of the user's, newest first, within their budget; and what was just asked."""
    inside = [e for e in now.entries[:at] if within(e.seq, covers)]
    requests = [entry for entry in inside if is_request(_message(entry))]
    just = now.entries[now.turn] if now.turn < at and now.turn < len(now.entries) else None
    covered_with_its_answer = now.answer is not None and now.answer < at
    asked = just if just in requests and not covered_with_its_answer else None
    left = _left(now, rule, asked, covers)
    chosen: list[Entry] = [asked] if asked else []
    shortened: list[Shortened] = []
    others = [one for one in reversed(requests) if one is not asked]
    if rule.opened:
        waiting = unanswered(now.entries)
        others.sort(key=lambda one: one.seq not in waiting)  # those that wait come first
    for entry in others:
        tokens = now.gauge(entry) + now.kept_frame
        if tokens > left and not rule.shorten:
            continue  # what was pasted at length leaves room for what was said in a line
        if tokens > left:
            if left - now.kept_frame >= LEAST_CUT:
                shortened.append(Shortened(entry.seq, now.storable(left - now.kept_frame)))
                chosen.append(entry)
            break
        chosen.append(entry)
        left -= tokens
    cut = {one.seq: one.tokens for one in shortened}
    return Kept(
        tuple(sorted(entry.seq for entry in chosen)),
        tuple(shortened),
        asked.seq if asked else 0,
        sum(now.beside(entry, cut.get(entry.seq, 0)) for entry in chosen),
    )


def _left(now: Situation, rule: Summarise, asked: Entry | None, covers: Spans) -> int:
    """What earlier messages of the user's may take.

    What was just asked stays in any case, and so does the tail. Where the oldest message is cut to
    fit, what was asked is one of them; otherwise it takes only what there is no other room for.
    """
    taken = now.gauge(asked) if asked else 0
    counted = taken or (now.gauge(now.entries[now.turn]) if _waits(now) else 0)
    tail = sum(now.gauge(entry) for entry in now.entries if not within(entry.seq, covers))
    spare = _room(now) - tail - taken - longest(now, rule)
    return min(users_tokens(now, rule) - (counted if rule.shorten else 0), spare)


def _waits(now: Situation) -> bool:
    """Whether the newest thing is a request, which no step covers."""
    return now.unread <= now.turn < len(now.entries)


def unanswered(entries: Sequence[Entry]) -> frozenset[int]:
    """The requests that no finished reply has come to yet."""
    waiting: set[int] = set()
    for entry in entries:
        message = _message(entry)
        if is_request(message):
            waiting.add(entry.seq)
        elif message.role == "assistant" and not message.calls and message.text.strip():
            waiting.clear()
    return frozenset(waiting)


def users_tokens(now: Situation, rule: Summarise) -> int:
    """What messages of the user's may take beside a summary; less in a small window."""
    wanted = int(now.budget.room * rule.users_share) if rule.users_share else rule.users
    return min(wanted, rule.users or wanted, now.budget.room // (3 if rule.users_share else 4))


def longest(now: Situation, rule: Summarise) -> int:
    """How long a summary may be, all that is laid beside it included."""
    whole = now.budget.history if rule.of == "history" else now.budget.room
    share = int(whole * rule.share) if rule.share else now.budget.room // SMALL
    return min(rule.most, share, now.budget.room // SMALLEST)


def _plan(now: Situation, rule: Summarise, step: Step, covers: Spans, kept: Kept) -> Plan | None:
    inside = [entry for entry in now.entries if within(entry.seq, covers)]
    if not covers or (len(inside) <= len(kept.seqs) and not now.beyond):
        return None
    earlier = sum(map(now.said, now.replaced))
    before = sum(map(now.weight, inside)) + now.beyond_tokens + earlier
    stays = kept.tokens + _pinned(now, inside, kept) + now.laid
    tail = sum(now.weight(entry) for entry in now.entries if not within(entry.seq, covers))
    most = min(longest(now, rule), max(before - stays, 0) * 3 // 4, _room(now) - tail - stays)
    if rule.of == "history":
        history = (e for e in now.entries[: now.turn] if not within(e.seq, covers))
        most = min(most, now.budget.history - sum(map(now.gauge, history)))
    promised = before - stays - most
    if promised <= 0 or most < now.frame + LEAST:
        return None
    asked, prose = _asked(now, rule, inside, earlier, most) if now.asks else (0, 0)
    decision = worth(now, covers[0].first, before - stays, most, asked, prose)
    return Plan(
        step=step,
        epoch=now.view.folded.epoch,
        policy=now.policy.name,
        trigger=now.trigger,
        covers=covers,
        kept=kept.seqs,
        shortened=kept.shortened,
        asked=kept.asked,
        merges=tuple(entry.seq for entry in now.replaced),
        before=before,
        stays=stays,
        promised=promised,
        most=most,
        frame=now.frame,
        decision=decision,
        reason=_reason(now, decision.because),
    )


def _asked(
    now: Situation, rule: Summarise, inside: Sequence[Entry], earlier: int, most: int
) -> tuple[int, int]:
    """What a model would read for a summary, and write of it."""
    read = sum(now.weight(entry) for entry in inside) + now.beyond_tokens + earlier
    if rule.reads:
        long = (c for e in inside if _message(e).role == "tool" for c in e.counts)
        read -= sum(max(count - rule.reads, 0) for count in long)
    return read, int(most * (1 - rule.names))


def _pinned(now: Situation, inside: Sequence[Entry], kept: Kept) -> int:
    """What is covered and pinned stays among the pins."""
    pinned = {pin.seq for pin in now.view.folded.pins} - {*kept.seqs}
    return sum(now.weight(entry) for entry in inside if entry.seq in pinned)


def _reason(now: Situation, because: str) -> str:
    if now.trigger == "manual":
        return "asked for"
    return "the window is full" if now.over else because


def _message(entry: Entry) -> Message:
    assert isinstance(entry.body, Message)
    return entry.body
