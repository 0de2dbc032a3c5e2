"""The store on SQLite where it meets the world: modes, disks, processes, foreign and old files."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import apsw
import pytest

from holdfast.engine.client import drive
from holdfast.errors import Corrupt, InvalidRequest, NotFound, Outdated, Unavailable, Unsafe
from holdfast.model.import_batch import ImportBatch, Source
from holdfast.stores.sql.keys import part_place
from holdfast.stores.sqlite.connection import Sqlite, check_engine
from holdfast.stores.sqlite.store import SqliteStore
from holdfast.testing.factories import append, draft, read_all, session, start
from tests.stores.damage import at, furnish, overwrite


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "store" / "store.db"


@pytest.fixture
def store(path: Path) -> Iterator[SqliteStore]:
    store = SqliteStore.open(path)
    yield store
    store.close()


def python(code: str, *args: object, before: tuple[str, ...] = ()) -> str:
    """What another process prints; its error, where it fails, is this test's."""
    run = subprocess.run(
        [*before, sys.executable, "-c", code, *map(str, args)], capture_output=True, text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}, timeout=120,
    )  # fmt: skip
    assert run.returncode == 0, run.stderr
    return run.stdout.strip()


def mode(path: Path | str) -> int:
    return stat.S_IMODE(os.stat(path).st_mode)


@pytest.mark.parametrize("mask", [0o000, 0o022])
def test_every_file_is_its_owners_alone_whatever_the_umask(path: Path, mask: int) -> None:
    before = os.umask(mask)
    try:
        store = SqliteStore.open(path)
        furnish(store)
        backup = Path(drive(store.care.backup()))
        found = {name.name: mode(name) for name in path.parent.iterdir()}
        assert found == {
            "store.db": 0o600, "store.db-wal": 0o600, "store.db-shm": 0o600,
            "store.db.backups": 0o700,
        }  # fmt: skip
        assert mode(backup) == 0o600
        assert mode(path.parent) == 0o700
        store.close()
    finally:
        os.umask(before)


def test_a_file_that_others_could_read_becomes_private(path: Path) -> None:
    SqliteStore.open(path).close()
    os.chmod(path, 0o644)
    SqliteStore.open(path).close()
    assert mode(path) == 0o600


@pytest.mark.parametrize("kind", ["nfs4", "cifs", "9p", "fuse.sshfs"])
def test_a_network_file_system_is_refused(
    path: Path, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from holdfast import files

    mounted = f"36 35 0:1 / / rw - ext4 /dev/sda rw\n37 36 0:2 / {path.parents[1]} rw - {kind} x rw"
    asked = files.network_filesystem
    monkeypatch.setattr(
        "holdfast.stores.sqlite.location.network_filesystem", lambda place: asked(place, mounted)
    )
    with pytest.raises(Unavailable, match=f"network file system .{kind}.*--store"):
        SqliteStore.open(path)
    assert not path.exists()


@pytest.mark.parametrize("version", ["3.51.2", "3.7.0", "3.50.9"])
def test_an_engine_that_corrupts_is_refused(version: str) -> None:
    with pytest.raises(Unavailable, match=f"SQLite {version} .*install"):
        check_engine(version)


@pytest.mark.parametrize("version", ["3.51.3", "3.54.1", "4.0.0"])
def test_a_sound_engine_is_accepted(version: str) -> None:
    check_engine(version)


def test_what_a_newer_program_wrote_is_not_touched(store: SqliteStore, path: Path) -> None:
    store.db.run("INSERT INTO migrations VALUES ('m9999_of_the_future', 1)")
    store.close()
    before = path.read_bytes()
    with pytest.raises(Outdated, match=r"upgrade holdfast .nothing was changed"):
        SqliteStore.open(path)
    assert path.read_bytes() == before


def test_another_programs_database_is_not_touched(path: Path) -> None:
    path.parent.mkdir(mode=0o700)
    other = apsw.Connection(str(path))
    other.execute("CREATE TABLE bookmarks (url); INSERT INTO bookmarks VALUES ('x')")
    other.close()
    before = path.read_bytes()
    with pytest.raises(Unsafe, match=r"another program's database.*--store"):
        SqliteStore.open(path)
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    ("offset", "data"),
    [(0, b"\xa5" * 100), (0, b"no database at all " * 60), (100, b"\xa5" * 3000)],
    ids=["header", "text", "schema"],
)
def test_a_damaged_file_is_corrupt_and_doctor_is_named(
    store: SqliteStore, path: Path, offset: int, data: bytes
) -> None:
    furnish(store)
    store.close()
    overwrite(path, offset, data)
    before = path.read_bytes()
    with pytest.raises(Corrupt, match="holdfast doctor"):
        SqliteStore.open(path)
    assert path.read_bytes() == before


