"""Where a decision turns: just below, at and just beyond each limit, in the numbers that it has."""

from __future__ import annotations

from functools import lru_cache

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.core.knowledge import frontmatter
from holdfast.core.log.validate import own_id
from holdfast.core.search import literal, spelling
from holdfast.core.window import fullness_notice as fullness
from holdfast.core.window import tool_deferral as deferral
from holdfast.errors import InvalidRequest
from holdfast.model.log import Entry
from holdfast.model.message import Message, Text, ToolResult
from holdfast.model.policy import Awareness
from holdfast.model.profile import Profile
from holdfast.model.window import Tool

# Spelling.

words = st.text("abc", max_size=7)


@lru_cache(maxsize=100_000)
def slips(one: str, two: str) -> int:
    """The slips between two words, as a book has them: by the last letters of both."""
    if not one or not two:
        return len(one) + len(two)
    swapped = one[-2:] == two[-2:][::-1] and min(len(one), len(two)) > 1
    return min(
        slips(one[:-1], two) + 1,
        slips(one, two[:-1]) + 1,
        slips(one[:-1], two[:-1]) + (one[-1] != two[-1]),
        *([slips(one[:-2], two[:-2]) + 1] if swapped else []),
    )


@given(words, words, st.integers(0, 3))
def test_slips_are_counted_exactly_up_to_so_many(one: str, two: str, most: int) -> None:
    found = spelling.distance(one, two, most)
    assert found == slips(one, two) if found <= most else slips(one, two) > most


@pytest.mark.parametrize(
    ("word", "allowed"),
    [("", 0), ("ab", 0), ("abc", 1), ("abcde", 1), ("abcdef", 2), ("abc1", 0), ("a-bcd", 0)],
)
def test_longer_words_may_have_more_slips(word: str, allowed: int) -> None:
    assert spelling.slips_allowed(word) == allowed


@given(words, st.lists(st.tuples(words, st.integers(1, 3))), st.integers(0, 4))
def test_what_may_be_meant_is_the_nearest_of_what_is_known(
    word: str, known: list[tuple[str, int]], most: int
) -> None:
    allowed = spelling.slips_allowed(word)
    near = [
        (slips(word, other), other[0] != word[0], -times, other)
        for other, times in known
        if other and 0 < slips(word, other) <= allowed
    ]
    assert spelling.nearest_words(word, known, most) == tuple(one[3] for one in sorted(near)[:most])
    assert spelling.nearest_words(word, known) == tuple(one[3] for one in sorted(near)[:3])


# Strings that are looked for as they stand.


@pytest.mark.parametrize(
    ("typed", "found"),
    [
        ("two words", ()),
        ("a.b()", ("a.b()",)),
        ("see a.b().", ("a.b()",)),
        ("(a.b)", ("(a.b)",)),
        ("a.b)", ("a.b",)),
        ("(a.b", ("a.b",)),
        ('"Two  Words"', ("Two  Words",)),
        ("'x.y',", ("x.y",)),
    ],
)
def test_what_is_no_plain_word_is_looked_for_as_it_stands(
    typed: str, found: tuple[str, ...]
) -> None:
    assert literal.literals(typed) == found


def test_no_more_than_sixteen_strings_of_a_thousand_letters_are_looked_for() -> None:
    many = [f"a.b{n}" for n in range(17)]
    assert literal.literals(" ".join(many)) == tuple(many[:16])
    assert literal.literals(f"a.{'b' * 998}c") == (f"a.{'b' * 998}",)


# Ids, heads of files.


def test_an_id_has_one_letter_to_two_hundred_and_fifty_six() -> None:
    assert own_id("a") == "a"
    assert own_id("a" * 256) == "a" * 256
    with pytest.raises(InvalidRequest, match="at most 256 letters, not 257"):
        own_id("a" * 257)
    with pytest.raises(InvalidRequest, match="at least one letter"):
        own_id(" ")


