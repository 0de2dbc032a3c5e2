"""One writer's hold on a session: what it has seen, and appending to it without losing a word."""

from __future__ import annotations

import warnings
from collections.abc import Awaitable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Literal, Self

from msgspec.structs import replace

from holdfast.core.calls.price import dollars
from holdfast.core.log.marker_rules import faults, named, places
from holdfast.core.log.validate import sound, typed
from holdfast.core.secrets import redacted
from holdfast.core.tokens.count import weigh_body
from holdfast.engine import loading
from holdfast.engine.arguments import checks_arguments
from holdfast.engine.compaction.stored_policies import MARK
from holdfast.errors import Conflict, InvalidRequest, SessionForked, StoreError
from holdfast.model.event import Called
from holdfast.model.log import Body, Draft, Entry, Folded, SessionInfo, Summary, kind_of, moved_on
from holdfast.model.message import Message
from holdfast.model.reply import Call
from holdfast.model.span import OPEN, Span
from holdfast.model.spending import Caps
from holdfast.model.store import Expect
from holdfast.ports import Calls, Store

if TYPE_CHECKING:
    from holdfast.engine.context import EngineContext


OnConflict = Literal["append", "fork", "raise"]
"""What becomes of a message where another writer went on: put behind theirs, put into a fork of
the session, or refused with a Conflict."""

STRETCH = 8_192
"""The facts of so many entries are gathered at once, before one more is appended."""


