"""What keeps: the log, its sessions, and everything else that a store holds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar, Protocol

from holdfast.model.job import Job
from holdfast.model.log import Draft, Entry, Head, PartRef, SessionInfo
from holdfast.model.note import Cursor, NoteRecord, RecordKind
from holdfast.model.reply import By, Call, Spent
from holdfast.model.search import Hit, Query
from holdfast.model.span import OPEN, Spans
from holdfast.model.store import Changes, Erased, Erasing, Expect, Finding, OfBackups, Page
from holdfast.model.workspace import FileChange, KeptFiles
from holdfast.ports.context import Embedder
from holdfast.ports.importing import Imports


class Log(Protocol):
    """The entries of every session, append-only, ordered by `seq`."""

    async def append(
        self,
        session: str,
        drafts: Sequence[Draft],
        *,
        key: str = "",
        expect: Expect | None = None,
        call: Call | None = None,
    ) -> tuple[Entry, ...]:
        """Append all or nothing, durable on return; with a key already used, return what it made.

        `call` is recorded in the same transaction. Raises Conflict where `expect` does not hold.
        """
        ...

    def append_inline(self, session: str, draft: Draft, expect: Expect) -> Entry | None:
        """The same for one plain message, without suspending; None where `append` has to do it.

        A store may always leave it to `append`: this is for those that can be asked in place.
        """
        ...

    async def read(
        self, session: str, spans: Spans, *, limit: int = 256, bare: bool = False
    ) -> tuple[Entry, ...]:
        """The first entries inside the spans, in order: up to `limit`, fewer where they are large.

        None at all only when there are none; with `bare`, without the records an importer kept.
        """
        ...

    async def heads(self, session: str, spans: Spans, *, limit: int = 4096) -> tuple[Head, ...]:
        """The last `limit` entries inside the spans, in order, without their content."""
        ...

    async def markers(self, session: str, *, before: int, limit: int = 64) -> tuple[Entry, ...]:
        """The newest `limit` markers with a seq below `before`, in order."""
        ...

    async def locate(self, session: str, entry: str) -> int | None:
        """The seq of an entry by its id; None where this session does not hold it."""
        ...


class Sessions(Protocol):
    """The sessions of a store."""

    async def create(self, session: SessionInfo) -> SessionInfo:
        """A new session; as a fork where it names a parent and the last entry it shares.

        One that shares nothing may name a parent that is not here yet: it belongs to it once it is.
        """
        ...

    async def find(self, id: str) -> SessionInfo | None:
        """The session as it stands; None where there is none."""
        ...

    async def session(self, id: str) -> SessionInfo:
        """The session as it stands; NotFound, which names no other, where there is none."""
        ...

    async def beginning(self, prefix: str) -> tuple[str, ...]:
        """The ids that begin so, as it is written or in capitals, in their order."""
        ...

    async def set(self, id: str, changes: Changes) -> SessionInfo:
        """Change its title, model, policy, archive date…; None leaves a field as it is."""
        ...

    async def list(self, page: Page) -> tuple[SessionInfo, ...]:
        """Sessions by last change, newest first, from where the page begins."""
        ...

    async def await_parent(self, id: str, parent: str, fork: int) -> None:
        """The first entries of a session, up to `fork`, are a parent's that is not here yet."""
        ...

    async def adopt_children(self, id: str) -> tuple[str, ...]:
        """Those that waited for a session become its forks, where it holds the same entries."""
        ...

    async def discard(self, id: str) -> bool:
        """Remove a session that holds nothing and that nothing belongs to; whether that was so."""
        ...

    async def erase(self, id: str, *, backups: OfBackups = "rewrite") -> Erased:
        """Really erase it; forks that share its beginning get their own copy first.

        What this costs depends on the session alone. Backups that hold it are removed at once, or
        left to `Care.erase_further`, as are words in a large search index.
        """
        ...


