"""The command line: `holdfast`."""

from __future__ import annotations

import click

from holdfast.cli.app import Commands
from holdfast.cli.commands import COMMANDS
from holdfast.cli.options import Asked


@click.group(
    cls=Commands,
    places=COMMANDS,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 96},
)
@click.option("--store", metavar="PATH", help="Where the log is kept; also HOLDFAST_STORE.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON, one value a line.")
@click.version_option(package_name="holdfast", message="holdfast %(version)s")
@click.pass_context
def main(ctx: click.Context, store: str | None, as_json: bool) -> None:
    """Keeps every word of your agents' sessions, and shows what their models see.

    SESSION is an id, an unambiguous beginning of one (six letters or more), or `last`; without
    one it is the last.
    """
    ctx.obj = Asked(store, as_json)
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())


__all__ = ["main"]
