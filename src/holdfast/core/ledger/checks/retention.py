"""What becomes of each item of a ledger in a summary: retained, recoverable, missing or changed.

Rule 1: an item is changed where the summary contradicts it; that comes before everything else.
Rule 2: it is retained where its entry stays visible, or the summary says it, in its own words or in
        enough of them.
Rule 3: it is recoverable where the summary names its entry: `#12`, `#3–#40`, or the entry's id.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from msgspec import Struct

from holdfast.core.ledger.build import current
from holdfast.core.ledger.checks.matching import plain, share, stems
from holdfast.core.ledger.checks.objections import objections
from holdfast.model.ledger import Ledger, Objection, Report, Retention, State
from holdfast.model.span import Span, Spans, normal, within

_HANDLE = re.compile(r"#(\d+)(?:\s*(?:–|-|—|to|\.\.)\s*#?(\d+))?")
_SAID = 0.6
"""The share of an item's words that counts as saying it."""


class _Item(Struct, frozen=True):
    kind: str
    seq: int
    text: str
    id: str = ""
    exact: bool = False
    """Whether other words would be another thing: a path, a command, a name."""


def retention(ledger: Ledger, text: str, visible: Spans = (), covered: str = "") -> Report:
    """What became of every item, where `visible` stays word for word beside the summary."""
    known = current(ledger)
    against = objections(ledger, text, covered, visible)
    named = normal(Span(int(a), int(b or a)) for a, b in _HANDLE.findall(text))
    words, whole = stems(text), plain(text)

    def state(item: _Item) -> tuple[State, str]:
        if why := _contradicted(item, against):
            return "changed", why
        if within(item.seq, visible):
            return "retained", "its entry stays visible"
        if _said(item, whole, words):
            return "retained", ""
        if within(item.seq, named) or (item.id and item.id in text):
            return "recoverable", "its entry is named"
        return "missing", ""

    return Report(items=tuple(_told(item, state) for item in _items(known)))


def _told(item: _Item, state: Callable[[_Item], tuple[State, str]]) -> Retention:
    found, why = state(item)
    return Retention(kind=item.kind, seq=item.seq, text=item.text, state=found, why=why)


def _said(item: _Item, whole: str, words: frozenset[str]) -> bool:
    text = plain(item.text)
    if _stands_in(text, whole):
        return True
    if item.kind == "file":
        ends = text.replace("\\", "/").split("/")
        return any(_stands_in("/".join(ends[place:]), whole) for place in range(1, len(ends)))
    wanted = stems(text)
    numbers = {stem for stem in wanted if stem.isdigit()}  # 19 is no other way of saying 1
    return not item.exact and numbers <= words and share(wanted, words) >= _SAID


def _stands_in(text: str, whole: str) -> bool:
    """Whether a text stands in another as itself, and not as the beginning of a longer name."""
    if text not in whole:
        return False
    if not (text[:1].isalnum() or text[-1:].isalnum()):
        return True
    before = r"(?<![\w])" if text[:1].isalnum() or text[:1] == "_" else ""
    behind = r"(?![\w])" if text[-1:].isalnum() or text[-1:] == "_" else ""
    return re.search(f"{before}{re.escape(text)}{behind}", whole) is not None


def _contradicted(item: _Item, against: list[Objection]) -> str:
    """The objection that is about this item."""
    for one in against:
        about_command = item.kind == "command" and one.rule == "status"
        about_file = item.kind == "file" and one.rule in ("file-state", "renamed-file")
        if (about_command or about_file) and plain(item.text) in one.why:
            return one.why
    return ""


def _items(known: Ledger) -> Iterator[_Item]:
    for request in known.requests:
        yield _Item("request", request.seq, request.text, request.id)
    for one in known.constraints:
        yield _Item("constraint", one.seq, one.text)
    for one in known.corrections:
        yield _Item("correction", one.seq, one.text)
    for file in known.files.values():
        yield _Item("file", file.seq, file.path, exact=True)
    for command in {one.line: one for one in known.commands}.values():
        yield _Item("command", command.seq, command.line, exact=True)
    yield from _rest(known)


def _rest(known: Ledger) -> Iterator[_Item]:
    unresolved = (one for one in known.problems if not one.resolved)
    yield from (_Item("problem", one.seq, one.text) for one in unresolved)
    steps = ((plan.seq, step) for plan in known.plans[-1:] for step in plan.steps)
    yield from (_Item("todo", seq, step.text) for seq, step in steps)
    running = (one for one in known.subtasks if one.outcome == "running")
    yield from (_Item("subtask", one.seq, one.title) for one in running)
    yield from (_Item("decision", one.seq, one.text) for one in known.decisions)
    names = known.identifiers.values()
    yield from (_Item("identifier", one.seq, one.text, exact=True) for one in names)
