"""The bare loop of the import benchmark writes the very rows that an import leaves."""

from pathlib import Path

import apsw
import pytest

from bench import bare, importing, transcripts
from bench.progress import silent


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, shared_data: Path) -> Path:
    assert shared_data
    return tmp_path_factory.mktemp("import")


def test_copies_have_ids_and_words_of_their_own() -> None:
    line = b'{"uuid":"0b9e7c2a-1111-2222-3333-444455556666","id":"msg_0123456789ab",'
    line += b'"text":"' + b"gather wooden harbor silver thicket pillow " * 3 + b'"}\n'
    one, two = transcripts.Copy(1).line(line), transcripts.Copy(2).line(line)
    assert one == transcripts.Copy(1).line(line)
    assert len(one) == len(two) == len(line)
    assert set(one.split(b'"')) & set(two.split(b'"')) & {b"uuid", b"id", b"text"}
    assert set(one[90:].split()) != set(two[90:].split())
    assert transcripts.Copy(1).line(b"no record\n") == b"no record\n"


def test_both_write_the_same_rows(folder: Path) -> None:
    result = importing.measure(2_000_000, 1, folder)
    assert result.rows["entries"] > 300
    assert result.rows["search_docsize"] > 300
    assert result.memory > 10_000_000
    words = importing.section(result)
    assert "both" in importing.table(result).markdown()
    assert f"{result.rows['entries']:,} entries" in words


def test_the_floor_is_byte_for_byte_what_was_imported(folder: Path, tmp_path: Path) -> None:
    transcripts.made(folder / "import-2000000", 2_000_000, silent)
    files = folder / "import-2000000" / "files"
    ours, theirs = tmp_path / "ours" / "log.db", tmp_path / "theirs" / "log.db"
    for path in (ours, theirs):
        path.parent.mkdir()
    importing.ours(files, ours)
    bare.Floor.of(ours).run(files, theirs)
    for table in ("entries", "parts", "blobs", "calls", "origins", "sources"):
        rows = [
            sorted(apsw.Connection(str(path)).execute(f"SELECT * FROM {table}"), key=repr)
            for path in (ours, theirs)
        ]
        assert rows[0] == rows[1], table
