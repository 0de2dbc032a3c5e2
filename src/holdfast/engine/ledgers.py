"""The ledger of a session at any entry, carried on from the newest summary that has it frozen."""

from __future__ import annotations

import zlib
from collections.abc import Sequence

from holdfast.core.ledger.stepping import step
from holdfast.core.secrets import redact
from holdfast.engine import load
from holdfast.errors import Corrupt
from holdfast.model import wire
from holdfast.model.ledger import Ledger
from holdfast.model.log import Entry, Summary
from holdfast.model.span import Span
from holdfast.ports import Log

MOST_BYTES = 64 * 1024 * 1024
"""A frozen ledger that unpacks to more than this is damaged, or somebody's trap."""


def packed(ledger: Ledger, secrets: tuple[str, ...] = ()) -> bytes:
    """A ledger as it is frozen in a summary, without the keys that are ours."""
    text = wire.encode(ledger).decode("utf-8", "surrogatepass")
    return zlib.compress(redact(text, secrets).encode("utf-8", "surrogatepass"), 6)


def unpacked(facts: bytes) -> Ledger:
    """The ledger that was frozen; Corrupt where the bytes are none."""
    try:
        unpacker = zlib.decompressobj()
        data = unpacker.decompress(facts, MOST_BYTES)
        if unpacker.unconsumed_tail:
            raise ValueError("it is too large")
        return wire.decode(data, Ledger)
    except (zlib.error, ValueError) as garbled:
        raise Corrupt(f"a frozen ledger cannot be read ({garbled}); run `holdfast doctor`") from (
            garbled
        )


class Ledgers:
    """The ledger of one open session, read on from entry to entry."""

    def __init__(self, log: Log) -> None:
        self._log = log
        self._session = ""
        self._known = Ledger()

    async def at(self, session: str, upto: int, summaries: Sequence[Entry] = ()) -> Ledger:
        """The ledger up to and including an entry."""
        known = self._known if self._session == session and self._known.seq <= upto else Ledger()
        frozen = max((e for e in summaries if _upto(e) <= upto), key=_upto, default=None)
        if frozen is not None and _upto(frozen) > known.seq:
            assert isinstance(frozen.body, Summary)
            known = unpacked(frozen.body.facts)
        async for page in load.pages(self._log, session, (Span(known.seq + 1, upto),)):
            for entry in page:
                known = step(known, entry)
        self._session, self._known = session, known
        return known


def _upto(entry: Entry) -> int:
    """The last entry that a summary's frozen ledger tells of; beyond all where it has none."""
    body = entry.body
    if not isinstance(body, Summary) or not body.facts:
        return 2**63
    return body.covers[-1].last if body.covers else 2**63
