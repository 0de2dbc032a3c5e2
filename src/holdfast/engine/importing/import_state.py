"""What the log itself tells of an import: which entries it has written, and where it parted.

The keys of entries tell which were imported; what is remembered beside them is only a shortcut.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.engine import loading
from holdfast.engine.importing.fingerprints import Loose, of_entry
from holdfast.model.log import Entry
from holdfast.model.span import EVERYTHING

if TYPE_CHECKING:
    from holdfast.ports import Store

IMPORT, AGAIN = "import:", "reimport:"
"""How the keys of imported entries begin, and those of a Rewind to where a file tells otherwise."""


class Learnt:
    """What was imported into a session, as its log has it."""

    def __init__(self) -> None:
        self.prints: list[bytes] = []
        self.places: list[int] = []
        self.loose = Loose()
        self.straight = True
        """Whether it was never told differently."""
        self.imported = 0
        """The newest entry that was imported."""

    def take(self, entry: Entry, *, own: bool) -> None:
        """One more entry that was imported; records of one that is borrowed are another's."""
        self.imported = entry.seq
        if entry.key.startswith(AGAIN):
            parted = int(entry.key.split(":")[1])
            del self.prints[parted:], self.places[parted:]
            self.straight = False
            return
        if own:
            self.loose.hold(entry)
        if print := of_entry(entry):
            self.prints.append(print)
            self.places.append(entry.seq)


async def learnt(store: Store, session: str, begins: int, borrowed: int) -> Learnt:
    """What was imported into a session behind an entry; up to `borrowed` it is another's."""
    found = Learnt()
    async for page in loading.pages(store.log, session, EVERYTHING, bare=False):
        for entry in page:
            if entry.seq > begins and entry.key.startswith((IMPORT, AGAIN)):
                found.take(entry, own=entry.seq > borrowed)
    found.loose.settle()
    return found
