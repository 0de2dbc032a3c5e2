"""A session that was compacted over and over is read in a time that grows with its length alone."""

from __future__ import annotations

import random
import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

import holdfast
from holdfast.core.log.fold import fold
from holdfast.core.log.incremental_fold import Standing
from holdfast.model.log import Clear, Entry, PartRef, Pin, Rewind, Summary
from holdfast.model.span import Span
from tests.importers.looking import bring
from tests.importers.writing import Transcript, text

FOLDING = (
    "core/log/fold.py",
    "core/log/incremental_fold.py",
    "core/extract",
    "engine/importing/session_import.py",
)


def begun() -> Transcript:
    told = Transcript()
    told.user("Begin.")
    told.reply("msg_0", text("Yes."))
    return told


def boundary(told: Transcript) -> str:
    meta = {"trigger": "auto", "preTokens": 5}
    return told.add("system", subtype="compact_boundary", compactMetadata=meta, parent=None)


def summarised(many: int) -> Transcript:
    told = begun()
    for number in range(many):
        boundary(told)
        told.user(f"Summary {number}.", isCompactSummary=True)
    return told


def bare(many: int) -> Transcript:
    told = begun()
    for _ in range(many):
        boundary(told)
    return told


def left(many: int) -> Transcript:
    """Every summary is gone back behind."""
    told = begun()
    last = told.user("Go on from here.")
    for number in range(many):
        boundary(told)
        told.user(f"Summary {number}.", isCompactSummary=True)
        told.user(f"Rather {number}.", parent=last)
    return told


def cleared(many: int) -> Transcript:
    told = begun()
    for number in range(many):
        call = {"type": "tool_use", "id": f"t{number}", "name": "Bash", "input": {}}
        told.reply(f"msg_c{number}", call)
        told.user([{"type": "tool_result", "tool_use_id": f"t{number}", "content": "done"}])
        meta = {"trigger": "auto", "compactedToolIds": [f"t{number}"]}
        told.add("system", subtype="microcompact_boundary", microcompactMetadata=meta)
    return told


def work(store: Path, path: Path) -> int:
    """How many lines are run of what folds, extracts and takes in."""
    lines = 0

    def seen(frame: FrameType, event: str, _: object) -> Any:
        return line if any(place in frame.f_code.co_filename for place in FOLDING) else None

    def line(frame: FrameType, event: str, _: object) -> Any:
        nonlocal lines
        lines += event == "line"
        return line

    before = sys.gettrace()
    with holdfast.open(store) as hf:
        sys.settrace(seen)
        try:
            bring(hf, path)
        finally:
            sys.settrace(before)
    return lines


@pytest.mark.parametrize("made", [summarised, bare, left, cleared])
def test_twice_as_many_compactions_are_twice_the_work(
    made: Callable[[int], Transcript], tmp_path: Path
) -> None:
    found = []
    for many in (100, 200):
        path = made(many).write(tmp_path / str(many))
        found.append(work(tmp_path / f"{many}.db", path))
    assert 0 < found[1] < found[0] * 2.3, found


def marker(seq: int, body: Summary | Clear | Rewind | Pin) -> Entry:
    return Entry(session="s", seq=seq, id=f"e{seq}", body=body, created=0)


def test_what_stands_is_what_all_the_markers_give() -> None:
    dice, standing = random.Random(7), Standing()
    for _ in range(60):
        log: list[Entry] = []
        for seq in range(2, 300, 2):
            log.append(marker(seq, some(dice, seq)))
            standing.follow(log)
            if dice.random() < 0.2:
                assert standing.state == fold(log)
        assert standing.state == fold(log)


def some(dice: random.Random, seq: int) -> Summary | Clear | Rewind | Pin:
    kind = dice.random()
    if kind < 0.3:
        return Summary(covers=(Span(1, seq - 1),), text="It was so.", kept=(max(seq - 3, 1),))
    if kind < 0.6:
        return Clear(parts=(PartRef(dice.randrange(1, seq), 0),), reason="old", step="clear")
    return Rewind(to=dice.randrange(seq)) if kind < 0.998 else Pin(fact="Mind this.")
