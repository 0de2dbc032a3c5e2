"""What keeps a ledger small: the oldest items of each section fold into a count.

Rule 1: a ledger weighs at most MOST. Beyond that each section keeps its newest items, as many as
        its share allows, and the others are counted with the entries they are to be read in.
Rule 2: what still counts has the largest shares: open requests, constraints, corrections, files.
        An item that is itself too long is cut, and names its entry, which has it word for word.
Rule 3: what is folded is decided: up to `earlier.upto` it is settled which words a rewind has left
        behind. A rewind, undo or redo that reaches further back is carried out by reading the log
        again (rewinds.py).
Rule 4: folding depends on the entries alone, so that one path to a ledger gives what another does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import islice
from typing import Any, Final, TypeVar

from msgspec.structs import replace

from holdfast.core.ledger.visible import as_seen, visible
from holdfast.model import wire
from holdfast.model.ledger import Command, File, Ledger, Problem, Request, Tally
from holdfast.model.span import Spans, within

MOST: Final = 450_000
"""So many bytes of items are folded; what is left of them takes about half."""
FRESH: Final = 4
"""The newest of so many equal parts of the requests is left unsettled, to be rewound cheaply."""
ITEM: Final = 4_000
"""A longer item is cut."""
HEAD: Final = 1_000
"""What is left of an item that was cut, in characters."""
TURNBACKS: Final = 256
"""So many rewinds are remembered one by one."""

OPEN, INTERRUPTED, ANSWERED = "Open requests", "Interrupted requests", "Requests answered"
CONSTRAINTS, CORRECTIONS = "Constraints", "Corrections"
CHANGED, READ = "Files changed", "Files read"
FAILED, COMMANDS = "Commands that failed", "Commands"
PROBLEMS, RESOLVED = "Problems not resolved", "Problems resolved"
PLANS, RUNNING, SUBTASKS, DECISIONS = "Plan", "Subtasks running", "Subtasks", "Decisions"

SHARES: Final[dict[str, int]] = {
    OPEN: 48_000,
    CONSTRAINTS: 32_000,
    CORRECTIONS: 16_000,
    ANSWERED: 20_000,
    INTERRUPTED: 12_000,
    CHANGED: 48_000,
    READ: 16_000,
    FAILED: 12_000,
    COMMANDS: 16_000,
    PROBLEMS: 12_000,
    RESOLVED: 4_000,
    PLANS: 8_000,
    RUNNING: 6_000,
    SUBTASKS: 4_000,
    DECISIONS: 8_000,
}
"""How many bytes of each section stay when it is folded."""
WORDS: Final = frozenset({OPEN, INTERRUPTED, ANSWERED, CONSTRAINTS, CORRECTIONS, PLANS, DECISIONS})
"""The sections that a rewind takes back."""

LISTS: Final = (
    "requests", "constraints", "corrections", "commands", "problems", "plans", "subtasks",
    "decisions",
)  # fmt: skip

T = TypeVar("T")


def bounded(before: Ledger, now: Ledger) -> Ledger:
    """A ledger with one more entry in it, folded where it has become too heavy."""
    added = _grown(before, now)
    if added:
        now = replace(now, weight=now.weight + added)
    if now.weight <= MOST and len(now.turnbacks) <= TURNBACKS:
        return now
    fresh = now.requests[-(len(now.requests) // FRESH) :] if len(now.requests) >= FRESH else ()
    folded = settled(now, fresh[0].seq - 1) if fresh else now
    if folded.weight > MOST * 3 // 4 or len(folded.turnbacks) > TURNBACKS // 2 or not fresh:
        folded = settled(now, now.seq)
    return folded


def weighed(ledger: Ledger) -> Ledger:
    """A ledger that says how heavy it is; one that was frozen before there were bounds does not."""
    return bounded(Ledger(), ledger) if not ledger.weight else ledger


def status_title(request: Request) -> str:
    """The section a request is told in."""
    if request.fate:
        return ANSWERED
    return {"open": OPEN, "interrupted": INTERRUPTED}.get(request.status, ANSWERED)


def command_title(command: Command) -> str:
    """The section a command is told in."""
    return COMMANDS if command.outcome in ("succeeded", "unknown") else FAILED


def file_title(file: File) -> str:
    """The section a file is told in."""
    return READ if file.change == "none" else CHANGED


def _grown(before: Ledger, now: Ledger) -> int:
    """How many bytes the items take that an entry has added."""
    added = 0
    for name in LISTS:
        old, new = getattr(before, name), getattr(now, name)
        if new is not old and len(new) > len(old):
            added += sum(map(_size, new[len(old) :]))
    if now.files is not before.files and (many := len(now.files) - len(before.files)) > 0:
        added += sum(map(_size, islice(reversed(now.files.values()), many)))
    return added


def _size(item: Any) -> int:
    return len(wire.encode(item)) + 60  # what is known of it later: how it ended


def settled(ledger: Ledger, upto: int) -> Ledger:
    """The ledger with what is known up to an entry folded into the shares of its sections."""
    folding = _Folding(ledger, upto)
    made = replace(
        ledger,
        requests=folding.words(ledger.requests, status_title, _shorter_text),
        constraints=folding.words(ledger.constraints, lambda _: CONSTRAINTS, _shorter_text),
        corrections=folding.words(ledger.corrections, lambda _: CORRECTIONS, _shorter_text),
        plans=folding.words(ledger.plans, lambda _: PLANS, _shorter_plan),
        decisions=folding.words(ledger.decisions, lambda _: DECISIONS, _shorter_text),
        commands=folding.kept(ledger.commands, command_title, _shorter_line),
        problems=folding.kept(ledger.problems, _problem_title, _shorter_problem),
        subtasks=folding.kept(
            ledger.subtasks,
            lambda one: RUNNING if one.outcome == "running" else SUBTASKS,
            _shorter_title,
        ),
        files=_files(ledger, folding),
        turnbacks=tuple(mark for mark in ledger.turnbacks if mark.seq > upto),
        earlier=replace(
            ledger.earlier, upto=max(upto, ledger.earlier.upto), folded=folding.counted
        ),
        weight=0,
    )
    return replace(made, weight=_grown(Ledger(), made))


class _Folding:
    """What is folded out of one ledger."""

    def __init__(self, ledger: Ledger, upto: int) -> None:
        self.counted = dict(ledger.earlier.folded)
        self._upto = upto
        self._seen: Spans | None = visible(ledger) if ledger.turnbacks else None

    def words(
        self, items: Sequence[T], title: Callable[[Any], str], shorter: Callable[[Any], Any]
    ) -> tuple[T, ...]:
        """The words that stay. What a rewind has left behind is none, once that is settled."""
        counting = [one for one in items if self._counts(one)]
        return self.kept([self._as_seen(one) for one in counting], title, shorter)

    def kept(
        self, items: Iterable[Any], title: Callable[[Any], str], shorter: Callable[[Any], Any]
    ) -> tuple[Any, ...]:
        """The items that stay, in order: of each section the newest that its share has room for."""
        left, stay = dict(SHARES), list[Any]()
        for item in reversed(list(items)):
            section = title(item)
            if not self._is_settled(item):
                stay.append(item)
                left[section] -= _size(item)
                continue
            item = shorter(item) if _size(item) > ITEM else item
            if (room := left[section] - _size(item)) >= 0:
                stay.append(item)
                left[section] = room
            else:
                left[section] = 0  # nothing older stays, so that what is counted is one stretch
                self._count(section, item.seq)
        return tuple(reversed(stay))

    def _counts(self, item: Any) -> bool:
        return self._seen is None or item.seq > self._upto or within(item.seq, self._seen)

    def _is_settled(self, item: Any) -> bool:
        """Whether nothing that may still be rewound has to do with it."""
        ends = (item.ended, item.fated) if isinstance(item, Request) else ()
        return max(item.seq, *ends, 0) <= self._upto

    def _as_seen(self, item: T) -> T:
        if self._seen is None or not isinstance(item, Request) or not self._is_settled(item):
            return item
        return as_seen(item, self._seen)

    def _count(self, section: str, seq: int) -> None:
        before = self.counted.get(section) or Tally(0, seq, seq)
        self.counted[section] = Tally(
            before.count + 1, min(before.first, seq), max(before.last, seq)
        )


def _files(ledger: Ledger, folding: _Folding) -> dict[str, File]:
    """The files that stay, in the order they were first touched in."""
    newest = sorted(ledger.files.values(), key=lambda one: one.seq)
    stay = {one.path for one in folding.kept(newest, file_title, lambda one: one)}
    return {path: one for path, one in ledger.files.items() if path in stay}


def _problem_title(problem: Problem) -> str:
    return RESOLVED if problem.resolved else PROBLEMS


def _cut(text: str, seq: int, most: int = HEAD) -> str:
    if len(text) <= most:
        return text
    return f"{text[:most]} … {len(text) - most} characters more in #{seq}"


def _shorter_text(item: Any) -> Any:
    return replace(item, text=_cut(item.text, item.seq))


def _shorter_line(item: Any) -> Any:
    return replace(item, line=_cut(item.line, item.seq))


def _shorter_title(item: Any) -> Any:
    return replace(item, title=_cut(item.title, item.seq))


def _shorter_problem(item: Any) -> Any:
    return replace(item, subject=_cut(item.subject, item.seq))


def _shorter_plan(item: Any) -> Any:
    """A plan of very many steps, or of very long ones."""
    steps = [replace(step, text=_cut(step.text, item.seq, 200)) for step in item.steps[:60]]
    return replace(item, steps=tuple(steps))
