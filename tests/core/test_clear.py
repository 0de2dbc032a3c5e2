"""What clearing plans: exactly which parts leave, at each limit one below, at it, and one above."""

from typing import Any

import pytest
from msgspec.structs import replace

from holdfast.core.compaction.clear import WARNING, kind, microcompact, prune, thinking, warned
from holdfast.core.compaction.situation import Situation
from holdfast.model.log import Folded, PartRef
from holdfast.model.message import Message, Opaque, Reasoning
from holdfast.model.plan import Plan
from holdfast.model.policy import Microcompact, Policy, Prune, Thinking
from holdfast.model.profile import Price, Profile
from holdfast.testing.factories import entry
from tests.core.situations import PLAIN, calls, result, rounds, says, situation, user

MINUTE = 60_000


def policy(**steps: Any) -> Policy:
    return replace(PLAIN, **steps)


def cleared(plan: Plan | None) -> list[int]:
    """The entries whose parts leave."""
    return [ref.seq for ref in plan.clears] if plan else []


# Prune: results of tools beyond a protected amount.


def pruned(*sizes: int, now: dict[str, Any] | None = None, **rule: Any) -> list[int]:
    told = {"protect": 1_000, "least": 0, "turns": 0, **rule}
    made = situation(*rounds(*sizes), user(99), policy=policy(prune=Prune(**told)), **(now or {}))
    return cleared(prune(made))


@pytest.mark.parametrize(
    ("newest", "gone"), [(999, []), (1_000, []), (1_001, [7]), (500, []), (5_000, [7])]
)
def test_results_leave_from_the_one_that_passes_the_protected_amount(
    newest: int, gone: list[int]
) -> None:
    assert pruned(0, newest) == gone


def test_every_older_result_leaves_once_the_protected_amount_is_used_up() -> None:
    assert pruned(600, 400, 300, 400, 300) == [3, 7]
    assert pruned(600, 400, 300, 400, 299) == [3, 7]
    assert pruned(600, 400, 300, 301, 299, protect=900) == [3, 7]
    assert pruned(600, 400, 300, 301, 299, protect=899) == [3, 7, 11]


def test_no_more_is_protected_than_a_third_of_the_room() -> None:
    assert pruned(600, 400, 300, now={"room": 2_100}) == [3]
    assert pruned(600, 400, 300, now={"room": 2_098}) == [3, 7]


@pytest.mark.seed("000", 176)
@pytest.mark.parametrize(
    ("turns", "gone"), [(0, [3, 7, 11]), (1, [3, 7, 11]), (2, [3, 7]), (3, [3]), (4, []), (9, [])]
)
def test_the_newest_turns_are_not_touched(turns: int, gone: list[int]) -> None:
    assert pruned(900, 900, 900, protect=0, turns=turns) == gone


@pytest.mark.seed("001", 123)
@pytest.mark.parametrize(("least", "gone"), [(1_199, [3, 7]), (1_200, [3, 7]), (1_201, [])])
def test_nothing_leaves_unless_enough_does(least: int, gone: list[int]) -> None:
    assert pruned(800, 400, 1_000, least=least) == gone


def test_less_than_enough_leaves_a_full_window_where_all_fits_then() -> None:
    def full(tokens: int, **more: Any) -> list[int]:
        return pruned(
            60_000, 400, 1_000, least=90_000, now={"tokens": tokens, "room": 100_000, **more}
        )

    assert full(100_000) == []  # it fits as it is
    assert full(100_001) == [3, 7]
    assert full(160_000) == []  # what an estimate may be off by has to fit too
    beyond = situation().view.spans
    assert full(100_001, beyond=beyond) == [3, 7]


@pytest.mark.seed("000", 2)
def test_tools_that_are_never_touched_and_failures_stay() -> None:
    made = [
        user(1), calls(2, "a"), result(3, "a", 800), calls(4, "b", "skill"),
        result(5, "b", 800, "skill"), calls(6, "c"), result(7, "c", 800, error=True),
        says(8, "done"), user(9),
    ]  # fmt: skip

    def left(**rule: Any) -> list[int]:
        told = Prune(protect=0, least=0, turns=0, **rule)
        return cleared(prune(situation(*made, policy=policy(prune=told))))

    assert left() == [3, 7]
    assert left(never=()) == [3, 5, 7]
    assert left(never=("read",)) == [5]
    assert left(failed=False) == [3]


def test_what_is_cleared_already_or_shielded_is_not_planned_again() -> None:
    now = situation(
        *rounds(900, 900, 900), user(99), policy=policy(prune=Prune(protect=0, least=0, turns=0)),
        folded=Folded(cleared=(PartRef(3, 0),), unclearable=(PartRef(7, 0),)),
    )  # fmt: skip
    assert cleared(prune(now)) == [11]
    assert cleared(prune(replace(now, trigger="manual"))) == [7, 11]


