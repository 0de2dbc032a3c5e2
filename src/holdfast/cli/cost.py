"""`holdfast cost`: what was spent, and on what; `holdfast status-line`: the same for a prompt."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from holdfast.cli.options import Asked, common, find

if TYPE_CHECKING:
    from holdfast.engine.costs import Costs

GROUPS = ("day", "model", "session", "project", "cause")


@click.command()
@click.option("--by", type=click.Choice(GROUPS), default="day", show_default=True,
              help="How calls are grouped; a cause is a turn, a summary, notes…")  # fmt: skip
@click.option("--project", metavar="PATH", default=None, help="Only sessions of this project.")
@common
def cost(asked: Asked, by: str, project: str | None) -> None:
    """What every call has cost, those beside the turns included."""
    from holdfast.cli.terminal import emit

    with asked.open() as hf:
        found = hf.costs(by, project=project)  # type: ignore[arg-type]
    if asked.json:
        for one in found:
            emit(_value(one, by))
    else:
        _draw(found, by)


def _value(one: Costs, by: str) -> dict[str, Any]:
    usage = one.usage
    return {
        by: one.name, "calls": one.calls, "failed": one.failed, "cost_usd": one.cost / 1e9,
        "unpriced_calls": one.unpriced, "input_tokens": usage.input,
        "cache_read_tokens": usage.cache_read, "cache_write_tokens": usage.cache_write,
        "output_tokens": usage.output, "api_ms": one.milliseconds,
    }  # fmt: skip


def _draw(found: list[Costs], by: str) -> None:
    from rich.table import Table

    from holdfast.cli.terminal import fitted, print_table, say

    if not found:
        say("No call was recorded yet; s.reply(…) and holdfast chat record them.")
        return
    table = Table(box=None, pad_edge=False, header_style="dim")
    table.add_column(by)
    for name in ("calls", "fresh", "cached", "written", "output", "USD"):
        table.add_column(name, justify="right")
    for one in found:
        usage = one.usage
        numbers = (one.calls, usage.input, usage.cache_read, usage.cache_write, usage.output)
        price = f"{one.cost / 1e9:.4f}" + ("*" if one.unpriced else "")
        table.add_row(fitted(one.name, 26), *(f"{n:,}" for n in numbers), price)
    print_table(table)
    whole = sum(one.cost for one in found) / 1e9
    say(f"in all {whole:.4f} USD")
    if any(one.unpriced for one in found):
        say("* of some calls no price is known; they are not in it", "dim")


@click.command("status-line")
@click.argument("session", default="last")
@common
def status_line(asked: Asked, session: str) -> None:
    """The state of a session's window as JSON, for scripts that draw a status line."""
    from holdfast.cli.terminal import emit

    with asked.open() as hf:
        opened = hf.session(find(hf, session).id)
        emit(opened.status())
