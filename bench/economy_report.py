"""What the benchmark of bills and shares says: its table, picture, targets and section."""

from __future__ import annotations

from typing import Any

from bench import page, picture
from bench.economy import MODEL, OURS, WEAK, WINDOWS, Result, share
from bench.table import Table
from bench.used import AHEAD

PICTURE = page.PICTURES / "economy.svg"
BILL, KEPT = "bill", "in the window"


def table(result: Result, window: int) -> Table:
    """Bill and share of every policy in one window: all, then tuned on and held out."""
    heading = ("policy", BILL, "of which summaries", KEPT, "tuned on", "held out", "steps")
    rows = [_row(result, name, window) for name in result.policies]
    return Table(heading, rows)


def _row(result: Result, name: str, window: int) -> tuple[str, ...]:
    whole, *halves = (result.of(name, window, half) for half in (None, True, False))
    told = f"**{name}**" if name == OURS else name
    return (
        told,
        f"${whole.nano / 1e9:.2f}",
        f"${whole.upkeep / 1e9:.2f}",
        _percent(share(whole)),
        *(f"${half.nano / 1e9:.2f} · {_percent(share(half))}" for half in halves),
        ", ".join(f"{step} {times}" for step, times in whole.steps.items()) or "–",
    )


def _percent(value: float) -> str:
    return f"{value * 100:.1f} %"


def lacking(result: Result, window: int, half: bool | None = None) -> list[str]:
    """Where we are not both cheaper and hold more: each policy, and by how much."""
    ours = result.of(OURS, window, half)
    found: list[str] = []
    for name in result.policies:
        theirs = result.of(name, window, half)
        if name == OURS or not theirs.replies:
            continue
        if theirs.nano <= ours.nano:
            found.append(f"`{name}` costs {theirs.nano / ours.nano * 100:.0f} % of our bill")
        if share(theirs) >= share(ours):
            found.append(f"`{name}` holds {_percent(share(theirs))}")
    return found


def show(result: Result) -> None:
    """On the terminal."""
    for window in _windows(result):
        table(result, window).show(f"{window:,} tokens")
        for half, name in ((None, "all"), (True, "tuned on"), (False, "held out")):
            told = "; ".join(lacking(result, window, half)) or "cheapest, and holds most"
            print(f"{name}: {told}")


def _windows(result: Result) -> list[int]:
    return sorted({run.window for run in result.runs})


def publish(result: Result) -> None:
    """Into the page, with the picture."""
    draw(result)
    page.write("economy", section(result))


NOTES = f"""\
- Summaries are written without a model, by the same code for all. The call that a model would have
  been asked with is charged all the same: all it would read, and one summary as its output, for
  policies that ask a weaker model first at the prices of {WEAK}. Where a policy asks behind the
  conversation itself, that is read from the cache. What is refused and asked again is not charged.
- What a policy would have the provider do is done by the client. Claude Code's running notes are
  left out; they would add to its bill. Where Aider would ask before an overlong send, the oldest is
  shed. `gemini-cli@seed` compacts nothing and is left out.
- Projects are by turns tuned on and held out. Two of those held out were in view all the same: the
  steps were first tried on `cli/98`, and how much of the user's words stays was weighed with
  `openprintkit` as well, whose bill is the largest.
- A name in a list counts like one in its text: this measures what is in reach, not what is
  understood. And nobody answers otherwise because something left: a model that has to look again
  for what was cleared would pay for it, under every policy.
- A model's own summary would list fewer names than ours without one does: for the other policies
  the share is what it can be at best. `holdfast` has names listed by code whoever writes the prose.
"""
"""What to know before the numbers are believed."""


def section(result: Result) -> str:
    """The section of the page."""
    tables = "\n\n".join(
        f"A window of {window:,} tokens:\n\n{table(result, window).markdown()}\n\n"
        f"{_verdict(result, window)}"
        for window in WINDOWS
    )
    runs = [run for run in result.runs if (run.policy, run.window) == (OURS, WINDOWS[0])]
    replies = sum(run.replies for run in runs)
    held = sum(not run.tuning for run in runs)
    return f"""
## What a policy costs, and what it keeps

{len(runs)} public transcripts ({held} of them held out from tuning) with {replies:,} replies are
replayed under every policy. At each reply the window is prepared, its request written and charged:
the prices of {MODEL}, a cache that is read at a tenth and written at one and a quarter of the price
of input, lives for five minutes by the transcript's own clock, and ends behind breakpoints as the
provider has it. The share is of the identifiers, paths and sentences of the user's that had been
said before and that the reply and the next {AHEAD} turns use: how many of them the window still
shows, taken at every {result.every}. reply.

{NOTES}
![Bill and share of every policy](pictures/economy.svg)

{tables}

Measured on {result.date}: `python -m bench economy`.
"""


def _verdict(result: Result, window: int) -> str:
    halves = ((None, "all"), (True, "those tuned on"), (False, "those held out"))
    told: list[str] = []
    for half, name in halves:
        found = lacking(result, window, half)
        wins = "`holdfast` has the lowest bill and holds the most"
        told.append(f"Of {name}: {'; '.join(found) if found else wins}.")
    return " ".join(told)


def draw(result: Result) -> None:
    """Every policy as a point: what it costs, and what it holds; one panel for each window."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    with matplotlib.rc_context(picture.SETTINGS):
        figure, panels = pyplot.subplots(1, len(WINDOWS), figsize=(11, 4.6), layout="constrained")
        figure.patch.set_facecolor("white")
        for axes, window in zip(panels, WINDOWS, strict=True):
            _points(axes, result, window)
        PICTURE.parent.mkdir(parents=True, exist_ok=True)
        figure.savefig(PICTURE, format="svg", metadata={"Date": None})
        pyplot.close(figure)
    picture.tidy(PICTURE)


def _points(axes: Any, result: Result, window: int) -> None:
    for name in result.policies:
        run = result.of(name, window)
        x, y = run.nano / 1e9, share(run) * 100
        ours = name == OURS
        axes.scatter([x], [y], s=70 if ours else 36, color=picture.OURS if ours else "#2e86ab")
        axes.annotate(name, (x, y), textcoords="offset points", xytext=(6, 4), fontsize=8)
    axes.set_title(f"{window:,} tokens", loc="left", fontsize=11)
    axes.set_xlabel("bill, US dollars")
    axes.set_ylabel("of what later turns use, in the window, %")
    axes.margins(x=0.2, y=0.1)
    axes.grid(alpha=0.25)
