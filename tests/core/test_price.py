"""What calls cost: buckets, tiers, lasting cache writes, and samplings of their own."""

import pytest

from holdfast.core.calls.price import cost
from holdfast.model.profile import Price, Profile
from holdfast.model.reply import Iteration, Usage

SHORT = Price(
    input=3_000_000_000,
    output=15_000_000_000,
    cache_read=300_000_000,
    cache_write=3_750_000_000,
    cache_write_long=6_000_000_000,
)
LONG = Price(input=6_000_000_000, output=22_500_000_000, cache_read=600_000_000, above=200_000)
MODEL = Profile(name="m", prices=(SHORT, LONG))
DEARER = Profile(name="advisor", prices=(Price(input=15_000_000_000, output=75_000_000_000),))
UNKNOWN = Profile(name="nobody")


def test_a_write_that_lasts_an_hour_costs_more_than_one_of_five_minutes() -> None:
    usage = Usage(input=10, cache_read=20, cache_write=30, cache_write_long=12, output=5)
    each = 10 * 3_000 + 20 * 300 + 18 * 3_750 + 12 * 6_000 + 5 * 15_000
    assert cost(usage, MODEL) == each


@pytest.mark.seed("001", 77)
def test_a_long_prompt_is_dearer_as_a_whole() -> None:
    assert cost(Usage(input=200_000), MODEL) == 200_000 * 3_000
    assert cost(Usage(input=150_000, cache_read=50_001), MODEL) == 150_000 * 6_000 + 50_001 * 600


@pytest.mark.seed("000", 161, 202)
@pytest.mark.seed("001", 121)
def test_each_sampling_falls_into_its_own_tier() -> None:
    each = (
        Iteration(type="compaction", input=150_000, output=900),
        Iteration(type="message", input=60_000, output=25),
    )
    whole = sum(each, Usage())
    assert cost(whole, MODEL, each) == 210_000 * 3_000 + 925 * 15_000
    assert cost(whole, MODEL) == 210_000 * 6_000 + 925 * 22_500


@pytest.mark.seed("001", 172)
def test_another_model_s_sampling_is_paid_at_its_own_price() -> None:
    each = (
        Iteration(type="message", input=100, output=10),
        Iteration(type="advisor_message", model="advisor", input=50, output=4),
    )
    known = {"advisor": DEARER}.__getitem__
    paid = 100 * 3_000 + 10 * 15_000 + 50 * 15_000 + 4 * 75_000
    assert cost(sum(each, Usage()), MODEL, each, known) == paid


def test_where_one_price_is_unknown_so_is_the_sum() -> None:
    each = (Iteration(input=100), Iteration(type="advisor_message", model="nobody", input=1))
    assert cost(sum(each, Usage()), MODEL, each, lambda name: UNKNOWN) is None
    assert cost(Usage(input=1), UNKNOWN) is None


def test_a_dearer_or_cheaper_way_of_serving_costs_what_its_model_says_of_it() -> None:
    model = Profile(name="m", prices=(SHORT, LONG), tiers={"fast": 600, "batch": 50})
    usual = cost(Usage(input=1_000, cache_read=10, output=7), model)
    assert usual is not None
    assert cost(Usage(input=1_000, cache_read=10, output=7, tier="fast"), model) == usual * 6
    assert cost(Usage(input=1_000, cache_read=10, output=7, tier="batch"), model) == usual // 2


def test_a_way_of_serving_that_nobody_knows_the_price_of_has_no_known_price() -> None:
    assert cost(Usage(input=1, tier="scale"), MODEL) is None
    each = (Iteration(input=100), Iteration(input=1, tier="scale"))
    assert cost(sum(each, Usage()), MODEL, each) is None


@pytest.mark.seed("001", 51)
def test_half_a_price_is_rounded_once_for_the_whole_call() -> None:
    odd = Profile(name="m", prices=(Price(input=1_000_001),), tiers={"batch": 50})
    assert cost(Usage(input=1, tier="batch"), odd) == 1
    assert cost(Usage(input=3, tier="batch"), odd) == 2