def test_a_head_has_at_most_two_hundred_lines() -> None:
    for count, is_head in ((0, True), (199, True), (200, True), (201, False)):
        text = "---\n" + "a: b\n" * count + "---\nbody\n"
        found = frontmatter.read(text)
        assert found.body == ("body\n" if is_head else text)
        assert found.fields == ({"a": "b"} if is_head and count else {})


# How full the window is.

RULE = Awareness(since=0.5, every=0.1)
PROFILE = Profile(name="m", window=10_000)
ANSWER = Entry(
    id="1", session="s", seq=1, created=1, body=Message("tool", (ToolResult("c", "done"),))
)


def notice(used: int) -> Entry:
    made = fullness.telling([ANSWER], used, 10_000, RULE, PROFILE)
    assert made is not None
    return Entry(id="2", session="s", seq=2, created=2, body=made)


@pytest.mark.parametrize(
    ("used", "said"), [(4_999, False), (5_000, True), (9_744, True), (9_745, False)]
)
def test_fullness_is_said_from_the_half_on_while_there_is_room(used: int, said: bool) -> None:
    made = fullness.telling([ANSWER], used, 10_000, RULE, PROFILE)
    assert (made is not None) is said
    if made is not None:
        (part,) = made.parts
        assert isinstance(part, Text)
        assert f"{used:,} of 10,000 tokens of your context are taken, {10_000 - used:,} are left."\
            in part.text  # fmt: skip


@pytest.mark.parametrize(("used", "said"), [(6_099, False), (6_100, True)])
def test_fullness_is_said_again_once_a_tenth_more_is_taken(used: int, said: bool) -> None:
    before = [notice(5_100), ANSWER]
    assert fullness.told(before) == 5_100
    assert (fullness.telling(before, used, 10_000, RULE, PROFILE) is not None) is said


def test_fullness_is_said_behind_an_answer_of_a_tool_alone() -> None:
    reply = Entry(id="3", session="s", seq=3, created=3, body=Message("assistant", (Text("done"),)))
    for entries in ([], [reply], [ANSWER, reply], [notice(5_000)]):
        assert fullness.telling(entries, 9_000, 10_000, RULE, PROFILE) is None
    assert fullness.telling([ANSWER], 9_000, 10_000, None, PROFILE) is None


# Tools that are found.


def tool(name: str, about: str = "", *names: str) -> Tool:
    return Tool(name=name, description=about, schema={"properties": {name: {} for name in names}})


def found(query: str, *tools: Tool, **more: int) -> list[str]:
    return [one.name for one in deferral.search(query, tools, **more)]


def test_a_word_counts_three_times_as_much_in_a_name() -> None:
    other = tool("other", "alpha beta gamma")
    assert found("alpha beta gamma delta", other, tool("delta")) == ["delta", "other"]
    four = tool("four", "alpha beta gamma epsilon")
    assert found("alpha beta gamma epsilon delta", four, tool("delta")) == ["four", "delta"]


@pytest.mark.parametrize(
    ("query", "names"),
    [("delt", ["delta_one"]), ("del", ["delta_one"]), ("de", []), ("field", ["x"]),
     ("oneTwo", ["delta_one"]), ("DELTA", ["delta_one"])],
)  # fmt: skip
def test_three_letters_of_a_name_count_and_so_do_the_words_of_fields(
    query: str, names: list[str]
) -> None:
    assert found(query, tool("delta_one"), tool("x", "", "field")) == names


def test_five_are_found_and_at_most_twenty() -> None:
    many = [tool(f"t{n}", "word") for n in range(30)]
    assert len(found("word", *many)) == 5
    for limit, count in ((0, 1), (-3, 1), (1, 1), (20, 20), (21, 20)):
        assert found("word", *many, limit=limit) == [one.name for one in many[:count]]
    assert len(found("select:" + ",".join(one.name.upper() for one in many), *many)) == 30
