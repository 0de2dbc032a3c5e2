"""Salvaging a damaged store: what can be read is kept, what cannot is told, no file is lost."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from holdfast.engine.client import drive
from holdfast.errors import Corrupt, NotFound, Unavailable
from holdfast.model import wire
from holdfast.model.log import Entry, PartRef
from holdfast.model.span import EVERYTHING
from holdfast.stores.health.page_reader import Pages
from holdfast.stores.health.salvage import Salvaged, salvage, shape, tables
from holdfast.stores.sqlite.store import SqliteStore
from holdfast.testing.factories import append, draft, read_all, session
from tests.stores.damage import GIVEN, furnish, overwrite

PAGE = 4096


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A closed store with two sessions, a fork and enough entries for many pages."""
    path = tmp_path_factory.mktemp("template") / "store.db"
    store = SqliteStore.open(path)
    for id in ("main", "other"):
        furnish(store, id)
        for n in range(60):
            append(store, id, f"{id} says {n} " + "word " * (n * 13 % 400), key=f"key {n}")
    drive(store.sessions.create(session("fork", parent="main", fork=40)))
    append(store, "fork", "another way")
    store.close()
    return path


@pytest.fixture
def path(template: Path, tmp_path: Path) -> Path:
    return Path(shutil.copy(template, tmp_path / "store.db"))


def contents(path: Path) -> dict[str, tuple[Entry, ...]]:
    store = SqliteStore.open(path)
    try:
        ids = [id for (id,) in store.db.rows("SELECT id FROM sessions ORDER BY n")]
        return {id: read_all(store, id) for id in ids}
    finally:
        store.close()


def root(path: Path, name: str) -> int:
    """Where a table begins in the file."""
    store = SqliteStore.open(path)
    try:
        ((page,),) = store.db.rows("SELECT rootpage FROM sqlite_schema WHERE name = ?", (name,))
        return (page - 1) * PAGE
    finally:
        store.close()


def findings(path: Path) -> list[str]:
    store = SqliteStore.open(path)
    try:
        found = list(drive(store.care.examine()))
        for (id,) in store.db.rows("SELECT id FROM sessions"):
            found += drive(store.care.examine(id))
        return [f"{one.where} {one.what} {one.mend}" for one in found]
    finally:
        store.close()


@pytest.mark.parametrize(
    "hurt",
    [
        lambda path: None,
        lambda path: overwrite(path, 0, b"\xa5" * 100),
        lambda path: overwrite(path, 0, b"\xa5" * PAGE),
        lambda path: overwrite(path, root(path, "entries"), b"\xa5" * PAGE),
        lambda path: overwrite(path, root(path, "parts"), b"\xa5" * PAGE),
        lambda path: overwrite(path, root(path, "search_data"), bytes(PAGE)),
        lambda path: overwrite(path, root(path, "entries_by_id"), b"\xa5" * PAGE),
        lambda path: overwrite(path, path.stat().st_size, b"\xa5" * 5000),
    ],
    ids=["nothing", "header", "first page", "inner page of entries", "inner page of parts",
         "search index", "another index", "something appended"],
)  # fmt: skip
def test_nothing_is_lost_while_the_leaves_are_whole(
    path: Path, hurt: Callable[[Path], None]
) -> None:
    before = contents(path)
    hurt(path)
    salvaged = salvage(path)
    assert contents(path) == before
    assert findings(path) == []
    assert [what for what in salvaged.lost if "#" in what] == []


def test_keys_calls_and_jobs_are_kept(path: Path) -> None:
    overwrite(path, 0, b"\xa5" * PAGE)
    kept = salvage(path).kept
    assert (kept["calls"], kept["jobs"], kept["keys"]) == (2, 2, 122)
    store = SqliteStore.open(path)
    try:
        first = read_all(store, "main")[0]
        again = drive(store.log.append("main", [draft(first.body)], key="first"))
        assert again == (first,), "a retried append still happens once"
    finally:
        store.close()


def test_a_destroyed_leaf_takes_its_own_rows_and_no_others(path: Path) -> None:
    before = contents(path)
    leaf = leaf_of(path, "parts")
    overwrite(path, leaf, b"\xa5" * PAGE)
    salvaged = salvage(path)
    after = contents(path)
    assert list(after) == list(before)
    same = sum(one in after[id] for id in before for one in before[id])
    total = sum(map(len, before.values()))
    assert total - 40 < same < total
    assert [what for what in salvaged.lost if "parts are missing" in what or "part 0" in what]
    assert [what for what in salvaged.lost if "1 of" in what]


