"""Entries by name: an id, a number, #number or a handle; and what may be meant where there is none.

Every call that takes an entry asks here, so that whatever we print names an entry everywhere.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.core.search.nearest import nearest, nearest_models
from holdfast.core.search.words import words as words_of
from holdfast.errors import NotFound
from holdfast.model.log import Entry, handle
from holdfast.model.profile import Profile
from holdfast.model.span import EVERYTHING, Span
from holdfast.ports import Catalogue, Store

if TYPE_CHECKING:
    from holdfast.engine.context import SessionContext

PART = "prt_"
"""How the handle of a part begins; it names its entry too."""


async def seq_of(session: SessionContext, entry: str | int, *, least: int = 1) -> int:
    """The place of an entry that is there; otherwise NotFound, with the nearest one.

    `least` is 0 where the very beginning, before the first entry, is a place as well.
    """
    name = str(entry).strip()
    part = handle(name) if name.startswith(PART) else None
    found = await session.store.log.locate(session.id, part.entry if part else name)
    if found is not None:
        return found
    number = name.removeprefix("#")
    if not (number.isascii() and number.isdigit()):
        raise NotFound("entry", name, await alike(session, name), _listed(session))
    seq, head = int(number[:18]), session.info.head
    head = head if seq <= head else (await session.refresh()).head
    if least <= seq <= head:
        return seq
    raise NotFound("entry", name, (str(head),) if head else (), _listed(session))


async def entry_at(session: SessionContext, name: str | int) -> Entry:
    """The entry that a name names."""
    at = await seq_of(session, name)
    (found,) = await session.store.log.read(session.id, (Span(at, at),))
    return found


async def alike(session: SessionContext, id: str) -> tuple[str, ...]:
    """The entry whose id is most like this one, among the newest."""
    heads = await session.store.log.heads(session.id, EVERYTHING)
    return nearest(id, [head.id for head in reversed(heads)])[:1]


def _listed(session: SessionContext) -> str:
    return f"`holdfast show {session.id} --all` lists them."


def talks(profile: Profile) -> bool:
    """Whether a model is one to talk to: no embeddings, no pictures, no sound."""
    told = is_known(profile) and "tools" in profile.abilities
    return told and any(price.output for price in profile.prices)


def is_known(profile: Profile) -> bool:
    """Whether anybody has told how much a model holds."""
    return "window" not in profile.assumed


def meant(catalogue: Catalogue, profile: Profile) -> tuple[str, ...]:
    """The models most like one that nobody knows; none for one that is known."""
    if is_known(profile):
        return ()
    own = (one.name for one in map(catalogue.profile, catalogue.models()) if talks(one))
    return nearest_models(profile.name, own)


async def respelled(store: Store, typed: str) -> str:
    """What is typed with each word that was never said as the nearest that was; empty where no
    word is mistyped."""
    found: list[str] = []
    for chunk in typed.split():
        words = words_of(chunk)
        near = await store.search.spelled_like(words[0]) if len(words) == 1 else ()
        found.append(near[0] if near else chunk)
    told = " ".join(found)
    return told if told != " ".join(typed.split()) else ""
