"""Learning from sessions that are there already, such as imported ones: priced first, resumable.

Rule 1: with a model each session is extracted piece by piece; its cursor moves with each piece, so
        that whoever goes on later does nothing twice.
Rule 2: what is learned waits for approval, unless the user has asked to keep their own words.
Rule 3: without a model, rules propose what a user had to say in several sessions.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from holdfast.core.calls.price import dearest
from holdfast.core.knowledge.admission import own_note, type_of
from holdfast.core.knowledge.authored import Said, authored
from holdfast.core.knowledge.learning import recurring, wanted
from holdfast.core.knowledge.notes import write_note
from holdfast.engine import loading
from holdfast.engine.knowledge.extraction import Extraction, Limits, days
from holdfast.engine.knowledge.notes import Decided
from holdfast.model.log import Entry, SessionInfo
from holdfast.model.message import Message
from holdfast.model.note import Evidence
from holdfast.model.span import EVERYTHING, Span

if TYPE_CHECKING:
    from holdfast.engine.compaction.hooks import Voice
    from holdfast.engine.engine import Engine
    from holdfast.engine.knowledge.notes import Memory

PIECE: Final = 60
"""So many entries are extracted at once."""

ASKED: Final = 2_500
"""About how many tokens the question itself takes, in all its rounds but the first."""

ANSWERED: Final = 800
"""About how many tokens an answer takes."""

ROUNDS: Final = 2


class Estimate(Struct, frozen=True, kw_only=True):
    """What learning would take."""

    sessions: int = 0
    entries: int = 0
    tokens: int = 0
    calls: int = 0
    cost: int | None = None
    """In billionths of a US dollar, at most; None without a price."""


class Learned(Struct, frozen=True, kw_only=True):
    """What one session has brought."""

    session: SessionInfo
    kept: int = 0
    waiting: int = 0
    error: str = ""


class Learning:
    """The sessions of a project, or all of them, to be learned from."""

    def __init__(self, engine: Engine, project: str | None = None) -> None:
        self._engine, self._project = engine, project

    async def sessions(self) -> AsyncIterator[SessionInfo]:
        """Those to be learned from: no subtasks, none without a word."""
        async for one in self._engine.every_session():
            if one.head and not one.is_subtask and self._project in (None, one.project):
                yield one

    async def estimate(self, model: str) -> Estimate:
        """What it would take with a model: what was read already costs nothing again."""
        profile = self._engine.catalogue.profile(model)
        found = Estimate()
        async for one in self.sessions():
            after = await self._engine.store.notes.cursor(one.id)
            heads = await self._engine.store.log.heads(
                one.id, (Span(after + 1, one.head),), limit=100_000
            )
            tokens = sum(sum(head.counts) for head in heads)
            if not heads:
                continue
            calls = -(-len(heads) // PIECE) * ROUNDS
            found = Estimate(
                sessions=found.sessions + 1, entries=found.entries + len(heads),
                tokens=found.tokens + tokens * ROUNDS + calls * ASKED, calls=found.calls + calls,
            )  # fmt: skip
        cost = dearest(profile, found.tokens, found.calls * ANSWERED)
        return Estimate(
            sessions=found.sessions, entries=found.entries, tokens=found.tokens, calls=found.calls,
            cost=cost,
        )  # fmt: skip

    async def run(
        self, model: str, voice: Voice, *, cap: int, keep: bool = False
    ) -> AsyncIterator[Learned]:
        """Learn from one session after the other; what each has brought."""
        async for one in self.sessions():
            yield await self._learned(one, model, voice, cap, keep=keep)

    async def _learned(
        self, info: SessionInfo, model: str, voice: Voice, cap: int, *, keep: bool
    ) -> Learned:
        session = await self._engine.session(info.id, summariser=voice)
        memory = self._memory_of(info)
        limits = Limits(cap=cap, model=model, apart=True, piece=PIECE, keeps=keep)
        kept = waiting = 0
        while True:
            before = await self._engine.store.notes.cursor(info.id)
            made = await Extraction(session, memory, limits).run()
            kept, waiting = kept + len(made.kept), waiting + made.waiting
            now = await self._engine.store.notes.cursor(info.id)
            if made.error or now == before or now >= info.head:
                return Learned(session=info, kept=kept, waiting=waiting, error=made.error)

    def _memory_of(self, info: SessionInfo) -> Memory:
        where = info.project or info.directory
        return self._engine.memory(where) if where else self._engine.memory(key="imported")

    async def by_rules(self) -> list[str]:
        """Propose what users had to say again, without a model; what was proposed."""
        by_project: dict[str, list[Said]] = {}
        memories: dict[str, Memory] = {}
        async for one in self.sessions():
            memory = self._memory_of(one)
            memories[memory.scope] = memory
            by_project.setdefault(memory.scope, []).extend(await self._said(one))
        proposed: list[str] = []
        for scope, said in by_project.items():
            ordered = sorted(said, key=lambda one: one.day)
            for found in recurring(ordered):
                evidence = tuple(dict.fromkeys(one.evidence for one in found.said))
                why = f"said in {found.sessions} sessions"
                if await _proposed(memories[scope], found.newest, evidence, why):
                    proposed.append(found.newest.text)
        return proposed

    async def _said(self, info: SessionInfo) -> list[Said]:
        entries: list[Entry] = []
        log = self._engine.store.log
        async for page in loading.pages(log, info.id, EVERYTHING, bare=True):
            entries += [one for one in page if isinstance(one.body, Message)]
        return wanted(authored(entries, days(entries)))


async def _proposed(memory: Memory, said: Said, evidence: tuple[Evidence, ...], why: str) -> bool:
    kept = await memory.notes()
    plain = said.text.lower()
    told = [one.text for one in kept.values()]
    told += [one.text for one in await memory.engine.store.notes.records(memory.scope, "proposal")]
    if any(plain in " ".join(one.lower().split()) for one in told):
        return False
    note, _ = own_note(type_of(said.text), said, taken=kept)
    change = Decided(file=note.file, text=write_note(note), evidence=evidence, cause="learn")
    return await memory.propose(change, why) is not None
