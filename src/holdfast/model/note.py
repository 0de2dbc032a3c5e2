"""Notes that outlive a session, and what a store knows of them beside their files.

Rule 1: the text of a note is the truth, in a file or in the store; a record is found by its hash.
Rule 2: trust is the least of what a note came from; what an agent writes never raises it.
"""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import sha256
from typing import Final, Literal

from msgspec import Struct

NoteType = Literal["user", "feedback", "project", "reference"]

NOTE_TYPES: Final[tuple[NoteType, ...]] = ("user", "feedback", "project", "reference")

Trust = Literal["web", "tool", "model", "user"]
"""Who wrote what a note says, the least trusted first."""

LEVELS: Final[tuple[Trust, ...]] = ("web", "tool", "model", "user")

RecordKind = Literal["note", "proposal", "pending", "change", "rollout", "text"]
"""What a record is of: a note that stands, one that waits for approval, a write that is decided and
not done yet, a version, what stage one made of a session, or a note that is kept in the store."""


def least(levels: Iterable[Trust]) -> Trust:
    """The trust of what was put together from several sources."""
    found: list[Trust] = [*levels, "user"]
    return min(found, key=LEVELS.index)


class Evidence(Struct, frozen=True, omit_defaults=True):
    """Where something was said: the entry that a note came from."""

    session: str
    entry: str
    seq: int = 0


class Note(Struct, frozen=True, omit_defaults=True, kw_only=True):
    """One remembered thing."""

    name: str
    description: str
    type: NoteType
    body: str = ""
    file: str = ""


class NoteRecord(Struct, frozen=True, omit_defaults=True, kw_only=True):
    """What is known of a text beside the text itself."""

    scope: str
    """The project, or the key that a program without files has chosen."""
    kind: RecordKind
    id: str
    """Of a note the hash of its file's name and text (`id_of`); of a text the name of its file."""
    created: int
    used: int = 0
    """When it was shown to a model last, in ms; 0: never."""
    uses: int = 0
    file: str = ""
    text: str = ""
    before: str = ""
    """Of a change the text before it; of a pending write the hash of the text it was made for."""
    trust: Trust = "user"
    evidence: tuple[Evidence, ...] = ()
    cause: str = ""
    """What brought it about: extraction, remember, forget, hand, review, learn, import, revert."""
    reason: str = ""
    """Why it waits for approval."""
    ended: int = 0
    """Since when it no longer holds, in ms; 0: it holds."""
    data: dict[str, str] = {}
    """Of a rollout its raw memory, summary, slug and place."""


class Cursor(Struct, frozen=True):
    """How far a session has been read for notes."""

    session: str
    seq: int


def hash_of(text: str) -> str:
    """What a text is known by."""
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def id_of(file: str, text: str) -> str:
    """What the record of a note is known by: two notes may say the same."""
    return hash_of(f"{file}\n{text}")
