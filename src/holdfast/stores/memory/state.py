"""What the ports in memory share: the dictionaries and their lock."""

from __future__ import annotations

from threading import RLock

from msgspec.structs import replace

from holdfast.errors import InvalidRequest, NotFound
from holdfast.model.import_report import ImportState
from holdfast.model.job import Job
from holdfast.model.log import Entry, SessionInfo
from holdfast.model.note import NoteRecord, RecordKind
from holdfast.model.reply import Call
from holdfast.model.workspace import FileChange, contents

LISTED = "`holdfast sessions` lists them"


class Lock:
    """The one lock around everything; once closed, it opens for nobody."""

    def __init__(self) -> None:
        self._lock = RLock()
        self.closed = False

    def __enter__(self) -> None:
        if self.closed:
            raise InvalidRequest("this store is closed, and what it held is gone; open a new one")
        self._lock.acquire()

    def __exit__(self, *_: object) -> None:
        self._lock.release()


class Shelf:
    """Everything that is kept, and the one lock around it."""

    def __init__(self) -> None:
        self.lock = Lock()
        self.sessions: dict[str, SessionInfo] = {}
        self.entries: dict[str, list[Entry]] = {}  # of each session its own, from fork + 1 on
        self.keys: dict[tuple[str, str], tuple[int, int]] = {}  # the first seq, and how many
        self.blobs: dict[str, bytes] = {}
        self.calls: dict[tuple[str, str], Call] = {}  # by session and id, as they were recorded
        self.givens: dict[tuple[str, str], bytes] = {}
        self.counts: dict[tuple[str, int, str], int] = {}  # by entry, ordinal and counter
        self.jobs: dict[str, Job] = {}
        self.origins: dict[tuple[str, str], ImportState] = {}  # by agent and native id
        self.looks: dict[tuple[str, str], str] = {}  # by source and session
        self.snapshots: dict[str, dict[int, tuple[int, bytes]]] = {}  # by session and entry
        self.notes: dict[tuple[str, RecordKind, str], NoteRecord] = {}  # by scope, kind and id
        self.note_cursors: dict[str, int] = {}
        self.file_changes: dict[int, FileChange] = {}  # by number
        self.file_number = 0
        self.awaited: dict[str, tuple[str, int]] = {}  # by session: the parent, and what it shares
        self.unindexed: list[Entry] = []  # what a search has not caught up with

    def session(self, id: str) -> SessionInfo:
        if id not in self.sessions:
            raise NotFound("session", id, (), LISTED)
        return self.sessions[id]

    def line(self, id: str) -> list[Entry]:
        """Every entry of a session, those it shares with its parent first."""
        session = self.session(id)
        shared = self.line(session.parent)[: session.fork] if session.fork else []
        return [*(replace(entry, session=id) for entry in shared), *self.entries[id]]

    def above(self, id: str) -> set[str]:
        """A session, and all that it belongs to."""
        found: set[str] = set()
        while id in self.sessions and id not in found:
            found.add(id)
            id = self.sessions[id].parent
        return found

    def made_with(self, id: str, key: str) -> tuple[Entry, ...]:
        """What a key has made in a session's line, wherever it was appended."""
        at, last = self.session(id), 2**62
        while (at.id, key) not in self.keys and at.fork:
            at, last = self.session(at.parent), min(last, at.fork)
        first, many = self.keys.get((at.id, key), (0, 0))
        if not many or first + many - 1 > last:
            return ()
        return tuple(self.line(id)[first - 1 : first + many - 1])

    def sweep(self) -> int:
        """Forget the blobs that no file's change refers to; nothing else in memory does."""
        used = {hash for one in self.file_changes.values() for hash in contents(one)}
        gone = [hash for hash in self.blobs if hash not in used]
        for hash in gone:
            del self.blobs[hash]
        return len(gone)