class Blobs(Protocol):
    """Large content by its SHA-256, compressed, stored once."""

    async def put(self, data: bytes) -> str: ...

    async def fetch(self, hash: str) -> bytes: ...

    async def sweep(self) -> int:
        """Remove blobs that nothing refers to; how many went."""
        ...


class FileHistory(Protocol):
    """What agents did to files, in order, with the content of either side in the blobs."""

    async def record(
        self, session: str, changes: Sequence[FileChange], contents: Sequence[bytes] = ()
    ) -> tuple[FileChange, ...]:
        """Keep changes and contents in one transaction; they come back with their numbers.

        One that has a number takes the place of the row of that number.
        """
        ...

    async def remove(self, session: str, numbers: Sequence[int]) -> None:
        """Forget changes that were not made after all."""
        ...

    async def changes(
        self, session: str, *, after: int = 0, limit: int = 4096
    ) -> tuple[FileChange, ...]:
        """The changes of a session in order, those before it was forked included."""
        ...

    async def beside(
        self, session: str, root: str, *, after: int = 0, limit: int = 4096
    ) -> tuple[FileChange, ...]:
        """What other sessions did beneath the same directory, in order."""
        ...

    async def forget(self, before: int, keep: int) -> KeptFiles:
        """Let go of the content of changes made before a time, but of the newest `keep`; what
        went. The changes themselves stay, without it."""
        ...

    async def kept(self, session: str = "") -> KeptFiles:
        """How much is kept, of one session or of all."""
        ...


class Calls(Protocol):
    """Every model call, background ones too."""

    async def record(self, call: Call, *others: Call) -> Call:
        """Insert or complete the rows of calls, all or none.

        A row belongs to its session; there it is known by its id, or as a reply told again.
        """
        ...

    async def calls(self, session: str, *, after: str = "", limit: int = 256) -> tuple[Call, ...]:
        """The calls of a session in the order they were recorded; those after the one named."""
        ...

    async def newest(self, session: str, limit: int = 8) -> tuple[Call, ...]:
        """The calls recorded last, newest first."""
        ...

    async def spent(
        self, session: str = "", *, since: int = 0, until: int = OPEN, by: Sequence[By] = ()
    ) -> tuple[Spent, ...]:
        """What calls took that were begun from `since` on and before `until`, summed.

        Of one session, or else of all; told apart as `by` says, otherwise in one sum.
        """
        ...

    async def keep(self, session: str, given: bytes) -> str:
        """Keep what a call was given (system prompt, tools), once; its SHA-256."""
        ...

    async def kept(self, session: str, hash: str) -> bytes:
        """What was kept under a hash."""
        ...


class Counts(Protocol):
    """How many tokens each part takes, by counter; estimates are columns of the log itself."""

    async def known(self, session: str, spans: Spans, counter: str) -> dict[PartRef, int]:
        """The counts of a counter that are known inside the spans."""
        ...

    async def tally(self, session: str, counter: str, counts: dict[PartRef, int]) -> None:
        """Remember counts; those of parts this session does not hold are left out."""
        ...


class Snapshots(Protocol):
    """What was computed from a log up to an entry, so that it need not be computed again.

    A snapshot is no truth of its own: any of them may be lost, and is made again from the log.
    """

    async def save(
        self, session: str, seq: int, version: int, data: bytes, *, drop: Sequence[int] = ()
    ) -> None:
        """Keep one for a session at an entry, in place of one that is there; `drop` others."""
        ...

    async def newest(self, session: str, upto: int, version: int) -> tuple[int, bytes] | None:
        """The last one of this version up to an entry, and where it is.

        One of a session that this was forked from counts up to where it was forked.
        """
        ...

    async def places(self, session: str) -> tuple[int, ...]:
        """Where a session has snapshots of its own, in order."""
        ...


