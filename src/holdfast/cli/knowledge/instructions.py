"""`holdfast instructions`: which instruction files and skills act here, where from, and why."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import click

from holdfast.cli.options import Asked, common

if TYPE_CHECKING:
    from holdfast.core.knowledge.instructions import InstructionFile
    from holdfast.core.knowledge.skills import Skill
    from holdfast.engine.knowledge.instructions import Instructions

STYLES = {"loaded": "", "waiting": "dim", "refused": "red", "declined": "dim"}
"""How states are drawn; those that ask for an approval are yellow."""


@click.command("instructions")
@click.argument("path", type=click.Path(exists=True, file_okay=False), default=".")
@click.option("--touch", "touched", metavar="FILE", multiple=True,
              help="As it is once this file was read or changed; again for more files."
)  # fmt: skip
@common
def instructions(asked: Asked, path: str, touched: tuple[str, ...]) -> None:
    """List the instruction files and skills for work in PATH: which act, how large, and why."""
    from holdfast.cli.ui.terminal import emit

    made = read(path, *touched)
    found = (*made.files, *index_of_notes(made), *made.skills.found)
    if asked.json:
        for one in found:
            emit(as_value(one))
        return
    _draw(made, found)


def read(path: str, *touched: str) -> Instructions:
    """The instruction files of a directory, for a command."""
    from holdfast.engine.bridge import drive
    from holdfast.engine.engine import in_place
    from holdfast.engine.knowledge.instructions import instructions

    made = drive(instructions(path, "", in_place))
    if touched:
        made.touch(*touched)
        made.look()
    return made


def index_of_notes(made: Instructions) -> Iterator[InstructionFile]:
    """The index of the project's notes, where notes are on and there is one."""
    from holdfast.core.knowledge.instructions import InstructionFile
    from holdfast.core.knowledge.notes import INDEX, bounded
    from holdfast.core.tokens.estimate import estimate
    from holdfast.engine.knowledge.project import main_worktree, memory_directory
    from holdfast.engine.knowledge.safe_read import read_text
    from holdfast.engine.settings import settings
    from holdfast.errors import Unsafe
    from holdfast.files import Root

    chosen = settings().memory
    root = main_worktree(made.root) if chosen.share_worktrees else made.root
    place = memory_directory(root)
    with suppress(OSError, Unsafe):
        read = read_text(Root(place), INDEX) if chosen.enabled else None
        if read and (text := bounded(read.text)):
            yield InstructionFile(
                level="memory", path=str(place / INDEX), place=str(place / INDEX), state="loaded",
                why="notes are on", tokens=estimate(text), digest=read.digest,
            )  # fmt: skip


def as_value(one: InstructionFile | Skill) -> dict[str, Any]:
    """A file as JSON: every key, always."""
    return {
        "level": getattr(one, "level", "skill"),
        "path": one.path,
        "file": one.place,
        "state": one.state,
        "why": one.why,
        "tokens": one.tokens,
        "sha256": one.digest or None,
        "paths": list(getattr(one, "paths", ())),
        "imported_by": getattr(one, "importer", "") or None,
        "changed_since_approved": one.state == "changed" or getattr(one, "newer", False),
        "hidden": {each.name: each.times for each in one.hidden},
    }


def summary(made: Instructions) -> str:
    """How much acts, in a line; empty where there is nothing."""
    from holdfast.cli.ui.format import many

    usable = [one for one in made.skills.found if one.acts]
    files = made.loaded
    parts = [
        f"{many(len(files), 'instruction file')}, about "
        f"{many(sum(one.tokens for one in files), 'token')}" if files else "",
        many(len(usable), "skill") if usable else "",
    ]  # fmt: skip
    return " · ".join(filter(None, parts))


def waiting(made: Instructions, do: str) -> str:
    """Which files do not act before they are approved, and how that is done; empty for none."""
    from holdfast.cli.ui.format import many

    asks = made.waiting_for_approval
    if not asks:
        return ""
    names = ", ".join(one.path for one in asks[:3])
    more = f" and {len(asks) - 3} more" if len(asks) > 3 else ""
    verb = "waits" if len(asks) == 1 else "wait"
    return f"{many(len(asks), 'file')} {verb} for your approval: {names}{more}; {do}"


def _draw(made: Instructions, found: Sequence[InstructionFile | Skill]) -> None:
    from rich.table import Table

    from holdfast.cli.ui.format import number
    from holdfast.cli.ui.terminal import one_line, print_table, say

    if not found:
        say("There is no instruction file and no skill here; AGENTS.md would be one.")
        return
    table = Table(box=None, pad_edge=False, header_style="dim", padding=(0, 2, 0, 0))
    table.add_column("level", no_wrap=True)
    table.add_column("file", overflow="fold")
    table.add_column("tokens", justify="right", no_wrap=True)
    table.add_column("acts", no_wrap=True)
    table.add_column("why", overflow="fold")
    for one in found:
        state = "yes" if one.acts else one.state
        style = "yellow" if one.asks else STYLES.get(one.state, "")
        newer = "; it has changed since" if getattr(one, "newer", False) else ""
        why = one_line(f"{one.why}{newer}{_hidden(one)}")
        table.add_row(getattr(one, "level", "skill"), one_line(one.path), number(one.tokens),
                      state, why, style=style)  # fmt: skip
    print_table(table)
    say(summary(made) or "Nothing acts.")
    if told := waiting(made, "`holdfast trust` shows what they say and asks"):
        say(told, "yellow")


def _hidden(one: InstructionFile | Skill) -> str:
    from holdfast.cli.ui.format import many

    times = sum(each.times for each in one.hidden)
    names = ", ".join(each.name for each in one.hidden[:3])
    return f"; {many(times, 'hidden character')} ({names})" if times else ""
