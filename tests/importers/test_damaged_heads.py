"""A file whose beginning is marked, damaged or lost is still known by the rest of it."""

from __future__ import annotations

import json
from contextlib import closing
from pathlib import Path

import pytest

import holdfast
from holdfast.engine.client import Holdfast
from holdfast.engine.importing.transcript_file import FileMaterial
from holdfast.engine.plugins import importer
from holdfast.errors import InvalidRequest
from holdfast.files import Root
from holdfast.model.transcript_events import MessageRead, Problem
from tests.importers import copilot_writing, gemini_writing, opencode_writing, pi_writing, rollouts
from tests.importers.looking import bring, only, words
from tests.importers.writing import Transcript, story

MARK = b"\xef\xbb\xbf"


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
    with pytest.raises(InvalidRequest, match="no transcript"):
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


DOCUMENTS = {"gemini document": "gemini-cli", "opencode": "opencode"}


def _document(name: str, directory: Path) -> Path:
    if name != "opencode":
        return chat().document(directory)
    talk = opencode_writing.Talk()
    for said in ("Mend the roof.", "Paint it.", 'Say "{" and "}].'):
        talk.user(said)
        talk.reply("It is done.")
    return talk.export(directory)


class Damaged:
    """A document, and what is told of it once some of its bytes are gone."""

    def __init__(self, name: str, directory: Path, indent: int | None) -> None:
        self.path = _document(name, directory)
        self._importer = DOCUMENTS[name]
        whole = json.loads(self.path.read_text())
        self.data = json.dumps(whole, indent=indent, ensure_ascii=False).encode()
        self.spans: dict[str, tuple[int, int]] = {}
        at = 0
        for one in whole["messages"]:
            id = one.get("info", one)["id"]
            end = self.data.find(json.dumps(id).encode(), at)
            start = self.data.rfind(b"{", at, end)
            start = self.data.rfind(b"{", at, start) if "info" in one else start
            text = self.data[start:].decode()
            at = start + len(text[: json.JSONDecoder().raw_decode(text)[1]].encode())
            self.spans[id] = (start, at)

    def told(self, data: bytes) -> tuple[set[str], bool]:
        """The messages, and whether damage is told."""
        self.path.write_bytes(data)
        with closing(FileMaterial(Root(self.path.parent), self.path.name)) as material:
            told = list(importer(self._importer).read(material))
        natives = {one.native.split("#")[0] for one in told if isinstance(one, MessageRead)}
        return natives, any(isinstance(one, Problem) for one in told)

    def left(self, start: int, end: int) -> set[str]:
        """The messages that these bytes are none of."""
        return {id for id, (first, last) in self.spans.items() if last <= start or first >= end}


@pytest.mark.parametrize("indent", [2, None])
@pytest.mark.parametrize("name", DOCUMENTS)
def test_a_document_without_its_beginning_tells_every_message_that_is_whole(
    tmp_path: Path, name: str, indent: int | None
) -> None:
    document = Damaged(name, tmp_path, indent)
    last = max(start for start, _ in document.spans.values())
    for at in range(1, last + 1, 3):
        assert document.told(document.data[at:]) == (document.left(0, at), True), at


@pytest.mark.parametrize("indent", [2, None])
@pytest.mark.parametrize("name", DOCUMENTS)
def test_a_document_with_a_hole_tells_every_message_that_is_whole(
    tmp_path: Path, name: str, indent: int | None
) -> None:
    document = Damaged(name, tmp_path, indent)
    data, size = document.data, len(document.data)
    for start in range(0, size - 20, 17):
        end = start + 7 + start % 150
        left = data[:start] + data[end:]
        natives, damaged = document.told(left)
        assert natives >= document.left(start, end), start
        assert damaged or json.loads(left), start


@pytest.mark.parametrize("name", DOCUMENTS)
def test_a_document_without_its_beginning_is_known_for_what_it_is(
    hf: Holdfast, tmp_path: Path, name: str
) -> None:
    document = Damaged(name, tmp_path, 2)
    first, *_ = document.spans.values()
    document.path.write_bytes(document.data[first[0] + 5 :])
    (report,), (again,) = bring(hf, document.path), bring(hf, document.path.parent)
    assert report.importer == again.importer == DOCUMENTS[name]
    assert [one.what for one in report.problems] == [
        "is damaged here: what is whole around it was read"
    ]
    assert len(words(only(hf))) >= len(document.spans) - 1 > 0
