"""The log: entries in order, and the markers that change how earlier ones are seen.

Rule 1: entries are appended, never changed; order is `seq`, given by the store, never a clock.
Rule 2: a marker names exactly what it covers; undoing it is one more marker.
Rule 3: `parent` is a label on imported entries; nothing is ordered or found by it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal

from msgspec import Struct, field
from msgspec.structs import replace

from holdfast.model.decision import Decision
from holdfast.model.message import Message, Opaque, Part, Record, ToolCall
from holdfast.model.reply import Stop, Usage
from holdfast.model.span import EVERYTHING, Spans

Trigger = Literal["auto", "manual", "overflow", "resume", "switch", "idle", "server", "import"]


class PartRef(Struct, frozen=True, array_like=True, order=True):
    """One part by its place: the entry's seq and the part's ordinal in it."""

    seq: int
    ordinal: int


class Shortened(Struct, frozen=True, array_like=True, order=True):
    """A kept entry that is cut to so many tokens."""

    seq: int
    tokens: int


class Pinned(Struct, frozen=True, omit_defaults=True):
    """Something that stays in every window: an entry, a fact or a file."""

    id: str
    """The id of the marker that pinned it; unpinning names this."""
    seq: int = 0
    fact: str = ""
    path: str = ""
    at: int = 0
    """The seq of the marker that pinned it."""


class Folded(Struct, frozen=True, omit_defaults=True):
    """What the markers so far leave standing; bounded by the window, not by the past."""

    visible: Spans = EVERYTHING
    """The stretches of the log that are seen; the last is open."""
    kept: tuple[int, ...] = ()
    """Entries inside covered stretches that stay visible word for word, in order."""
    shortened: tuple[Shortened, ...] = ()
    """Of the kept entries those that are cut."""
    asked: int = 0
    """Of the kept entries the one that was being worked on: it stands behind the summary."""
    summaries: tuple[int, ...] = ()
    """The summaries that stand for what is covered, in order, by their own seq."""
    cleared: tuple[PartRef, ...] = ()
    """Parts of visible entries whose content has left the window."""
    pins: tuple[Pinned, ...] = ()
    shielded: Spans = ()
    """Stretches whose compaction was undone; no automatic compaction covers them again."""
    unclearable: tuple[PartRef, ...] = ()
    """Parts whose clearing was undone; they are not cleared again by themselves."""
    notes: int = 0
    """The newest running notes, by their own seq."""
    repairs: tuple[int, ...] = ()
    """Repairs in force, by their own seq."""
    context: int = 0
    """The newest snapshot of context, by its own seq."""
    base: int = 0
    """The snapshot that the sections show: the newest when the newest summary was made."""
    switch: int = 0
    """The newest change of model or policy, by its own seq."""
    epoch: int = 0
    """The newest marker: what a plan was made against."""


class Summary(
    Struct, frozen=True, omit_defaults=True, kw_only=True, tag_field="kind", tag="summary"
):
    """A stretch of the log is represented by a text; what it covers stays in the log."""

    covers: Spans
    text: str
    kept: tuple[int, ...] = ()
    """Entries inside `covers` that stay visible word for word."""
    shortened: tuple[Shortened, ...] = ()
    """Of these, the ones that are cut."""
    asked: int = 0
    """Of these, the one that is being worked on: it stands behind the summary."""
    merges: tuple[int, ...] = ()
    """Earlier summaries whose content this one carries on, by seq."""
    trigger: Trigger = "auto"
    step: str = "summarise"
    """The step of the ladder that made it."""
    policy: str = ""
    model: str = ""
    tokens_before: int = 0
    tokens_after: int = 0
    """What it covers takes, and what stands for that; of an imported one, the whole prompt."""
    prompt_before: int = 0
    prompt_after: int = 0
    """What the whole prompt took, and about takes; 0 where nobody knows."""
    window: int = 0
    """How much fitted in the window, where the program that made it said so."""
    boundary: str = ""
    """The id of the compaction in the program that made it, where it is not the summary's own."""
    cost: int = 0
    """What making it cost, in billionths of a US dollar."""
    ledger: str = ""
    """The ledger as it stood, rendered and frozen."""
    facts: bytes = b""
    """The ledger itself at the end of what is covered, packed: the next one goes on from it."""
    expand: str = ""
    """What of it can be brought back, a handle and a line each."""
    decision: Decision | None = None
    reason: str = ""
    sealed: Opaque | None = None
    """What its provider made of it, where a provider did: its owner is sent this instead."""
    folded: Folded = field(default_factory=Folded)
    """What stood before it, so that loading need not read further back."""


