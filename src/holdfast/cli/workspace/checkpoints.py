"""`holdfast checkpoint` records for other agents; `holdfast checkpoints` says how much is kept."""

from __future__ import annotations

import click

from holdfast.cli.options import LAST, Asked, common, find


@click.command()
@click.argument("session", default="")
@click.option("--prune", is_flag=True, help="Let go of what is older than is kept.")
@common
def checkpoints(asked: Asked, session: str, prune: bool) -> None:
    """Show how much is kept of what files held, of one session or of all.

    It is kept for 30 days, and that of the newest 1,000 changes longer; `days` and `keep` under
    [checkpoints] in settings.toml say otherwise, and 0 days keep everything.
    """
    from holdfast.cli.ui.format import ago, many, size
    from holdfast.cli.ui.json_values import plain
    from holdfast.cli.ui.terminal import emit, say
    from holdfast.cli.workspace.view import foreign_rows

    with asked.open() as hf:
        gone = hf.prune_checkpoints() if prune else None
        id = find(hf, session).id if session else ""
        kept = hf.checkpoints(id)
        theirs = hf.session(id).foreign_snapshots() if id else ()
        if asked.json:
            told = {**plain(kept), "foreign": plain(theirs)}
            emit({**told, "pruned": gone.changes if gone else 0})
            return
        if gone is not None:
            say(f"Let go of {many(gone.contents, 'content')} of {many(gone.changes, 'change')}.")
        oldest = f", the oldest {ago(kept.oldest)}" if kept.oldest else ""
        say(
            f"{many(kept.changes, 'change')} of files with {many(kept.contents, 'content')}: "
            f"{size(kept.bytes)}, {size(kept.stored)} as stored{oldest}."
        )
        for line, _ in foreign_rows(theirs):
            say(line)


@click.command()
@click.option("--session", default=LAST, metavar="SESSION", help="Whose work it is.")
@click.option("--directory", default="", metavar="DIR", help="Where; the session's own otherwise.")
@common
def checkpoint(asked: Asked, session: str, directory: str) -> None:
    """Record what changed in a directory since the last checkpoint: for hooks of other agents.

    The first call only looks. Called before and after a tool of another agent, the second call
    records what that tool did.
    """
    from holdfast.cli.ui.format import many
    from holdfast.cli.ui.terminal import emit, say

    with asked.open() as hf:
        opened = hf.session(find(hf, session).id)
        made = opened.workspace(directory).checkpoint()
        if asked.json:
            emit({"session": opened.id, "paths": [one.path for one in made]})
        else:
            say(f"{many(len(made), 'change')} recorded.")
