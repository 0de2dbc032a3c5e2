"""From what is told of one session to its entries, calls and notes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from holdfast.core.extract import extract
from holdfast.core.log.incremental_fold import Standing
from holdfast.core.log.transcript_text import earlier
from holdfast.core.log.validate import sound
from holdfast.core.secrets import redact, redacted
from holdfast.engine.ids import session_id
from holdfast.engine.importing.commit import TOLD
from holdfast.engine.importing.fingerprints import (
    EXTRACTED,
    of_record,
    printed,
    timeless,
    with_subtasks,
)
from holdfast.engine.importing.history_match import HistoryMatch, Rolling
from holdfast.model import wire
from holdfast.model.import_batch import ImportBatch
from holdfast.model.import_report import ImportReport, ImportState
from holdfast.model.log import Body, Clear, Folded, Notes, PartRef, Rewind, SessionInfo, Summary
from holdfast.model.message import Message, Opaque, Part, Subtask, SummaryText, ToolResult
from holdfast.model.reply import Call
from holdfast.model.span import Span, clip
from holdfast.model.store import Changes
from holdfast.model.transcript_events import (
    HANDED,
    CallRead,
    Cleared,
    Compacted,
    Kept,
    MessageRead,
    Noted,
    Rewound,
    SessionStarted,
    TranscriptEvent,
)

if TYPE_CHECKING:
    from holdfast.engine.context import ImportContext

MOST_PARTS = 1_000
"""How many parts of a message, and how many records of it, are one entry's: with what was kept
before and behind it, that is less than an entry holds."""

EXTRACT = 2_000
"""How long our own extract is where nobody can read a summary, in tokens."""


class Ingest:
    """One session of a source, as it is told."""

    def __init__(
        self,
        engine: ImportContext,
        agent: str,
        begun: SessionStarted,
        parent: str,
        report: ImportReport,
        *,
        careful: bool,
        before: Sequence[ImportState],
        shared: int = 0,
        source: str = "",
    ) -> None:
        self._source = source  # whose beginning it repeats with times of its own
        self._engine, self._agent, self._report = engine, agent, report
        self._begun = begun
        self._title, self._model = begun.title, begun.model
        wanted = replace(self._wanted(begun, parent), fork=shared)
        made = Rolling if begun.rolling else HistoryMatch
        self._trail = made(engine, wanted, begun.native, report, careful=careful, before=before)
        self._standing = Standing()
        self._natives: dict[str, int] = {}
        self._results: dict[str, PartRef] = {}
        self._calls: list[Call] = []
        """Each with the newest entry when it was told: the one that holds its reply."""
        self._seq = shared
        self._named_calls: dict[str, list[str | int]] = {}
        """For each id that providers have given replies, which of the replies have it, in order."""
        self._notes: list[Noted] = []
        self._any = bool(shared)
        """Whether anything was said yet."""
        self._copied = bool(shared)
        """Whether what is told next was handed over, and is in the session it is shared with."""

    def _wanted(self, begun: SessionStarted, parent: str) -> SessionInfo:
        return SessionInfo(
            id=session_id(self._agent, begun.native),
            created=begun.created,
            directory=begun.directory,
            project=begun.directory,
            title=self._clean(begun.title),
            model=begun.model,
            agent=self._agent,
            parent=parent,
        )

    async def open(self) -> None:
        """Look up what is known of it."""
        await self._trail.open()
        if self._source:
            await self._trail.trace(self._source)

    def made(self) -> ImportBatch | None:
        """The session with what it holds so far, where it is not written yet."""
        return self._trail.made()

    def handed(self, item: TranscriptEvent) -> bool:
        """Whether an item is of what was handed over, or the record that ends it."""
        if not self._copied:
            return False
        self._copied = not (isinstance(item, Kept) and item.record.type in HANDED)
        return True

    def _clean(self, text: str) -> str:
        return redact(text, self._engine.secrets)

    def _sound(self, body: Body) -> Body:
        secrets = self._engine.secrets
        return redacted(sound(body), secrets) if secrets else sound(body)

    async def said(self, told: MessageRead) -> None:
        """A message; one of very many parts is several."""
        role, parts = told.message.role, told.message.parts
        last = max(len(parts) - 1, 0) // MOST_PARTS * MOST_PARTS
        for at in range(0, last, MOST_PARTS):
            piece = Message(role, parts[at : at + MOST_PARTS])
            native = f"{told.native}#{at}" if told.native else ""
            await self._say(replace(told, message=piece, native=native, records=(), open=False))
        await self._say(replace(told, message=Message(role, parts[last:])) if last else told)

    async def _say(self, told: MessageRead) -> None:
        body = self._sound(Message(told.message.role, tuple(map(self._part, told.message.parts))))
        assert isinstance(body, Message)
        print = printed(body, told.created, told.native)
        before = with_subtasks(body, told.created, told.native)
        may_grow = body if told.open else None
        seq = await self._trail.known(
            print, told.native, may_grow, before=before, bare=timeless(body)
        )
        if not seq:
            records = self._sound(Message("user", told.records)) if told.records else None
            beside: tuple[Any, ...] = records.parts if isinstance(records, Message) else ()
            if beside:
                body = Message(body.role, (*body.parts, *beside[:MOST_PARTS]))
            seq = await self._trail.push(
                body, print, created=told.created, completed=told.completed, native=told.native,
                parent=told.parent, provider=told.provider, model=told.model, request=told.request,
            )  # fmt: skip
            for record in beside[MOST_PARTS:]:
                self._trail.carry(record)
        self._note(told, body, seq)

    def _note(self, told: MessageRead, body: Message, seq: int) -> None:
        self._any, self._seq = True, seq
        if told.native:
            self._natives[told.native] = seq
        if body.role == "assistant" and told.model and not told.model.startswith("<"):
            self._model = told.model  # and no name such as <synthetic>
        for ordinal, part in enumerate(body.parts):
            if isinstance(part, ToolResult):
                self._results[part.call] = PartRef(seq, ordinal)

    def _part(self, part: Part) -> Part:
        """A part that names another session by the id that session has here."""
        if isinstance(part, Subtask):
            return replace(part, session=session_id(self._agent, part.session))
        return part

    async def compacted(self, told: Compacted) -> None:
        """A summary of all that was visible; where nothing was, a message that is known as one."""
        for record in told.records:
            await self.kept(Kept(replace(record, whole=True)))
        if not self._any:
            text = told.text or "[a summary that only its provider can read]"
            said = Message("user", (SummaryText(text), *told.opaque))
            await self.said(
                MessageRead(
                    message=said, created=told.created, completed=told.created,
                    native=told.native, provider=told.provider, model=told.model,
                )
            )  # fmt: skip
            return
        text = self._clean(told.text).strip()
        bare = Summary(
            covers=(Span(1, 1),), text=text, trigger=told.trigger, model=told.model,
            step="import" if text else EXTRACTED, policy=self._agent,
            tokens_before=told.before, tokens_after=told.after, window=told.window,
            boundary=told.boundary,
        )  # fmt: skip
        print = printed(bare, told.created, told.native)
        seq = await self._trail.known(print, told.native, bare=timeless(bare))
        if not seq:
            marker = await self._summary(bare, told)
            seq = await self._trail.push(
                marker, print, created=told.created, completed=told.created, native=told.native
            )
        if told.native:
            self._natives[told.native] = seq
        beside = told.opaque[1:] if _sealed(told) else told.opaque
        if beside:
            await self.said(
                MessageRead(
                    message=Message("assistant", beside), created=told.created,
                    completed=told.created, native=f"{told.native}#opaque",
                    provider=told.provider, model=told.model,
                )
            )  # fmt: skip

    async def _summary(self, bare: Summary, told: Compacted) -> Summary:
        await self._trail.ready()
        self._standing.follow(await self._trail.markers())
        state = self._standing.state
        text = bare.text or await self._extract(state)
        last = self._trail.head
        kept = {self._natives[one] for one in told.kept if one in self._natives}
        return replace(
            bare,
            covers=(Span(1, last),),
            text=text,
            kept=tuple(sorted(seq for seq in kept if seq <= last)),
            merges=state.summaries,
            sealed=_sealed(told),
            folded=state,
        )

    async def _extract(self, state: Folded) -> str:
        """What our own extract says of what is visible; what the last one said where none is."""
        before = earlier(self._standing.of(state.summaries))
        if len(before) == 1 and not clip(state.visible, 1, self._trail.head):
            return before[0]
        said = await self._trail.visible(state.visible)
        return extract(said, before, EXTRACT) or "[nothing was said before this]"

    async def cleared(self, told: Cleared) -> None:
        """Results whose content left the model's view, as far as that is not known yet."""
        found = {self._results[call] for call in told.calls if call in self._results}
        if not found or self._trail.session is None:
            return  # what is shared with another session is cleared there
        self._standing.follow(await self._trail.markers())
        if parts := tuple(sorted(found - self._standing.cleared)):
            marker = Clear(
                parts=parts, reason=told.reason, step=told.step, policy=self._agent,
                trigger=told.trigger, tokens_before=told.before, tokens_after=told.after,
            )  # fmt: skip
            await self._trail.push(marker, created=told.created, completed=told.created)

    async def rewound(self, told: Rewound) -> None:
        """The conversation goes on from an earlier message."""
        to = self._natives.get(told.to)
        if to is None and told.to:
            to = self._trail.begins  # it was handed over, and all that was said since is left
            if not to:
                return  # it is not in this session: nothing of it can be left
        marker = Rewind(to=to or 0, reason=told.reason)
        print = printed(marker, told.created, "")
        if not await self._trail.known(print, bare=timeless(marker)):
            await self._trail.push(marker, print, created=told.created, completed=told.created)

    async def called(self, told: CallRead) -> None:
        """What a call of a model used.

        Programs and servers repeat their ids of replies, or leave them out of a transcript: a call
        is known by the entry that holds its reply.
        """
        name = told.request or wire.encode([told.started, told.usage]).decode()
        replies = self._named_calls.setdefault(name, [])
        reply: str | int = told.reply or self._seq
        if reply not in replies:
            replies.append(reply)
        again = replies.index(reply)
        if not self._trail.loose.new(b"called", wire.encode([name, again, told.usage])):
            return
        call = Call(
            id=f"{name}\0{again}" if again else name,
            session="",
            started=told.started,
            ended=told.ended,
            cause=told.cause,
            provider=told.provider,
            model=told.model,
            request=told.request,
            usage=told.usage,
            iterations=told.iterations,
            cost=told.cost,
            price_version="" if told.cost is None else TOLD,
            outcome="imported",
            stop=told.stop,
            window=told.window,
            head=self._seq,
        )
        self._calls.append(call)

    async def kept(self, told: Kept) -> None:
        """A record that has no other place."""
        record = told.record
        new = self._trail.loose.new(*of_record(record))
        if new or not self._any:
            body = self._sound(Message("user", (record,)))
            assert isinstance(body, Message)
            self._trail.early += () if self._any else body.parts  # type: ignore[arg-type]
            if new:
                self._trail.carry(body.parts[0])  # type: ignore[arg-type]

    def titled(self, title: str) -> None:
        """What the session is called."""
        self._title = title

    def noted(self, told: Noted) -> None:
        """Running notes, laid behind everything else."""
        self._notes.append(told)

    async def finish(self) -> ImportBatch | None:
        """All that is left to be written; nothing where there is no session."""
        for note in self._notes:
            text = self._clean(note.text)
            raw = text.encode("utf-8", "surrogatepass")
            if self._trail.head and text.strip() and self._trail.loose.new(b"notes", raw):
                marker = Notes(text=text, upto=self._trail.head)
                await self._trail.push(marker, created=note.created, completed=note.created)
        brought = await self._trail.finish()
        session = self._trail.session
        if brought is None or session is None:
            self._report.copy_of = self._begun.copy_of if self._trail.begins else ""
            return None
        names = (self._agent, self._trail.native, "call")
        calls = tuple(
            replace(call, id=session_id(*names, call.id), session=session.id)
            for call in self._calls
            if not 0
            < call.head
            <= session.fork  # those are the calls of the session it was forked from
        )
        return self._named(replace(brought, calls=calls), session)

    def _named(self, brought: ImportBatch, session: SessionInfo) -> ImportBatch:
        """With its title and model, where the file has changed them."""
        title, model = self._clean(self._title), self._model
        if (not title or title == session.title) and (not model or model == session.model):
            return brought
        if new := brought.new:
            named = replace(new, title=title or new.title, model=model or new.model)
            return replace(brought, new=named)
        directory = self._begun.directory or None
        changes = Changes(title=title or None, model=model or None, directory=directory)
        return replace(brought, changes=changes)


def _sealed(told: Compacted) -> Opaque | None:
    """A summary as its provider made it: its owner is sent that instead of the words."""
    first = told.opaque[0] if told.opaque else None
    return first if isinstance(first, Opaque) and first.type == "compaction" else None