class Notes(Protocol):
    """What is known of notes that outlive a session, and the texts of those that have no file."""

    async def commit(
        self,
        records: Sequence[NoteRecord] = (),
        *,
        remove: Sequence[NoteRecord] = (),
        cursor: Cursor | None = None,
        expect: Mapping[tuple[str, str], str] | None = None,
    ) -> None:
        """Keep and remove records and move a session's cursor on, all or nothing.

        A record takes the place of the one with its scope, kind and id; what that was used stays.
        `expect` has, by scope and file, the hash of the text that is there, empty for none:
        Changed where another one is.
        """
        ...

    async def records(self, scope: str, kind: RecordKind) -> tuple[NoteRecord, ...]:
        """The records of a kind in a scope, the oldest first."""
        ...

    async def about(self, session: str) -> tuple[NoteRecord, ...]:
        """The records, of any scope, whose evidence names a session."""
        ...

    async def scopes(self) -> tuple[str, ...]:
        """Every scope that has a record."""
        ...

    async def used(self, scope: str, ids: Sequence[str], at: int) -> None:
        """Count one more use of these notes, and of what was made of these sessions."""
        ...

    async def cursor(self, session: str) -> int:
        """How far a session has been read for notes, what it shares with its parent included."""
        ...


class Search(Protocol):
    """Full text over what was said; it lags behind appends and catches up when asked."""

    async def catch_up(self, limit: int = 1000, embedder: Embedder | None = None) -> int:
        """Index up to `limit` parts that are not indexed yet, vectors too; how many were."""
        ...

    async def find(self, query: Query, embedder: Embedder | None = None) -> tuple[Hit, ...]:
        """What matches, best first; with an embedder, what means the same as well."""
        ...

    async def spelled_like(self, word: str) -> tuple[str, ...]:
        """Words that were said and are spelled nearly like one that never was, likeliest first;
        none where it was said itself."""
        ...


class Jobs(Protocol):
    """Background work: leased rows."""

    async def offer(self, job: Job) -> Job:
        """Put it in line, unless one with its key waits or runs already; then that one."""
        ...

    async def lease(self, kind: str, *, owner: str, now: int, until: int) -> Job | None:
        """Take the oldest job of a kind that is free, or whose lease has run out."""
        ...

    async def renew(self, job: Job, *, now: int, until: int) -> bool:
        """Keep it longer; False where somebody else has it by now."""
        ...

    async def finish(self, job: Job, *, outcome: str, now: int) -> bool:
        """Say how it ended; False where somebody else has it by now."""
        ...

    async def jobs(self, session: str) -> tuple[Job, ...]: ...


class Maintenance(Protocol):
    """What keeps a store healthy."""

    async def ids(self) -> tuple[str, ...]:
        """The sessions that can be examined, also where the row of one cannot be read."""
        ...

    async def examine(self, session: str = "") -> tuple[Finding, ...]:
        """Everything that is not as it should be, of the store or of one session; () when well."""
        ...

    async def backup(self) -> str:
        """A private copy of the store beside it; its path."""
        ...

    async def erase_further(self, *, owner: str, now: int, until: int) -> Erasing | None:
        """Take one short step of erasing what erased sessions have left in backups and the index.

        None where nothing is left, or somebody else is at it: the work is leased up to `until`.
        """
        ...

    async def repair(self, findings: Sequence[Finding]) -> tuple[Finding, ...]:
        """Mend what can be mended without losing anything; what was mended."""
        ...


class Store(Protocol):
    """Everything that is kept, behind its small ports."""

    blocking: ClassVar[bool]

    @property
    def log(self) -> Log: ...
    @property
    def sessions(self) -> Sessions: ...
    @property
    def blobs(self) -> Blobs: ...
    @property
    def files(self) -> FileHistory: ...
    @property
    def calls(self) -> Calls: ...
    @property
    def counts(self) -> Counts: ...
    @property
    def snapshots(self) -> Snapshots: ...
    @property
    def notes(self) -> Notes: ...
    @property
    def search(self) -> Search: ...
    @property
    def jobs(self) -> Jobs: ...
    @property
    def imports(self) -> Imports: ...
    @property
    def care(self) -> Maintenance: ...

    def close(self) -> None: ...