class Clear(Struct, frozen=True, omit_defaults=True, kw_only=True, tag_field="kind", tag="clear"):
    """The content of some parts leaves the window; each leaves a handle behind."""

    parts: tuple[PartRef, ...]
    reason: str = ""
    step: str = "prune"
    policy: str = ""
    trigger: Trigger = "auto"
    tokens_before: int = 0
    tokens_after: int = 0
    """What it covers takes, and what stands for that; of an imported one, the whole prompt."""
    prompt_before: int = 0
    prompt_after: int = 0
    """What the whole prompt took, and about takes; 0 where nobody knows."""
    decision: Decision | None = None


class Notes(Struct, frozen=True, omit_defaults=True, kw_only=True, tag_field="kind", tag="notes"):
    """Running notes on a session; they change nothing until a Summary is made of them."""

    text: str
    upto: int
    """The last entry they tell of."""
    model: str = ""
    cost: int = 0


class Pin(Struct, frozen=True, omit_defaults=True, kw_only=True, tag_field="kind", tag="pin"):
    """An entry, a fact or a file is to be in every window from here on."""

    seq: int = 0
    fact: str = ""
    path: str = ""


class Unpin(Struct, frozen=True, kw_only=True, tag_field="kind", tag="unpin"):
    """A pin ends."""

    pin: str
    """The id of the marker that pinned."""


class Rewind(Struct, frozen=True, omit_defaults=True, kw_only=True, tag_field="kind", tag="rewind"):
    """The conversation goes on from an earlier entry; what came after it is left as a branch."""

    to: int
    """The last entry that stays; 0 goes back to the very beginning."""
    reason: str = ""
    files: str = ""
    """The restoring of files that was done with it, by its name in the file history."""


class Checkpoint(
    Struct, frozen=True, omit_defaults=True, kw_only=True, tag_field="kind", tag="checkpoint"
):
    """Files were put back without the conversation, or a place to return to was named."""

    prompt: int = 0
    """The entry of the prompt it belongs to."""
    label: str = ""
    files: str = ""
    """The restoring of files that it stands for, by its name in the file history."""


class Context(
    Struct, frozen=True, omit_defaults=True, kw_only=True, tag_field="kind", tag="context"
):
    """A snapshot of what surrounds the conversation, against which later differences are told.

    Its sections are shown at their place from the next compaction on; until then what has changed
    is told once, by a message at the tail, so that what a provider has cached stays a prefix.
    """

    sections: dict[str, str]


class Switch(Struct, frozen=True, omit_defaults=True, kw_only=True, tag_field="kind", tag="switch"):
    """The conversation goes on with another model or policy; `wanted` is told at its turn."""

    model: str = ""
    policy: str = ""
    wanted: str = ""


class Repair(Struct, frozen=True, omit_defaults=True, kw_only=True, tag_field="kind", tag="repair"):
    """A provider refused a request; this change to what is sent is made from here on."""

    rule: str
    """The rule that was broken, such as A12."""
    action: str = ""
    """What is done to everything said before: core/calls/refusals.py knows the actions."""
    owner: str = ""
    """Whose seals it concerns; empty for all."""
    reason: str = ""
    """What the provider said."""
    limit: int = 0
    """How many tokens fit from here on: the window as told, or less than was sent; 0: any."""
    model: str = ""
    """The model that the limit is for."""


class Undo(Struct, frozen=True, omit_defaults=True, kw_only=True, tag_field="kind", tag="undo"):
    """A Summary, Clear or Rewind no longer counts, nor a Checkpoint that put files back."""

    marker: int
    """The seq of the marker that is undone."""
    files: str = ""
    """The restoring of files that was done with it."""


class Redo(Struct, frozen=True, omit_defaults=True, kw_only=True, tag_field="kind", tag="redo"):
    """A marker that was undone counts again."""

    marker: int
    files: str = ""
    """The restoring of files that was done with it."""


class Damaged(
    Struct, frozen=True, omit_defaults=True, kw_only=True, tag_field="kind", tag="damaged"
):
    """Bytes that could not be read any more, kept by `holdfast doctor`; it changes nothing."""

    data: bytes = b""
    """What stood there, as it was found."""
    reason: str = ""


class Records(Struct, frozen=True, kw_only=True, tag_field="kind", tag="records"):
    """What an importer kept where no message was there to carry it; it changes nothing."""

    records: tuple[Record, ...]


Marker = (
    Summary | Clear | Notes | Pin | Unpin | Rewind | Checkpoint | Context | Switch | Repair | Undo
    | Redo | Damaged | Records
)  # fmt: skip

Body = Message | Marker


def kind_of(value: Body | Part | type[Marker]) -> str:
    """The tag that a part, a marker or a message is written with."""
    return str(value.__struct_config__.tag)


def said(body: Body) -> Body:
    """A body without what the store's own state put into it: the same for a retry."""
    if isinstance(body, Message):
        return body.bare
    return replace(body, folded=Folded()) if isinstance(body, Summary) else body


