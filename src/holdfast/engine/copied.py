"""The beginning of one session that another's file tells once more, with times of its own.

Rule 1: only a session that the file itself names is compared so: what two strangers begin with
        alike is no copy, where times do not agree.
Rule 2: what is compared is what was said, in order, and neither when nor under which name.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.engine import load
from holdfast.engine.prints import printed
from holdfast.model.log import Body, Rewind, Summary
from holdfast.model.message import Message
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
    async for page in load.pages(store.log, id, EVERYTHING, bare=True):
        entries += [(entry.seq, bare) for entry in page if (bare := timeless(entry.body))]
    return Copied(id, entries)
