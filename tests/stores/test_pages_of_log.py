"""Reading a long log on SQLite: a page holds what it says, whatever the parts are like."""

from __future__ import annotations

import tracemalloc
from pathlib import Path

from holdfast.engine.client import drive
from holdfast.model.message import Message, Text
from holdfast.model.span import EVERYTHING
from holdfast.stores.sqlite.store import SqliteStore
from holdfast.testing.factories import append, read_all, start

MOST_ROWS = 640
"""What is promised, in numbers: these tests stand at its edges."""


def test_a_page_of_many_parts_that_are_just_not_large_stays_small(tmp_path: Path) -> None:
    store = SqliteStore.open(tmp_path / "log.db")
    try:
        id = start(store)
        nine = Message("user", tuple(Text("x" * 32_000) for _ in range(9)))
        for _ in range(20):
            append(store, id, *[nine] * 20)
        tracemalloc.start()
        page = drive(store.log.read(id, EVERYTHING, limit=512))
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert 8 * 2**20 < sum(len(entry.body.text) for entry in page) < 9 * 2**20  # type: ignore[union-attr]
        assert most < 40 * 2**20
    finally:
        store.close()


def test_parts_that_are_read_in_several_goes_are_all_there(tmp_path: Path) -> None:
    store = SqliteStore.open(tmp_path / "log.db")
    try:
        id = start(store)
        sizes = [MOST_ROWS - 1, 1, MOST_ROWS, 3, MOST_ROWS * 2 + 1, 0, 7]
        bodies = [Message("user", tuple(Text(f"{n}") for n in range(many))) for many in sizes]
        made = append(store, id, *bodies)
        assert read_all(store, id) == made
    finally:
        store.close()
