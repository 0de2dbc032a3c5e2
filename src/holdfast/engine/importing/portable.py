"""Taking in a session that was exported whole: its entries as they are, once.

Rule 1: the same beginning is never written again: the same entries, or what was imported from the
        same file elsewhere. A file that knows more adds to the session; one that parts from it, be
        it under the same ids, becomes a fork; one that shares nothing, a session of its own.
Rule 2: what follows from the entries is computed, whatever the file says of it.
Rule 3: nothing in the file is believed that could not have been written here.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain, groupby
from typing import TYPE_CHECKING

import msgspec
from msgspec.structs import replace

from holdfast.core.log.fold import fold, step
from holdfast.core.log.validate import sound
from holdfast.core.secrets import redacted
from holdfast.core.tokens.count import weigh_body
from holdfast.engine import loading
from holdfast.engine.compaction.stored_policies import hash_in
from holdfast.engine.ids import session_id
from holdfast.engine.importing.fingerprints import of_entry
from holdfast.engine.inspect.ledger import unpacked
from holdfast.engine.settings import is_installed
from holdfast.engine.window.sections import Given
from holdfast.errors import Corrupt, InvalidRequest
from holdfast.model import wire
from holdfast.model.import_batch import ImportBatch
from holdfast.model.import_report import ImportReport
from holdfast.model.log import (
    Body,
    Clear,
    Draft,
    Entry,
    Folded,
    Notes,
    Pin,
    Records,
    SessionInfo,
    Summary,
    Switch,
    moved_on,
)
from holdfast.model.portable import PortableSession
from holdfast.model.reply import Call
from holdfast.model.span import EVERYTHING, clip
from holdfast.model.store import Expect
from holdfast.model.transcript_events import Problem

if TYPE_CHECKING:
    from holdfast.engine.context import ImportContext

BATCH = 256
"""How many entries are written in one transaction, where they were not appended together."""

CALLS = 500

WORK = 20_000_000
"""How many markers may be folded, again and again, before a file is refused."""

DEFAULT = "holdfast"
"""The policy of a session whose own is not known here."""

KEPT_POLICY = (
    "was managed by the policy {0!r}: what it says is kept, and the default is in force until you "
    "choose it with `holdfast policy set SESSION {0}`"
)
UNKNOWN_POLICY = (
    "names the policy {!r}, which is not installed here: the default is in force; choose another "
    "with `holdfast policy set`"
)
UNREAD_PIN = "The file {!r} was pinned where this was written; here it is read once you pin it."

LONGEST = 200
"""More letters than the id of any session has."""


async def carry(engine: ImportContext, told: PortableSession, report: ImportReport) -> str:
    """Write what is new of a session; its id here."""
    carrying = Carrying(engine, told, report)
    return await carrying.run()


class Carrying:
    """One session of a file on its way into the store."""

    def __init__(self, engine: ImportContext, told: PortableSession, report: ImportReport) -> None:
        self._engine, self._store, self._report = engine, engine.store, report
        self._told = told
        self._entries = checked(told)
        self._work = 0
        self._problems: list[Problem] = []

    async def run(self) -> str:
        """Write what is new."""
        info = self._told.session
        wanted = replace(
            info, head=0, last_message=0, last_marker=0, compacted=0,
            policy=self._policy(info.policy),
        )  # fmt: skip
        known, same = await self._place(wanted)
        new = self._entries[same:]
        if new:
            known = await self._append(known, new)
        await self._record(known)
        await self._join(known)
        for problem in dict.fromkeys(self._problems):
            self._report.note(problem)
        return known.id

    def _policy(self, name: str) -> str:
        """A policy that a file names, if it is installed: none is read from where a file says."""
        if is_installed(self._engine.catalogue, name):
            return name
        told = KEPT_POLICY if hash_in(name) else UNKNOWN_POLICY
        self._problems.append(Problem(told.format(name), severity="notice"))
        return DEFAULT

    async def _join(self, known: SessionInfo) -> None:
        """Share what is the same, whichever of two was here first."""
        told, sessions = self._told.session, self._store.sessions
        waits = known.id == told.id and not known.parent and _named(told.parent)
        if waits and 0 < told.fork <= len(self._entries):
            await sessions.await_parent(known.id, told.parent, told.fork)
            await sessions.adopt_children(told.parent)
        await sessions.adopt_children(known.id)

    async def _place(self, wanted: SessionInfo) -> tuple[SessionInfo, int]:
        """The session to write to, and how much of it is there already."""
        while True:
            known = await self._store.sessions.find(wanted.id)
            if known is None:
                known = await self._created(wanted)
            same = await self._same(known)
            if same in (known.head, len(self._entries)):
                return known, same
            id = session_id("portable", wanted.id, self._entries[-1].id)
            shared = {"parent": known.id, "fork": same} if same else {}
            wanted = replace(wanted, id=id, **shared)

    async def _created(self, wanted: SessionInfo) -> SessionInfo:
        try:
            return await self._store.sessions.create(await self._rooted(wanted))
        except InvalidRequest:
            if known := await self._store.sessions.find(wanted.id):
                return known  # somebody else was faster
            raise

    async def _rooted(self, wanted: SessionInfo) -> SessionInfo:
        """The session as a fork where what it shares is here; otherwise one of its own.

        What shares nothing does a part of the work of its parent, be that here or not.
        """
        alone = replace(wanted, parent="", fork=0)
        if not _named(wanted.parent) or wanted.parent == wanted.id:
            return alone
        if not wanted.fork:
            return wanted
        parent = await self._store.sessions.find(wanted.parent)
        fits = parent and 0 < wanted.fork <= min(parent.head, len(self._entries))
        return wanted if fits and parent and await self._same(parent) >= wanted.fork else alone

    async def _same(self, known: SessionInfo) -> int:
        """How many entries of a session are those of the file, from the beginning."""
        spans, same = clip(EVERYTHING, 1, min(known.head, len(self._entries))), 0
        async for page in loading.pages(self._store.log, known.id, spans, bare=False):
            for entry in page:
                told = self._entries[same]
                ways = (self._clean(told.body), self._inert(self._clean(told.body)))
                if not any(alike(entry, replace(told, body=body)) for body in ways):
                    return same
                same += 1
        return same

    async def _append(self, known: SessionInfo, new: Sequence[Entry]) -> SessionInfo:
        before = list(await loading.every_marker(self._store.log, known.id))
        state: Folded | None = fold(before)
        for key, some in _together(new, self._entries[known.head - 1].key if known.head else ""):
            drafts: list[Draft] = []
            for entry in some:
                state = self._folded(state, before) if isinstance(entry.body, Summary) else state
                made = self._draft(entry, state)
                placed = made.placed(known.id, entry.seq, "")
                state = step(state, placed) if state is not None else None
                if not entry.is_message:
                    before.append(placed)
                drafts.append(made)
            expect = Expect(message=known.last_message, marker=known.last_marker)
            brought = ImportBatch(session=known.id, drafts=tuple(drafts), key=key, expect=expect)
            await self._store.imports.commit(brought)
            self._report.wrote(drafts)
            known = moved_on(known, some)
            self._engine.appended = True
        return known

    def _folded(self, state: Folded | None, before: Sequence[Entry]) -> Folded:
        """What stands before an entry, folded again where a marker reached back."""
        if state is not None:
            return state
        self._work += len(before)
        if self._work > WORK:
            raise InvalidRequest(
                "its markers reach back so often that folding them would take for ever"
            )
        return fold(before)

    def _draft(self, entry: Entry, state: Folded | None) -> Draft:
        body = self._inert(self._clean(entry.body))
        if isinstance(body, Summary):
            body = replace(body, folded=state or Folded(), facts=_facts(body.facts))
        fits = len(entry.counts) == len(getattr(body, "parts", ()))
        fits = fits and all(0 <= count < wire.LARGEST for count in entry.counts)
        return Draft(
            id=entry.id,
            body=body,
            created=entry.created,
            completed=entry.completed,
            parent=entry.parent,
            provider=entry.provider,
            model=entry.model,
            request=entry.request,
            counts=entry.counts if fits else weigh_body(body),
            native=entry.native,
        )

    def _clean(self, body: Body) -> Body:
        secrets = self._engine.secrets
        return redacted(sound(body), secrets) if secrets else sound(body)

    def _inert(self, body: Body) -> Body:
        """A marker that does not act on this machine: whoever wrote the file is not its user."""
        if isinstance(body, Pin) and body.path:
            self._problems.append(Problem(UNREAD_PIN.format(body.path), severity="notice"))
            return Pin(seq=body.seq, fact=body.fact or UNREAD_PIN.format(body.path))
        if isinstance(body, Switch) and body.policy:
            return replace(body, policy=self._policy(body.policy))
        return body

    def _given(self, data: bytes) -> bytes:
        """What a call was given, with no policy in it that is not installed."""
        try:
            given = wire.decode(data, Given)
        except (msgspec.MsgspecError, ValueError, RecursionError):
            return data
        if not given.policy or is_installed(self._engine.catalogue, given.policy):
            return data
        return wire.encode(replace(given, policy=self._policy(given.policy)))

    async def _record(self, known: SessionInfo) -> None:
        """Its calls, with what they were given; told again, they are the same rows.

        Calls of a session that it shares its beginning with stay there.
        """
        shared = await self._shared_calls(known)
        kept: dict[str, str] = {}
        for hash, data in self._told.given.items():
            kept[hash] = await self._store.calls.keep(known.id, self._given(data))
        calls = [
            replace(call, session=known.id, given=kept.get(call.given, call.given))
            for call in self._told.calls
            if call.id not in shared
        ]
        for at in range(0, len(calls), CALLS):
            brought = ImportBatch(session=known.id, calls=tuple(calls[at : at + CALLS]))
            self._report.calls += sum(await self._store.imports.commit(brought))

    async def _shared_calls(self, known: SessionInfo) -> set[str]:
        """The ids of the calls of every session that one was forked from."""
        ids: set[str] = set()
        while known.parent and known.fork:
            known, after = await self._store.sessions.session(known.parent), ""
            while page := await self._store.calls.calls(known.id, after=after):
                ids |= {call.id for call in page}
                after = page[-1].id
        return ids


def alike(known: Entry, told: Entry) -> bool:
    """Whether an entry is the one that a file tells: all that it says, or all that was imported."""
    if known.id == told.id:
        return _said(known) == _said(told)
    if known.created != told.created or type(known.body) is not type(told.body):
        return False
    if print := of_entry(known):
        return print == of_entry(told)
    return known.body == told.body and isinstance(known.body, Clear | Notes | Records)


def _said(entry: Entry) -> Entry:
    """An entry without what is computed, and without where and how it was written."""
    body = entry.body
    if isinstance(body, Summary):
        body = replace(body, folded=Folded(), facts=b"")
    return replace(entry, body=body, session="", key="", counts=())


def checked(told: PortableSession) -> tuple[Entry, ...]:
    """The entries of a session; InvalidRequest where no log can be made of them."""
    entries = told.entries
    for place, entry in enumerate(entries, 1):
        if entry.seq != place:
            raise InvalidRequest(
                f"session {told.session.id!r} has no entry {place}, but a later one"
            )
        times = (entry.created, entry.completed or 0)
        if not _named(entry.id) or not all(0 <= time < wire.LARGEST for time in times):
            raise InvalidRequest(
                f"entry {place} of session {told.session.id!r} has no id, or no such time"
            )
    info = told.session
    if not _named(info.id) or len(info.id) > LONGEST:
        raise InvalidRequest(f"{info.id[:LONGEST]!r} is no id of a session")
    numbers = [info.created, info.updated, info.archived, *chain(*map(_numbers, told.calls))]
    if not all(0 <= number < wire.LARGEST for number in numbers):
        raise InvalidRequest(f"session {info.id!r} tells a time or a number that can be none")
    return entries


def _named(id: str) -> bool:
    return bool(id) and id.isascii() and id.isprintable()


def _numbers(call: Call) -> tuple[int, ...]:
    used = call.usage
    buckets = (used.input, used.cache_read, used.cache_write, used.output)
    return (call.started, call.ended or 0, call.cost or 0, *buckets)


def _together(entries: Sequence[Entry], last: str) -> Iterator[tuple[str, list[Entry]]]:
    """Entries as they were appended: those of one key at once, others by the batch.

    Where the `last` key before them is theirs too, some of what has it is here already: the rest
    gets one of its own.
    """
    for key, group in groupby(entries, key=lambda entry: entry.key):
        some = list(group)
        size = len(some) if key else BATCH
        if key and key == last and some[0] is entries[0]:
            key = f"{key}+{some[0].seq}"
        for at in range(0, len(some), size):
            yield key, some[at : at + size]


def _facts(facts: bytes) -> bytes:
    """A frozen ledger that can be read; nothing where it cannot, and it is computed anew."""
    try:
        return facts if facts and unpacked(facts) else b""
    except Corrupt:
        return b""
