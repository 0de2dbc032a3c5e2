"""Where things stand: one integer names an entry or a part of any session.

An entry's place is its session's number and its seq; a part's is its entry's place and its ordinal.
Both are primary keys, so a stretch of a session is one range of one index-free table, on SQLite
(rowid) and PostgreSQL (bigint) alike. 63 bits: 4 million sessions, 536 million entries in each,
4,096 parts in an entry.
"""

from __future__ import annotations

from holdfast.errors import InvalidRequest
from holdfast.model.log import PartRef

SEQ_BITS, ORDINAL_BITS = 29, 12

MOST_ENTRIES = 2**SEQ_BITS - 1
MOST_PARTS = 2**ORDINAL_BITS
MOST_SESSIONS = 2 ** (63 - SEQ_BITS - ORDINAL_BITS) - 1


def place(number: int, seq: int) -> int:
    """The place of an entry; no seq ever runs over into the next session's."""
    if not 0 <= seq <= MOST_ENTRIES:
        raise InvalidRequest(f"a session has no entry {seq}; name one up to {MOST_ENTRIES}")
    return number << SEQ_BITS | seq


def seq_of(place: int) -> int:
    """The seq at a place."""
    return place & MOST_ENTRIES


def number_of(place: int) -> int:
    """The number of the session that holds a place."""
    return place >> SEQ_BITS


def part_place(place: int, ordinal: int) -> int:
    """The place of a part."""
    return place << ORDINAL_BITS | ordinal


def parts_of(first: int, last: int) -> tuple[int, int]:
    """The first and last part place of a range of entries."""
    return first << ORDINAL_BITS, (last << ORDINAL_BITS) + MOST_PARTS - 1


def entry_of(part: int) -> int:
    """The place of the entry that holds a part."""
    return part >> ORDINAL_BITS


def ordinal_of(part: int) -> int:
    """The ordinal of a part in its entry."""
    return part & (MOST_PARTS - 1)


def part_at(part: int) -> PartRef:
    """The part at a place."""
    return PartRef(part >> ORDINAL_BITS & MOST_ENTRIES, part & (MOST_PARTS - 1))