@pytest.mark.parametrize("table", ["entries", "parts", "markers"])
def test_a_damaged_page_is_corrupt_when_it_is_read(
    store: SqliteStore, path: Path, table: str
) -> None:
    furnish(store)
    ((page,),) = store.db.rows("SELECT rootpage FROM sqlite_schema WHERE name = ?", (table,))
    store.close()
    overwrite(path, (page - 1) * 4096, b"\xa5" * 4096)
    again = SqliteStore.open(path)
    try:
        with pytest.raises(Corrupt, match="holdfast doctor"):
            read_all(again, "main")
    finally:
        again.close()


GARBAGE = {
    "part": "UPDATE parts SET data = X'00' WHERE place = {part}",
    "text in a part": "UPDATE parts SET data = 'what' WHERE place = {part}",
    "deep part": 'UPDATE parts SET data = CAST(\'{{"kind":"text","text":"","x":\' || '
    "replace(hex(zeroblob(50000)), '0', '[') AS BLOB) WHERE place = {part}",
    "labels": "UPDATE entries SET data = X'00' WHERE place = {entry}",
    "marker": "UPDATE markers SET data = X'00' WHERE place = {marker}",
    "no marker": "DELETE FROM markers WHERE place = {marker}",
    "blob": "UPDATE blobs SET data = X'00'",
    "no blob": "DELETE FROM blobs",
}


@pytest.mark.seed("000", 58, 170, 171)
@pytest.mark.seed("000", 166)
@pytest.mark.parametrize("what", GARBAGE)
def test_garbage_in_a_row_is_corrupt_and_names_the_entry(store: SqliteStore, what: str) -> None:
    furnish(store)
    entry = at(store, "main", 1)
    marker = at(store, "main", 5)
    store.db.run(GARBAGE[what].format(part=part_place(entry, 0), entry=entry, marker=marker))
    assert store.db.connection.changes()
    seq = 3 if "blob" in what else 5 if "marker" in what else 1
    with pytest.raises(Corrupt, match=f"entry {seq} cannot be read.*holdfast doctor"):
        read_all(store, "main")


def test_garbage_in_other_rows_names_doctor(store: SqliteStore) -> None:
    furnish(store)
    store.db.run("UPDATE calls SET data = X'00'")
    with pytest.raises(Corrupt, match="holdfast doctor"):
        drive(store.calls.calls("main"))
    store.db.run("UPDATE sessions SET data = X'00'")
    with pytest.raises(Corrupt, match="holdfast doctor"):
        drive(store.sessions.session("main"))


READ_ONLY = """
import os, sys
from pathlib import Path
from holdfast.errors import Unavailable
from holdfast.stores.sqlite.store import SqliteStore
from holdfast.engine.client import drive
from holdfast.model.search import Query
from holdfast.testing.factories import append, read_all
store = SqliteStore.open(sys.argv[1])
print("read", len(read_all(store, "main")), len(drive(store.search.find(Query(words="better")))))
assert drive(store.care.examine()) == drive(store.care.examine("main")) == ()
for attempt in (lambda: append(store, "main", "more"), lambda: SqliteStore.open(sys.argv[2])):
    try:
        attempt()
    except Unavailable as refused:
        print(refused)
    else:
        raise AssertionError("it was written")
store.close()
"""


@pytest.mark.parametrize("journal", [False, True])
def test_a_store_in_a_read_only_directory_can_be_read(
    store: SqliteStore, path: Path, journal: bool
) -> None:
    furnish(store)
    drive(store.search.catch_up())
    many = len(read_all(store, "main"))
    if not journal:
        store.close()
    before = path.read_bytes()
    read_only(path.parent)
    mounted = f"mount --bind {path.parent} {path.parent} && mount -o remount,ro,bind {path.parent}"
    script = f'{mounted} && exec "$0" "$@"'
    said = python(READ_ONLY, path, path.parent / "new.db", before=isolated(script))
    assert said.startswith(f"read {many} "), said
    assert not said.startswith(f"read {many} 0"), said
    assert said.count("--store") == 2, said
    assert path.read_bytes() == before


def read_only(directory: Path) -> None:
    if subprocess.run(["unshare", "-Urm", "true"], capture_output=True).returncode:
        pytest.skip(f"this machine does not let a test mount {directory} read-only")


def isolated(script: str) -> tuple[str, ...]:
    return ("unshare", "-Urm", "sh", "-c", script)


