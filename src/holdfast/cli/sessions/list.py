"""`holdfast sessions`: what there is, newest first, a page at a time."""

from __future__ import annotations

import shlex
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from itertools import islice, takewhile
from typing import TYPE_CHECKING, Any

import click

from holdfast.cli import completions
from holdfast.cli.options import COUNTABLE, Asked, common, completed, find

if TYPE_CHECKING:
    from rich.table import Table

    from holdfast.engine.client import Holdfast
    from holdfast.model.log import SessionInfo
    from holdfast.model.reply import Spent

SCREENFUL, STEP, ALL = 20, 1_000, 1 << 60
"""How many a terminal lists, how many are read at a time, and how many a pipe gets."""

TITLE = 200
"""So many letters of a title are in a line of a pipe; the rest of it is in `--json`."""

SORTS = ("time", "cost", "size")
"""What sessions can be listed by."""

SHORTEST = 8
"""How much of an id is shown at least; more where that would fit two sessions."""

WIDE = 72
"""With fewer columns than this there is no room for the program or the model."""

ROOMY, NAME = 100, 12
"""With fewer columns than this, projects and models are cut to so many letters."""


@click.command()
@click.option("--limit", metavar="N", type=click.IntRange(1, COUNTABLE), default=None,
              help="How many to list: 20 on a terminal, otherwise all.")  # fmt: skip
@click.option("--after", metavar="SESSION", default="", shell_complete=completed,
              help="Go on behind this one, the last of the page before.")  # fmt: skip
@click.option(
    "--project",
    metavar="PROJECT",
    shell_complete=completions.projects,
    help="Only sessions of this project: a path, or its name in the list.",
)
@click.option(
    "--agent",
    metavar="NAME",
    shell_complete=completions.agents,
    default="",
    help="Only imported from this program.",
)
@click.option("--since", metavar="DAY", default="",
              help="Only those that changed from this day on, as 2026-03-31 or 7d.")  # fmt: skip
@click.option("--sort", type=click.Choice(SORTS), default="time", show_default=True,
              help="What comes first: the newest, the dearest, or what has most entries."
)  # fmt: skip
@click.option("--archived", is_flag=True, help="Those that were put away instead.")
@common
def sessions(
    asked: Asked, limit: int | None, after: str, project: str | None, agent: str, since: str,
    sort: str, archived: bool,
) -> None:  # fmt: skip
    """List sessions, the one that changed last first.

    In a pipe each is a line of its own: id, title, project, model, entries, when it changed and
    what it cost in dollars, with tabs between them.
    """
    from holdfast.cli.name_filters import check_agent, named_project
    from holdfast.cli.ui.terminal import console, hint, say
    from holdfast.engine.bridge import drive
    from holdfast.engine.usage.costs import spent_on

    screen = console().is_terminal and not asked.json
    with asked.open() as hf:
        root = None if project is None else named_project(hf, project)
        many = limit or (SCREENFUL if screen else ALL)
        if agent:
            check_agent(hf, agent)
        costs = drive(spent_on(hf.engine))
        listed = partial(_listed, hf, root, since=since, archived=archived, agent=agent)
        found = _in_order(listed, find(hf, after) if after else None, many, sort, costs)
        page = tuple(islice(found, many))
        more = next(found, None) is not None
        if screen and page:
            draw(hf, page, {one.id: opening(hf, one) for one in page}, costs, dear=sort == "cost")
        elif page or asked.json:
            write(hf, page, costs, as_json=asked.json)
        elif since and not after:
            say(f"No session changed since {since}; without --since there may be some.")
        else:
            explain_nothing(asked, root, archived=archived, after=after, agent=agent)
        if more and not asked.json:
            given = _again(agent=agent, project=project, since=since, sort=sort)
            last = shortened(hf, [page[-1].id])[page[-1].id]
            again = f"holdfast sessions {given}--after {last}{asked.again}"
            say(f"… more: {again}", "dim", error=True)
        if screen and page:
            hint(f"See one with  holdfast show SESSION{asked.again}")


def _again(**options: str | None) -> str:
    """The options that were given, as they are typed again."""
    given = ((name, value) for name, value in options.items() if value and value != "time")
    return "".join(f"--{name} {shlex.quote(value)} " for name, value in given)


