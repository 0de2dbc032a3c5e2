"""Search on SQLite: what is ranked, what the index holds, and how one of before is replaced."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

import apsw
import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.engine.client import drive
from holdfast.model.message import Patch, assistant
from holdfast.model.search import Hit, Query
from holdfast.model.store import Changes
from holdfast.stores.search import fts, indexing
from holdfast.stores.search.tags import SHIFTS, filters
from holdfast.stores.sqlite.connection import Sqlite
from holdfast.stores.sqlite.store import SqliteStore
from holdfast.testing.factories import append, start

BEFORE = (
    "DROP TABLE search",
    "CREATE VIRTUAL TABLE search USING fts5 (words, content='', contentless_delete=1, "
    "tokenize=\"unicode61 remove_diacritics 2 tokenchars '_'\")",
    "INSERT INTO search (search, rank) VALUES ('secure-delete', 1)",
    "DELETE FROM migrations WHERE name LIKE '%search_with%'",
)


def find(store: SqliteStore, words: str, **where: object) -> tuple[Hit, ...]:
    return drive(store.search.find(Query(words=words, **where)))  # type: ignore[arg-type]


def test_the_best_comes_first_the_rare_word_counting_most(tmp_path: Path) -> None:
    store = SqliteStore.open(tmp_path / "log.db")
    id = start(store)
    rest = "and much else " * 20
    append(store, id, f"reef walrus walrus walrus {rest}", f"reef reef reef walrus {rest}",
           *["reef"] * 50, f"reef walrus {rest}")  # fmt: skip
    assert find(store, "reef walrus")[0].seq == 1
    scores = [hit.score for hit in find(store, "reef walrus")]
    assert scores == sorted(scores, reverse=True)
    store.close()


@pytest.mark.parametrize(
    ("table", "damage"),
    [("entries", "UPDATE entries SET kind = 'odd'"), ("parts", "DELETE FROM parts")],
)
def test_what_a_damaged_store_lacks_is_not_found_and_all_else_is(
    tmp_path: Path, table: str, damage: str
) -> None:
    path = tmp_path / "log.db"
    store = SqliteStore.open(path)
    append(store, start(store), "walrus one", "walrus two")
    store.close()
    database = apsw.Connection(str(path))
    database.execute(f"{damage} WHERE place = (SELECT min(place) FROM {table})")
    database.close()
    store = SqliteStore.open(path)
    assert [hit.seq for hit in find(store, "walrus")] == [2]
    store.close()


def test_of_more_than_are_ranked_the_older_follow_by_age(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fts, "CANDIDATES", 3)
    store = SqliteStore.open(tmp_path / "log.db")
    append(store, start(store), *["walrus " * n for n in (9, 1, 8, 1, 5, 3)])
    found = [hit.seq for hit in find(store, "walrus")]
    assert set(found[:3]) == {4, 5, 6}
    assert found[3:] == [3, 2, 1]
    assert [hit.seq for hit in find(store, "walrus", limit=2, offset=2)] == found[2:4]
    store.close()


def test_a_store_of_before_is_indexed_anew_when_it_is_searched(tmp_path: Path) -> None:
    store = SqliteStore.open(tmp_path / "log.db")
    append(store, start(store, project="/reef"), "a walrus", assistant("a walrus"))
    assert len(find(store, "walrus")) == 2
    store.close()
    old = apsw.Connection(str(tmp_path / "log.db"))
    for statement in BEFORE:
        old.execute(statement)
    old.close()
    again = SqliteStore.open(tmp_path / "log.db")
    assert again.db.rows("SELECT count(*) FROM search") == [(0,)]
    assert len(find(again, "walrus", project="reef", role="assistant")) == 1
    assert drive(again.care.examine()) == ()
    again.close()


def test_an_index_of_whole_runs_is_made_anew_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def whole(text: str) -> str:
        return text

    with monkeypatch.context() as before:
        before.setattr(indexing, "apart", whole)
        store = SqliteStore.open(tmp_path / "log.db")
        append(store, start(store), "请编辑这个文件")
        assert find(store, "编辑") == ()
    store.db.run("DELETE FROM migrations WHERE name LIKE '%by_character'")
    store.close()
    store = SqliteStore.open(tmp_path / "log.db")
    assert len(find(store, "编辑")) == 1
    store.close()
    store = SqliteStore.open(tmp_path / "log.db")
    assert drive(store.search.catch_up()) == 0
    store.close()


def test_tags_are_no_words(tmp_path: Path) -> None:
    store = SqliteStore.open(tmp_path / "log.db")
    append(store, start(store, project="/reef", agent="codex"), "a walrus")
    find(store, "walrus")
    held = apsw.Connection(str(tmp_path / "log.db"))
    held.execute("CREATE VIRTUAL TABLE temp.v USING fts5vocab('main', 'search', 'col')")
    tags = [term for (term,) in held.execute("SELECT term FROM temp.v WHERE col = 'about'")]
    assert len(tags) > 6
    assert not any(name in tag for tag in tags for name in ("reef", "codex", "user"))
    for tag in tags:
        assert find(store, tag) == ()
    held.close()
    store.close()


def test_a_path_does_not_go_over_into_the_next(tmp_path: Path) -> None:
    store = SqliteStore.open(tmp_path / "log.db")
    append(store, start(store), assistant(Patch("walrus", ("a/b", "c/d"))))
    assert len(find(store, "walrus", path="c/d")) == 1
    assert find(store, "walrus", path="b/c") == ()
    store.close()


def test_where_any_word_will_do_the_rare_ones_count_most(tmp_path: Path) -> None:
    store = SqliteStore.open(tmp_path / "log.db")
    append(store, start(store), *["the reef"] * 30, "a walrus of the reef", "an oyster, alone",
           *["the reef"] * 30)  # fmt: skip
    found = [hit.seq for hit in find(store, "the walrus reef oyster bed", any=True, limit=99)]
    assert set(found[:2]) == {31, 32}
    assert len(found) == 62
    store.close()


LATEST = 1 << 40


@given(st.integers(0, LATEST), st.integers(0, LATEST), st.integers(0, LATEST))
def test_a_stretch_of_time_is_a_few_spans(since: int, until: int, at: int) -> None:
    (asked,) = filters(Query(words="x", since=since, until=until), LATEST)
    spans = set(asked.strip("()").split(" OR "))
    assert len(spans) <= 2 * 15 * (len(SHIFTS) - 1) + 16
    own = {f"d{level}x{at >> shift:x}" for level, shift in enumerate(SHIFTS)}
    edge = SHIFTS[0]
    if since <= at < until:
        assert len(spans & own) == 1
    elif not (since >> edge <= at >> edge <= until >> edge):
        assert not spans & own


class Interrupted(Sqlite):
    """A connection before whose next writing something else happens."""

    before: Callable[[], object] | None = None

    def writing(self) -> AbstractContextManager[None]:
        first, self.before = self.before, None
        if first:
            first()
        return super().writing()


def test_what_changes_while_words_are_made_ready_is_indexed_as_it_then_is(tmp_path: Path) -> None:
    store = SqliteStore.open(tmp_path / "log.db")
    moved, erased, other = start(store), start(store), start(store)
    for id in (moved, erased, other):
        append(store, id, "a walrus on the reef")
    db = Interrupted(tmp_path / "log.db")

    def meanwhile() -> None:
        drive(store.sessions.set(moved, Changes(project="/elsewhere")))
        drive(store.sessions.erase(erased))
        append(store, other, "one more walrus")

    db.before = meanwhile
    while indexing.catch_up(db, 1000):
        pass
    db.close()
    assert not store.db.rows("SELECT 1 FROM sessions WHERE indexed < head")
    assert [hit.session for hit in find(store, "walrus", project="elsewhere")] == [moved]
    assert sorted(hit.session for hit in find(store, "walrus")) == sorted([moved, other, other])
    assert len(store.db.rows("SELECT id FROM search_docsize")) == 3
    store.close()


def test_many_short_sessions_are_indexed_in_one_writing(tmp_path: Path) -> None:
    store = SqliteStore.open(tmp_path / "log.db")
    for _ in range(20):
        append(store, start(store), "a walrus")
    begun: list[str] = []
    store.db.connection.trace_v2(apsw.SQLITE_TRACE_STMT, lambda one: begun.append(one["sql"]))
    assert drive(store.search.catch_up(1000)) == 20
    assert begun.count("BEGIN IMMEDIATE") == 1
    assert not any(sql.startswith("DELETE FROM search WHERE") for sql in begun)
    store.db.connection.trace_v2(0, None)
    store.close()
