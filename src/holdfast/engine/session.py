"""One open session: appending to it, seeing it, forking it."""

from __future__ import annotations

import warnings
from collections.abc import AsyncIterator, Sequence
from typing import TYPE_CHECKING, Any, Unpack

from msgspec.structs import replace

from holdfast.core.count import weigh_body
from holdfast.core.explain import Absence
from holdfast.core.markers import faults, named
from holdfast.core.price import dollars
from holdfast.core.secrets import redact, redacted
from holdfast.core.sound import sound, text
from holdfast.core.toolcalls import ToolState, tool_states
from holdfast.engine import load
from holdfast.engine.explaining import (
    Explained,
    explain_now,
    explain_session,
    snapshot,
    why_absent,
)
from holdfast.engine.turns import Asking, Turns
from holdfast.engine.visible import Visible
from holdfast.engine.window import PreparedWindow
from holdfast.errors import Conflict, Misuse, SessionForked, Unknown
from holdfast.model.log import (
    Body,
    Draft,
    Entry,
    Folded,
    Rewind,
    Session,
    Summary,
    kind_of,
    moved_on,
)
from holdfast.model.message import Media, Message, ToolResult, tool, user
from holdfast.model.reply import Call
from holdfast.model.span import EVERYTHING, OPEN, Span
from holdfast.model.store import Changes, Expect
from holdfast.model.view import View
from holdfast.model.window import BudgetSnapshot
from holdfast.ports import Catalogue, Counter, Store

if TYPE_CHECKING:
    from holdfast.engine.engine import Engine