def _listed(
    hf: Holdfast, project: str | None, after: SessionInfo | None, many: int, *, since: str,
    archived: bool, agent: str,
) -> Iterator[SessionInfo]:  # fmt: skip
    """All of them, behind one; read as many at a time as are wanted, or a thousand."""
    from holdfast.cli.days import times

    step, first = min(many, STEP), times(since, "").get("since", 0)
    while page := hf.sessions(project=project, archived=archived, limit=step, after=after):
        for one in page:
            if one.updated < first:
                return
            if not agent or one.agent.lower() == agent.lower():
                yield one
        after = page[-1]


def _in_order(
    listed: Callable[[SessionInfo | None, int], Iterator[SessionInfo]],
    behind: SessionInfo | None,
    many: int,
    sort: str, costs: Mapping[str, Spent],
) -> Iterator[SessionInfo]:  # fmt: skip
    """What is listed behind one; by time no more of it is read than is wanted."""
    if sort == "time":
        return listed(behind, many + 1)
    return _behind(ordered(listed(None, STEP), sort, costs), behind)


def ordered(
    found: Iterable[SessionInfo], sort: str, costs: Mapping[str, Spent]
) -> Iterator[SessionInfo]:
    """The dearest first, or those with the most entries; of equal ones the newest."""

    def weight(one: SessionInfo) -> tuple[int, int]:
        spent = costs.get(one.id)
        return (spent.cost if spent else 0) if sort == "cost" else one.head, one.updated

    return iter(sorted(found, key=weight, reverse=True))


def _behind(found: Iterator[SessionInfo], behind: SessionInfo | None) -> Iterator[SessionInfo]:
    """What comes after one."""
    if behind:
        for one in found:
            if one.id == behind.id:
                break
    return found


def opening(hf: Holdfast, session: SessionInfo) -> str:
    """How one without a title began."""
    return "" if session.title else hf.opening(session)


def write(
    hf: Holdfast, page: tuple[SessionInfo, ...], costs: Mapping[str, Spent], *, as_json: bool
) -> None:
    """A line for each, for a program to read."""
    from holdfast.cli.ui.format import moment
    from holdfast.cli.ui.terminal import emit, one_line, write_line

    for one in page:
        words, spent = opening(hf, one), costs.get(one.id)
        if as_json:
            unpriced = spent.unpriced if spent else 0
            known = not (spent and unpriced and unpriced >= spent.calls)
            cost = (spent.cost / 1e9 if spent else 0.0) if known else None
            costs_and_lines = {"cost_usd": cost, "unpriced_calls": unpriced, **_lines(hf, one)}
            emit({**as_value(one), "opening": words, **costs_and_lines})
            continue
        title = one.title or words
        title = title if len(title) <= TITLE else f"{title[: TITLE - 1].rstrip()}…"
        facts = (one.id, title, one.project, one.model, str(one.head))
        write_line("\t".join((*map(one_line, facts), moment(one.updated), cost_of(spent))))


def _lines(hf: Holdfast, session: SessionInfo) -> dict[str, int]:
    """The lines that what was recorded of files added and removed."""
    from holdfast.engine.bridge import drive
    from holdfast.engine.usage.status_line import lines_of

    causes = ("tool", "command", "recording", "hook")
    counted = lines_of(hf.engine.store.files, session.id, causes=causes, after=session.fork)
    added, removed = drive(counted)
    return {"lines_added": added, "lines_removed": removed}


def as_value(session: SessionInfo) -> dict[str, Any]:
    """A session as JSON: every key, always."""
    names = (
        "id", "title", "project", "directory", "model", "policy", "agent", "parent", "fork",
        "created", "updated", "compacted", "archived", "head",
    )  # fmt: skip
    return {name: getattr(session, name) for name in names}


def cost_of(spent: Spent | None) -> str:
    """What a session cost in dollars: with * where some prices are unknown, ? where all are."""
    if spent is None or not spent.calls:
        return "–"
    if spent.unpriced == spent.calls:
        return "?"
    return f"{spent.cost / 1e9:.2f}{'*' if spent.unpriced else ''}"


def draw(
    hf: Holdfast, page: tuple[SessionInfo, ...], openings: dict[str, str],
    costs: Mapping[str, Spent], *, dear: bool,
) -> None:  # fmt: skip
    """A table that fits; what each cost, and its lines, are in it where there is room."""
    from holdfast.cli.ui.terminal import console, print_table

    short = shortened(hf, [one.id for one in page])
    columns = console().width
    lines = {one.id: lines_in_words(_lines(hf, one)) for one in page} if columns >= ROOMY else {}
    print_table(table(page, short, openings, costs, columns, dear=dear, lines=lines))


