"""What a long conversation left: everything once, nothing lost, every rule still followed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from msgspec import Struct

import holdfast
from holdfast.engine.client import Session
from holdfast.model.log import Clear, Entry, Summary
from holdfast.model.message import Message
from tests.long.player import JOURNAL
from tests.long.story import BUILD, CODES, HERON, REPORT, TAG, ZEBRA, Turn


class Verdict(Struct, frozen=True, kw_only=True):
    """What was found."""

    compactions: Counter[str]
    followed: dict[str, bool]
    wrong: tuple[str, ...]


def judge(
    store: Path, work: Path, turns: Sequence[Turn], kept: Sequence[int], done: Mapping[int, str]
) -> Verdict:
    """Look at the log and at the files."""
    with holdfast.open(store) as hf:
        found = list(hf.every_session())
        if len(found) != 1:
            told = f"there are {len(found)} sessions"
            return Verdict(compactions=Counter(), followed={}, wrong=(told,))
        session = hf.session(found[0].id)
        entries = list(session.entries())
        wrong = [*_said(entries, turns, kept), *_answered(entries, done), *_states(session)]
        wrong += [f"examined: {finding}" for finding in hf.examine(session.id)]
    return Verdict(
        compactions=Counter(filter(None, map(_compaction, entries))),
        followed=followed(work, turns, done),
        wrong=(*wrong, *_twice(work)),
    )


def _compaction(entry: Entry) -> str:
    match entry.body:
        case Clear(step=step):
            return step
        case Summary(model=model, step=step):
            return f"{step} by model" if model else f"{step} without"
        case _:
            return ""


def _said(entries: Sequence[Entry], turns: Sequence[Turn], kept: Sequence[int]) -> Iterator[str]:
    texts = [e.body.text for e in entries if isinstance(e.body, Message) and e.body.role == "user"]
    told = [text for text in texts if text.startswith("turn ")]
    for turn in turns:
        many = told.count(turn.text)
        if many > 1 or (many == 0 and turn.number in kept):
            yield f"what was said at turn {turn.number} is there {many} times"
    if told != sorted(told, key=lambda text: int(text.split()[1].rstrip(":"))):
        yield "what was said is out of order"


def _answered(entries: Sequence[Entry], done: Mapping[int, str]) -> Iterator[str]:
    texts = {e.body.text for e in entries if isinstance(e.body, Message)}
    for number, text in done.items():
        if text not in texts:
            yield f"the answer to turn {number} was acknowledged and is lost"


def _states(session: Session) -> Iterator[str]:
    """Every call has a result, or is known to have been interrupted."""
    for call, state in session.tool_states().items():
        if state.state in ("pending", "running"):
            yield f"the call {call} is {state.state} for ever"


def _twice(work: Path) -> Iterator[str]:
    """A command leaves its name behind when it runs; once is enough."""
    file = work / JOURNAL
    for name, many in Counter(file.read_text().split() if file.exists() else ()).items():
        if many > 1:
            yield f"command {name} ran {many} times"


def followed(work: Path, turns: Sequence[Turn], done: Mapping[int, str]) -> dict[str, bool]:
    """Which of the things that were planted were still known when they were called for."""
    ends = {turn.calls_for: turn.number for turn in turns if turn.calls_for}
    checks = work / "checks.log"
    checked = checks.read_text() if checks.exists() else ""
    report = [str(one.relative_to(work)) for one in (work / "docs").rglob("*.md")]
    return {
        "prefix": begins(turns, done, ZEBRA, HERON),
        "legacy": (work / "legacy/parser.py").read_text() == "old = 1\n",
        "check": f"checked {ends['check']}\n" in checked,
        "report": report == [REPORT],
        "tag": TAG in done.get(ends["tag"], ""),
        "build": BUILD in done.get(ends["build"], ""),
        "codes": CODES in done.get(ends["codes"], ""),
    }


def begins(turns: Sequence[Turn], done: Mapping[int, str], first: str, then: str) -> bool:
    """Whether every answer began as it had to, from when that was said on."""
    wanted = ""
    for turn in turns:
        if f"begin every answer with {first}" in turn.text:
            wanted = first
        if f"begin every answer with {then}" in turn.text:
            wanted = then
        if not done.get(turn.number, "").startswith(wanted):
            return False
    return True
