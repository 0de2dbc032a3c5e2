"""What the session files of other programs have in common: their names, ids, times and lines."""

from __future__ import annotations

from datetime import UTC, datetime
from hashlib import blake2b, sha256
from typing import Any

from msgspec import Struct

from holdfast.core.window.repair import CONTINUE
from holdfast.model import wire
from holdfast.model.workspace import ForeignSnapshot


class Live(Struct, frozen=True, kw_only=True):
    """The live window of a session, as one wire format writes it, and whose it is."""

    session: str
    head: int
    directory: str
    title: str
    model: str
    now: int
    """When it was last changed, in ms: the time of every record."""
    items: tuple[dict[str, Any], ...]
    """The messages, or input items, of a request."""
    summaries: tuple[str, ...] = ()
    """The texts in them that stand for what was said before."""
    before: int = 0
    """How many tokens the newest summary stands for, where that is known."""
    manual: bool = False
    """Whether somebody asked for that summary."""
    snapshots: tuple[ForeignSnapshot, ...] = ()
    """What the same program had recorded of files, where the session comes from it."""


def uuid(*told: str | int) -> str:
    """The id that the same things always have; written as programs write them."""
    name = "\0".join(map(str, told)).encode("utf-8", "surrogatepass")
    number = int.from_bytes(blake2b(name, digest_size=16).digest())
    number = number & ~(0xF << 76) | (8 << 76)  # version 8: a number of one's own making
    number = number & ~(0x3 << 62) | (0x2 << 62)
    digits = f"{number:032x}"
    return "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))


def named(live: Live, program: str) -> str:
    """The id of a session in a program's files: another one once it has gone on."""
    return uuid(program, live.session, live.head)


def origin(live: Live, before: bytes) -> dict[str, Any]:
    """Whose copy it is: by that it is known when it comes back, where nobody has changed it."""
    return {
        "session": live.session,
        "head": live.head,
        "title": live.title,
        "sha256": sha256(before).hexdigest(),
    }


LATEST = 253_402_300_799_999
"""The last millisecond that has a date of four digits."""


def when(milliseconds: int) -> str:
    """A time as programs write it; one that no date can tell is as late as one can."""
    milliseconds = min(milliseconds, LATEST)
    moment = datetime.fromtimestamp(milliseconds // 1000, UTC)
    return f"{moment:%Y-%m-%dT%H:%M:%S}.{milliseconds % 1000:03d}Z"


def lines(records: list[dict[str, Any]]) -> bytes:
    """Records, one a line."""
    return b"".join(wire.encode(record) + b"\n" for record in records)


def nothing(text: object) -> bool:
    """Whether a text only asks to go on, where a conversation had to end with a question."""
    return text == CONTINUE


def summary(live: Live, block: dict[str, Any]) -> bool:
    """Whether a block of a message is a summary of the session's."""
    return block.get("text") in live.summaries
