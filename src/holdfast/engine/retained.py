"""What a compaction that stands kept of every item of the ledger, told again from its marker."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.core.ledger.retention import retention
from holdfast.engine.ledgers import unpacked
from holdfast.engine.load import every_marker
from holdfast.errors import Misuse
from holdfast.model.ledger import Report
from holdfast.model.log import Entry, Summary
from holdfast.model.span import remaining

if TYPE_CHECKING:
    from holdfast.engine.session import OpenSession


async def retained(session: OpenSession, marker: str | int = "") -> Report:
    """What became of the facts when a summary was made, the newest that stands if none is named."""
    body = (await _summary(session, marker)).body
    assert isinstance(body, Summary)
    if not body.facts:
        why = (
            "its facts were not all gathered yet"
            if body.ledger
            else f"it was made by {body.step!r}"
        )
        raise Misuse(f"the summary has no frozen ledger beside it: {why}")
    seen = remaining(body.folded.visible, body.covers, body.kept)
    text = "\n\n".join(filter(None, (body.text, body.ledger, body.expand)))
    return retention(unpacked(body.facts), text, visible=seen)


async def _summary(session: OpenSession, marker: str | int) -> Entry:
    if marker == "":
        standing = (await session.view()).folded.summaries
        known = await every_marker(session.store.log, session.id)
        found = [entry for entry in known if entry.seq in standing]
        if not found:
            raise Misuse("nothing was summarised, so nothing had to be retained")
        return found[-1]
    entry = await session.entry(marker)
    if not isinstance(entry.body, Summary):
        raise Misuse(f"entry {entry.seq} is no summary; `holdfast context` lists them")
    return entry
