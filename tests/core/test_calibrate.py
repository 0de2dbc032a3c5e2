"""Estimates learn from reports, slowly and within bounds; an anchor leaves only the tail unsure."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.core.tokens.calibrate import (
    anchored,
    calibrated,
    certain,
    counted,
    credible,
    error,
    excess,
    ratio,
)
from holdfast.model.window import Budget, Count

FAR = 4
LEAST = 0.5
MOST = 2.0
STEP = 0.15
"""What is promised, in numbers: these tests stand at its edges."""

NUMBERS = st.integers(0, 10_000_000)


def test_a_ratio_moves_a_fifth_of_the_way() -> None:
    assert ratio([(100, 150)]) == pytest.approx(1.1)
    assert ratio([(100, 150)] * 2) == pytest.approx(1.18)
    assert ratio([(100, 150)] * 50) == pytest.approx(1.5, abs=0.001)
    assert ratio([], start=1.35) == 1.35


def test_no_step_is_large_and_no_ratio_extreme() -> None:
    assert ratio([(100, 200)], start=0.5) == 0.5 + STEP
    assert ratio([(100, 200)] * 99) == pytest.approx(MOST)
    assert ratio([(10_000, 5_000)] * 99) == pytest.approx(LEAST)


def test_a_report_that_cannot_be_true_teaches_nothing() -> None:
    assert ratio([(100, 201), (100, 49), (100_000, 10), (10, 5_000_000)]) == 1.0
    assert ratio([(100, 10_000), (100, 150)]) == pytest.approx(1.1)


def test_a_reply_takes_what_its_estimate_allows() -> None:
    assert credible(7, 5) == 7
    assert credible(0, 1_000) == 500
    assert credible(5_000_000, 100) == 232


def test_calls_that_say_nothing_teach_nothing() -> None:
    assert ratio([(0, 100), (100, 0), (0, 0)]) == 1.0


@given(st.lists(st.tuples(NUMBERS, NUMBERS)))
def test_a_ratio_stays_within_its_bounds(pairs: list[tuple[int, int]]) -> None:
    assert LEAST <= ratio(pairs) <= MOST


def test_behind_an_anchor_only_the_tail_can_be_wrong() -> None:
    assert anchored(50_000, 0, 1.2) == Count(tokens=50_000, error=0)
    assert anchored(50_000, 100, 1.2) == Count(tokens=50_120, error=error(120))
    assert calibrated(50_000, 1.2) == Count(tokens=60_000, error=error(60_000))


def test_what_a_vocabulary_cannot_see_stays_an_estimate() -> None:
    assert counted(1_000, "exact", 0) == Count(tokens=1_000, tier="exact")
    assert counted(1_000, "exact", 400).error == 104


def budget() -> Budget:
    return Budget(window=10_000, output=2_000, margin=400, room=7_600)


def test_it_fits_when_it_would_at_the_worst() -> None:
    assert excess(Count(tokens=7_600), budget()) == 0
    assert excess(Count(tokens=7_601), budget()) == 1
    assert excess(Count(tokens=7_000, error=1_000), budget()) == 0
    assert excess(Count(tokens=7_000, error=1_100), budget()) == 100


def test_an_estimate_is_trusted_far_from_the_limit_only() -> None:
    assert certain(Count(tokens=3_600, error=1_000), budget())
    assert not certain(Count(tokens=3_601, error=1_000), budget())
    assert FAR * error(50_000) > 50_000
