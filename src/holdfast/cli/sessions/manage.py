"""`holdfast fork`, `rename` and `archive`: what is done to a session as a whole."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from holdfast.cli.options import LAST, Asked, common, find, session_and, session_argument

if TYPE_CHECKING:
    from holdfast.engine.client import Holdfast
    from holdfast.model.log import SessionInfo


@click.command()
@session_argument
@click.option(
    "--at", metavar="ENTRY", default="", help="The last entry to share: its id or number."
)
@common
def fork(asked: Asked, session: str, at: str) -> None:
    """Begin a session that shares another one up to an entry."""
    with asked.open() as hf:
        made = hf.session(find(hf, session).id).fork(at).info
    tell(asked, made, f"{made.id} shares the entries up to {made.fork} with {made.parent}.")


@click.command()
@session_and("title")
@common
def rename(asked: Asked, session: str, title: str) -> None:
    """Give a session another title."""
    from holdfast.errors import InvalidRequest

    if not title.strip():
        raise InvalidRequest(
            "a session cannot be called nothing; give it a title of a letter or more"
        )
    with asked.open() as hf:
        if session == LAST:
            refuse_no_title(hf, title)
        made = hf.session(find(hf, session).id).rename(title)
    tell(asked, made, f"{made.id} is now called “{made.title}”.")


def refuse_no_title(hf: Holdfast, title: str) -> None:
    """Say so where a word alone, that would be a title, names a session."""
    from holdfast.errors import InvalidRequest, NotFound

    try:
        named = find(hf, title)
    except NotFound:
        return
    raise InvalidRequest(
        f"{named.id} is a session; say `holdfast rename {title} TITLE` to rename it"
    )


@click.command()
@session_argument
@click.option("--undo", is_flag=True, help="Bring it back.")
@common
def archive(asked: Asked, session: str, undo: bool) -> None:
    """Put a session away; nothing is deleted, --undo brings it back."""
    with asked.open() as hf:
        found = last_archived(hf) if undo and session == LAST else find(hf, session)
        refuse_no_change(found, undo=undo)
        made = hf.session(found.id).archive(not undo)
    where = "back among the others" if undo else "archived; `holdfast sessions --archived` lists it"
    tell(asked, made, f"{made.id} is {where}.")


def last_archived(hf: Holdfast) -> SessionInfo:
    """The session that was put away last."""
    from holdfast.errors import InvalidRequest

    away = [one for one in hf.every_session() if one.archived]
    if not away:
        raise InvalidRequest("no session is archived; `holdfast sessions` lists those there are")
    return max(away, key=lambda one: (one.archived, one.id))


def refuse_no_change(session: SessionInfo, *, undo: bool) -> None:
    """Say so where a session is already where it is to go."""
    from holdfast.errors import InvalidRequest

    if undo and not session.archived:
        raise InvalidRequest(
            f"{session.id} is not archived; `holdfast sessions --archived` lists those that are"
        )
    if session.archived and not undo:
        raise InvalidRequest(f"{session.id} is archived already; --undo brings it back")


def tell(asked: Asked, session: SessionInfo, sentence: str) -> None:
    """What became of a session: as a value, or as a sentence."""
    from holdfast.cli.sessions.list import as_value
    from holdfast.cli.ui.terminal import emit, one_line, say

    if asked.json:
        emit(as_value(session))
    else:
        say(one_line(sentence))
