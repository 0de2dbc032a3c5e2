"""What is looked for in the log, and what is found."""

from __future__ import annotations

from msgspec import Struct


class Query(Struct, frozen=True, kw_only=True):
    """Words to find, and where."""

    words: str
    session: str = ""
    role: str = ""
    limit: int = 20


class Hit(Struct, frozen=True, kw_only=True):
    """One part that matches."""

    session: str
    seq: int
    entry: str
    ordinal: int
    kind: str
    role: str
    snippet: str
    created: int = 0
    """When it was said, in ms."""
