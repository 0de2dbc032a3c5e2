"""Which step is next: the cheapest that is due, as a policy has them, and by whom it is taken."""

from typing import get_args

import pytest
from msgspec.structs import replace

from holdfast.core.compaction import ladder
from holdfast.core.compaction.ladder import first_telling, next_plan
from holdfast.core.compaction.situation import Situation
from holdfast.model.log import Entry, Trigger
from holdfast.model.plan import Plan
from holdfast.model.policy import Microcompact, Policy, Prune, Step, Summarise
from holdfast.model.profile import Profile
from tests.core.situations import PLAIN, rounds, situation, user

PRUNES = replace(PLAIN, prune=Prune(protect=0, least=0, turns=0))


@pytest.mark.seed("004", 33, 190, 191)
@pytest.mark.parametrize(
    ("over", "proactive", "emergency", "acts"),
    [
        (False, True, True, True), (False, True, False, True), (False, False, True, False),
        (True, True, True, True), (True, False, True, True), (True, True, False, False),
    ],
)  # fmt: skip
def test_a_policy_acts_before_the_window_is_full_or_when_it_is_as_it_says(
    over: bool, proactive: bool, emergency: bool, acts: bool
) -> None:
    policy = replace(PRUNES, proactive=proactive, emergency=emergency)
    now = situation(*rounds(900, 900), user(9), policy=policy, over=over)
    assert bool(next_plan(now)) == acts


@pytest.mark.seed("000", 96, 200)
@pytest.mark.seed("001", 56, 67)
@pytest.mark.parametrize("over", [False, True])
def test_a_policy_that_is_off_acts_by_hand_only(over: bool) -> None:
    policy = replace(PRUNES, strategy="off", proactive=False, emergency=False)
    now = situation(*rounds(900, 900), user(9), policy=policy, over=over)
    assert next_plan(now) is None
    assert next_plan(replace(now, policy=replace(policy, proactive=True, emergency=True))) is None
    assert next_plan(replace(now, trigger="manual", forced=True)) is not None


def test_a_step_that_was_taken_is_not_taken_again() -> None:
    policy = replace(PRUNES, microcompact=Microcompact(tools=("read",), keep=0, idle=1))
    now = situation(*rounds(900, 900), user(9), policy=policy, idle=9**9)
    taken: list[Step] = []
    while plan := next_plan(now, taken):
        taken.append(plan.step)
    assert taken == ["microcompact", "prune"]


class Steps:
    """Stands in for the planners: those of these names have a plan."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, *due: Step) -> None:
        made = {name: (lambda _, name=name: plan(name) if name in due else None) for name in ALL}
        monkeypatch.setattr(ladder, "STEPS", made)


ALL: tuple[Step, ...] = ("thinking", "microcompact", "prune", "notes", "summarise", "compact")


def test_each_step_of_a_policy_is_planned_by_what_has_its_name_the_cheapest_first() -> None:
    assert get_args(Step) == (*ALL, "shed")  # which is no step of a ladder
    assert [(step, made.__name__) for step, made in ladder.STEPS.items()] == [
        (step, step) for step in ALL
    ]


def noted(*entries: Entry, over: bool = False) -> Situation:
    """A situation in which there are running notes."""
    return replace(situation(*entries, over=over), notes=user(1))


def plan(step: Step) -> Plan:
    return Plan(step=step, epoch=0, before=1, promised=1)


def chosen(now: Situation, *taken: Step) -> str:
    found = next_plan(now, taken)
    return found.step if found else ""


@pytest.mark.seed("000", 155, 167, 177)
@pytest.mark.seed("001", 2, 145)
@pytest.mark.parametrize("first", range(len(ALL)))
def test_the_cheapest_comes_first(monkeypatch: pytest.MonkeyPatch, first: int) -> None:
    Steps(monkeypatch, *ALL[first:])
    assert chosen(noted(user(1))) == ALL[first]
    without = [step for step in ALL[first:] if step != "notes"]
    assert chosen(situation(user(1))) == without[0]


@pytest.mark.seed("001", 62)
@pytest.mark.parametrize("told", ["notes", "summarise", "compact"])
def test_one_summary_is_enough_for_a_window_unless_it_is_over_still(
    monkeypatch: pytest.MonkeyPatch, told: Step
) -> None:
    Steps(monkeypatch, "notes", "summarise", "compact")
    rest = [step for step in ("notes", "summarise", "compact") if step != told]
    assert chosen(noted(user(1)), told) == ""
    assert chosen(noted(user(1), over=True), told) == rest[0]
    Steps(monkeypatch, *ALL)
    assert chosen(noted(user(1)), told) == "thinking"


@pytest.mark.parametrize(
    ("over", "trigger", "ours"),
    [(False, "auto", False), (True, "auto", True), (False, "manual", True)],
)
@pytest.mark.parametrize("step", ["thinking", "microcompact", "summarise", "compact"])
def test_what_a_provider_does_itself_is_ours_only_where_it_must_be(
    monkeypatch: pytest.MonkeyPatch, step: Step, over: bool, trigger: Trigger, ours: bool
) -> None:
    Steps(monkeypatch, step)
    able = frozenset({"context_editing", "server_compaction"})
    profile = Profile(name="m", window=200_000, provider="anthropic", abilities=able)  # type: ignore[arg-type]
    policy: Policy = replace(PLAIN, strategy="server")
    now = situation(
        user(1), policy=policy, profile=profile, over=over, trigger=trigger,
        forced=trigger == "manual",
    )  # fmt: skip
    assert bool(chosen(now)) == ours
    assert chosen(replace(now, policy=PLAIN)) == step
    assert chosen(replace(now, profile=Profile(name="m", window=200_000))) == step


def test_by_hand_the_dearest_summary_that_a_policy_has_is_made(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(ladder, "compact", lambda _: plan("compact"))
    monkeypatch.setattr(ladder, "summarise", lambda _: plan("summarise"))
    both = replace(PLAIN, summarise=Summarise(), compact=Summarise())
    made = {policy: first_telling(situation(user(1), policy=policy)) for policy in (PLAIN, both)}
    assert [one.step for one in made.values() if one] == ["summarise", "compact"]
    monkeypatch.setattr(ladder, "compact", lambda _: None)
    found = first_telling(situation(user(1), policy=both))
    assert found
    assert found.step == "summarise"
