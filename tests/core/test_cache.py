"""The price decides: whether a compaction pays follows the arithmetic, in every direction of it."""

from typing import Any

from hypothesis import assume, given
from hypothesis import strategies as st
from msgspec.structs import replace

from holdfast.core.calls.price import MILLION
from holdfast.core.compaction.cache_economics import Change, caches, decide, is_cold
from holdfast.model.decision import Decision
from holdfast.model.profile import Price, Profile

TOKENS = st.integers(0, 1_000_000)
TURNS = st.integers(1, 200)
PRICES = st.integers(1, 20_000_000_000)


@st.composite
def profiles(draw: st.DrawFn) -> Profile:
    """A model that caches: reading costs less than fresh input, writing at least as much."""
    fresh = draw(st.integers(1_000_000, 20_000_000_000))
    read = draw(st.integers(1, fresh - 1))
    write = draw(st.integers(fresh, fresh * 2))
    price = Price(input=fresh, output=draw(PRICES), cache_read=read, cache_write=write)
    return Profile(name="m", prices=(price,))


@st.composite
def changes(draw: st.DrawFn) -> Change:
    prompt = draw(st.integers(1, 1_000_000))
    before = draw(st.integers(0, prompt))
    saved = draw(st.integers(0, prompt - before))
    written, asked = draw(st.integers(0, 20_000)), draw(st.integers(0, 200_000))
    prose = draw(st.integers(0, written))
    return Change(
        prompt=prompt, before=before, saved=saved, written=written, asked=asked, prose=prose
    )


def net(made: Decision) -> int:
    return made.gain - made.price


def with_price(profile: Profile, **named: Any) -> Profile:
    return replace(profile, prices=(replace(profile.prices[0], **named),))


@given(changes(), profiles(), TURNS, TURNS)
def test_more_turns_left_never_speak_against_it(
    change: Change, profile: Profile, some: int, more: int
) -> None:
    assume(change.saved >= change.written)
    few, many = (decide(change, profile, turns=t, cold=False) for t in sorted((some, more)))
    assert net(few) <= net(many)
    assert many.pays or not few.pays


@given(changes(), profiles(), TURNS, TOKENS)
def test_saving_more_of_the_same_prompt_never_speaks_against_it(
    change: Change, profile: Profile, turns: int, more: int
) -> None:
    larger = replace(change, saved=min(change.saved + more, change.prompt - change.before))
    less, much = (decide(c, profile, turns=turns, cold=False) for c in (change, larger))
    assert net(less) <= net(much) + 1  # each is rounded once
    assert much.pays or not less.pays


@given(changes(), profiles(), TURNS, TOKENS)
def test_more_to_write_anew_never_speaks_for_it(
    change: Change, profile: Profile, turns: int, more: int
) -> None:
    behind = replace(change, prompt=change.prompt + more)
    little, much = (decide(c, profile, turns=turns, cold=False) for c in (change, behind))
    assert much.rewritten == little.rewritten + more
    assert net(much) <= net(little)
    assert little.pays or not much.pays


@given(changes(), profiles(), TURNS)
def test_a_cold_cache_never_speaks_against_it(change: Change, profile: Profile, turns: int) -> None:
    assume(change.saved >= change.written)
    warm, cold = (decide(change, profile, turns=turns, cold=c) for c in (False, True))
    assert net(warm) <= net(cold)
    assert cold.pays or not warm.pays
    assert (cold.cold, cold.rewritten, warm.cold) == (True, 0, False)


@given(changes(), profiles(), TURNS, PRICES)
def test_dearer_reading_never_speaks_against_it(
    change: Change, profile: Profile, turns: int, dearer: int
) -> None:
    assume(change.saved >= change.written)
    price = profile.prices[0]
    read = min(price.cache_read + dearer, price.input - 1)
    cheap = decide(change, profile, turns=turns, cold=False)
    dear = decide(change, with_price(profile, cache_read=read), turns=turns, cold=False)
    assert net(cheap) <= net(dear) + 1
    assert dear.pays or not cheap.pays


@given(changes(), profiles(), TURNS, PRICES)
def test_dearer_writing_never_speaks_for_it(
    change: Change, profile: Profile, turns: int, dearer: int
) -> None:
    write = profile.prices[0].cache_write + dearer
    cheap = decide(change, profile, turns=turns, cold=False)
    dear = decide(change, with_price(profile, cache_write=write), turns=turns, cold=False)
    assert net(dear) <= net(cheap)
    assert cheap.pays or not dear.pays


