"""The sessions of OpenCode: its tree of files, its database, and what it exports."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import PurePosixPath

from holdfast.importers.document import LARGEST
from holdfast.importers.opencode.reader import ITEM, exported, in_database, in_tree
from holdfast.model.transcript_events import TranscriptEvent
from holdfast.ports import TranscriptFile

SQLITE = b"SQLite format 3\0"

_EXPORT = re.compile(rb'\A\s*\{\s*"info"\s*:\s*\{')
_SESSION = re.compile(rb'"(?:projectID|slug|parentID)"\s*:')
_NAMED = re.compile(rb'"(?:sessionID"\s*:\s*"ses|messageID"\s*:\s*"msg)_')
_ELSEWHERE = {"message", "part", "session_diff", "session_share", "snapshot", "node_modules"}
"""Where no sessions lie."""


class OpenCode:
    """Reads what OpenCode leaves beneath ~/.local/share/opencode."""

    name = "opencode"
    reach = 3

    def default_paths(self) -> tuple[str, ...]:
        home = ".local/share/opencode"
        return (f"{home}/opencode.db", f"{home}/storage/session")

    def matches_name(self, name: str) -> bool:
        path = PurePosixPath(name)
        if path.suffix == ".db":
            return path.name.startswith("opencode")
        return path.suffix == ".json" and not _ELSEWHERE & {*path.parent.parts}

    def recognises(self, head: bytes, name: str) -> bool:
        path = PurePosixPath(name)
        if head.startswith(SQLITE) or path.suffix == ".db":
            return path.name.startswith("opencode")
        if path.name.startswith("ses_") and head.lstrip().startswith(b"{"):
            return True
        if _EXPORT.match(head) and _SESSION.search(head):
            return True
        return path.suffix == ".json" and bool(ITEM.search(head) and _NAMED.search(head))

    def read(self, material: TranscriptFile) -> Iterator[TranscriptEvent]:
        path = PurePosixPath(material.name)
        if path.suffix == ".db":
            return in_database(material)
        if path.name.startswith("ses_") and not _is_export(material):
            return in_tree(material)
        return exported(material)


def _is_export(material: TranscriptFile) -> bool:
    """Whether a file that is called like a session holds its messages too."""
    first = material.whole(most=LARGEST) or b""
    return bool(_EXPORT.match(first) or ITEM.search(first))
