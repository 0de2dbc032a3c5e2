"""Erasing really erases: tables, index, journal and copies; and nothing of anyone else."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from random import Random

import apsw
import pytest

from holdfast import failpoints
from holdfast.engine.client import drive
from holdfast.errors import NotFound
from holdfast.model.log import Summary
from holdfast.model.message import ToolCall, ToolResult, assistant, tool
from holdfast.model.search import Query
from holdfast.model.span import Span
from holdfast.model.store import Erased, Erasing
from holdfast.stores.health.salvage import salvage
from holdfast.stores.sqlite.store import SqliteStore
from holdfast.testing.factories import append, call, draft, job, read_all, session, start
from tests.stores.damage import bytes_of, furnish, overwrite

PLACES = "title project directory text inline blob input summary key cause request payload jobkey"
WORDS = {place: f"{chr(97 + n)}Zq{place}Xv" for n, place in enumerate(PLACES.split())}
"""One word for each place where something is kept; found nowhere else.

An index leaves out what a word has in common with the one before it: here the first letter at most.
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "store.db"


@pytest.fixture
def store(path: Path) -> Iterator[SqliteStore]:
    store = SqliteStore.open(path)
    yield store
    store.close()


def hide(store: SqliteStore, id: str = "secret") -> str:
    """A session with a word of its own in every place, between two that say other things."""
    furnish(store, "before")
    word = WORDS
    start(store, id, **{name: word[name] for name in ("title", "project", "directory")})
    output = "\n".join(f"{word['blob']} {n * 7919}" for n in range(9000))
    append(store, id, word["text"], key=word["key"])
    append(store, id, assistant(ToolCall("c", "run", f'{{"at": "{word["input"]}"}}')))
    append(store, id, tool(ToolResult("c", word["inline"]), ToolResult("d", output)))
    append(store, id, Summary(covers=(Span(1, 2),), text=word["summary"]))
    drive(store.calls.record(call(id, cause=word["cause"], provider="p", request=word["request"])))
    payload = word["payload"].encode()
    drive(store.jobs.offer(job(id, key=word["jobkey"], payload=payload)))
    furnish(store, "after")
    return id


def left(path: Path) -> set[str]:
    """Whose words can still be found in any file, as they were said or as the index has them."""
    held = bytes_of(path)
    return {
        place
        for place, word in WORDS.items()
        if word[1:].encode() in held or word[1:].lower().encode() in held
    }


def empty(store: SqliteStore) -> None:
    """Bring everything into the file, so that a word is not only seen in a journal."""
    store.db.run("PRAGMA wal_checkpoint(TRUNCATE)")


@pytest.mark.seed("000", 59)
def test_no_byte_of_an_erased_session_is_left(store: SqliteStore, path: Path) -> None:
    id = hide(store)
    empty(store)
    assert left(path) == set(WORDS), "all of them can be seen before"
    erased = drive(store.sessions.erase(id))
    assert left(path) == set()
    assert id.encode() not in bytes_of(path)
    assert (erased.held, erased.backups) == ("", ())
    assert (erased.entries, erased.parts, erased.blobs) == (4, 4, 1)
    with pytest.raises(NotFound):
        drive(store.sessions.session(id))


def test_words_that_were_indexed_late_or_never_are_gone_too(store: SqliteStore, path: Path) -> None:
    id = hide(store)
    append(store, id, f"{WORDS['text']} again")
    drive(store.sessions.erase(id))
    assert left(path) == set()
    assert drive(store.search.find(Query(words=WORDS["text"]))) == ()


def test_what_others_said_stays_and_is_found(store: SqliteStore) -> None:
    hide(store)
    before = {id: read_all(store, id) for id in ("before", "after")}
    drive(store.sessions.erase("secret"))
    assert {id: read_all(store, id) for id in ("before", "after")} == before
    assert len(drive(store.search.find(Query(words="better")))) == 2
    assert drive(store.calls.calls("after"))
    assert drive(store.jobs.jobs("after"))
    repeated = drive(store.log.append("before", [draft(before["before"][0].body)], key="first"))
    assert repeated == before["before"][:1], "its key still says what it made"
    assert drive(store.care.examine()) == ()


def test_a_fork_keeps_its_beginning_word_for_word(store: SqliteStore, path: Path) -> None:
    hide(store)
    drive(store.sessions.create(session("fork", parent="secret", fork=3)))
    append(store, "fork", "another way")
    drive(store.sessions.create(session("deeper", parent="fork", fork=4)))
    before = {id: read_all(store, id) for id in ("fork", "deeper")}
    erased = drive(store.sessions.erase("secret"))
    assert erased.copied == ("fork",)
    assert {id: read_all(store, id) for id in before} == before
    assert left(path) <= {"text", "inline", "blob", "input", "key"}, "only what the fork shares"
    hits = drive(store.search.find(Query(words=WORDS["inline"], session="deeper")))
    assert [hit.seq for hit in hits] == [3]
    assert drive(store.care.examine("fork")) == drive(store.care.examine("deeper")) == ()
    drive(store.sessions.erase("fork"))
    drive(store.sessions.erase("deeper"))
    assert left(path) == set()


