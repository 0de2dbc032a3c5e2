"""`holdfast erase`: what will go, a question, and what went."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from holdfast.cli.options import LAST, Asked, common, completed, find

if TYPE_CHECKING:
    from holdfast.engine.client import Holdfast
    from holdfast.model.log import SessionInfo
    from holdfast.model.store import Erased, Erasing, OfBackups


@click.command()
@click.argument("session", default="", metavar="[SESSION]", shell_complete=completed)
@click.option("--yes", is_flag=True, help="Do not ask.")
@click.option(
    "--backups",
    type=click.Choice(["rewrite", "delete"]),
    default="rewrite",
    help="Rewrite backups that hold it without it, or delete them.",
)
@common
def erase(asked: Asked, session: str, yes: bool, backups: OfBackups) -> int:
    """Erase a session for good, its subtasks too; its forks keep what they share with it."""
    from holdfast.agent.tools.subtask import subtasks
    from holdfast.cli.ui.terminal import agreed, busy, emit
    from holdfast.errors import InvalidRequest
    from holdfast.model.store import Erasing

    if yes and not session:  # the one thing that cannot be undone is done to what was named
        raise InvalidRequest("--yes erases without asking; name the session, or say `last`")
    with asked.open() as hf:
        found = find(hf, session or LAST)
        if not asked.json:
            announce(hf, found)
        if not yes and not agreed("Erase it for good?"):
            click.echo("Nothing was erased.", err=True)
            return 1
        with busy("Erasing"):
            everything = [
                hf.erase(one.id, backups=backups, background=False)
                for one in (*subtasks(hf, found), found)
            ]
        with busy("Rewriting backups and the search index"):
            rest = {one.session: one for one in hf.finish_erasing()}
    for gone in everything:
        left = rest.get(gone.session, Erasing(session=gone.session, holding=gone.holding))
        if asked.json:
            told = {name: getattr(gone, name) for name in gone.__struct_fields__}
            emit({**told, "rewritten": left.rewritten, "holding": left.holding})
        else:
            tell(gone, left)
    return 0


def announce(hf: Holdfast, session: SessionInfo) -> None:
    """What will go, and what stays."""
    from holdfast.agent.tools.subtask import subtasks
    from holdfast.cli.ui.format import many, size
    from holdfast.cli.ui.terminal import one_line, say

    own = hf.session(session.id)
    words = session.title or hf.opening(session)[:200]
    name = f"{session.id} “{one_line(words)[:60]}”" if words else session.id
    say(name, "bold")
    amount = many(session.head - session.fork, "entry")
    say(f"  {amount}, {size(own.size())} will go.")
    if session.fork:
        say(f"  The first {session.fork} stay in {session.parent}.")
    for one in subtasks(hf, session):
        say(f"  {one.id} “{one_line(one.title)[:60]}” goes with it.")
    for fork in filter(lambda one: one.fork, hf.forks(session)):
        shared = many(fork.fork, "entry")
        say(f"  Fork {fork.id} keeps its copy of the first {shared}.")


def tell(gone: Erased, left: Erasing) -> None:
    """What went, and what is left."""
    from holdfast.cli.ui.format import many
    from holdfast.cli.ui.terminal import one_line, say

    facts = [many(gone.entries, "entry"), many(gone.parts, "part"), many(gone.blobs, "blob")]
    say(f"Erased {gone.session}: {', '.join(facts)}.")
    for fork in gone.copied:
        say(f"  {fork} has its own copy of what it shared.")
    for backup in gone.backups:
        say(f"  The backup {one_line(backup)} held it and was removed.")
    for backup in left.rewritten:
        say(f"  The backup {one_line(backup)} was rewritten without it.")
    for backup in left.holding:
        say(f"  The backup {one_line(backup)} still holds it, or may.", "yellow")
    if left.holding:
        why = left.why or "another process is rewriting it"
        say(f"  {one_line(why)}; `--backups delete` removes such backups.", "yellow")
    if gone.held and not left.done:
        say(f"Still to be read: {one_line(gone.held)}", "yellow")
