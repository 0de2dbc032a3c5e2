"""Files that end too early, at every byte: what of them must be told, worked out another way.

Rule 1: every record that is whole before the cut is told.
Rule 2: that something is missing is said wherever that can be known. In Markdown it can only where
        the cut goes through a character.
"""

from __future__ import annotations

import json
import re
import sqlite3
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from holdfast.engine.importing.transcript_file import FileMaterial
from holdfast.engine.plugins import importer
from holdfast.files import Root
from holdfast.importers.document import document
from holdfast.model.message import Record
from holdfast.model.transcript_events import Carried, Kept, MessageRead, Problem, TranscriptEvent
from tests.fuzz.forms import Form, unpack
from tests.fuzz.rows import PAGE

BLANKS = len("  ")
"""What ends a line of the user's or of the console's, and says whose it is."""


class Cutting:
    """One file of a format, and what is told of its beginnings."""

    def __init__(self, form: Form, folder: Path) -> None:
        self.form, self._folder = form, folder
        self.data = form.seeds[0]
        self._write(form.beside)
        judges = {"lines": self._lines, "words": self._words, "document": self._document}
        self._judge = judges.get(form.kind, self._database)
        self._judge = self._sessions if form.name == "portable" else self._judge
        self._whole = self.told(self.data)

    def _write(self, files: dict[str, bytes]) -> None:
        for name, data in files.items():
            path = self._folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)

    def told(self, data: bytes) -> list[TranscriptEvent]:
        """What is told of a file."""
        self._write({self.form.file: data})
        return self._read()

    def _read(self) -> list[TranscriptEvent]:
        with closing(FileMaterial(Root(self._folder), self.form.file)) as material:
            return list(importer(self.form.importer).read(material))

    def wrong(self, lengths: Iterator[int] | range) -> Iterator[str]:
        """What is wrong with what is told of these beginnings."""
        if self.form.kind == "files":
            yield from self._files(lengths)
            return
        for length in lengths:
            for what in self._judge(self.told(self.data[:length]), length):
                yield f"{self.form.name} cut at {length}: {what}"

    def _lines(self, told: list[TranscriptEvent], length: int) -> Iterator[str]:
        complete, torn = whole_lines(self.data, length)
        lines = {record.line for item in told for record in records(item)}
        if missing := set(range(1, complete + 1)) - lines:
            yield f"lines {sorted(missing)} are missing"
        if torn != (complete + 1 in damaged(told)):
            yield f"line {complete + 1} is {'not ' if torn else ''}said to be damaged"

    def _sessions(self, told: list[TranscriptEvent], length: int) -> Iterator[str]:
        complete, torn = whole_lines(self.data, length)
        begun = self.data.split(b"\n")[:complete]
        wanted = sum(line.startswith(b'{"type":"session"') for line in begun)
        found = sum(isinstance(item, Carried) for item in told)
        if found != wanted:
            yield f"{found} of {wanted} sessions"
        if torn != (complete + 1 in damaged(told)):
            yield f"line {complete + 1} is {'not ' if torn else ''}said to be damaged"

    def _words(self, told: list[TranscriptEvent], length: int) -> Iterator[str]:
        whole, cut = said(self._whole), said(told)
        ended = sum(end + BLANKS <= length for end in self._ends())
        sure = max(ended - 1, 0)  # of the last, the cut may hide whose its last line is
        if len(cut) < ended or cut[:sure] != whole[:sure]:
            yield f"of {ended} messages that had ended {len(cut)} are told, or they are others"
        try:
            self.data[:length].decode()
        except UnicodeDecodeError:
            if not damaged(told):
                yield "half a character is not said to be damage"

    def _ends(self) -> Iterator[int]:
        """Where each message ends: behind its last line, looked for from the one before on."""
        at = 0
        for _, text in said(self._whole):
            for line in text.encode().split(b"\n"):
                at = self.data.index(line, at) + len(line)
            yield at

    def _document(self, told: list[TranscriptEvent], length: int) -> Iterator[str]:
        held = document(self.data, "messages", re.compile(rb"\{"))
        assert held
        ends, at = list[int](), 0
        for _, item in held.items:
            at = self.data.index(item, at) + len(item)
            ends.append(at)
        many = sum(end <= length for end in ends)
        fields = json.loads(self.data)
        fields["messages"] = fields["messages"][:many]
        wanted = natives(self.told(json.dumps(fields).encode()))
        if natives(told) != wanted:
            yield f"{natives(told)} instead of {wanted}"
        if length and length < len(self.data.rstrip()) and not damaged(told):
            yield "is not said to be damaged"

    def _files(self, lengths: Iterator[int] | range) -> Iterator[str]:
        """Each file of a tree, cut at these bytes: the messages of all others are told."""
        files = unpack(self.data)
        self._write(files)
        every = natives(self._read())
        for name, data in files.items():
            for length in (length for length in lengths if length < len(data)):
                self._write({name: data[:length]})
                told = self._read()
                gone = Path(name).stem if "/message/" in name else "?"
                found = natives(told)
                if [one for one in every if not one.startswith(gone)] != [
                    one for one in found if not one.startswith(gone)
                ] and "/part/" not in name:  # fmt: skip
                    yield f"{name} cut at {length}: {found} instead of {every}"
                if not damaged(told):
                    yield f"{name} cut at {length}: is not said to be damaged"
            self._write({name: data})

    def _database(self, told: list[TranscriptEvent], length: int) -> Iterator[str]:
        """Every message that SQLite itself can still reach, given its number, and its parts."""
        kept = [record for item in told for record in records(item)]
        messages, parts = reachable(self.data[:length])
        if missing := messages - Counter(
            record.data for record in kept if record.type == "message"
        ):
            yield f"{[*missing]} are missing"
        found = sum(record.type.startswith("part/") for record in kept)
        if found < parts:
            yield f"{found} of {parts} parts are told"
        if length < len(self.data) and not damaged(told):
            yield "is not said to be damaged"