def leaf_of(path: Path, table: str) -> int:
    store = SqliteStore.open(path)
    try:
        pages = "SELECT pageno FROM dbstat WHERE name = ? AND pagetype = 'leaf' ORDER BY path"
        return (store.db.rows(pages, (table,))[1][0] - 1) * PAGE
    finally:
        store.close()


def test_lost_entries_leave_a_gap_that_is_told(path: Path) -> None:
    store = SqliteStore.open(path)
    for table, shift in (("entries", 0), ("parts", 12), ("markers", 0)):
        store.db.run(f"DELETE FROM {table} WHERE (place >> {shift}) - (1 << 29) BETWEEN 30 AND 34")
    store.close()
    overwrite(path, 0, b"\xa5" * PAGE)
    salvaged = salvage(path)
    assert [one.seq for one in contents(path)["main"]] == [*range(1, 30), *range(35, 81)]
    assert "main#35: entries 30–34 before it cannot be found" in salvaged.lost
    assert findings(path) == ["main#35 entries 30–34 before it cannot be found "]


def test_a_lost_row_of_a_session_gives_its_entries_a_new_one(path: Path) -> None:
    before = contents(path)
    overwrite(path, root(path, "sessions"), b"\xa5" * PAGE)
    salvaged = salvage(path)
    after = contents(path)
    assert [[one.body for one in entries] for entries in list(after.values())[:2]] == [
        [one.body for one in entries] for entries in list(before.values())[:2]
    ]
    assert "salvaged-1" in after
    assert [what for what in salvaged.lost if "whose row is gone" in what]


