"""A file whose beginning is marked, damaged or lost is still known by the rest of it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import holdfast
from holdfast.engine.doors import Holdfast
from holdfast.errors import Misuse
from tests.importers import copilot_writing, gemini_writing, opencode_writing, pi_writing, rollouts
from tests.importers.looking import bring, only, words
from tests.importers.writing import Transcript, story

MARK = b"\xef\xbb\xbf"


@pytest.fixture
def hf(tmp_path: Path) -> Iterator[Holdfast]:
    with holdfast.open(tmp_path / "store.db") as opened:
        yield opened


def chat() -> gemini_writing.Chat:
    made = gemini_writing.Chat()
    made.user("u1", "Mend the roof.")
    made.reply("g1", "It is mended.")
    made.user("u2", "Paint it.")
    return made


def written(directory: Path) -> dict[str, Path]:
    """A file of each program that writes text."""
    aider = directory / "a" / ".aider.chat.history.md"
    for name in "api":
        (directory / name).mkdir(parents=True)
    aider.write_text("# aider chat started at 2026-03-01 10:00:00\n\n#### Go on.\n\nYes.\n")
    return {
        "claude-code": story().write(directory / "c"),
        "gemini-cli": chat().write(directory / "g"),
        "gemini document": chat().document(directory / "d"),
        "codex": rollouts.story().write(directory / "x"),
        "copilot-cli": copilot_writing.story().write(directory / "p"),
        "pi": pi_writing.story().write(directory / "i"),
        "opencode": opencode_writing.story().export(directory / "o"),
        "aider": aider,
    }


def texts(hf: Holdfast) -> list[list[str]]:
    return [words(hf.session(one.id)) for one in hf.every_session()]


def test_a_mark_before_the_first_line_changes_nothing(tmp_path: Path) -> None:
    for name, path in written(tmp_path / "t").items():
        told = []
        for step, mark in enumerate((b"", MARK)):
            path.write_bytes(mark + path.read_bytes())
            with holdfast.open(tmp_path / f"{name}{step}.db") as hf:
                (report,) = bring(hf, path)
                told.append((report.importer, report.entries, report.problems, texts(hf)))
        assert told[0] == told[1], name


def test_an_export_with_a_mark_is_taken_in(hf: Holdfast, tmp_path: Path) -> None:
    bring(hf, story().write(tmp_path / "p"))
    path = tmp_path / "whole.ndjson"
    hf.export(only(hf).id, file=path)
    path.write_bytes(MARK + path.read_bytes())
    with holdfast.open(tmp_path / "other.db") as other:
        (report,) = bring(other, path)
        assert (report.importer, report.troubles) == ("portable", 0)
        assert words(only(other)) == words(only(hf))


def test_a_session_of_gemini_without_its_header_is_still_one(hf: Holdfast, tmp_path: Path) -> None:
    path = chat().write(tmp_path)
    _, *lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b'{"sessionId":"0ab84937","proj\n' + b"".join(lines))
    (report,) = bring(hf, path)
    assert (report.importer, report.troubles) == ("gemini-cli", 1)
    assert words(only(hf)) == ["Mend the roof.", "It is mended.", "Paint it."]


@pytest.mark.parametrize("hole", [b"\0" * 70_000, b"x" * 70_000 + b"\n"])
def test_what_lies_behind_a_hole_at_the_beginning_is_imported(
    hf: Holdfast, tmp_path: Path, hole: bytes
) -> None:
    told = Transcript()
    for number in range(300):
        told.user(f"{number} " + "word " * 100)
    path = told.write(tmp_path / "p")
    whole = path.read_bytes()
    path.write_bytes(hole + whole[len(hole) :])
    left = whole[len(hole) :].count(b"\n") - 1
    for place in (path, path.parent):
        (report,) = bring(hf, place)
    assert report.importer == "claude-code"
    assert len(list(only(hf).entries())) >= left > 100


def test_a_named_file_is_read_as_the_program_that_was_named(hf: Holdfast, tmp_path: Path) -> None:
    path = tmp_path / "cut.jsonl"
    path.write_bytes(b'{"type":"summary","summary":"A roof"}\n')
    with pytest.raises(Misuse, match="no transcript"):
        bring(hf, path)
    (report,) = hf.import_from(path, agents=["claude-code"])
    assert report.importer == "claude-code"


def test_one_of_several_that_is_none_hinders_no_other(hf: Holdfast, tmp_path: Path) -> None:
    good, bad = story().write(tmp_path / "p"), tmp_path / "notes.txt"
    bad.write_text("Buy nails.")
    left, missing, brought = bring(hf, bad, tmp_path / "gone", good)
    assert (left.path, left.troubles) == (str(bad), 1)
    assert "is no transcript that can be imported" in left.problems[0].what
    assert (missing.path, missing.troubles) == (str(tmp_path / "gone"), 1)
    assert (brought.messages, brought.troubles) == (11, 0)
