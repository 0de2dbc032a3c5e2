"""Calls that were begun at one time are told in the order in which they were recorded."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

import holdfast
from holdfast.engine.bridge import drive
from holdfast.model.message import assistant
from holdfast.model.reply import Call, Usage
from tests.cli.running import run

MODELS = ("claude-sonnet-4-6", "gpt-5", "gemini-2.5-pro")
TIME = 1_790_000_000_000
TIMES = re.compile(r'"(begun|ended|updated|created)": \d+')


def told(store: str, order: list[int]) -> tuple[str, ...]:
    """What is said of a session whose calls share a time, the rows written in some order."""
    with holdfast.open(store) as hf:
        session = hf.session(title="one")
        for n in range(6):
            session.user(f"Mend wall {n}.")
            session.append(assistant("Done."))
        calls = [
            Call(
                id=f"c{n}", session=session.id, started=TIME, ended=TIME, model=MODELS[n % 3],
                usage=Usage(input=100, output=10), cost=1_000_000, outcome="done", head=n,
            )
            for n in range(6)
        ]  # fmt: skip
        for n in order:
            drive(hf.engine.store.calls.record(calls[n]))
        id = session.id
    words = (
        ("cost", "--session", id), ("cost", "--by", "model"), ("cost", "--by", "day"),
        ("stats",), ("stats", "--by", "model"), ("sessions", "--sort", "cost"),
    )  # fmt: skip
    said = [
        re.sub(
            r'"(begun|ended|updated|created)": \d+',
            "",
            run("--store", store, *one, "--json").stdout,
        )
        for one in words
    ]
    done = run("--store", store, "export", id, "--to", "portable")
    kept = [json.loads(line) for line in done.stdout.splitlines()]
    made = [call["id"] for one in kept for call in one.get("calls", ())]
    return tuple(one.replace(id, "ID") for one in (*said, " ".join(made)))


@pytest.mark.parametrize("order", [[5, 4, 3, 2, 1, 0], [3, 0, 5, 1, 4, 2]])
def test_sums_of_calls_at_one_time_do_not_hang_on_their_order(
    order: list[int], tmp_path: Path
) -> None:
    *first, listed = told(str(tmp_path / "a.db"), list(range(6)))
    *again, same = told(str(tmp_path / "b.db"), list(range(6)))
    *other, turned = told(str(tmp_path / "c.db"), order)
    assert first == again == other
    assert listed == same == "c0 c1 c2 c3 c4 c5"
    assert turned == " ".join(f"c{n}" for n in order)
