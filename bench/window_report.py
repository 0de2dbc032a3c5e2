"""What the window's benchmark says: its tables, targets, picture and section of the page."""

from __future__ import annotations

from pathlib import Path

from bench import crowded, page, picture
from bench.contenders import HOLDFAST, RAW
from bench.corpus import MEAN
from bench.crowded import APPROXIMATE
from bench.measure import ratio
from bench.table import Table, Target, cell, count, spread, targets
from bench.window import EXACT, FRESH, HELD, Result, short

PICTURE = page.PICTURES / "window.svg"
OURS = (FRESH, HELD)


def table(result: Result) -> Table:
    """Preparing a turn, at each length."""
    lengths = sorted(result.taken)
    last = result.taken[result.longest]
    names = [name for name in last if name not in map(short, OURS)]
    heading = ("preparing a turn", *map(count, lengths), f"p10 – p90 at {count(result.longest)}")
    rows = [
        (
            f"**{name}**" if name in OURS else name,
            *(cell(result.taken[n].get(name), result.taken[n][RAW]) for n in lengths),
            spread(last[name]),
        )
        for name in names
    ]
    return Table(heading, rows)


def kept_targets(result: Result) -> list[Target]:
    """What must hold, and whether it does."""
    last, long = result.taken[result.longest], count(result.longest)
    found = [
        Target(f"{name}, against the floor, {count(n)}", ratio(taken[name], taken[RAW]), 3)
        for n, taken in sorted(result.taken.items())
        for name in OURS
    ]
    brief = count(min(result.taken))
    found += [
        Target(f"{name}, {long} against {brief}", ratio(last[name], last.get(short(name))), 1.3)
        for name in OURS
    ]
    for peer, least in ((APPROXIMATE, 10), (EXACT, 1_000)):
        found += [
            Target(f"{name}, faster than {peer}, {long}", ratio(last.get(peer), last[name]), least,
                   least=True)
            for name in OURS
        ]  # fmt: skip
    return [*found, crowded.target(result.fitted)] if result.fitted else found


def show(result: Result) -> None:
    """Print it."""
    table(result).show("Preparing a turn (× the floor)")
    if result.fitted:
        crowded.table(result.fitted).show("What is left of conversations full of tool output")
    targets(kept_targets(result)).show("Targets")


def draw(result: Result, path: Path = PICTURE) -> None:
    """The picture: a turn over the length of the history, and how large trimmed prompts are."""
    lines = {
        name: [
            (n, median * 1000)
            for n, taken in sorted(result.taken.items())
            if name in taken and (median := taken[name].median) is not None
        ]
        for name in result.taken[result.longest]
        if name not in map(short, OURS)
    }
    most = {
        FRESH if name == HOLDFAST else name: max(tokens) / crowded.ROOM
        for name, tokens in _fitted(result).tokens.items()
        if tokens
    }
    titles = ("Preparing a turn, 128k tokens", "Largest of 30 trimmed prompts ÷ 128k tokens")
    picture.draw(lines, most, titles, path, FRESH, RAW)


def section(result: Result) -> str:
    """Its part of the page."""
    longest = result.longest
    told = _TURN.format(
        mean=MEAN / 1000, rounds=result.plan.rounds, budget=result.plan.budget,
        messages=result.messages[longest], size=result.bytes[longest] / 1000,
    )  # fmt: skip
    return "\n\n".join(
        (
            f"## The window\n\nMeasured {result.date} on {page.facts(result.machine)}",
            "![Preparing a turn over the length of the history, and the sizes of trimmed "
            f"prompts](pictures/{PICTURE.name})",
            told, table(result).markdown(),
            _CROWDED, crowded.table(_fitted(result)).markdown(),
            "### Targets", targets(kept_targets(result)).markdown(),
        )
    )  # fmt: skip


def _fitted(result: Result) -> crowded.Fitted:
    return result.fitted or crowded.Fitted({})


_TURN = """\
### Preparing a turn

A session of so many messages (questions, answers that call tools, and tool output, {mean:.2f} kB in
the mean) and a model whose prompt may take 128,000 tokens. Between rounds an answer and a question
are appended, outside the clock. A turn is prepared by counting what is new, exactly; choosing what
is shown; checking every rule of the provider; and writing the request: at the end {messages}
messages, {size:.0f} kB of JSON. When the room is full Holdfast goes back to three quarters of it,
once for many turns, so that what is cached stays cached. In brackets: times the floor. {rounds}
rounds, fewer for who is slow, with {budget:.0f} s for each at each length.

- *opened for it*: the session is opened by its id, asked for its window and request, and forgotten.
  *held open*: the same session object prepares turn after turn, and has read all but the newest.
  Nothing is summarised, so that the window stays full: the steps of the policy are switched off,
  and what planning them takes is measured by itself.
- *raw apsw, same rows* is the floor: it reads rows and their stored counts newest first until the
  room is taken, through the same connection settings, and writes the request. It is told how much
  room there is and what stands around the conversation; it counts, checks and remembers nothing.
  Both must make the same bytes, and that is checked.
- *trim_messages* and *token_counter* begin with the whole conversation in memory, in their own
  classes; reading it from disk is not in their time, and neither is writing a request.
  `token_counter` only counts."""

_CROWDED = """\
### Does it fit?

Thirty conversations in which tools print JSON, terminal output, Chinese and base64, 600 messages
each, made to fit 128,000 tokens. What is left is counted exactly, with o200k_base."""


def publish(result: Result) -> None:
    """Write the picture and the section."""
    draw(result)
    page.write("window", section(result))
