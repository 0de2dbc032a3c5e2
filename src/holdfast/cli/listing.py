"""`holdfast sessions`: what there is, newest first, a page at a time."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import click

from holdfast.cli.options import Asked, common, completed, find

if TYPE_CHECKING:
    from rich.table import Table

    from holdfast.engine.doors import Holdfast
    from holdfast.model.log import Session

SHORTEST = 8
"""How much of an id is shown at least; more where that would fit two sessions."""

WIDE = 72
"""With fewer columns than this there is no room for the model."""


@click.command()
@click.option("--limit", metavar="N", type=click.IntRange(1, 10_000), default=20, show_default=True,
              help="How many to list.")  # fmt: skip
@click.option("--after", metavar="SESSION", default="", shell_complete=completed,
              help="Go on behind this one, the last of the page before.")  # fmt: skip
@click.option("--project", metavar="PATH", help="Only sessions of this project.")
@click.option("--archived", is_flag=True, help="Those that were put away instead.")
@common
def sessions(asked: Asked, limit: int, after: str, project: str | None, archived: bool) -> None:
    """List sessions, the one that changed last first."""
    from holdfast.cli.terminal import emit
    from holdfast.files import project_root

    root = None if project is None else str(project_root(os.path.abspath(project)))
    with asked.open() as hf:
        start = find(hf, after) if after else None
        found = hf.sessions(project=root, archived=archived, limit=limit + 1, after=start)
        page = found[:limit]
        openings = {one.id: "" if one.title else hf.opening(one) for one in page}
        if asked.json:
            for one in page:
                emit({**as_value(one), "opening": openings[one.id]})
        elif page:
            draw(hf, page, openings, more=len(found) > limit)
        else:
            explain_nothing(asked, root, archived=archived, after=after)


def as_value(session: Session) -> dict[str, Any]:
    """A session as JSON: every key, always."""
    names = (
        "id", "title", "project", "directory", "model", "policy", "agent", "parent", "fork",
        "created", "updated", "compacted", "archived", "head",
    )  # fmt: skip
    return {name: getattr(session, name) for name in names}


def draw(hf: Holdfast, page: tuple[Session, ...], openings: dict[str, str], *, more: bool) -> None:
    """A table that fits, and how to go on."""
    from holdfast.cli.terminal import console, say

    short = shortened(hf, [one.id for one in page])
    console().print(table(page, short, openings))
    if more:
        say(f"… more: holdfast sessions --after {short[page[-1].id]}", "dim")
    say("See one with  holdfast show SESSION", "dim")


def table(page: tuple[Session, ...], short: dict[str, str], openings: dict[str, str]) -> Table:
    """Sessions as rows; the title takes what room is left."""
    from rich.table import Table
    from rich.text import Text

    from holdfast.cli.terminal import NOTHING, console, fitted
    from holdfast.cli.wording import ago, number

    wide = console().width >= WIDE
    made = Table(box=None, pad_edge=False, expand=True, header_style="dim", padding=(0, 2, 0, 0))
    made.add_column("session", no_wrap=True, style="cyan")
    made.add_column("title", ratio=1, no_wrap=True)
    made.add_column("project", no_wrap=True)
    if wide:
        made.add_column("model", no_wrap=True)
    made.add_column("entries", no_wrap=True, justify="right")
    made.add_column("changed", no_wrap=True)
    for one in page:
        project = fitted(os.path.basename(one.project.rstrip("/")), 14) or NOTHING
        title = fitted(one.title or openings[one.id], 200) or NOTHING
        model = [fitted(one.model, 17) or NOTHING] if wide else []
        made.add_row(
            short[one.id], Text(title, style="" if one.title else "italic"), project, *model,
            number(one.head), ago(one.updated),
        )  # fmt: skip
    return made


def shortened(hf: Holdfast, ids: list[str]) -> dict[str, str]:
    """Each id as far as it is needed to name the session among all of the store."""
    length = SHORTEST
    while length < max(map(len, ids)) and len({id[:length] for id in ids}) < len(ids):
        length += 2
    return {id: id[:length] if _stands_for(hf, id[:length], id) else id for id in ids}


def _stands_for(hf: Holdfast, beginning: str, id: str) -> bool:
    from holdfast.errors import Unknown

    try:
        return hf.resolve(beginning).id == id
    except Unknown:
        return False


def explain_nothing(asked: Asked, project: str | None, *, archived: bool, after: str) -> None:
    """The first screen of an empty store, or why a page of a full one is empty."""
    from holdfast.cli.terminal import say
    from holdfast.cli.wording import path

    if after:
        say("No more sessions.")
    elif archived:
        say("No session is archived; `holdfast archive SESSION` puts one away.")
    elif project is not None:
        say(f"No session of {path(project)}; `holdfast sessions` lists those of every project.")
    else:
        say(first_screen(path(asked.url)))


def first_screen(where: str) -> str:
    """What to do with a store that holds nothing yet."""
    return f"""\
No sessions yet in {where}

To see one being made, in a store that is gone afterwards:

  holdfast demo

To keep your own, in any Python program:

  import holdfast

  with holdfast.open() as hf:
      session = hf.session(directory=".", title="My first session")
      session.user("Fix the login handler")     # on disk when it returns

Then  holdfast sessions  lists it, and  holdfast show last  shows it."""
