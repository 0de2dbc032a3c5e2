"""Laying entries out where no store is at hand: their rows, and their words for the index.

It is what a process does that reads transcripts beside the one that writes. A session has no number
there, so places are counted as if it were 0.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec

from holdfast.core.search.facets import Calls, Facets
from holdfast.core.search.searchable_text import searchable, searchable_body
from holdfast.model.log import Draft, SessionInfo
from holdfast.model.message import Message, Record
from holdfast.stores.search.indexing import Row, row
from holdfast.stores.sql.keys import part_place
from holdfast.stores.sql.prebuilt import Laid
from holdfast.stores.sql.rows import lay_out, moves

_encoder = msgspec.msgpack.Encoder()


class Laying:
    """The sessions of one source, as they grow."""

    def __init__(self) -> None:
        self._heads: dict[str, int] = {}
        self._calls: dict[str, Calls] = {}

    def lay(self, session: SessionInfo, drafts: Sequence[Draft], key: str) -> bytes:
        """The next entries of a session, packed."""
        first = self._heads.get(session.id, 0) + 1
        self._heads[session.id] = first + len(drafts) - 1
        calls = self._calls.setdefault(session.id, Calls())
        words = list(_words(session, drafts, first, calls))
        rows = lay_out(drafts, first, key)
        return _encoder.encode(
            Laid(first, moves(drafts), rows, session.project, session.agent, words)
        )


def _words(
    session: SessionInfo, drafts: Sequence[Draft], first: int, calls: Calls
) -> Iterator[Row]:
    """The place, the words and the tags of whatever has words, as catching up would have them."""
    whose = {"project": session.project, "agent": session.agent}
    for seq, draft in enumerate(drafts, first):
        body, label = draft.body, {"model": draft.model, "created": draft.created, **whose}
        if not isinstance(body, Message):
            if text := "\n".join(searchable_body(body)):
                yield row(part_place(seq, 0), text, Facets(**label))
            continue
        for ordinal, part in enumerate(body.parts):
            if isinstance(part, Record):
                continue
            used = calls.used(seq, part)
            if text := searchable(part):
                facets = Facets(role=body.role, used=used, **label)
                yield row(part_place(seq, ordinal), text, facets)
