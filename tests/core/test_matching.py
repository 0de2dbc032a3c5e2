"""Which words of a text count, and how much of one text is in another."""

import pytest

from holdfast.core.ledger.checks.matching import is_wide, share, stems


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("", set()), ("the and of", set()),
        ("please fix the login handler", {"fix", "login", "handl"}),
        ("Handling HANDLER handle", {"handl"}), ("go to it", set()), ("a 7 b 42", {"7", "42"}),
        ("snake_case and v2", {"snake", "case", "2"}),
        ("für größere Änderungen", {"größe", "änder"}),
        ("日本語", {"日本", "本語"}), ("日", {"日"}), ("fix 日本 now", {"fix", "日本"}),
    ],
)  # fmt: skip
def test_words_count_by_their_beginnings_and_common_ones_for_nothing(
    text: str, found: set[str]
) -> None:
    assert stems(text) == found


def test_the_share_of_one_in_the_other() -> None:
    some, others = frozenset("abcd"), frozenset("bcx")
    assert (share(some, others), share(others, some)) == (0.5, 2 / 3)
    assert share(frozenset(), others) == 1.0
    assert share(some, frozenset()) == 0.0


def test_a_text_is_wide_where_most_of_it_is() -> None:
    assert is_wide("日本語で書く")
    assert not is_wide("mostly words 日本")
    assert not is_wide("")
