"""`holdfast handoff`: a session goes on in another program."""

from __future__ import annotations

import os
from pathlib import Path
from shlex import join, quote
from typing import TYPE_CHECKING

import click

from holdfast.cli import completions
from holdfast.cli.options import Asked, common, find, session_argument

if TYPE_CHECKING:
    from holdfast.engine.exporting.handoff import Handed

HOMES = {"claude-code": ("CLAUDE_CONFIG_DIR", ".claude"), "codex": ("CODEX_HOME", ".codex")}
"""Where programs keep their sessions: what their environment says, or a directory at home."""

AWAY = (
    "the session's directory {} is not here, and {} looks for a session by the directory it "
    "goes on in: `holdfast handoff {} --to {} --directory DIR` lays it for another one"
)
GONE = "there is no directory {}; make it, or name the one that the work goes on in"


@click.command()
@session_argument
@click.option("--to", "target", required=True, help="Who is to go on with it.",
              type=click.Choice(["claude-code", "codex", "chat", "markdown"]))  # fmt: skip
@click.option("-o", "--output", metavar="FILE", default="", help="With markdown: write it there.")
@click.option(
    "-m",
    "--model",
    metavar="MODEL",
    shell_complete=completions.models,
    default="",
    help="For the window of this model.",
)
@click.option("-d", "--directory", metavar="DIR", default="",
              help="Where it goes on, if not where it worked.")  # fmt: skip
@click.option("--raw", is_flag=True, help="Secrets too: they are masked otherwise.")
@common
def handoff(
    asked: Asked, session: str, target: str, output: str, directory: str, model: str, raw: bool
) -> None:  # fmt: skip
    """Let another program go on with a session.

    Its live window, ledger and summary are laid where that program looks for sessions, and the
    command that goes on is printed. The session itself stays as it is.
    """
    from holdfast.errors import InvalidRequest

    if directory and not os.path.isdir(directory):
        raise InvalidRequest(GONE.format(directory))
    with asked.open() as hf:
        found = find(hf, session)
        handed = hf.handoff(found.id, target, directory=directory, model=model, raw=raw)
    if target == "markdown":
        from holdfast.cli.transcripts.export import tell, written

        written([handed.data], output)
        tell(asked, "markdown", output, handed.fidelity)
        return
    _told(asked, handed, _laid(handed) if handed.name else "", found.id)


def _laid(handed: Handed) -> str:
    from holdfast.engine.exporting.handoff import put

    variable, usual = HOMES[handed.to]
    home = Path(os.environ.get(variable) or Path.home() / usual)
    return str(put(handed, home))


def _told(asked: Asked, handed: Handed, file: str, session: str) -> None:
    from holdfast.cli.ui.terminal import emit, one_line, say
    from holdfast.exporters.fidelity import in_lines

    if asked.store and handed.to == "chat":
        command = join((*handed.command, "--store", asked.store))
    else:
        command = join(handed.command)
    there = os.path.isdir(handed.directory)
    line = f"cd {quote(handed.directory)} && {command}" if there else command
    if asked.json:
        emit({"to": handed.to, "id": handed.id, "file": file, "command": line,
              "directory": handed.directory, "there": there})  # fmt: skip
        return
    if file:
        say("written to", "dim", error=True)
        say(file, "dim", error=True, whole=True)
    for told in in_lines(handed.fidelity):
        say(told, "dim", error=True)
    if not there:
        away = AWAY.format(handed.directory, handed.to, session, handed.to)
        say(one_line(away), "yellow", error=True)
    say(line, whole=True)
