"""Estimates stay near the exact counts of o200k_base, grow with the text, and never fail."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.core.tokens.estimate import (
    BOUND,
    KINDS,
    SCRIPT_WEIGHTS,
    SCRIPTS,
    WEIGHTS,
    estimate,
    estimate_bytes,
    pairs,
    plain,
    script_pairs,
)

COARSE = 16
UNIT = 64
"""What is promised, in numbers: these tests stand at its edges."""

# Made by `bench/fit_estimate.py golden`: our own texts, with what o200k_base makes of them.
GOLDEN: list[dict[str, Any]] = json.loads(
    (Path(__file__).parents[1] / "golden" / "estimate.json").read_text("utf-8")
)
CLOSE = {"prose", "code", "json", "terminal", "chinese", "base64"}

# One pair at the joint can weigh more or less than the pair with a blank that it replaces.
JOINT = 3

anything = st.text(st.characters(codec=None)) | st.text(" \n=─a1中é😀{", max_size=300)


@pytest.mark.parametrize("sample", GOLDEN, ids=[sample["kind"] for sample in GOLDEN])
def test_an_estimate_is_near_the_exact_count(sample: dict[str, Any]) -> None:
    exact = sample["tokens"]
    allowed = 0.10 if sample["kind"] in CLOSE else BOUND
    about = estimate(sample["text"] * sample["times"])
    assert abs(about - exact) <= max(1, allowed * exact)


def test_the_six_main_kinds_are_all_measured() -> None:
    assert {sample["kind"] for sample in GOLDEN} >= CLOSE


def test_nothing_costs_nothing() -> None:
    assert estimate("") == 0
    assert estimate_bytes(b"") == 0


@given(st.binary(min_size=1))
def test_something_costs_something_even_if_it_is_not_text(data: bytes) -> None:
    assert estimate_bytes(data) >= 1


@given(anything)
def test_text_and_its_bytes_are_estimated_alike(text: str) -> None:
    assert estimate(text) == estimate_bytes(text.encode("utf-8", "surrogatepass"))


@given(anything, anything)
def test_more_text_never_costs_much_less(first: str, second: str) -> None:
    assert estimate(first + second) >= max(estimate(first) - 1, estimate(second) - JOINT)


@given(anything, anything)
def test_a_whole_costs_about_what_its_halves_cost(first: str, second: str) -> None:
    assert estimate(first + second) <= estimate(first) + estimate(second) + JOINT


def test_lone_surrogates_and_broken_bytes_are_counted() -> None:
    assert estimate("\ud800\udfff") >= 1
    assert estimate_bytes(b"\x80\xff\xfe" * 1000) >= 100


def test_a_long_text_costs_what_its_blocks_cost() -> None:
    line = "Entries are appended, never changed; é and 中 too.\n"
    assert estimate(line * 4000) == pytest.approx(estimate(line * 40) * 100, rel=0.01)


def test_no_text_has_fewer_tokens_than_the_longest_token_allows() -> None:
    assert estimate(" " * 128_000) >= 1000


def test_every_byte_has_one_kind() -> None:
    for kinds, weights in ((KINDS, WEIGHTS), (SCRIPTS, SCRIPT_WEIGHTS)):
        assert sorted(b"".join(members for _, members in kinds)) == list(range(256))
        assert len(kinds) == len(weights) == 16


def test_a_pair_holds_the_kind_of_a_byte_and_of_the_one_before() -> None:
    names = [name for name, _ in KINDS]
    found = [(names[pair >> 4], names[pair & 15]) for pair in pairs(b"a1=")]
    assert found == [("blank", "vowel"), ("digit", "rule"), ("vowel", "digit")]


def test_every_weight_is_of_one_of_few_levels() -> None:
    halves = [divmod(weight, COARSE) for row in (*WEIGHTS, *SCRIPT_WEIGHTS) for weight in row]
    assert all(0 <= high <= 8 and 0 <= low <= 8 for high, low in halves)


def test_the_heaviest_text_is_summed_without_running_over() -> None:
    pair = max((w, a, b) for a, row in enumerate(WEIGHTS) for b, w in enumerate(row))
    letters = [members[:1] for _, members in KINDS]
    text = (letters[pair[1]] + letters[pair[2]]) * 40_000
    total = sum(WEIGHTS[code >> 4][code & 15] for code in pairs(plain(text)))
    assert estimate_bytes(text) == pytest.approx(total / UNIT, rel=0.001)


def test_the_estimate_is_the_sum_of_the_weights() -> None:
    text = "Say 42 times: naïve café, 日志 and 😀!\n" * 5
    data = plain(text.encode())
    total = sum(WEIGHTS[pair >> 4][pair & 15] for pair in pairs(data))
    total += sum(SCRIPT_WEIGHTS[pair >> 4][pair & 15] for pair in script_pairs(data))
    assert estimate(text) == (total + UNIT // 2) // UNIT


def test_no_pair_of_bytes_is_weighed_twice() -> None:
    for first in range(128):
        for second in range(128):
            (pair,) = script_pairs(bytes((first, second)))[1:]
            assert SCRIPT_WEIGHTS[pair >> 4][pair & 15] == 0
    for other in range(128, 256):
        for both in (bytes((65, other)), bytes((other, 65)), bytes((other, other))):
            (pair,) = pairs(both)[1:]
            assert WEIGHTS[pair >> 4][pair & 15] == 0


def test_drawn_lines_are_weighed_as_dashes_and_long_gaps_as_half() -> None:
    assert plain("─━═".encode()) == b"-" * 9
    assert plain(b" " * 64) == b" " * 32
    assert plain("中 é".encode()) == "中 é".encode()


@pytest.mark.parametrize("control", ["\b", "\0", "\x1b", "\x7f", "\r"])
def test_runs_of_control_characters_are_a_token_each(control: str) -> None:
    """As a spinner prints them: what is drawn over is in the output of a tool all the same."""
    spinner = "".join(f"{sign} Uploading...{control * 14}" for sign in "-\\|/" * 200)
    words = estimate("".join(f"{sign} Uploading..." for sign in "-\\|/" * 200))
    assert 13 * 800 <= estimate(spinner) - words <= 15 * 800
    assert estimate(control * 1_000) == 1_000
    assert estimate("\r\n" * 1_000) == estimate("\n\n" * 1_000)