def test_a_result_that_no_reply_has_come_to_stays() -> None:
    rule = policy(prune=Prune(protect=0, least=0, turns=0))
    made = [user(1), calls(2, "a"), result(3, "a", 800), calls(4, "b"), result(5, "b", 800)]
    assert cleared(prune(situation(*made, user(6), policy=rule))) == [3]
    assert cleared(prune(situation(*made, says(6, "so"), user(7), policy=rule))) == [3, 5]


# The same file read again, or written.


def repeated(*made: Any, **rule: Any) -> list[int]:
    told = Prune(protect=10_000, least=0, turns=0, repeats=True, **rule)
    return cleared(
        prune(situation(user(1), *made, says(98, "so"), user(99), policy=policy(prune=told)))
    )


@pytest.mark.parametrize(("again", "gone"), [(399, []), (400, [3]), (800, [3]), (4, [])])
def test_a_reading_that_a_later_one_repeats_leaves_unless_that_is_much_shorter(
    again: int, gone: list[int]
) -> None:
    made = [calls(2, "a"), result(3, "a", 800), calls(4, "b"), result(5, "b", again)]
    assert repeated(*made) == gone


def test_a_reading_leaves_once_its_file_was_written_but_never_for_a_failure_or_a_part() -> None:
    def then(name: str, input: str, *, error: bool = False) -> list[int]:
        return repeated(
            calls(2, "a"), result(3, "a", 800),
            calls(4, "b", name, input), result(5, "b", 5, name, error=error),
        )  # fmt: skip

    assert then("write", '{"path": "a.py", "content": "x"}') == [3]
    assert then("write", '{"path": "b.py", "content": "x"}') == []
    assert then("write", '{"path": "a.py", "content": "x"}', error=True) == []
    assert then("shell", '{"command": "cat a.py"}') == []


# Microcompact: results of listed tools, but for the newest.


def compacted(many: int, *, keep: int = 2, **named: Any) -> Plan | None:
    rule = Microcompact(tools=("read",), keep=keep, **named.pop("rule", {}))
    made = situation(*rounds(*(900,) * many), policy=policy(microcompact=rule), **named)
    return microcompact(made)


@pytest.mark.seed("000", 136)
@pytest.mark.parametrize(
    ("many", "keep", "gone"),
    [(1, 2, []), (2, 2, []), (3, 2, [3]), (4, 2, [3, 7]), (2, 0, [3, 7]), (2, 1, [3])],
)
def test_the_newest_results_stay(many: int, keep: int, gone: list[int]) -> None:
    assert cleared(compacted(many, keep=keep, idle=60 * MINUTE)) == gone


@pytest.mark.seed("004", 148)
@pytest.mark.parametrize(
    ("idle", "due"), [(None, False), (60 * MINUTE - 1, False), (60 * MINUTE, True)]
)
def test_it_is_due_once_the_last_reply_is_an_hour_old(idle: int | None, due: bool) -> None:
    plan = compacted(3, idle=idle)
    assert bool(plan) == due
    assert plan is None or plan.trigger == "idle"


def test_by_hand_it_need_not_be_old() -> None:
    plan = compacted(3, idle=0, forced=True, trigger="manual")
    assert plan
    assert (cleared(plan), plan.trigger) == ([3], "manual")


@pytest.mark.parametrize(("tokens", "gone"), [(50_000, []), (50_001, [3])])
def test_where_it_edits_it_is_due_above_its_trigger(tokens: int, gone: list[int]) -> None:
    rule = {"edits": True, "trigger": 50_000, "least": 900}
    assert cleared(compacted(3, tokens=tokens, rule=rule)) == gone
    assert cleared(compacted(3, tokens=tokens, rule={**rule, "least": 901})) == []
    assert cleared(compacted(3, tokens=tokens, rule={**rule, "edits": False})) == []


def test_only_tools_that_are_listed_are_cleared() -> None:
    rule = Microcompact(tools=("shell", "grep"), keep=0)
    made = [
        user(1), calls(2, "a", "Bash"), result(3, "a", 900, "Bash"), calls(4, "b", "Grep"),
        result(5, "b", 900, "Grep"), calls(6, "c"), result(7, "c", 900), calls(8, "d", "own"),
        result(9, "d", 900, "own"),
    ]  # fmt: skip
    now = situation(*made, policy=policy(microcompact=rule), idle=61 * MINUTE)
    assert cleared(microcompact(now)) == [3, 5]


def test_what_a_note_would_be_longer_than_stays() -> None:
    rule = policy(microcompact=Microcompact(tools=("read",), keep=0))
    now = situation(*rounds(900, 3), policy=rule, idle=61 * MINUTE)
    plan = microcompact(now)
    assert plan
    assert cleared(plan) == [3]
    assert (plan.before, 900 > plan.promised > 860) == (900, True)


