"""What is visible as a rollout goes on: said, compacted and taken back, against plain lists."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.importers.budget import Allowance
from holdfast.importers.codex.history import Past, Seen, print_of

steps = st.lists(
    st.one_of(
        st.tuples(st.just("say"), st.booleans(), st.booleans()),
        st.tuples(st.just("compact"), st.sets(st.integers(0, 8)), st.none()),
        st.tuples(st.just("back"), st.integers(-1, 4), st.none()),
    ),
    max_size=14,
)


class Plain:
    """The same with a copy of everything at each turn."""

    def __init__(self) -> None:
        self.visible: list[Seen] = []
        self.turns: list[list[Seen]] = []

    def back(self, many: int) -> str | None:
        if many <= 0 or not self.turns:
            return None
        first = max(0, len(self.turns) - many)
        self.visible, self.turns = self.turns[first], self.turns[:first]
        while first and self.visible and self.visible[-1].context:
            self.visible = self.visible[:-1]
        return self.visible[-1].native if self.visible else ""


@given(steps)
def test_what_is_visible_is_what_was_said_and_not_taken_back(told: list[Any]) -> None:
    past, plain = Past(), Plain()
    for number, (kind, one, two) in enumerate(told):
        if kind == "say":
            seen = Seen(str(number), print=number % 3, context=one and not two)
            past.say(seen, turn=two)
            plain.turns += [plain.visible] if two else []
            plain.visible = [*plain.visible, seen]
        elif kind == "compact":
            kept = {str(n) for n in one}
            past.compact(kept, f"s{number}")
            left = [seen for seen in plain.visible if seen.native in kept]
            plain.visible = [*left, Seen(f"s{number}")]
        else:
            assert past.roll_back(one) == plain.back(one)
        found: dict[int, list[str]] = {}
        for seen in plain.visible[::-1]:
            if seen.print:
                found.setdefault(seen.print, []).append(seen.native)
        assert past.index() == found


@pytest.mark.parametrize(("turns", "back"), [(20_000, 20_000), (20_001, 10_001)])
def test_the_newest_ten_thousand_turns_can_be_taken_back_at_least(turns: int, back: int) -> None:
    past = Past()
    for number in range(turns):
        past.say(Seen(f"q{number}"), turn=True)
        past.say(Seen(f"a{number}"))
    oldest = turns - back
    assert past.roll_back(turns) == (f"a{oldest - 1}" if oldest else "")


@pytest.mark.parametrize(
    ("most", "kept"),
    [(2, []), (3, ["c"]), (7, ["c"]), (8, ["b", "c"]), (9, ["a", "b", "c"]), (99, ["a", "b", "c"])],
)
def test_the_newest_words_of_humans_are_kept_as_far_as_they_fit(most: int, kept: list[str]) -> None:
    past = Past()
    for name, words in (("a", 1), ("b", 5), ("x", 0), ("c", 3)):
        past.say(Seen(name, words=words))
    assert past.humans(most) == kept


def test_a_thousand_words_of_humans_are_kept_at_most_and_within_the_allowance() -> None:
    past = Past()
    for number in range(1_001):
        past.say(Seen(str(number), words=1))
    assert past.humans(5_000) == [str(number) for number in range(1, 1_001)]
    past.allowance = Allowance(2)
    assert past.humans(2) == ["999", "1000"]
    assert past.humans(1) == []


def test_words_are_found_again_in_any_order_of_their_members() -> None:
    one, other = [{"type": "text", "text": "hi"}], [{"text": "hi", "type": "text"}]
    assert print_of("user", one) == print_of("user", other) != 0
    assert print_of("user", one) != print_of("assistant", one)
    assert print_of("user", one) != print_of("user", [{"type": "text", "text": "ho"}])
    assert print_of("user", "hi") == print_of("user", "hi") != print_of("user", ["hi"])
