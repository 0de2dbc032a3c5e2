"""`holdfast diff`: what an agent did to the files."""

from __future__ import annotations

import click

from holdfast.cli.options import Asked, common, find, session_argument


@click.command()
@session_argument
@click.option("--from", "since", default="", metavar="PROMPT", help="From this prompt on.")
@click.option("--to", "upto", default="", metavar="PROMPT", help="Up to and with this prompt.")
@common
def diff(asked: Asked, session: str, since: str, upto: str) -> None:
    """Show what the agent did to the files, all of it or from one prompt to another.

    PROMPT is a number of the list that `holdfast rewind` shows, or an entry as #12.
    """
    from holdfast.cli.ui.json_values import plain
    from holdfast.cli.ui.terminal import emit, say
    from holdfast.cli.workspace.rewind import choose
    from holdfast.cli.workspace.view import diff_rows, totals

    with asked.open() as hf:
        opened = hf.session(find(hf, session).id)
        prompts = opened.prompts() if since or upto else ()
        first = choose(prompts, since).seq if since else ""
        last = choose(prompts, upto).seq if upto else ""
        found = opened.diff(first, last)
        if asked.json:
            for one in found:
                emit({name: plain(getattr(one, name)) for name in one.__struct_fields__})
            return
        for line, style in diff_rows(found):
            say(line, style)
        say(f"{totals(found)}." if found else "No file was changed, as far as is known.", "bold")
