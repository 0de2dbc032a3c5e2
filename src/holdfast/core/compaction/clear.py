"""Clearing: content that has done its work leaves the window, and a handle stays.

Three steps plan it: reasoning of finished turns, results of listed tools behind the newest, and
tool results beyond a protected amount. Each sees columns, names of tools and sizes; none asks a
model. What was undone is not cleared again by itself, what no reply has come to never.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Final

from msgspec import Struct

from holdfast.core.compaction.cache_economics import Change, decide, is_cold
from holdfast.core.compaction.situation import Situation
from holdfast.core.ledger.facts.tool_dialects import TOOLS
from holdfast.core.log.boundary import is_request
from holdfast.core.log.tool_input import arguments, text_of
from holdfast.core.tokens.calibrate import error
from holdfast.core.tokens.count import CALL
from holdfast.core.tokens.estimate import estimate
from holdfast.core.window.recall import note
from holdfast.core.window.scaffold import wrap
from holdfast.model.decision import Decision
from holdfast.model.log import Entry, Handle, PartRef, Trigger
from holdfast.model.message import Message, Opaque, Part, Reasoning, Text, ToolResult
from holdfast.model.plan import Plan
from holdfast.model.policy import Prune, Step

EVERYTHING: Final = 2**62
"""A file that was written whole makes every earlier reading of it needless."""

KINDS: Final[dict[str, str]] = {
    "run": "shell", "read": "read", "write": "write", "edit": "edit", "patch": "edit",
}  # fmt: skip
"""What a deed of the ledger's is called in a policy."""

LOOKS: Final[dict[str, str]] = {
    "Grep": "grep", "grep": "grep", "grep_search": "grep", "search_file_content": "grep",
    "Glob": "glob", "glob": "glob", "LS": "list", "list": "list", "list_directory": "list",
    "WebSearch": "web_search", "web_search": "web_search", "websearch": "web_search",
    "google_web_search": "web_search", "WebFetch": "web_fetch", "web_fetch": "web_fetch",
    "webfetch": "web_fetch",
}  # fmt: skip


WARNING: Final = Text(
    wrap(
        "system-reminder",
        "Older tool results will soon be left out to make room. Note down what you still need of "
        "them in your next message; recall brings any of them back word for word.",
    ),
    scaffold="system-reminder",
)
"""What a model is told before results are cleared, where a policy says so."""


def warned(entries: Sequence[Entry], cleared: Sequence[PartRef]) -> bool:
    """Whether the model was told since the newest result that is cleared, and has answered."""
    last = max((ref.seq for ref in cleared), default=0)
    told = [entry.seq for entry in entries if WARNING in _parts(entry) and entry.seq > last]
    return bool(told) and any(_answers(entry) and entry.seq > told[-1] for entry in entries)


class Result(Struct, frozen=True):
    """A tool's result in the window: where it is, whose it is, and what it takes."""

    ref: PartRef
    index: int
    """Of its entry, among the entries that are seen."""
    name: str
    tokens: int
    """As the policy counts."""
    part: ToolResult
    weight: int
    """By estimate."""
    note: int
    """What would stand in its place, by estimate."""
    input: str = ""


def kind(name: str) -> str:
    """What a tool is called in a policy: by what it does, or by its own name."""
    if name in LOOKS:
        return LOOKS[name]
    reading = TOOLS.get(name)
    return KINDS.get(reading.deed, name) if reading else name


def results(now: Situation) -> Iterator[Result]:
    """The tool results that could still be cleared, oldest first."""
    for index, entry in enumerate(now.entries):
        for ordinal, part in enumerate(_parts(entry)):
            ref = PartRef(entry.seq, ordinal)
            if isinstance(part, ToolResult) and ref not in now.gone:
                call = now.calling.get(part.call)
                name = part.name or (call.name if call else "")
                weight = _counted(entry, ordinal)
                line = note(part, Handle(entry.id, ordinal), weight, call)
                yield Result(
                    ref, index, name, now.part(entry, ordinal), part, weight,
                    estimate(line) + CALL, call.input if call else "",
                )  # fmt: skip


