"""Notes from sessions that are there already, without a model: what a user had to say again.

Rule 1: a constraint or a correction counts where the user wrote it, in their own words.
Rule 2: what recurs in several sessions is proposed, in its newest wording, and never kept by
        itself; what was said once is left.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from msgspec import Struct

from holdfast.core.knowledge.admission import excluded, is_fact
from holdfast.core.knowledge.authored import Said
from holdfast.core.ledger.wishes.recognise import wishes
from holdfast.core.search.ranking import Ranking
from holdfast.core.search.terms import question_terms

SESSIONS: Final = 2
"""In so many sessions a thing has to be said."""

ALIKE: Final = 0.6
"""Two sentences say the same where they share so many of their terms."""

SHORTEST: Final = 3
"""Sentences of fewer terms say too little to be compared."""

LOOKED_AT: Final = 8


class Recurring(Struct, frozen=True, kw_only=True):
    """Something that a user has said in several sessions."""

    newest: Said
    said: tuple[Said, ...]

    @property
    def sessions(self) -> int:
        """In how many of them."""
        return len({one.evidence.session for one in self.said})


def wanted(said: Iterable[Said]) -> list[Said]:
    """The sentences that constrain or correct, and outlive their session."""
    return [
        one
        for one in said
        if is_fact(one.text)
        and not excluded(one.text)
        and len(set(question_terms(one.text))) >= SHORTEST
        and any(wishes(1, one.text, kind, begun=True) for kind in ("constraint", "correction"))
    ]


def recurring(said: Sequence[Said], sessions: int = SESSIONS) -> list[Recurring]:
    """What was said in several sessions, the most often said first."""
    ranking, groups = Ranking(), dict[str, list[Said]]()
    for one in said:
        terms = set(question_terms(one.text))
        key = ""
        for found in ranking.best(one.text, LOOKED_AT):
            other = set(question_terms(groups[found.key][0].text))
            if len(terms & other) / max(len(terms | other), 1) >= ALIKE:
                key = found.key
                break
        if not key:
            key = str(len(groups))
            groups[key] = []
            ranking.put(key, one.text)
        groups[key].append(one)
    found_groups = [Recurring(newest=group[-1], said=tuple(group)) for group in groups.values()]
    often = [one for one in found_groups if one.sessions >= sessions]
    return sorted(often, key=lambda one: -one.sessions)
