"""What an importer tells of a transcript, in the order of its file, whatever its format.

Rule 1: items belong to the session that `Begun` named last; told again, its id goes on with it.
Rule 2: what an item is depends on what stood before it in the file, never on what comes later, but
        for the last reply, which may grow: so a file that has grown tells the same, and more.
Rule 3: whatever cannot be told otherwise is told as `Kept`; what could not be read is a `Problem`.
"""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from holdfast.model.log import Trigger
from holdfast.model.message import Message, Part, Record
from holdfast.model.portable import PortableSession
from holdfast.model.reply import Iteration, Stop, Usage

Severity = Literal["damaged", "unknown", "notice"]
"""Could not be read; was read, but is of a kind nobody knows; is only worth knowing."""


HANDED = ("holdfast-export", "holdfast_export")
"""The record that ends what was handed over, as one program has it and as the other."""


class SessionStarted(Struct, frozen=True, omit_defaults=True, kw_only=True):
    """A session begins, or goes on where its id was told before."""

    native: str
    """Its id in the program it comes from: one session, wherever its file lies."""
    created: int = 0
    """When, in ms since 1970; 0 where nobody knows."""
    title: str = ""
    directory: str = ""
    model: str = ""
    parent: str = ""
    """The session it does a part of the work of, by its native id."""
    copy_of: str = ""
    """The session of ours that was handed over as this one, where it is such a copy."""
    grown: bool = True
    """Whether such a copy has gone on."""
    copied: int = 0
    """The last entry that was handed over with it; 0 where nobody knows, or somebody changed it."""
    forked: str = ""
    """The session whose beginning its file repeats with times of its own, by its native id."""
    rolling: bool = False
    """Whether its file may lose its beginning while it grows; nothing in it depends on another."""


class MessageRead(Struct, frozen=True, omit_defaults=True, kw_only=True):
    """Somebody said something. A `Subtask` part names its session by its native id."""

    message: Message
    created: int = 0
    completed: int | None = None
    """When it was finished; None for what was cut short."""
    native: str = ""
    parent: str = ""
    """What it answered there; a label only."""
    provider: str = ""
    model: str = ""
    request: str = ""
    records: tuple[Record, ...] = ()
    """What of its records our model has no place for."""
    open: bool = False
    """Whether more of it may come when the file grows."""


class Compacted(Struct, frozen=True, omit_defaults=True, kw_only=True):
    """All that was visible is represented by a summary from here on."""

    text: str = ""
    """Empty where nobody can read it: then an extract of our own stands for it."""
    created: int = 0
    native: str = ""
    boundary: str = ""
    """The id of the record that says so, where the summary's own is another."""
    trigger: Trigger = "import"
    model: str = ""
    before: int = 0
    after: int = 0
    """The tokens before and after, as far as they are told."""
    window: int = 0
    """How many the window holds, where it is told."""
    kept: tuple[str, ...] = ()
    """What stays visible word for word, by native ids."""
    opaque: tuple[Part, ...] = ()
    """The summary as its provider alone can read it."""
    provider: str = ""
    records: tuple[Record, ...] = ()


class Cleared(Struct, frozen=True, omit_defaults=True, kw_only=True):
    """The results of some calls left the model's view; telling it again changes nothing."""

    calls: tuple[str, ...]
    created: int = 0
    step: str = "prune"
    trigger: Trigger = "import"
    before: int = 0
    after: int = 0
    reason: str = ""


class Rewound(Struct, frozen=True, omit_defaults=True, kw_only=True):
    """The conversation went on from an earlier message."""

    to: str
    """Its native id; empty for the very beginning."""
    created: int = 0
    reason: str = ""


class CallRead(Struct, frozen=True, omit_defaults=True, kw_only=True):
    """What one call of a model used. Told again with the same reply, the larger usage holds."""

    usage: Usage
    request: str = ""
    """The provider's id of the reply, which need not be unique."""
    reply: str = ""
    """The program's own name of the reply, where several messages are pieces of one. Otherwise a
    call belongs to the message told before it."""
    started: int = 0
    ended: int | None = None
    provider: str = ""
    model: str = ""
    iterations: tuple[Iteration, ...] = ()
    cost: int | None = None
    """What it cost, in billionths of a US dollar, where the program itself says so."""
    stop: Stop | None = None
    cause: str = "turn"
    window: int = 0
    """What the window holds, where the program says so."""


class Titled(Struct, frozen=True):
    """What the session is called; the last one told holds."""

    title: str


class Noted(Struct, frozen=True, omit_defaults=True, kw_only=True):
    """Running notes on the session, as they are now."""

    text: str
    created: int = 0


class Kept(Struct, frozen=True):
    """A record that has no other place."""

    record: Record


class Carried(Struct, frozen=True):
    """A session that was exported whole: its entries are taken as they are."""

    session: PortableSession
    line: int = 0


class Problem(Struct, frozen=True, omit_defaults=True):
    """Something about the file that its owner should know."""

    what: str
    line: int = 0
    severity: Severity = "damaged"


TranscriptEvent = (
    SessionStarted
    | MessageRead
    | Compacted
    | Cleared
    | Rewound
    | CallRead
    | Titled
    | Noted
    | Kept
    | Carried
    | Problem
)


class Line(Struct, frozen=True, gc=False):
    """One line of a file, by its number from 1; `fault` says why its bytes are missing."""

    number: int
    data: bytes
    fault: str = ""