def test_a_file_cut_off_keeps_what_comes_before(path: Path) -> None:
    before = contents(path)
    os.truncate(path, path.stat().st_size * 3 // 4 // PAGE * PAGE + 77)
    salvaged = salvage(path)
    kept = {one.id: one for entries in contents(path).values() for one in entries}
    whole = [one for entries in before.values() for one in entries]
    assert sum(kept.get(one.id) == one for one in whole) > len(whole) // 4
    assert [what for what in salvaged.lost if "pages early" in what]
    assert [what for what in findings(path) if "pragma" in what] == []


def test_what_is_only_in_the_journal_is_kept(path: Path, tmp_path: Path) -> None:
    before, crashed = crash(path, tmp_path)
    salvage(crashed)
    assert contents(crashed) == before


def test_a_damaged_frame_takes_only_itself(path: Path, tmp_path: Path) -> None:
    store = SqliteStore.open(path)
    for n in range(5):
        append(store, "main", f"late {n}")
    crashed = tmp_path / "crashed" / "store.db"
    crashed.parent.mkdir(mode=0o700)
    for suffix in ("", "-wal"):
        shutil.copy(f"{path}{suffix}", f"{crashed}{suffix}")
    before = contents(path)
    store.close()
    overwrite(Path(f"{crashed}-wal"), 32 + 24 + 1000, b"\xa5" * 64)
    salvage(crashed)
    assert contents(crashed) == before, "later frames hold the same pages again"


def test_a_commit_that_cannot_be_trusted_is_left_out_whole(path: Path, tmp_path: Path) -> None:
    before, crashed = crash(path, tmp_path)
    journal = Path(f"{crashed}-wal")
    overwrite(journal, journal.stat().st_size - 2000, b"\xa5" * 2000)
    salvage(crashed)
    assert contents(crashed) == {**before, "main": before["main"][:-1]}
    assert findings(crashed) == []


def test_an_unfinished_transaction_in_the_journal_is_left_out(path: Path) -> None:
    store = SqliteStore.open(path)
    append(store, "main", "whole")
    journal = Path(f"{path}-wal")
    whole = journal.stat().st_size
    append(store, "main", "never acknowledged")
    os.truncate(journal, journal.stat().st_size - 100)
    with open(path, "rb") as file, open(journal, "rb") as log:
        found = [cell for cell in Pages(file, log).cells() if len(cell.values) == 6]
    texts = [str(cell.values[5]) for cell in found]
    assert any("whole" in text for text in texts)
    assert not any("never acknowledged" in text for text in texts)
    assert whole < journal.stat().st_size
    store.db._closed = True  # its journal was cut off under it


def test_the_damaged_file_is_kept_privately(path: Path) -> None:
    overwrite(path, 0, b"\xa5" * 100)
    bytes_before = path.read_bytes()
    damaged = Path(salvage(path).damaged)
    assert damaged.read_bytes() == bytes_before
    assert damaged.parent == Path(f"{path}.backups")
    assert stat.S_IMODE(damaged.stat().st_mode) == stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(damaged.parent.stat().st_mode) == 0o700
    assert sorted(os.listdir(path.parent)) == ["store.db", "store.db.backups"]
    assert os.listdir(damaged.parent) == [damaged.name]


@pytest.mark.parametrize("data", [b"", b"not a database " * 400, bytes(PAGE * 4)])
def test_a_file_with_nothing_of_a_store_in_it_is_left_alone(path: Path, data: bytes) -> None:
    path.write_bytes(data)
    with pytest.raises(Corrupt, match="nothing was changed"):
        salvage(path)
    assert path.read_bytes() == data
    assert not os.path.exists(f"{path}.backups")


def test_no_file_is_not_salvaged(tmp_path: Path) -> None:
    with pytest.raises(NotFound):
        salvage(tmp_path / "nothing.db")


def test_a_store_that_another_process_has_open_is_not_salvaged(path: Path) -> None:
    code = (
        "import sys; from holdfast.stores.sqlite.store import SqliteStore; "
        "store = SqliteStore.open(sys.argv[1]); print('open', flush=True); sys.stdin.read()"
    )
    environ = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    with subprocess.Popen(
        [sys.executable, "-c", code, str(path)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environ,
    ) as other:  # fmt: skip
        assert other.stdout is not None
        other.stdout.readline()
        with pytest.raises(Unavailable, match="another process"):
            salvage(path)
        other.communicate(b"")
    assert salvage(path).kept["sessions"] == 3


class PowerCut(Exception):
    pass


@contextmanager
def cut_at(count: int) -> Iterator[None]:
    """The power goes at the nth change of a name."""
    left = count

    def guarded(act: Callable[..., None]) -> Callable[..., None]:
        def acting(*args: object, **options: object) -> None:
            nonlocal left
            left -= 1
            if left == 0:
                raise PowerCut
            act(*args, **options)

        return acting

    with pytest.MonkeyPatch.context() as patch:
        for name in ("link", "replace", "chmod"):
            patch.setattr(os, name, guarded(getattr(os, name)))
        yield


@pytest.mark.parametrize("count", range(1, 6))
def test_salvage_interrupted_anywhere_can_be_run_again(
    path: Path, tmp_path: Path, count: int
) -> None:
    before, crashed = crash(path, tmp_path)
    with cut_at(count), pytest.raises(PowerCut):
        salvage(crashed)
    salvage(crashed)
    assert contents(crashed) == before
    assert len(os.listdir(f"{crashed}.backups")) == 2, "the damaged file and its journal, once"


def crash(path: Path, tmp_path: Path) -> tuple[dict[str, tuple[Entry, ...]], Path]:
    """A damaged store whose last words are in the journal alone, and what it held."""
    store = SqliteStore.open(path)
    append(store, "main", "said just before the lights went out")
    crashed = tmp_path / "crashed" / "store.db"
    crashed.parent.mkdir(mode=0o700)
    for suffix in ("", "-wal"):
        shutil.copy(f"{path}{suffix}", f"{crashed}{suffix}")
    store.close()
    overwrite(crashed, 0, b"\xa5" * 100)
    return contents(path), crashed


def test_every_table_can_be_told_by_its_columns(path: Path) -> None:
    store = SqliteStore.open(path)
    try:
        shapes = [shape(store.db, table) for table in tables(store.db)]
    finally:
        store.close()
    assert len({*shapes}) == len(shapes) >= 9
    assert isinstance(salvage(path), Salvaged)


def test_counts_and_what_calls_were_given_are_salvaged_too(path: Path) -> None:
    overwrite(path, root(path, "entries_by_id"), b"\xff" * PAGE)
    salvage(path)
    store = SqliteStore.open(path)
    try:
        for id in ("main", "other"):
            assert drive(store.calls.kept(id, wire.digest(GIVEN).hex())) == GIVEN
            known = drive(store.counts.known(id, EVERYTHING, "o200k"))
            assert known == {PartRef(1, 0): 3, PartRef(3, 0): 9000}
            assert [one.payload for one in drive(store.jobs.jobs(id))] == [b"work"]
        assert store.db.rows("SELECT count(*) FROM counts") == [(4,)]
    finally:
        store.close()
