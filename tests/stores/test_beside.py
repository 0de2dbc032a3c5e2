"""What stands beside the log of a session: jobs, what calls were given, and places of entries."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from holdfast.engine.client import drive
from holdfast.errors import Corrupt, InvalidRequest
from holdfast.model.log import Damaged, PartRef
from holdfast.model.span import EVERYTHING, Span
from holdfast.model.store import Finding
from holdfast.stores.health.repair import REMOVE
from holdfast.stores.sql.keys import place
from holdfast.stores.sqlite.store import SqliteStore
from holdfast.testing.factories import append, read_all, start
from tests.stores.damage import furnish

MOST_ENTRIES = 536_870_911
"""What is promised, in numbers: these tests stand at its edges."""


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqliteStore]:
    store = SqliteStore.open(tmp_path / "log.db")
    yield store
    store.close()


def hurt(store: SqliteStore, sql: str) -> None:
    with store.db.writing():
        store.db.run(sql)


@pytest.mark.parametrize("column", ["key", "outcome"])
def test_a_garbled_job_is_damage_and_nothing_else(store: SqliteStore, column: str) -> None:
    id = furnish(store)
    hurt(store, f"UPDATE jobs SET {column} = X'7B'")
    with pytest.raises(Corrupt, match="holdfast doctor"):
        drive(store.jobs.jobs(id))
    with pytest.raises(Corrupt, match="holdfast doctor"):
        drive(store.jobs.lease("summary", owner="me", now=10**15, until=10**16))


@pytest.mark.parametrize(
    ("sql", "kept"),
    [
        ("UPDATE jobs SET outcome = X'7BFF'", b"\x7b\xff"),
        ("UPDATE jobs SET key = 'text'", b"text"),
        ("UPDATE givens SET data = X'00FF00'", b"\x00\xff\x00"),
    ],
)
def test_what_cannot_be_read_beside_the_log_is_found_and_laid_by(
    store: SqliteStore, sql: str, kept: bytes
) -> None:
    id = furnish(store)
    hurt(store, sql)
    findings = drive(store.care.examine(id))
    assert len(findings) == 1
    assert drive(store.care.repair(findings)) == findings
    assert drive(store.care.repair(findings)) == ()
    assert drive(store.care.examine(id)) == ()
    last = read_all(store, id)[-1].body
    assert isinstance(last, Damaged)
    assert kept in last.data


def test_no_seq_is_another_sessions_entry(store: SqliteStore) -> None:
    id = start(store)
    append(store, id, "hello")
    for seq in (MOST_ENTRIES + 1, -1):
        with pytest.raises(InvalidRequest, match="no entry"):
            place(1, seq)
    beyond = (Span(MOST_ENTRIES + 1, MOST_ENTRIES + 5),)
    assert drive(store.log.read(id, beyond)) == ()
    assert drive(store.log.heads(id, beyond)) == ()
    drive(store.counts.tally(id, "o200k", {PartRef(2**40, 0): 1, PartRef(-1, 0): 1}))
    assert drive(store.counts.known(id, EVERYTHING, "o200k")) == {}
    assert drive(store.log.markers(id, before=2**62)) == ()


def test_what_a_backup_that_was_cut_short_left_is_found_and_removed(store: SqliteStore) -> None:
    kept = Path(drive(store.care.backup()))
    old, young = (kept.with_name(f".holdfast-{age}.db") for age in ("old", "young"))
    for path in (old, young):
        path.touch(0o600)
    os.utime(old, (0, 0))
    findings = drive(store.care.examine())
    assert [(one.area, one.where, one.mend) for one in findings] == [("files", str(old), REMOVE)]
    other = Finding(area="files", what="", where=str(kept), mend=REMOVE)
    assert drive(store.care.repair((*findings, other))) == findings
    assert drive(store.care.examine()) == ()
    assert (old.exists(), young.exists(), kept.exists()) == (False, True, True)