def thinking(now: Situation) -> Plan | None:
    """Reasoning of finished turns leaves, but for the newest turns."""
    rule = now.policy.thinking
    if rule is None or rule.keep_all or not _is_time(now, rule.idle):
        return None
    found = [
        (PartRef(entry.seq, ordinal), now.part(entry, ordinal), _counted(entry, ordinal))
        for entry in now.entries[: _thoughts_until(now, rule.keep)]
        for ordinal, part in enumerate(_parts(entry))
        if is_thought(part) and PartRef(entry.seq, ordinal) not in now.gone
    ]
    refs = [ref for ref, _, _ in found]
    if not _is_enough(now, sum(tokens for _, tokens, _ in found), rule.least):
        return None
    freed = sum(weight for _, _, weight in found)
    reason = f"reasoning of finished turns, but for the newest {rule.keep}"
    return planned(now, "thinking", refs, freed, freed, reason, by_price=not rule.idle)


def _thoughts_until(now: Situation, keep: int) -> int:
    """The index up to which thoughts leave: the newest turns that have any keep theirs.

    A turn that goes on keeps its own in any case, and is one of them once it has any: so a provider
    counts as well.
    """
    if not keep:
        return now.turn
    having: list[int] = []
    for start, end in pairwise([*turns(now.entries), len(now.entries)]):
        if any(is_thought(part) for entry in now.entries[start:end] for part in _parts(entry)):
            having.append(start)
    return min(having[-keep], now.turn) if keep <= len(having) else 0


def microcompact(now: Situation) -> Plan | None:
    """Results of listed tools leave, but for the newest; once the last reply is old enough.

    In the main conversation only: a subtask is over before its cache is.
    """
    rule = now.policy.microcompact
    old = rule is not None and _is_old(now, rule.idle)
    if rule is None or now.view.session.is_subtask or not (old or _edits_itself(now)):
        return None
    listed = [
        one for one in results(now) if kind(one.name) in rule.tools and one.name not in rule.exclude
    ]
    older = listed[: max(len(listed) - rule.keep, 0)]
    leave = [one for one in older if one.index < now.unread]
    if not old and not _is_enough(now, sum(one.tokens for one in leave), rule.least):
        return None
    reason = f"all but the newest {rule.keep} results of {', '.join(rule.tools)}"
    return _cleared(now, "microcompact", leave, reason)


def _edits_itself(now: Situation) -> bool:
    """Whether what a provider's cache editing would do is ours to do: where it is not theirs."""
    rule = now.policy.microcompact
    return bool(rule and rule.edits and now.tokens > rule.trigger)


def prune(now: Situation) -> Plan | None:
    """Results beyond a protected amount leave, where enough is freed."""
    rule = now.policy.prune
    if rule is None or not (found := results(now)):
        return None
    starts = turns(now.entries)
    recent = starts[-rule.turns] if 0 < rule.turns <= len(starts) else 0 if rule.turns else now.turn
    last = min(recent, now.unread)
    old = [one for one in found if one.index < last and _may_leave(one, rule)]
    protect, protected = _protected(now), 0
    leave: list[Result] = _repeated(old) if rule.repeats else []
    gone = {one.ref for one in leave}
    for one in reversed(old):
        if one.ref in gone:
            continue
        protected += one.tokens
        if protected > protect:
            leave.append(one)
    if not _is_enough(now, sum(one.tokens for one in leave), rule.least):
        return None
    reason = f"results beyond the newest {protect:,} tokens of them"
    return _cleared(now, "prune", sorted(leave, key=_place), reason, by_price=rule.by_price)


def _is_enough(now: Situation, freed: int, least: int) -> bool:
    """Whether so much is worth clearing; less than a policy asks for only where all fits then."""
    left = max(now.count.tokens - freed, 0)
    fits = left + error(left) <= now.budget.room + now.budget.margin
    return freed >= least or (now.over and not now.beyond and fits)


def _may_leave(one: Result, rule: Prune) -> bool:
    return one.name not in rule.never and (rule.failed or not one.part.error)


