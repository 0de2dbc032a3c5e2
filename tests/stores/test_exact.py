"""What is in the file of a store, and what is said of and done about each row that is damaged.

A file is read by the next version as this one wrote it. In tests/golden/stores there is every row
of a store with something of everything in it; then, for each table, what is found wrong and what is
mended where a row is gone, or one of its columns holds something else. A change that is meant is
taken over with

    python -m tests.stores.test_exact

and its difference read before it is committed.
"""

from __future__ import annotations

import re
import shutil
import tempfile
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any

import apsw
import pytest

from holdfast.engine.client import drive
from holdfast.errors import HoldfastError
from holdfast.model.log import Draft
from holdfast.model.store import Finding
from holdfast.stores.sql.rows import zstd
from holdfast.stores.sqlite.store import SqliteStore
from holdfast.testing import factories
from holdfast.testing.factories import NOON, append, draft, session, start
from tests.changing import compare, short_hash
from tests.stores.damage import furnish

GOLDEN = Path(__file__).parents[1] / "golden" / "stores"
TABLES = (
    "sessions", "entries", "parts", "markers", "counts", "blobs", "keys", "givens", "jobs", "calls",
    "awaited",
)  # fmt: skip
ZSTD = b"\x28\xb5\x2f\xfd"
"""How a packed part begins; what follows is another library's affair."""
VALUES: dict[type, tuple[Any, ...]] = {
    int: (None, 7), float: (None, 7.5), str: (None, "x"), bytes: (None, b"\x00"),
    type(None): (b"\x00",),
}  # fmt: skip
"""What stands there instead, by the kind of what stood there."""


@pytest.fixture(scope="module")
def furnished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return written(tmp_path_factory.mktemp("furnished"))


def written(place: Path) -> Path:
    """A store with something of everything in it, the same each time."""
    path, before = place / "store.db", factories._numbers
    factories._numbers = count(1)
    try:
        store = SqliteStore.open(path)
        furnish(store)
        drive(store.sessions.create(session("fork", parent="main", fork=6)))
        append(store, "fork", "elsewhere")
        start(store, "waiting")
        drive(store.sessions.await_parent("waiting", "not-here", 0))
        store.close()
    finally:
        factories._numbers = before
    return path


def test_what_is_in_the_file_never_changes(furnished: Path) -> None:
    compare(GOLDEN / "rows.txt", rows_of(furnished), "tests.stores.test_exact")


@pytest.mark.parametrize("table", TABLES)
def test_what_is_done_about_a_damaged_row_never_changes(
    furnished: Path, table: str, tmp_path: Path
) -> None:
    found = damaged(furnished, table, tmp_path)
    compare(GOLDEN / f"{table}.txt", found, "tests.stores.test_exact")


def rows_of(path: Path) -> str:
    return "".join(f"{line}\n" for table in TABLES for line in _rows(path, table))


def _rows(path: Path, table: str) -> list[str]:
    db = apsw.Connection(str(path))
    rows = db.execute(f"SELECT * FROM {table}").fetchall()
    db.close()
    return sorted(f"{table} {', '.join(map(_short, row))}" for row in rows)


def _short(value: Any) -> str:
    """A value, without what is never the same: new ids, and times."""
    if isinstance(value, str) and re.fullmatch(r"(?=.*[A-F])[0-9A-F]{26}", value):
        return "ID"
    if isinstance(value, int) and value > NOON + 1_000_000:
        return "TIME" if value < 3 * NOON // 2 else str(value)
    if isinstance(value, bytes) and value.startswith(ZSTD):
        try:
            value = zstd.decompress(value)
        except zstd.ZstdError:
            return "garbled"
    if isinstance(value, bytes) and len(value) > 24:
        return f"{len(value)} bytes {short_hash(value)}"
    return repr(value)


def damaged(whole: Path, table: str, place: Path) -> str:
    """For each way to damage the first and the last row of a table, what comes of it."""
    pieces: list[str] = []
    for title, sql, values in _ways(whole, table):
        path = place / "store.db"
        shutil.copy(whole, path)
        if not _done(path, sql, values):
            continue
        pieces += [f"{title}:", *(f"  {line}" for line in _outcome(whole, path))]
    return "\n".join(pieces) + "\n"


def _ways(whole: Path, table: str) -> Iterator[tuple[str, str, tuple[Any, ...]]]:
    db = apsw.Connection(str(whole))
    columns = [row[1] for row in db.execute(f"PRAGMA table_info({table})")]
    rows = db.execute(f"SELECT * FROM {table} ORDER BY 1, 2").fetchall()
    db.close()
    same = " AND ".join(f"{column} IS ?" for column in columns)
    for which, row in (
        {"first": rows[0], "last": rows[-1]}.items() if len(rows) > 1 else [("only", rows[0])]
    ):
        yield f"the {which} is gone", f"DELETE FROM {table} WHERE {same}", row
        for column, was in zip(columns, row, strict=True):
            for value in VALUES[type(was)]:
                sql = f"UPDATE {table} SET {column} = ? WHERE {same}"
                yield f"{column} of the {which} is {value!r}", sql, (value, *row)


def _done(path: Path, sql: str, values: tuple[Any, ...]) -> bool:
    """Whether the file could be damaged so."""
    db = apsw.Connection(str(path))
    try:
        db.execute("PRAGMA foreign_keys = OFF")
        db.execute(sql, values)
    except apsw.Error:
        return False
    finally:
        db.close()
    return True


def _outcome(whole: Path, path: Path) -> Iterator[str]:
    try:
        store = SqliteStore.open(path)
    except HoldfastError as error:
        yield f"refused: {error}".replace(str(path), "PATH")
        return
    try:
        found = [*drive(store.care.examine())]
        for id in drive(store.care.ids()):
            found += drive(store.care.examine(id))
        yield from (f"found {_of(one)}" for one in found)
        yield from (f"left {_of(one)}" for one in drive(store.care.repair(found)))
        for table in TABLES:
            before, after = _rows(whole, table), _rows(path, table)
            yield from (f"- {line}" for line in before if line not in after)
            yield from (f"+ {line}" for line in after if line not in before)
        yield from _goes_on(store)
    except HoldfastError as error:
        yield f"refused: {error}".replace(str(path), "PATH")
    finally:
        store.close()


def _of(one: Finding) -> str:
    return f"{one.area} {one.where}: {one.what}; {one.mend or 'nothing mends it'}"


def _goes_on(store: SqliteStore) -> Iterator[str]:
    """Whether it can be written on."""
    try:
        said = draft("and on")
        entries = drive(store.log.append("main", [Draft(id="new", body=said.body, created=NOON)]))
        yield f"goes on at {entries[-1].seq}"
    except (HoldfastError, apsw.Error) as error:
        yield f"goes on no more: {type(error).__name__}"


def main() -> None:
    """Write down what is there and done now."""
    GOLDEN.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        path = written(Path(folder))
        (GOLDEN / "rows.txt").write_text(rows_of(path), "utf-8")
        for table in TABLES:
            (Path(folder) / table).mkdir()
            found = damaged(path, table, Path(folder) / table)
            (GOLDEN / f"{table}.txt").write_text(found, "utf-8")


if __name__ == "__main__":
    main()
