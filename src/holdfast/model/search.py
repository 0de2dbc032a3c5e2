"""What is looked for in the log, and what is found."""

from __future__ import annotations

from typing import TypedDict

from msgspec import Struct

from holdfast.model.span import OPEN


class Query(Struct, frozen=True, kw_only=True):
    """Words to find, and where: everything that is given must hold."""

    words: str
    session: str = ""
    role: str = ""
    project: str = ""
    """Directories of its path, in a row: `holdfast` is every project of that name."""
    agent: str = ""
    """The program a session was imported from."""
    model: str = ""
    """Pieces of the model's name, in a row: `opus`, or `claude-opus-4`."""
    tool: str = ""
    """Pieces of a tool's name: it was called, or it answered."""
    path: str = ""
    """Directories and a name, in a row: a call names such a path, or its answer came from it."""
    since: int = 0
    """Said at this time or later, in ms."""
    until: int = OPEN
    """Said before this time."""
    prefix: bool = False
    """The last word may be the beginning of one: for whoever is still typing."""
    any: bool = False
    """Where little has every word, what has some of them follows, ranked."""
    prefer: tuple[tuple[int, int], ...] = ()
    """Stretches of time, from the first ms to the one behind the last: of what is ranked, what was
    said then comes earlier."""
    limit: int = 20
    offset: int = 0
    """How many of the best to leave out: the pages before."""


class Where(TypedDict, total=False):
    """Everything of a query but its words, for whoever asks by name."""

    session: str
    role: str
    project: str
    agent: str
    model: str
    tool: str
    path: str
    since: int
    until: int
    prefix: bool
    any: bool
    limit: int
    offset: int


class Hit(Struct, frozen=True, kw_only=True):
    """One part that matches."""

    session: str
    seq: int
    entry: str
    ordinal: int
    kind: str
    role: str
    snippet: str
    """What stands around the words that were found, on one line."""
    marks: tuple[tuple[int, int], ...] = ()
    """Where in the snippet they stand: the first character, and the one behind the last."""
    created: int = 0
    """When it was said, in ms."""
    model: str = ""
    project: str = ""
    agent: str = ""
    score: float = 0.0
    """How well it matches: comparable within one answer only."""
