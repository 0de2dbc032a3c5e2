"""The ledger of a session at any entry, carried on from where it was frozen last.

While a session is read on, what is known of it (its ledger, and the digest that an extract is made
from) is frozen every so often in the store, so that the next one reads on from there: a window of
a long session costs what its newest entries cost. Where nothing was frozen yet, as in a store from
before, each window reads a bounded slice more, and until all is read goes by the newest entries.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from contextlib import suppress
from itertools import pairwise

from msgspec import Struct, field

from holdfast.core.extract.digest import Digest
from holdfast.core.ledger import build
from holdfast.core.ledger.bounds import weighed
from holdfast.core.ledger.build import step
from holdfast.core.ledger.checks.retention import retention
from holdfast.core.ledger.rewinds import may_reach_back, reach, rejoined, turnback
from holdfast.core.secrets import redact
from holdfast.engine import loading
from holdfast.errors import Corrupt, InvalidRequest, StoreError
from holdfast.model import wire
from holdfast.model.ledger import Ledger, Report, Turnback
from holdfast.model.log import Entry, Summary
from holdfast.model.span import OPEN, Span, remaining
from holdfast.model.view import View
from holdfast.ports import Log, Store

MOST_BYTES = 64 * 1024 * 1024
"""A frozen ledger that unpacks to more than this is damaged, or somebody's trap."""

FROZEN = 1_000_000
"""A ledger is frozen in fewer bytes than this, before it is compressed."""

INTERVAL = 2_048
"""What is known of a session is frozen after so many entries."""

SLICE = 8_192
"""So many entries are read on for one window at most, where nothing was frozen yet."""

NEWEST = 4_096
"""A ledger that is not read to the end tells of so many of the newest entries."""

VERSION = 1
"""Of what is frozen in snapshots: another one is computed again from the log."""


class State(Struct, kw_only=True):
    """What is known of a session up to an entry."""

    ledger: Ledger = Ledger()
    digest: Digest = field(default_factory=Digest)


def packed(ledger: Ledger, secrets: tuple[str, ...] = ()) -> bytes:
    """A ledger as it is frozen in a summary, without the keys that are ours.

    Nothing where calls with huge inputs wait for their results, or where it is of a part only.
    """
    if ledger.since:
        return b""
    return _packed(ledger, secrets, FROZEN)


def _packed(value: object, secrets: tuple[str, ...], most: int) -> bytes:
    text = redact(wire.encode(value).decode("utf-8", "surrogatepass"), secrets)
    data = text.encode("utf-8", "surrogatepass")
    return zlib.compress(data, 6) if len(data) <= most else b""


def unpacked(facts: bytes) -> Ledger:
    """The ledger that was frozen; Corrupt where the bytes are none."""
    try:
        return weighed(wire.decode(inflated(facts), Ledger))
    except (zlib.error, ValueError) as garbled:
        raise Corrupt(f"a frozen ledger cannot be read ({garbled}); run `holdfast doctor`") from (
            garbled
        )


def inflated(data: bytes) -> bytes:
    unpacker = zlib.decompressobj()
    whole = unpacker.decompress(data, MOST_BYTES)
    if unpacker.unconsumed_tail:
        raise ValueError("it is too large")
    return whole


