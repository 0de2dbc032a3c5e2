"""`holdfast doctor`: is everything as it should be, and mending what is not."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from holdfast.cli.options import Asked, common

if TYPE_CHECKING:
    from rich.table import Table

    from holdfast.engine.client import Holdfast
    from holdfast.model.store import Finding

MOST_ROWS = 40
"""How many findings a screen shows; --json gives all of them."""

PLACE = 31
"""The room for where something was found: an id of 26 letters, and an entry's number."""


@click.command()
@click.option("--repair", is_flag=True, help="Make a backup, then mend what can be mended.")
@click.option("--dry-run", is_flag=True, help="Say what --repair would do, and do nothing.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@common
def doctor(asked: Asked, repair: bool, dry_run: bool, yes: bool) -> int:
    """Examine a store: its file, the log of each session, blobs and search index.

    Ends with 0 when all is well, with 1 when findings remain.
    """
    from holdfast.cli.store.salvage import rescue
    from holdfast.errors import Corrupt

    asked.refuse_absent()
    wanted = repair and not dry_run
    try:
        with asked.open() as hf:
            findings, damage = visit(asked, hf, wanted=wanted, dry_run=dry_run, yes=yes)
    except Corrupt as damaged:
        findings, damage = (), str(damaged)
    if damage:
        if not rescue(asked, damage, wanted=wanted, yes=yes):
            return 1
        with asked.open() as hf:
            findings = examine(hf)
            tell(asked, findings)
    return 1 if findings else 0


def visit(
    asked: Asked, hf: Holdfast, *, wanted: bool, dry_run: bool, yes: bool
) -> tuple[tuple[Finding, ...], str]:
    """Examine, tell, and where it is wanted mend and examine again.

    What is left, and where mending could not help, the damage that salvaging may.
    """
    findings = examine(hf)
    mendable = [finding for finding in findings if finding.mend]
    mends = wanted and bool(mendable)
    if not (asked.json and mends):
        tell(asked, findings, dry_run=dry_run, offer=not mends)
    if not (mends and mend(asked, hf, mendable, yes=yes)):
        return findings, ""
    findings = examine(hf)
    damage = beyond_mending(findings)
    if not damage:
        tell(asked, findings)
    return findings, damage


def beyond_mending(findings: Iterable[Finding]) -> str:
    """What a store that is open cannot mend of itself; empty where there is nothing of the kind."""
    found = (one for one in findings if one.area == "database" and one.mend)
    return next((f"{one.where or 'the store'}: {one.what}" for one in found), "")


def examine(hf: Holdfast) -> tuple[Finding, ...]:
    """Everything that is not as it should be: of the store, then session by session."""
    names = ("", *hf.examinable())  # no name is the store itself
    found: dict[Finding, None] = {}
    with progress("Examining", len(names)) as advance:
        for name in names:
            found |= dict.fromkeys(hf.examine(name))
            advance()
    return tuple(found)


@contextmanager
def progress(words: str, total: int) -> Iterator[Any]:
    """A bar on the terminal while something long is done; nothing where there is no terminal."""
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
    )

    from holdfast.cli.ui.terminal import console

    screen = console(error=True)
    columns = (TextColumn(words), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=screen, transient=True, disable=not screen.is_terminal) as bar:
        task = bar.add_task(words, total=total)
        yield lambda: bar.advance(task)


def mend(asked: Asked, hf: Holdfast, mendable: Sequence[Finding], *, yes: bool) -> bool:
    """Back up, then mend; whether that was agreed to."""
    from holdfast.cli.ui.format import many, path
    from holdfast.cli.ui.terminal import agreed, busy, emit, say

    if not yes and not agreed("Make a backup and mend what can be mended?"):
        click.echo("Nothing was changed.", err=True)
        return False
    with busy("Copying"):
        backup = hf.backup()
    if not asked.json:
        say(f"Backup: {path(backup)}")
    with busy("Mending"):
        mended = hf.repair(mendable)
    if asked.json:
        emit({"backup": backup, "mended": [as_value(finding) for finding in mended]})
    else:
        say(f"Mended {many(len(mended), 'finding')}; examined again:")
    return True


def as_value(finding: Finding) -> dict[str, str]:
    """A finding as JSON."""
    return {name: getattr(finding, name) for name in finding.__struct_fields__}


def tell(
    asked: Asked, findings: Sequence[Finding], *, dry_run: bool = False, offer: bool = True
) -> None:
    """What was found, and what can be done."""
    from holdfast.cli.ui.format import many, path
    from holdfast.cli.ui.terminal import console, emit, say

    if asked.json:
        for finding in findings:
            emit(as_value(finding))
        if not findings:
            emit({"well": True, "store": asked.url})
    elif not findings:
        say(f"All is well with {path(asked.url)}", "green")
    else:
        console().print(table(findings[:MOST_ROWS]))
        mendable = sum(bool(finding.mend) for finding in findings)
        left = len(findings) - MOST_ROWS
        more = (
            f" {many(left, 'more is', 'more are')} not shown; --json gives all." if left > 0 else ""
        )
        say(f"{many(len(findings), 'finding')}, {mendable} can be mended.{more}")
        if mendable and offer:
            command = "--repair, without --dry-run," if dry_run else "holdfast doctor --repair"
            say(f"{command} makes a backup and mends them.", "dim")


def table(findings: Iterable[Finding]) -> Table:
    """Findings as rows, what would mend each beneath it."""
    from rich.table import Table
    from rich.text import Text

    from holdfast.cli.ui.terminal import NOTHING, neutral

    made = Table(box=None, pad_edge=False, header_style="dim", padding=(0, 2, 0, 0))
    made.add_column("area", no_wrap=True)
    made.add_column("where", overflow="fold", style="cyan", min_width=PLACE, max_width=PLACE)
    made.add_column("finding, and what mends it", overflow="fold")
    for finding in findings:
        mending = ("→ " + finding.mend, "green") if finding.mend else ("cannot be mended", "red")
        what = Text.assemble(neutral(finding.what), "\n", (neutral(mending[0]), mending[1]))
        made.add_row(finding.area, neutral(finding.where) or NOTHING, what)
    return made
