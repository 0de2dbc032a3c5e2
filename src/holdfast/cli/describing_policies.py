"""Policies in words: what each step does, with its numbers, and which prompts it has."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from holdfast.cli.wording import many, number
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

COUNTS = {
    "exact": "exactly, with the model's vocabulary where it is public",
    "bytes/4": "a token for every four bytes",
    "chars/4": "a token for every four characters",
    "estimate": "by estimate",
    "provider": "as the provider reports, by estimate until then",
}

FAILING = {
    "extract": "a summary is made without a model",
    "keep": "all stays as it is",
    "drop": "the oldest is left out, and it is asked again",
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
    made += [(name, _STEPS[type(rule)](rule)) for name, rule in steps(policy)]
    made.append(("shed", _shed(policy)))
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
        "the model is warned before anything is cleared" if policy.warns else "",
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
    return f"a model that does not know how full its window is is told behind tools{since}{every}"


def _told(facts: list[str]) -> str:
    return "; ".join(filter(None, facts))


def _truncate(rule: Truncate) -> str:
    least = f" ({number(rule.least)} tokens at least)" if rule.least else ""
    bounds = [
        f"{number(rule.tokens)} tokens" if rule.tokens else "",
        f"{rule.share:.0%} of the window{least}" if rule.share else "",
        f"{number(rule.characters)} characters" if rule.characters else "",
        f"{number(rule.size)} bytes" if rule.size else "",
        f"{number(rule.lines)} lines" if rule.lines else "",
    ]
    slack = f", if it is {rule.slack:g} times too long" if rule.slack > 1 else ""
    over = " or ".join(filter(None, bounds))
    return f"of a tool's output above {over} {PARTS[rule.keep]} is not shown{slack}"


def _thinking(rule: Thinking) -> str:
    return _told([
        f"reasoning of finished turns leaves, but for the newest {number(rule.keep)}",
        f"only if {number(rule.least)} tokens are freed" if rule.least else "",
        f"only after {number(rule.idle)} minutes of rest" if rule.idle else "",
    ])  # fmt: skip


def _microcompact(rule: Microcompact) -> str:
    return _told([
        f"results of {', '.join(rule.tools)} are cleared, but for the newest {number(rule.keep)}",
        f"after {number(rule.idle)} minutes of rest" if rule.idle else "",
        f"above {number(rule.trigger)} tokens, by the provider's cache editing where it has that"
        if rule.edits else "",
    ])  # fmt: skip


def _prune(rule: Prune) -> str:
    return _told([
        f"tool results are cleared beyond the newest {number(rule.protect)} tokens of them",
        f"only if {number(rule.least)} tokens are freed",
        f"never of the newest {many(rule.turns, 'turn')}" if rule.turns else "",
        f"never of {', '.join(rule.never)}" if rule.never else "",
        "what a later result repeats goes first" if rule.repeats else "",
        "only where it pays, or the window is full" if rule.by_price else "",
    ])  # fmt: skip


def _notes(rule: Notes) -> str:
    return _told([
        f"running notes are begun at {number(rule.begin)} tokens",
        f"brought up to date every {number(rule.every)} tokens and {many(rule.calls, 'tool call')}",
        f"at most {number(rule.most)} tokens, {number(rule.section)} a section",
        f"prompt {rule.prompt}",
    ])  # fmt: skip


def _summarise(rule: Summarise) -> str:
    whole = "the slice for history" if rule.of == "history" else "the room"
    share = f" or {rule.share:.0%} of {whole}" if rule.share else ""
    return _told([
        _due(rule.due),
        _tail(rule.tail),
        _users(rule),
        f"the summary takes at most {number(rule.most)} tokens{share}",
        f"prompt {rule.prompt}, as a {rule.form}",
        "put behind the turn's own request, so that its cache is read" if rule.shares_cache else "",
        f"asked: {', then '.join(rule.models)}, {_times(rule.tries)}",
        f"checked by the prompt {rule.verify}" if rule.verify else "",
        "held against the ledger, which is laid beside it" if rule.ledger else "",
        f"where no model has one, {FAILING[rule.failing]}",
    ])  # fmt: skip


def _times(tries: int) -> str:
    return "once each" if tries == 1 else f"up to {many(tries, 'time')} each"


def _due(due: Due) -> str:
    marks = [
        f"{due.window:.0%} of the window is taken" if due.window else "",
        f"{due.room:.0%} of the room for a prompt is taken" if due.room else "",
        f"history takes more than {due.history:.0%} of its slice" if due.history else "",
        f"{number(due.tokens)} tokens are taken" if due.tokens else "",
        f"it pays and {due.least:.0%} of the room is taken" if due.by_price else "",
    ]
    return f"when {' or '.join(filter(None, marks)) or 'asked for'}"


def _tail(tail: Tail) -> str:
    if not tail.share:
        return "no tail stays, but for what was just asked"
    whole = {"visible": "what is visible", "history": "the slice for history"}
    bounds = [
        f"{number(tail.least)} tokens at least" if tail.least else "",
        f"{number(tail.most)} at most" if tail.most else "",
    ]
    told = f" ({', '.join(filter(None, bounds))})" if any(bounds) else ""
    return f"the newest {tail.share:.0%} of {whole.get(tail.of, f'the {tail.of}')} stays{told}"


def _users(rule: Summarise) -> str:
    amount = f"{rule.users_share:.0%} of the room" if rule.users_share else ""
    amount = amount or (f"{number(rule.users)} tokens" if rule.users else "")
    opened = "open requests" if rule.opened else ""
    kept = f"messages of the user's up to {amount}" if amount else ""
    told = " and ".join(filter(None, (kept, opened)))
    cut = ", the oldest of them cut to fit" if rule.shorten and kept else ""
    return f"{told} stay word for word{cut}" if told else ""


_STEPS: dict[type, Callable[[Any], str]] = {
    Truncate: _truncate,
    Thinking: _thinking,
    Microcompact: _microcompact,
    Prune: _prune,
    Notes: _notes,
    Summarise: _summarise,
}
