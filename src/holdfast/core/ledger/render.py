"""The ledger as text, within a budget: what matters most comes first, and what is left out is told.

Rule 1: the same ledger and budget give the same text, and it never takes more than the budget.
Rule 2: sections are filled in the order of SECTIONS, each from its newest item; within a section
        items stand in the order of the log.
Rule 3: what is only inferred says so, in words; by which rule, the ledger itself tells.
Rule 4: each item ends with the place it comes from, `#seq`, so that it can be recalled.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Final

from holdfast.core.ledger.build import current
from holdfast.core.tokens.estimate import estimate
from holdfast.model.ledger import Command, File, Ledger, Plan, Problem, Request, Wish

Line = tuple[int, str]
"""Where an item comes from, and how it is told."""

SHARE: Final = 4
"""No item takes more than this part of the budget: a longer one is cut, and says so."""


def render(known: Ledger, budget: int) -> str:
    """The ledger in at most `budget` tokens."""
    found = current(known)
    chosen: list[tuple[str, list[Line]]] = []
    left: dict[str, int] = {}
    room = budget - _SHORTEST
    for title, lines in sections(found):
        told, room = _fill(title, lines, room, budget // SHARE)
        if told[0]:
            chosen.append((title, told[0]))
        if out := told[1] + folded(found, title):
            left[title] = out
    if known.since and chosen:
        left[f"entries before #{known.since}, not gathered yet,"] = known.since - 1
    return _fitted(chosen, left, budget)


def sections(known: Ledger) -> Iterator[tuple[str, list[Line]]]:
    """Every section that has something to tell, with all of its items in the order of the log."""
    for title, lines in SECTIONS:
        found = sorted(lines(known), key=lambda line: line[0])
        if found or folded(known, title):
            yield title, found


def folded(known: Ledger, title: str) -> int:
    """How many items of a section are only counted any more: they are older than all it has."""
    tally = known.earlier.folded.get(title)
    return tally.count if tally else 0


def _fill(
    title: str, lines: list[Line], room: int, most: int
) -> tuple[tuple[list[Line], int], int]:
    """The newest items that fit, how many do not, and the room that is left."""
    room -= estimate(f"{title}:\n") + 1 if lines else 0
    taken: list[Line] = []
    for place in range(len(lines) - 1, -1, -1):
        seq, text = lines[place]
        told = f"- {_cut(text, most)} #{seq}"
        cost = estimate(told) + 1
        if cost > room:
            return (taken[::-1], place + 1), room
        taken.append((seq, told))
        room -= cost
    return (taken[::-1], 0), room


def _cut(text: str, most: int) -> str:
    """A text of at most so many tokens, line breaks indented."""
    text = text.replace("\n", "\n  ")
    if estimate(text) <= most:
        return text
    keep = len(text)
    while keep > 0 and estimate(text[:keep]) > most:
        keep = keep * 3 // 4
    return f"{text[:keep]} … {len(text) - keep} characters more"


def _fitted(chosen: list[tuple[str, list[Line]]], left: dict[str, int], budget: int) -> str:
    """The text, with items taken away from its end until it fits."""
    while True:
        body = ["\n".join([f"{title}:", *(told for _, told in lines)]) for title, lines in chosen]
        for tail in _tails(left):
            text = "\n".join(filter(None, (*body, tail)))
            if estimate(text) <= budget:
                return text
        if not chosen:
            return ""
        title, lines = chosen[-1]
        left[title] = left.get(title, 0) + 1
        chosen[-1] = (title, lines[1:])
        chosen = [section for section in chosen if section[1]]


def _tails(left: dict[str, int]) -> tuple[str, ...]:
    """How to say what was left out: section by section where there is room, or as one number."""
    if not left:
        return ("",)
    told = ", ".join(f"{title.lower()} {number}" for title, number in left.items())
    return f"Left out: {told}.", f"Left out: {sum(left.values())} items."


_SHORTEST: Final = estimate("\nLeft out: 99999 items.")


def _requests(*statuses: str) -> Callable[[Ledger], Iterable[Line]]:
    def lines(known: Ledger) -> Iterable[Line]:
        return ((one.seq, _request(one)) for one in known.requests if _stands(one) in statuses)

    return lines


def _stands(request: Request) -> str:
    return "answered" if request.fate else request.status


def _request(request: Request) -> str:
    fate = f" ({request.fate}, as later words suggest)" if request.fate else ""
    return f"{request.text.strip()}{fate}"


def _wishes(wishes: Iterable[Wish]) -> Iterable[Line]:
    return ((one.seq, f"{one.text} (as the words suggest)") for one in wishes)


def _files(known: Ledger, *, changed: bool) -> Iterable[Line]:
    found = (one for one in known.files.values() if (one.change != "none") == changed)
    return ((one.seq, _file(one)) for one in found)


def _file(file: File) -> str:
    state = [] if file.change == "none" else [file.change]
    state += [f"{file.lines} lines"] if file.lines is not None else []
    state += [f"sha256 {file.hash[:12]}"] if file.hash else []
    state += [_SUGGESTED.get(file.inferred, "as it seems")] if file.inferred else []
    return f"{file.path} ({', '.join(state)})" if state else file.path


_SUGGESTED: Final = {
    "shell-verb": "as a command suggests",
    "patch-in-command": "as a command suggests",
    "patch-in-script": "as a script suggests",
    "search-replace": "as a reply suggests",
    "no-result": "no result came",
}
"""From what a file's state is inferred, in words."""


