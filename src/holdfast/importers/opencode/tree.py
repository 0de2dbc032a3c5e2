"""OpenCode's older store: a JSON file for each session, each message and each part."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cached_property
from pathlib import PurePosixPath

from holdfast.importers.document import LARGEST
from holdfast.importers.jsonl import Found, read
from holdfast.importers.opencode.parts import AGENT, Held
from holdfast.importers.values import count
from holdfast.model.transcript_events import Kept, Problem
from holdfast.ports import TranscriptFile

_NAME = re.compile(r"[\w.-]{1,200}")

FLAT = 50_000
"""How many parts are looked through that do not say in their name which message they belong to."""


class Tree:
    """The files beneath one `storage` directory."""

    def __init__(self, material: TranscriptFile, storage: PurePosixPath) -> None:
        self._material, self._storage = material, storage

    def sessions(self) -> Iterator[Found | Problem | Kept]:
        """Every session; ids count down, so the oldest come first."""
        for project in self._material.names(str(self._storage / "session")):
            place = self._storage / "session" / project
            for name in reversed(self._material.names(str(place))):
                yield from self.session(str(place / name))

    def session(self, name: str) -> Iterator[Found | Problem | Kept]:
        """What a session is, from its file."""
        for found in self._read(name):
            if isinstance(found, Found) and not found.text("id"):
                yield Problem(f"{name} names no session", 1, "unknown")
            else:
                yield found

    def messages(self, session: str) -> Iterator[Held | Problem | Kept]:
        """Its messages, in their order."""
        if not _NAME.fullmatch(session):
            yield Problem(f"{session[:80]!r} cannot be the name of a session")
            return
        place = self._storage / "message" / session
        infos: list[Found] = []
        for name in self._material.names(str(place)):
            for found in self._read(str(place / name)):
                if isinstance(found, Found):
                    infos.append(found)
                else:
                    yield found
        for info in sorted(infos, key=lambda one: (_created(one), one.text("id"))):
            parts: list[Found] = []
            for found in self._parts(info.text("id")):
                if isinstance(found, Found):
                    parts.append(found)
                else:
                    yield found
            yield Held(info, parts)

    def _parts(self, message: str) -> Iterator[Found | Problem | Kept]:
        if not _NAME.fullmatch(message):
            return
        place = self._storage / "part" / message
        names = self._material.names(str(place))
        for name in names:
            yield from self._read(str(place / name))
        if not names:
            yield from self._flat.get(message, ())

    @cached_property
    def _flat(self) -> dict[str, list[Found]]:
        """Parts as the oldest versions kept them, all in one directory, by their messages."""
        found: dict[str, list[Found]] = {}
        place = self._storage / "part"
        names = [name for name in self._material.names(str(place)) if name.endswith(".json")]
        for name in names[:FLAT]:
            for part in self._read(str(place / name)):
                if isinstance(part, Found):
                    found.setdefault(part.text("messageID"), []).append(part)
        return found

    def _read(self, name: str) -> Iterator[Found | Problem | Kept]:
        data = self._material.whole(name, LARGEST) if name.endswith(".json") else None
        if data is None:
            yield Problem(f"{name} cannot be read")
            return
        for item in read(AGENT, 1, data):
            if isinstance(item, Problem):
                yield Problem(f"{name} {item.what}", item.line, item.severity)
            else:
                yield item


def _created(info: Found) -> int:
    return count(info.table("time").get("created"))
