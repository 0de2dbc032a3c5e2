"""When a summary is near enough to be prepared ahead: from a share of the mark on, up to it."""

from typing import Any

import pytest
from msgspec.structs import replace

from holdfast.core.compaction.summarise import is_near
from holdfast.model.policy import Due, Summarise
from tests.core.situations import PLAIN, situation, user

POLICY = replace(PLAIN, background=True, ahead=0.8)


@pytest.mark.parametrize(
    ("due", "mark"),
    [
        (Due(tokens=50_000), 50_000),
        (Due(window=0.25), 50_000),  # of 200,000
        (Due(room=0.5), 50_000),  # of 100,000
        (Due(tokens=50_000, window=0.5), 50_000),
        (Due(tokens=90_000, room=0.5), 50_000),
    ],
)
@pytest.mark.parametrize("step", ["summarise", "compact"])
def test_from_a_share_of_the_mark_on(due: Due, mark: int, step: str) -> None:
    policy = replace(POLICY, **{step: Summarise(due=due)})

    def wants(tokens: int, **more: Any) -> bool:
        return is_near(situation(user(1), policy=policy, tokens=tokens, asks=True, **more))

    near = mark * 8 // 10
    assert [wants(n) for n in (near - 1, near, mark - 1, mark)] == [False, True, True, False]


def test_not_where_nobody_is_asked_or_nothing_is_made_beside_the_turns() -> None:
    now = situation(
        user(1), tokens=45_000, asks=True,
        policy=replace(POLICY, summarise=Summarise(due=Due(tokens=50_000))),
    )  # fmt: skip
    assert is_near(now)
    assert not is_near(replace(now, asks=False))
    assert not is_near(replace(now, policy=replace(now.policy, background=False)))
    assert not is_near(replace(now, policy=replace(now.policy, summarise=None)))
    assert not is_near(replace(now, budget=replace(now.budget, room=44_000)))
