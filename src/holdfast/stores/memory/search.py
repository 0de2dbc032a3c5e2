"""The search port in memory: every part is looked at, which is what the port means."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from msgspec.structs import replace

from holdfast.core.search.facets import Calls, Facets, Used, asked, matches, of_whole_sessions
from holdfast.core.search.literal import holds_all, holds_typed
from holdfast.core.search.neighbours import spread
from holdfast.core.search.ranking import Ranking, preferred
from holdfast.core.search.searchable_text import searchable_body
from holdfast.core.search.semantic import BEGINNING, KINDS, blended
from holdfast.core.search.spelling import nearest_words
from holdfast.core.search.terms import beginnings, pieces_typed, terms
from holdfast.core.search.words import (
    Terms,
    holds,
    is_little,
    is_question,
    looked_for,
    snippet,
    words,
)
from holdfast.core.secrets import mask
from holdfast.model.log import Entry, SessionInfo, kind_of
from holdfast.model.message import Message
from holdfast.model.search import Hit, Query
from holdfast.ports import Embedder

from .state import Shelf

Findable = tuple[Hit, Facets]
"""A part with all of its text as its snippet, and what it can be told apart by."""


class MemorySearch:
    """The search port: what matches, the newest first."""

    def __init__(self, shelf: Shelf) -> None:
        self._shelf = shelf

    async def catch_up(self, limit: int = 1000, embedder: Embedder | None = None) -> int:
        with self._shelf.lock:
            waiting = len(self._shelf.unindexed)
            del self._shelf.unindexed[:limit]
            return min(limit, waiting)

    async def find(self, query: Query, embedder: Embedder | None = None) -> tuple[Hit, ...]:
        wanted = looked_for(query)
        asked(query)  # refuses what names nothing
        while await self.catch_up():
            pass
        with self._shelf.lock:
            sessions = [query.session] if query.session else [*self._shelf.sessions][::-1]
            among = [
                hit
                for session in sessions
                for hit, facets in self._of(session, whole=bool(query.session))
                if matches(facets, query)
            ]
        found = _exact(query, wanted, among)
        if embedder:
            found = _blended(query, embedder, found, among)
        elif query.any and is_little(len(found), wanted):
            open = of_whole_sessions(query)
            wanted = replace(wanted, beginnings=beginnings(query.words))
            ranked = _ranked(query, among, also=open and is_question(wanted))
            found += [among[at] for at in ranked if among[at] not in found]
        return tuple(_shown(hit, wanted) for hit in found[query.offset :][: query.limit])

    async def spelled_like(self, word: str) -> tuple[str, ...]:
        with self._shelf.lock:
            said = Counter(
                one
                for session in self._shelf.sessions
                for hit, _ in self._of(session, whole=False)
                for one in set(words(hit.snippet))
            )
        return () if word in said else nearest_words(word, said.items())

    def _of(self, id: str, *, whole: bool) -> list[Findable]:
        """What is to be found in a session, the newest first; `whole` with what it shares."""
        session = self._shelf.session(id)
        calls = Calls()
        found = [
            one
            for entry in self._shelf.line(id)
            for one in _findable(session, entry, calls)
            if whole or entry.seq > session.fork
        ]
        return found[::-1]


def _findable(session: SessionInfo, entry: Entry, calls: Calls) -> Iterator[Findable]:
    body = entry.body
    parts = body.parts if isinstance(body, Message) else ()
    used = [calls.used(entry.seq, part) for part in parts]
    role = body.role if isinstance(body, Message) else ""
    for ordinal, text in enumerate(searchable_body(body)):
        facets = Facets(
            role=role, project=session.project, agent=session.agent, model=entry.model,
            used=used[ordinal] if parts else Used(), created=entry.created,
        )  # fmt: skip
        if text:
            yield (
                Hit(
                    session=session.id,
                    seq=entry.seq,
                    entry=entry.id,
                    ordinal=ordinal,
                    kind=kind_of(parts[ordinal] if parts else body),
                    role=role,
                    snippet=mask(text),
                    created=entry.created,
                    model=entry.model,
                    project=session.project,
                    agent=session.agent,
                ),
                facets,
            )


def _exact(query: Query, wanted: Terms, among: list[Hit]) -> list[Hit]:
    """What has every word, or what is typed within longer names where nothing has."""
    found = [hit for hit in among if holds(words(hit.snippet), wanted)]
    held = [hit for hit in found if holds_all(hit.snippet, wanted.strings)]
    if wanted.within and not held:
        held = _within_names(query, wanted.within, among)
    ordered = held + [hit for hit in found if hit not in held]
    phrase = (wanted.phrase,) if wanted.phrase else ()
    ordered.sort(key=lambda hit: not holds_typed(hit.snippet, wanted.strings))
    ordered.sort(key=lambda hit: hit not in held)
    return sorted(ordered, key=lambda hit: not holds_all(hit.snippet, phrase))


def _within_names(query: Query, typed: tuple[str, ...], among: list[Hit]) -> list[Hit]:
    """What holds every string in names made of its pieces; in one session, wherever it stands."""
    held = [hit for hit in among if holds_all(hit.snippet, typed)]
    pieces = pieces_typed(typed)
    named = [hit for hit in held if pieces and pieces <= set(terms(hit.snippet))]
    return named or (held if query.session and of_whole_sessions(query) else [])


def _ranked(query: Query, among: list[Hit], *, also: bool) -> dict[int, float]:
    """Which of the hits have some of the words, the best first; a score of 1 for all of them."""
    ranking = Ranking({str(at): hit.snippet for at, hit in enumerate(among)})
    best = ranking.best(query.words, len(among))
    if not best:
        return {}
    own = {int(one.key): one.score for one in best}
    whole = best[0].score / max(best[0].share, 0.01)
    places = {(hit.session, hit.seq): at for at, hit in reversed([*enumerate(among)])}
    lines = {session: number for number, session in enumerate({hit.session for hit in among})}
    place = {at: lines[hit.session] << 32 | hit.seq for at, hit in enumerate(among)}
    entries: dict[int, float] = {}
    for at, score in own.items():
        entries[place[at]] = max(entries.get(place[at], 0.0), score)
    scores = spread(entries, ranking.mean, also=also)
    found = {at: own[at] + scores[place[at]] - entries[place[at]] for at in own}
    for at in places.values():
        if place[at] in scores and place[at] not in entries and among[at].kind == "text":
            found[at] = scores[place[at]]
    said = {at: among[at].created for at in found} if query.prefer else {}
    found = preferred(found, said, query.prefer)
    ordered = sorted(found, key=lambda at: (-found[at], at))
    return {at: found[at] / whole for at in ordered}


def _blended(query: Query, embedder: Embedder, exact: list[Hit], among: list[Hit]) -> list[Hit]:
    """What has every word, then what has some together with what is near in meaning."""
    said = [(at, hit) for at, hit in enumerate(among) if hit.kind in KINDS]
    vectors = embedder.embed([hit.snippet[:BEGINNING] for _, hit in said])
    (asked,) = embedder.embed([query.words])
    near = dict(zip((-at for at, _ in said), embedder.alike(asked, vectors), strict=True))
    first = {-at for at, hit in enumerate(among) if hit in exact}
    by_words = {-at: score for at, score in _ranked(query, among, also=False).items()}
    by_words = dict.fromkeys(first, 0.0) | by_words
    found = blended(first, by_words, near)
    return [replace(among[-at], score=round(score, 3)) for at, score in found]


def _shown(hit: Hit, wanted: Terms) -> Hit:
    shown, marks = snippet(hit.snippet, wanted)
    return replace(hit, snippet=shown, marks=marks)