# Thinking: reasoning of finished turns.


def thought(many: int) -> list[Any]:
    """Turns of a request, and a reply that begins with a thought."""
    return [
        one
        for n in range(many)
        for one in (
            user(2 * n + 1),
            says(2 * n + 2, Reasoning("hm"), f"answer {n}", sizes=(500, 10)),
        )
    ]


def forgotten(now: Situation) -> list[tuple[int, int]]:
    plan = thinking(now)
    return [(ref.seq, ref.ordinal) for ref in plan.clears] if plan else []


@pytest.mark.parametrize(("idle", "due"), [(None, False), (599_999, False), (600_000, True)])
def test_reasoning_may_wait_until_the_last_reply_is_old(idle: int | None, due: bool) -> None:
    rule = policy(thinking=Thinking(keep=1, idle=10))
    plan = thinking(situation(*thought(4), user(99), policy=rule, idle=idle))
    assert bool(plan) == due
    assert plan is None or plan.trigger == "idle"


@pytest.mark.seed("000", 140)
@pytest.mark.parametrize(("least", "due"), [(1_499, True), (1_500, True), (1_501, False)])
def test_reasoning_leaves_only_where_enough_does(least: int, due: bool) -> None:
    rule = policy(thinking=Thinking(keep=0, least=least))
    assert bool(forgotten(situation(*thought(3), user(99), policy=rule, idle=9**9))) == due


@pytest.mark.seed("000", 139, 141)
@pytest.mark.seed("001", 82, 85, 152)
def test_all_forms_of_reasoning_leave_and_nothing_else() -> None:
    sealed = Opaque("a", "reasoning", b"{}", "h")
    other = Opaque("a", "web_search_call", b"{}", "h")
    made = says(2, Reasoning("hm"), sealed, other, "so", sizes=(500, 500, 500, 10))
    rule = policy(thinking=Thinking(keep=0))
    assert forgotten(situation(user(1), made, user(3), policy=rule, forced=True)) == [
        (2, 0), (2, 1),
    ]  # fmt: skip


# Whether it pays.


DEAR = Profile(
    name="m", window=200_000, prices=(Price(input=10, output=50, cache_read=1, cache_write=12),)
)  # fmt: skip


def test_a_step_that_goes_by_price_waits_until_it_pays_or_must_be() -> None:
    rule = policy(prune=Prune(protect=0, least=0, turns=0, by_price=True), turns_left=0)
    now = situation(*rounds(900, 900), user(99), policy=rule, profile=DEAR, tokens=60_000)
    assert prune(now) is None
    assert cleared(prune(replace(now, forced=True))) == [3, 7]
    full = situation(
        *rounds(900, 900), user(99), policy=rule, profile=DEAR, tokens=100_001, room=100_000
    )
    assert cleared(prune(full)) == [3, 7]
    free = replace(now, policy=policy(prune=Prune(protect=0, least=0, turns=0), turns_left=0))
    assert cleared(prune(free)) == [3, 7]


# The model is warned first.

WARNED = entry(7, Message("user", (WARNING,)))


@pytest.mark.seed("001", 96)
@pytest.mark.parametrize(
    ("entries", "gone", "told"),
    [
        ((user(1), says(2, "a")), (), False),
        ((user(1), WARNED), (), False),  # and has not answered
        ((user(1), says(2, "a"), WARNED), (), False),
        ((user(1), WARNED, says(8, "a")), (), True),
        ((user(1), WARNED, user(8)), (), False),
        ((user(1), WARNED, says(8, "a")), (6,), True),
        ((user(1), WARNED, says(8, "a")), (7,), False),
        ((user(1), WARNED, says(8, "a")), (3, 9), False),  # since then results were cleared
        ((user(1), WARNED, says(8, "a")), (9, 3), False),
    ],
)
def test_a_model_is_warned_once_before_each_clearing(
    entries: tuple[Any, ...], gone: tuple[int, ...], told: bool
) -> None:
    assert warned(entries, [PartRef(seq, 0) for seq in gone]) == told


@pytest.mark.parametrize(
    ("name", "called"),
    [
        ("Bash", "shell"), ("Read", "read"), ("Write", "write"), ("Edit", "edit"), ("Grep", "grep"),
        ("LS", "list"), ("webfetch", "web_fetch"), ("websearch", "web_search"), ("glob", "glob"),
        ("google_web_search", "web_search"), ("apply_patch", "edit"), ("mine", "mine"),
    ],
)  # fmt: skip
def test_tools_are_called_in_a_policy_by_what_they_do(name: str, called: str) -> None:
    assert kind(name) == called
