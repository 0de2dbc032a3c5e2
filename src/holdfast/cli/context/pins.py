"""`holdfast pin` and `holdfast unpin`: what stays in every window, and what no longer has to."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import click

from holdfast.cli.options import Asked, common, find, find_with_entry, session_and, session_argument

if TYPE_CHECKING:
    from holdfast.engine.client import Holdfast, Session
    from holdfast.model.log import Pinned


@click.command()
@session_argument
@click.argument("entry", default="")
@click.option("--fact", metavar="TEXT", default="", help="A sentence that is to be kept in mind.")
@click.option("--path", "file", metavar="FILE", default="",
              help="A file beneath the session's directory, as it is at each window.")  # fmt: skip
@click.option("--list", "listed", is_flag=True, help="List what is pinned.")
@common
def pin(asked: Asked, session: str, entry: str, fact: str, file: str, listed: bool) -> None:
    """Keep an entry, a fact or a file in every window.

    A number alone is an entry of the last session.
    """
    from holdfast.cli.ui.terminal import emit
    from holdfast.errors import InvalidRequest

    with asked.open() as hf:
        found, entry = find_with_entry(hf, session, entry)
        opened = hf.session(found.id)
        if listed:
            if entry or fact or file:
                raise InvalidRequest("--list goes alone; leave out what is to be pinned, or --list")
            _list(asked, hf, opened)
            return
        if not (entry or fact or file):
            raise InvalidRequest(
                "nothing is named to be pinned; give ENTRY, --fact or --path, or --list"
            )
        made = opened.pin(entry, fact=fact, path=_beneath(opened.info.directory, file))
        (one,) = [one for one in opened.view().folded.pins if one.id == made.id]
    if asked.json:
        emit(as_value(opened, one))
    else:
        _tell(f"Pinned {what(one)}: it is in every window from here on.", unpin=one, of=session)


@click.command()
@session_and("name", metavar="PIN")
@common
def unpin(asked: Asked, session: str, name: str) -> None:
    """Let a pin go.

    PIN is its id, its entry, its path, or the beginning of its fact.
    """
    from holdfast.cli.ui.terminal import emit

    with asked.open() as hf:
        opened = hf.session(find(hf, session).id)
        pins = {one.id: one for one in opened.view().folded.pins}
        ended = pins[opened.unpin(name).body.pin]  # type: ignore[union-attr]
    if asked.json:
        emit(as_value(opened, ended))
    else:
        _tell(f"No longer pinned: {what(ended)}.")


def _beneath(directory: str, file: str) -> str:
    """A path as the session knows it: beneath its directory, however it was typed."""
    if not os.path.isabs(file) or not directory:
        return file
    inside = os.path.relpath(os.path.realpath(file), os.path.realpath(directory))
    return file if inside.startswith(os.pardir) else inside


def as_value(session: Session, one: Pinned) -> dict[str, Any]:
    """A pin as JSON: every key, always."""
    return {
        "session": session.id,
        "pin": one.id,
        "entry": one.seq or None,
        "fact": one.fact,
        "path": one.path,
        "since": one.at,
    }


def what(one: Pinned) -> str:
    """What a pin holds, in a line."""
    from holdfast.cli.ui.terminal import fitted

    return f"entry {one.seq}" if one.seq else one.path or f"“{fitted(one.fact, 60)}”"


def _tell(sentence: str, *, unpin: Pinned | None = None, of: str = "") -> None:
    from holdfast.cli.ui.terminal import hint, one_line, say

    say(one_line(sentence))
    if unpin:
        hint(f"holdfast unpin {of} {unpin.seq or unpin.id}  lets it go")


def _list(asked: Asked, hf: Holdfast, session: Session) -> None:
    from holdfast.cli.ui.terminal import emit, say

    pins = session.view().folded.pins
    if asked.json:
        for one in pins:
            emit(as_value(session, one))
    elif pins:
        _draw(session, pins)
    else:
        say("Nothing is pinned; `holdfast pin SESSION ENTRY` pins an entry.")


def _draw(session: Session, pins: tuple[Pinned, ...]) -> None:
    from rich.table import Table

    from holdfast.cli.ui.terminal import console, fitted, print_table

    screen = console()
    made = Table(box=None, pad_edge=False, header_style="dim", padding=(0, 2, 0, 0))
    made.add_column("pin", no_wrap=True, style="cyan")
    made.add_column("since", no_wrap=True, justify="right")
    made.add_column("what is pinned", no_wrap=True)
    room = screen.width - 38 if screen.is_terminal else 10_000
    for one in pins:
        text = one.fact or (one.path and f"the file {one.path}") or _said(session, one.seq)
        made.add_row(one.id, str(one.at or ""), fitted(text, max(room, 20)))
    print_table(made)


def _said(session: Session, seq: int) -> str:
    """An entry by its first words."""
    from holdfast.core.search.searchable_text import searchable_body

    entry = session.entry(seq)
    role = getattr(entry.body, "role", "")
    words = next(filter(str.strip, searchable_body(entry.body)), "")
    return f"#{seq} {role}: {words[:400]}"
