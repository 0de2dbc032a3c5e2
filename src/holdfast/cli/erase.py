"""`holdfast erase`: what will go, a question, and what went."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from holdfast.cli.options import Asked, common, find, session_argument

if TYPE_CHECKING:
    from holdfast.engine.doors import Holdfast
    from holdfast.model.log import Session
    from holdfast.model.store import Erased


@click.command()
@session_argument
@click.option("--yes", is_flag=True, help="Do not ask.")
@common
def erase(asked: Asked, session: str, yes: bool) -> int:
    """Erase a session for good; its forks keep what they share with it."""
    from holdfast.cli.terminal import emit

    with asked.open() as hf:
        found = find(hf, session)
        if not asked.json:
            announce(hf, found)
        if not yes and not agreed("Erase it for good?"):
            click.echo("Nothing was erased.", err=True)
            return 1
        gone = hf.erase(found.id)
    if asked.json:
        emit({name: getattr(gone, name) for name in gone.__struct_fields__})
    else:
        tell(gone)
    return 0


def agreed(question: str) -> bool:
    """Whether a person says yes; where nobody can be asked, an error says what to do."""
    from holdfast.errors import Misuse

    if not sys.stdin.isatty():
        raise Misuse("nobody can be asked here, so nothing was done; say --yes to go on")
    return click.confirm(question, default=False, err=True)


def announce(hf: Holdfast, session: Session) -> None:
    """What will go, and what stays."""
    from holdfast.cli.terminal import console, one_line
    from holdfast.cli.wording import many, size

    own = hf.session(session.id)
    screen = console()
    words = session.title or hf.opening(session)[:200]
    name = f"{session.id} “{one_line(words)[:60]}”" if words else session.id
    screen.print(name, style="bold", soft_wrap=True)
    amount = many(session.head - session.fork, "entry")
    screen.print(f"  {amount}, {size(own.size())} will go.", soft_wrap=True)
    if session.parent:
        screen.print(f"  The first {session.fork} stay in {session.parent}.", soft_wrap=True)
    for fork in hf.forks(session):
        shared = many(fork.fork, "entry")
        screen.print(f"  Fork {fork.id} keeps its copy of the first {shared}.", soft_wrap=True)


def tell(gone: Erased) -> None:
    """What went."""
    from holdfast.cli.terminal import console, one_line
    from holdfast.cli.wording import many

    screen = console()
    facts = [many(gone.entries, "entry"), many(gone.parts, "part"), many(gone.blobs, "blob")]
    screen.print(f"Erased {gone.session}: {', '.join(facts)}.", soft_wrap=True)
    for fork in gone.copied:
        screen.print(f"  {fork} has its own copy of what it shared.", soft_wrap=True)
    for backup in gone.backups:
        screen.print(one_line(f"  The backup {backup} held it and was removed."), soft_wrap=True)
    if gone.held:
        screen.print(one_line(f"Still to be read: {gone.held}"), style="yellow", soft_wrap=True)
