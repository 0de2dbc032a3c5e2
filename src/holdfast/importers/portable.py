"""Holdfast's own portable form, read back: one session a line."""

from __future__ import annotations

import re
from collections.abc import Iterator

import msgspec

from holdfast.importers.values import begins
from holdfast.model import wire
from holdfast.model.portable import VERSION, PortableBoundary, PortableLine
from holdfast.model.transcript_events import Carried, Line, Problem, TranscriptEvent
from holdfast.ports import TranscriptFile

_BEGUN = re.compile(
    rb'(?m)^[ \t]*\{\s*"type"\s*:\s*"session"\s*,\s*"version"\s*:\s*\d+\s*,\s*"session"\s*:\s*\{'
)
_ANOTHER = re.compile(rb'\s*\{\s*"type"\s*:\s*"(?:session|boundary)"\s*,\s*"version"\s*:\s*(\d+)')


class Portable:
    """Reads what `holdfast export --to portable` wrote."""

    name = "portable"
    reach = 0

    def default_paths(self) -> tuple[str, ...]:
        """It has no usual place."""
        return ()

    def matches_name(self, name: str) -> bool:
        """Whether a file may be an export."""
        return name.endswith((".ndjson", ".jsonl"))

    def recognises(self, head: bytes, name: str) -> bool:
        """Whether a line of it begins as one."""
        return begins(_BEGUN, head)

    def read(self, material: TranscriptFile) -> Iterator[TranscriptEvent]:
        """Each session whole; boundaries on lines of their own say nothing new."""
        for line in _lines(material):
            if line.fault:
                yield Problem(line.fault, line.number)
            elif line.data.strip():
                yield from _read(line)


def _lines(material: TranscriptFile) -> Iterator[Line]:
    """The lines; those of a file that can be held may be of any length."""
    whole = material.whole()
    if whole is None:
        yield from material.lines()
        return
    for number, data in enumerate(whole.split(b"\n"), 1):
        yield Line(number, data)


def _read(line: Line) -> Iterator[TranscriptEvent]:
    begun = _ANOTHER.match(line.data)
    if begun and int(begun[1][:9]) > VERSION:
        told = f"version {int(begun[1][:9])} of the portable form is newer than this Holdfast"
        yield Problem(f"{told}: bring it up to date and import again", line.number)
        return
    try:
        found = wire.decode(line.data, PortableLine)  # type: ignore[arg-type]
    except (msgspec.MsgspecError, ValueError, RecursionError) as error:
        yield Problem(f"is no session in the portable form: {error}", line.number)
        return
    if not isinstance(found, PortableBoundary):
        yield Carried(found, line.number)
