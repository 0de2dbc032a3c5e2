"""Examining, backing up and mending a store on SQLite."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import apsw
import pytest

from holdfast.engine.client import drive
from holdfast.errors import Corrupt, NotFound, Unavailable
from holdfast.model import wire
from holdfast.model.log import Damaged, Summary, Undo
from holdfast.model.message import Message, Opaque, Text
from holdfast.model.store import Finding
from holdfast.stores.health import repair
from holdfast.stores.health.raw_rows import content
from holdfast.stores.sql.keys import part_place, parts_of
from holdfast.stores.sql.keys import place as entry_place
from holdfast.stores.sql.rows import fingerprint
from holdfast.stores.sqlite.store import SqliteStore
from holdfast.testing.factories import append, read_all, session, start
from tests.stores.damage import at, furnish


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqliteStore]:
    store = SqliteStore.open(tmp_path / "store.db")
    yield store
    store.close()


def examine(store: SqliteStore) -> tuple[Finding, ...]:
    """What doctor sees: the store, then each session."""
    found = drive(store.care.examine())
    for (id,) in store.db.rows("SELECT id FROM sessions ORDER BY n"):
        found += drive(store.care.examine(id))
    return found


def mended(store: SqliteStore) -> tuple[Finding, ...]:
    """What repair mends, after which nothing is left to mend and mending again does nothing."""
    findings = examine(store)
    done = drive(store.care.repair(findings))
    assert drive(store.care.repair(findings)) == ()
    done += drive(store.care.repair(examine(store)))  # one mend may show another
    assert [one for one in examine(store) if one.mend] == []
    return done


def hurt(store: SqliteStore, sql: str, *values: object) -> None:
    with soft(store):
        store.db.run(sql, values)
        assert store.db.connection.changes(), "nothing was hurt"


@contextmanager
def soft(store: SqliteStore) -> Iterator[None]:
    """Let the tables of the index and of the engine be written, as no connection of ours can."""
    store.db.connection.config(apsw.SQLITE_DBCONFIG_DEFENSIVE, 0)
    yield
    store.db.connection.config(apsw.SQLITE_DBCONFIG_DEFENSIVE, 1)


def test_a_healthy_store_has_no_findings(store: SqliteStore) -> None:
    furnish(store)
    drive(store.sessions.create(session("fork", parent="main", fork=9)))
    append(store, "fork", "another way")
    drive(store.care.backup())
    assert examine(store) == ()
    assert drive(store.care.repair(())) == ()


def test_an_unknown_session_cannot_be_examined(store: SqliteStore) -> None:
    with pytest.raises(NotFound):
        drive(store.care.examine("nobody"))


@pytest.mark.parametrize(
    ("sql", "what", "how"),
    [
        ("UPDATE sessions SET head = 5", "head is 5, its entries say 20", repair.RECOMPUTE),
        ("UPDATE sessions SET last_message = 1", "last_message is 1, its", repair.RECOMPUTE),
        ("UPDATE sessions SET last_marker = 1", "last_marker is 1, its", repair.RECOMPUTE),
        ("UPDATE sessions SET compacted = 1", "compacted is 1, its", repair.RECOMPUTE),
        ("UPDATE sessions SET indexed = 99", "search mark is 99", repair.RECOMPUTE),
        ("UPDATE sessions SET parent = 77", "cannot reach the session", repair.DETACH),
        ("UPDATE sessions SET parent = n", "cannot reach the session", repair.DETACH),
        ("UPDATE sessions SET data = X'00ff'", "title and settings", repair.RELABEL),
        ("UPDATE calls SET data = X'00ff'", "a model call cannot be read", repair.RECORD),
        ("UPDATE entries SET data = X'00' WHERE data IS NOT NULL", "labels", repair.RELABEL),
        ("UPDATE parts SET data = X'7b' WHERE kind = 'text'", "part 0 cannot be", repair.WRAP),
        ("UPDATE parts SET data = 'text' WHERE kind = 'text'", "not bytes", repair.WRAP),
        ("UPDATE markers SET data = 7 WHERE kind = 'pin'", "not bytes", repair.WRAP),
        ("UPDATE sessions SET data = 'x'", "title and settings", repair.RELABEL),
        ("UPDATE parts SET kind = 'media' WHERE kind = 'text'", "part 0 is not of", repair.WRAP),
        ("DELETE FROM parts WHERE place IN (SELECT min(place) FROM parts)", "all of", repair.WRAP),
        (
            "DELETE FROM parts WHERE (place >> 12) & 255 = 2 AND place & 1 = 0",
            "part 0",
            repair.WRAP,
        ),
        ("UPDATE markers SET data = X'00' WHERE kind = 'pin'", "marker cannot", repair.WRAP),
        ("UPDATE markers SET kind = 'pin' WHERE kind = 'clear'", "is not of the", repair.WRAP),
        ("DELETE FROM markers WHERE kind = 'pin'", "its marker is missing", repair.WRAP),
        ("UPDATE blobs SET data = X'00'", "cannot be unpacked", repair.WRAP),
        ("DELETE FROM blobs", "its blob is missing", repair.WRAP),
        ("DELETE FROM sessions", "a session whose row is gone", repair.ADOPT),
        ("DELETE FROM entries WHERE place & 255 = 3", "parts without their entry", repair.ENTER),
        ("DELETE FROM entries WHERE place & 255 = 5", "markers without their", repair.ENTER),
        (
            "UPDATE search_data SET block = zeroblob(9) WHERE id > 10",
            "search index",
            repair.REBUILD,
        ),
        ("INSERT INTO search (rowid, words) VALUES (77, 'gone')", "are gone", repair.REBUILD),
        ("INSERT INTO blobs VALUES (X'11', 1, X'00')", "nothing refers to", repair.SWEEP),
    ],
)
def test_what_is_hurt_is_found_and_mended(
    store: SqliteStore, sql: str, what: str, how: str
) -> None:
    furnish(store)
    hurt(store, sql)
    assert [one for one in examine(store) if what in one.what and one.mend == how]
    done = mended(store)
    assert [one for one in done if what in one.what and one.mend == how]
    for (id,) in store.db.rows("SELECT id FROM sessions"):
        assert read_all(store, id), "the session opens again"
        drive(store.calls.calls(id))
    assert examine(store) == ()
    assert drive(store.sessions.session("main" if how != repair.ADOPT else "salvaged-1"))


@pytest.mark.parametrize(
    ("sql", "what"),
    [
        ("DELETE FROM entries WHERE place & 255 = 20", "head is 20"),
        ("DELETE FROM entries WHERE place & 255 = 12", "entry 12 before it cannot be found"),
        (
            "UPDATE parts SET data = CAST(replace(data, 'do this', 'do what') AS BLOB) "
            "WHERE kind = 'text'",
            "it is not what was stored",
        ),
        ("UPDATE entries SET role = 'system' WHERE role = 'user'", "it is not what was stored"),
        ("UPDATE entries SET hash = zeroblob(32) WHERE kind = 'undo'", "it is not what was"),
        ("UPDATE blobs SET hash = X'00'", "its content is not what was stored"),
        ("UPDATE blobs SET size = 1", "its content is not what was stored"),
        ("INSERT INTO calls SELECT 9<<29, 'x', 9, 0, 0, 0, 0, 0, 0, 0, NULL, data FROM calls",
         "1 calls of sessions that are gone"),
    ],
)  # fmt: skip
def test_what_is_lost_is_told(store: SqliteStore, sql: str, what: str) -> None:
    furnish(store)
    hurt(store, sql)
    assert [one for one in examine(store) if what in one.what]


def test_a_finding_names_session_and_entry(store: SqliteStore) -> None:
    furnish(store)
    hurt(store, "UPDATE markers SET data = X'00' WHERE kind = 'pin'")
    (finding,) = drive(store.care.examine("main"))
    assert (finding.area, finding.where) == ("log", "main#5")


@pytest.mark.parametrize("marker", [Undo(marker=2), Undo(marker=5), Undo(marker=0)])
def test_an_undo_of_what_cannot_be_undone_is_told(store: SqliteStore, marker: Undo) -> None:
    furnish(store)
    append(store, "main", marker)
    (finding,) = drive(store.care.examine("main"))
    assert "names entry" in finding.what
    assert finding.mend == ""


def test_a_marker_that_names_what_comes_after_it_is_told(store: SqliteStore) -> None:
    furnish(store)
    append(store, "main", Undo(marker=40))
    (finding,) = drive(store.care.examine("main"))
    assert "names entry 40" in finding.what


def test_a_summary_that_carries_a_wrong_state_carries_the_right_one_again(
    store: SqliteStore,
) -> None:
    furnish(store)
    before = read_all(store, "main")
    ((data,),) = store.db.rows("SELECT data FROM markers WHERE place = ?", (at(store, "main", 19),))
    wrong = wire.encode({**wire.decode(data, dict), "folded": wire.decode(b"{}", dict)})
    hurt(store, "UPDATE markers SET data = ? WHERE place = ?", wrong, at(store, "main", 19))
    (mending,) = [one for one in mended(store) if one.mend == repair.REFOLD]
    assert mending.where == "main#19"
    assert read_all(store, "main") == before


def test_behind_a_lost_marker_the_next_summary_is_believed(store: SqliteStore) -> None:
    furnish(store)
    hurt(store, "UPDATE markers SET data = X'00' WHERE kind = 'pin'")
    assert repair.REFOLD not in [one.mend for one in mended(store)]
    carried = read_all(store, "main")[18].body
    assert isinstance(carried, Summary)
    assert carried.folded.pins, "what the lost marker did is still known"


def test_no_byte_of_what_cannot_be_read_is_lost(store: SqliteStore) -> None:
    furnish(store)
    hurt(store, "UPDATE parts SET data = X'00ff41' WHERE place = ?",
         part_place(at(store, "main", 1), 0))  # fmt: skip
    hurt(store, "UPDATE markers SET data = X'00ff42' WHERE kind = 'pin'")
    hurt(store, "UPDATE sessions SET data = X'00ff43'")
    hurt(store, "UPDATE entries SET data = X'00ff44' WHERE data IS NOT NULL")
    hurt(store, "UPDATE calls SET data = X'00ff45'")
    hurt(store, "UPDATE blobs SET data = X'00ff46'")
    mended(store)
    entries = read_all(store, "main")
    message, marker, tool = entries[0].body, entries[4].body, entries[2].body
    assert isinstance(message, Message)
    assert isinstance(tool, Message)
    assert message.parts == (Opaque("holdfast", "unreadable", b"\x00\xff\x41", "", hash_of(b"A")),)
    assert isinstance(tool.parts[0], Opaque)
    assert tool.parts[0].data == b"\x00\xff\x46"
    assert isinstance(marker, Damaged)
    assert marker.data == b"\x00\xff\x42"
    laid_by = [entry.body.data for entry in entries[20:] if isinstance(entry.body, Damaged)]
    assert sorted(laid_by) == [b"\x00\xffC", b"\x00\xffD", b"\x00\xffE"]


def hash_of(last: bytes) -> str:
    return wire.digest(b"\x00\xff" + last).hex()


@pytest.mark.parametrize(
    ("sql", "part"),
    [
        ("DELETE FROM parts WHERE place = ?", 0),
        ("UPDATE parts SET data = X'00ff44' WHERE place = ?", 0),
        ("UPDATE parts SET data = X'00ff44' WHERE place = ?", 1),
        ("UPDATE parts SET kind = 'reasoning' WHERE place = ?", 1),
    ],
)
def test_a_mended_message_is_known_by_what_it_holds_now(
    store: SqliteStore, sql: str, part: int
) -> None:
    start(store, "main")
    append(store, "main", Message("user", (Text("one"), Text("two"))), "after")
    place = entry_place(1, 1)
    hurt(store, sql, part_place(place, part))
    mended(store)
    ((role, hash),) = store.db.rows("SELECT role, hash FROM entries WHERE place = ?", (place,))
    parts = store.db.rows(
        "SELECT data, blob FROM parts WHERE place BETWEEN ? AND ? ORDER BY place",
        parts_of(place, place),
    )
    assert len(parts) == 2
    assert hash == fingerprint(role, [content(store.db, *row) for row in parts])


def test_the_rest_of_a_session_is_word_for_word_what_it_was(store: SqliteStore) -> None:
    furnish(store)
    before = read_all(store, "main")
    hurt(store, "UPDATE parts SET data = X'00' WHERE place = ?",
         part_place(at(store, "main", 2), 1))  # fmt: skip
    with pytest.raises(Corrupt, match="entry 2 "):
        read_all(store, "main")
    mended(store)
    after = read_all(store, "main")
    assert [one for one in after if one.seq != 2] == [one for one in before if one.seq != 2]
    assert after[1].body.parts[0] == before[1].body.parts[0]  # type: ignore[union-attr]


def test_words_of_unknown_origin_are_never_the_users(store: SqliteStore) -> None:
    furnish(store)
    hurt(store, "DELETE FROM entries WHERE place = ?", at(store, "main", 1))
    mended(store)
    first = read_all(store, "main")[0].body
    assert isinstance(first, Message)
    assert (first.role, first.text) == ("assistant", "do this")


def test_a_rebuilt_search_index_finds_again(store: SqliteStore) -> None:
    from holdfast.model.search import Query

    furnish(store)
    hurt(store, "UPDATE search_data SET block = zeroblob(9) WHERE id > 10")
    mended(store)
    assert drive(store.search.find(Query(words="better")))


def test_an_index_that_misses_a_row_is_built_anew(store: SqliteStore) -> None:
    furnish(store)
    with soft(store):
        store.db.run("PRAGMA writable_schema = ON")
        saved = store.db.rows("SELECT * FROM sqlite_schema WHERE name = 'entries_by_id'")
        store.db.run("DELETE FROM sqlite_schema WHERE name = 'entries_by_id'")
        store.db.run("PRAGMA writable_schema = RESET")
        append(store, "main", "unseen by the index")
        store.db.run("PRAGMA writable_schema = ON")
        store.db.run("INSERT INTO sqlite_schema VALUES (?, ?, ?, ?, ?)", saved[0])
        store.db.run("PRAGMA writable_schema = RESET")
    assert {one.mend for one in examine(store)} == {repair.REINDEX}
    assert mended(store)


def test_a_destroyed_page_asks_for_salvage(store: SqliteStore, tmp_path: Path) -> None:
    from tests.stores.damage import overwrite

    furnish(store)
    ((root,),) = store.db.rows("SELECT rootpage FROM sqlite_schema WHERE name = 'markers'")
    store.close()
    overwrite(tmp_path / "store.db", (root - 1) * 4096, b"\xa5" * 4096)
    again = SqliteStore.open(tmp_path / "store.db")
    try:
        assert repair.SALVAGE in {one.mend for one in drive(again.care.examine())}
        assert repair.SALVAGE in {one.mend for one in drive(again.care.examine("main"))}
    finally:
        again.close()


def test_a_large_blob_is_checked_a_piece_at_a_time(store: SqliteStore) -> None:
    import tracemalloc

    drive(store.blobs.put(os.urandom(40 << 20)))  # large as it is stored
    drive(store.blobs.put(bytes(64 << 20)))  # and large once it is unpacked
    tracemalloc.start()
    (finding,) = drive(store.care.examine())
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert finding.mend == repair.SWEEP
    assert most < 24 << 20


def test_loose_modes_are_found_and_tightened(store: SqliteStore, tmp_path: Path) -> None:
    furnish(store)
    backup = Path(drive(store.care.backup()))
    for path in (tmp_path / "store.db", tmp_path / "store.db-wal", backup.parent, backup):
        os.chmod(path, stat.S_IMODE(path.stat().st_mode) | 0o044)
    assert {one.mend for one in examine(store)} == {repair.SHUT}
    assert len(mended(store)) == 4
    assert stat.S_IMODE(backup.parent.stat().st_mode) == 0o700
    assert stat.S_IMODE(backup.stat().st_mode) == 0o600


def test_a_backup_is_the_store_as_it_was(store: SqliteStore, tmp_path: Path) -> None:
    furnish(store)
    before = read_all(store, "main")
    path = Path(drive(store.care.backup()))
    append(store, "main", "later")
    assert path.parent == tmp_path / "store.db.backups"
    assert os.listdir(path.parent) == [path.name], "one file, and nothing unfinished"
    assert path.read_bytes()[18:20] == b"\1\1", "it needs no journal beside it"
    copy = SqliteStore.open(path)
    try:
        assert read_all(copy, "main") == before
        assert examine(copy) == ()
    finally:
        copy.close()


def test_a_backup_that_fails_leaves_nothing(
    store: SqliteStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    furnish(store)

    def full(*_: object) -> None:
        raise apsw.FullError("database or disk is full")

    monkeypatch.setattr("holdfast.stores.health.backups.copy_to", full)
    with pytest.raises(Unavailable, match="disk is full"):
        drive(store.care.backup())
    assert os.listdir(tmp_path / "store.db.backups") == []


FULL_DISK = """
import os, subprocess, sys
from pathlib import Path
place = Path(sys.argv[1])
subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "none", str(place)], check=True)
from holdfast.engine.client import drive
from holdfast.errors import Unavailable
from holdfast.stores.sqlite.store import SqliteStore
from holdfast.testing.factories import append, read_all, start
store = SqliteStore.open(place / "s" / "store.db")
id, kept = start(store), 0
try:
    while True:
        append(store, id, os.urandom(12_000).hex())
        kept += 1
except Unavailable as refused:
    assert "full" in str(refused), refused
assert kept and len(read_all(store, id)) == kept, "what was acknowledged is there"
try:
    drive(store.care.backup())
except Unavailable as refused:
    assert "full" in str(refused) or "space" in str(refused), refused
else:
    raise AssertionError("the backup found room")
assert os.listdir(place / "s" / "store.db.backups") == []
print("survived")
"""


def test_a_full_disk_is_told_and_nothing_is_left_half_done(tmp_path: Path) -> None:
    if subprocess.run(["unshare", "-Urm", "true"], capture_output=True).returncode:
        pytest.skip("this machine does not let a test mount a small disk")
    run = subprocess.run(
        ["unshare", "-Urm", sys.executable, "-c", FULL_DISK, str(tmp_path)],
        capture_output=True, text=True, env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )  # fmt: skip
    assert run.stdout.strip().endswith("survived"), run.stderr


def test_examining_holds_one_entry_at_a_time(store: SqliteStore) -> None:
    import tracemalloc

    id = start(store)
    for _ in range(60):
        append(store, id, *["x" * 30_000] * 20)
    tracemalloc.start()
    assert drive(store.care.examine(id)) == ()
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < 4 << 20, "36 MB are stored"
