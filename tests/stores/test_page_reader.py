"""Rows read from pages: all that SQLite wrote, of any size, and nothing endless."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import apsw
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from holdfast.stores.health.page_reader import Pages

values = st.one_of(
    st.none(),
    st.sampled_from([0, 1, -1, 127, 128, -129, 2**15, 2**23, -(2**31), 2**47, 2**63 - 1]),
    st.floats(allow_nan=False),
    st.text(max_size=20),
    st.sampled_from([0, 1, 35, 100, 400, 480, 500, 1_000, 3_000]).map(lambda n: b"x" * n),
)


def pages(data: bytes) -> Pages:
    return Pages(io.BytesIO(data))


def written(place: Path, size: int, rows: list[tuple[Any, ...]]) -> bytes:
    """A database with pages of this size, a table and an index over it."""
    place.unlink(missing_ok=True)
    db = apsw.Connection(str(place))
    try:
        db.execute(f"PRAGMA page_size = {size}")
        db.execute("CREATE TABLE t (a, b)")
        db.execute("CREATE INDEX i ON t (a, b)")
        db.execute("BEGIN")
        db.executemany("INSERT INTO t (rowid, a, b) VALUES (?, ?, ?)", rows)
        db.execute("COMMIT")
    finally:
        db.close()
    return place.read_bytes()


@pytest.mark.parametrize("size", [512, 1_024, 4_096, 65_536])
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=20)
@given(held=st.lists(st.tuples(values, values), max_size=30), first=st.sampled_from([1, 2**40]))
def test_every_row_is_there_whatever_its_size(
    tmp_path: Path, size: int, held: list[tuple[Any, Any]], first: int
) -> None:
    rows = [(first + n, *row) for n, row in enumerate(held)]
    found = pages(written(tmp_path / "log.db", size, rows))
    cells = [*found.cells()]
    assert (found.sound, found.size, found.missing, found.damaged) == (True, size, 0, 0)
    ours = {one.rowid: one.values for one in cells if one.rowid and len(one.values) == 2}
    assert ours == {rowid: (a, b) for rowid, a, b in rows}
    assert sum(one.rowid is None and len(one.values) == 3 for one in cells) == len(rows)


def crafted(cell: bytes, *others: bytes) -> bytes:
    """A file of pages of 512 bytes: the first has one cell at its end."""
    at = 512 - len(cell)
    header = b"SQLite format 3\0" + (512).to_bytes(2) + bytes([1, 1, 0, 64, 32, 32]) + bytes(76)
    tree = bytes([13, 0, 0, 0, 1]) + at.to_bytes(2) + b"\0" + at.to_bytes(2)
    page = (header + tree).ljust(at, b"\0") + cell
    return b"".join([page, *(one.ljust(512, b"\0") for one in others)])


def varint(number: int) -> bytes:
    made = [number & 127]
    while number := number >> 7:
        made.append(number & 127 | 128)
    return bytes(reversed(made))


RING = (2).to_bytes(4)
"""An overflow page that goes on with itself."""


@pytest.mark.parametrize("size", [0, 39 + (508 << 22), 39 + (508 << 40)])
def test_a_cell_of_a_size_that_none_has_is_damaged_and_is_not_followed(size: int) -> None:
    cell = varint(size) + b"\1" + bytes(39) + RING  # 39 bytes of such a cell are in its page
    found = pages(crafted(cell, RING))
    assert [*found.cells()] == []
    assert found.damaged == 1


def test_a_chain_of_pages_that_ends_early_is_damaged() -> None:
    for following in (0, 3, 9):
        chain = following.to_bytes(4)
        found = pages(crafted(varint(2_000) + b"\1" + b"\2\0" + bytes(390), chain))
        assert [*found.cells()] == []
        assert found.damaged == 1


def test_a_cell_that_is_whole_is_read() -> None:
    found = pages(crafted(varint(3) + b"\7" + b"\2\1\x2a"))
    assert [*found.cells()] == [(7, (42,))]
    assert (found.count, found.here, found.damaged) == (1, 1, 0)
