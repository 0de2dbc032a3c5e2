"""Erasing a session reaches the notes that quote it, before its words are erased themselves.

A crash in between is no harm: erasing it again finds what is left.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from holdfast.core.knowledge.quotations import Quotable
from holdfast.core.search.searchable_text import searchable_body
from holdfast.engine import loading
from holdfast.engine.knowledge.consolidation import erase_rollout
from holdfast.engine.knowledge.project import memory_of
from holdfast.engine.knowledge.shelf import Write
from holdfast.model.note import NoteRecord, RecordKind, hash_of, id_of
from holdfast.model.span import EVERYTHING

if TYPE_CHECKING:
    from holdfast.engine.context import EngineContext
    from holdfast.engine.knowledge.notes import Kept, Memory


async def scrub(engine: EngineContext, session: str) -> tuple[str, ...]:
    """Take out of notes what they quote of a session; the files that were changed."""
    about = await engine.store.notes.about(session)
    if not about:
        return ()
    sources = Sources(engine)
    quotable = await sources.of(session)
    changed: list[str] = []
    for scope in sorted({one.scope for one in about}):
        memory = memory_of(engine, scope, files=scope.startswith("/"))
        for one in (await memory.notes()).values():
            own = await sources.besides(session, one.record)
            if one.record.evidence:
                changed += await _scrubbed(memory, one, session, quotable.but(own))
        await _scrub_beside(memory, session, quotable, sources)
        await erase_rollout(memory, session, quotable)
    return tuple(changed)


class Sources:
    """What was said in sessions, each read once."""

    def __init__(self, engine: EngineContext) -> None:
        self._engine = engine
        self._known: dict[str, Quotable] = {}

    async def of(self, session: str) -> Quotable:
        """What was said in a session; nothing of one that is gone."""
        if session not in self._known:
            texts: list[str] = []
            if await self._engine.store.sessions.find(session):
                log = self._engine.store.log
                async for page in loading.pages(log, session, EVERYTHING, bare=True):
                    texts += [text for entry in page for text in searchable_body(entry.body)]
            self._known[session] = Quotable(texts)
        return self._known[session]

    async def besides(self, session: str, record: NoteRecord) -> list[Quotable]:
        """What was said in the other sessions that a text comes from."""
        others = {one.session for one in record.evidence} - {session}
        return [await self.of(one) for one in sorted(others)]


async def _scrub_beside(memory: Memory, session: str, quotable: Quotable, sources: Sources) -> None:
    """Remove what waits and what was, where it quotes the session by way of another one."""
    kinds: tuple[RecordKind, ...] = ("proposal", "pending", "change")
    for kind in kinds:
        for one in await memory.engine.store.notes.records(memory.scope, kind):
            found = quotable.but(await sources.besides(session, one))
            lines = (*one.text.splitlines(), *one.before.splitlines())
            if one.evidence and any(map(found.quotes, lines)):
                await memory.engine.store.notes.commit(remove=[one])


async def _scrubbed(memory: Memory, one: Kept, session: str, quotable: Quotable) -> list[str]:
    text = quotable.without(one.file, one.text)
    left = tuple(each for each in one.record.evidence if each.session != session)
    if text != one.text:
        await memory.shelf.apply(Write(file=one.file, text=text, before=hash_of(one.text)))
    now, store = memory.engine.clock.now(), memory.engine.store
    change = NoteRecord(
        scope=memory.scope, kind="change", id=memory.engine.ids.new(), created=now,
        file=one.file, text=text, cause="erase", evidence=left,
    )  # fmt: skip
    records = [change] if text != one.text else []
    if text:
        records.append(replace(one.record, id=id_of(one.file, text), evidence=left))
    await store.notes.commit(records, remove=[one.record])
    return [one.file] if text != one.text else []