_FAILING: Final = ("failed", "refused", "interrupted")
"""How a command ends that has not done what it was to do."""


def _commands(known: Ledger, *, failing: bool) -> Iterable[Line]:
    last = {one.line: one for one in known.commands}
    found = (one for one in last.values() if (one.outcome in _FAILING) == failing)
    return ((one.seq, _command(one)) for one in found)


def _command(command: Command) -> str:
    if command.outcome == "running":
        return f"{command.line.strip()} → running"
    status = "unknown" if command.exit is None else str(command.exit)
    return f"{command.line.strip()} → {command.outcome}, exit {status}"


def _problems(known: Ledger) -> Iterable[Line]:
    return ((one.seq, _problem(one)) for one in known.problems if not one.resolved)


def _problem(problem: Problem) -> str:
    return f"{problem.tool} {problem.subject.strip()[:100]}: {problem.text}"


def _plan(plans: tuple[Plan, ...]) -> Iterable[Line]:
    return (
        ((plans[-1].seq, f"[{one.progress}] {one.text}") for one in plans[-1].steps)
        if plans
        else ()
    )


def _work(known: Ledger) -> Iterable[Line]:
    return ((one.seq, one.title) for one in known.subtasks if one.outcome == "running")


def _identifiers(known: Ledger) -> Iterable[Line]:
    return ((one.seq, one.text) for one in known.identifiers.values())


SECTIONS: Final[tuple[tuple[str, Callable[[Ledger], Iterable[Line]]], ...]] = (
    ("Open requests", _requests("open")),
    ("Interrupted requests", _requests("interrupted")),
    ("Constraints", lambda known: _wishes(known.constraints)),
    ("Corrections", lambda known: _wishes(known.corrections)),
    ("Files changed", lambda known: _files(known, changed=True)),
    ("Commands that failed", lambda known: _commands(known, failing=True)),
    ("Plan", lambda known: _plan(known.plans)),
    ("Subtasks running", _work),
    ("Problems not resolved", _problems),
    ("Decisions", lambda known: ((one.seq, one.text) for one in known.decisions)),
    ("Requests answered", _requests("answered")),
    ("Files read", lambda known: _files(known, changed=False)),
    ("Commands", lambda known: _commands(known, failing=False)),
    ("Identifiers", _identifiers),
)
"""The sections, the most important first."""
