"""A store that somebody else has made may hold anything: nothing in it acts or is trusted."""

from __future__ import annotations

import resource
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import apsw
import pytest
from click.testing import CliRunner

from holdfast import open
from holdfast.cli import main
from holdfast.engine.client import drive
from holdfast.errors import Corrupt
from holdfast.stores.sql import rows
from holdfast.stores.sqlite import schema
from holdfast.stores.sqlite.connection import WORDS
from holdfast.stores.sqlite.store import SqliteStore
from holdfast.testing.factories import append, read_all, start

ENDLESS = "WITH RECURSIVE more(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM more) SELECT n FROM more"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "store.db"
    store = SqliteStore.open(path)
    append(store, start(store, "one"), "the walrus")
    store.close()
    return path


def change(path: Path, *statements: str) -> None:
    """Do to the file what somebody else may have done."""
    connection = apsw.Connection(str(path))
    connection.execute("PRAGMA writable_schema=ON")
    for sql in statements:
        connection.execute(sql)
    connection.close()


CHANGES = {
    "trigger 'wipe' on 'parts'": [
        "CREATE TRIGGER wipe AFTER INSERT ON parts BEGIN DELETE FROM parts; END"
    ],
    "view 'sessions'": [
        "ALTER TABLE sessions RENAME TO elsewhere",
        f"CREATE VIEW sessions AS {ENDLESS}",
    ],
    "view 'migrations'": ["DROP TABLE migrations", f"CREATE VIEW migrations AS {ENDLESS}"],
    "view 'more'": [f"CREATE VIEW more AS {ENDLESS}"],
    "another table 'blobs'": [
        "DROP TABLE blobs",
        "CREATE TABLE blobs (hash BLOB PRIMARY KEY, size BIGINT, data BLOB AS (zeroblob(size)))",
    ],
    "another index 'entries_by_id'": [
        "DROP INDEX entries_by_id",
        "CREATE INDEX entries_by_id ON entries (upper(id))",
    ],
    "the index 'mine' on 'parts'": ["CREATE INDEX mine ON parts (length(data))"],
    "the virtual table 'other'": ["CREATE VIRTUAL TABLE other USING fts5 (words)"],
}


@pytest.mark.parametrize("what", CHANGES)
def test_a_schema_that_is_not_ours_is_refused_by_name(path: Path, what: str) -> None:
    change(path, *CHANGES[what])
    before, begun = path.read_bytes(), time.monotonic()
    with pytest.raises(Corrupt, match=f"{what}.*nothing was read or changed"):
        SqliteStore.open(path)
    assert time.monotonic() - begun < 10
    assert path.read_bytes() == before


@pytest.mark.parametrize("what", ["trigger 'wipe' on 'parts'", "another table 'blobs'"])
def test_doctor_tells_what_is_not_ours_and_takes_over_the_rows(path: Path, what: str) -> None:
    change(path, *CHANGES[what])
    told = CliRunner().invoke(main, ["doctor", "--store", str(path)])
    assert told.exit_code == 1
    assert what in " ".join(told.output.split())
    mended = CliRunner().invoke(main, ["doctor", "--repair", "--yes", "--store", str(path)])
    assert mended.exit_code in (0, 1)
    store = SqliteStore.open(path)
    assert [entry.body.text for entry in read_all(store, "one")] == ["the walrus"]  # type: ignore[union-attr]
    append(store, "one", "and more")
    assert len(read_all(store, "one")) == 2
    store.close()


def test_a_table_besides_ours_is_told_and_never_read(path: Path) -> None:
    change(path, "CREATE TABLE notes_of_mine (text)")
    store = SqliteStore.open(path)
    (finding,) = drive(store.care.examine())
    assert "'notes_of_mine'" in finding.what
    store.close()


def test_the_fingerprint_of_the_schema_is_up_to_date() -> None:
    made = schema.made_by(schema.KNOWN, WORDS)
    assert schema.fingerprint(made) == schema.CURRENT, "put this into stores/schema.py"


@pytest.fixture
def little_memory() -> Iterator[None]:
    """One GiB of addresses more than this process has, in which no bomb of three unpacks."""
    statm = Path("/proc/self/statm")
    used = int(statm.read_text().split()[0]) * resource.getpagesize() if statm.exists() else 1 << 30
    before = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (used + (1 << 30), before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_AS, before)


def bomb(size: int = 3 << 30, *, honest: bool = True) -> bytes:
    """A blob of a few hundred kB that unpacks to three GiB, and may say so in its header."""
    options: dict[int, int] = {rows.zstd.CompressionParameter.content_size_flag: int(honest)}
    packing = rows.zstd.ZstdCompressor(options=options)
    if honest:
        packing.set_pledged_input_size(size)
    piece = bytes(16 << 20)
    return b"".join(packing.compress(piece) for _ in range(size // len(piece))) + packing.flush()


@pytest.mark.parametrize("honest", [True, False])
def test_a_blob_that_unpacks_to_gigabytes_is_our_error_in_little_memory(
    path: Path, honest: bool, little_memory: None
) -> None:
    store = SqliteStore.open(path)
    append(store, "one", "large " * 20_000)
    hash = drive(store.blobs.put(b"more"))
    given = drive(store.calls.keep("one", b"the system prompt"))
    packed = bomb(honest=honest)
    store.db.run("UPDATE blobs SET data = ?", (packed,))
    store.db.run("UPDATE givens SET data = ?", (packed,))
    for attempt in (
        lambda: read_all(store, "one"),
        lambda: drive(store.blobs.fetch(hash)),
        lambda: drive(store.calls.kept("one", given)),
    ):
        with pytest.raises(Corrupt, match="256 MiB"):
            attempt()
    findings = [*drive(store.care.examine()), *drive(store.care.examine("one"))]
    assert any("256 MiB" in finding.what for finding in findings)
    drive(store.search.catch_up())
    store.close()


def test_a_part_too_large_to_be_read_again_is_refused_before_it_is_written(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rows, "LARGEST_PART", 1 << 20)
    with open(path) as hf:
        session = hf.session()
        with pytest.raises(Exception, match="at most 1 MiB"):
            session.user("x" * (2 << 20))
        session.user("short")
        assert session.info.head == 1


def test_ctrl_c_ends_a_statement_that_would_not_end(path: Path) -> None:
    code = (
        "import signal, sys; from holdfast.stores.sqlite.store import SqliteStore\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "store = SqliteStore.open(sys.argv[1]); print('ready', flush=True)\n"
        "try:\n"
        f"    store.db.rows({ENDLESS.replace('SELECT n FROM more', 'SELECT max(n) FROM more')!r})\n"
        "except KeyboardInterrupt:\n"
        "    print('interrupted', flush=True)\n"
    )
    command = [sys.executable, "-c", code, str(path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        assert process.stdout.readline() == "ready\n"
        time.sleep(0.3)
        process.send_signal(signal.SIGINT)
        timer = threading.Timer(30, process.kill)
        timer.start()
        assert process.stdout.readline() == "interrupted\n"
        timer.cancel()
