"""A plan as people look at it before they let it happen: what stays, what leaves, what it costs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from holdfast.cli.context.compaction_line import ASKED, WHY, paid, spent
from holdfast.cli.context.fullness import change
from holdfast.cli.ui.entry_text import spans
from holdfast.cli.ui.format import many, money, number
from holdfast.cli.ui.json_values import dollars, plain
from holdfast.cli.ui.terminal import fitted, neutral, one_line
from holdfast.model.span import Span, without

if TYPE_CHECKING:
    from holdfast.engine.compaction.focus import Focus
    from holdfast.engine.compaction.forecast import Outlook
    from holdfast.model.decision import Decision
    from holdfast.model.ledger import Retention, State
    from holdfast.model.plan import Plan

Row = tuple[str, str, str]
"""What a line is about, what it says, and how it is coloured."""

FOUND = 4
"""How many missing or changed items are named where the whole list was not asked for."""

LONG = 52
"""How much of a path is shown: what fits beside the rest of its line."""

MISSING = "missing: the summary does not name it; it stays in the log, one recall of its #N away"

QUOTED = "no model writes this summary: what has these words is quoted first"


@dataclass(frozen=True)
class Shown:
    """A plan with what is said about it."""

    plan: Plan
    outlook: Outlook
    window: int
    """What the window takes now."""
    room: int
    holds: int
    """What the window holds, reply included; 0 where nobody knows."""
    priced: bool
    """Whether the model has a price; otherwise the decision is in tokens."""
    asked: str
    """What --focus says."""
    written: Focus
    """What the project's instruction file says."""

    @property
    def after(self) -> int:
        """What the window will take."""
        return max(self.window - self.outlook.leaves + self.outlook.comes, 0)


def verdict(shown: Shown) -> Iterator[Row]:
    """What a plan comes down to: whether it is worth it, what stays, and what can be had back."""
    plan, found = shown.plan, shown.outlook
    yield "verdict", _verdict(shown), "bold"
    yield "why now", WHY[plan.trigger] if plan.reason in ("", ASKED) else plan.reason, ""
    stays = many(found.kept_messages, "message")
    if plan.clears:
        yield "does", f"{many(len(plan.clears), 'output')} cleared, each behind a handle", ""
    else:
        told = many(found.told_messages, "message")
        yield "does", f"a summary for {told}, {_written(plan)}; {stays} stay word for word", ""
    if plan.report:
        yield "ledger", in_sight(plan.report.counts, "holdfast recall SESSION '#N'"), ""
    yield from _focus(shown)
    for one in plan.objections:
        yield "objected", f"{one.why}{f': {one.text}' if one.text else ''}", "yellow"


def _verdict(shown: Shown) -> str:
    sizes = f"about {change(shown.window, shown.after, shown.holds)}"
    decision = shown.plan.decision
    if decision is None:
        return sizes
    worth = "it pays" if decision.pays else "it does not pay"
    gain, price = _amount(decision.gain, shown.priced), _amount(decision.price, shown.priced)
    return f"{worth}: saves {gain} in about {many(decision.turns, 'call')}, costs {price} · {sizes}"


def _written(plan: Plan) -> str:
    """Who wrote the summary, and for how much."""
    if not plan.model:
        return "written without a model"
    return f"written by {plan.model} for {paid(plan.model, plan.cost)}"


def in_sight(counts: Mapping[State, int], recall: str) -> str:
    """What becomes of the facts of the session; none of them is gone."""
    away = counts["recoverable"] + counts["missing"]
    told = f"{many(counts['retained'], 'fact')} in sight"
    if away:
        told += f", {number(away)} one recall away"
    if counts["missing"]:
        told += f" ({number(counts['missing'])} of them not named in the summary: `{recall}`)"
    if counts["changed"]:
        told += f", {number(counts['changed'])} changed since"
    return told


