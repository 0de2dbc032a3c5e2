"""What every importer promises, as tests to inherit.

class TestMine(ImporterContract):
    def importer(self): return MyImporter()
    def example(self, place): (place / "a.jsonl").write_bytes(…); return place / "a.jsonl"
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from holdfast.engine import client
from holdfast.engine.bridge import drive
from holdfast.engine.importing.discovery import Source
from holdfast.engine.importing.source import Importing
from holdfast.engine.importing.transcript_file import Bounds, FileMaterial
from holdfast.files import Root
from holdfast.model.import_report import ImportReport
from holdfast.model.message import Record
from holdfast.model.transcript_events import (
    Compacted,
    Kept,
    MessageRead,
    Problem,
    Rewound,
    SessionStarted,
    TranscriptEvent,
)
from holdfast.ports import Importer

NONSENSE = (b"\x00" * 200, b"\xff\xfe\xfd", b"just words\n", b"{}\n", b"[]", b'{"a": 1}\n')
"""What is nobody's transcript."""

STRANGE: tuple[Any, ...] = (None, True, -1, 1e308, "", "\ud800", [], {}, [[]], {"type": {}})
"""What may stand where something else belongs."""

WINDOWS = (
    ("claude-sonnet-4-6", "anthropic"),
    ("gpt-5.1", "openai-responses"),
    ("gpt-4.1", "openai-chat"),
    ("gemini-3.1-pro", "gemini"),
)


class ImporterContract:
    """Say what the importer is and write an example, and inherit its tests."""

    lines = True
    """Whether a transcript is lines that are only ever added to."""

    every = 9
    """One in how many damaged forms of the example is tried: with 1 every one of them."""

    def importer(self) -> Importer:
        """A new importer."""
        raise NotImplementedError

    def example(self, place: Path) -> Path:
        """Write a transcript with all that the format can say; the file to import."""
        raise NotImplementedError

    @pytest.fixture
    def written(self, tmp_path: Path) -> Path:
        return self.example(tmp_path)

    def material(self, path: Path) -> FileMaterial:
        above = (path.parent, *path.parent.parents)[self.importer().reach]
        return FileMaterial(Root(above), str(path.relative_to(above)), Bounds(line=1 << 20))

    def told(self, path: Path) -> list[TranscriptEvent]:
        with closing(self.material(path)) as material:
            return list(islice(self.importer().read(material), 1_000_000))

    def brought(self, hf: client.Holdfast, path: Path) -> ImportReport:
        material = self.material(path)
        source = Source(self.importer().name, str(material.root.path), material.name)
        return drive(Importing(hf.engine, source, reader=self.importer()).run(again=True))

    def test_it_knows_its_own_and_nobody_else_s(self, written: Path) -> None:
        mine = self.importer()
        name = self.material(written).name
        assert mine.matches_name(name)
        assert mine.recognises(written.read_bytes()[: 64 * 1024], name)
        assert not [head for head in NONSENSE if mine.recognises(head, "other.txt")]

    def test_a_session_is_begun_before_anything_is_told_of_it(self, written: Path) -> None:
        first = next(item for item in self.told(written) if not isinstance(item, Problem))
        assert isinstance(first, SessionStarted)
        assert all(item.native for item in self.told(written) if isinstance(item, SessionStarted))

    def test_it_tells_the_same_again(self, written: Path) -> None:
        assert self.told(written) == self.told(written)

    def test_what_is_kept_names_its_owner(self, written: Path) -> None:
        kept = [item.record for item in self.told(written) if isinstance(item, Kept)]
        left = [
            one
            for item in self.told(written)
            if isinstance(item, MessageRead)
            for one in item.records
        ]
        assert {record.owner for record in (*kept, *left)} <= {self.importer().name}
        assert all(record.whole for record in kept)

    def test_a_file_that_has_grown_tells_the_same_and_more(self, written: Path) -> None:
        if not self.lines:
            pytest.skip("its files are written anew as a whole")
        lines = written.read_bytes().splitlines(keepends=True)
        whole = in_order(self.told(written))
        for many in range(len(lines) + 1):
            written.write_bytes(b"".join(lines[:many]))
            told = in_order(self.told(written))
            for native, items in told.items():
                closed = items[:-1]  # the last may still grow
                assert whole[native][: len(closed)] == closed

    def test_cut_anywhere_it_is_read_to_its_end(self, written: Path) -> None:
        data = written.read_bytes()
        step = max(len(data) // 400, 1)
        for length in range(0, len(data), step):
            written.write_bytes(data[:length])
            self.told(written)

    def test_damage_in_the_middle_hides_nothing_else(self, written: Path) -> None:
        if not self.lines:
            pytest.skip("its files are read as a whole")
        lines = written.read_bytes().splitlines(keepends=True)
        middle = len(lines) // 2
        written.write_bytes(b"".join((*lines[:middle], b'\xff{"half\n', *lines[middle:])))
        told = self.told(written)
        assert middle + 1 in [item.line for item in told if isinstance(item, Problem)]
        damaged = [item.record for item in told if isinstance(item, Kept)]
        assert b'\xff{"half' in [record.data.rstrip() for record in damaged]

    def test_nothing_that_stands_in_a_file_is_an_error(self, written: Path) -> None:
        data = written.read_bytes()
        for strange in islice(mutilated(data, self.every, lines=self.lines), 3_000):
            written.write_bytes(strange)
            self.told(written)

    def test_imported_twice_it_is_there_once_and_can_go_on(self, written: Path) -> None:
        with client.open("memory:") as hf:
            first = self.brought(hf, written)
            assert first.sessions
            again = self.brought(hf, written)
            assert (again.entries, again.messages, again.sessions) == (0, 0, first.sessions)
            for id in first.sessions:
                session = hf.session(id)
                session.user("Go on, please.")
                for model, format in WINDOWS:
                    assert session.preview(model=model).request(format)
                bodies = [entry.body for entry in session.entries()]
                parts = [list(getattr(body, "parts", ())) for body in bodies]
                for some in parts:
                    assert some == sorted(some, key=lambda part: isinstance(part, Record))


def in_order(told: list[TranscriptEvent]) -> dict[str, list[TranscriptEvent]]:
    """What is told in order, by session."""
    found: dict[str, list[TranscriptEvent]] = {}
    current = ""
    for item in told:
        if isinstance(item, SessionStarted):
            current = item.native
        elif isinstance(item, (MessageRead, Compacted, Rewound)):
            found.setdefault(current, []).append(item)
    return found


def mutilated(data: bytes, every: int, *, lines: bool) -> Iterator[bytes]:
    """The same file with one value of it replaced by another, wherever that can be."""
    pieces = data.splitlines(keepends=True) if lines else [data]
    for number, piece in enumerate(pieces):
        try:
            value = json.loads(piece)
        except ValueError:
            continue
        for turn, other in enumerate(_others(value)):
            made = json.dumps(other).encode() + (b"\n" if lines else b"")
            if (turn + number) % every == 0:  # other ones for each line
                yield b"".join((*pieces[:number], made, *pieces[number + 1 :]))


def _others(value: Any, deep: int = 5) -> Iterator[Any]:
    yield from STRANGE
    if deep and isinstance(value, dict):
        for name, inner in value.items():
            yield from ({**value, name: other} for other in _others(inner, deep - 1))
            yield {key: kept for key, kept in value.items() if key != name}
    elif deep and isinstance(value, list):
        for at, inner in enumerate(value[:3]):
            for other in _others(inner, deep - 1):
                yield [*value[:at], other, *value[at + 1 :]]
