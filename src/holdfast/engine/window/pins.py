"""Pins: what stays in every window, within a budget of its own."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from holdfast.core.search.nearest import nearest
from holdfast.core.tokens.count import MESSAGE
from holdfast.core.tokens.estimate import estimate
from holdfast.core.window.assemble import pinned_text
from holdfast.core.window.scaffold import wrap
from holdfast.engine.inspect.lookup import entry_at, seq_of
from holdfast.engine.window import sections
from holdfast.errors import Ambiguous, HoldfastError, InvalidRequest, NotFound
from holdfast.files import Root
from holdfast.model.log import Entry, Folded, Pin, Pinned, Unpin
from holdfast.model.message import Message

if TYPE_CHECKING:
    from holdfast.engine.context import SessionContext

LARGEST = 1024 * 1024
"""No larger file is pinned."""


async def pin(
    session: SessionContext,
    what: str | int = "",
    *,
    fact: str = "",
    path: str = "",
    most: Callable[[], Awaitable[int]],
) -> Entry:
    """Keep an entry, a fact or a file in every window, in at most so many tokens for all pins."""
    if sum(map(bool, (what != "", fact.strip(), path.strip()))) != 1:
        raise InvalidRequest("pin one thing: an entry by its id or number, a fact, or a path")
    seq = await seq_of(session, what) if what != "" else 0
    new = Pinned(id="", seq=seq, fact=fact, path=path)
    folded = (await session.view()).folded
    if any(_same(one, new) for one in folded.pins):
        raise InvalidRequest(f"{label(new)} is pinned already; `holdfast unpin` lets it go")
    taken = await _tokens(session, folded)
    wanted = await _size(session, new)
    allowed = await most()
    if allowed and taken + wanted > allowed:
        raise InvalidRequest(
            f"pins take {taken:,} of their {allowed:,} tokens, and this one {wanted:,}; unpin "
            "something first, or pin less"
        )
    return await session.append(Pin(seq=seq, fact=fact, path=path))


async def unpin(session: SessionContext, pin: str | int) -> Entry:
    """End a pin, named by its id, its entry, its path or the beginning of its fact."""
    name, pins = str(pin), (await session.view()).folded.pins
    found = [one for one in pins if name in _names(one)] or [
        one for one in pins if name and one.fact.startswith(name)
    ]
    if not found:
        do = f"Pinned: {', '.join(map(label, pins))}" if pins else "Nothing is pinned."
        raise NotFound("pin", name, _nearest(name, pins), do)
    if len(found) > 1:
        raise Ambiguous("pin", name, (found[0].id, found[1].id), len(found))
    return await session.append(Unpin(pin=found[0].id))


def _nearest(name: str, pins: Sequence[Pinned]) -> tuple[str, ...]:
    """The pin that is called most like this; a fact is called by its beginning."""
    known = [own for one in pins for own in _names(one)]
    begun = {one.fact[: len(name)]: one.fact for one in pins if one.fact}
    return nearest(name, known)[:1] or tuple(begun[own] for own in nearest(name, begun)[:1])


def _same(one: Pinned, other: Pinned) -> bool:
    return (one.seq, one.fact, one.path) == (other.seq, other.fact, other.path)


def _names(one: Pinned) -> tuple[str, ...]:
    """What a pin may be called: its id, its entry, its path, its fact."""
    entry = (str(one.seq), f"#{one.seq}") if one.seq else ()
    return (one.id, *entry, *filter(None, (one.path, one.fact)))


def label(one: Pinned) -> str:
    """What a pin holds, in a few words."""
    return one.path or (f"#{one.seq}" if one.seq else one.fact[:60])


async def _tokens(session: SessionContext, folded: Folded) -> int:
    taken = 0
    for one in folded.pins:
        with suppress(InvalidRequest):  # a file that is gone takes next to nothing
            taken += await _size(session, one)
    return taken


async def _size(session: SessionContext, one: Pinned) -> int:
    if one.fact:
        return estimate(one.fact) + MESSAGE
    if one.path:
        return estimate(_readable(session.info.directory, one.path)) + MESSAGE
    entry = await entry_at(session, one.seq)
    if not isinstance(entry.body, Message):
        raise InvalidRequest(f"entry {one.seq} is a marker; pin a message, a fact or a file")
    return estimate(pinned_text(one, entry)) + MESSAGE


def _readable(directory: str, path: str) -> str:
    try:
        return content(directory, path)
    except OSError as error:
        why = error.strerror or str(error)
        raise InvalidRequest(
            f"{path!r} cannot be pinned ({why.lower()}); name a file beneath {directory}"
        ) from error


def files(directory: str, pins: Sequence[Pinned], most: int) -> str:
    """The pinned files as they are now, in so many tokens; one that cannot be read says so."""
    many = sum(bool(one.path) for one in pins)
    told: list[str] = []
    for one in pins:
        if one.path:
            try:
                text = sections.fitting(content(directory, one.path), most // many, one.path)
                told.append(wrap("file", text, path=one.path))
            except (HoldfastError, OSError) as error:
                told.append(wrap("file", f"It cannot be read now: {error}", path=one.path))
    return "\n\n".join(told)


def content(directory: str, path: str) -> str:
    """What a pinned file holds now; it lies beneath the session's directory."""
    if not directory:
        raise InvalidRequest(f"to pin the file {path!r} the session needs a directory")
    return Root(directory).read(path, LARGEST).decode("utf-8", "replace")
