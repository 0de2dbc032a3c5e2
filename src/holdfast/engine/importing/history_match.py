"""The session that a told history becomes: what of it is known, and writing what is not.

Rule 1: the same beginning is never written again; where what is told parts from what was imported
        before, a Rewind goes back to there first; what another file tells is a fork from there.
Rule 2: a history that another session was imported with is shared with it: this one is its fork.
Rule 3: where somebody has gone on in an imported session, what is new goes to a fork of it.
Rule 4: what is remembered of an import is only a shortcut: the keys of the log's entries tell it.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import cached_property
from hashlib import blake2b
from typing import TYPE_CHECKING

from msgspec.structs import replace

from holdfast.core.ledger.requests import said
from holdfast.core.tokens.count import weigh_body
from holdfast.engine import loading
from holdfast.engine.ids import session_id
from holdfast.engine.importing.commit import bring, bulk
from holdfast.engine.importing.fingerprints import (
    SIZE,
    Copied,
    Loose,
    copied,
    cut_short,
    named,
    of_record,
    split,
)
from holdfast.engine.importing.import_state import AGAIN, IMPORT, learnt
from holdfast.errors import InvalidRequest
from holdfast.model.import_batch import ImportBatch
from holdfast.model.import_report import ImportReport, ImportState
from holdfast.model.log import Body, Draft, Entry, Records, Rewind, SessionInfo, moved_on
from holdfast.model.message import Message, Record
from holdfast.model.span import Span
from holdfast.model.store import Expect

if TYPE_CHECKING:
    from holdfast.engine.context import ImportContext

BATCH, BATCH_BYTES = 256, 4 << 20
"""How much is written in one transaction."""

MOST_RECORDS, MOST_RECORD_BYTES = 1_000, 8 << 20
"""How much of what was kept one message, or one marker, carries."""


MOST_STANDARD = 8
"""So many records a program puts at most before what anybody says."""


class HistoryMatch:
    """One imported session, as far as it is known and as it is written."""

    def __init__(
        self, engine: ImportContext, wanted: SessionInfo, native: str, report: ImportReport, *,
        careful: bool,
        before: Sequence[ImportState],
    ) -> None:  # fmt: skip
        self._engine, self._store, self._report = engine, engine.store, report
        self._before, self._foreign = before, True
        """What was imported from this file before; where nothing was, it may tell a branch."""
        self._careful = careful
        """Whether a session is made before anything of it is written, to see whether it is new."""
        self._new: SessionInfo | None = None
        """The session where it is made together with its first entries."""
        self._wanted, self.native = wanted, native
        self.begins = wanted.fork  # what lies before it is not told
        self.session: SessionInfo | None = None
        self._prints: list[bytes] = []
        self._places: list[int] = []
        self._alike: tuple[ImportState, ...] = ()
        self._source: Copied | None = None
        self._straight = True
        self._imported = 0
        """The newest entry that was imported; what lies behind it, somebody else has said."""
        self.loose = Loose()
        self._buffer: list[Draft] = []
        self._carried: list[Record] = []
        self._pending: list[Record] = []
        self.early: list[Record] = []  # what was kept before anything was said, be it known
        self._at = self._bytes = self._held = 0
        self._markers: list[Entry] | None = None

    @property
    def head(self) -> int:
        """The newest entry, be it only waiting to be written."""
        return (self.session.head if self.session else 0) + len(self._buffer)

    async def open(self) -> None:
        """Look up what is known: of this file, or of another that tells of the same session."""
        agent = self._wanted.agent
        if own := named(self._before, agent, self.native):
            self._foreign = False
            self._called(own.native)
        origin = own or await self._store.imports.origin(agent, self.native)
        if origin is None:
            return
        self.session = await self._store.sessions.session(origin.session)
        if self.session.head >= origin.head:
            self._take(origin)
        if self.session.head != origin.head:
            await self._reread()

    async def trace(self, id: str) -> None:
        """Look for what is told in another session first, whose beginning it repeats."""
        self._source = await copied(self._store, id)

    def _called(self, native: str) -> None:
        """Go by another name: another session has its own."""
        id = session_id(self._wanted.agent, native)
        self.native, self._wanted = native, replace(self._wanted, id=id)

    def _take(self, origin: ImportState) -> None:
        self._prints = split(origin.prints)
        self._places = list(origin.places)
        self._straight, self._imported = origin.straight, origin.head
        self.loose = Loose(origin.kept)

    async def _reread(self) -> None:
        """Learn from the log itself what was imported."""
        assert self.session
        known = await self._store.sessions.find(self._wanted.id)
        found = await learnt(self._store, self.session.id, self.begins, known.fork if known else 0)
        self._prints, self._places, self.loose = found.prints, found.places, found.loose
        self._imported, self._straight = found.imported, found.straight

    async def known(
        self, print: bytes, native: str = "", told: Message | None = None,
        *, before: bytes = b"", bare: bytes = b"",
    ) -> int:  # fmt: skip
        """The entry that what is told next has become already; 0 where it is new.

        `told` is a message that may have been cut off; `before` is the fingerprint that older
        stores know it by, if that is another; `bare` is the one without its time.
        """
        if self._source and (seq := await self._follow(self._source, print, bare)):
            return seq
        if before and self._at < len(self._prints) and self._prints[self._at] == before:
            self._prints[self._at] = print
        if self._is_strange(print):
            await self._meet_stranger(print, native)
        if self.session is None and not self._alike:
            await self._settle_in(print, native)
        if self._alike:
            here = slice(self._at * SIZE, (self._at + 1) * SIZE)
            still = tuple(one for one in self._alike if one.prints[here] == print)
            if still:
                self._alike, self._at = still, self._at + 1
                return still[0].places[self._at - 1]
            await self._branch()
        if seq := self._next(print) or (told and await self._outgrown(native, told)):
            return seq
        return await self._aside(print)

    async def _follow(self, source: Copied, print: bytes, bare: bytes) -> int:
        """The entry of the source that is told again; 0 where the copy has ended, or is known."""
        if self.session is None and (seq := source.follow(print, bare)):
            return seq
        if self.session is None:
            await self._part_from(source)
        elif self._at < len(self._places) and source.repeats(self._places[self._at], bare):
            self._prints[self._at] = print
        return 0

    async def _part_from(self, source: Copied) -> None:
        """Begin a fork where what is told goes on otherwise than its source."""
        self._source = None
        if source.prints:
            places = source.places
            forked = replace(self._wanted, parent=source.session, fork=places[-1])
            if await self._create(forked):
                self._prints, self._places = list(source.prints), places
            self._at = min(len(places), len(self._places))

    def _is_strange(self, print: bytes) -> bool:
        """Whether what is known begins otherwise."""
        return bool(self._places) and not self._at and self._prints[0] != print

    async def _settle_in(self, print: bytes, native: str) -> None:
        """Find whom it is shared with, or make it; a session of that name may be another's."""
        told = self._pending
        await self._look_around(print)
        if self._is_strange(print):
            strange, self._pending = self.session, told
            await self._meet_stranger(print, native)
            if self.session is None:
                await self._look_around(print)
            elif self.session is strange:
                self._pending = [one for one in told if self.loose.new(*of_record(one))]

    async def _aside(self, print: bytes) -> int:
        """Where another file parts from what is known, go on in the fork that its branch is."""
        if not 0 < self._at < len(self._places):
            return 0
        assert self.session
        native = f"{self.native}#{print.hex()}"
        origin = await self._store.imports.origin(self._wanted.agent, native)
        if origin is None and not await self._is_branch():
            return 0
        await self.flush()
        places, prints = self._places[: self._at], self._prints[: self._at]
        loose, self._markers = self.loose, None
        self._called(native)
        self._wanted = replace(self._wanted, parent=self.session.id, fork=places[-1])
        if origin is None:
            self._places, self._prints = places, prints
            await self._create(self._wanted)
        else:
            await self.open()
            self._pending = [one for one in self._pending if self.loose.new(*of_record(one))]
            self.loose.after(loose)
        return self._next(print)

    async def _is_branch(self) -> bool:
        """Whether what parts is another's: of a file that is new, or that another still tells of.

        The only file of a session tells it differently.
        """
        assert self.session
        if self._foreign:
            return True
        told = await self._store.imports.sources(self.session.id)
        others = [one for one in told if one != self._report.path]
        return await self._engine.aside(lambda: any(map(os.path.exists, others)))

    def _next(self, print: bytes) -> int:
        """The next entry, where that is what is told."""
        if self._at < len(self._places) and self._prints[self._at] == print:
            self._at += 1
            return self._places[self._at - 1]
        return 0

    async def _outgrown(self, native: str, told: Message) -> int:
        """The entry that holds all of a message of which a file has only the beginning; or 0."""
        if self.session is None or self._at >= len(self._places):
            return 0
        place = self._places[self._at]
        (entry,) = await self._store.log.read(self.session.id, (Span(place, place),), bare=True)
        body = entry.body
        if entry.native != native or not isinstance(body, Message) or not cut_short(told, body):
            return 0
        self._at += 1
        return place

    async def _meet_stranger(self, print: bytes, native: str) -> None:
        """What begins with another message is another session, though it has the same name; in a
        file that was imported before, a message of the same name may have changed."""
        assert self.session
        first = (Span(self._places[0], self._places[0]),)
        (entry,) = await self._store.log.read(self.session.id, first, bare=True)
        if entry.native == native and not self._foreign:
            return
        self._called(f"{self.native}#{print.hex()}")
        self.session = None
        self._prints, self._places, self._imported = [], [], 0
        self.loose, self._pending = Loose(), []
        await self.open()
        self._pending = [one for one in self.early if self.loose.new(*of_record(one))]

    async def _look_around(self, print: bytes) -> None:
        """Others that begin in the same way may have the rest too; otherwise it is a new one."""
        found = await self._store.imports.by_opening(print)
        agent = self._wanted.agent
        self._alike = tuple(one for one in found if one.agent == agent and one.straight)
        if not self._alike:
            await self._create(self._wanted)

    async def _branch(self) -> None:
        """Begin a session that shares what has been the same so far."""
        one, self._alike = self._alike[0], ()
        if told := await self._standard(one):
            await self._repeat(told, split(one.prints))
            return
        shared = one.places[self._at - 1]
        if await self._create(replace(self._wanted, parent=one.session, fork=shared)):
            self._prints = split(one.prints)[: self._at]
            self._places = list(one.places[: self._at])

    async def _standard(self, one: ImportState) -> list[Entry]:
        """What has been the same so far, where that is only what programs put before a session."""
        many = self._at
        if many > MOST_STANDARD or tuple(one.places[:many]) != tuple(range(1, many + 1)):
            return []
        found = await self._store.log.read(one.session, (Span(1, many),))
        return list(found) if all(map(_is_standard, found)) else []

    async def _repeat(self, told: list[Entry], prints: list[bytes]) -> None:
        """Begin a session of its own with the same standard records: that makes it no fork."""
        if not await self._create(self._wanted):
            return
        pending, self._pending = self._pending, []
        self._prints, self._places, self._at = [], [], 0
        for entry, print in zip(told, prints, strict=False):
            await self.push(
                entry.body, print, created=entry.created, completed=entry.completed,
                native=entry.native, parent=entry.parent, provider=entry.provider,
                model=entry.model, request=entry.request,
            )  # fmt: skip
        self._pending = pending

    async def _create(self, wanted: SessionInfo) -> bool:
        """Create a session; False where it is there already, and was read instead."""
        if not (self._careful or wanted.fork):
            updated = max(wanted.updated, wanted.created)
            self.session = self._new = replace(wanted, updated=updated)
            self._imported = 0
            return True
        try:
            self.session = await self._store.sessions.create(wanted)
        except InvalidRequest:
            self.session = await self._store.sessions.session(wanted.id)
            await self._reread()
            self._pending = [one for one in self._pending if self.loose.new(*of_record(one))]
            return False
        self._imported = self.session.head
        return True

    async def push(self, body: Body, print: bytes = b"", **labels: object) -> int:
        """Write an entry behind all others, now or soon; its seq."""
        await self.ready(told=bool(print))
        assert self.session
        if len(self._buffer) >= BATCH or self._bytes >= BATCH_BYTES:
            await self.flush()
        self._settle()
        if isinstance(body, Message) and self._pending:
            await self._lay_by(MOST_RECORDS)
            body, self._pending = Message(body.role, (*body.parts, *self._pending)), []
        draft = Draft(id=self._engine.ids.new(), body=body, counts=weigh_body(body), **labels)  # type: ignore[arg-type]
        self._buffer.append(draft)
        self._bytes += bulk(body)
        self._held = 0
        if print:
            self._prints.append(print)
            self._places.append(self.head)
            self._at += 1
        if self._markers is not None and not isinstance(body, Message):
            self._markers.append(draft.placed(self.session.id, self.head, ""))
        return self.head

    async def ready(self, *, told: bool = True) -> None:
        """Come to where the next entry goes: what is `told` in order goes where it belongs."""
        if not self._buffer:
            await self._leave_others()
        if told and self._at < len(self._places):
            await self.flush()
            await self._part()

    async def _leave_others(self) -> None:
        """Where somebody has gone on in the session, go on in a fork of it."""
        assert self.session
        while self.session.head > self._imported:
            last = self._imported
            id = session_id(self._wanted.agent, self.native, self.session.id, str(last))
            forked = replace(self.session, id=id, parent=self.session.id, fork=last, archived=0)
            await self._create(forked)
            self._markers = None

    async def _part(self) -> None:
        """Go back to where what is told parts from what was told before."""
        assert self.session
        to = self._places[self._at - 1] if self._at else self.begins
        key = f"{AGAIN}{self._at}:{self.session.head}"
        body = Rewind(to=to, reason="the file tells it differently from here on")
        now = self.session.updated
        draft = Draft(id=self._engine.ids.new(), body=body, created=now, completed=now)
        await self._bring(self._taken((draft,), key))
        del self._prints[self._at :], self._places[self._at :]
        self._straight, self._markers = False, None

    def carry(self, record: Record) -> None:
        """Keep a record with the message before it; with the next where that is written already."""
        last = self._buffer[-1].body if self._buffer else None
        room = len(self._carried) < MOST_RECORDS and self._held < MOST_RECORD_BYTES
        if isinstance(last, Message) and room:
            self._carried.append(record)
            self._held += len(record.data)
        else:
            self._pending.append(record)

    async def _lay_by(self, most: int) -> None:
        """Write what was kept in entries of its own, until only so much of it waits."""
        while len(self._pending) > most:
            assert self.session
            some, self._pending = self._pending[:MOST_RECORDS], self._pending[MOST_RECORDS:]
            await self.push(Records(records=tuple(some)), created=self.session.updated)

    def _settle(self) -> None:
        """Give the last message what was kept behind it."""
        if self._carried:
            last = self._buffer[-1]
            assert isinstance(last.body, Message)
            body = Message(last.body.role, (*last.body.parts, *self._carried))
            counts = (*last.counts, *[0] * len(self._carried))
            self._buffer[-1] = replace(last, body=body, counts=counts)
            self._bytes += self._held
            self._carried, self._held = [], 0

    async def markers(self) -> list[Entry]:
        """Every marker of the session, those that wait to be written included."""
        if self._markers is None:
            assert self.session
            id, first = self.session.id, self.session.head + 1
            found = await loading.every_marker(self._store.log, id) if not self._new else ()
            placed = [draft.placed(id, n, "") for n, draft in enumerate(self._buffer, first)]
            self._markers = [*found, *(entry for entry in placed if not entry.is_message)]
        return self._markers

    def made(self) -> ImportBatch | None:
        """The session with what waits, where nothing of it is written yet."""
        return self._waited() if self._new else None

    async def flush(self) -> None:
        """Write what waits."""
        if self._buffer or self._new:
            await self._bring(self._waited())

    async def _bring(self, brought: ImportBatch) -> None:
        await bring(self._engine, brought)
        self._report.wrote(brought.drafts)

    def _waited(self) -> ImportBatch:
        """All that waits; from here on it does no more."""
        self._settle()
        waiting, self._buffer, self._bytes = tuple(self._buffer), [], 0
        assert self.session
        print = blake2b(b"".join(self._prints[-len(waiting) :]), digest_size=8).hexdigest()
        return self._taken(waiting, f"{IMPORT}{self.session.head}:{print}")

    def _taken(self, drafts: tuple[Draft, ...], key: str) -> ImportBatch:
        """Drafts as they are to be written; the session is told as it will be then."""
        assert self.session
        now, new, self._new = self.session, self._new, None
        expect = Expect(message=now.last_message, marker=now.last_marker)
        placed = (draft.placed(now.id, seq, key) for seq, draft in enumerate(drafts, now.head + 1))
        self.session = moved_on(now, placed)
        self._imported = self.session.head
        return ImportBatch(session=now.id, new=new, drafts=drafts, key=key, expect=expect)

    async def finish(self) -> ImportBatch | None:
        """All that still waits, and what is to be remembered; nothing where nothing was told."""
        if self._alike:
            await self._branch()
        if self._source and self.session is None:
            await self._part_from(self._source)
        if self.session is None:
            return None
        await self._lay_by(0)
        brought = self._waited()
        origin = ImportState(
            agent=self._wanted.agent,
            native=self.native,
            session=self.session.id,
            head=self._imported,
            prints=b"".join(self._prints),
            places=tuple(self._places),
            kept=self.loose.packed,
            straight=self._straight,
        )
        return replace(brought, origin=origin)

    async def visible(self, spans: tuple[Span, ...]) -> list[Entry]:
        """Messages that are written, inside some stretches."""
        await self.flush()
        assert self.session
        read = await loading.read(self._store.log, self.session.id, spans)
        return [entry for entry in read if entry.is_message]


class Rolling(HistoryMatch):
    """One imported session that such files tell of."""

    async def known(
        self, print: bytes, native: str = "", told: Message | None = None,
        *, before: bytes = b"", bare: bytes = b"",
    ) -> int:  # fmt: skip
        """The entry that what is told has become already; 0 where it is new."""
        if self.session is None:
            await self._create(self._wanted)
        self._at = len(self._places)
        return self._seqs.get(print, 0)

    @cached_property
    def _seqs(self) -> dict[bytes, int]:
        return dict(zip(self._prints, self._places, strict=True))


def _is_standard(entry: Entry) -> bool:
    """Whether an entry is in the user's name and none of the user's own words."""
    body = entry.body
    return isinstance(body, Message) and body.role == "user" and not said(body, imported=True)