@given(changes(), profiles(), TURNS, st.booleans())
def test_asking_a_model_costs_what_it_reads_and_writes(
    change: Change, profile: Profile, turns: int, cold: bool
) -> None:
    price = profile.prices[0]
    free = decide(replace(change, asked=0), profile, turns=turns, cold=cold)
    asked = decide(change, profile, turns=turns, cold=cold)
    said = change.asked * price.input + change.prose * price.output if change.asked else 0
    assert asked.gain == free.gain
    assert abs(asked.price - free.price - said // MILLION) <= 1
    assert free.pays or not asked.pays
    cheaper = with_price(profile, input=price.input // 3, output=price.output // 3)
    weak = decide(change, profile, turns=turns, cold=cold, asking=cheaper)
    assert weak.price <= asked.price


@given(changes(), profiles(), TURNS, st.booleans())
def test_a_decision_holds_the_numbers_it_was_made_by(
    change: Change, profile: Profile, turns: int, cold: bool
) -> None:
    made = decide(change, profile, turns=turns, cold=cold)
    assert made.saved == change.saved - change.written
    assert (made.turns, made.cold, bool(made.because)) == (turns, cold, True)
    assert made.rewritten in (0, change.prompt - change.before - change.saved + change.written)
    assert not made.pays or (made.saved > 0 and made.gain >= made.price)
    assert made.pays or made.saved <= 0 or made.gain <= made.price


@given(changes(), TURNS)
def test_without_a_cache_everything_that_leaves_is_saved_at_once(
    change: Change, turns: int
) -> None:
    profile = Profile(name="m", prices=(Price(input=3_000_000_000, output=1),))
    made = decide(replace(change, asked=0), profile, turns=turns, cold=False)
    assert not caches(profile.prices[0])
    assert made.price == 0
    assert made.pays == (change.saved > change.written)


def test_a_cache_is_cold_once_it_has_run_out() -> None:
    brief, lasting = Profile(name="m", cache_seconds=300), Profile(name="m", cache_seconds=3_600)
    assert not is_cold(None, brief)
    assert not is_cold(300_000, brief)
    assert is_cold(300_001, brief)
    assert not is_cold(300_001, lasting)


def test_without_prices_the_usual_ratio_decides() -> None:
    change = Change(prompt=50_000, before=10_000, saved=30_000)
    few, many = (decide(change, Profile(name="m"), turns=t, cold=False) for t in (3, 4))
    assert (few.rewritten, few.saved) == (10_000, 30_000)
    assert (few.pays, many.pays) == (False, True)  # 10 000 × 1.15 against 30 000 × 0.1 a turn


DEAR = Price(input=10_000, output=50_000, cache_read=1_000, cache_write=12_500)
"""In thousandths of a billionth a token, so that sums can be worked out by hand."""
CHANGE = Change(prompt=100_000, before=20_000, saved=30_000, written=2_000, asked=40_000, prose=500)


def worked_out(cold: bool = False, **price: int) -> tuple[int, int, int, int]:
    profile = Profile(name="m", prices=(replace(DEAR, **price),))
    made = decide(CHANGE, profile, turns=7, cold=cold)
    return made.saved, made.rewritten, made.gain * MILLION, made.price * MILLION


def test_what_it_saves_and_what_it_costs_in_numbers() -> None:
    """28,000 leave for 7 turns; 50,000 behind it and 2,000 of a summary are written anew."""
    saved, fresh = 30_000 - 2_000, 50_000 + 2_000
    asked = 40_000 * 10_000 + 500 * 50_000
    warm = (saved * 1_000 * 7, fresh * (12_500 - 1_000) + asked)
    assert worked_out() == (saved, fresh, *(n // MILLION * MILLION for n in warm))
    cold = (saved * 1_000 * 7 + saved * (12_500 - 1_000), asked)
    assert worked_out(cold=True) == (saved, 0, *(n // MILLION * MILLION for n in cold))
    free = (saved * 1_000 * 7, fresh * (10_000 - 1_000) + asked)  # writing costs as fresh input
    assert worked_out(cache_write=0) == (saved, fresh, *(n // MILLION * MILLION for n in free))
    never = (saved * 10_000 * 7, asked)
    assert worked_out(cache_read=0) == (saved, fresh, *(n // MILLION * MILLION for n in never))
    assert worked_out(cache_read=10_000)[2:] == worked_out(cache_read=0)[2:]


def test_whoever_is_asked_is_paid_at_its_own_price() -> None:
    profile = Profile(name="m", prices=(DEAR,))
    cheap = Profile(name="w", prices=(Price(input=100, output=500, cache_read=1, cache_write=1),))
    made = decide(CHANGE, profile, turns=7, cold=True, asking=cheap)
    assert made.price == (40_000 * 100 + 500 * 500) // MILLION
    unpriced = decide(CHANGE, profile, turns=7, cold=True, asking=Profile(name="x"))
    assert unpriced.price == (40_000 * 10_000 + 500 * 50_000) // MILLION
    nobody = decide(replace(CHANGE, asked=0), profile, turns=7, cold=True, asking=cheap)
    assert nobody.price == 0
