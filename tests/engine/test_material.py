"""What importers are handed: bounded, confined, and known again when it has changed."""

from __future__ import annotations

import os
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from holdfast.engine.importing.transcript_file import Bounds, FileMaterial
from holdfast.files import Root


def material(place: Path, name: str = "a.jsonl", **bounds: int) -> FileMaterial:
    return FileMaterial(Root(place), name, Bounds(**bounds))


def test_a_line_that_is_too_long_is_told_and_the_next_is_read(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_bytes(b"one\r\n" + b"x" * 50 + b"\n\nlast")
    found = list(material(tmp_path, line=10).lines())
    assert [(line.number, line.data) for line in found] == [
        (1, b"one"), (2, b""), (3, b""), (4, b"last"),
    ]  # fmt: skip
    assert [bool(line.fault) for line in found] == [False, True, False, False]


@pytest.mark.parametrize("bounds", [{"lines": 2}, {"file": 8}])
def test_no_more_of_a_file_is_read_than_its_bounds_allow(
    tmp_path: Path, bounds: dict[str, Any]
) -> None:
    (tmp_path / "a.jsonl").write_bytes(b"abc\n" * 9)
    found = list(material(tmp_path, **bounds).lines())
    assert [line.data for line in found] == [b"abc", b"abc", b""]
    assert "beyond" in found[-1].fault


def test_what_cannot_be_read_is_told_or_absent(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_bytes(b"0123456789")
    (tmp_path / "out").symlink_to("/etc")
    found = material(tmp_path, whole=4)
    assert found.whole() is None
    assert found.whole("nothing") is None
    assert found.whole("out/passwd") is None
    assert found.whole("../a.jsonl") is None
    assert found.names("out") == ()
    assert found.names("") == ("a.jsonl", "out")
    assert list(found.lines("nothing")) == []
    (line,) = material(tmp_path, "gone.jsonl").lines()
    assert "cannot be read" in line.fault


def test_whatever_was_asked_for_is_part_of_how_it_looked(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_bytes(b"one\n")
    first = material(tmp_path)
    first.whole("notes.md")
    first.names("more")
    look = first.look()
    assert material(tmp_path).same(look)
    assert not material(tmp_path).same("")
    (tmp_path / "other").write_text("nobody asked for it")
    assert material(tmp_path).same(look)
    (tmp_path / "notes.md").write_text("now it is there")
    assert not material(tmp_path).same(look)
    (tmp_path / "notes.md").unlink()
    (tmp_path / "more").mkdir()
    (tmp_path / "more" / "file").touch()
    assert not material(tmp_path).same(look)


def test_a_copy_is_private_and_gone_at_the_end(tmp_path: Path) -> None:
    (tmp_path / "a.db").write_bytes(b"rows")
    with closing(material(tmp_path, "a.db")) as found:
        path = found.copy()
        assert path
        assert Path(path).read_bytes() == b"rows"
        assert os.stat(Path(path).parent).st_mode & 0o077 == 0
        assert found.copy("nothing") is None
    assert not Path(path).exists()


def test_a_line_without_end_is_read_no_further_than_its_file_may_be(tmp_path: Path) -> None:
    with (tmp_path / "a.jsonl").open("wb") as file:
        file.truncate(1 << 42)  # four terabytes of nothing, which take no place on a disk
    found = list(material(tmp_path, line=10, file=8 << 20).lines())
    assert [bool(line.fault) for line in found] == [True, True]
