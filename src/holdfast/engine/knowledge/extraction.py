"""Extraction: what a finished turn leaves for later, by a model that points and code that decides.

Rule 1: what is new since the last extraction is looked at, once: the cursor moves in the same
        transaction that keeps what was decided, and not at all where anything failed.
Rule 2: none in a subtask, none where the agent kept notes itself, and only every so many turns.
Rule 3: the question goes behind the conversation as it was sent, with its tools, so that the
        provider's cache serves it; what is called is answered by a desk that permits little.
Rule 4: what is found in the user's own words is kept; the rest waits for approval.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import date, datetime
from typing import TYPE_CHECKING, Final, Literal, Protocol

from msgspec import Struct

from holdfast.core.knowledge import extraction as rules
from holdfast.core.knowledge.admission import (
    admit,
    excluded,
    forgotten,
    own_note,
    remembered,
    type_of,
)
from holdfast.core.knowledge.authored import Said, authored
from holdfast.core.knowledge.notes import check_file, check_type, manifest, read_note, write_note
from holdfast.core.log.transcript_text import chunks, told
from holdfast.core.search.ranking import Ranking
from holdfast.core.tokens.count import MESSAGE
from holdfast.core.tokens.estimate import estimate
from holdfast.core.window.scaffold import wrap
from holdfast.engine import loading
from holdfast.engine.calls.ask import Answer, Like, Question, like, room_for
from holdfast.engine.calls.last_call import newest_call
from holdfast.engine.compaction.lease import Lease
from holdfast.engine.context import SessionContext
from holdfast.engine.knowledge.model_call import ask_within
from holdfast.engine.knowledge.notes import Decided, Kept, Memory
from holdfast.errors import HoldfastError, InvalidRequest
from holdfast.failpoints import failpoint
from holdfast.model.log import Entry
from holdfast.model.message import Message, Text, ToolCall, ToolResult
from holdfast.model.note import Cursor, Note, NoteRecord, Trust, least
from holdfast.model.profile import Profile
from holdfast.model.span import Span
from holdfast.model.window import Block, Tool

if TYPE_CHECKING:
    from holdfast.engine.turns import Turns

OWN_TOOLS: Final = frozenset({"remember", "forget"})
"""Tools by which the agent keeps notes itself."""

MOST: Final = 4_096
"""So many tokens one answer may take."""

TIMEOUT: Final = 120.0

Why = Literal["", "nothing new", "subtask", "own notes", "later", "busy", "no model", "failed"]


class ExtractedSession(SessionContext, Protocol):
    """A session that notes are taken from: a question may be put behind its window."""

    @property
    def turns(self) -> Turns: ...


class Extracted(Struct, frozen=True, kw_only=True):
    """What an extraction came to."""

    kept: tuple[str, ...] = ()
    """The files that were written."""
    waiting: int = 0
    """How many changes wait for approval."""
    skipped: Why = ""
    error: str = ""


class Limits(Struct, frozen=True, kw_only=True):
    """What bounds it."""

    every: int = 1
    """Only every so many turns."""
    cap: int = 250_000_000
    """What all calls for notes may cost in one session, in billionths of a US dollar."""
    model: str = ""
    """Who is asked; empty for whoever leads the session."""
    tools: tuple[Tool, ...] = ()
    """The tools of a question that is put apart from the conversation."""
    apart: bool = False
    """Whether the conversation is told rather than continued: no cache holds it."""
    instructions: tuple[str, ...] = ()
    """Lines that instruction files say already."""
    piece: int = 0
    """So many entries are looked at in one extraction; 0: all that are new."""
    keeps: bool = True
    """Whether the user's own words are kept at once; otherwise they wait for approval, too."""


