"""Which notes help with what was just asked, and how a model is shown them.

Rule 1: at most five, and only those that are certain to help; none is a fine answer.
Rule 2: notes that stand in the conversation already are left out, and so are notes on how a tool is
        used that is in use right now; warnings about it are not.
Rule 3: a note is shown with its file, its age and its text, as a reminder that it may be stale.
Rule 4: what a reminder shows can be read back from the log, so that its influence can be told.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, Final

import msgspec
from msgspec import Struct

from holdfast.core.search.ranking import Ranked
from holdfast.core.search.terms import question_terms, terms
from holdfast.core.tokens.estimate import estimate
from holdfast.core.window.scaffold import wrap
from holdfast.model.log import Entry
from holdfast.model.message import Message, Text
from holdfast.model.note import Note

MOST: Final = 5
ALLOWANCE: Final = 2_000
"""So many tokens the notes of one turn take at most."""

SHARE: Final = 0.2
"""A note has to hold so much of the question, rare words counting more."""

NEAR: Final = 0.45
"""And its rank is at least so much of the best one's."""

TERMS: Final = 2

PROMPT: Final = """\
You are selecting notes that will be useful to an agent as it works on what its user has asked. You
are given the user's query and a list of notes with their file names and descriptions.

Return the file names of the notes that will clearly be useful (up to 5). Only include notes that
you are certain will be helpful, judging by name and description.
- If you are unsure whether a note will be useful, do not include it. Be selective and discerning.
- If no note in the list would clearly be useful, return an empty list.
- If a list of recently used tools is given, do not select notes that are usage reference or API
  documentation for those tools: the agent is using them already. DO select notes with warnings,
  gotchas or known issues about those tools: that is exactly when they matter.

Answer with JSON and nothing else: {"selected_memories": ["file.md"]}"""

HEADER: Final = (
    "Notes from earlier sessions that bear on what is asked next. Each was true when it was "
    "written: check what it says before you rely on it."
)

_SHOWN = re.compile(r"^## (\S+\.md) · \w+ · saved .*? · note ([0-9a-f]{8})$", re.MULTILINE)
_WARNS = re.compile(
    r"\b(?:warn\w*|gotchas?|careful|beware|known (?:issue|bug)s?|never|don'?t|do not|avoid|breaks?"
    r"|fails?|danger\w*|caution|pitfalls?|bugs?)\b",
    re.IGNORECASE,
)


class Recalled(Struct, frozen=True, kw_only=True):
    """A note that was brought back."""

    file: str
    note: Note
    id: str
    saved: int
    """When it was written, in ms."""


def certain(
    query: str, ranked: Sequence[Ranked], texts: Mapping[str, str], most: int = MOST
) -> list[str]:
    """Of ranked notes those that are certain to help, by words alone."""
    asked = set(question_terms(query))
    best = ranked[0].score if ranked else 0.0
    found = [
        one.key
        for one in ranked
        if one.share >= SHARE
        and one.score >= best * NEAR
        and len(asked & set(terms(texts[one.key]))) >= min(TERMS, len(asked))
    ]
    return found[:most]


def is_usage(note: Note, tools: Collection[str]) -> bool:
    """Whether a note says how a tool is used that is in use, and warns of nothing."""
    if note.type != "reference" or _WARNS.search(f"{note.description} {note.body}"):
        return False
    named = set(terms(f"{note.name} {note.description}"))
    return any(named & set(terms(tool)) for tool in tools)


def question(query: str, manifest: str, tools: Sequence[str]) -> str:
    """What a small model is asked."""
    used = f"\n\nRecently used tools: {', '.join(tools)}" if tools else ""
    return f"Query: {query}\n\nAvailable notes:\n{manifest}{used}"


def selected(answer: str, files: Collection[str]) -> list[str] | None:
    """The files that a model chose, of those there are; None where it answered something else."""
    begin, end = answer.find("{"), answer.rfind("}")
    try:
        told: Any = msgspec.json.decode(answer[begin : end + 1].encode())
        chosen = msgspec.convert(told["selected_memories"], list[str])
    except (msgspec.DecodeError, msgspec.ValidationError, KeyError, TypeError, UnicodeError):
        return None
    return [file for file in dict.fromkeys(chosen) if file in files][:MOST]


def reminder(notes: Sequence[Recalled], now: int, allowance: int = ALLOWANCE) -> str:
    """The notes as a model is shown them, within an allowance; empty where there are none."""
    shown: list[str] = []
    left = allowance - estimate(HEADER) - 16
    for one in notes:
        text = f"{heading(one, now)}\n{one.note.body.strip()}"
        if estimate(text) > left:
            text = _cut(one, now, left)
        if text:
            shown.append(text)
            left -= estimate(text) + 2
    return wrap("system-reminder", "\n\n".join((HEADER, *shown))) if shown else ""


def _cut(one: Recalled, now: int, left: int) -> str:
    """As many lines of a note as fit, and where the rest is; empty where hardly any do."""
    lines, kept = one.note.body.strip().splitlines(), list[str]()
    head, rest = heading(one, now), f"[… the rest is in {one.file}]"
    for line in lines:
        if estimate("\n".join((head, *kept, line, rest))) > left:
            break
        kept.append(line)
    return "\n".join((head, *kept, rest)) if kept else ""


def heading(one: Recalled, now: int) -> str:
    """The line above a note: its file, type, age, and the id that its influence is told by."""
    return f"## {one.file} · {one.note.type} · saved {age(one.saved, now)} · note {one.id[:8]}"


def age(saved: int, now: int) -> str:
    """How old something is, in words."""
    days = max(now - saved, 0) // 86_400_000
    if days < 1:
        return "today"
    return "yesterday" if days == 1 else f"{days:,} days ago"


def shown(entries: Iterable[Entry]) -> dict[str, list[int]]:
    """The notes that stand among entries, by the first letters of their ids: where each does."""
    found: dict[str, list[int]] = {}
    for entry in entries:
        for _, id in shown_in(entry):
            found.setdefault(id, []).append(entry.seq)
    return found


def shown_in(entry: Entry) -> list[tuple[str, str]]:
    """The notes that an entry shows: file, and the first letters of the id."""
    if not isinstance(entry.body, Message):
        return []
    texts = [
        part.text
        for part in entry.body.parts
        if isinstance(part, Text) and part.scaffold == "system-reminder" and HEADER in part.text
    ]
    return [(file, id) for text in texts for file, id in _SHOWN.findall(text)]
