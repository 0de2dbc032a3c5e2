"""Foreign snapshots: what other programs recorded of files, read from the records an import kept.

Rule 1: the records stand in the log as they were written; nothing is added to it to show them.
Rule 2: a record that is damaged or names no object is no snapshot, and never an error.
Rule 3: only names are known here. The content is in the git objects of the program that wrote it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final, cast

import msgspec

from holdfast.model import wire
from holdfast.model.log import Entry, Records
from holdfast.model.message import Message, Record
from holdfast.model.workspace import ForeignSnapshot

AGENTS: Final = frozenset({"codex", "opencode"})
"""The programs whose records are read."""

GHOST: Final = "ghost_snapshot"

LARGEST: Final = 4 << 20
"""A longer record is not looked into."""

LONGEST: Final = 200
"""A longer name is none of a git object."""


def snapshots(entries: Iterable[Entry]) -> Iterator[ForeignSnapshot]:
    """The snapshots and patches that stand in entries, in order."""
    for entry in entries:
        for record in _records(entry):
            if found := _read(record, entry.seq):
                yield found


def told_once(found: Iterable[ForeignSnapshot]) -> Iterator[ForeignSnapshot]:
    """The same without a state that is named again while nothing else was."""
    last = ""
    for one in found:
        if one.kind == "patch" or one.hash != last:
            yield one
        last = one.hash if one.kind == "snapshot" else last


def ghost_commit(one: ForeignSnapshot) -> dict[str, Any]:
    """A snapshot of Codex's as it writes its own."""
    return {
        "type": GHOST,
        "ghost_commit": {
            "id": one.hash,
            "parent": one.parent or None,
            "preexisting_untracked_files": list(one.untracked),
            "preexisting_untracked_dirs": list(one.untracked_directories),
        },
    }


def _records(entry: Entry) -> Iterator[Record]:
    body = entry.body
    if isinstance(body, Records):
        yield from body.records
    elif isinstance(body, Message):
        yield from (part for part in body.parts if isinstance(part, Record))


def _read(record: Record, at: int) -> ForeignSnapshot | None:
    read = _READ.get((record.owner, record.type))
    if read is None or len(record.data) > LARGEST:
        return None
    try:
        told = _table(wire.decode(record.data, object))
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
    found = read(told, at)
    return found if found.hash else None


def _ghost(told: dict[str, Any], at: int) -> ForeignSnapshot:
    commit = _table(_table(told.get("payload", told)).get("ghost_commit"))
    return ForeignSnapshot(
        agent="codex", at=at, kind="snapshot", hash=_name(commit.get("id")),
        parent=_name(commit.get("parent")),
        untracked=_texts(commit.get("preexisting_untracked_files")),
        untracked_directories=_texts(commit.get("preexisting_untracked_dirs")),
    )  # fmt: skip


def _tree(told: dict[str, Any], at: int) -> ForeignSnapshot:
    hash = _name(told.get("snapshot"))
    return ForeignSnapshot(agent="opencode", at=at, kind="snapshot", hash=hash)


def _patch(told: dict[str, Any], at: int) -> ForeignSnapshot:
    return ForeignSnapshot(
        agent="opencode", at=at, kind="patch", hash=_name(told.get("hash")),
        files=_texts(told.get("files")),
    )  # fmt: skip


_READ: Final = {
    ("codex", f"response_item/{GHOST}"): _ghost,
    ("opencode", "part/snapshot"): _tree,
    ("opencode", "part/step-start"): _tree,
    ("opencode", "part/step-finish"): _tree,
    ("opencode", "part/patch"): _patch,
}


def _name(value: object) -> str:
    return value if isinstance(value, str) and len(value) <= LONGEST else ""


def _table(value: Any) -> dict[str, Any]:
    return cast("dict[str, Any]", value) if type(value) is dict else {}


def _texts(value: Any) -> tuple[str, ...]:
    told = cast("list[Any]", value) if type(value) is list else []
    return tuple([one for one in told if type(one) is str])
