"""What notes have done, read back from the log: where one was shown, and what was said then."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from msgspec import Struct

from holdfast.core.knowledge.recall import shown_in
from holdfast.engine import loading
from holdfast.engine.inspect.lookup import seq_of
from holdfast.errors import InvalidRequest
from holdfast.model.log import Entry
from holdfast.model.message import Message
from holdfast.model.span import EVERYTHING, Span

if TYPE_CHECKING:
    from holdfast.engine.engine import Engine
    from holdfast.engine.session import AsyncSession

LONGEST = 200


class Influence(Struct, frozen=True, kw_only=True):
    """A reply that a note stood before."""

    file: str
    id: str
    """The first letters of the id of the version that was shown."""
    session: str
    shown: int
    """The entry that showed it."""
    reply: int
    said: str
    """The first words of the reply."""


async def replies_after(engine: Engine, project: str, file: str) -> list[Influence]:
    """The first reply after each place where a note was shown, in every session of a project."""
    found: list[Influence] = []
    async for session in engine.every_session():
        if project in ("", session.project):
            found += await _in(engine, session.id, file)
    return found


async def _in(engine: Engine, session: str, file: str) -> list[Influence]:
    waiting: list[tuple[str, int]] = []
    found: list[Influence] = []
    async for page in loading.pages(engine.store.log, session, EVERYTHING, bare=True):
        for entry in page:
            waiting += [(id, entry.seq) for name, id in shown_in(entry) if name == file]
            if waiting and _is_reply(entry):
                found += [_influence(file, id, session, seq, entry) for id, seq in waiting]
                waiting = []
    return found


async def notes_before(session: AsyncSession, reply: str | int) -> list[Influence]:
    """The notes that stood in what was visible when a reply was made."""
    at = await seq_of(session, reply)
    (entry,) = await session.store.log.read(session.id, (Span(at, at),), bare=True)
    if not _is_reply(entry):
        raise InvalidRequest(f"entry {at} is no reply; name one that the model said")
    found: list[Influence] = []
    async for page in session.visible_pages(at - 1):
        for one in page:
            found += [
                _influence(file, id, session.id, one.seq, entry) for file, id in shown_in(one)
            ]
    return found


def _influence(file: str, id: str, session: str, shown: int, reply: Entry) -> Influence:
    assert isinstance(reply.body, Message)
    said = " ".join(reply.body.text.split())[:LONGEST]
    return Influence(
        file=file, id=id, session=session, shown=shown, reply=reply.seq, said=said
    )  # fmt: skip


def _is_reply(entry: Entry) -> bool:
    return isinstance(entry.body, Message) and entry.body.role == "assistant"


def files_of(found: Iterable[Influence]) -> list[str]:
    """The notes among some influences, each once."""
    return list(dict.fromkeys(one.file for one in found))
