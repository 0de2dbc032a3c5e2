"""The ledger of a log, entry by entry.

Rule 1: `ledger(log + [e]) == step(ledger(log), e)` for every entry: the ledger holds all it needs.
        Only a rewind, undo or redo that reaches behind what is settled reads the log again.
Rule 2: only messages tell facts. A summary is no fact, whoever wrote it and in whatever role.
Rule 3: a rewind changes which words count (`current`), not what was done to files or run.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import reduce

from msgspec.structs import replace

from holdfast.core.ledger import requests
from holdfast.core.ledger.bounds import bounded
from holdfast.core.ledger.facts import effort, files, identifiers, todos, tool_effects
from holdfast.core.ledger.facts.files import patched, replaced
from holdfast.core.ledger.rewinds import may_reach_back, reach, rejoined, turnback
from holdfast.core.ledger.visible import current as current
from holdfast.core.ledger.wishes.recognise import wishes
from holdfast.model.ledger import Ledger, Turnback, Work
from holdfast.model.log import Entry
from holdfast.model.message import Message, Patch, Subtask, Text, ToolCall, ToolResult
from holdfast.model.span import Spans, within

EMPTY = Ledger()
_APPLIED = re.compile(r"^Applied edit to (\S(?:[^\n]*\S)?)[ \t]*$", re.MULTILINE)
_SYNTHETIC = "<synthetic>"
"""The model that a harness names for messages it wrote itself."""


def ledger(entries: Iterable[Entry]) -> Ledger:
    """The facts of these entries, all of a log's in order."""
    known, read = EMPTY, list[Entry]()
    for entry in entries:
        if may_reach_back(known, entry) and (marks := _marks(read, entry)):
            reaching = reach(marks)
            words = ledger(read[: reaching.base])
            words = reduce(step, _said_in(read, reaching.spans), words)
            known = rejoined(known, words, entry)
        else:
            known = step(known, entry)
        read.append(entry)
    return known


def _marks(read: Sequence[Entry], entry: Entry) -> list[Turnback]:
    """Every rewind, and undo or redo of one, an entry included; none where it is not one itself."""
    marks, rewinds = list[Turnback](), set[int]()
    for one in (*read, entry):
        mark = turnback(one)
        if mark and (mark.kind == "rewind" or mark.target in rewinds):
            rewinds |= {mark.seq} if mark.kind == "rewind" else set()
            marks.append(mark)
    return marks if marks and marks[-1].seq == entry.seq else []


def _said_in(entries: Sequence[Entry], spans: Spans) -> list[Entry]:
    return [one for one in entries if one.is_message and within(one.seq, spans)]


def step(known: Ledger, entry: Entry) -> Ledger:
    """The facts with one more entry, unless it reaches behind what is settled (rewinds.py)."""
    body = entry.body
    now = known
    if isinstance(body, Message):
        now = _SAID[body.role](known, entry, body) if body.role in _SAID else known
    elif mark := turnback(entry):
        rewinds = (one.seq for one in known.turnbacks if one.kind == "rewind")
        if mark.kind == "rewind" or mark.target in rewinds:
            now = _turn_back(known, mark)
    effort_now = effort.since(now.effort, entry.created)
    return bounded(known, replace(now, seq=entry.seq, effort=effort_now))


def _turn_back(known: Ledger, mark: Turnback) -> Ledger:
    known = tool_effects.left_behind(known, mark.seq)
    return replace(known, turnbacks=(*known.turnbacks, mark), cut=False)


def _user(known: Ledger, entry: Entry, message: Message) -> Ledger:
    known = _results(known, entry, message)
    imported = bool(entry.native)
    text = requests.said(message, imported=imported)
    if requests.is_cut(message, imported=imported):
        known = requests.end(tool_effects.left_behind(known, entry.seq), entry, "interrupted")
    for part in message.parts:
        if isinstance(part, Text) and part.scaffold and imported:
            known = _shown(known, entry.seq, part.text)
        noticed = isinstance(part, Text) and "<task-notification>" in part.text
        if isinstance(part, Text) and noticed and (imported or part.scaffold):
            known = todos.noticed(known, entry.seq, part.text)
    return _request(known, entry, text) if text else known


def _shown(known: Ledger, seq: int, text: str) -> Ledger:
    """The files that a console says its program has edited."""
    for path in _APPLIED.findall(text):
        known = files.touch(known, seq, files.Touch(path=path, change="written"))
    return known


def _request(known: Ledger, entry: Entry, text: str) -> Ledger:
    if known.pending or known.cut:
        known = requests.end(tool_effects.left_behind(known, entry.seq), entry, "interrupted")
    begun = bool(known.requests) or bool(known.earlier.upto)
    prose = requests.prose(text, imported=bool(entry.native))
    known = requests.ask(known, entry, text)
    known = replace(
        known,
        constraints=(*known.constraints, *wishes(entry.seq, prose, "constraint", begun=begun)),
        corrections=(*known.corrections, *wishes(entry.seq, prose, "correction", begun=begun)),
    )
    known = todos.marked(known, entry.seq, prose)
    return identifiers.note(known, entry.seq, prose)


def _assistant(known: Ledger, entry: Entry, message: Message) -> Ledger:
    known = _results(tool_effects.left_behind(known, entry.seq), entry, message)
    for part in message.parts:
        if isinstance(part, ToolCall):
            known = tool_effects.asked(known, entry.seq, part)
        elif isinstance(part, Text) and not part.scaffold:
            known = _prose(known, entry.seq, part.text)
        elif isinstance(part, Patch):
            known = _changed(known, entry.seq, part)
        elif isinstance(part, Subtask):
            known = _subtask(known, entry.seq, part)
    known = replace(known, cut=entry.completed is None)
    return requests.end(known, entry, "answered") if _final(entry, message) else known


def _final(entry: Entry, message: Message) -> bool:
    """Whether a reply ends its turn: finished, without tool calls, the model's own."""
    spoken = any(isinstance(part, Text) and part.text.strip() for part in message.parts)
    whole = entry.completed is not None and entry.model != _SYNTHETIC
    return whole and spoken and not message.calls


def _prose(known: Ledger, seq: int, text: str) -> Ledger:
    if "SEARCH" in text:
        known = effort.counted(known, effort.replaced(text))
        for found in replaced(text):
            known = files.touch(known, seq, found)
    return identifiers.note(todos.marked(known, seq, text), seq, text)


def _changed(known: Ledger, seq: int, part: Patch) -> Ledger:
    known = effort.counted(known, effort.differing(part.diff))
    told = {found.path: found for found in patched(part.diff)}
    for path in dict.fromkeys((*part.files, *told)):
        found = told.get(path) or _unnamed(path)
        known = files.touch(known, seq, found)
    return known


def _unnamed(path: str) -> files.Touch:
    return files.Touch(path=path, change="written", inferred="patch-part")


def _subtask(known: Ledger, seq: int, part: Subtask) -> Ledger:
    title = part.prompt or part.session
    work = Work(seq=seq, call=part.session, title=title, name=part.session)
    if part.result:
        work = replace(work, outcome="succeeded", ended=seq, inferred="came-back")
    others = tuple(one for one in known.subtasks if one.call != part.session)
    return replace(known, subtasks=(*others, work))


def _results(known: Ledger, entry: Entry, message: Message) -> Ledger:
    for part in message.parts:
        if isinstance(part, ToolResult):
            known = tool_effects.answered(known, entry.seq, part)
    return known


_SAID = {"user": _user, "assistant": _assistant, "tool": _results}