class OpenSession:
    """A session as one writer holds it; it knows the last message this writer has seen."""

    def __init__(
        self, engine: Engine, session: Session, on_conflict: str = "fork", spent: int = 0
    ) -> None:
        self._engine = engine
        self._session = session
        self._on_conflict = on_conflict
        self._spent = spent
        self._doubtful: tuple[Draft, ...] = ()
        self._lock = engine.lock()
        self._turns = Turns(self)
        self.visible = Visible(engine.store)
        """What its windows show, read once."""

    @property
    def id(self) -> str:
        """Its name; another one after a conflict, when the writer goes on in a fork."""
        return self._session.id

    @property
    def info(self) -> Session:
        """The session as this writer last saw it."""
        return self._session

    @property
    def cost(self) -> float:
        """What its calls have cost in US dollars, as far as prices are known."""
        return dollars(self._spent)

    @property
    def store(self) -> Store:
        """Where it is kept."""
        return self._engine.store

    @property
    def catalogue(self) -> Catalogue:
        """What is known of models and policies."""
        return self._engine.catalogue

    @property
    def endpoint(self) -> Counter | None:
        """Counts for a provider by asking it, where that was configured."""
        return self._engine.endpoint

    def counter(self, vocabulary: str) -> Counter:
        """What counts exactly with a vocabulary."""
        return self._engine.counter(vocabulary)

    def now(self) -> int:
        """The time, as a label."""
        return self._engine.clock.now()

    def new_id(self) -> str:
        """A new name."""
        return self._engine.ids.new()

    async def window(self, **given: Unpack[Asking]) -> PreparedWindow:
        """The window to send now, made to fit."""
        return await self._turns.window(**given)

    async def preview(self, **given: Unpack[Asking]) -> PreparedWindow:
        """The window that would be sent now, with nothing written."""
        return await self._turns.window(**given, write=False)

    async def reply(self, response: Any, *, format: str = "") -> Entry:
        """Append what a provider answered: parts verbatim, usage and cost."""
        return await self._turns.reply(response, format=format)

    @property
    def secrets(self) -> tuple[str, ...]:
        """Values that never enter the log."""
        return self._engine.secrets

    async def refused(self, message: str, *, provider: str = "") -> Entry | None:
        """A provider refused the request: remember what is to be sent differently from now on."""
        return await self._turns.refused(message, provider=provider)

    async def user(self, text: str, *media: Media, key: str = "") -> Entry:
        """Append what the user said; durable when it returns."""
        return await self.append(user(text, *media), key=key)

    async def tool_result(
        self, call_id: str, output: str, error: bool = False, *, name: str = "", key: str = ""
    ) -> Entry:
        """Append what a tool answered."""
        return await self.append(tool(ToolResult(call_id, output, error, name)), key=key)

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
        told = replace(call, entry=draft.id) if call else None
        return (await self._append((draft,), key=key, call=told, epoch=epoch))[0]

    async def append_all(self, bodies: Sequence[Body], *, key: str = "") -> tuple[Entry, ...]:
        """Append several messages or markers, all or none."""
        return await self._append(tuple(self._draft(body) for body in bodies), key=key)

    async def rewind(self, to: str | int, reason: str = "") -> Entry:
        """Go on from an earlier entry; what came after it stays in the log as a branch."""
        return await self.append(Rewind(to=await self.seq(to), reason=reason))

    async def view(self, at: str | int = "") -> View:
        """What is visible now, or as it was at an entry."""
        await self.refresh()
        last = None if at == "" else await self.seq(at)
        return await load.view(self._engine.store.log, self._session, last)

    async def seen(self, at: str | int = "") -> AsyncIterator[Entry]:
        """The visible messages and the summaries that stand for the rest, in order."""
        async for page in self.seen_pages(at):
            for entry in page:
                yield entry

    async def seen_pages(self, at: str | int = "") -> AsyncIterator[list[Entry]]:
        """The same, page by page."""
        view = await self.view(at)
        async for page in load.seen(self._engine.store.log, view):
            yield page

    async def entries(self) -> AsyncIterator[Entry]:
        """The whole log, in order."""
        async for page in self.pages():
            for entry in page:
                yield entry

    async def pages(self) -> AsyncIterator[tuple[Entry, ...]]:
        """The whole log, page by page."""
        async for page in load.pages(self._engine.store.log, self.id, EVERYTHING):
            yield page

    async def tool_states(self) -> dict[str, ToolState]:
        """Where each visible tool call stands."""
        return tool_states([entry async for entry in self.seen()])

    async def seq(self, entry: str | int) -> int:
        """The place of an entry, given its id or its seq."""
        found = None
        if isinstance(entry, str):
            found = await self._engine.store.log.locate(self.id, entry)
        if found is None and str(entry).isascii() and str(entry).isdigit():
            found = int(entry) if int(entry) <= self._session.head else None
        if found is None:
            do = f"`holdfast show {self.id} --all` lists them."
            raise Unknown("entry", str(entry), (), do)
        return found

    async def entry(self, id: str | int) -> Entry:
        """One entry, given its id or its seq."""
        at = await self.seq(id)
        (found,) = await self._engine.store.log.read(self.id, (Span(at, at),))
        return found

    async def explain(
        self, entry: str = "", *, against: str = "", **given: Unpack[Asking]
    ) -> Explained:
        """What the call behind an entry had in front of it, and why; or what would be sent now.

        With `against`, the entry of another call, also where the two requests part.
        """
        return await explain_session(self, entry, against, **given)

    async def snapshot(self) -> BudgetSnapshot:
        """The state of the window for display, as of the last call."""
        return await snapshot(self)

    async def explain_now(self) -> Explained:
        """What would be sent now, with the system prompt and tools of the newest call."""
        return await explain_now(self)

    async def why_absent(self, entry: str) -> Absence:
        """Which marker keeps an entry out of the window."""
        return await why_absent(self, entry)

    async def size(self) -> int:
        """How many bytes its own entries hold, without what it shares with its parent."""
        total, last = 0, self._session.head
        while last > self._session.fork:
            spans = (Span(self._session.fork + 1, last),)
            heads = await self._engine.store.log.heads(self.id, spans)
            total += sum(sum(head.sizes) for head in heads)
            last = heads[0].seq - 1 if heads else 0
        return total

    async def refresh(self) -> Session:
        """Look again: others may have gone on."""
        return self._adopt(await self._engine.store.sessions.session(self.id))

    async def fork(self, at: str | int = "") -> OpenSession:
        """A session of its own that shares this one up to an entry."""
        await self.refresh()
        last = self._session.head if at == "" else await self.seq(at)
        return OpenSession(self._engine, await self._forked(last), self._on_conflict)

    async def rename(self, title: str) -> Session:
        """Give it another title."""
        return await self._set(Changes(title=redact(text(title, "a title"), self._engine.secrets)))

    async def archive(self, archived: bool = True) -> Session:
        """Put it away, or bring it back; nothing is deleted."""
        return await self._set(Changes(archived=self._engine.clock.now() if archived else 0))

    async def _set(self, changes: Changes) -> Session:
        return self._adopt(await self._engine.store.sessions.set(self.id, changes))

    def _adopt(self, found: Session) -> Session:
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
        now = self._engine.clock.now() if created is None else created
        clean = redacted(sound(body), self._engine.secrets) if self._engine.secrets else sound(body)
        return Draft(
            id=self._engine.ids.new(),
            body=clean,
            created=now,
            completed=now if completed else None,
            parent=parent,
            provider=provider,
            model=model,
            request=request,
            counts=weigh_body(clean),
        )

    async def _append(
        self,
        drafts: tuple[Draft, ...],
        *,
        key: str = "",
        call: Call | None = None,
        epoch: int | None = None,
    ) -> tuple[Entry, ...]:
        async with self._lock:
            if self._doubtful:
                await self._settle()
            if not all(isinstance(draft.body, Message) for draft in drafts):
                await self._check(drafts)
                drafts, epoch = await self._complete(drafts, epoch)
            self._doubtful = drafts  # until we know: an error, an interrupt, a cancellation
            try:
                made = await self._write(drafts, key, call, epoch)
            except Conflict as conflict:
                self._doubtful = ()
                if self._on_conflict == "raise" or epoch is not None:
                    raise
                made = await self._write_in_fork(drafts, key, call, conflict)
            self._session, self._doubtful = moved_on(self._session, made), ()
            self._engine.appended = True
            self._spent += (call.cost or 0) if call else 0
            return made

    async def _complete(
        self, drafts: tuple[Draft, ...], epoch: int | None
    ) -> tuple[tuple[Draft, ...], int | None]:
        """Give a Summary the state it replaces, which holds only while no marker comes between."""
        markers = [draft for draft in drafts if not isinstance(draft.body, Message)]
        if not any(isinstance(draft.body, Summary) for draft in markers):
            return drafts, epoch
        if len(markers) > 1:
            raise Misuse("append a Summary apart from other markers: it carries what they leave")
        state = await load.standing(self._engine.store.log, self.id, OPEN - 1)
        return tuple(_carrying(d, state) for d in drafts), state.epoch if epoch is None else epoch

    async def _write(
        self, drafts: tuple[Draft, ...], key: str, call: Call | None, epoch: int | None
    ) -> tuple[Entry, ...]:
        says = any(isinstance(draft.body, Message) for draft in drafts)
        expect = Expect(message=self._session.last_message if says else None, marker=epoch)
        log = self._engine.store.log
        return await log.append(self.id, drafts, key=key, expect=expect, call=call)

    async def _write_in_fork(
        self, drafts: tuple[Draft, ...], key: str, call: Call | None, conflict: Conflict
    ) -> tuple[Entry, ...]:
        """Somebody else went on: so do we, in a fork at the last entry we saw, and say so."""
        left = self.id
        self._session = await self._forked(self._session.head)
        moved = replace(call, session=self.id) if call else None
        made = await self._write(drafts, key, moved, None)
        warnings.warn(
            f"session {left} was continued by another writer (its last message is now "
            f"{conflict.found}, here it was {conflict.expected}); this one goes on as {self.id}",
            SessionForked,
            stacklevel=2,
        )
        return made

    async def _forked(self, last: int) -> Session:
        now = self._engine.clock.now()
        fresh = replace(
            self._session, id=self._engine.ids.new(), created=now, updated=now, parent=self.id,
            fork=last, archived=0,
        )  # fmt: skip
        return await self._engine.store.sessions.create(fresh)

    async def _settle(self) -> None:
        """Nobody knows whether the last append happened: if it did, what is there is ours."""
        drafts = self._doubtful
        last = await self._engine.store.log.locate(self.id, drafts[-1].id)
        if last is not None:
            spans = (Span(last - len(drafts) + 1, last),)
            made = await load.read(self._engine.store.log, self.id, spans)
            self._session = moved_on(self._session, tuple(made))
        self._doubtful = ()

    async def _check(self, drafts: tuple[Draft, ...]) -> None:
        """Refuse a marker that says nothing, or names what is not there."""
        ahead = {n: kind_of(d.body) for n, d in enumerate(drafts, self._session.head + 1)}
        for head, draft in enumerate(drafts, self._session.head):
            kinds = await load.kinds(self._engine.store.log, self.id, named(draft.body))
            for what in faults(draft.body, head, {**kinds, **ahead}):
                raise Misuse(f"no {type(draft.body).__name__} can be appended so: {what}")


def _carrying(draft: Draft, state: Folded) -> Draft:
    if not isinstance(draft.body, Summary):
        return draft
    return replace(draft, body=replace(draft.body, folded=state))
