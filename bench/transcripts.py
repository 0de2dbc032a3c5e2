"""Many transcripts of Claude Code and Codex, made of a few real ones: each time with other words.

Every copy of a recorded file has ids and days of its own, so that nothing in it is known from
another, and some of its words are other words, so that an index grows as it would. What is made is
the same each time, and kept in a folder.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from datetime import date, timedelta
from hashlib import blake2b
from pathlib import Path
from typing import Any
from zlib import crc32

import msgspec

from bench.progress import Stage

DATA = Path(__file__).resolve().parents[2] / "shared" / "data" / "transcripts"
PROGRAMS = ("claude", "codex")

_ID = re.compile(
    r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"
    r"|\b(?:msg|toolu|req|call|fc|rs)_[0-9A-Za-z]{8,}|\bagent-[0-9a-f]{8,}"
)
_NAMES = ("sessionId", "session_id", "uuid", "parentUuid", "logicalParentUuid", "leafUuid")
"""Fields that hold ids, whatever these look like."""
_DAY = re.compile(r"\b2\d{3}-[01]\d-[0-3]\d(?=T\d\d)")
"""A call of a model that has no id is known by its time."""
_WORD = re.compile(r'(?<!["\w])[a-z]{5,}(?!["\w])')
_PROSE = 40
"""Texts that are longer, and have blanks, are somebody's words."""
_OTHERS = 4
"""One word in so many is another one in a copy."""
_FROM, _TO = "bcdfghklmnprstvw", "cdfghklmnprstvwb"
_TURNS = [str.maketrans(_FROM, _TO[by:] + _TO[:by]) for by in range(len(_FROM) - 1)]


class Made(msgspec.Struct):
    """What stands in the folder."""

    size: int
    files: int
    lines: int


def made(folder: Path, size: int, stage: Stage) -> Made:
    """So many bytes of transcripts beneath a folder, made where they are not there yet."""
    done = folder / "made.json"
    if done.exists():
        return msgspec.json.decode(done.read_bytes(), type=Made)
    if not DATA.exists():
        raise SystemExit(
            "recorded data is missing: no ../shared/data/transcripts beside the checkout"
        )
    shutil.rmtree(folder, ignore_errors=True)
    tick = stage("making transcripts", size >> 20)
    told = Made(0, 0, 0)
    for path, lines in _copies():
        place = folder / "files" / path
        place.parent.mkdir(parents=True, exist_ok=True)
        data = b"".join(lines)
        place.write_bytes(data)
        for _ in range((told.size + len(data) >> 20) - (told.size >> 20)):
            tick()
        told = Made(told.size + len(data), told.files + 1, told.lines + len(lines))
        if told.size >= size:
            break
    done.write_bytes(msgspec.json.encode(told))
    return told


def _copies() -> Iterator[tuple[str, list[bytes]]]:
    """Every recorded file, copy after copy without end."""
    found = sorted(path for name in PROGRAMS for path in (DATA / name).rglob("*.jsonl"))
    number = 0
    while True:
        copy = Copy(number)
        for path in found:
            name = f"{number}/{copy.ids(path.relative_to(DATA).as_posix())}"
            yield name, [copy.line(line) for line in path.read_bytes().splitlines(keepends=True)]
        number += 1


class Copy:
    """One copy of everything."""

    def __init__(self, number: int) -> None:
        self._number, self._turn = number, _TURNS[number % len(_TURNS)]

    def line(self, data: bytes) -> bytes:
        """A record with other words and ids; what is no record stays as it is."""
        try:
            told = self._said(msgspec.json.decode(data))
            text = msgspec.json.encode(told).decode()
        except (msgspec.DecodeError, UnicodeError):
            return data
        return self.ids(text).encode() + b"\n"

    def ids(self, text: str) -> str:
        """The text with the ids and days of this copy."""
        return _DAY.sub(self._later, _ID.sub(lambda found: self._id(found[0]), text))

    def _later(self, found: re.Match[str]) -> str:
        try:
            return str(date.fromisoformat(found[0]) + timedelta(self._number))
        except ValueError:
            return found[0]

    def _id(self, id: str) -> str:
        digits = blake2b(f"{self._number} {id}".encode(), digest_size=32).hexdigest()
        if id[8:9] == "-":
            return "-".join(
                (digits[:8], *(digits[at : at + 4] for at in (8, 12, 16)), digits[20:32])
            )
        head = re.match("[a-z]+[_-]", id)
        begin = head[0] if head else ""
        return begin + (digits * 4)[: len(id) - len(begin)]

    def _said(self, value: Any) -> Any:
        if isinstance(value, dict):
            return {name: self._own(name, inner) for name, inner in value.items()}
        if isinstance(value, list):
            return [self._said(inner) for inner in value]
        if isinstance(value, str) and len(value) > _PROSE and " " in value:
            return _WORD.sub(self._word, value)
        return value

    def _own(self, name: str, value: Any) -> Any:
        if name in _NAMES and isinstance(value, str) and value and not _ID.search(value):
            return f"{value}-{self._number}"  # of a hand-made file
        return self._said(value)

    def _word(self, found: re.Match[str]) -> str:
        word = found[0]
        if crc32(word.encode()) % _OTHERS:
            return word
        return word.translate(self._turn)
