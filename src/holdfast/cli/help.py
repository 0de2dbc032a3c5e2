"""`holdfast help`: what there is, or what one command takes."""

from __future__ import annotations

import click

from holdfast.cli.options import Asked, common


@click.command("help")
@click.argument("command", required=False, default="")
@common
def help_command(asked: Asked, command: str) -> None:
    """List the commands, or show what one takes."""
    from holdfast.cli.ui.terminal import emit

    root = click.get_current_context().find_root()
    assert isinstance(root.command, click.Group)
    words = root.get_help()
    if command:
        name, found, _ = root.command.resolve_command(root, [command])
        assert found is not None
        words = found.get_help(click.Context(found, info_name=name, parent=root))
    if asked.json:
        emit({"help": words})
    else:
        click.echo(words)