def rows(shown: Shown, *, whole: bool) -> Iterator[Row]:
    """The lines of a plan in full; `whole` names every item that is missing or changed."""
    plan = shown.plan
    yield "step", _step(plan), ""
    yield from _stays(shown)
    yield from _leaves(shown)
    yield "window", _window(shown), "bold"
    if plan.decision:
        yield "price", _price(plan, plan.decision, shown.priced), ""
    yield from _focus(shown)
    yield from _ledger(plan, whole=whole)
    for one in plan.objections:
        yield "objected", f"{one.why}{f': {one.text}' if one.text else ''}", "yellow"


def _step(plan: Plan) -> str:
    if plan.clears:
        return f"{plan.step}, by the policy {plan.policy}"
    calls = f" in {many(plan.calls, 'call')}, {paid(plan.model, plan.cost)}" if plan.calls else ""
    writer = f"by {plan.model}" if plan.model else "without a model"
    return f"{plan.step}, by the policy {plan.policy}; written {writer}{calls}"


def _stays(shown: Shown) -> Iterator[Row]:
    found, kept = shown.outlook, shown.plan.kept
    tokens = max(shown.window - found.leaves, 0)
    inside = f", with {', '.join(f'#{seq}' for seq in kept)} word for word" if kept else ""
    outside = without(found.kept, tuple(Span(seq, seq) for seq in kept))
    where = f": {spans(outside)}{inside}" if outside else inside
    words = f"{many(found.kept_messages, 'message')}{where}"
    yield "kept", f"{words}; {number(tokens)} tokens with what surrounds them", "green"


def _leaves(shown: Shown) -> Iterator[Row]:
    found, plan = shown.outlook, shown.plan
    shrunk = f"{number(found.leaves)} → {number(found.comes)} tokens"
    if plan.clears:
        parts = many(len(plan.clears), "part")
        yield "cleared", f"{parts} in {spans(found.cleared)}; {shrunk}, with handles", "yellow"
        return
    merges = ", ".join(f"#{seq}" for seq in plan.merges)
    carried = f", and carries on the summary of {merges}" if merges else ""
    where = f"{plan.covers[0].first}–{plan.covers[-1].last}" if plan.covers else ""
    words = f"{many(found.told_messages, 'message')} of {where}{carried}; {shrunk}"
    yield "summarised", words, "magenta"


def _window(shown: Shown) -> str:
    return f"about {change(shown.window, shown.after, shown.holds)}"


def _price(plan: Plan, decision: Decision, priced: bool) -> str:
    """The numbers a compaction was decided by, in words."""
    gain, price = _amount(decision.gain, priced), _amount(decision.price, priced)
    saves = (
        f"saves {gain}: about {many(decision.saved, 'token')} fewer in each of about "
        f"{many(decision.turns, 'call')} to come"
    )
    asks = "the summary is asked for" if plan.calls else ""
    anew = f"{many(decision.rewritten, 'token')} are written to the cache anew"
    if decision.cold or not decision.rewritten or decision.because.startswith("nothing"):
        anew = decision.because
    because = "" if anew == decision.because else f", since {decision.because}"
    verdict = "It pays" if decision.pays else "It does not pay"
    told = ", and ".join(filter(None, (asks, anew)))
    return f"{saves}; costs {price}: {told}. {verdict}{because}."


def _amount(nano: int, priced: bool) -> str:
    return money(nano) if priced else f"the price of {many(nano, 'token')}"


def _focus(shown: Shown) -> Iterator[Row]:
    quoted = "" if shown.plan.model else f" ({QUOTED})"
    if shown.asked:
        yield "focus", f"{one_line(shown.asked)}{quoted}", ""
    if shown.written.text:
        told = fitted(shown.written.text, 120)
        yield "focus", f"{shown.written.file} says: {told}{quoted}", ""


def _ledger(plan: Plan, *, whole: bool) -> Iterator[Row]:
    """What becomes of what the ledger knows."""
    if plan.report is None:
        return
    counts = plan.report.counts
    lost = counts["missing"] + counts["changed"]
    told = " · ".join(f"{number(n)} {state}" for state, n in counts.items())
    yield "ledger", told, "yellow" if lost else "green"
    if counts["missing"]:
        yield "", MISSING, "dim"
    found = (*plan.report.of("missing"), *plan.report.of("changed"))
    for item in found if whole else found[:FOUND]:
        yield item.state, _item(item), "yellow"
    if not whole and len(found) > FOUND:
        yield "", f"… {number(len(found) - FOUND)} more; --details names them all", "dim"


