"""`holdfast completion`: the script that lets a shell complete commands and session ids."""

from __future__ import annotations

import click

from holdfast.cli.options import Asked, common

HOW = {
    "bash": 'eval "$(holdfast completion bash)"  in ~/.bashrc',
    "zsh": 'eval "$(holdfast completion zsh)"  in ~/.zshrc',
    "fish": "holdfast completion fish | source  in ~/.config/fish/config.fish",
}


@click.command()
@click.argument("shell", type=click.Choice(list(HOW)))
@common
def completion(asked: Asked, shell: str) -> None:
    """Print the completion script of a shell.

    Put  eval "$(holdfast completion bash)"  in ~/.bashrc (zsh: ~/.zshrc), or
    holdfast completion fish | source  in ~/.config/fish/config.fish.
    """
    from click.shell_completion import get_completion_class

    from holdfast.cli.ui.terminal import emit

    kind = get_completion_class(shell)
    assert kind is not None
    context = click.get_current_context().find_root()
    script = kind(context.command, {}, "holdfast", "_HOLDFAST_COMPLETE").source()
    if asked.json:
        emit({"shell": shell, "script": script, "install": HOW[shell]})
    else:
        click.echo(script)
