"""`holdfast cost`: what was spent, and on what; `holdfast status-line`: the same for a prompt."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

import click

from holdfast.cli import completions
from holdfast.cli.options import Asked, common, completed, find, session_argument
from holdfast.cli.ui.format import many

if TYPE_CHECKING:
    from rich.table import Table

    from holdfast.engine.client import Holdfast
    from holdfast.engine.usage.costs import Costs
    from holdfast.model.window import BudgetSnapshot

GROUPS = (
    "minute", "hour", "day", "week", "month", "block", "model", "session", "project", "agent",
    "cause",
)  # fmt: skip

NAME = 26
"""How many columns the name of a group takes at most."""


@click.command()
@click.option("--by", type=click.Choice(GROUPS), default="day", show_default=True,
              help="How calls are grouped; a block is five hours, a cause a turn, a summary…"
)  # fmt: skip
@click.option("--session", metavar="SESSION", default="", shell_complete=completed,
              help="Only calls of this session.")  # fmt: skip
@click.option("--project", metavar="PROJECT", default=None, shell_complete=completions.projects,
              help="Only sessions of this project: a path, or its name.")  # fmt: skip
@click.option("--agent", metavar="NAME", default="", shell_complete=completions.agents,
              help="Only sessions of this program, as claude-code, or holdfast.")  # fmt: skip
@click.option("--since", metavar="DAY", default="", help="Only from this day on, as 2026-03-31.")
@click.option("--until", metavar="DAY", default="", help="Only up to this day, and with it.")
@click.option("--models", is_flag=True, help="Each group by model as well.")
@common
def cost(
    asked: Asked,
    by: str,
    session: str,
    project: str | None,
    agent: str,
    since: str,
    until: str,
    models: bool,
) -> None:
    """What every call has cost, those beside the turns included.

    A block begins with a call and lasts five hours, as the allowance of some subscriptions does; it
    is shown with what an hour costs.
    """
    from holdfast.cli.days import times
    from holdfast.cli.name_filters import check_agent, named_project
    from holdfast.cli.ui.terminal import console, emit, say
    from holdfast.cli.usage.burn_rate import rates, running

    with asked.open() as hf:
        one = find(hf, session).id if session else ""
        of = None if project is None else named_project(hf, project)
        if agent:
            check_agent(hf, agent, ours=True)
        found = hf.costs(by, project=of, agent=agent, session=one, **times(since, until))  # type: ignore[arg-type]
        shot = hf.session(one).snapshot() if one else None
        names = _titles(hf, found) if by == "session" and console().is_terminal else {}
    if asked.json:
        for group in found:
            more = _work(shot) if shot and by == "session" else {}
            emit(_value(group, by) | more | (rates(group) if by == "block" else {}))
    else:
        narrowed = bool(session or of or agent or since or until)
        _draw(found, by, names, models=models, narrowed=narrowed)
        if by == "block" and (words := running(found)):
            say(words)
        if shot:
            say(worked(shot))


def _work(shot: BudgetSnapshot) -> dict[str, int]:
    return {
        "lines_added": shot.lines_added,
        "lines_removed": shot.lines_removed,
        "active_ms": shot.session_duration_ms,
    }


def worked(shot: BudgetSnapshot) -> str:
    """What was done, and how long it took: silences of more than five minutes left out.

    How long models took is left out where nobody has told it, as most transcripts do not."""
    times = (shot.api_duration_ms, shot.session_duration_ms)
    api, active = (str(timedelta(seconds=ms // 1_000)) for ms in times)
    lines = f"{many(shot.lines_added, 'line')} added, {shot.lines_removed:,} removed"
    if not shot.session_duration_ms:  # one moment, or a program that records no times
        return lines if not shot.api_duration_ms else f"{lines} · calls of models took {api}"
    if not shot.api_duration_ms:
        return f"{lines} · {active} active"
    if shot.api_duration_ms > shot.session_duration_ms:  # at the same time, or beside the turns
        return f"{lines} · {active} active · calls of models took {api} together"
    return f"{lines} · models took {api} of {active} active"


def money_of(cost: int, unpriced: int, calls: int) -> str:
    """What some calls cost, and of how many no price is known; unknown where of none it is."""
    if unpriced and unpriced >= calls:
        return "cost unknown"
    more = f" and {many(unpriced, 'call')} of unknown price" if unpriced else ""
    return f"${cost / 1e9:.4f}{more}"


def spent_in_words(shot: BudgetSnapshot) -> str:
    """What a session has cost; unknown where no price is known of any of its calls."""
    if shot.unpriced_calls and not shot.session_cost_usd:
        return "cost unknown"
    more = " and calls of unknown price" if shot.unpriced_calls else ""
    return f"${shot.session_cost_usd:.4f}{more}"


def _value(one: Costs, by: str) -> dict[str, Any]:
    usage = one.usage
    told = {
        by: one.name, "calls": one.calls, "failed": one.failed,
        "cost_usd": one.cost / 1e9 if one.cost or not one.unpriced else None,
        "unpriced_calls": one.unpriced, "input_tokens": usage.input,
        "cache_read_tokens": usage.cache_read, "cache_write_tokens": usage.cache_write,
        "output_tokens": usage.output, "api_ms": one.milliseconds,
    }  # fmt: skip
    if by != "model":
        told["models"] = [_value(model, "model") for model in one.models]
    return told


def _titles(hf: Holdfast, found: list[Costs]) -> dict[str, str]:
    """Each session by as much of its id as is needed, and how it is called."""
    from holdfast.cli.sessions.list import opening, shortened
    from holdfast.cli.ui.terminal import fitted

    known = {one.id: one for one in hf.every_session()}
    short = shortened(hf, [one.name for one in found if one.name in known])
    return {id: fitted(f"{begun} {known[id].title or opening(hf, known[id])}", NAME)
            for id, begun in short.items()}  # fmt: skip


def _draw(
    found: list[Costs], by: str, names: dict[str, str], *, models: bool, narrowed: bool
) -> None:
    from msgspec.structs import replace
    from rich.table import Table

    from holdfast.cli.ui.terminal import print_table, say
    from holdfast.cli.usage.burn_rate import hourly
    from holdfast.engine.usage.costs import total

    if not found:
        bring = "holdfast import brings those of other agents, holdfast chat makes some"
        say("No call of that was recorded." if narrowed else f"No call was recorded yet; {bring}.")
        return
    table = Table(box=None, pad_edge=False, header_style="dim")
    table.add_column(by, no_wrap=True)
    for name in ("calls", "fresh", "cached", "written", "output", "USD"):
        table.add_column(name, justify="right")
    if by == "block":
        table.add_column("USD/h", justify="right")
    for one in found:
        rate = (hourly(one),) if by == "block" else ()
        _row(table, replace(one, name=names.get(one.name, one.name)), *rate)
        for model in one.models if models else ():
            _row(table, model, within="  ")
    whole = total(found)
    _row(table, whole, style="bold")
    print_table(table)
    if whole.unpriced:
        calls = "1 call" if whole.unpriced == 1 else f"{whole.unpriced:,} calls"
        say(f"* no price is known of {calls}: what they cost is not in it", "dim")


def _row(table: Table, one: Costs, *more: str, within: str = "", style: str = "") -> None:
    from holdfast.cli.ui.format import number, rounded
    from holdfast.cli.ui.terminal import is_narrow, short

    tokens = rounded if is_narrow() else number
    used = (one.usage.input, one.usage.cache_read, one.usage.cache_write, one.usage.output)
    price = f"{one.cost / 1e9:.4f}" + ("*" if one.unpriced else "")
    if one.unpriced and one.unpriced >= one.calls:
        price = "unknown*"
    named = within + short(one.name, NAME - len(within))
    table.add_row(named, number(one.calls), *map(tokens, used), price, *more, style=style)


@click.command("status-line")
@session_argument
@common
def status_line(asked: Asked, session: str) -> None:
    """The state of a session's window as JSON, for scripts that draw a status line."""
    from holdfast.cli.ui.terminal import emit

    with asked.open() as hf:
        opened = hf.session(find(hf, session).id)
        emit(opened.status())
