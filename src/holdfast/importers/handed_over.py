"""Copies that Holdfast itself has handed over: of which session, and whether they have gone on."""

from __future__ import annotations

from hashlib import sha256
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from holdfast.importers.jsonl import UNREADABLE, decode
from holdfast.importers.values import count, table, text
from holdfast.model.transcript_events import HANDED
from holdfast.ports import TranscriptFile


class Copy(Struct, frozen=True):
    """What a file that was handed over says of itself."""

    session: str
    title: str = ""
    grown: bool = False
    """Whether anything stands behind what was handed over."""
    head: int = 0
    """The last entry that was handed over; 0 where what stands before the record is not that."""


def copied(material: TranscriptFile) -> Copy | None:
    """The copy that a file is; None where it says nothing of that."""
    found: Copy | None = None
    before = sha256()
    for line in material.lines():
        if found is not None and line.data.strip():
            return replace(found, grown=True)
        if found is None and b"holdfast" in line.data[:200]:
            found = _record(line.data, before.hexdigest())
        before.update(line.data + b"\n")
    return found


def _record(data: bytes, before: str) -> Copy | None:
    try:
        fields = table(decode(data))
    except UNREADABLE:
        return None
    told = fields if fields.get("type") == HANDED[0] else table(fields.get("payload"))
    session = text(told.get("session"))
    known = fields.get("type") in HANDED and session and session.isascii()
    return Copy(session, text(told.get("title")), head=_head(told, before)) if known else None


def _head(told: dict[str, Any], before: str) -> int:
    return count(told.get("head")) if told.get("sha256") == before else 0