class Draft(Struct, frozen=True, omit_defaults=True, kw_only=True):
    """An entry before the store has given it its place."""

    id: str
    body: Body
    created: int
    """When it was said, in ms since 1970; a label only."""
    completed: int | None = None
    """When it was finished; None for what was cut short."""
    parent: str = ""
    provider: str = ""
    model: str = ""
    request: str = ""
    """The provider's id of the request that produced it."""
    counts: tuple[int, ...] = ()
    """The estimate of each part, in tokens."""
    native: str = ""

    def placed(self, session: str, seq: int, key: str) -> Entry:
        """The entry it becomes, with a count for each part: 0 where none was given."""
        parts = len(self.body.parts) if isinstance(self.body, Message) else 0
        counts = self.counts
        counts = counts if len(counts) == parts else (*counts, *[0] * parts)[:parts]
        return Entry(
            id=self.id, session=session, seq=seq, body=self.body, created=self.created,
            completed=self.completed, parent=self.parent, provider=self.provider, model=self.model,
            request=self.request, key=key, counts=counts, native=self.native,
        )  # fmt: skip


class Entry(Struct, frozen=True, omit_defaults=True, kw_only=True):
    """A message or a marker at its place in a session."""

    id: str
    session: str
    seq: int
    body: Body
    created: int
    completed: int | None = None
    parent: str = ""
    provider: str = ""
    model: str = ""
    request: str = ""
    key: str = ""
    """The idempotency key it was appended with."""
    counts: tuple[int, ...] = ()
    native: str = ""
    """Its id where it was imported from."""

    @property
    def is_message(self) -> bool:
        """Whether somebody said it; otherwise it is a marker."""
        return isinstance(self.body, Message)


class ReplyEntry(Entry, frozen=True, omit_defaults=True, kw_only=True):
    """The entry that a model's reply became, with what it used and why it ended."""

    body: Message
    usage: Usage = Usage()
    stop: Stop = "end"

    @classmethod
    def of(cls, entry: Entry, *, usage: Usage, stop: Stop) -> ReplyEntry:
        """The same entry, told of as a reply."""
        return cls(**_fields(entry), usage=usage, stop=stop)

    @property
    def text(self) -> str:
        """What it says, without calls and reasoning."""
        return self.body.text

    @property
    def calls(self) -> tuple[ToolCall, ...]:
        """The tools it asks for."""
        return self.body.calls

    def __eq__(self, other: object) -> bool:
        """Whether it is the same entry, however that was read."""
        return isinstance(other, Entry) and _fields(self) == _fields(other)

    def __hash__(self) -> int:
        return hash(Entry(**_fields(self)))


def _fields(entry: Entry) -> dict[str, Any]:
    return {name: getattr(entry, name) for name in Entry.__struct_fields__}


class Head(Struct, frozen=True, omit_defaults=True, kw_only=True):
    """An entry's columns without its content: what planning looks at."""

    id: str
    seq: int
    kind: str
    role: str = ""
    created: int = 0
    kinds: tuple[str, ...] = ()
    sizes: tuple[int, ...] = ()
    counts: tuple[int, ...] = ()


class SessionInfo(Struct, frozen=True, omit_defaults=True, kw_only=True):
    """One line of entries, with a policy and a model."""

    id: str
    created: int
    title: str = ""
    project: str = ""
    directory: str = ""
    policy: str = "holdfast"
    model: str = ""
    agent: str = ""
    """The program it comes from, where it was imported."""
    parent: str = ""
    """The session it was forked from."""
    fork: int = 0
    """The last entry it shares with its parent."""
    updated: int = 0
    compacted: int = 0
    archived: int = 0
    head: int = 0
    """The seq of its newest entry."""
    last_message: int = 0
    last_marker: int = 0

    @property
    def is_subtask(self) -> bool:
        """Whether it is a part of another one's work; a fork shares a beginning, this none."""
        return bool(self.parent) and not self.fork


def moved_on(session: SessionInfo, entries: Iterable[Entry]) -> SessionInfo:
    """The session once these entries are in it."""
    head, message, marker = session.head, session.last_message, session.last_marker
    updated, compacted = session.updated, session.compacted
    for entry in entries:
        if entry.seq <= head:
            continue  # what a key had made before
        head, updated = entry.seq, max(updated, entry.created)
        if isinstance(entry.body, Message):
            message = head
        else:
            marker = head
            compacted = entry.created if isinstance(entry.body, Summary) else compacted
    return replace(
        session, head=head, last_message=message, last_marker=marker, updated=updated,
        compacted=compacted,
    )  # fmt: skip


class Handle(Struct, frozen=True):
    """How a part is named outside: the entry's id and the part's ordinal."""

    entry: str
    ordinal: int = 0

    def __str__(self) -> str:
        return f"prt_{self.entry}.{self.ordinal}"


def handle(text: str) -> Handle | None:
    """Read a handle back; None where the text is not one."""
    entry, dot, ordinal = text.removeprefix("prt_").partition(".")
    if not entry or (dot and not (ordinal.isascii() and ordinal.isdigit())):
        return None
    return Handle(entry, int(ordinal or 0))