def _item(item: Retention) -> str:
    known = item.text.strip() in item.why
    why = f" ({fitted(item.why, 80)})" if item.why and not known else ""
    text = _end(item.text) if item.kind == "file" else fitted(item.text, 100)
    return f"#{item.seq} {item.kind}: {text}{why}"


def _end(path: str) -> str:
    """The end of a path, which is what tells it from others."""
    line = one_line(path)
    return line if len(line) <= LONG else f"…{line[1 - LONG :]}"


def draw(lines: Iterable[Row]) -> None:
    """Print lines of a plan: wrapped beside what they are about, in a pipe one a line."""
    from rich.table import Table
    from rich.text import Text

    from holdfast.cli.ui.terminal import console

    card = Table.grid(padding=(0, 2, 0, 0))
    card.add_column(style="dim", no_wrap=True, min_width=10)
    card.add_column(overflow="fold")
    for title, words, style in lines:
        if console().is_terminal:
            card.add_row(title, Text(neutral(words), style))
        else:
            console().print(f"{title:<10}  {one_line(words)}", soft_wrap=True)
    if card.rows:
        console().print(card)


def draw_text(plan: Plan) -> None:
    """Print the summary that is to stand for what leaves, and what is laid beside it."""
    from rich.padding import Padding
    from rich.text import Text

    from holdfast.cli.ui.entry_text import Piece
    from holdfast.cli.ui.entry_view import stream
    from holdfast.cli.ui.terminal import console

    screen = console()
    for title, text in (
        ("Summary", plan.summary), ("Beside it", plan.ledger), ("And to be recalled", plan.expand),
    ):  # fmt: skip
        if not text:
            continue
        screen.print(Text(title, "bold"))
        if screen.is_terminal:
            screen.print(Padding(Text(neutral(text)), (0, 0, 1, 2)))
        else:
            stream(Piece(f"{text}\n", indent=2, body=True))


def as_value(shown: Shown, session: str, marker: int | None) -> dict[str, Any]:
    """A plan as JSON: every key, always; money in US dollars."""
    plan, found = shown.plan, shown.outlook
    report, cost = plan.report, spent(plan.model, plan.cost)
    return {
        "session": session,
        "marker": marker,
        "step": plan.step,
        "trigger": plan.trigger,
        "policy": plan.policy,
        "model": plan.model,
        "calls": plan.calls,
        "cost_usd": None if cost is None else dollars(cost),
        "covers": plain(plan.covers),
        "kept": plain(found.kept),
        "clears": plain(plan.clears),
        "merges": plain(plan.merges),
        "messages": {"kept": found.kept_messages, "summarised": found.told_messages},
        "tokens": {"leave": found.leaves, "come": found.comes},
        "window": {
            "before": shown.window,
            "after": shown.after,
            "window": shown.holds,
            "room": shown.room,
        },
        "decision": decision_value(plan.decision, shown.priced),
        "retention": plain(report.counts) if report else None,
        "missing": plain(report.of("missing")) if report else [],
        "changed": plain(report.of("changed")) if report else [],
        "objections": plain(plan.objections),
        "focus": {"asked": shown.asked, "file": shown.written.file, "written": shown.written.text},
        "reason": plan.reason,
        "summary": plan.summary,
        "ledger": plan.ledger,
        "expand": plan.expand,
    }


def decision_value(decision: Decision | None, priced: bool) -> dict[str, Any] | None:
    """A decision as JSON; without a price its two amounts are in tokens."""
    if decision is None:
        return None
    told = plain(decision)
    gain, price = told.pop("gain"), told.pop("price")
    return {
        **told,
        "gain_usd": dollars(gain) if priced else None,
        "price_usd": dollars(price) if priced else None,
        "gain_tokens": None if priced else gain,
        "price_tokens": None if priced else price,
    }
