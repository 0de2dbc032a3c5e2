"""Entries that were laid out beforehand, in another process, for a session whose number is open."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from holdfast.model.log import Draft, Summary
from holdfast.model.message import Message
from holdfast.stores.sql.rows import Rows

Moves = tuple[int, int | None, int | None, int | None, int, int]
"""How far entries move the head, the last message and the last marker; and when."""


class Laid(Struct, array_like=True):
    """Some entries of a session, as rows; and as the search index will have them."""

    first: int
    """The seq of the first of them."""
    moves: Moves
    rows: Rows
    project: str
    agent: str
    """What the words are tagged with, besides what the entries themselves say."""
    words: list[tuple[int, str, str, str]]


def moves(drafts: Sequence[Draft]) -> Moves:
    """How far drafts move a session."""
    message = marker = compacted = None
    newest = drafts[0].created
    for ahead, draft in enumerate(drafts, 1):
        newest = max(newest, draft.created)
        if isinstance(draft.body, Message):
            message = ahead
        else:
            marker = ahead
            compacted = draft.created if isinstance(draft.body, Summary) else compacted
    return len(drafts), message, marker, compacted, newest, newest
