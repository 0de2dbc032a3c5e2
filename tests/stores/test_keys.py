"""Places: every entry and part has one of its own, in order, within 63 bits."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.errors import InvalidRequest
from holdfast.model.log import PartRef
from holdfast.stores.sql import keys

SESSIONS, ENTRIES, PARTS = 2**22 - 1, 2**29 - 1, 2**12
"""The most of each that a store has."""

numbers = st.integers(1, SESSIONS)
seqs = st.sampled_from([0, 1, ENTRIES - 1, ENTRIES]) | st.integers(0, ENTRIES)
ordinals = st.sampled_from([0, 1, PARTS - 1]) | st.integers(0, PARTS - 1)
wheres = st.tuples(numbers, seqs, ordinals)


@given(wheres)
def test_a_place_says_what_it_is_the_place_of(where: tuple[int, int, int]) -> None:
    number, seq, ordinal = where
    entry = keys.place(number, seq)
    part = keys.part_place(entry, ordinal)
    assert (keys.number_of(entry), keys.seq_of(entry)) == (number, seq)
    assert (keys.entry_of(part), keys.ordinal_of(part)) == (entry, ordinal)
    assert keys.part_at(part) == PartRef(seq, ordinal)
    assert part < 2**63


@given(wheres, wheres)
def test_places_are_in_the_order_of_sessions_entries_and_parts(
    one: tuple[int, int, int], two: tuple[int, int, int]
) -> None:
    placed = [keys.part_place(keys.place(*at[:2]), at[2]) for at in (one, two)]
    assert (placed[0] < placed[1]) == (one < two)


@given(numbers, seqs, seqs, wheres)
def test_the_parts_of_a_stretch_are_those_of_its_entries(
    number: int, one: int, two: int, where: tuple[int, int, int]
) -> None:
    first, last = keys.parts_of(*(keys.place(number, seq) for seq in sorted((one, two))))
    part = keys.part_place(keys.place(*where[:2]), where[2])
    inside = where[0] == number and min(one, two) <= where[1] <= max(one, two)
    assert (first <= part <= last) == inside
    assert keys.ordinal_of(first) == 0
    assert keys.ordinal_of(last) == PARTS - 1


@pytest.mark.parametrize("seq", [-1, ENTRIES + 1])
def test_no_entry_runs_over_into_another_session(seq: int) -> None:
    with pytest.raises(InvalidRequest, match=f"no entry {seq}; name one up to 536870911"):
        keys.place(1, seq)


def test_the_last_session_has_the_last_place() -> None:
    assert keys.MOST_SESSIONS == SESSIONS
    last = keys.part_place(keys.place(keys.MOST_SESSIONS, ENTRIES), PARTS - 1)
    assert last == 2**63 - 1
