"""The index of notes in the window: how notes work, and one line for each.

Rule 1: it is read when a session begins, and again after a compaction; in between, what is kept is
        told where it happens, so that what a provider has cached stays a prefix.
Rule 2: an index beyond its bounds is shown as far as they go, and says what is left out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from holdfast.core.knowledge.notes import bounded
from holdfast.engine.lazy import later
from holdfast.model.window import SectionName

if TYPE_CHECKING:
    from holdfast.engine.knowledge import consolidation
    from holdfast.engine.knowledge.notes import Memory
    from holdfast.engine.session import AsyncSession
else:
    consolidation = later("holdfast.engine.knowledge.consolidation")

BEHAVIOUR: Final = """\
# Notes from earlier sessions

You have notes that outlive this conversation{place}. Below is their index, one
line a note. Those that bear on a question are shown to you with it; read any other as a file.
- Keep with `remember`: who the user is, how they want work done (corrections and confirmations,
  with the reason), facts that the project's files do not tell, where things are found elsewhere.
- Do not keep: what the code, its history or the instruction files tell, fix recipes, passing state.
- A note may be stale. Check what it says against the project before you rely on it; take away with
  `forget` what turned out to be wrong.
- What the user did not say in their own words is kept only once they approve it."""


CITE: Final = """\
# Memory of earlier sessions

Where you use a line of this, cite its slug as it stands, in brackets."""


class NotesSource:
    """The section that tells of notes."""

    name = "notes"
    section: SectionName = "memory"

    def __init__(self, session: AsyncSession, memory: Memory) -> None:
        self._session, self._memory = session, memory
        self._read: tuple[tuple[str, int], str] | None = None

    async def _index(self) -> str:
        """One line a note; or the summary of the sessions before, where a policy has that."""
        policy = await self._session.policy()
        if policy.memory == "two-stage" and self._memory.shelf.place:
            summary = await consolidation.summary_now(self._memory)
            return f"{CITE}\n\n{summary}" if summary else ""
        return bounded((await self._memory.index()).strip("\n")).strip("\n")

    async def text(self, allowance: int) -> str:
        """How notes work, and their index."""
        now = (self._session.id, self._session.info.compacted)
        if self._read is None or self._read[0] != now:
            index = await self._index()
            place = self._memory.shelf.place
            told = BEHAVIOUR.format(place=f", in {place}" if place else "")
            self._read = (now, "\n\n".join(filter(None, (told, index))))
        return self._read[1]
