"""What a summariser answered is read in linear time, and as before."""

import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.core.compaction.acceptance import answer

PIECES = ["<analysis>", "</analysis>", "<summary>", "</SUMMARY>", "</summary>", "<state_snapshot>",
          "</state_snapshot>", "a", " ", "\n", "<"]  # fmt: skip


def as_patterns_have_it(text: str) -> str:
    rest = re.sub(r"(?is)<analysis>.*?</analysis>\s*", "", text)
    found = re.search(r"(?is)<(summary|state_snapshot)>(.*?)</\1>", rest)
    return (found[2] if found else re.sub(r"(?is)<analysis>.*", "", rest)).strip()


@given(st.lists(st.sampled_from(PIECES), max_size=14).map("".join))
def test_an_answer_is_what_the_patterns_find(text: str) -> None:
    assert answer(text) == as_patterns_have_it(text)


@pytest.mark.parametrize("piece", PIECES)
def test_a_reply_of_nothing_but_tags_takes_linear_time(piece: str) -> None:
    start = time.process_time()
    answer(piece * (200_000 // len(piece)))
    assert time.process_time() - start < 5  # quadratic time would be minutes
