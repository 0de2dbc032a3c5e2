"""Bringing notes back at the start of a turn: chosen by a small model, or ranked by words."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Final

from holdfast.core.knowledge import recall as rules
from holdfast.core.knowledge.notes import MOST_FILES, manifest
from holdfast.core.knowledge.recall import ALLOWANCE, MOST, Recalled
from holdfast.core.search.ranking import Ranking
from holdfast.engine.calls.ask import Question
from holdfast.engine.knowledge.model_call import ask_within

if TYPE_CHECKING:
    from holdfast.engine.context import SessionContext
    from holdfast.engine.knowledge.notes import Kept, Memory

LOOKED_AT: Final = 40
"""So many of the best ranked notes are looked at."""

ANSWER: Final = 512
"""So many tokens a selection may take."""

TIMEOUT: Final = 10.0
"""A selection that takes longer, in seconds, is made by words instead."""


class Recall:
    """The notes of a project, ready to be asked."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory
        self._ranking = Ranking()
        self._texts: dict[str, str] = {}
        self._changes = -1

    async def find(
        self,
        query: str,
        *,
        most: int = MOST,
        shown: Collection[str] = (),
        tools: Sequence[str] = (),
        session: SessionContext | None = None,
        model: str = "",
        cap: int = 0,
    ) -> tuple[Recalled, ...]:
        """The notes that help with a question; `shown` has the ids that stand already.

        With a session and a model that one is asked, while `cap` billionths of a dollar last.
        """
        kept = await self._memory.at_hand()
        self._learn(kept)
        if not kept or not query.strip():
            return ()

        def fits(one: Kept) -> bool:
            return one.record.id[:8] not in shown and not rules.is_usage(one.note, tools)

        found = self._ranking.best(query, LOOKED_AT + len(shown))
        ranked = [one for one in found if fits(kept[one.key])]
        files: list[str] | None = None
        if session and model:
            offered = {file: one for file, one in kept.items() if fits(one)}
            best = [offered[one.key] for one in ranked]
            files = await self._chosen(query, best, offered, tools, session, model, cap)
        if files is None:
            files = rules.certain(query, ranked, self._texts, most)
        return tuple(_recalled(kept[file]) for file in files[:most])

    async def used(self, found: Sequence[Recalled]) -> None:
        """Record that notes were shown to a model."""
        memory = self._memory
        now = memory.engine.clock.now()
        await memory.engine.store.notes.used(memory.scope, [one.id for one in found], now)

    def _learn(self, kept: dict[str, Kept]) -> None:
        """Bring the ranking up to date with notes that were added, changed or taken away."""
        if self._changes == self._memory.changes:
            return
        for file in set(self._texts) - set(kept):
            self._ranking.drop(file)
        texts = {file: _words(one) for file, one in kept.items()}
        for file, text in texts.items():
            if self._texts.get(file) != text:
                self._ranking.put(file, text)
        self._texts, self._changes = texts, self._memory.changes

    async def _chosen(
        self, query: str, best: Sequence[Kept], offered: dict[str, Kept], tools: Sequence[str],
        session: SessionContext, model: str, cap: int,
    ) -> list[str] | None:  # fmt: skip
        """What a model chooses; None where it was not asked, or answered something else."""
        newest = sorted(offered.values(), key=lambda one: -one.modified)
        among = {one.file: one for one in (*best, *newest)}
        listed = list(among.values())[:MOST_FILES]
        asked = Question(
            session.catalogue.profile(model), rules.PROMPT,
            rules.question(query, manifest([one.known for one in listed]), tools),
            cause="recall", most=ANSWER, timeout=TIMEOUT, effort="low",
        )  # fmt: skip
        answer = await ask_within(session, asked, cap)
        return rules.selected(answer.text, {one.file for one in listed}) if answer.text else None


def _recalled(one: Kept) -> Recalled:
    return Recalled(file=one.file, note=one.note, id=one.record.id, saved=one.modified)


def _words(one: Kept) -> str:
    """What a note is found by; its name and description count twice."""
    head = f"{one.note.name}\n{one.note.description}"
    return f"{head}\n{head}\n{one.note.body}"


def reminder(found: Sequence[Recalled], now: int, allowance: int = ALLOWANCE) -> str:
    """What a model is shown of notes that were brought back."""
    return rules.reminder(found, now, allowance)
