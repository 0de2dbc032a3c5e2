"""`holdfast trust`: read what a project's files tell an agent, and approve it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from difflib import unified_diff
from typing import TYPE_CHECKING, Literal

import click

from holdfast.cli.options import Asked, common
from holdfast.cli.ui.terminal import agreed, emit, neutral, one_line, say
from holdfast.errors import HoldfastError, InvalidRequest

if TYPE_CHECKING:
    from holdfast.core.knowledge.instructions import InstructionFile
    from holdfast.core.knowledge.skills import Skill
    from holdfast.engine.knowledge.instructions import Instructions
    from holdfast.engine.knowledge.safe_read import SafeText

Say = Callable[[str, str], None]
"""Says a line in a style."""


@click.command("trust")
@click.argument("files", metavar="[FILE]...", nargs=-1)
@click.option("--directory", metavar="PATH", type=click.Path(exists=True, file_okay=False),
              default=".", help="The project; this one if left out.")  # fmt: skip
@click.option("--yes", is_flag=True, help="Approve what is shown without asking.")
@click.option("--decline", is_flag=True, help="Do not ask again for what these files say now.")
@click.option("--withdraw", is_flag=True, help="Take every approval of these files back.")
@common
def trust(
    asked: Asked,
    files: tuple[str, ...],
    directory: str,
    yes: bool,
    decline: bool,
    withdraw: bool,
) -> None:
    """Show what a project's instruction files and skills say, and approve it.

    An approval is of what a file says now: where it changes, it asks again. Without FILE all that
    wait are shown; one that lies outside of the project only where it is named.
    """
    from holdfast.cli.knowledge.instructions import as_value, read

    if yes + decline + withdraw > 1:
        raise InvalidRequest("--yes, --decline and --withdraw exclude each other; give one")
    if (decline or withdraw) and not files:
        raise InvalidRequest("nothing is named to be declined or withdrawn; name the files")
    made = read(directory)
    if withdraw:
        for path in files:
            made.decide(path, "withdrawn")
        made.look()
        _tell(asked, f"withdrawn: {', '.join(files)}")
    else:
        _decided(asked, made, contents(made, files), yes=yes, decline=decline)
    if asked.json:
        for one in (*made.files, *made.skills.found):
            emit(as_value(one))


def _decided(
    asked: Asked, made: Instructions, shown: dict[str, SafeText], *, yes: bool, decline: bool
) -> None:
    """Show contents, ask about them, and keep what was decided."""
    if not asked.json:
        present(made, shown, lambda words, style: say(words, style))
    if shown and decline:
        settle(made, shown, "declined")
    elif shown and (yes or agreed(question(shown))):
        settle(made, shown, "trusted")
    _tell(asked, outcome(made, shown))


def contents(made: Instructions, files: Sequence[str] = ()) -> dict[str, SafeText]:
    """What is to be shown: the files that are named, else all that wait and lie in the project."""
    if files:
        return {made.key(path): made.content(path) for path in files}
    found: dict[str, SafeText] = {}
    for one in made.waiting_for_approval:
        if one.state != "outside":
            try:
                found[one.path] = made.content(one.path)
            except (HoldfastError, OSError):  # it is gone, or was replaced, since it was found
                continue
    return found


def present(made: Instructions, shown: dict[str, SafeText], tell: Say) -> None:
    """Show each file whole, and what of it nobody would see."""
    known = {one.path: one for one in (*made.files, *made.skills.found)}
    for path, read in shown.items():
        tell("", "")
        tell(f"{path} · {_about(known.get(path))}", "bold")
        for one in read.hidden:
            tell(f"  {one.name} is hidden in it {one.times} times, first in line {one.line}",
                "yellow")  # fmt: skip
        for line in _lines(made.approved_before(path), read.text):
            tell(f"  {neutral(line)}", "")
    outside = [one for one in made.files if one.state == "outside" and one.path not in shown]
    for one in outside:
        by = f", which {one.importer} imports," if one.importer else ""
        tell(f"{one.path}{by} lies outside of the project; name it to have it shown", "yellow")


def _lines(before: str, now: str) -> Iterator[str]:
    """What is shown of a content: all of it, or where it was approved before what has changed."""
    lines = list(unified_diff(before.splitlines(), now.splitlines(), "approved", "now",
                              lineterm=""))  # fmt: skip
    return iter(lines if before and 0 < len("\n".join(lines)) < len(now) else now.splitlines())


def _about(one: InstructionFile | Skill | None) -> str:
    from holdfast.cli.ui.format import many

    if one is None:
        return "outside of what was found"
    changed = one.state == "changed" or getattr(one, "newer", False)
    since = ", changed since you approved it" if changed else ""
    return f"{one.said}, about {many(one.tokens, 'token')}{since}"


def question(shown: dict[str, SafeText]) -> str:
    """What is asked about the files that were shown."""
    from holdfast.cli.ui.format import many

    return f"Let the agent follow {'this' if len(shown) == 1 else many(len(shown), 'file')}?"


def settle(
    made: Instructions, shown: dict[str, SafeText], verdict: Literal["trusted", "declined"]
) -> None:
    """Keep what was decided about the contents that were shown."""
    for path, read in shown.items():
        made.decide(path, verdict, read)
    made.look()
    made.skills.look()


def outcome(made: Instructions, shown: dict[str, SafeText]) -> str:
    """What acts now."""
    from holdfast.cli.knowledge.instructions import summary

    if not shown and not made.waiting_for_approval:
        return "nothing waits for an approval"
    return f"now act: {summary(made) or 'none'}"


def _tell(asked: Asked, words: str) -> None:
    if not asked.json:
        say(one_line(f"{words[:1].upper()}{words[1:]}."))
