"""What the agent itself keeps and takes away by its tools: held against the user's words."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from holdfast.core.knowledge.admission import admit, forgotten
from holdfast.core.knowledge.authored import Said, authored
from holdfast.core.knowledge.notes import check_file, check_type, file_name, write_note
from holdfast.engine import loading
from holdfast.engine.knowledge.extraction import days, trust_of
from holdfast.engine.knowledge.notes import Decided, Memory
from holdfast.model.log import Entry
from holdfast.model.note import Note, least
from holdfast.model.span import Span

if TYPE_CHECKING:
    from holdfast.engine.session import AsyncSession

LOOKED_AT: Final = 200
"""So many of a session's newest entries are looked at for what the user said."""

_UNWANTED = re.compile(r"\b(?:forget|remove|delete|drop|outdated|no longer|wrong)\b", re.IGNORECASE)


class OwnNotes:
    """The tools remember and forget."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory

    async def remember(self, session: AsyncSession, text: str, type: str, into: str = "") -> str:
        """Keep what the user said; what they did not say waits. What came of it, in words."""
        memory, kind = self._memory, check_type(type)
        entries = await _newest(session)
        said = authored(entries, days(entries))
        kept = await memory.notes()
        before = kept.get(check_file(into)) if into else None
        wanted = Note(
            name="", description=text.splitlines()[0], type=kind, body=text, file=into or "note.md"
        )
        made = admit(wanted, said, before=before.note if before else None, taken=kept)
        if made.excluded:
            return (
                f"Not kept: {made.excluded}. What was surprising or not obvious about it may be "
                "worth keeping; ask the user."
            )
        done: list[str] = []
        if made.note:
            old = before.text if before else ""
            change = Decided(
                file=made.note.file, text=write_note(made.note), before=old,
                evidence=made.evidence, cause="remember",
            )  # fmt: skip
            await memory.decide([change])
            done.append(f"Kept in {made.note.file}, in the user's words.")
        if made.held:
            done.append(await self._wait(wanted, entries, said, made.held))
        return " ".join(done) or "A note says so already."

    async def _wait(self, wanted: Note, entries: list[Entry], said: list[Said], why: str) -> str:
        taken = await self._memory.notes()
        file = file_name(wanted.type, wanted.description, taken)
        named = Note(
            name=file.removesuffix(".md").partition("_")[2].replace("_", " "),
            description=wanted.description, type=wanted.type, body=wanted.body, file=file,
        )  # fmt: skip
        evidence = tuple(dict.fromkeys(one.evidence for one in said))[-8:]
        change = Decided(
            file=file, text=write_note(named), trust=least((trust_of(entries), "model")),
            evidence=evidence, cause="remember",
        )  # fmt: skip
        if await self._memory.propose(change, why) is None:
            return "It waits for the user's approval already, or they refused it."
        return "The rest is not in the user's words, so it waits for their approval."

    async def forget(self, session: AsyncSession, file: str) -> str:
        """Take a note away where the user asked for it; otherwise that waits, too."""
        now = await self._memory.note(file)
        entries = await _newest(session)
        said = authored(entries, days(entries))[-12:]
        words = set(re.findall(r"\w{4,}", f"{now.note.name} {now.note.description}".lower()))
        asked = [
            one for one in said
            if forgotten(one.text)
            or (_UNWANTED.search(one.text) and words & set(re.findall(r"\w{4,}", one.text.lower())))
        ]  # fmt: skip
        if asked:
            await self._memory.forget(now.file)
            return f"{now.file} was taken away."
        change = Decided(
            file=now.file, text="", before=now.text, cause="forget", trust="model",
            evidence=now.record.evidence,
        )  # fmt: skip
        await self._memory.propose(change, "the agent wants it taken away; the user did not ask")
        return f"{now.file} stays until the user approves that it is taken away."


async def _newest(session: AsyncSession) -> list[Entry]:
    head = (await session.refresh()).head
    return await loading.read(
        session.store.log, session.id, (Span(max(head - LOOKED_AT, 1), head),)
    )
