"""What every named policy does in the same moments, written down in tests/golden/plans.txt.

A policy is a promise: the same moment of a session always ends in the same plan. Each line is one
moment (which session, how far it has come, how full the window is, who asks), and behind it is what
leaves, what stays, and why. A change that is meant is taken over with

    python -m tests.core.test_plan_table

and its difference read before it is committed.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from holdfast.core.compaction.ladder import first_telling, next_plan
from holdfast.core.compaction.situation import Situation
from holdfast.core.tokens.calibrate import error
from holdfast.model.log import Entry, Folded, PartRef, Summary
from holdfast.model.message import Message, Reasoning, Text, ToolCall, ToolResult, seal, tool
from holdfast.model.plan import Plan
from holdfast.model.policy import Step
from holdfast.model.profile import Price, Profile
from holdfast.model.span import Span
from holdfast.model.window import Count
from holdfast.policies import policy
from holdfast.testing.factories import NOON, entry
from tests.changing import compare
from tests.core.situations import calls, result, rounds, says, situation, user

GOLDEN = Path(__file__).parents[1] / "golden" / "plans.txt"
POLICIES = (
    "holdfast", "aider", "claude-code", "claude-code@seed", "codex", "codex@seed", "gemini-cli",
    "gemini-cli@seed", "opencode", "opencode@seed",
)  # fmt: skip
PRICES = (Price(input=3_000, output=15_000, cache_read=300, cache_write=3_750),)


def test_every_policy_plans_what_is_written_down() -> None:
    compare(GOLDEN, described(), "tests.core.test_plan_table")


def described() -> str:
    """A line for each moment in which a policy does something."""
    return "".join(
        f"{name}; {story}; {moment}: {'; '.join(dict.fromkeys(plans))}\n"
        for name in POLICIES
        for story, entries in STORIES.items()
        for moment, now in _moments(name, entries)
        if (plans := [_said(plan) for plan in _plans(now)])
    )


# Sessions, as their newest entry has just come.

SIGNED = seal("anthropic", b"x", "m")


def _turn(first: int, *sizes: int) -> tuple[Entry, ...]:
    """One request, and a call and a result for each size; no reply to the last."""
    made = [user(first, f"Mend number {first}.", 200)]
    for nth, size in enumerate(sizes):
        at = first + 1 + 2 * nth
        made += [
            calls(at, f"t{at}", ("read", "bash", "edit")[nth % 3]),
            result(at + 1, f"t{at}", size),
        ]
    return tuple(made)


def _thinking(rounds: int) -> tuple[Entry, ...]:
    made: list[Entry] = []
    for n in range(rounds):
        thought = Reasoning("Hm. " * 200, SIGNED)
        call = ToolCall(f"c{n}", "Bash", '{"command": "make"}')
        made += [
            user(4 * n + 1, "Go on.", 50),
            says(4 * n + 2, thought, "I try.", call, sizes=(900, 20, 30)),
            result(4 * n + 3, f"c{n}", 2_500, "Bash", error=n % 2 == 1),
            says(4 * n + 4, thought, "Done.", sizes=(700, 10)),
        ]
    return tuple(made)


def _together(first: int) -> tuple[Entry, ...]:
    """Three calls at once, whose results are in one message."""
    asked = tuple(ToolCall(f"p{first}{n}", "grep", f'{{"pattern": "{n}"}}') for n in range(3))
    found = tuple(ToolResult(one.id, "y" * 900, name="grep") for one in asked)
    return (
        user(first, "Look.", 100),
        says(first + 1, *asked),
        entry(first + 2, tool(*found), counts=(3_000, 40, 5_000)),
        says(first + 3, "Found.", sizes=(60,)),
    )


def _pasted(first: int) -> tuple[Entry, ...]:
    body = Message("user", (Text("Read this."), Text("z" * 2_000)))
    return (entry(first, body, counts=(10, 9_000)), says(first + 1, "I have.", sizes=(40,)))


STORIES: dict[str, tuple[Entry, ...]] = {
    "five turns": rounds(4_000, 3_000, 2_000, 1_000, 500),
    "small turns": rounds(*[60] * 12),
    "one long turn": _turn(1, 3_000, 6_000, 2_000, 100, 8_000, 4_000, 700),
    "thinking": _thinking(6),
    "at once": (*_together(1), *_together(5), *_together(9), user(13, "And now?")),
    "pasted": (*_pasted(1), *_pasted(3), *rounds(800)[0:0], *_pasted(5), user(7, "So?", 3_000)),
    "a question only": (user(1, "What is this?", 12_000),),
    "turns, then a long one": (*rounds(5_000, 5_000), *_turn(9, 2_000, 2_000, 2_000)),
}


# Moments.


def _moments(name: str, entries: tuple[Entry, ...]) -> Iterator[tuple[str, Situation]]:
    tokens = 1_000 + sum(sum(one.counts) for one in entries)
    profile = Profile(name="m", window=200_000, output_limit=8_000, prices=PRICES)
    usual: dict[str, Any] = {
        "policy": policy(name), "profile": profile, "tokens": tokens, "floor": 1_000, "idle": 1_000,
    }  # fmt: skip
    for full in (0.5, 0.7, 0.85, 0.93, 1.0, 1.02, 1.6):
        room = int(tokens / full)
        for asks in (True, False):
            told = f"{full:.0%} of the room{'' if asks else ', no model'}"
            yield told, _at(entries, room, usual, asks=asks)
    room = int(tokens / 0.6)
    yield "by hand", _at(entries, room, usual, trigger="manual", forced=True)
    yield "forced", _at(entries, room, usual, forced=True)
    yield "an hour later", _at(entries, room, usual, idle=3_700_000)
    yield "from the third on", _at(entries, room, usual, trigger="manual", forced=True, since=3)
    yield "up to the fifth", _at(entries, room, usual, trigger="manual", forced=True, upto=5)
    yield "behind a summary", _behind(entries, int(tokens / 1.05), usual)
    yield "behind a summary, by hand", _behind(entries, room, usual, trigger="manual", forced=True)
    gone = tuple(PartRef(one.seq, 0) for one in entries if isinstance(one.body, Message)
                 and one.body.role == "tool")[:2]  # fmt: skip
    yield (
        "two results gone",
        _at(entries, room, {**usual, "folded": Folded(cleared=gone)}, asks=True),
    )
    undone = {**usual, "folded": Folded(unclearable=gone, shielded=(Span(1, 4),))}
    yield "undone before", _at(entries, int(tokens / 1.02), undone)
    yield (
        "more is older",
        _at(
            entries, int(tokens / 1.02), {**usual, "beyond": (Span(1, 1),), "beyond_tokens": 5_000}
        ),
    )
    yield "a larger model before", _at(entries, int(tokens / 1.01), {**usual, "previous": "larger"})


def _at(entries: tuple[Entry, ...], room: int, usual: dict[str, Any], **named: Any) -> Situation:
    now = situation(*entries, room=room, **{"asks": True, **usual, **named})
    safe = max(room - error(room), 0)
    return replace(now, safe=safe, count=Count(tokens=usual["tokens"]))


def _behind(
    entries: tuple[Entry, ...], room: int, usual: dict[str, Any], **named: Any
) -> Situation:
    """With an earlier summary in front."""
    moved = tuple(replace(one, seq=one.seq + 10) for one in entries)
    summary = Summary(covers=(Span(1, 9),), text="Earlier: much. " * 40, tokens_after=600)
    folded = Folded(summaries=(10,), visible=(Span(11),), epoch=10)
    earlier = entry(10, summary, created=NOON)
    return _at(moved, room, {**usual, "folded": folded}, summaries=(earlier,), **named)


# Plans.


def _plans(now: Situation) -> Iterator[Plan]:
    """The steps one after the other, as if each had freed nothing; by hand the dearest too."""
    taken: list[Step] = []
    while plan := next_plan(now, taken):
        taken.append(plan.step)
        yield plan
    if now.trigger == "manual":
        for noted in (False, True):
            if plan := first_telling(now, noted=noted):
                yield plan


def _said(plan: Plan) -> str:
    shown = {
        "clears": ",".join(f"{ref.seq}.{ref.ordinal}" for ref in plan.clears),
        "covers": ",".join(f"{span.first}-{span.last}" for span in plan.covers),
        "kept": ",".join(map(str, plan.kept)),
        "cut": ",".join(f"{one.seq}={one.tokens}" for one in plan.shortened),
        "asked": plan.asked, "merges": ",".join(map(str, plan.merges)), "before": plan.before,
        "stays": plan.stays, "promised": plan.promised, "most": plan.most, "frame": plan.frame,
        "pays": plan.decision and plan.decision.pays, "because": plan.reason,
    }  # fmt: skip
    facts = " ".join(f"{name}={value}" for name, value in shown.items() if value)
    return f"{plan.step} ({plan.trigger}) {facts}"


def main() -> None:
    """Write down what is planned now."""
    GOLDEN.write_text(described(), "utf-8")


if __name__ == "__main__":
    main()
