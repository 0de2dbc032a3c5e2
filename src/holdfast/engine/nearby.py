"""Entries by name: an id, a number or #number; and what may be meant where there is none."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches
from typing import TYPE_CHECKING

from holdfast.errors import Unknown
from holdfast.model.span import EVERYTHING

if TYPE_CHECKING:
    from holdfast.engine.session import OpenSession

ALIKE = 0.6
"""How much two ids have to share so that one may be meant by the other."""


async def seq_of(session: OpenSession, entry: str | int) -> int:
    """The place of an entry that is there; otherwise Unknown, with the nearest one."""
    name = str(entry).strip()
    found = await session.store.log.locate(session.id, name)
    if found is not None:
        return found
    number = name.removeprefix("#")
    if not (number.isascii() and number.isdigit()):
        raise Unknown("entry", name, await alike(session, name), _listed(session))
    head = (await session.refresh()).head
    if 1 <= int(number[:18]) <= head:
        return int(number)
    raise Unknown("entry", name, (str(head),) if head else (), _listed(session))


async def alike(session: OpenSession, id: str) -> tuple[str, ...]:
    """The entry whose id is most like this one, among the newest."""
    heads = await session.store.log.heads(session.id, EVERYTHING)
    return most_alike(id, [head.id for head in heads])


def most_alike(name: str, known: Sequence[str]) -> tuple[str, ...]:
    """The one of these that begins so, or is most like it; none where nothing is."""
    upper = {one.upper(): one for one in known}
    begun = [one for one in upper if one.startswith(name.upper())] if name else []
    near = begun[-1:] or get_close_matches(name.upper(), list(upper), 1, ALIKE)
    return tuple(upper[one] for one in near)


def _listed(session: OpenSession) -> str:
    return f"`holdfast show {session.id} --all` lists them."
