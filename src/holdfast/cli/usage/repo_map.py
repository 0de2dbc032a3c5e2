"""`holdfast map`: what a repository holds, the most wanted first."""

from __future__ import annotations

import click

from holdfast.cli.options import COUNTABLE, Asked, common

USUAL = 2_048
"""How many tokens a map takes at most, unless told otherwise."""


@click.command("map")
@click.argument("path", type=click.Path(exists=True, file_okay=False), default=".")
@click.option("--tokens", metavar="N", type=click.IntRange(1, COUNTABLE), default=USUAL,
              show_default=True, help="It takes at most so many tokens.")  # fmt: skip
@click.option("--about", metavar="TEXT", default="", help="Names and paths it is to dwell on.")
@common
def map_command(asked: Asked, path: str, tokens: int, about: str) -> None:
    """Print a map of the repository in PATH: its files, and what in them is referred to most."""
    from holdfast.engine.plugins import repo_map
    from holdfast.engine.usage.file_tokens import at_most
    from holdfast.model.profile import Profile

    source = repo_map(path, count=at_most(Profile(name="")))
    made = source.made(tokens, said=" ".join(f"`{word}`" for word in about.split()))
    if asked.json:
        from holdfast.cli.ui.terminal import emit

        told = {"files": made.files, "definitions": made.definitions, "unread": source.unread}
        emit({"tokens": made.tokens, **told, "text": made.text})
        return
    from holdfast.cli.ui.format import many
    from holdfast.cli.ui.terminal import neutral, say

    click.echo(neutral(made.text) or "There is nothing here that a map could show.")
    shown = f"{many(made.definitions, 'definition')} in {many(made.files, 'file')}"
    say(f"{many(made.tokens, 'token')} · {shown}", "dim")
    if source.unread:
        say(f"{many(source.unread, 'file')} not read yet; run it again to go on", "yellow")
