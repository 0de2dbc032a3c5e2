"""Names sort in the order they were made, whatever the clock does."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.engine import ids
from holdfast.engine.ids import SystemClock, Ulids, written


class Told:
    """A clock that says what it is told."""

    def __init__(self, times: Sequence[int]) -> None:
        self._times = iter(times)

    def now(self) -> int:
        return next(self._times)


@pytest.mark.seed("000", 9, 174)
@given(st.lists(st.integers(0, 2**47), min_size=2, max_size=50))
def test_each_is_greater_than_the_one_before(times: list[int]) -> None:
    ids = Ulids(Told(times))
    made = [ids.new() for _ in times]
    assert made == sorted(set(made))


@given(st.integers(0, 2**128 - 1), st.integers(0, 2**128 - 1))
def test_letters_sort_as_numbers_do(a: int, b: int) -> None:
    assert (written(a) < written(b)) == (a < b)
    assert len(written(a)) == 26


@pytest.mark.seed("000", 169)
def test_the_time_is_in_front() -> None:
    assert Ulids(Told([1_700_000_000_000])).new()[:10] == "01HF7YAT00"
    assert abs(SystemClock().now() - SystemClock().now()) < 60_000


def test_counting_carries_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ids, "randbits", lambda _: 2**40 - 2)
    made = Ulids(Told([0] * 4))
    assert [made.new() for _ in range(4)] == [written(2**40 + n) for n in range(-1, 3)]
