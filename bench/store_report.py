"""What the store's benchmark says: its tables, targets, picture and section of the page."""

from __future__ import annotations

from pathlib import Path

from bench import page, picture
from bench.contenders import HOLDFAST, RAW
from bench.corpus import MEAN, payload
from bench.measure import ratio
from bench.opening import FLOOR
from bench.store import AGENTS, LANGGRAPH, SHORT, SMALL, Result
from bench.table import Table, Target, cell, count, digits, spread, targets, times

PICTURE = page.PICTURES / "store.svg"


def append_table(result: Result) -> Table:
    """A durable turn, at each length."""
    lengths = sorted(result.append)
    names = [name for name in result.append[result.longest] if name != SHORT]
    heading = ("a durable turn", *map(count, lengths), f"p10 – p90 at {count(result.longest)}")
    rows = [
        (
            _strong(name),
            *(cell(result.append[n].get(name), result.append[n][RAW]) for n in lengths),
            spread(result.append[result.longest][name]),
        )
        for name in names
    ]
    return Table(heading, rows)


def size_table(result: Result) -> Table:
    """The file against its payload, at each length."""
    lengths = sorted(result.bytes)
    names = [name for name in result.bytes[result.longest] if name != RAW]
    payloads = [f"{count(n)} ({digits(payload(n) / 1e6)} MB)" for n in lengths]
    rows = [(_strong(name), *(_times(result.size(n, name)) for n in lengths)) for name in names]
    return Table(("file size ÷ payload", *payloads), rows)


def opening_table(result: Result) -> Table:
    """Opening the longest session, here and in a new process."""
    rows = [
        (_strong(name), cell(result.opening[name], result.opening[FLOOR]),
         spread(result.opening[name]), cell(result.cold.get(name), result.cold.get(FLOOR)))
        for name in result.opening
    ]  # fmt: skip
    seen = f"opening {count(result.longest)} messages, {result.plan.window} visible"
    return Table((seen, "store open", "p10 – p90", "new process"), rows)


def kept_targets(result: Result) -> list[Target]:
    """What must hold, and whether it does."""
    last = result.append[result.longest]
    found = [
        Target(f"a turn against raw rows, {count(n)} messages", _against(result, n, RAW), 1.3)
        for n in sorted(result.append)
    ]
    found += [
        Target(
            f"a turn against SQLiteSession, {count(n)} messages", _against(result, n, AGENTS), 0.75
        )
        for n in sorted(result.append)
    ]
    flat = f"a turn at {count(result.longest)} messages against {count(SMALL)}, same rounds"
    found.append(Target(flat, ratio(last[HOLDFAST], last.get(SHORT)), 1.2))
    size = f"file against payload, {count(result.longest)} messages, no search index"
    found.append(Target(size, result.size(result.longest, HOLDFAST), 1.5))
    opened = ratio(result.opening[HOLDFAST], result.opening[FLOOR])
    found.append(Target(f"opening, {result.plan.window} messages visible", opened, 1.5))
    return found


def _against(result: Result, length: int, name: str) -> float | None:
    return ratio(result.append[length][HOLDFAST], result.append[length].get(name))


def show(result: Result) -> None:
    """Print it."""
    append_table(result).show("A durable turn (× raw apsw writing the same rows)")
    size_table(result).show("File size against payload")
    opening_table(result).show("Opening")
    targets(kept_targets(result)).show("Targets")


def draw(result: Result, path: Path = PICTURE) -> None:
    """The picture: a turn over the length of the session, and sizes."""
    lines = {
        name: [
            (n, median * 1000)
            for n, taken in sorted(result.append.items())
            if name in taken and (median := taken[name].median) is not None
        ]
        for name in result.append[result.longest]
        if name != SHORT
    }
    sizes = {
        name: much
        for name in result.bytes[result.longest]
        if name not in (RAW, LANGGRAPH) and (much := result.size(result.longest, name)) is not None
    }
    titles = (
        "A durable turn: question and answer",
        f"File size ÷ payload, {count(result.longest)} messages",
    )
    picture.draw(lines, sizes, titles, path, HOLDFAST, RAW)


def section(result: Result) -> str:
    """Its part of the page."""
    plan = result.plan
    parts = [
        f"## The store\n\nMeasured {result.date} on {page.facts(result.machine)}",
        f"![A durable turn over the length of a session, and file sizes](pictures/{PICTURE.name})",
        _TURN.format(
            mean=MEAN / 1000, rounds=plan.rounds, in_a_row=plan.in_a_row, budget=plan.budget
        ),
        append_table(result).markdown(),
        _SIZE,
        size_table(result).markdown(),
        _OPENING.format(window=plan.window),
        opening_table(result).markdown(),
        "### Targets",
        targets(kept_targets(result)).markdown(),
    ]
    return "\n\n".join(parts)


def _strong(name: str) -> str:
    return f"**{name}**" if name == HOLDFAST else name


def _times(value: float | None) -> str:
    return "–" if value is None else times(value)


_TURN = """\
### A durable turn

A session of so many messages (an agent's mix of questions, answers and tool output, {mean:.2f}
kB in the mean) is made first. A turn appends a question of 200 characters and an answer of 1.5
kB, each durable when its call returns. Holdfast is used through `holdfast.open`; parts, ids,
hashes and the token estimate of each part are part of the time. In brackets: times the raw
rows. {rounds} samples of {in_a_row} turns in a row each, fewer for who is slow, with
{budget:.0f} s of appending for each contender at each length.

- *raw apsw, same rows* is the floor: the very rows that Holdfast writes, into a copy of its
  file, with the same settings of the connection (WAL, `synchronous=FULL`). Ids, JSON, hashes,
  estimates and places are made beforehand; nothing is read or checked. Two transactions of two
  inserts and an update are what is left.
- *JSONL + fsync* writes a line and syncs the file, twice.
- *LangGraph* writes whole states: a turn is one invoke of a graph with one node, seeded in one
  write. Grown turn by turn its file takes the square of the length.
- *google-adk* was seeded with copies of a row that it had written itself, and turns go through
  its service.
- The libraries are used as they come, through their documented calls."""

_SIZE = """\
### File size

The closed file after seeding, against the bytes of text in it. Holdfast's has no search index
yet: that one fills when it is first asked. What a short session's file has more is the empty
schema."""

_OPENING = """\
### Opening a long session

The newest {window} messages are visible, a summary stands for the rest. Holdfast opens the
session by its id, folds its markers and reads what is visible as values. The floor reads those
rows, whose place it was told, and decodes them to the same values. The new process is shown for
information: both pay for the interpreter and the imports."""


def publish(result: Result) -> None:
    """Write the picture and the section."""
    draw(result)
    page.write("store", section(result))
