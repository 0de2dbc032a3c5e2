"""The command line: `holdfast`."""

from __future__ import annotations

import click

from holdfast.cli.app import Commands
from holdfast.cli.options import Asked

COMMANDS = {
    "chat": "chat.chat:chat",
    "run": "chat.run:run",
    "sessions": "sessions.list:sessions",
    "show": "sessions.show:show",
    "search": "sessions.search:search",
    "import": "transcripts.import_:import_command",
    "context": "context.context:context",
    "explain": "context.context:explain",
    "count": "usage.count:count",
    "map": "usage.repo_map:map_command",
    "cost": "usage.cost:cost",
    "stats": "usage.stats:stats",
    "status-line": "usage.cost:status_line",
    "models": "usage.models:models",
    "ledger": "sessions.ledger:ledger",
    "compact": "context.compact:compact",
    "undo": "context.undo:undo",
    "redo": "context.undo:redo",
    "recall": "sessions.recall:recall",
    "pin": "context.pins:pin",
    "unpin": "context.pins:unpin",
    "policy": "context.policy:policy",
    "fork": "sessions.manage:fork",
    "rename": "sessions.manage:rename",
    "archive": "sessions.manage:archive",
    "erase": "sessions.erase:erase",
    "export": "transcripts.export:export",
    "handoff": "transcripts.handoff:handoff",
    "doctor": "store.doctor:doctor",
    "demo": "store.demo:demo",
    "completion": "completion:completion",
    "help": "help:help_command",
}
"""Where each command is, in the order people meet them; it is imported when it is called."""


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
