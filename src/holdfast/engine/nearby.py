"""Entries by name: an id, a number, #number or a handle; and what may be meant where there is none.

Every call that takes an entry asks here, so that whatever we print names an entry everywhere.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.core.nearest import nearest
from holdfast.errors import Unknown
from holdfast.model.log import handle
from holdfast.model.span import EVERYTHING

if TYPE_CHECKING:
    from holdfast.engine.session import OpenSession

PART = "prt_"
"""How the handle of a part begins; it names its entry too."""


async def seq_of(session: OpenSession, entry: str | int, *, least: int = 1) -> int:
    """The place of an entry that is there; otherwise Unknown, with the nearest one.

    `least` is 0 where the very beginning, before the first entry, is a place as well.
    """
    name = str(entry).strip()
    part = handle(name) if name.startswith(PART) else None
    found = await session.store.log.locate(session.id, part.entry if part else name)
    if found is not None:
        return found
    number = name.removeprefix("#")
    if not (number.isascii() and number.isdigit()):
        raise Unknown("entry", name, await alike(session, name), _listed(session))
    seq, head = int(number[:18]), session.info.head
    head = head if seq <= head else (await session.refresh()).head
    if least <= seq <= head:
        return seq
    raise Unknown("entry", name, (str(head),) if head else (), _listed(session))


async def alike(session: OpenSession, id: str) -> tuple[str, ...]:
    """The entry whose id is most like this one, among the newest."""
    heads = await session.store.log.heads(session.id, EVERYTHING)
    return nearest(id, [head.id for head in reversed(heads)])[:1]


def _listed(session: OpenSession) -> str:
    return f"`holdfast show {session.id} --all` lists them."
