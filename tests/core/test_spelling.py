"""What counts as a slip, and which of several near words comes first."""

import pytest

from holdfast.core.search.spelling import distance, nearest_words


@pytest.mark.parametrize(
    ("one", "two", "slips"),
    [
        ("login", "login", 0), ("logn", "login", 1), ("loginn", "login", 1), ("lagin", "login", 1),
        ("lgoin", "login", 1), ("handlr", "handler", 1), ("hadlnre", "handler", 3),
        ("", "ab", 2), ("ab", "", 2),
    ],
)  # fmt: skip
def test_slips_are_counted(one: str, two: str, slips: int) -> None:
    assert distance(one, two, 9) == slips == distance(two, one, 9)


def test_far_apart_is_known_before_the_end() -> None:
    assert distance("walrus", "octopus", 2) > 2
    assert distance("a" * 5_000, "b" * 5_000, 1) == 2


def test_fewest_slips_then_the_first_letter_then_how_often() -> None:
    known = [("login", 2), ("logic", 9), ("pogin", 50), ("logins", 4), ("longing", 99)]
    assert nearest_words("logon", known) == ("login",)
    assert nearest_words("logi", [("login", 2), ("logic", 9), ("yogi", 99)]) == (
        "logic", "login", "yogi",
    )  # fmt: skip


def test_names_with_digits_and_short_words_have_no_likeness() -> None:
    assert nearest_words("gpt4", [("gpt5", 3)]) == ()
    assert nearest_words("ab", [("abc", 3)]) == ()
    assert nearest_words("abcd", [("abc4", 3)]) == ()
