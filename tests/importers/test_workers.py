"""Workers read beside the writer: nobody can tell from what is stored, whatever becomes of them."""

from __future__ import annotations

import asyncio
import gc
import signal
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, ClassVar

import apsw
import pytest

import holdfast
from bench import transcripts
from bench.progress import silent
from holdfast import failpoints
from holdfast.child_process import Child
from holdfast.engine.bridge import drive
from holdfast.engine.importing import worker_main, workers
from holdfast.engine.importing.discovery import Source
from holdfast.engine.importing.worker_main import maker
from holdfast.model.import_batch import Ready
from holdfast.model.import_report import ImportReport
from holdfast.model.store import Changes
from holdfast.stores.search import pending
from holdfast.stores.sql.database import Row
from tests.importers import test_codex_forks as rollouts
from tests.importers.writing import Transcript, call, story, text
from tests.thorough import share

ORDINAL_BITS = 12
SEQ_BITS = 29
"""What is promised, in numbers: these tests stand at its edges."""

SECRET = "hunter2-hunter2-hunter2"
TABLES = {
    "sessions": "*", "entries": "place, kind, role, created, completed, hash, data", "parts": "*",
    "markers": "*", "keys": "*", "calls": "*", "origins": "*", "sources": "*", "blobs": "*",
    "search_docsize": "id, sz",
}  # fmt: skip
"""All that there is, but for the ids of entries, which are new each time."""
NUMBERED = {
    "sessions": {0: 0, 2: 0}, "keys": {0: 0}, "calls": {0: SEQ_BITS, 2: 0}, "origins": {1: 0},
    "sources": {0: 0}, "entries": {0: SEQ_BITS}, "markers": {0: SEQ_BITS},
    "parts": {0: SEQ_BITS + ORDINAL_BITS}, "search_docsize": {0: SEQ_BITS + ORDINAL_BITS},
    "words": {1: SEQ_BITS + ORDINAL_BITS},
}  # fmt: skip
"""Which columns hold the number of a session, and behind how many bits."""


class Watched(Child):
    """A worker that is remembered, and how often it has answered."""

    all: ClassVar[list[Watched]] = []

    def __init__(self, module: str) -> None:
        super().__init__(module)
        self.answered = 0
        self.all.append(self)

    def answer(self, end: float, stop: threading.Event | None = None) -> bytearray:
        said = super().answer(end, stop)
        self.answered += 1
        return said


class Dying(Watched):
    """A worker that is killed when it has answered once."""

    def answer(self, end: float, stop: threading.Event | None = None) -> bytearray:
        if self.answered:
            self.process.kill()
        return super().answer(end, stop)


class Lying(Watched):
    """A worker whose answers are none."""

    def answer(self, end: float, stop: threading.Event | None = None) -> bytearray:
        super().answer(end, stop)
        return bytearray(b"what is this")


def patient(layout: str, secrets: tuple[str, ...]) -> Callable[[Source], Ready | None]:
    """Whoever would do a worker's work lets it answer twice first, or end."""
    make = maker(layout, secrets)

    def made(source: Source) -> Ready | None:
        end = time.monotonic() + 60
        while not any(one.answered > 1 or one.process.poll() is not None for one in Watched.all):
            assert time.monotonic() < end, "no worker has answered"
            time.sleep(0.01)
        return make(source)

    return made