class Extraction:
    """One session's notes, extracted."""

    def __init__(self, session: ExtractedSession, memory: Memory, limits: Limits) -> None:
        self._session, self._memory, self._limits = session, memory, limits

    async def run(self) -> Extracted:
        """Extract what is new; nothing moves where that fails."""
        session = self._session
        if session.info.is_subtask:
            return Extracted(skipped="subtask")
        flight = await Lease.begin(session, "memory", TIMEOUT)
        if flight is None:
            return Extracted(skipped="busy")
        outcome = "failed"
        try:
            made = await self._extracted()
            outcome = made.skipped or "done"
            return made
        finally:
            await flight.end(outcome)

    async def _extracted(self) -> Extracted:
        session, store = self._session, self._session.store
        head = (await session.refresh()).head
        after = await store.notes.cursor(session.id)
        if self._limits.piece:
            head = min(head, after + self._limits.piece)
        entries = [
            one for one in await loading.read(store.log, session.id, (Span(after + 1, head),))
            if isinstance(one.body, Message)
        ]  # fmt: skip
        said = authored(entries, days(entries))
        cursor = Cursor(session.id, head)
        if not said:
            await store.notes.commit(cursor=cursor)
            return Extracted(skipped="nothing new")
        if any(call.name in OWN_TOOLS for one in entries for call in _calls(one)):
            await store.notes.commit(cursor=cursor)
            return Extracted(skipped="own notes")
        if self._turns(entries) < self._limits.every:
            return Extracted(skipped="later")
        if session.upkeep.voice is None:
            return Extracted(skipped="no model")
        kept = await self._memory.notes()
        desk = rules.Desk(self._place, {file: one.text for file, one in kept.items()})
        failpoint("memory.asking")
        why = await self._worked(desk, kept, entries)
        if why:
            return Extracted(skipped="failed", error=why)
        failpoint("memory.answered")
        sorting = Sorting(self._memory, kept, said, trust_of(entries), self._limits.instructions)
        changes, proposals = sorting.of(desk.written)
        if not self._limits.keeps:
            own = [self._memory.proposal(one, "in the user's own words") for one in changes]
            changes, proposals = [], [*own, *proposals]
        await self._memory.decide(changes, proposals=proposals, cursor=cursor)
        return Extracted(kept=tuple(one.file for one in changes), waiting=len(proposals))

    @property
    def _place(self) -> str:
        return self._memory.shelf.place or "memory"

    @staticmethod
    def _turns(entries: Sequence[Entry]) -> int:
        bodies = [one.body for one in entries if isinstance(one.body, Message)]
        return sum(
            body.role == "user" and any(isinstance(p, Text) and not p.scaffold for p in body.parts)
            for body in bodies
        )

    async def _worked(
        self, desk: rules.Desk, kept: dict[str, Kept], entries: Sequence[Entry]
    ) -> str:
        """Let the model work at the desk; why it could not, empty where it did."""
        session = self._session
        listed = manifest([one.known for one in kept.values()])
        asked = rules.prompt(len(entries), self._place, listed)
        led = (await newest_call(session)) if not self._limits.apart else None
        model = self._limits.model or session.info.model or (led.model if led else "")
        if not model:
            return "no model leads the session"
        profile = session.catalogue.profile(model)
        if led and not self._limits.model:
            return await self._continued(desk, asked, profile)
        for piece in chunks(filter(None, map(told, entries)), max(self._room(profile, asked), 256)):
            whole = f"{wrap('conversation', piece)}\n\n{asked}"
            tools, cap = self._limits.tools or rules.DESK_TOOLS, self._limits.cap
            if why := await rounds(session, desk, profile, whole, (), tools, None, cap):
                return why
        return ""

    @staticmethod
    def _room(profile: Profile, asked: str) -> int:
        return room_for(profile, MOST * rules.ROUNDS) - estimate(asked) - 512

    async def _continued(self, desk: rules.Desk, asked: str, profile: Profile) -> str:
        """The same behind the conversation as it was sent last."""
        session = self._session
        turn = await session.turns.turn()
        window = (await turn.assembled(await session.view())).window
        alike = like(await newest_call(session), window.breakpoints)
        return await rounds(
            session, desk, profile, asked, window.blocks, window.tools, alike, self._limits.cap
        )


async def rounds(
    session: SessionContext, desk: rules.Desk, profile: Profile, asked: str,
    before: Sequence[Block],
    tools: Sequence[Tool], alike: Like | None, cap: int,
) -> str:  # fmt: skip
    """Ask, answer what is called, and ask again, so many times at most; why that failed."""
    blocks, prompt = list(before), asked
    cached = sum(block.tokens for block in before)
    for _ in range(rules.ROUNDS):
        question = Question(
            profile, "", prompt, cause="memory", most=MOST, before=blocks, tools=tools,
            timeout=TIMEOUT, like=alike, calls=True,
        )  # fmt: skip
        answer = await ask_within(session, question, cap, cached=cached)
        if answer.error or answer.stop != "end":
            return answer.error or f"the answer ended by {answer.stop}"
        if not answer.called or answer.message is None:
            return ""
        blocks += _round(profile, prompt, answer, desk)
        prompt, cached = rules.AGAIN, 0
    return ""


def _round(profile: Profile, prompt: str, answer: Answer, desk: rules.Desk) -> list[Block]:
    """What was asked, said and answered, as the next question stands behind it."""
    assert answer.message is not None
    calls = answer.message.calls
    results = [
        ToolResult(call.id, text, error=failed, name=call.name)
        for call, (text, failed) in zip(calls, desk.answer(calls), strict=True)
    ]
    said = (
        Message("user", (Text(prompt),)), answer.message, Message("tool", tuple(results)),
    )  # fmt: skip
    return [
        Block(
            section="current", role=one.role, parts=one.parts, source="question", rule="asked",
            tokens=sum(estimate(str(part)) for part in one.parts) + MESSAGE,
            provider=profile.provider if one.role == "assistant" else "",
            model=profile.name if one.role == "assistant" else "",
        )
        for one in said
    ]  # fmt: skip


