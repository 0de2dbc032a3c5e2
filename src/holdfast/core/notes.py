"""Running notes: when they are brought up to date, and when they take the place of what they cover.

Rule 1: notes that are missing, empty, of unknown coverage or still too large are not used.
Rule 2: headings and the lines that describe them never change; a section has its own limit.
Rule 3: what is cut first is what is longest; the current state and the errors go last.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from holdfast.core.boundary import boundaries
from holdfast.core.clear import worth
from holdfast.core.estimate import estimate
from holdfast.core.situation import Situation
from holdfast.core.summarise import covered, is_due
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

_HEADING = re.compile(r"^# (.+)$", re.MULTILINE)


def notes(now: Situation) -> Plan | None:
    """Notes that were kept up to date take the place of what they cover."""
    rule, due = now.policy.notes, (now.policy.compact or now.policy.summarise)
    if rule is None or now.notes is None or not isinstance(now.notes.body, Notes):
        return None
    if not (now.forced or now.over or (due and is_due(now, due.due))):
        return None
    body = now.notes.body
    messages = [e.body for e in now.entries if isinstance(e.body, Message)]
    reach = sum(entry.seq <= body.upto for entry in now.entries)
    cut = min(max((at for at in boundaries(messages) if at <= reach), default=0), now.turn)
    covers = covered(now, cut)
    inside = now.entries[:cut]
    before = sum(map(now.gauge, inside)) + now.beyond_tokens
    most = min(estimate(body.text) + 64, rule.most)
    stays = sum(map(now.gauge, now.entries[cut:]))
    fits = now.floor + most + stays <= now.budget.room
    if not inside or not covers or not is_sound(body.text) or before <= most or not fits:
        return None
    return Plan(
        step="notes",
        epoch=now.view.folded.epoch,
        policy=now.policy.name,
        trigger=now.trigger,
        covers=covers,
        merges=tuple(entry.seq for entry in now.summaries),
        before=before,
        promised=before - most,
        most=most,
        summary=shortened(body.text, rule),
        model=body.model,
        decision=worth(now, covers[0].first, before, most),
        reason=f"running notes tell of everything up to entry {body.upto}",
    )


def empty() -> str:
    """Notes before anything was noted: headings, and what belongs under each."""
    return "\n\n".join(f"# {title}\n_{about}_" for title, about in TEMPLATE)


def is_sound(text: str) -> bool:
    """Whether every heading is there with its description, in order, and something was noted."""
    found = sections(text)
    told = any(body.strip() for _, _, body in found)
    return told and [(title, about) for title, about, _ in found] == list(TEMPLATE)


def sections(text: str) -> list[tuple[str, str, str]]:
    """Each section's heading, description and body."""
    pieces = _HEADING.split(text)[1:]
    found: list[tuple[str, str, str]] = []
    for title, rest in zip(pieces[::2], pieces[1::2], strict=True):
        about, _, body = rest.strip("\n").partition("\n")
        found.append((title.strip(), about.strip().strip("_"), body.strip("\n")))
    return found


def shortened(text: str, rule: Rule) -> str:
    """Notes within their limits; the end of a section leaves first, and says so."""
    told = [(title, about, _limited(body, rule.section)) for title, about, body in sections(text)]
    while sum(estimate(body) for _, _, body in told) > rule.most:
        places = [i for i, (title, _, _) in enumerate(told) if title not in LAST_TO_GO]
        most = max(places or range(len(told)), key=lambda i: estimate(told[i][2]))
        title, about, body = told[most]
        if estimate(body) < 32:
            break
        told[most] = (title, about, _limited(body, estimate(body) * 3 // 4))
    return "\n\n".join(
        "\n".join(filter(None, (f"# {title}", f"_{about}_", body))) for title, about, body in told
    )


def _limited(body: str, most: int) -> str:
    if estimate(body) <= most:
        return body
    lines = body.splitlines()
    while lines and estimate("\n".join(lines)) > most - 8:
        lines.pop()
    return "\n".join((*lines, "[… the rest was left out]"))


def overlong(text: str, rule: Rule) -> list[str]:
    """The sections that are to be condensed, for whoever writes them next."""
    return [
        f"{title}: {estimate(body):,} of {rule.section:,} tokens"
        for title, _, body in sections(text)
        if estimate(body) > rule.section
    ]


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
