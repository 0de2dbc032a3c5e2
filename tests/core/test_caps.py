"""Caps: whatever calls cost, the sum stays below a cap but for the output of one call."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from holdfast.core.calls.price import NANO, cost, dearest, reached
from holdfast.model.profile import Price, Profile
from holdfast.model.reply import Usage
from holdfast.model.spending import Caps

PRICE = Price(
    input=3_000_000_000, output=15_000_000_000, cache_read=300_000_000, cache_write=3_750_000_000
)
LONG = Price(
    input=6_000_000_000, output=22_500_000_000, cache_read=600_000_000, cache_write=7_500_000_000,
    above=200_000,
)  # fmt: skip
PROFILE = Profile(name="m", prices=(PRICE, LONG))

CENT = 10_000_000

turns = st.tuples(
    st.integers(0, 5 * CENT),  # what its prompt is estimated at
    st.floats(0, 1),  # the share of it that the prompt takes in the end
    st.integers(0, 10 * CENT),  # its output
    st.booleans(),  # whether it is work beside the turns
)


@given(st.integers(1, 60), st.lists(turns, max_size=40))
def test_the_sum_exceeds_a_cap_by_the_output_of_one_call_at_most(
    cents: int, calls: list[tuple[int, float, int, bool]]
) -> None:
    caps, cap, spent = Caps(session=cents / 100), cents * CENT, 0
    for prompt, share, output, beside in calls:
        estimate = prompt + output if beside else prompt
        if reached(caps, {"session": spent}, estimate):
            continue
        assert spent < cap  # nothing is sent once it is reached
        before, spent = spent, spent + round(prompt * share) + output
        assert spent < cap + (0 if beside else output)
        assert not beside or spent < cap
        assert spent >= before


@given(
    st.integers(0, 400_000), st.integers(0, 400_000), st.integers(0, 400_000), st.integers(0, 9_999)
)
def test_what_a_call_is_estimated_at_is_the_most_it_costs(
    fresh: int, read: int, written: int, output: int
) -> None:
    usage = Usage(input=fresh, cache_read=read, cache_write=written, output=output)
    most, real = dearest(PROFILE, usage.prompt, output), cost(usage, PROFILE)
    assert most is not None
    assert real is not None
    assert real <= most


@pytest.mark.seed("001", 166)
def test_the_first_cap_that_is_reached_is_told() -> None:
    caps = Caps(session=2.0, day=1.0)
    assert reached(caps, {"session": 0, "day": 0}, 0) is None
    found = reached(caps, {"session": NANO, "day": NANO}, 1)
    assert found is not None
    assert (found.of, found.cap, found.spent, found.price) == ("day", NANO, NANO, 1)
    both = reached(caps, {"session": 2 * NANO, "day": 2 * NANO}, 0)
    assert both is not None
    assert both.of == "session"


def test_without_a_price_nothing_is_estimated() -> None:
    assert dearest(Profile(name="m"), 1_000, 10) is None


@pytest.mark.parametrize(
    ("spent", "held", "price", "is_reached"),
    [
        (0, 0, 499_999_999, False), (0, 0, 500_000_000, True), (499_999_999, 0, 0, False),
        (500_000_000, 0, 0, True), (0, 500_000_000, 0, True),
        (200_000_000, 200_000_000, 99_999_999, False),
        (200_000_000, 200_000_000, 100_000_000, True),
    ],
)  # fmt: skip
def test_a_cap_is_reached_by_what_is_spent_and_held_and_asked_for(
    spent: int, held: int, price: int, is_reached: bool
) -> None:
    found = reached(Caps(session=0.5), {"session": spent}, price, {"session": held})
    assert bool(found) == is_reached
    if found:
        assert (found.cap, found.spent, found.held, found.price) == (
            500_000_000, spent, held, price,
        )  # fmt: skip


def test_caps_are_in_dollars_and_costs_in_billionths() -> None:
    found = reached(Caps(session=1.0), {"session": 1_000_000_000}, 0)
    assert found
    assert found.cap == 1_000_000_000


def test_a_call_is_estimated_afresh_and_rounded_up() -> None:
    price = Price(input=2_000_000, output=10_000_000, cache_read=1, cache_write=2_500_000)
    profile = Profile(name="m", prices=(price,))
    assert dearest(profile, 3, 4) == 8 + 40  # 7.5 and 40
    assert dearest(profile, 2) == 5
    written = Profile(name="m", prices=(replace(price, cache_write=0),))
    assert dearest(written, 3, 4) == 6 + 40
