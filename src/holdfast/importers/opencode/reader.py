"""One source of OpenCode: an export, a session in the tree of files, or a database of many.

Rule 1: where a database lies beside a tree, it tells both: its own sessions, and of the tree those
        that it does not have.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import closing
from itertools import chain
from pathlib import PurePosixPath

import apsw
import msgspec
from msgspec import Struct

from holdfast.importers.document import LARGEST, TOO_LARGE, Piece, document
from holdfast.importers.jsonl import UNREADABLE, Found, read
from holdfast.importers.opencode.database import Database, Limits, copied
from holdfast.importers.opencode.parts import AGENT, Held
from holdfast.importers.opencode.rows import TooMuch
from holdfast.importers.opencode.session import Telling
from holdfast.importers.opencode.tree import Tree
from holdfast.importers.values import count, table, text
from holdfast.model import wire
from holdfast.model.transcript_events import Kept, Problem, TranscriptEvent
from holdfast.ports import TranscriptFile

DATABASE = "opencode.db"

ITEM = re.compile(rb'\{\s*"info"\s*:\s*\{')
"""How a message of an export begins."""

_members = msgspec.json.Decoder(dict[str, msgspec.Raw])


def exported(material: TranscriptFile) -> Iterator[TranscriptEvent]:
    """What `opencode export` printed."""
    data = material.whole(most=LARGEST)
    held = document(data, "messages", ITEM) if data is not None else None
    if held is None:
        yield Problem(TOO_LARGE if data is None else "is no JSON document")
        return
    fields = held.head.get("info")
    info = fields if type(fields) is dict else {}
    keys = {number: _key(piece) for number, piece in enumerate(held.pieces) if piece.whole}
    told = () if held.rest else (one.session for one in keys.values())
    names = (text(info.get("id")), *told, PurePosixPath(material.name).stem)
    info = {**info, "id": next(filter(None, names))}
    items = chain.from_iterable(
        _held(held.pieces[number]) for number in sorted(keys, key=lambda one: keys[one].order)
    )
    lost = (item for one in held.pieces if not one.whole for item in one.records(AGENT))
    others = (item for item in lost if not isinstance(item, Found))
    yield from Telling(Found(1, held.rest or b"{}", info)).told(chain(items, others))


class _Key(Struct, frozen=True):
    """What places a message among the others."""

    order: tuple[int, str]
    session: str = ""


def _key(piece: Piece) -> _Key:
    for found in piece.records(AGENT):
        if isinstance(found, Found):
            info = found.table("info")
            created = count(table(info.get("time")).get("created"))
            order = created, text(info.get("id")) or f"line {found.line}"
            return _Key(order, text(info.get("sessionID")))
    return _Key((0, ""))


def _held(piece: Piece) -> Iterator[Held | Problem | Kept]:
    """A message of an export, then what is wrong with it."""
    for found in piece.records(AGENT):
        if isinstance(found, Found):
            message, troubles = _message(found)
            yield message
            yield from troubles
        else:
            yield found


def _message(found: Found) -> tuple[Held, list[Problem | Kept]]:
    """A message of an export, by the bytes of its parts."""
    try:
        members = _members.decode(found.data)
        info = bytes(members.get("info", b"{}"))
        pieces = [bytes(raw) for raw in msgspec.json.decode(
            members.get("parts", b"[]"), type=list[msgspec.Raw])]  # fmt: skip
    except UNREADABLE:
        parts = found.fields.get("parts")
        info = wire.encode(found.table("info"))
        pieces = [wire.encode(part) for part in parts] if type(parts) is list else []
    items = [item for piece in pieces for item in read(AGENT, found.line, piece)]
    parts = [item for item in items if isinstance(item, Found)]
    others = [item for item in items if not isinstance(item, Found)]
    return Held(Found(found.line, info, found.table("info")), parts), others


def in_tree(material: TranscriptFile) -> Iterator[TranscriptEvent]:
    """One session in the tree of files."""
    path = PurePosixPath(material.name)
    if len(path.parents) < 4:
        yield Problem("is a session without the files of its messages", 1, "notice")
        return
    storage = path.parents[2]
    if next(material.lines(str(storage.parent / DATABASE)), None) is not None:
        yield Problem(f"is told by the {DATABASE} beside it: import that", 1, "notice")
        return
    tree = Tree(material, storage)
    items = list(tree.session(material.name))
    info = next((item for item in items if isinstance(item, Found)), None)
    info = info or Found(1, b"{}", {"id": path.stem})  # it is damaged, and its messages are not
    others = [item for item in items if not isinstance(item, Found)]
    yield from Telling(info).told(chain(others, tree.messages(info.text("id"))))


def in_database(
    material: TranscriptFile, limits: Limits | None = None
) -> Iterator[TranscriptEvent]:
    """Every session of a database, and of the tree beside it."""
    met: set[str] = set()
    try:
        yield from _rows(material, limits, met)
    except (apsw.Error, TooMuch, OSError, UnicodeError) as why:
        yield Problem(f"is damaged: {str(why)[:200]}")
    tree = Tree(material, PurePosixPath(material.name).parent / "storage")
    for item in tree.sessions():
        if isinstance(item, Found) and item.text("id") not in met:
            met.add(item.text("id"))
            yield from Telling(item).told(tree.messages(item.text("id")))
        elif isinstance(item, Problem):
            yield item


def _rows(
    material: TranscriptFile, limits: Limits | None, met: set[str]
) -> Iterator[TranscriptEvent]:
    place = copied(material)
    if place is None:
        yield Problem("cannot be copied while it is written to; import it again later")
        return
    with closing(Database(place, limits)) as database:
        yield from database.open()
        sessions = list(database.sessions())
        yield from database.damage()
        for info in sessions:
            met.add(info.text("id"))
            if info.text("id"):
                yield from Telling(info).told(database.messages(info.text("id")))
