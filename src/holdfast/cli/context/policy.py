"""`holdfast policy`: which policies there are, what one does, and which one a session has."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from holdfast.cli import completions
from holdfast.cli.app import Commands
from holdfast.cli.options import Asked, common, find, session_and
from holdfast.cli.ui.format import many, number
from holdfast.model.policy import (
    Awareness,
    Due,
    Microcompact,
    Notes,
    Policy,
    Prune,
    Summarise,
    Tail,
    Thinking,
    Truncate,
)

if TYPE_CHECKING:
    from holdfast.model.policy import Policy


class Verbs(Commands):
    """The commands behind `policy`."""

    elsewhere = {"ls": "list", "use": "set", "cat": "show"}  # noqa: RUF012 (it is never changed)


@click.group(cls=Verbs)
def policy() -> None:
    """List policies, show one, or give a session one."""


@policy.command("list")
@common
def listed(asked: Asked) -> None:
    """List the policies that come with Holdfast."""
    from rich.table import Table

    from holdfast.cli.ui.terminal import console, emit, fitted, hint, print_table
    from holdfast.engine.plugins import catalogue, policies

    known = [catalogue().policy(name) for name in policies()]
    if asked.json:
        for one in known:
            emit({"name": one.name, "about": one.about, "steps": [name for name, _ in steps(one)],
                  "prompts": list(prompts(one))})  # fmt: skip
        return
    made = Table(box=None, pad_edge=False, header_style="dim", padding=(0, 2, 0, 0))
    made.add_column("policy", no_wrap=True, style="cyan")
    made.add_column("what it does", no_wrap=True)
    room = console().width - 18 if console().is_terminal else 10_000
    for one in known:
        made.add_row(one.name, fitted(one.about, max(room, 20)))
    print_table(made)
    hint("See one with  holdfast policy show NAME")


@policy.command()
@click.argument("name", shell_complete=completions.policies)
@common
def show(asked: Asked, name: str) -> None:
    """Say what a policy does, step by step.

    NAME may be the path of a file of your own.
    """
    from holdfast.cli.ui.json_values import plain
    from holdfast.cli.ui.terminal import emit
    from holdfast.engine.plugins import catalogue

    found = catalogue().policy(name)
    if asked.json:
        emit({**plain(found), "prompts": list(prompts(found))})
        return
    _draw(found, rows(found))


def _draw(found: Policy, rows: list[tuple[str, str]]) -> None:
    from rich.table import Table
    from rich.text import Text

    from holdfast.cli.ui.terminal import console, neutral, one_line

    screen = console()
    screen.print(Text.assemble((neutral(found.name), "bold"), f"  {one_line(found.about)}"),
                 soft_wrap=not screen.is_terminal)  # fmt: skip
    card = Table.grid(padding=(0, 2, 0, 0))
    card.add_column(style="cyan", no_wrap=True, min_width=12)
    card.add_column(overflow="fold")
    for title, words in rows:
        if screen.is_terminal:
            card.add_row(title, Text(neutral(words)))
        else:
            screen.print(f"{title:<12}  {one_line(words)}", soft_wrap=True)
    if card.rows:
        screen.print(card)


@policy.command("set")
@session_and("name", shell_complete=completions.policies)
@common
def choose(asked: Asked, session: str, name: str) -> None:
    """Manage a session by another policy from here on."""
    from holdfast.cli.ui.terminal import emit, one_line, say
    from holdfast.errors import InvalidRequest

    chosen = os.path.abspath(name) if name.endswith(".toml") else name
    with asked.open() as hf:
        opened = hf.session(find(hf, session).id)
        before = opened.info.policy
        if before == chosen:
            raise InvalidRequest(
                f"{opened.id} has the policy {chosen} already; `holdfast policy list` names others"
            )
        marker = opened.set_policy(chosen)
        told: dict[str, Any] = {
            "session": opened.id, "entry": marker.seq, "policy": chosen, "before": before,
        }  # fmt: skip
    if asked.json:
        emit(told)
    else:
        say(one_line(f"{told['session']} is managed by {chosen} from entry {marker.seq} on, no "
                     f"longer by {before}."))  # fmt: skip


COUNTS = {
    "exact": "exactly, with the model's vocabulary where it is public; by estimate where not",
    "bytes/4": "a token for every four bytes",
    "chars/4": "a token for every four characters",
    "estimate": "by estimate",
    "provider": "by estimate and what earlier calls reported; where that leaves open whether all "
    "fits, the provider's endpoint is asked",
}

FAILING = {
    "extract": "a summary is made without a model",
    "keep": "all stays as it is",
    "drop": "all stays as it is; one that is told that it was too much is asked again without the "
    "oldest",
}

PARTS = {"middle": "its middle", "head": "all but its beginning", "tail": "all but its end"}


def steps(policy: Policy) -> list[tuple[str, Any]]:
    """The steps of a policy, from the cheapest to the dearest."""
    names = ("truncate", "thinking", "microcompact", "prune", "notes", "summarise", "compact")
    return [(name, rule) for name in names if (rule := getattr(policy, name)) is not None]


def prompts(policy: Policy) -> tuple[str, ...]:
    """The prompts a policy has models asked with."""
    named: list[str] = []
    for _, rule in steps(policy):
        named += [getattr(rule, field, "") for field in ("prompt", "verify")]
    return tuple(dict.fromkeys(filter(None, named)))


def rows(policy: Policy) -> list[tuple[str, str]]:
    """A policy as lines: what they are about, and what they say."""
    made = [("acts", _acts(policy)), ("counts", COUNTS[policy.counts_with])]
    made += [(name, _STEPS[type(rule)](rule, policy)) for name, rule in steps(policy)]
    made += [("shed", _shed(policy)), ("new", _new(policy))]
    if handles := _handles(policy):
        made.append(("recall", handles))
    if policy.compact_instructions:
        made.append(("dwells on", policy.compact_instructions))
    made.append(("prompts", ", ".join(prompts(policy)) or "none: no model is asked"))
    made.append(("order", ", ".join(place.section for place in policy.layout)))
    if policy.layout_compacted:
        after = ", ".join(place.section for place in policy.layout_compacted)
        made.append(("", f"once compacted: {after}"))
    return made


def _shed(policy: Policy) -> str:
    if policy.makes_room:
        return "when all that is not enough, the oldest messages leave, with handles"
    if policy.asks_before_overlong:
        return "nothing leaves by itself: what does not fit is sent if you agree"
    return "nothing leaves by itself: what does not fit is told as over"


def _new(policy: Policy) -> str:
    if policy.keeps_unread:
        return "what has arrived since the last reply stays, each result whole up to its cap"
    return "what has arrived since the last reply may leave like anything else"


def _handles(policy: Policy) -> str:
    """How a model is told that what a summary covers can be brought back."""
    rules = [rule for rule in (policy.summarise, policy.compact) if rule]
    if not rules:
        return ""
    if any(rule.ledger for rule in rules):
        return "a summary lists what is large and which names are in which entry, with handles"
    if policy.recalls:
        return "one line beside a summary says how all that it covers is brought back"
    return "nothing says how what a summary covers is brought back"


def _acts(policy: Policy) -> str:
    if policy.strategy == "off":
        return "never by itself"
    when = [
        "before the window is full" if policy.proactive else "",
        "when it is full" if policy.emergency else "",
    ]
    facts = [
        " and ".join(filter(None, when)) or "only by hand",
        "by the provider where it can" if policy.strategy == "server" else "",
        f"summaries are prepared from {policy.ahead:.0%} of their mark on" if policy.background
        else "",
        "the model is warned once before results are cleared, unless the window is full"
        if policy.warns else "",
        _aware(policy.awareness),
        f"a cache is kept warm {many(policy.keep_warm.most, 'time')} while nobody types, if it pays"
        if policy.keep_warm else "",
        "you are asked before too much is sent" if policy.asks_before_overlong else "",
        f"upkeep may take {policy.spend:.0%} of what the session costs",
        f"it rests after {many(policy.breaker, 'failure')} in a row",
    ]  # fmt: skip
    return _told(facts)


def _aware(rule: Awareness | None) -> str:
    if rule is None:
        return ""
    since = f" from {rule.since:.0%} of the room on" if rule.since else ""
    every = f", every {rule.every:.0%} more" if rule.every else ""
    return f"a model that cannot know it is told behind tools how full its window is{since}{every}"


def _told(facts: list[str]) -> str:
    return "; ".join(filter(None, facts))


def _truncate(rule: Truncate, policy: Policy) -> str:
    small = ", or an eighth of the window where that is less"
    least = f" ({number(rule.least)} tokens at least{small})" if rule.least else ""
    tokens = number(int(rule.tokens * rule.slack))
    size = number(int(rule.tokens * rule.slack) * 4)
    own = f" ({size} bytes)" if policy.counts_with == "bytes/4" else ""
    bounds = [
        f"{tokens} tokens{own}" if rule.tokens else "",
        f"{rule.share:.0%} of the window{least}" if rule.share else "",
        f"{number(int(rule.characters * rule.slack))} characters" if rule.characters else "",
        f"{number(int(rule.size * rule.slack))} bytes" if rule.size else "",
        f"{number(int(rule.lines * rule.slack))} lines" if rule.lines else "",
    ]
    over = " or ".join(filter(None, bounds))
    return _told([
        f"of a tool's output above {over} {PARTS[rule.keep]} is not shown" if over else "",
        f"what one reply called for is shown within {rule.together:.0%} of the window together"
        if rule.together else "",
    ])  # fmt: skip


def _thinking(rule: Thinking, policy: Policy) -> str:
    return _told([
        f"reasoning of finished turns leaves, but for the newest {number(rule.keep)}",
        _enough(rule.least),
        f"only after {number(rule.idle)} minutes of rest" if rule.idle else PRICED,
    ])  # fmt: skip


def _enough(least: int) -> str:
    """How much has to be freed for it to be worth it."""
    if not least:
        return ""
    return f"only if {number(least)} tokens are freed, or the window is full and fits then"


PRICED = "only where it pays, or the window is full"


def _microcompact(rule: Microcompact, policy: Policy) -> str:
    full = ", or the window is full and fits then"
    least = f" if {number(rule.least)} are freed{full}" if rule.least else ""
    theirs = ", by the provider where it can" if policy.strategy == "server" else ""
    return _told([
        f"results of {', '.join(rule.tools)} are cleared, but for the newest {number(rule.keep)}",
        f"after {number(rule.idle)} minutes of rest" if rule.idle else "",
        f"above {number(rule.trigger)} tokens{least}{theirs}" if rule.edits else "",
        "in the main conversation only",
    ])  # fmt: skip


def _prune(rule: Prune, policy: Policy) -> str:
    return _told([
        f"tool results are cleared beyond the newest {number(rule.protect)} tokens of them, or a "
        "third of the room where that is less",
        _enough(rule.least),
        f"never of the newest {many(rule.turns, 'turn')}" if rule.turns else "",
        f"never of {', '.join(rule.never)}" if rule.never else "",
        "" if rule.failed else "never what a failed call said",
        "what a later result repeats goes first" if rule.repeats else "",
        PRICED if rule.by_price else "",
    ])  # fmt: skip


def _notes(rule: Notes, policy: Policy) -> str:
    return _told([
        f"running notes are begun at {number(rule.begin)} tokens",
        f"brought up to date after {number(rule.every)} tokens more, once there were "
        f"{many(rule.calls, 'tool call')} or a reply without any",
        f"at most {number(rule.most)} tokens, {number(rule.section)} a section",
        "used in place of a summary where they are not too long",
        f"prompt {rule.prompt}",
    ])  # fmt: skip


def _summarise(rule: Summarise, policy: Policy) -> str:
    return _told([
        _due(rule.due),
        _tail(rule.tail),
        _users(rule),
        _longest(rule),
        f"{rule.names:.0%} of it lists names, by code" if rule.names else "",
        f"prompt {rule.prompt}, {FORMS[rule.form]}",
        f"of each tool result {number(rule.reads)} tokens are read" if rule.reads else "",
        _behind(rule),
        f"asked: {', then '.join(rule.models)}, {_times(rule.tries)}",
        f"checked by the prompt {rule.verify}" if rule.verify else "",
        "held against the ledger, which is laid beside it" if rule.ledger else "",
        f"where no model has one, {_failing(rule, policy)}",
        "where no model is there to ask, one is made without" if rule.failing != "extract" else "",
    ])  # fmt: skip


FORMS = {
    "transcript": "with a transcript",
    "headings": "with a transcript under the headings # USER and # ASSISTANT",
    "conversation": "behind the conversation itself",
}


def _longest(rule: Summarise) -> str:
    whole = "the slice for history" if rule.of == "history" else "the room"
    share = f"{rule.share:.0%}" if rule.share else "a sixth"
    return f"the summary takes at most {number(rule.most)} tokens or {share} of {whole}"


def _behind(rule: Summarise) -> str:
    if not rule.shares_cache:
        return ""
    when = "" if rule.form == "conversation" else "while that is cached, "
    return f"{when}put behind the turn's own request, so that its cache is read"


def _failing(rule: Summarise, policy: Policy) -> str:
    full = rule.failing == "keep" and policy.makes_room
    later = " until the window is full, and then one is made without a model" if full else ""
    return FAILING[rule.failing] + later


def _times(tries: int) -> str:
    return "once each" if tries == 1 else f"up to {many(tries, 'time')} each"


def _due(due: Due) -> str:
    marks = [
        f"{due.window:.0%} of the window is taken" if due.window else "",
        f"{due.room:.0%} of the room for a prompt is taken" if due.room else "",
        f"history takes more than {due.history:.0%} of its slice" if due.history else "",
        f"{number(due.tokens)} tokens are taken" if due.tokens else "",
        f"it pays, {due.least:.0%} of the room is taken and {due.saves:.0%} of the prompt leaves"
        if due.by_price
        else "",
    ]
    return f"when {' or '.join(filter(None, marks)) or 'asked for'}"


def _tail(tail: Tail) -> str:
    turn = ", and the turn that goes on where it fits" if tail.turn else ""
    if not tail.share:
        return f"no tail stays, but for what was just asked{turn}"
    whole = {"visible": "what is visible", "history": "the slice for history"}
    bounds = [
        f"{number(tail.least)} tokens at least, or a quarter of the room where that is less"
        if tail.least
        else "",
        f"{number(tail.most)} at most" if tail.most else "",
    ]
    told = f" ({', '.join(filter(None, bounds))})" if any(bounds) else ""
    return (
        f"the newest {tail.share:.0%} of {whole.get(tail.of, f'the {tail.of}')} stays{told}{turn}"
    )


def _users(rule: Summarise) -> str:
    amount = f"{rule.users_share:.0%} of the room" if rule.users_share else ""
    amount = amount or (f"{number(rule.users)} tokens" if rule.users else "")
    opened = "open requests" if rule.opened else ""
    most = "" if rule.users_share else " or a quarter of the room"
    kept = f"messages of the user's up to {amount}{most}" if amount else ""
    told = " and ".join(filter(None, (kept, opened)))
    cut = ", the oldest of them cut to fit" if rule.shorten and kept else ""
    return f"{told} stay word for word{cut}" if told else ""


_STEPS: dict[type, Callable[[Any, Policy], str]] = {
    Truncate: _truncate,
    Thinking: _thinking,
    Microcompact: _microcompact,
    Prune: _prune,
    Notes: _notes,
    Summarise: _summarise,
}
