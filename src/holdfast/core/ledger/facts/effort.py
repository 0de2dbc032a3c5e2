"""How much was done: lines that tools added and removed, and how long somebody was at it.

Rule 1: only changes that went well count; a tool's own words about its lines win over ours.
Rule 2: a file that is written whole counts as added, unless the tool says what stood there before.
Rule 3: time is active where two entries are at most five minutes apart; a longer silence is none.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from difflib import SequenceMatcher
from typing import Any, Final, NamedTuple, cast

from msgspec.structs import replace

from holdfast.core.ledger.facts.tool_dialects import Reading
from holdfast.core.log.tool_input import arguments, text_of
from holdfast.model.ledger import Effort, Ledger

PAUSE: Final = 5 * 60_000
"""The longest silence that counts as work, in ms."""

_OLD: Final = ("old_string", "oldString", "old_str", "oldText", "old")
_NEW: Final = ("new_string", "newString", "new_str", "newText", "new", "new_source")

_ENVELOPE: Final = re.compile(
    r"^\*\*\* Begin Patch[ \t]*\n(.*?)(?=^\*\*\* End Patch|\Z)", re.MULTILINE | re.DOTALL
)
_MARK: Final = re.compile(
    r"^[ \t]*(?:(?P<search><{5,9} SEARCH[^\n]*\n)|(?P<divide>={5,9}[ \t]*\n)|>{5,9} REPLACE)",
    re.MULTILINE,
)
"""What begins the two halves of a SEARCH/REPLACE block, and what ends it."""
_NEXT: Final = {"search": "divide", "divide": "replace", "replace": "search"}


def passed(known: Ledger, created: int) -> Ledger:
    """A ledger with the time since the entry before."""
    return replace(known, effort=since(known.effort, created))


def since(before: Effort, created: int) -> Effort:
    """With the time since the entry before, where that is no pause; a clock set back is none."""
    gap = created - before.last if before.last else 0
    spent = gap if 0 < gap <= PAUSE else 0
    return replace(before, active=before.active + spent, last=max(created, before.last))


def counted(known: Ledger, lines: Lines) -> Ledger:
    """These lines came and went."""
    if not any(lines):
        return known
    before = known.effort
    effort = replace(
        before, added=before.added + lines.added, removed=before.removed + lines.removed
    )
    return replace(known, effort=effort)


def lines_of(input: str, reading: Reading, output: str) -> Lines:
    """The lines that a call which went well has changed."""
    if reading.deed in ("write", "edit") and any(told := told_in(output)):
        return told
    fields = arguments(input)
    match reading.deed:
        case "write":
            return Lines(len(text_of(fields, reading.content).splitlines()))
        case "edit":
            return _sum([_edited(one) for one in _edits(fields)])
        case "patch":
            return patched(text_of(fields, reading.subject) or input)
        case "run" | "script":
            return patched(" ".join(_texts(fields)) or input)
        case _:
            return Lines()


def patched(text: str) -> Lines:
    """The lines of every apply_patch envelope in a text."""
    found = _ENVELOPE.findall(text.replace("\r\n", "\n")) if "*** Begin Patch" in text else ()
    return _sum([differing(one) for one in found])


def differing(diff: str) -> Lines:
    """The lines of a diff that begin with a plus or a minus."""
    lines = [line for line in diff.splitlines() if not line.startswith(("+++ ", "--- "))]
    plus = sum(line.startswith("+") for line in lines)
    return Lines(plus, sum(line.startswith("-") for line in lines))


def replaced(text: str) -> Lines:
    """The lines of every SEARCH/REPLACE block in a text."""
    return _sum([changed(old, new) for old, new in _blocks(text)])


def _blocks(text: str) -> Iterator[tuple[str, str]]:
    """What each block looks for, and what it puts there; each mark of a text is looked at once."""
    old, begun, wanted = "", 0, "search"
    for mark in _MARK.finditer(text):
        if (mark.lastgroup or "replace") != wanted:
            continue  # a line of what stands there
        if wanted == "divide":
            old = text[begun : mark.start()]
        elif wanted == "replace":
            yield old, text[begun : mark.start()]
        begun, wanted = mark.end(), _NEXT[wanted]


def _edits(fields: dict[str, Any]) -> list[dict[str, Any]]:
    """The replacements of an edit: one, or a list of them."""
    listed = fields.get("edits")
    if not isinstance(listed, list):
        return [fields]
    each = cast("list[object]", listed)
    return [cast("dict[str, Any]", one) for one in each if isinstance(one, dict)]


def _edited(fields: dict[str, Any]) -> Lines:
    return changed(text_of(fields, _OLD), text_of(fields, _NEW))


def _texts(fields: dict[str, Any]) -> list[str]:
    """The texts of a command's input, those in a list of words too."""
    found: list[str] = []
    for value in fields.values():
        each = cast("list[object]", value) if isinstance(value, list) else [value]
        found += [one for one in each if isinstance(one, str)]
    return found


def _sum(each: list[Lines]) -> Lines:
    return Lines(sum(one.added for one in each), sum(one.removed for one in each))


LONG: Final = 2_000
"""So many differing lines are compared in order; more are only matched with one another."""

_TOLD: Final = re.compile(r"\+(\d{1,9}) -(\d{1,9}) lines\)?\s*\Z")


class Lines(NamedTuple):
    """What a change does to a text."""

    added: int = 0
    removed: int = 0

    def __str__(self) -> str:
        return f"+{self.added} -{self.removed} lines"


def changed(before: str, after: str) -> Lines:
    """The lines that come and go between two states of a text."""
    old, new = between(before.splitlines(), after.splitlines())
    same = _in_order(old, new) if max(len(old), len(new)) <= LONG else _at_all(old, new)
    return Lines(len(new) - same, len(old) - same)


def told_in(answer: str) -> Lines:
    """The lines that a tool's answer says it changed; none where it says nothing of them."""
    found = _TOLD.search(answer[-40:])
    return Lines(int(found[1]), int(found[2])) if found else Lines()


def between(old: list[str], new: list[str]) -> tuple[list[str], list[str]]:
    """Both sides without what they begin and end with alike."""
    first, most = 0, min(len(old), len(new))
    while first < most and old[first] == new[first]:
        first += 1
    last = 0
    while last < most - first and old[-1 - last] == new[-1 - last]:
        last += 1
    return old[first : len(old) - last], new[first : len(new) - last]


def _in_order(old: list[str], new: list[str]) -> int:
    blocks = SequenceMatcher(None, old, new, autojunk=False).get_matching_blocks()
    return sum(block.size for block in blocks)


def _at_all(old: list[str], new: list[str]) -> int:
    return (Counter(old) & Counter(new)).total()
