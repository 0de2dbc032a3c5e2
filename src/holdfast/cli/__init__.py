"""The command line: `holdfast`."""

from __future__ import annotations

import click

from holdfast.cli.chat import chat
from holdfast.cli.compacting import compact
from holdfast.cli.completion import completion
from holdfast.cli.context import context, explain
from holdfast.cli.cost import cost, status_line
from holdfast.cli.count import count
from holdfast.cli.demo import demo
from holdfast.cli.doctor import doctor
from holdfast.cli.erase import erase
from holdfast.cli.frame import Commands
from holdfast.cli.help import help_command
from holdfast.cli.ledger import ledger
from holdfast.cli.listing import sessions
from holdfast.cli.mapping import map_command
from holdfast.cli.models import models
from holdfast.cli.options import Asked
from holdfast.cli.pins import pin, unpin
from holdfast.cli.policies import policy
from holdfast.cli.recall import recall
from holdfast.cli.reversing import redo, undo
from holdfast.cli.run import run
from holdfast.cli.search import search
from holdfast.cli.show import show
from holdfast.cli.verbs import archive, fork, rename


@click.group(
    cls=Commands,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 96},
)
@click.option("--store", metavar="PATH", help="Where the log is kept; also HOLDFAST_STORE.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON, one value a line.")
@click.version_option(package_name="holdfast", message="holdfast %(version)s")
@click.pass_context
def main(ctx: click.Context, store: str | None, as_json: bool) -> None:
    """Keeps every word of your agents' sessions, and shows what their models see.

    SESSION is an id, an unambiguous beginning of one (six letters or more), or `last`.
    """
    ctx.obj = Asked(store, as_json)
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())


for command in (
    chat,
    run,
    sessions,
    show,
    search,
    context,
    explain,
    count,
    map_command,
    cost,
    status_line,
    models,
    ledger,
    compact,
    undo,
    redo,
    recall,
    pin,
    unpin,
    policy,
    fork,
    rename,
    archive,
    erase,
    doctor,
    demo,
    completion,
    help_command,
):
    main.add_command(command)

__all__ = ["main"]
