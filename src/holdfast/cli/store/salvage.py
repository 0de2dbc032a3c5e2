"""When a store cannot be opened or mended: what is left of it, in a fresh file at its place."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from holdfast.cli.options import Asked

if TYPE_CHECKING:
    from holdfast.model.store import Salvaged

QUESTION = "Put what can be read into a fresh file? The damaged one is kept beside it."
OFFER = (
    "`holdfast doctor --repair` puts what can be read into a fresh file, and keeps the damaged one"
)


def rescue(asked: Asked, damage: str, *, wanted: bool, yes: bool) -> bool:
    """Offer to salvage the store, and where it is wanted do it; whether it was done."""
    from holdfast.cli.ui.terminal import agreed, busy, emit, say
    from holdfast.engine.plugins import salvage
    from holdfast.errors import Corrupt

    if not wanted:
        raise Corrupt(f"{damage.partition('; ')[0]}; {OFFER}")
    if not asked.json:
        say(damage.partition("; ")[0], "red")
    if not yes and not agreed(QUESTION):
        click.echo("Nothing was changed.", err=True)
        return False
    with busy("Salvaging"):
        done = salvage(asked.url)
    if asked.json:
        emit({"damaged": done.damaged, "kept": dict(done.kept), "lost": list(done.lost)})
    else:
        tell(done)
    return True


def tell(done: Salvaged) -> None:
    """What was kept, what was not, and where the damaged file is."""
    from holdfast.cli.ui.format import many, path
    from holdfast.cli.ui.terminal import say

    kept = [many(done.kept.get(table, 0), table, table) for table in ("sessions", "entries")]
    say(f"Salvaged {' with '.join(kept)}.", "green")
    for what in done.lost:
        say(f"  Lost: {what}", "yellow")
    if not done.lost:
        say("Nothing is missing.")
    say(f"The damaged file is kept: {path(done.damaged)}")