def test_what_a_reader_holds_is_told_and_goes_when_it_ends(store: SqliteStore, path: Path) -> None:
    id = hide(store)
    reader = apsw.Connection(str(path))
    reader.execute("BEGIN")
    reader.execute("SELECT count(*) FROM entries").fetchall()
    erased = drive(store.sessions.erase(id))
    assert "doctor --repair" in erased.held
    assert left(path), "the reader still sees it"
    reader.close()
    drive(store.care.repair(()))
    assert left(path) == set()


def finish(store: SqliteStore, owner: str = "me", now: int = 1) -> list[Erasing]:
    """Every step of what is left to be erased."""
    steps: list[Erasing] = []
    while step := drive(store.care.erase_further(owner=owner, now=now, until=now + 1000)):
        steps.append(step)
    return steps


def test_backups_that_hold_the_session_are_rewritten_without_it(
    store: SqliteStore, path: Path
) -> None:
    furnish(store, "early")
    older = drive(store.care.backup())
    untouched = Path(older).read_bytes()
    id = hide(store)
    newer = [drive(store.care.backup()) for _ in range(2)]
    erased = drive(store.sessions.erase(id))
    assert (erased.backups, sorted(erased.holding)) == ((), sorted(newer))
    assert {finding.where for finding in drive(store.care.examine())} == set(newer)
    *steps, last = finish(store)
    assert sorted(path for step in steps for path in step.rewritten) == sorted(newer)
    assert (last.session, last.done, last.holding) == (id, True, ())
    assert left(path) == set()
    assert id.encode() not in bytes_of(path)
    assert Path(older).read_bytes() == untouched
    assert drive(store.care.examine()) == ()
    for name in newer:
        assert os.stat(name).st_mode & 0o777 == 0o600
        kept = SqliteStore.open(name)
        assert [entry.id for entry in read_all(kept, "before")] == [
            entry.id for entry in read_all(store, "before")
        ]
        assert len(drive(kept.search.find(Query(words="better")))) == 3
        kept.close()


def test_rewriting_is_leased_and_goes_on_where_it_was_cut_short(
    store: SqliteStore, path: Path
) -> None:
    id = hide(store)
    backups = [drive(store.care.backup()) for _ in range(2)]
    drive(store.sessions.erase(id))
    failpoints.arm("erasing.before_swap", failpoints.fail_at(2))
    try:
        with pytest.raises(RuntimeError):
            finish(store, "first", now=1)
    finally:
        failpoints.disarm()
    assert finish(store, "second", now=2) == [], "the first may be at it still"
    assert len(finish(store, "second", now=2000)) == 2, "its lease has run out"
    assert left(path) == set()
    assert sorted(os.listdir(f"{path}.backups")) == sorted(Path(one).name for one in backups)


def test_a_session_that_uses_an_erased_id_again_stays_in_its_backups(
    store: SqliteStore,
) -> None:
    id = hide(store)
    drive(store.care.backup())
    drive(store.sessions.erase(id))
    start(store, id, title="another")
    newer = drive(store.care.backup())
    finish(store)
    kept = SqliteStore.open(newer)
    assert drive(kept.sessions.session(id)).title == "another"
    kept.close()


