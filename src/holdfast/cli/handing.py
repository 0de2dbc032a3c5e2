"""`holdfast handoff`: a session goes on in another program."""

from __future__ import annotations

import os
from pathlib import Path
from shlex import join, quote
from typing import TYPE_CHECKING

import click

from holdfast.cli import completing
from holdfast.cli.options import Asked, common, find, session_argument

if TYPE_CHECKING:
    from holdfast.engine.handing import Handed

HOMES = {"claude-code": ("CLAUDE_CONFIG_DIR", ".claude"), "codex": ("CODEX_HOME", ".codex")}
"""Where programs keep their sessions: what their environment says, or a directory at home."""

AWAY = "the session's directory {} is not here: go where its work is, and say there"


@click.command()
@session_argument
@click.option("--to", "target", required=True, help="Who is to go on with it.",
              type=click.Choice(["claude-code", "codex", "chat", "markdown"]))  # fmt: skip
@click.option("-o", "--output", metavar="FILE", default="", help="With markdown: write it there.")
@click.option(
    "-m",
    "--model",
    metavar="MODEL",
    shell_complete=completing.models,
    default="",
    help="For the window of this model.",
)
@click.option("--raw", is_flag=True, help="Secrets too: they are masked otherwise.")
@common
def handoff(asked: Asked, session: str, target: str, output: str, model: str, raw: bool) -> None:
    """Let another program go on with a session.

    Its live window, ledger and summary are laid where that program looks for sessions, and the
    command that goes on is printed. The session itself stays as it is.
    """
    with asked.open() as hf:
        handed = hf.hand_over(find(hf, session).id, target, model=model, raw=raw)
    if target == "markdown":
        from holdfast.cli.exporting import tell, written

        written([handed.data], output)
        tell(asked, "markdown", output, handed.fidelity)
        return
    _told(asked, handed, _laid(handed) if handed.name else "")


def _laid(handed: Handed) -> str:
    from holdfast.engine.handing import put

    variable, usual = HOMES[handed.to]
    home = Path(os.environ.get(variable) or Path.home() / usual)
    return str(put(handed, home))


def _told(asked: Asked, handed: Handed, file: str) -> None:
    from holdfast.cli.terminal import emit, one_line, say
    from holdfast.exporters.fidelity import in_lines

    if asked.store and handed.to == "chat":
        command = join((*handed.command, "--store", asked.store))
    else:
        command = join(handed.command)
    there = os.path.isdir(handed.directory)
    line = f"cd {quote(handed.directory)} && {command}" if there else command
    if asked.json:
        emit({"to": handed.to, "id": handed.id, "file": file, "command": line})
        return
    if file:
        say("written to", "dim", error=True)
        say(file, "dim", error=True, whole=True)
    for told in in_lines(handed.fidelity):
        say(told, "dim", error=True)
    if not there:
        say(one_line(AWAY.format(handed.directory)), "yellow", error=True)
    say(line, whole=True)
