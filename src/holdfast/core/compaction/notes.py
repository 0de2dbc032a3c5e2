"""Running notes: when they are brought up to date, and when they take the place of what they cover.

Rule 1: notes that are missing, empty, of unknown coverage or still too large are not used.
Rule 2: headings and the lines that describe them never change; a section has its own limit.
Rule 3: notes are stored as they were written and cut when they are used, so that whoever writes
        them next is told what is too long. The longest section is cut first, inside a line where it
        is one; the current state and the errors go last.
Rule 4: Claude Code's own notes have the same ten sections under headings of their own, and are used
        like ours.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from typing import Final

from holdfast.core.compaction.clear import worth
from holdfast.core.compaction.situation import Situation
from holdfast.core.compaction.summarise import covered, is_due
from holdfast.core.log.boundary import boundaries
from holdfast.core.tokens.estimate import estimate
from holdfast.model.log import Entry, Notes
from holdfast.model.message import Message, ToolCall
from holdfast.model.plan import Plan
from holdfast.model.policy import Notes as Rule

TEMPLATE: Final[tuple[tuple[str, str], ...]] = (
    ("Session title", "What this session is about, in five to ten words."),
    ("Current state", "What is being worked on right now, what is next, what is not finished."),
    ("Task specification", "What was asked for, and every decision on how it is to be done."),
    ("Files and functions", "The files that matter, what is in them, and why they matter."),
    ("Workflow", "Which commands are run, in which order, and how their output is read."),
    ("Errors and corrections", "What went wrong, how it was mended, what the user corrected."),
    ("Codebase and system documentation", "How the parts of the system fit together."),
    ("Learnings", "What worked, what did not, what to avoid."),
    ("Key results", "Answers, tables or documents that were asked for, word for word."),
    ("Worklog", "What was tried and done, step by step, a few words each."),
)
LAST_TO_GO: Final = frozenset({"Current state", "Errors and corrections"})

RECENT: Final = 10_000
"""So many tokens stay word for word behind notes that another program wrote: when it wrote them
last is not known."""

LEFT_OUT: Final = "[… the rest was left out]"

KNOWN: Final = 5
"""Notes with fewer of the ten sections are something else."""

_HEADING = re.compile(r"# +(.+?)\s*#*\s*$")
_FENCE = re.compile(r"\s*(```|~~~)")
_ABOUT = re.compile(r"\s*_(.+)_\s*$")


def wants_notes(now: Situation) -> bool:
    """Whether the running notes are to be brought up to date."""
    rule = now.policy.notes
    if rule is None or not now.asks:
        return False
    before = noted(now)
    return is_time(unnoted(now, before), now.count.tokens, before, rule)


def noted(now: Situation) -> Notes | None:
    """The running notes as they stand."""
    return now.notes.body if now.notes and isinstance(now.notes.body, Notes) else None


def unnoted(now: Situation, before: Notes | None) -> Sequence[Entry]:
    """What has come since the notes were written."""
    last = before.upto if before else 0
    return [entry for entry in now.entries if entry.seq > last]


def notes(now: Situation) -> Plan | None:
    """Notes that were kept up to date take the place of what they cover."""
    rule, due = now.policy.notes, (now.policy.compact or now.policy.summarise)
    if rule is None or now.notes is None or not isinstance(now.notes.body, Notes):
        return None
    if now.since or now.upto or not (now.forced or now.over or (due and is_due(now, due.due))):
        return None
    body = now.notes.body
    text = shortened(adopted(body.text), rule)
    messages = [e.body for e in now.entries if isinstance(e.body, Message)]
    reach = _reach(now, body)
    cut = min(max((at for at in boundaries(messages) if at <= reach), default=0), now.turn)
    cut = min(cut, now.unread)
    covers = covered(now, cut)
    inside = now.entries[:cut]
    before = sum(map(now.gauge, inside)) + now.beyond_tokens
    most = min(estimate(text) + 64, rule.most + 256)
    stays = sum(map(now.gauge, now.entries[cut:]))
    fits = now.fixed + most + stays <= now.budget.room
    if not inside or not covers or not is_sound(text) or before <= most or not fits:
        return None
    return Plan(
        step="notes",
        epoch=now.view.folded.epoch,
        policy=now.policy.name,
        trigger=now.trigger,
        covers=covers,
        merges=tuple(entry.seq for entry in now.replaced),
        before=before,
        promised=before - most,
        most=most,
        summary=text,
        model=body.model,
        decision=worth(now, covers[0].first, before, most),
        reason=f"running notes tell of everything up to entry {body.upto}",
    )


def _reach(now: Situation, body: Notes) -> int:
    """How many of the visible entries notes tell of."""
    reach = sum(entry.seq <= body.upto for entry in now.entries)
    if body.model:
        return reach
    recent = sum(map(now.gauge, now.entries[reach:]))
    while reach and recent < min(RECENT, now.budget.room // 4):
        reach -= 1
        recent += now.gauge(now.entries[reach])
    return reach


def empty() -> str:
    """Notes before anything was noted: headings, and what belongs under each."""
    return _written([(title, about, "") for title, about in TEMPLATE])


def is_sound(text: str) -> bool:
    """Whether every heading is there with its description, in order, and something was noted."""
    found = sections(text)
    noted = any(body.strip() for _, _, body in found)
    return noted and [(title, about) for title, about, _ in found] == list(TEMPLATE)


def sections(text: str) -> list[tuple[str, str, str]]:
    """Each section's heading, description and body; a `#` inside a fence heads nothing."""
    found: list[tuple[str, list[str]]] = []
    fenced = False
    for line in text.splitlines():
        fenced ^= bool(_FENCE.match(line))
        heading = None if fenced else _HEADING.fullmatch(line)
        if heading:
            found.append((heading[1], []))
        elif found:
            found[-1][1].append(line)
    return [_section(title, lines) for title, lines in found]