def _protected(now: Situation) -> int:
    """What is protected, less in a window that this would fill."""
    rule = now.policy.prune
    return min(rule.protect, now.budget.room // 3) if rule else 0


def _repeated(old: Sequence[Result]) -> list[Result]:
    """Results that a later call of the same made needless: the same file read again, or written."""
    seen: dict[str, int] = {}
    found: list[Result] = []
    for one in reversed(old):
        subject = _subject(one)
        whole = seen.get(subject, 0) * 2 >= one.tokens  # "unchanged" in a line replaces nothing
        if subject in seen and whole and kind(one.name) == "read":
            found.append(one)
        if subject and not one.part.error:
            written = kind(one.name) == "write"
            seen[subject] = EVERYTHING if written else max(one.tokens, seen.get(subject, 0))
    return found


def _subject(one: Result) -> str:
    """The file a result is about, whole: a part of it supersedes nothing."""
    reading = TOOLS.get(one.name)
    if reading is None or reading.deed not in ("read", "write"):
        return ""
    fields = arguments(one.input)
    if any(fields.get(name) is not None for name in reading.part):
        return ""
    return text_of(fields, reading.subject)


def _cleared(
    now: Situation, step: Step, leave: Sequence[Result], reason: str, *, by_price: bool = False
) -> Plan | None:
    worthy = [
        one for one in leave if one.weight > one.note
    ]  # a note may be longer than all it says
    before = sum(one.weight for one in worthy)
    freed = before - sum(one.note for one in worthy)
    refs = [one.ref for one in worthy]
    return planned(now, step, refs, before, freed, reason, by_price=by_price)


def planned(
    now: Situation,
    step: Step,
    refs: Sequence[PartRef],
    before: int,
    freed: int,
    reason: str,
    *,
    by_price: bool = False,
) -> Plan | None:
    """The plan to clear these parts; None where nothing is freed, or it does not pay."""
    if not refs or freed <= 0:
        return None
    decision = worth(now, refs[0].seq, freed)
    if by_price and not decision.pays and not now.forced and not now.over:
        return None
    return Plan(
        step=step,
        epoch=now.view.folded.epoch,
        policy=now.policy.name,
        trigger=_trigger(now, step),
        clears=tuple(refs),
        before=before,
        promised=freed,
        decision=decision,
        reason=reason,
    )


def _trigger(now: Situation, step: Step) -> Trigger:
    """What set a step off: of itself, the time that has passed."""
    waits = {"thinking": now.policy.thinking, "microcompact": now.policy.microcompact}.get(step)
    idle = waits is not None and now.trigger == "auto" and _is_old(now, waits.idle)
    return "idle" if idle else now.trigger


def worth(
    now: Situation, first: int, saved: int, written: int = 0, asked: int = 0, prose: int = 0
) -> Decision:
    """Whether taking so much out from an entry on pays."""
    behind = sum(now.gauge(entry) for entry in now.entries if entry.seq >= first)
    prompt = max(now.count.tokens, now.beyond_tokens)
    change = Change(
        prompt=prompt, before=max(prompt - behind, 0), saved=saved, written=written, asked=asked,
        prose=prose,
    )  # fmt: skip
    cold = is_cold(now.idle, now.profile)
    return decide(change, now.profile, turns=now.turns_left, cold=cold, asking=now.asking)


def turns(entries: Sequence[Entry]) -> list[int]:
    """The indices where turns begin."""
    return [index for index, entry in enumerate(entries) if _asks(entry)]


def _asks(entry: Entry) -> bool:
    return isinstance(entry.body, Message) and is_request(entry.body)


def _is_time(now: Situation, minutes: int) -> bool:
    if not minutes or now.forced:
        return True
    return now.idle is not None and now.idle >= minutes * 60_000


def _is_old(now: Situation, minutes: int) -> bool:
    """Whether the last reply is so old that nothing is cached any more."""
    return bool(minutes) and _is_time(now, minutes)


def is_thought(part: Part) -> bool:
    """Reasoning, or a provider's sealed form of it."""
    if isinstance(part, Opaque):
        return "reasoning" in part.type or "thinking" in part.type
    return isinstance(part, Reasoning)


def _parts(entry: Entry) -> tuple[Part, ...]:
    return entry.body.parts if isinstance(entry.body, Message) else ()


def _answers(entry: Entry) -> bool:
    return isinstance(entry.body, Message) and entry.body.role == "assistant"


def _counted(entry: Entry, ordinal: int) -> int:
    return entry.counts[ordinal] if ordinal < len(entry.counts) else 0


def _place(one: Result) -> PartRef:
    return one.ref
