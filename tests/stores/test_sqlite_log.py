"""The usual append on SQLite: what the script writes, and when it must not."""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from holdfast import failpoints
from holdfast.engine.client import drive
from holdfast.errors import Conflict, InvalidRequest, NotFound
from holdfast.model import wire
from holdfast.model.message import Message, Text, ToolResult, assistant, tool
from holdfast.model.store import Expect
from holdfast.stores.sql.log import SqlLog
from holdfast.stores.sqlite import fast_append
from holdfast.stores.sqlite.store import SqliteStore
from holdfast.testing.factories import NOON, append, draft, read_all, start

MOST_ENTRIES = 536_870_911
"""What is promised, in numbers: these tests stand at its edges."""

TABLES = ("sessions", "entries", "parts", "markers", "keys", "blobs")

USUAL = (
    draft("hello", counts=(7,)),
    draft(assistant("one", "two"), created=NOON + 5, completed=NOON + 6, counts=(1, 2)),
    draft(tool(ToolResult("call", "output")), provider="openai", model="gpt", parent="elsewhere"),
    draft("earlier", created=NOON - 5),
    draft(Message("user", ())),
    draft(assistant(*[Text(str(n)) for n in range(fast_append.MOST_PARTS + 1)])),
    draft("long " * 10_000),
)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "store.db"


@pytest.fixture
def store(path: Path) -> Iterator[SqliteStore]:
    store = SqliteStore.open(path)
    yield store
    store.close()


@pytest.fixture
def other(store: SqliteStore, path: Path) -> Iterator[SqliteStore]:
    other = SqliteStore.open(path)
    yield other
    other.close()


@pytest.fixture
def scripts(store: SqliteStore, monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Of each script that was tried, whether it was kept."""
    tried: list[bool] = []
    attempt = store.db.attempt

    def watched(sql: str, values: Any) -> bool:
        tried.append(attempt(sql, values))
        return tried[-1]

    monkeypatch.setattr(store.db, "attempt", watched)
    return tried


def rows(store: SqliteStore) -> dict[str, list[tuple[Any, ...]]]:
    return {table: store.db.rows(f"SELECT * FROM {table}") for table in TABLES}


def test_the_script_writes_what_the_long_way_writes(
    store: SqliteStore, scripts: list[bool], tmp_path: Path
) -> None:
    slow = SqliteStore.open(tmp_path / "slow.db")
    for one in (store, slow):
        start(one, "main")
    for usual in USUAL:
        quick = drive(store.log.append("main", [usual]))
        assert quick == drive(SqlLog(slow.db).append("main", [usual]))
    assert rows(store) == rows(slow)
    assert scripts == [True, True, True]  # the first append tells where the session is
    assert drive(store.care.examine("main")) == ()
    slow.close()


def test_where_another_connection_went_on_the_append_goes_behind(
    store: SqliteStore, other: SqliteStore, scripts: list[bool]
) -> None:
    start(store, "main")
    for n in range(3):
        append(store, "main", f"here {n}")
        append(other, "main", f"there {n}")
    append(store, "main", "here again")
    append(store, "main", "and again")
    assert [entry.seq for entry in read_all(store, "main")] == [*range(1, 9)]
    assert scripts == [False, False, False, True]
    assert drive(store.care.examine("main")) == ()


def test_what_is_expected_is_checked_by_the_script_too(
    store: SqliteStore, scripts: list[bool]
) -> None:
    start(store, "main")
    append(store, "main", "one", expect=Expect(message=0))
    append(store, "main", "two", expect=Expect(message=1))
    with pytest.raises(Conflict) as refused:
        append(store, "main", "three", expect=Expect(message=1))
    assert (refused.value.expected, refused.value.found) == (1, 2)
    assert scripts == [True, False]
    assert len(read_all(store, "main")) == 2


def test_an_erased_session_is_unknown_to_who_wrote_it_last(
    store: SqliteStore, other: SqliteStore
) -> None:
    start(store, "main")
    append(store, "main", "one")
    drive(other.sessions.erase("main"))
    with pytest.raises(NotFound):
        append(store, "main", "two")
    start(other, "main")
    append(store, "main", "a new one of its name")
    assert [entry.seq for entry in read_all(store, "main")] == [1]


def test_an_append_that_was_undone_leaves_no_gap(store: SqliteStore) -> None:
    start(store, "main")
    append(store, "main", "one")
    failpoints.arm("append.after_parts", failpoints.fail_at(1))
    try:
        with pytest.raises(RuntimeError):
            append(store, "main", "never")
    finally:
        failpoints.disarm()
    append(store, "main", "two")
    assert [entry.seq for entry in read_all(store, "main")] == [1, 2]


def test_a_full_session_says_so(store: SqliteStore) -> None:
    start(store, "main")
    store.db.run("UPDATE sessions SET head = ?", (MOST_ENTRIES - 1,))
    append(store, "main", "the last one")
    with pytest.raises(InvalidRequest, match="full"):
        append(store, "main", "one more")


def test_only_so_many_sessions_are_remembered(
    store: SqliteStore, scripts: list[bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fast_append, "MOST_REMEMBERED", 2)
    for id in ("a", "b", "c"):
        start(store, id)
        append(store, id, "hello")
    append(store, "c", "still known")
    append(store, "a", "forgotten, and learnt again")
    append(store, "a", "known")
    assert scripts == [True, True]


def test_what_was_signed_with_sha_256_is_still_known_to_be_intact(store: SqliteStore) -> None:
    start(store, "main")
    (made,) = append(store, "main", "hello")
    content = wire.encode(made.body.parts[0])  # type: ignore[union-attr]
    signed = sha256(b"user%d:%b" % (len(content), content)).digest()
    store.db.run("UPDATE entries SET hash = ?", (signed,))
    assert drive(store.care.examine("main")) == ()
    store.db.run("UPDATE entries SET hash = ?", (signed[:16],))
    assert [finding.area for finding in drive(store.care.examine("main"))] == ["log"]