def _section(title: str, lines: list[str]) -> tuple[str, str, str]:
    rest = "\n".join(lines).strip("\n")
    first, _, body = rest.partition("\n")
    about = _ABOUT.fullmatch(first)
    return (title, about[1].strip(), body.strip("\n")) if about else (title, "", rest)


def adopted(text: str) -> str:
    """Notes under our own headings, where they are Claude Code's; others as they are."""
    found = [(_same(title), about, body) for title, about, body in sections(text)]
    named = {title for title, _, _ in found if title in _TITLES.values()}
    if len(named) < KNOWN:
        return text
    bodies = dict.fromkeys((title for title, _ in TEMPLATE), "")
    place = TEMPLATE[0][0]
    for title, about, body in found:
        place = title if title in bodies else place
        heading = "" if title in bodies else f"**{title}**"
        words = (bodies[place], heading, about if heading else "", body)
        bodies[place] = "\n".join(filter(None, words))
    return _written([(title, about, bodies[title]) for title, about in TEMPLATE])


def _same(title: str) -> str:
    """The heading of ours that another program writes its own way."""
    return _TITLES.get(" ".join(title.replace("&", " and ").lower().split()), title)


_TITLES: Final = {title.lower(): title for title, _ in TEMPLATE}


def shortened(text: str, rule: Rule) -> str:
    """Notes within their limits; the end of a section leaves first, and says so."""
    kept = [(title, about, _limited(body, rule.section)) for title, about, body in sections(text)]
    while sum(estimate(body) for _, _, body in kept) > rule.most:
        longest = _longest(kept)
        if longest is None:
            break
        title, about, body = kept[longest]
        kept[longest] = (title, about, _limited(body, estimate(body) * 3 // 4))
    return _written(kept)


def _longest(kept: list[tuple[str, str, str]]) -> int | None:
    """The section to cut next; those that are to go last only once the others are short."""
    sizes = [estimate(body) if estimate(body) >= SMALLEST else 0 for _, _, body in kept]
    places = [i for i, (title, _, _) in enumerate(kept) if title not in LAST_TO_GO and sizes[i]]
    places = places or [i for i, size in enumerate(sizes) if size]
    return max(places, key=lambda i: sizes[i], default=None)


SMALLEST: Final = 32
"""A section of fewer tokens is not cut further."""


def _limited(body: str, most: int) -> str:
    """A text of at most so many tokens, cut between lines, or inside one that is too long."""
    if estimate(body) <= most:
        return body
    body = body.removesuffix(LEFT_OUT).rstrip("\n")
    end = bisect_right(range(len(body)), most, key=lambda end: estimate(_cut(body, end))) - 1
    while end > 1 and estimate(_cut(body, end)) > most:
        end -= max(end // 50, 1)
    return _cut(body, max(end, 1))


def _cut(body: str, end: int) -> str:
    """A text up to a place, or up to the end of a line or word a little before it."""
    line, word = body.rfind("\n", 0, end + 1), body.rfind(" ", 0, end + 1)
    at = next((cut for cut in (line, word) if cut > end * 3 // 4), end)
    return f"{body[:at].rstrip()}\n{LEFT_OUT}"


def _written(found: Sequence[tuple[str, str, str]]) -> str:
    return "\n\n".join(
        "\n".join(filter(None, (f"# {title}", f"_{about}_" if about else "", body)))
        for title, about, body in found
    )


def overlong(text: str, rule: Rule) -> str:
    """What whoever writes notes next is told of those that are too long; empty where none are."""
    whole = sum(estimate(body) for _, _, body in sections(text))
    long = [
        f"- {title}: {estimate(body):,} of {rule.section:,} tokens"
        for title, _, body in sections(text)
        if estimate(body) > rule.section
    ]
    most = (
        f"The notes take {whole:,} tokens, and {rule.most:,} is the most they may: make them "
        "shorter, the longest sections first. Merge what belongs together and drop what matters "
        "least; keep Current state and Errors and corrections exact."
    )
    each = "Condense these sections, which are too long:\n" + "\n".join(long)
    return "\n\n".join([*([most] if whole > rule.most else []), *([each] if long else [])])


def is_time(entries: Sequence[Entry], tokens: int, before: Notes | None, rule: Rule) -> bool:
    """Whether the notes are to be brought up to date after these entries, which they lack."""
    if before is None:
        return tokens >= rule.begin
    fresh = sum(sum(entry.counts) for entry in entries)
    if fresh < rule.every:
        return False
    calls = sum(isinstance(part, ToolCall) for entry in entries for part in _parts(entry))
    return calls >= rule.calls or _paused(entries)


def _paused(entries: Sequence[Entry]) -> bool:
    """Whether the newest reply asks for no tool: a natural pause."""
    bodies = (entry.body for entry in reversed(entries))
    said = (body for body in bodies if isinstance(body, Message) and body.role == "assistant")
    newest = next(said, None)
    return newest is not None and not newest.calls


def _parts(entry: Entry) -> Sequence[object]:
    return entry.body.parts if isinstance(entry.body, Message) else ()