FORKED = """
import os, sys, threading, warnings
warnings.simplefilter("ignore")  # forking with threads is what is tested
from holdfast.engine.client import drive
from holdfast.errors import InvalidRequest
from holdfast.stores.sqlite.store import SqliteStore
from holdfast.testing.factories import append, draft, read_all, session, start
store = SqliteStore.open(sys.argv[1])
start(store, "main")
append(store, "main", "before")
held, fork_now = threading.Event(), threading.Event()
def hold():
    with store.db.lock:
        held.set()
        fork_now.wait()
threading.Thread(target=hold, daemon=True).start()
held.wait()
if os.fork() == 0:
    calls = (
        lambda: append(store, "main", "child"),
        lambda: read_all(store, "main"),
        lambda: drive(store.sessions.session("main")),
        lambda: drive(store.care.examine()),
    )
    for call in calls:
        try:
            call()
        except InvalidRequest as refused:
            assert "open it again" in str(refused), refused
        else:
            os._exit(1)
    store.close()
    again = SqliteStore.open(sys.argv[1])
    append(again, "main", "child, with a store of its own")
    again.close()
    os._exit(0)
_, status = os.wait()
fork_now.set()
append(store, "main", "after")
print(os.waitstatus_to_exitcode(status), [entry.body.text for entry in read_all(store, "main")])
"""


def test_a_child_process_is_told_to_open_the_store_again(path: Path) -> None:
    said = python(FORKED, path)
    assert said == "0 ['before', 'child, with a store of its own', 'after']"


def test_a_transaction_inside_a_transaction_is_misuse(store: SqliteStore) -> None:
    with store.db.writing(), pytest.raises(InvalidRequest, match="inside a transaction"):
        store.db.reading().__enter__()


def test_a_closed_store_says_so(store: SqliteStore) -> None:
    start(store, "main")
    store.close()
    with pytest.raises(InvalidRequest, match="closed"):
        append(store, "main", "too late")
    with pytest.raises(InvalidRequest, match="closed"):
        drive(store.sessions.session("main"))
    store.close()


WRITER = """
import sys
from holdfast.stores.sqlite.store import SqliteStore
from holdfast.testing.factories import append
store = SqliteStore.open(sys.argv[1])
for n in range(60):
    append(store, "main", f"{sys.argv[2]} {n}", key=f"{sys.argv[2]} {n}")
print("done")
"""


@pytest.mark.seed("000", 156)
def test_two_processes_that_append_at_once_lose_nothing(store: SqliteStore, path: Path) -> None:
    start(store, "main")
    said: list[str] = []
    writers = [
        threading.Thread(target=lambda name=name: said.append(python(WRITER, path, name)))
        for name in ("one", "two")
    ]
    for writer in writers:
        writer.start()
    for n in range(60):
        append(store, "main", f"here {n}")
    for writer in writers:
        writer.join()
    assert said == ["done", "done"]
    entries = read_all(store, "main")
    texts = [entry.body.text for entry in entries]  # type: ignore[union-attr]
    assert [entry.seq for entry in entries] == [*range(1, 181)]
    for name in ("one", "two", "here"):
        assert [text for text in texts if text.startswith(name)] == [
            f"{name} {n}" for n in range(60)
        ]
    assert drive(store.care.examine("main")) == ()


@pytest.mark.seed("000", 173)
def test_the_connection_is_as_safe_as_it_says(store: SqliteStore) -> None:
    told = {
        name: store.db.rows(f"PRAGMA {name}")[0][0]
        for name in ("journal_mode", "synchronous", "secure_delete", "trusted_schema", "mmap_size")
    }
    assert told == {
        "journal_mode": "wal", "synchronous": 2, "secure_delete": 1, "trusted_schema": 0,
        "mmap_size": 0,
    }  # fmt: skip


def test_a_store_that_cannot_be_prepared_is_not_left_open(path: Path) -> None:
    SqliteStore.open(path).close()
    overwrite(path, 0, b"\xa5" * 100)
    before = len(apsw.connections())
    with pytest.raises(Corrupt) as kept:
        Sqlite(path)
    assert len(apsw.connections()) == before, "though the error and all it knows are still here"
    del kept


def test_another_programs_database_is_left_exactly_as_it_is(tmp_path: Path) -> None:
    file = tmp_path / "laravel.db"
    theirs = apsw.Connection(str(file))
    theirs.execute("CREATE TABLE migrations (name TEXT, applied INTEGER)")
    theirs.close()
    file.chmod(0o644)
    before = file.read_bytes()
    with pytest.raises(Unsafe, match="another program's database"):
        SqliteStore.open(file)
    assert file.read_bytes() == before
    assert file.stat().st_mode & 0o777 == 0o644
    assert [found.name for found in tmp_path.iterdir()] == ["laravel.db"]


def test_what_is_brought_is_written_wholly_or_not_at_all(tmp_path: Path) -> None:
    store = SqliteStore.open(tmp_path / "log.db")
    new = session()
    with pytest.raises(NotFound):
        drive(
            store.imports.commit(
                ImportBatch(session=new.id, new=new, drafts=(draft("one"),), key="k"),
                sources=[Source(name="a", look="as it was", sessions=("nobody",))],
            )
        )
    assert not store.db.rows("SELECT 1 FROM sessions UNION ALL SELECT 1 FROM entries")
    start(store)  # the next writing has its own transaction again
    assert not store.db.connection.in_transaction
    store.close()
