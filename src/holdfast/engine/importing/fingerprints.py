"""The beginning of one session that another's file tells once more, with times of its own.

Rule 1: only a session that the file itself names is compared so: what two strangers begin with
        alike is no copy, where times do not agree.
Rule 2: what is compared is what was said, in order, and neither when nor under which name.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from holdfast.engine import loading
from holdfast.model import wire
from holdfast.model.import_report import ImportState
from holdfast.model.log import Body, Entry, Notes, Records, Rewind, Summary
from holdfast.model.message import (
    Message,
    Part,
    Reasoning,
    Record,
    Subtask,
    Text,
    ToolCall,
    ToolResult,
)
from holdfast.model.span import EVERYTHING

if TYPE_CHECKING:
    from holdfast.ports import Store


def timeless(body: Body) -> bytes:
    """The fingerprint of what was said, whenever that was; empty for what has no order."""
    return printed(body, 0, "") if isinstance(body, Message | Summary | Rewind) else b""


class Copied:
    """A session whose beginning is told again, and how much of it was."""

    def __init__(self, session: str, entries: list[tuple[int, bytes]]) -> None:
        self.session = session
        self._entries = entries
        self._at = dict(entries)
        self.prints: list[bytes] = []
        """The fingerprints of what was told, with the times of the copy."""

    @property
    def places(self) -> list[int]:
        """The entries that were told."""
        return [place for place, _ in self._entries[: len(self.prints)]]

    def follow(self, print: bytes, bare: bytes) -> int:
        """The entry that what is told next repeats; 0 where it is another."""
        place, same = next(iter(self._entries[len(self.prints) :][:1]), (0, b""))
        if not place or same != bare:
            return 0
        self.prints.append(print)
        return place

    def repeats(self, place: int, bare: bytes) -> bool:
        """Whether what is told repeats an entry."""
        return self._at.get(place) == bare


async def copied(store: Store, id: str) -> Copied | None:
    """A session to be compared with; None where it is not here."""
    if await store.sessions.find(id) is None:
        return None
    entries: list[tuple[int, bytes]] = []
    async for page in loading.pages(store.log, id, EVERYTHING, bare=True):
        entries += [(entry.seq, bare) for entry in page if (bare := timeless(entry.body))]
    return Copied(id, entries)


SIZE = 8

EXTRACTED = "import-extract"
"""The step of a summary whose own words nobody can read."""


def printed(body: Body, created: int, native: str) -> bytes:
    """The fingerprint of a message, a summary or a rewind."""
    if isinstance(body, Message):
        return _of_message(body, Record | Subtask, created, native)
    if isinstance(body, Summary):
        text = "" if body.step == EXTRACTED else body.text
        told = [body.trigger, text, body.tokens_before, created, native]
        return _hash(b"summary", wire.encode(told))
    assert isinstance(body, Rewind)
    return _hash(b"rewind", wire.encode([body.to, created]))


def with_subtasks(body: Message, created: int, native: str) -> bytes:
    """The fingerprint that a message had while it told of subtasks; empty where it has none."""
    if not any(isinstance(part, Subtask) for part in body.parts):
        return b""
    return _of_message(body, Record, created, native)


def _of_message(body: Message, without: Any, created: int, native: str) -> bytes:
    told = (part for part in body.parts if not isinstance(part, without))
    parts = [_unmeasured(part) for part in told]
    return _hash(wire.encode([body.role, parts, created, native]))


def _unmeasured(part: Part) -> Part:
    """An answer without the status that older stores were not told."""
    return (
        replace(part, exit=None) if isinstance(part, ToolResult) and part.exit is not None else part
    )


def cut_short(told: Message, known: Message) -> bool:
    """Whether a message is the beginning of another: its parts, and of the last one the words."""
    parts, whole = (
        [part for part in one.parts if not isinstance(part, Record)] for one in (told, known)
    )
    if told.role != known.role or len(parts) > len(whole):
        return False
    last = len(parts) - 1
    if last < 0:
        return True
    same = wire.encode(parts[:last]) == wire.encode(whole[:last])
    begun, other = parts[last], whole[last]
    return same and type(begun) is type(other) and _words(other).startswith(_words(begun))


def _words(part: Part) -> str:
    """What of a part grows as it is said; all of it where nothing does."""
    if isinstance(part, Text | Reasoning):
        return part.text
    if isinstance(part, ToolResult):
        return part.output
    return part.input if isinstance(part, ToolCall) else wire.encode(part).decode("latin-1")


def of_entry(entry: Entry) -> bytes:
    """The same of an entry; nothing for what is not in the order that was told."""
    if isinstance(entry.body, (Message, Summary, Rewind)):
        return printed(entry.body, entry.created, entry.native)
    return b""


def split(prints: bytes) -> list[bytes]:
    """Fingerprints that lie one behind the other."""
    return [prints[at : at + SIZE] for at in range(0, len(prints), SIZE)]


def named(before: Sequence[ImportState], agent: str, native: str) -> ImportState | None:
    """What a file has become that was imported before, by its name or by that of a branch."""
    mine = [one for one in before if one.agent == agent]
    found = [one for one in mine if f"{one.native}#".startswith(f"{native}#")]
    return min(found, key=lambda one: one.native, default=None)


class Loose:
    """The fingerprints of what has no order."""

    def __init__(self, known: bytes = b"") -> None:
        self._known = set(split(known))
        self._times: Counter[bytes] = Counter()

    @property
    def packed(self) -> bytes:
        """All of them."""
        return b"".join(sorted(self._known))

    def new(self, *told: bytes) -> bool:
        """Whether this was not known yet, told as often as now; from here on it is."""
        whole = _hash(*told)
        self._times[whole] += 1
        print = _hash(whole, b"%d" % self._times[whole])
        if print in self._known:
            return False
        self._known.add(print)
        return True

    def after(self, other: Loose) -> None:
        """Go on where another has told the beginning."""
        self._times = other._times.copy()

    def settle(self) -> None:
        """What comes next is told from the beginning again."""
        self._times.clear()

    def hold(self, entry: Entry) -> None:
        """Know what an entry of the log holds."""
        body = entry.body
        records: tuple[object, ...] = ()
        if isinstance(body, Message):
            records = body.parts
        elif isinstance(body, Records):
            records = body.records
        elif isinstance(body, Notes):
            self.new(b"notes", body.text.encode("utf-8", "surrogatepass"))
        for record in records:
            if isinstance(record, Record) and record.whole:
                self.new(*of_record(record))


def of_record(record: Record) -> tuple[bytes, ...]:
    """What a record is known by."""
    return b"record", record.type.encode("utf-8", "surrogatepass"), record.data


def _hash(*told: bytes) -> bytes:
    made = blake2b(digest_size=SIZE)
    for one in told:
        made.update(b"%d:" % len(one))
        made.update(one)
    return made.digest()
