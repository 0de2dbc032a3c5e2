"""Stores that earlier versions wrote open, and what was damaged in them is mended or told."""

from __future__ import annotations

import lzma
import shutil
import warnings
from pathlib import Path

import apsw
import pytest

from holdfast import open
from holdfast.engine.client import drive
from holdfast.errors import CallsLost
from holdfast.model.reply import Call
from holdfast.model.span import EVERYTHING
from holdfast.stores.health.salvage import salvage
from holdfast.stores.sqlite.store import SqliteStore

OLD = Path(__file__).parent / "old"
IMPORTED = OLD / "5f6f2b40-0000-4000-8000-000000000001.jsonl"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "store.db"
    path.write_bytes(lzma.decompress((OLD / "0010.db.xz").read_bytes()))
    path.chmod(0o600)
    return path


def mended(path: Path) -> SqliteStore:
    with pytest.warns(
        CallsLost, match="2 calls .* overwritten.*1 imported sessions may lack calls"
    ):
        return SqliteStore.open(path)


def by_title(store: SqliteStore, title: str) -> list[Call]:
    found = store.db.rows("SELECT id, data FROM sessions ORDER BY n")
    (id,) = [id for id, data in found if f'"title":"{title}"' in data.decode()][:1]
    return list(drive(store.calls.calls(id)))


def test_calls_go_back_to_the_session_that_holds_their_reply(path: Path) -> None:
    store = mended(path)
    one, own = by_title(store, "first")
    assert (one.outcome, one.usage.total, one.cost) == ("lost", 0, None), "what it used is gone"
    assert (own.request, own.usage.input) == ("chatcmpl-1", 30)
    restored, lost, second = by_title(store, "second")
    assert (restored.outcome, restored.request, restored.usage.input) == ("done", "chatcmpl-0", 20)
    assert (lost.outcome, lost.request, lost.usage.input) == ("lost", "chatcmpl-2", 0)
    assert (second.outcome, second.request, second.usage.input) == ("done", "chatcmpl-2", 40)
    store.close()


@pytest.mark.parametrize("started", [1, 2**52], ids=["a clock put back", "a clock put ahead"])
def test_calls_are_in_the_order_of_the_log_whatever_the_clock_said(
    path: Path, started: int
) -> None:
    old = apsw.Connection(str(path))
    old.execute("UPDATE calls SET started = ? - rowid WHERE rowid IN (1, 3)", (started,))
    old.execute(
        "INSERT INTO calls SELECT 'aside', session, 0, 1, 7, 0, 0, 0, 0, NULL, "
        "CAST(json_remove(json_set(CAST(data AS TEXT), '$.id', 'aside'), '$.entry', '$.request') "
        "AS BLOB) FROM calls WHERE rowid = 2"
    )
    old.execute("UPDATE calls SET rowid = 101 WHERE rowid = 1")
    old.close()
    store = mended(path)
    for title, several in (("first", 2), ("second", 3)):
        calls = by_title(store, title)
        log = drive(store.log.read(calls[0].session, EVERYTHING))
        placed = {entry.id: entry.seq for entry in log}
        replies = [placed[call.entry] for call in calls if call.entry]
        assert len(replies) == several
        assert replies == sorted(replies)
    assert [call.id for call in by_title(store, "first")][-1] == "aside", "behind what it followed"
    store.close()


def test_everything_can_be_explained_and_exported_after_it(path: Path) -> None:
    mended(path).close()
    with open(path) as hf:
        for session in hf.every_session():
            assert hf.export(session.id).data
            for call in drive(hf.engine.store.calls.calls(session.id)):
                if call.outcome == "done":
                    assert hf.session(session.id).explain(call.entry).matches
        assert hf.costs("model")


def test_it_is_told_once_and_doctor_tells_it_until_it_is_accepted(path: Path) -> None:
    mended(path).close()
    with warnings.catch_warnings(action="error"), open(path) as hf:
        found = [one for id in ("", *hf.examinable()) for one in hf.examine(id)]
        what = "1 model calls were overwritten by others; what they used is lost"
        assert [one.what for one in found] == [what] * 3, "of two sessions made here, one imported"
        assert len(hf.repair(found)) == 3
        assert not [one for id in ("", *hf.examinable()) for one in hf.examine(id)]
        assert sum(one.unpriced for one in hf.costs("model")) == 2


def test_importing_the_transcripts_again_counts_every_call(path: Path, tmp_path: Path) -> None:
    mended(path).close()
    again = tmp_path / IMPORTED.name
    shutil.copy(IMPORTED, again)
    with open(path) as hf:
        (source,) = hf.engine.store.db.rows("SELECT look FROM sources")  # type: ignore[attr-defined]
        assert source == ("",), "the file counts as changed"
        (report,) = hf.import_from(again)
        (session,) = report.sessions
        for _ in range(2):
            used = [one.usage.input for one in drive(hf.engine.store.calls.calls(session))]
            assert used == [100, 200, 300]
            list(hf.import_from(again))


def test_a_damaged_one_is_salvaged_with_its_calls(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[:100] = bytes(100)
    path.write_bytes(data)
    saved = salvage(path)
    assert saved.kept["calls"] == 4
    store = SqliteStore.open(path)
    assert [call.request for call in by_title(store, "first")] == ["chatcmpl-1"]
    store.close()