def test_a_large_index_is_merged_in_slices_that_end_soon(
    store: SqliteStore, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("holdfast.stores.sqlite.connection.FEW_PAGES", 1)
    monkeypatch.setattr("holdfast.stores.sqlite.erasure.SLICE", 4)
    id = hide(store)
    drive(store.search.catch_up())
    erased = drive(store.sessions.erase(id))
    assert "until a job has merged it" in erased.held
    assert drive(store.search.find(Query(words=WORDS["text"]))) == ()
    assert [one.area for one in drive(store.care.examine())] == ["search"]
    assert len(finish(store)) > 2
    assert left(path) == set()
    assert id.encode() not in bytes_of(path)
    assert drive(store.care.examine()) == ()


def test_erasing_costs_what_the_session_holds(tmp_path: Path) -> None:
    """Counted in pages written, which no load of the machine changes."""

    def written(sessions: int) -> int:
        store = SqliteStore.open(tmp_path / f"{sessions}.db")
        dice = Random(1)
        for n in range(sessions):
            id = f"s{n:05d}"
            start(store, id)
            append(store, id, *[f"{dice.randbytes(200).hex()} {n} {m}" for m in range(8)])
            drive(store.calls.record(call(id)))
            drive(store.jobs.offer(job(id, key=f"k{n}")))
        while drive(store.search.catch_up()):
            pass
        store.db.run("PRAGMA wal_checkpoint(TRUNCATE)")
        steps = 0

        def count() -> bool:
            nonlocal steps
            steps += 1
            return False

        store.db.connection.set_progress_handler(count, 100)
        drive(store.sessions.erase("s00003"))
        store.close()
        return steps

    small, large = written(60), written(600)
    assert large < 2 * small + 20


def test_backups_that_hold_the_session_go_where_that_is_asked_and_others_stay(
    store: SqliteStore, path: Path
) -> None:
    furnish(store, "early")
    older = drive(store.care.backup())
    id = hide(store)
    newer = drive(store.care.backup())
    erased = drive(store.sessions.erase(id, backups="delete"))
    assert (erased.backups, erased.holding) == ((newer,), ())
    assert os.path.exists(older)
    assert left(path) == set()


def test_a_backup_cut_short_by_a_crash_goes_too(store: SqliteStore, path: Path) -> None:
    id = hide(store)
    backup = Path(drive(store.care.backup()))
    backup.rename(backup.with_name(f".holdfast-{backup.name}"))
    assert len(drive(store.sessions.erase(id)).backups) == 1
    assert left(path) == set()


def salvaged(store: SqliteStore, path: Path, page: int) -> SqliteStore:
    store.close()
    overwrite(path, (page - 1) * 4096, b"\xa5" * 4096)
    salvage(path)
    return SqliteStore.open(path)


def erase_after_salvage(store: SqliteStore, path: Path, table: str, id: str) -> Erased:
    ((page,),) = store.db.rows("SELECT rootpage FROM sqlite_schema WHERE name = ?", (table,))
    again = salvaged(store, path, page)
    try:
        return drive(again.sessions.erase(id, backups="delete"))
    finally:
        again.close()


def test_a_damaged_file_that_mentions_the_session_goes(store: SqliteStore, path: Path) -> None:
    id = hide(store)
    erased = erase_after_salvage(store, path, "jobs", id)
    assert [name for name in erased.backups if name.endswith(".damaged")]
    assert left(path) == set()
    assert os.listdir(f"{path}.backups") == []


def test_the_journal_of_a_damaged_file_goes_with_it(
    store: SqliteStore, path: Path, tmp_path: Path
) -> None:
    id = hide(store)
    empty(store)
    append(store, "after", "this is only in the journal")
    crashed = tmp_path / "crashed" / "store.db"
    crashed.parent.mkdir(mode=0o700)
    for suffix in ("", "-wal"):
        shutil.copy(f"{path}{suffix}", f"{crashed}{suffix}")
    salvage(crashed)
    assert len(os.listdir(f"{crashed}.backups")) == 2
    again = SqliteStore.open(crashed)
    try:
        drive(again.sessions.erase(id, backups="delete"))
        assert os.listdir(f"{crashed}.backups") == []
    finally:
        again.close()


def test_a_damaged_file_that_has_lost_the_sessions_name_goes(
    store: SqliteStore, path: Path
) -> None:
    id = hide(store)
    append(store, id, *["more words " * 400] * 9)  # so that entries have pages of their own
    erased = erase_after_salvage(store, path, "sessions", "salvaged-2")
    assert [name for name in erased.backups if name.endswith(".damaged")]
    assert left(path) == set()


def test_a_damaged_file_that_does_not_hold_it_is_kept_and_named(
    store: SqliteStore, path: Path
) -> None:
    furnish(store)
    again = salvaged(store, path, 1)
    try:
        id = hide(again)
        erased = drive(again.sessions.erase(id))
        assert erased.backups == ()
        assert ".damaged" in erased.holding[0], "it may hold it; nobody has read it yet"
        (last,) = finish(again)
        assert (last.done, last.holding) == (True, ())
    finally:
        again.close()


def test_a_damaged_file_that_holds_it_stays_named_until_it_is_removed(
    store: SqliteStore, path: Path
) -> None:
    id = hide(store)
    again = salvaged(store, path, 1)
    try:
        drive(again.sessions.erase(id))
        (last,) = finish(again)
        (held,) = last.holding
        assert held.endswith(".damaged")
        assert "is damaged" in last.why
        (finding,) = drive(again.care.examine())
        assert (finding.where, finding.mend) == (held, "")
        os.unlink(held)
        finish(again, now=5000)
        assert drive(again.care.examine()) == ()
    finally:
        again.close()


@pytest.mark.parametrize("point", ["erase.before_delete", "erase.before_sweep"])
def test_erasing_cut_short_changes_nothing(store: SqliteStore, path: Path, point: str) -> None:
    id = hide(store)
    backup = drive(store.care.backup())
    before = read_all(store, id)
    failpoints.arm(point, failpoints.fail_at(1))
    try:
        with pytest.raises(RuntimeError):
            drive(store.sessions.erase(id))
    finally:
        failpoints.disarm()
    assert read_all(store, id) == before
    assert os.path.exists(backup)
    drive(store.sessions.erase(id))
    finish(store)
    assert left(path) == set()


@pytest.mark.parametrize("seed", range(3))
def test_nothing_is_left_however_the_pages_were_filled(
    store: SqliteStore, path: Path, seed: int
) -> None:
    dice = Random(seed)
    ids = [start(store) for _ in range(4)]
    for n in range(160):
        id = dice.choice(ids)
        word = WORDS["text"] if id == ids[1] else "something else"
        key = f"{word}{n}{'k' * dice.randrange(300)}"
        append(store, id, f"{word} {dice.randbytes(dice.randrange(9000)).hex()}", key=key)
        if n % 40 == 0:
            drive(store.search.catch_up())
    empty(store)
    assert left(path) == {"text"}
    drive(store.sessions.erase(ids[1]))
    assert left(path) == set()
