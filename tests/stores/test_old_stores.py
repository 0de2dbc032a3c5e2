"""Stores that earlier versions wrote open, and what was damaged in them is mended or told."""

from __future__ import annotations

import lzma
import shutil
import warnings
from pathlib import Path

import pytest

from holdfast import open
from holdfast.engine.doors import drive
from holdfast.errors import CallsLost
from holdfast.model.reply import Call
from holdfast.stores.salvage import salvage
from holdfast.stores.sqlite import SqliteStore

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
    restored, first, second = by_title(store, "second")[0:3]
    assert {restored.outcome, first.outcome, second.outcome} == {"done", "lost"}
    kept = [call for call in (restored, first, second) if call.outcome == "done"]
    assert [(call.request, call.usage.input) for call in kept] == [
        ("chatcmpl-0", 20),
        ("chatcmpl-2", 40),
    ]
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
