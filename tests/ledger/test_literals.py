"""Which words a rule needs, so that a text without them need not be searched."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.core.ledger.wishes.literals import needed

NEEDS = {
    "abc": {"abc"},
    "ABC": {"abc"},
    "a|bcd": {"a", "bcd"},
    "(?:red|green) light": {" light"},
    "(?:never|always)x": {"never", "always"},
    "(long)er": {"long"},
    "ab(?:cde)+": {"cde"},
    "ab(?:cde)*": {"ab"},
    "(?:cde)?ab": {"ab"},
    "(?:cde)+?f": {"cde"},
    r"\bword\b.*\bother\b": {"other"},
    "a(?:b|c?)d": {"a"},
}


@pytest.mark.parametrize(("shape", "words"), NEEDS.items())
def test_the_best_word_is_chosen(shape: str, words: set[str]) -> None:
    found = needed(shape)
    assert found is not None
    assert min(map(len, found)) == min(map(len, words))
    assert found == words or len(found) == len(words)


@pytest.mark.parametrize("shape", [r"\d+", "[ab]c?", "(?:abc)*", "abc|", "a?|bc", ".*"])
def test_where_nothing_is_needed_nothing_is_named(shape: str) -> None:
    assert not needed(shape)


@given(st.sampled_from([*NEEDS]), st.text("abcdefnvrglwoi ths", max_size=30))
def test_what_has_none_of_the_words_is_not_found(shape: str, text: str) -> None:
    words = needed(shape)
    assert words
    if not any(word in text.lower() for word in words):
        assert not re.search(shape, text, re.IGNORECASE)
