"""Entries that were laid out beforehand, in another process, for a session whose number is open."""

from __future__ import annotations

from msgspec import Struct

from holdfast.stores.sql.rows import Moves, Rows


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