@pytest.fixture(autouse=True)
def eager(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Workers are worth it for anything."""
    monkeypatch.setattr(workers, "LEAST", 1)
    monkeypatch.setattr(workers, "_cores", lambda: 2)
    monkeypatch.setattr(workers, "Child", Watched)
    monkeypatch.setattr(worker_main, "maker", patient)
    monkeypatch.setattr(pending, "ENOUGH", 1000)
    monkeypatch.setenv("OPENAI_API_KEY", SECRET)
    Watched.all.clear()
    yield
    failpoints.disarm()


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """Sessions of which two begin alike, the second with a subagent, and one is long."""
    folder, told = tmp_path / "files", Transcript()
    for number in range(8):
        told = Transcript(f"{number:08d}-1111-4222-8333-444455556666")
        for turn in range(200 if number == 5 else 4):
            told.user(f"Question {turn} of {number}, and the key is {SECRET}.")
            words = text(f"Answer {turn} " * 40)
            told.reply(f"msg_{number}_{turn}", words, call(f"t{number}-{turn}", path="src/a.py"))
            told.result(f"t{number}-{turn}", "out " * (20_000 if number == 3 else 20))
        told.compact("All of it was said.")
        told.write(folder)
    for record in told.records:
        record["sessionId"] = "99999999-1111-4222-8333-444455556666"
    told.user("Another way.")
    told.write(folder, name="99999999-1111-4222-8333-444455556666.jsonl")
    agent = Transcript("99999999-1111-4222-8333-444455556666")
    agent.user("Look at it.", isSidechain=True, agentId="a1")
    agent.reply("msg_a1", text("I have."), isSidechain=True, agentId="a1")
    agent.write(folder / agent.session / "subagents", name="agent-a1.jsonl")
    (folder / "damaged.jsonl").write_bytes(story().lines[2] + b"{half\n" + story().lines[3])
    return folder


def plainly(files: Path, store: Path, monkeypatch: pytest.MonkeyPatch) -> list[ImportReport]:
    """As it is without workers."""
    with monkeypatch.context() as patched:
        patched.setattr(workers, "LEAST", 1 << 60)
        return imported(files, store)


def imported(files: Path, store: Path) -> list[ImportReport]:
    with holdfast.open(store) as hf:
        reports = list(hf.import_from(files))
        while hf.index():
            pass
    return reports


def stored(path: Path) -> dict[str, list[Any]]:
    """Every row, and every word of the index; sessions have the numbers of their ids in order."""
    connection = apsw.Connection(str(path))
    found = {
        table: connection.execute(f"SELECT {columns} FROM {table}").fetchall()
        for table, columns in TABLES.items()
    }
    connection.execute("CREATE VIRTUAL TABLE temp.v USING fts5vocab(main, search, instance)")
    found["words"] = connection.execute("SELECT * FROM temp.v").fetchall()
    ids = connection.execute("SELECT n FROM sessions ORDER BY id").fetchall()
    connection.close()
    now = {number: place for place, (number,) in enumerate(ids, 1)} | {None: None}
    for table, columns in NUMBERED.items():
        for column, bits in columns.items():
            found[table] = [renumbered(row, column, bits, now) for row in found[table]]
    return {table: sorted(rows, key=repr) for table, rows in found.items()}


def renumbered(row: Row, column: int, bits: int, now: dict[Any, Any]) -> Row:
    old = row[column]
    new = now[old] if old is None else now[old >> bits] << bits | old & (1 << bits) - 1
    return *row[:column], new, *row[column + 1 :]


def test_with_workers_the_same_is_stored(
    files: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ours = imported(files, tmp_path / "ours.db")
    assert sum(one.answered for one in Watched.all) > 1
    assert ours == plainly(files, tmp_path / "plain.db", monkeypatch)
    found = stored(tmp_path / "ours.db")
    assert found == stored(tmp_path / "plain.db")
    assert len(found["words"]) > 1000
    assert len(found["blobs"]) == 8
    assert SECRET.encode() not in (tmp_path / "ours.db").read_bytes()


def test_recorded_files_too(
    tmp_path: Path, shared_data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert shared_data
    transcripts.made(tmp_path, share(6_000_000), silent)
    ours = imported(tmp_path / "files", tmp_path / "ours.db")
    assert ours == plainly(tmp_path / "files", tmp_path / "plain.db", monkeypatch)
    assert stored(tmp_path / "ours.db") == stored(tmp_path / "plain.db")


def test_what_was_imported_is_not_imported_again(files: Path, tmp_path: Path) -> None:
    imported(files, tmp_path / "log.db")
    before = stored(tmp_path / "log.db")
    Watched.all.clear()
    assert all(one.unchanged for one in imported(files, tmp_path / "log.db"))
    assert stored(tmp_path / "log.db") == before
    assert not Watched.all


@pytest.mark.parametrize("kind", [Dying, Lying])
def test_a_worker_that_fails_costs_nothing_but_time(
    files: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: type[Watched]
) -> None:
    monkeypatch.setattr(workers, "Child", kind)
    ours = imported(files, tmp_path / "ours.db")
    assert ours == plainly(files, tmp_path / "plain.db", monkeypatch)
    assert stored(tmp_path / "ours.db") == stored(tmp_path / "plain.db")


def test_an_interrupt_ends_the_workers(
    files: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt() -> None:
        raise KeyboardInterrupt

    failpoints.arm("import.before_mark", interrupt)
    with pytest.raises(KeyboardInterrupt):
        imported(files, tmp_path / "ours.db")
    assert [one.process.poll() for one in Watched.all] == [-signal.SIGKILL]
    failpoints.disarm()
    ours = imported(files, tmp_path / "ours.db")
    assert ours == plainly(files, tmp_path / "plain.db", monkeypatch)
    assert stored(tmp_path / "ours.db") == stored(tmp_path / "plain.db")


def test_whoever_wants_no_more_leaves_no_worker(
    files: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workers, "ENOUGH", 1)
    with holdfast.open(tmp_path / "log.db") as hf:
        reports = hf.import_from(files)
        next(iter(reports))
        del reports
        gc.collect()
        assert [one.process.poll() for one in Watched.all] == [-signal.SIGKILL]


def test_what_somebody_else_brings_meanwhile_is_not_there_twice(
    files: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All was looked at, and nothing of it was known: then another import is faster."""
    with holdfast.open(tmp_path / "ours.db") as hf:
        take = workers.Readied.take

        async def slow(self: workers.Readied, *told: Any) -> None:
            await take(self, *told)
            if len(self._given) == 3:  # pyright: ignore[reportPrivateUsage]
                plainly(files, tmp_path / "ours.db", monkeypatch)

        monkeypatch.setattr(workers.Readied, "take", slow)
        list(hf.import_from(files))
    plainly(files, tmp_path / "plain.db", monkeypatch)
    assert stored(tmp_path / "ours.db")["parts"] == stored(tmp_path / "plain.db")["parts"]


def test_in_an_event_loop_too(files: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def ours() -> list[ImportReport]:
        async with holdfast.open_async(tmp_path / "ours.db") as hf:
            reports = [one async for one in hf.import_from(files)]
            while await hf.index():
                pass
            return reports

    assert asyncio.run(ours()) == plainly(files, tmp_path / "plain.db", monkeypatch)
    assert stored(tmp_path / "ours.db") == stored(tmp_path / "plain.db")
    assert sum(one.answered for one in Watched.all) > 1


def test_words_are_indexed_with_what_they_are_of(files: Path, tmp_path: Path) -> None:
    with holdfast.open(tmp_path / "log.db") as hf:
        list(hf.import_from(files))
        sizes = hf.engine.store.db.rows("SELECT count(*) FROM search_docsize")  # type: ignore[attr-defined]
        assert sizes[0][0] > 100


def test_words_of_a_session_that_moves_are_indexed_again(files: Path, tmp_path: Path) -> None:
    with holdfast.open(tmp_path / "log.db") as hf:
        list(hf.import_from(files))
        one = next(iter(hf.every_session()))
        drive(hf.engine.store.sessions.set(one.id, Changes(project="/elsewhere")))
        assert {hit.session for hit in hf.search("question", project="/elsewhere")} == {one.id}


def test_a_fork_is_compared_with_its_source_by_the_store_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = tmp_path / "rollouts"
    rollouts.begun().write(files)
    told = rollouts.copied(rollouts.begun(rollouts.FORK, forked_from_id=rollouts.THREAD))
    told.turn("And the door?", "The door is new.")
    told.write(files, name="rollout-2026-01-02T05-00-00-fork.jsonl")
    with holdfast.open(tmp_path / "store.db") as hf:
        list(hf.import_from(files))
        assert sorted(bool(one.fork) for one in hf.every_session()) == [False, True]