class Sorting:
    """What a model wrote, parted into what is kept and what waits."""

    def __init__(
        self, memory: Memory, kept: dict[str, Kept], said: Sequence[Said], trust: Trust,
        instructions: Sequence[str] = (),
    ) -> None:  # fmt: skip
        self._memory, self._kept, self._said = memory, kept, said
        self._trust: Trust = trust
        self._instructions = instructions
        self._there = "\n".join(" ".join(one.text.lower().split()) for one in kept.values())

    def of(self, written: dict[str, str]) -> tuple[list[Decided], list[NoteRecord]]:
        """The changes that are kept, and those that wait."""
        changes, proposals = list[Decided](), list[NoteRecord]()
        texts = {file: one.text for file, one in self._kept.items()}
        for file, text in written.items():
            try:
                wanted = read_note(check_file(file), text)
            except HoldfastError:
                continue
            before = self._kept.get(file)
            made = admit(
                wanted, self._said, before=before.note if before else None, taken=set(texts),
                instructions=self._instructions,
            )  # fmt: skip
            if made.note and not self._is_there(made.note, before):
                old = texts.get(made.note.file, "")
                plain = write_note(made.note)
                changes.append(Decided(
                    file=made.note.file, text=plain, before=old, evidence=made.evidence,
                    cause="extraction",
                ))  # fmt: skip
                texts[made.note.file] = plain
                self._there += "\n" + " ".join(plain.lower().split())
            if made.held:
                proposals += self._held(wanted, before, made.held, made.note)
        return changes, proposals

    def _is_there(self, note: Note, before: Kept | None) -> bool:
        """Whether another note says the same already."""
        if before:
            return write_note(note) == before.text
        lead = note.body.splitlines()[0].lower()
        return " ".join(lead.split()) in self._there

    def _held(
        self, wanted: Note, before: Kept | None, why: str, made: Note | None
    ) -> list[NoteRecord]:
        try:
            text = write_note(wanted)
        except InvalidRequest:
            return []
        change = Decided(
            file=wanted.file, text=text, before=before.text if before and not made else "",
            trust=least((self._trust, "model")), cause="extraction",
            evidence=tuple(dict.fromkeys(one.evidence for one in self._said))[:8],
        )  # fmt: skip
        return [self._memory.proposal(change, why)]


async def act_at_once(
    memory: Memory, entries: Sequence[Entry], instructions: Sequence[str] = ()
) -> list[str]:
    """Do what "remember …" and "forget …" ask for in what the user just wrote; what came of it."""
    done: list[str] = []
    for one in authored(entries, days(entries)):
        if what := remembered(one.text):
            done.append(await keep_sentence(memory, one, what, instructions))
        elif what := forgotten(one.text):
            done.append(await forget_about(memory, what))
    return done


async def keep_sentence(
    memory: Memory, said: Said, what: str = "", instructions: Sequence[str] = (), type: str = ""
) -> str:
    """Keep a sentence of the user's as a note, where it may be kept; what came of it, in words."""
    text = what or said.text
    if why := excluded(text, instructions):
        return (
            f"Not kept as a note, since {why}: “{text}”. Ask the user what was surprising or not "
            "obvious about it; that part is worth keeping."
        )
    kept = await memory.notes()
    if any(text.lower() in one.note.body.lower() for one in kept.values()):
        return f"A note says so already: “{text}”."
    kind = check_type(type) if type else type_of(text)
    note, evidence = own_note(kind, said, taken=kept, text=text)
    await memory.decide([
        Decided(file=note.file, text=write_note(note), evidence=(evidence,), cause="remember")
    ])  # fmt: skip
    return f"Kept as {note.file}, as the user asked: “{text}”."


async def forget_about(memory: Memory, what: str) -> str:
    """Take away the note that words speak of; what came of it, in words."""
    kept = await memory.notes()
    ranking = Ranking({file: f"{one.note.name} {one.text}" for file, one in kept.items()})
    found = [one for one in ranking.best(what, 2) if one.share >= 0.5]
    if not found:
        return f"No note speaks of “{what}”, so none was taken away."
    gone = await memory.forget(found[0].key)
    return (
        f"{gone.file} was taken away, as the user asked; `holdfast memory revert` brings it back."
    )


def days(entries: Sequence[Entry]) -> dict[int, date]:
    """The day on which each entry was said, here."""
    return {
        one.seq: datetime.fromtimestamp(one.created / 1000).astimezone().date() for one in entries
    }


def trust_of(entries: Sequence[Entry]) -> Trust:
    """The least trusted that entries hold: whoever read them may have it from there."""
    levels: list[Trust] = ["user"]
    for one in entries:
        if isinstance(one.body, Message):
            roles: dict[str, Callable[[], Trust]] = {
                "assistant": lambda: "model", "tool": lambda body=one.body: _of_tools(body),
            }  # fmt: skip
            levels.append(roles.get(one.body.role, lambda: "user")())
    return least(levels)


def _of_tools(body: Message) -> Trust:
    names = [part.name.lower() for part in body.parts if isinstance(part, ToolResult)]
    return "web" if any("web" in name or "fetch" in name for name in names) else "tool"


def _calls(entry: Entry) -> Sequence[ToolCall]:
    return entry.body.calls if isinstance(entry.body, Message) else ()
