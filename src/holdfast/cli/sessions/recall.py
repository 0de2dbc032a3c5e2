"""`holdfast recall`: what left the window, word for word."""

from __future__ import annotations

import re
from shlex import quote

import click

from holdfast.cli.options import COUNTABLE, Asked, common, find, session_and

EVERYTHING = 2**62
"""More tokens than anything has."""

_NUMBERS = re.compile(r"\d+(?:\s*[-–]\s*#?\d+)?")


@click.command()
@session_and("handle")
@click.option("--offset", metavar="N", type=click.IntRange(0, COUNTABLE), default=0,
              help="Go on from this character.")  # fmt: skip
@click.option("--tokens", metavar="N", type=click.IntRange(1, COUNTABLE), default=None,
              help="About how much at once; otherwise an eighth of the window.")  # fmt: skip
@click.option("--all", "whole", is_flag=True, help="All of it, however long it is.")
@common
def recall(
    asked: Asked, session: str, handle: str, offset: int, tokens: int | None, whole: bool
) -> None:
    """Bring back what left the window, word for word.

    HANDLE is prt_… as it stands in the window, an entry's number, or two as in 12-20.
    """
    from holdfast.cli.ui.terminal import emit
    from holdfast.errors import InvalidRequest

    if whole and tokens is not None:
        raise InvalidRequest("--all and --tokens contradict each other; leave out one of them")
    named = f"#{handle.strip()}" if _NUMBERS.fullmatch(handle.strip()) else handle
    with asked.open() as hf:
        opened = hf.session(find(hf, session).id)
        found = opened.recall(named, offset=offset, tokens=EVERYTHING if whole else tokens or 0)
    if offset and offset >= found.total:
        raise InvalidRequest(f"{named} has {found.total:,} characters; give a smaller --offset")
    if asked.json:
        told = {name: getattr(found, name) for name in found.__struct_fields__}
        emit({"session": opened.id, **told, "offset": offset})
    else:
        _draw(session, handle, found.text, found.next, found.total)


def _draw(session: str, handle: str, text: str, following: int, total: int) -> None:
    from holdfast.cli.ui.entry_text import Piece
    from holdfast.cli.ui.entry_view import stream
    from holdfast.cli.ui.terminal import say

    if not text.strip():
        say("There are no words in it; `holdfast show --all` says what it is.", error=True)
        return
    stream(Piece(text, "", 0, body=True))
    if following:
        left = f"{total - following:,} of {total:,} characters more"
        again = f"holdfast recall {session} {quote(handle)} --offset {following}"
        say(f"… {left}: {again}, or --all", "dim", error=True)
