"""Copies that Holdfast itself has handed over: of which session, and whether they have gone on."""

from __future__ import annotations

from msgspec import Struct

from holdfast.importers.jsonl import UNREADABLE, decode
from holdfast.importers.values import table, text
from holdfast.ports import Material

KINDS = ("holdfast-export", "holdfast_export")
"""What the record is called that ends such a copy, with one program and the other."""


class Copy(Struct, frozen=True):
    """What a file that was handed over says of itself."""

    session: str
    title: str = ""
    grown: bool = False
    """Whether anything stands behind what was handed over."""


def copied(material: Material) -> Copy | None:
    """The copy that a file is; None where it says nothing of that."""
    found: Copy | None = None
    for line in material.lines():
        if found is not None and line.data.strip():
            return Copy(found.session, found.title, grown=True)
        if found is None and b"holdfast" in line.data[:200]:
            found = _record(line.data)
    return found


def _record(data: bytes) -> Copy | None:
    try:
        fields = table(decode(data))
    except UNREADABLE:
        return None
    told = fields if fields.get("type") == KINDS[0] else table(fields.get("payload"))
    session = text(told.get("session"))
    known = fields.get("type") in KINDS and session
    return Copy(session, text(told.get("title"))) if known else None