@checks_arguments
class Writer:
    """Whoever appends to a session; it knows the last message it has seen."""

    def __init__(
        self,
        engine: EngineContext,
        session: SessionInfo,
        on_conflict: OnConflict = "append",
        spent: int = 0,
    ) -> None:
        self._engine = engine
        self._session = session
        self._on_conflict: OnConflict = on_conflict
        self.spent = spent
        self.pay = self._pay
        self.draft, self.put, self.at_once = self._draft, self._put, self._at_once
        self.watch = engine.watch
        self._paid = Paid()
        self._doubtful: tuple[Draft, ...] = ()
        self._owing: Call | None = None
        self._lock = engine.lock()
        self._stretch = session.head // STRETCH
        """Which stretch of the log the facts of its entries were last gathered in."""

    @property
    def id(self) -> str:
        """Its name; another one after a conflict where the writer was opened to fork then."""
        return self._session.id

    @property
    def info(self) -> SessionInfo:
        """The session as this writer last saw it."""
        return self._session

    def _pay(self, cost: int) -> None:
        """Something was paid for it, in billionths of a US dollar."""
        self.spent += cost

    @property
    def cost(self) -> float:
        """What its calls have cost in US dollars, as far as prices are known."""
        return dollars(self.spent)

    @property
    def store(self) -> Store:
        """Where it is kept."""
        return self._engine.store

    @property
    def trust(self) -> str:
        """Which files of projects act in this process; empty where that is as the user has set."""
        return self._engine.trust

    @property
    def secrets(self) -> tuple[str, ...]:
        """Values that never enter the log."""
        return self._engine.secrets

    def now(self) -> int:
        """The time, as a label."""
        return self._engine.clock.now()

    def new_id(self) -> str:
        """A new name."""
        return self._engine.ids.new()

    async def append(
        self,
        body: Body,
        *,
        key: str = "",
        provider: str = "",
        model: str = "",
        request: str = "",
        completed: bool = True,
        created: int | None = None,
        parent: str = "",
        call: Call | None = None,
        epoch: int | None = None,
    ) -> Entry:
        """Append one message, or a marker; with `epoch` only if no marker came after that one.

        `created` and `parent` are labels for what comes from elsewhere: when it was said, in ms,
        and what it answered there.
        """
        draft = self._draft(
            body, provider=provider, model=model, request=request, completed=completed,
            created=created, parent=parent,
        )  # fmt: skip
        told = replace(typed(call, Call), entry=draft.id) if call else None
        return await self._put(draft, key=key, call=told, epoch=epoch)

    async def _put(
        self, draft: Draft, *, key: str = "", call: Call | None = None, epoch: int | None = None
    ) -> Entry:
        """Append what was drafted."""
        said = isinstance(draft.body, Message)
        return (await self._append((draft,), said, key=key, call=call, epoch=epoch))[0]

    def _at_once(self, draft: Draft) -> Entry | None:
        """Append a drafted message in place, as the blocking door may; None where `put` has to.

        Around a sync of a tenth of a millisecond each thing left out is felt, suspending too.
        """
        self._lock.acquire()
        try:
            if self._doubtful or self._session.head // STRETCH > self._stretch:
                return None
            now, self._doubtful = self._session, (draft,)
            made = self._engine.store.log.append_inline(
                now.id, draft, Expect(message=now.last_message)
            )
            self._doubtful = ()
            if made:
                self._session = moved_on(now, (made,))
                self._engine.appended = True
            return made
        finally:
            self._lock.release()

    async def _gather_in_time(self) -> None:
        """Gather the facts of a stretch of the log that has come to its end."""
        stretch = self._session.head // STRETCH
        if stretch > self._stretch:
            self._stretch = stretch
            with suppress(StoreError):  # they are gathered again when they are needed
                await self._gather()

    async def _gather(self) -> None:
        """Gather the facts of what was appended, so that a later window need not."""

    async def append_all(self, bodies: Sequence[Body], *, key: str = "") -> tuple[Entry, ...]:
        """Append several messages or markers, all or none."""
        drafts = tuple(map(self._draft, bodies))
        said = sum(isinstance(draft.body, Message) for draft in drafts)
        return await self._append(drafts, said, key=key)

    async def refresh(self) -> SessionInfo:
        """Look again: others may have gone on."""
        found = self._adopt(await self._engine.store.sessions.session(self.id))
        if MARK in found.policy:
            await self._engine.kept_policies.load(self.store, found.id, found.policy)
        return found

    def _adopt(self, found: SessionInfo) -> SessionInfo:
        """What was read becomes what is known, unless more is known since it was read."""
        if found.id != self.id or found.head >= self._session.head:
            self._session = found
        return self._session

    def _draft(
        self,
        body: Body,
        *,
        provider: str = "",
        model: str = "",
        request: str = "",
        completed: bool = True,
        created: int | None = None,
        parent: str = "",
    ) -> Draft:
        """What would be appended: checked, named, and weighed."""
        engine = self._engine
        now = engine.clock.now()
        said = now if created is None else created
        clean = redacted(sound(body), engine.secrets) if engine.secrets else sound(body)
        return Draft(
            id=engine.ids.new(now),
            body=clean,
            created=said,
            completed=said if completed else None,
            parent=parent,
            provider=provider,
            model=model,
            request=request,
            counts=weigh_body(clean),
        )

    async def _append(
        self,
        drafts: tuple[Draft, ...],
        said: int,
        *,
        key: str = "",
        call: Call | None = None,
        epoch: int | None = None,
    ) -> tuple[Entry, ...]:
        """Append drafts, so many of them messages and the others markers."""
        await self._gather_in_time()
        if waiting := self._lock.acquire():
            await waiting
        try:
            if self._doubtful:
                await self._settle()
            if said < len(drafts):
                await self._check(drafts)
                drafts, epoch = await self._complete(drafts, epoch)
            if call and call.request:
                await self._paid.look(self.store.calls, self.id)
            last = self._session.last_message if said else None
            self._doubtful, self._owing = drafts, call  # until we know: an error, an interrupt
            try:
                made = await self._write(drafts, key, call, Expect(message=last, marker=epoch))
            except Conflict as conflict:
                self._doubtful = ()
                made = await self._write_after(drafts, key, call, epoch, conflict)
            await self._move_on(made)
            self._doubtful = ()
            self._engine.appended = True
            self._owing = None
            if call and made[0].id == drafts[0].id:  # a retry is not paid twice
                self._pay_for(call)
            return made
        finally:
            self._lock.release()

    def _pay_for(self, call: Call) -> None:
        """Pay for a call, less what was paid for the same request before."""
        owed = self._paid.owed(call)
        if owed is not None:
            self.pay(owed)
            self.watch.emit(Called(call=replace(call, session=self.id)))

    async def _complete(
        self, drafts: tuple[Draft, ...], epoch: int | None
    ) -> tuple[tuple[Draft, ...], int | None]:
        """Give a Summary the state it replaces, which holds only while no marker comes between."""
        markers = [draft for draft in drafts if not isinstance(draft.body, Message)]
        if not any(isinstance(draft.body, Summary) for draft in markers):
            return drafts, epoch
        if len(markers) > 1:
            raise InvalidRequest(
                "append a Summary apart from other markers: it carries what they leave"
            )
        state = await loading.standing(self._engine.store.log, self.id, OPEN - 1)
        return tuple(_carrying(d, state) for d in drafts), state.epoch if epoch is None else epoch

    def _write(
        self, drafts: tuple[Draft, ...], key: str, call: Call | None, expect: Expect
    ) -> Awaitable[tuple[Entry, ...]]:
        log = self._engine.store.log
        return log.append(self._session.id, drafts, key=key, expect=expect, call=call)

    async def _write_after(
        self,
        drafts: tuple[Draft, ...],
        key: str,
        call: Call | None,
        epoch: int | None,
        conflict: Conflict,
    ) -> tuple[Entry, ...]:
        """Append although somebody else went on first: behind them, or in a fork.

        A marker that was made against an epoch, or that names one of these messages by its place,
        cannot go anywhere else.
        """
        forks = self._on_conflict == "fork"
        said = any(isinstance(draft.body, Message) for draft in drafts)
        if self._on_conflict == "raise" or not said or (forks and epoch is not None):
            raise conflict
        if forks:
            return await self._write_in_fork(drafts, key, call, conflict)
        if any(seq > self._session.head for draft in drafts for seq in places(draft.body)):
            raise conflict
        await self.refresh()
        self._doubtful = drafts
        try:
            return await self._write(drafts, key, call, Expect(marker=epoch))
        except Conflict:
            self._doubtful = ()
            raise

    async def _move_on(self, made: tuple[Entry, ...]) -> None:
        """Know what was appended, and what others put in front of it."""
        if made[0].seq > self._session.head + 1:
            with suppress(StoreError):  # it is written; what is not known now is read later
                await self.refresh()
        self._session = moved_on(self._session, made)

    async def _write_in_fork(
        self, drafts: tuple[Draft, ...], key: str, call: Call | None, conflict: Conflict
    ) -> tuple[Entry, ...]:
        """Somebody else went on: so do we, in a fork at the last entry we saw, and say so."""
        left = self.id
        self._session = await self._forked(self._session.head)
        moved = replace(call, session=self.id) if call else None
        expect = Expect(message=self._session.last_message)
        made = await self._write(drafts, key, moved, expect)
        warnings.warn(
            f"session {left} was continued by another writer (its last message is now "
            f"{conflict.found}, here it was {conflict.expected}); this one goes on as {self.id}",
            SessionForked,
            stacklevel=2,
        )
        return made

    async def _forked(self, last: int, *, subtask: bool = False) -> SessionInfo:
        """A session that shares its beginning; of what shares nothing only a subtask has a parent.

        Its parent pays for a subtask, and for nothing else.
        """
        now = self._engine.clock.now()
        fresh = replace(
            self._session, id=self._engine.ids.new(), created=now, updated=now,
            parent=self.id if last or subtask else "", fork=last, archived=0,
        )  # fmt: skip
        made = await self._engine.store.sessions.create(fresh)
        await self._engine.kept_policies.copy(self.store, self._session, made.id)
        return made

    async def _settle(self) -> None:
        """Nobody knows whether the last append happened: if it did, what is there is ours."""
        drafts = self._doubtful
        last = await self._engine.store.log.locate(self.id, drafts[-1].id)
        if last is not None:
            spans = (Span(last - len(drafts) + 1, last),)
            made = await loading.read(self._engine.store.log, self.id, spans)
            await self._move_on(tuple(made))
            if self._owing:
                self._pay_for(self._owing)
        self._doubtful, self._owing = (), None

    async def _check(self, drafts: tuple[Draft, ...]) -> None:
        """Refuse a marker that says nothing, or names what is not there."""
        ahead = {n: kind_of(d.body) for n, d in enumerate(drafts, self._session.head + 1)}
        for head, draft in enumerate(drafts, self._session.head):
            kinds = await loading.kinds(self._engine.store.log, self.id, named(draft.body))
            for what in faults(draft.body, head, {**kinds, **ahead}):
                raise InvalidRequest(f"no {type(draft.body).__name__} can be appended so: {what}")


