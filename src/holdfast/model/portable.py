"""The portable form of a session: everything that is stored of it, as one line of JSON.

Rule 1: `version` grows when an older reader would misunderstand; a new field has a default.
Rule 2: what can be computed is told for those who read it (`compaction`, `memory`, `fidelity`), and
        not believed when it is read back.
"""

from __future__ import annotations

from msgspec import UNSET, Struct, UnsetType

from holdfast.model.log import Entry, Marker, SessionInfo, Trigger
from holdfast.model.message import Message, Part, Role
from holdfast.model.reply import Call

VERSION = 1


class Labels(Struct, frozen=True, omit_defaults=True, kw_only=True):
    """What messages and markers have in common: their place, and who said them when."""

    seq: int
    """Its place in the log, from 1; messages and markers are numbered together."""
    id: str
    created: int
    """When, in ms since 1970."""
    completed: int | None = None
    """When it was finished; absent for what was cut short."""
    parent: str = ""
    provider: str = ""
    model: str = ""
    request: str = ""
    key: str = ""
    """What it was appended with: entries that share one were appended together."""
    native: str = ""
    """Its id in the program it was imported from."""


class PortableMessage(Labels, frozen=True, omit_defaults=True, kw_only=True):
    """Something that was said; its index is its place in `messages`, from 0."""

    role: Role
    parts: tuple[Part, ...]
    counts: tuple[int, ...] = ()
    """The tokens of each part, by estimate."""


class PortableMarker(Labels, frozen=True, omit_defaults=True, kw_only=True):
    """An entry that changes how earlier ones are seen."""

    after_message_index: int = -1
    """The last message before it; -1 where there is none."""
    marker: Marker


class Boundary(Struct, frozen=True, kw_only=True):
    """A compaction: what stands for what, from where on."""

    after_message_index: int
    """The last message before it; -1 where there is none."""
    uuid: str
    """The id that the compaction had in the program it was imported from, or that of its marker."""
    trigger: Trigger
    pre_tokens: int | None
    """The tokens before it, as they were told; null where nobody counted."""
    post_tokens: int | None
    summary: str
    replaced_message_indices: tuple[int, ...]
    """The messages that left the window with it."""
    replaced_tokens: int
    """What these take, by estimate."""
    standing: bool
    """Whether its summary is in the window now: not undone, and not merged into a later one."""


class Compaction(Struct, frozen=True, kw_only=True):
    """Every compaction, in order."""

    boundaries: tuple[Boundary, ...] = ()


class SessionMemory(Struct, frozen=True, kw_only=True):
    """The running notes on a session, as they are now."""

    text: str
    after_message_index: int
    """The last message that they tell of."""


class Fidelity(Struct, frozen=True, kw_only=True):
    """What an export carries, and what it does not."""

    carried: tuple[str, ...]
    not_carried: tuple[str, ...] = ()


class PortableSession(
    Struct, frozen=True, omit_defaults=True, kw_only=True, tag_field="type", tag="session"
):
    """A session, whole."""

    version: int
    session: SessionInfo
    messages: tuple[PortableMessage, ...]
    markers: tuple[PortableMarker, ...] = ()
    compaction: Compaction = Compaction()
    memory: SessionMemory | UnsetType = UNSET
    """The running notes, inlined; absent where there are none."""
    calls: tuple[Call, ...] = ()
    """Every call of a model, with what it used."""
    given: dict[str, bytes] = {}
    """What calls were given besides the log (system prompt, tools), by its SHA-256."""
    fidelity: Fidelity | UnsetType = UNSET

    @property
    def entries(self) -> tuple[Entry, ...]:
        """Its messages and markers as entries, in order."""
        found = [_entry(self.session.id, one) for one in (*self.messages, *self.markers)]
        return tuple(sorted(found, key=lambda entry: entry.seq))


class PortableBoundary(
    Struct, frozen=True, omit_defaults=True, kw_only=True, tag_field="type", tag="boundary"
):
    """One compaction on a line of its own, for those who want nothing else."""

    version: int
    session: str
    boundary: Boundary


PortableLine = PortableSession | PortableBoundary


def _entry(session: str, told: PortableMessage | PortableMarker) -> Entry:
    said = isinstance(told, PortableMessage)
    return Entry(
        id=told.id,
        session=session,
        seq=told.seq,
        body=Message(told.role, told.parts) if said else told.marker,
        created=told.created,
        completed=told.completed,
        parent=told.parent,
        provider=told.provider,
        model=told.model,
        request=told.request,
        key=told.key,
        counts=told.counts if said else (),
        native=told.native,
    )


def labels(entry: Entry) -> dict[str, object]:
    """What of an entry is said in the same way for messages and for markers."""
    return {name: getattr(entry, name) for name in Labels.__struct_fields__}
