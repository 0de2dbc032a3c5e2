"""What the benchmark of the summary without a model says: its tables, targets and section."""

from __future__ import annotations

from bench import page
from bench.extract import AGAIN, ALL, BUDGETS, COVERED, HALF, OURS, SHED, WAYS, WRITTEN, Result
from bench.replay import AHEAD, EVERY, MOST
from bench.table import Table, Target, count, targets

CLEARLY = 1.25
"""How many times as much as `shed` is clearly more."""


def table(result: Result, kind: str, tuning: bool = False) -> Table:
    """The share of the names that is kept, at each budget."""
    rows = [
        (
            f"**{way}**" if way in (OURS, AGAIN) else way,
            *(_share(result.mean(way, kind, budget, tuning)) for budget in BUDGETS),
        )
        for way in WAYS
    ]
    return Table((f"names {kind}", *(f"{count(budget)} tokens" for budget in BUDGETS)), rows)


def _share(value: float | None) -> str:
    return "–" if value is None else f"{value:.0%}"


def kept_targets(result: Result) -> list[Target]:
    """What must hold on transcripts that nothing was tuned with."""
    return [
        Target(f"{way}, against shed, {count(budget)} tokens", _ratio(result, way, budget), CLEARLY,
               least=True)
        for way in (OURS, AGAIN, HALF)
        for budget in BUDGETS
    ]  # fmt: skip


def _ratio(result: Result, way: str, budget: int) -> float | None:
    ours, shed = (result.mean(each, ALL, budget) for each in (way, SHED))
    return ours / shed if ours is not None and shed else None


def show(result: Result) -> None:
    """Print it."""
    for kind in (ALL, WRITTEN):
        table(result, kind).show("Held out: the share of names that is kept")
    table(result, ALL, tuning=True).show("The same, on the half that served for tuning")
    targets(kept_targets(result)).show("Targets")


def section(result: Result) -> str:
    """Its part of the page."""
    sizes = ", ".join(
        f"{cuts} in {transcripts} at {count(budget)}"
        for budget in BUDGETS
        for transcripts, cuts in [result.count(budget)]
    )
    told = _SECTION.format(
        date=result.date, ahead=AHEAD, every=EVERY, most=MOST, covered=COVERED, sizes=sizes
    )
    return "\n\n".join(
        (
            told,
            table(result, ALL).markdown(),
            table(result, WRITTEN).markdown(),
            "On the half that served for tuning:",
            table(result, ALL, tuning=True).markdown(),
            "### Targets\n\nAgainst shed, on the half that was held out, anything said.",
            targets(kept_targets(result)).markdown(),
        )
    )


def publish(result: Result) -> None:
    """Write the section of the page."""
    page.write("extract", section(result))


_SECTION = """\
## A summary without a model

Measured {date}; what is measured is no time, so it is the same on every machine.

Real sessions of Claude Code, Codex, OpenCode, Pi and Aider are cut after every {every} turns, at
most {most} times each; a turn is a reply of the model with what the tools answer. What lies before
a cut leaves the window, and so many tokens stand for it. Counted are the names in the next {ahead}
turns that had been said before the cut (paths, files, addresses, `snake_case` and `camelCase`,
hashes, codes, of six characters and more), and how many of them still stand in the window. A cut
counts where what it covers is at least {covered} times the budget (cuts in transcripts: {sizes}
tokens). Shares are means of a transcript's cuts, then of the transcripts.

- *shed* keeps the newest word for word; the first message that does not fit keeps its end.
- *extract and ledger*: quotations and an index of names as `extract` writes them when it is given
  the ledger and what is rendered of it, which takes at most 40 % of the tokens. *Again at every
  cut*: each time only from what is new and from what it wrote the time before.
- *half of each*: half the tokens for the newest word for word, half for a summary of the rest.

Whole projects were held out: no weight was chosen with these transcripts. That nothing is invented
was tested on all of them, and some rules of what is no name come from there. An index says that a
name was used, not what for: this measures what is in reach, not what is understood."""
