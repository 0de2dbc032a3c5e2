"""A line of entries through sessions and those they were forked from, in damaged stores."""

from __future__ import annotations

from pathlib import Path

import apsw
import pytest

from holdfast.engine.client import drive
from holdfast.errors import Corrupt
from holdfast.model.span import EVERYTHING
from holdfast.stores.sqlite.store import SqliteStore
from holdfast.testing.factories import append, read_all, start


@pytest.mark.parametrize("cycle", [{"a": "a"}, {"a": "b"}, {"a": "c"}], ids=["itself", "2", "3"])
def test_a_session_that_is_its_own_ancestor_is_an_error_and_no_endless_loop(
    tmp_path: Path, cycle: dict[str, str]
) -> None:
    path = tmp_path / "store.db"
    store = SqliteStore.open(path)
    start(store, "a")
    append(store, "a", "one")
    for child, parent in (("b", "a"), ("c", "b")):
        start(store, child, parent=parent, fork=1)
    assert len(read_all(store, "c")) == 1
    store.close()
    with apsw.Connection(str(path)) as raw:
        for child, parent in cycle.items():
            raw.execute(
                "UPDATE sessions SET fork = 1, parent = (SELECT n FROM sessions WHERE id = ?) "
                "WHERE id = ?", (parent, child),
            )  # fmt: skip
    raw.close()
    again = SqliteStore.open(path)
    for id in "abc":
        with pytest.raises(Corrupt, match="its own ancestor"):
            drive(again.log.read(id, EVERYTHING))
    again.close()


def test_a_fork_whose_parent_is_gone_says_so(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    store = SqliteStore.open(path)
    start(store, "a")
    append(store, "a", "one")
    start(store, "b", parent="a", fork=1)
    store.close()
    with apsw.Connection(str(path)) as raw:
        raw.execute("PRAGMA foreign_keys = OFF")
        raw.execute("DELETE FROM sessions WHERE id = 'a'")
    raw.close()
    again = SqliteStore.open(path)
    with pytest.raises(Corrupt, match="forked from is gone"):
        drive(again.log.read("b", EVERYTHING))
    again.close()
