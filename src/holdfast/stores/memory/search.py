"""The search port in memory."""

from __future__ import annotations

import re

from msgspec.structs import replace

from holdfast.core.secrets import mask
from holdfast.errors import Misuse
from holdfast.model.search import Hit, Query

from .shelf import Shelf


class MemorySearch:
    """The search port: every word of the query as a whole word, in any case; newest first."""

    def __init__(self, shelf: Shelf) -> None:
        self._shelf = shelf

    async def catch_up(self, limit: int = 1000) -> int:
        with self._shelf.lock:
            waiting = self._shelf.unindexed
            ready, self._shelf.unindexed = waiting[:limit], waiting[limit:]
            self._shelf.index += [replace(hit, snippet=mask(hit.snippet)) for hit in ready]
            return len(ready)

    async def find(self, query: Query) -> tuple[Hit, ...]:
        words = _words(query.words)
        if not words:
            raise Misuse("nothing to search for; give at least one word")
        while await self.catch_up():
            pass
        with self._shelf.lock:
            inside = self._within(query.session) if query.session else [*self._shelf.index]
        found = [
            replace(hit, snippet=_snippet(hit.snippet, words[0]))
            for hit in reversed(inside)
            if query.role in ("", hit.role) and set(words) <= set(_words(hit.snippet))
        ]
        return tuple(found[: query.limit])

    def _within(self, session: str) -> list[Hit]:
        """What is indexed of one session's line, named as if all of it lived there."""
        places = {(entry.id, entry.seq) for entry in self._shelf.line(session)}
        hits = {
            (hit.seq, hit.ordinal): replace(hit, session=session)
            for hit in self._shelf.index
            if (hit.entry, hit.seq) in places
        }
        return [hits[place] for place in sorted(hits)]


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", text.casefold())


def _snippet(text: str, word: str, around: int = 60) -> str:
    """A piece of the text about the first place of a word."""
    at = max(text.casefold().find(word), 0)
    return text[max(at - around, 0) : at + len(word) + around]