def reachable(data: bytes) -> tuple[Counter[bytes], int]:
    """The messages of a database that ends too early, and how many parts of theirs there are."""
    pages = len(data) // PAGE
    whole = data[:28] + pages.to_bytes(4, "big") + data[32 : pages * PAGE]
    found: Counter[bytes] = Counter()
    parts = 0
    with closing(sqlite3.connect(":memory:")) as db:
        try:
            db.deserialize(whole)
            db.execute("SELECT * FROM session, message, part WHERE 0")
        except sqlite3.DatabaseError:
            return found, parts
        ids: set[str] = set()
        for number in range(60):
            for id, held in _one(db, "SELECT id, data FROM message", number):
                found[held.encode()] += 1
                ids.add(id)
        for number in range(60):
            owners = _one(db, "SELECT message_id, data FROM part", number)
            parts += sum(id in ids for id, _ in owners)
    return found, parts


def _one(db: sqlite3.Connection, query: str, number: int) -> list[tuple[str, ...]]:
    try:
        return list(db.execute(f"{query} WHERE rowid = ?", (number,)))
    except sqlite3.DatabaseError:
        return []


def whole_lines(data: bytes, length: int) -> tuple[int, bool]:
    """How many lines are whole in a beginning, and whether another has begun."""
    lines = data.splitlines()
    complete, at = 0, 0
    for line in lines:
        if at + len(line) > length:
            break
        complete, at = complete + 1, at + len(line) + 1
    return complete, at < length


def records(item: TranscriptEvent) -> tuple[Record, ...]:
    """The records that an item carries."""
    return (item.record,) if isinstance(item, Kept) else getattr(item, "records", ())


def damaged(told: list[TranscriptEvent]) -> set[int]:
    """The lines that are said to be damaged."""
    return {item.line for item in told if isinstance(item, Problem) and item.severity == "damaged"}


def natives(told: list[TranscriptEvent]) -> list[str]:
    """What was said, by its native ids."""
    return [item.native for item in told if isinstance(item, MessageRead)]


def said(told: list[TranscriptEvent]) -> list[tuple[str, str]]:
    """Who said what."""
    return [
        (item.message.role, item.message.text) for item in told if isinstance(item, MessageRead)
    ]
