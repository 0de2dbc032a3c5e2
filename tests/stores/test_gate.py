"""Which terms of a question gate what is weighed: the rarest alone, the next in pairs."""

import pytest

from holdfast.stores.search.ranked import (
    Term,
    _gate,  # type: ignore[reportPrivateUsage]
)


def terms(*many: int) -> list[Term]:
    return [Term(count, (f"t{n}",)) for n, count in enumerate(many)]


@pytest.mark.parametrize(
    ("many", "alone"),
    [
        ((1,), 1), ((9_000,), 1), ((1_000, 1_000), 2), ((1_000, 1_001), 1), ((0, 0, 2_000), 3),
        ((0, 0, 2_001), 2), ((600, 700, 800, 900), 2),
    ],
)  # fmt: skip
def test_the_rarest_gate_alone_while_few_parts_have_them(many: tuple[int, ...], alone: int) -> None:
    gates = _gate(terms(*many)).split(" OR ")
    single = [gate for gate in gates if " AND " not in gate]
    assert single == [f"(t{n})" for n in range(alone)]


def test_the_next_five_gate_in_pairs() -> None:
    gates = _gate(terms(1, *[5_000] * 7)).split(" OR ")
    pairs = [(n, m) for n in range(1, 6) for m in range(n + 1, 6)]
    assert gates == ["(t0)", *(f"((t{n}) AND (t{m}))" for n, m in pairs)]


def test_a_term_is_looked_for_in_each_of_its_forms() -> None:
    assert _gate([Term(1, ("a", "b"))]) == "(a OR b)"