class Ledgers:
    """The ledger of one open session, read on from entry to entry."""

    def __init__(self, store: Store, secrets: tuple[str, ...] = ()) -> None:
        self._store, self._log = store, store.log
        self._secrets = secrets
        self._session = ""
        self._state = State()
        self._part = ("", Ledger())
        self.behind = False
        """Whether more is to be read than one window may wait for."""

    async def at(self, session: str, upto: int, summaries: Sequence[Entry] = ()) -> Ledger:
        """The ledger up to and including an entry, however long it takes to read."""
        state = await self._base(session, upto, summaries)
        return (await self._read_on(session, state, upto)).ledger

    async def near(self, session: str, upto: int, summaries: Sequence[Entry] = ()) -> Ledger:
        """The same, where what is left to read is a slice; otherwise of the newest entries only.

        Each time a slice more is read, and frozen, so that before long it is the whole.
        """
        state = await self._base(session, upto, summaries)
        self.behind = upto - state.ledger.seq > SLICE
        if not self.behind:
            return (await self._read_on(session, state, upto)).ledger
        await self._read_on(session, state, state.ledger.seq + SLICE)
        if self._part[0] != session or self._part[1].seq != upto:
            self._part = session, await self._newest(session, upto)
        return self._part[1]

    async def catch_up(self, session: str, upto: int, limit: int = SLICE) -> int:
        """Read on by so many entries, and freeze what is known; how many are left."""
        state = await self._base(session, upto, ())
        await self._read_on(session, state, min(upto, state.ledger.seq + limit))
        left = upto - min(upto, state.ledger.seq + limit)
        self.behind = left > SLICE
        return left

    async def digest(self, session: str, upto: int) -> Digest:
        """What an extract is made from, as far as it was read."""
        if self._session != session or self._state.digest.seq < upto:
            await self.near(session, upto)
        return self._state.digest

    async def _newest(self, session: str, upto: int) -> Ledger:
        """The ledger of the newest entries alone."""
        first = upto - NEWEST + 1
        known = Ledger(since=first)
        async for page in loading.pages(self._log, session, (Span(first, upto),)):
            for entry in page:
                known = step(known, entry)
        return known

    async def _base(self, session: str, upto: int, summaries: Sequence[Entry]) -> State:
        """The last state up to an entry that is known: held, frozen in a snapshot or a summary."""
        held = self._session == session and self._state.ledger.seq <= upto
        state = self._state if held else State()
        if not held or upto - state.ledger.seq > INTERVAL:
            state = await self._thawed(session, upto, state)
        frozen = max((e for e in summaries if _upto(e) <= upto), key=_upto, default=None)
        if frozen is not None and _upto(frozen) > state.ledger.seq:
            assert isinstance(frozen.body, Summary)
            state = State(ledger=unpacked(frozen.body.facts), digest=state.digest)
        return state

    async def _thawed(self, session: str, upto: int, known: State) -> State:
        """The newest snapshot, where one can be read and is newer than what is known."""
        found = await self._store.snapshots.newest(session, upto, VERSION)
        if not found or found[0] <= known.ledger.seq:
            return known
        try:
            return wire.decode(inflated(found[1]), State)
        except (zlib.error, ValueError):
            return known  # it is computed again

    async def _read_on(self, session: str, state: State, upto: int) -> State:
        """The state once so many entries more are read; on the way it is frozen at intervals."""
        ledger, digest = state.ledger, state.digest
        frozen = ledger.seq
        async for page in loading.pages(self._log, session, (Span(ledger.seq + 1, upto),)):
            for entry in page:
                if may_reach_back(ledger, entry) and (marks := await self._marks(session, entry)):
                    ledger = await self._again(session, ledger, entry, marks)
                else:
                    ledger = step(ledger, entry)
                digest.step(entry)
            if ledger.seq - frozen >= INTERVAL:
                kept = await self._freeze(session, State(ledger=ledger, digest=digest))
                frozen = ledger.seq if kept else frozen
        state = State(ledger=ledger, digest=digest)
        if session != self._session or ledger.seq >= self._state.ledger.seq:
            self._session, self._state = session, state
        return state

    async def _marks(self, session: str, entry: Entry) -> list[Turnback]:
        """Every rewind up to an entry, and undo or redo of one; none where it is not one itself."""
        newest = turnback(entry)
        assert newest is not None
        if newest.kind == "rewind":
            return [newest]
        kinds = await loading.kinds(self._log, session, [newest.target])
        if kinds.get(newest.target) != "rewind":
            return []
        found = map(turnback, await loading.every_marker(self._log, session))
        marks = [mark for mark in found if mark and mark.seq <= entry.seq]
        rewinds = {mark.seq for mark in marks if mark.kind == "rewind"}
        return [mark for mark in marks if mark.kind == "rewind" or mark.target in rewinds]

    async def _again(
        self, session: str, ledger: Ledger, entry: Entry, marks: list[Turnback]
    ) -> Ledger:
        """The ledger once a rewind has reached behind what was settled (core/ledger/rewinds.py)."""
        reaching = reach(marks)
        words = await Ledgers(self._store, self._secrets).at(session, reaching.base)
        async for page in loading.pages(self._log, session, reaching.spans):
            for one in page:
                words = step(words, one) if one.is_message else words
        return rejoined(ledger, words, entry)

    async def _freeze(self, session: str, state: State) -> bool:
        """Keep what is known in the store; False while calls wait, whose inputs may be large."""
        if state.ledger.pending or not (data := _packed(state, self._secrets, MOST_BYTES)):
            return False
        with suppress(StoreError):  # as where it can only be read
            snapshots = self._store.snapshots
            places = await snapshots.places(session)
            drop = superfluous(places, state.ledger.seq)
            await snapshots.save(session, state.ledger.seq, VERSION, data, drop=drop)
        return True


def superfluous(places: Sequence[int], newest: int) -> tuple[int, ...]:
    """Which snapshots may go: the older they are, the farther apart are those that stay."""
    gone, before = list[int](), 0
    for place, after in pairwise((*places, newest)):
        if after - before <= (newest - place) // 4:
            gone.append(place)
        else:
            before = place
    return tuple(gone)


def _upto(entry: Entry) -> int:
    """The last entry that a summary's frozen ledger tells of; beyond all where it has none."""
    body = entry.body
    if not isinstance(body, Summary) or not body.facts:
        return OPEN
    return body.covers[-1].last if body.covers else OPEN


async def current(ledgers: Ledgers, log: Log, view: View) -> Ledger:
    """The exact facts of a session now."""
    summaries = await loading.summaries(log, view)
    return build.current(await ledgers.at(view.session.id, view.last, summaries))


async def retained(log: Log, view: View, marker: Entry | None) -> Report:
    """What became of the facts when a summary was made, the newest that stands if none is named."""
    body = await _summary(log, view, marker)
    if not body.facts:
        why = (
            "its facts were not all gathered yet"
            if body.ledger
            else f"it was made by {body.step!r}"
        )
        raise InvalidRequest(f"the summary has no frozen ledger beside it: {why}")
    seen = remaining(body.folded.visible, body.covers, body.kept)
    text = "\n\n".join(filter(None, (body.text, body.ledger, body.expand)))
    return retention(unpacked(body.facts), text, visible=seen)


async def _summary(log: Log, view: View, marker: Entry | None) -> Summary:
    if marker is None:
        known = reversed(await loading.every_marker(log, view.session.id))
        marker = next((entry for entry in known if entry.seq in view.folded.summaries), None)
        if marker is None:
            raise InvalidRequest("nothing was summarised, so nothing had to be retained")
    if not isinstance(marker.body, Summary):
        raise InvalidRequest(f"entry {marker.seq} is no summary; `holdfast context` lists them")
    return marker.body