def _carrying(draft: Draft, state: Folded) -> Draft:
    if not isinstance(draft.body, Summary):
        return draft
    return replace(draft, body=replace(draft.body, folded=state))


MOST = 64
"""So many calls are remembered; nobody tells the reply of an older one again."""


class Paid:
    """The calls of one session that were paid for lately."""

    def __init__(self) -> None:
        self._calls: list[Call] | None = None

    async def look(self, calls: Calls, session: str) -> None:
        """Read what was paid for before, once."""
        if self._calls is None:
            self._calls = list(reversed(await calls.newest(session, MOST)))

    def owed(self, call: Call) -> int | None:
        """What a call still costs; None where it is one that was told before."""
        cost = call.cost or 0
        if not call.request or self._calls is None:
            return cost
        known = next((one for one in self._calls if one.is_retold(call)), None)
        if known is None:
            self._calls = [*self._calls, call][-MOST:]
            return cost
        before = known.cost or 0
        self._calls[self._calls.index(known)] = known.completed(call)
        return max(cost - before, 0) or None


@checks_arguments
class SpendingWriter(Writer):
    """A writer that pays for calls, within caps."""

    def __init__(
        self,
        engine: EngineContext,
        session: SessionInfo,
        on_conflict: OnConflict = "append",
        spent: int = 0,
    ) -> None:
        super().__init__(engine, session, on_conflict, spent)
        self._caps, self.held = engine.caps, engine.held
        """What may be spent from here on, and what is held for calls under way."""
        self.whole = self._whole
        self.payer: SpendingWriter | None = None
        """Whose subtask it is."""

    @property
    def caps(self) -> Caps:
        """What may be spent, in US dollars."""
        return self._caps

    def _whole(self) -> str:
        """The session whose cap holds for it: its own, or that of whom it is a subtask."""
        return self.payer.whole() if self.payer else self.id

    def _pay(self, cost: int) -> None:
        super()._pay(cost)
        if self.payer:
            self.payer.pay(cost)

    def set_caps(self, session: float | None = None, day: float | None = None) -> Self:
        """Change what may be spent, in US dollars; None leaves a cap as it is."""
        told = {"session": session, "day": day}
        changes = {name: value for name, value in told.items() if value is not None}
        self._caps = replace(self._caps, **changes) if changes else self._caps
        return self
