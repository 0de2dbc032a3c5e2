"""Keeping a cache warm: when, how often, and only where it pays."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from holdfast.core.compaction.cache_economics import warm_in
from holdfast.model.policy import KeepWarm
from holdfast.model.profile import Price, Profile

PRICE = Price(
    input=3_000_000_000, output=15_000_000_000, cache_read=300_000_000, cache_write=3_750_000_000
)
PROFILE = Profile(
    name="m", prices=(PRICE,), abilities=frozenset({"cache_breakpoints"}), cache_seconds=300
)
RULE = KeepWarm(before=30, most=3, chance=0.5)


def when(profile: Profile = PROFILE, rule: KeepWarm | None = RULE, **named: int) -> int | None:
    return warm_in(rule, profile, **{"prompt": 9_000, "idle": 0, "made": 0, **named})


@pytest.mark.seed("001", 33)
def test_it_is_read_shortly_before_it_runs_out() -> None:
    assert when() == 270_000
    assert when(idle=100_000) == 170_000
    assert when(idle=270_000) == when(idle=299_999) == 0
    assert when(idle=300_000) is None  # it has run out
    assert when(idle=-1) is None  # a clock that was set back says nothing


def test_it_is_not_where_it_cannot_or_may_not_be() -> None:
    assert when(rule=None) is None
    assert when(made=3) is None
    assert when(prompt=1_000) is None  # too short to be cached
    assert when(replace(PROFILE, prices=())) is None
    assert when(replace(PROFILE, abilities=frozenset())) is None
    assert when(replace(PROFILE, prices=(replace(PRICE, cache_read=0),))) is None


@given(st.integers(0, 40), st.integers(1, 40), st.floats(0, 1), st.integers(1, 4_000_000_000))
def test_all_the_reading_costs_less_than_it_is_likely_to_save(
    made: int, most: int, chance: float, read: int
) -> None:
    price = replace(PRICE, cache_read=read)
    rule = KeepWarm(most=most, chance=chance)
    found = when(replace(PROFILE, prices=(price,)), rule, made=made)
    pays = (made + 1) * read < (price.cache_write - read) * chance
    assert (found is not None) == (pays and made < most and read < price.input)