def lines_in_words(known: Mapping[str, int]) -> str:
    """The lines that were added to files and removed, as a diff counts them."""
    added, removed = known["lines_added"], known["lines_removed"]
    return f"+{added} -{removed}" if added or removed else ""


def table(
    page: tuple[SessionInfo, ...], short: dict[str, str], openings: dict[str, str],
    costs: Mapping[str, Spent], columns: int, *, dear: bool,
    lines: Mapping[str, str],
) -> Table:  # fmt: skip
    """Sessions as rows; the title takes what room is left."""
    from rich.table import Table
    from rich.text import Text

    from holdfast.cli.ui.format import ago, number, short_model, short_project
    from holdfast.cli.ui.terminal import NOTHING, fitted

    more = _columns(page, columns)
    room = NAME if columns < ROOMY else 40
    made = Table(box=None, pad_edge=False, expand=True, header_style="dim",
                 padding=(0, 2, 0, 0))  # fmt: skip
    made.add_column("session", no_wrap=True, style="cyan")
    made.add_column("title", ratio=1, no_wrap=True)
    made.add_column("project", no_wrap=True)
    for name in more:
        made.add_column(name, no_wrap=True)
    made.add_column("entries", no_wrap=True, justify="right")
    priced = columns >= ROOMY or dear
    if priced:
        made.add_column("USD", no_wrap=True, justify="right")
    lined = any(lines.values())
    if lined:
        made.add_column("lines", no_wrap=True, justify="right")
    made.add_column("changed", no_wrap=True)
    for one in page:
        project = fitted(short_project(one), room) or NOTHING
        title = fitted(one.title or openings[one.id], 200) or NOTHING
        known = {"program": one.agent, "model": short_model(one.model)}
        made.add_row(
            short[one.id], Text(title, style="" if one.title else "italic"), project,
            *(fitted(known[name], room) or NOTHING for name in more), number(one.head),
            *((cost_of(costs.get(one.id)),) if priced else ()),
            *((lines.get(one.id, ""),) if lined else ()), ago(one.updated),
        )  # fmt: skip
    return made


def _columns(page: tuple[SessionInfo, ...], columns: int) -> tuple[str, ...]:
    """What else is told of each: the program where any was imported, and the model, or as much of
    that as there is room for."""
    told = ("program", "model") if any(one.agent for one in page) else ("model",)
    return told if columns >= ROOMY else told[:1] if columns >= WIDE else ()


def shortened(hf: Holdfast, ids: list[str]) -> dict[str, str]:
    """Each id as far as it is needed to name the session among all of the store."""
    known = sorted(id.upper() for id in hf.examinable() or [one.id for one in hf.every_session()])
    return {id: id[: max(SHORTEST, _needed(id.upper(), known))] for id in ids}


def _needed(id: str, known: list[str]) -> int:
    """How many letters tell an id from those beside it, and so from all others."""
    at = bisect_left(known, id)
    beside = (*known[max(at - 1, 0) : at], *known[at + 1 : at + 2])
    same = (sum(1 for _ in takewhile(_equal, zip(id, other, strict=False))) for other in beside)
    return 1 + max(same, default=0)


def _equal(pair: tuple[str, str]) -> bool:
    return pair[0] == pair[1]


def explain_nothing(
    asked: Asked, project: str | None, *, archived: bool, after: str, agent: str
) -> None:
    """The first screen of an empty store, or why a page of a full one is empty."""
    from holdfast.cli.ui.format import path
    from holdfast.cli.ui.terminal import say

    if after:
        say("No more sessions.")
    elif archived:
        say("No session is archived; `holdfast archive SESSION` puts one away.")
    elif agent and project is not None:
        say(f"No session of {path(project)} is from {agent}.")
    elif project is not None:
        say(f"No session of {path(project)}; `holdfast sessions` lists those of every project.")
    else:
        say(first_screen(path(asked.url)))


def first_screen(where: str) -> str:
    """What to do with a store that holds nothing yet."""
    return f"""\
No sessions yet in {where}

To bring those of Claude Code, Codex, Gemini CLI, OpenCode, Aider and others:

  holdfast import

To see one being made, in a store that is gone afterwards:

  holdfast demo

To keep your own, in any Python program:

  import holdfast

  with holdfast.open() as hf:
      session = hf.session(directory=".", title="My first session")
      session.user("Fix the login handler")     # on disk when it returns

Then  holdfast sessions  lists it, and  holdfast show last  shows it."""
