"""What is referred to most comes first, and no map takes more than its allowance."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.core.repo_map import (
    Definition,
    Tags,
    Wanted,
    _weight,
    difference,
    entry,
    fitted,
    mentioned,
    outline,
    pagerank,
    ranked,
)
from holdfast.core.tokens.estimate import estimate


def defining(*names: str, **references: int) -> Tags:
    made = tuple(Definition(name, n, n, f"def {name}()") for n, name in enumerate(names, 1))
    return Tags(made, references)


FILES = {
    "store.py": defining("open_store", "close_store", "never_used"),
    "engine.py": defining("run_engine", open_store=3, close_store=1),
    "cli.py": defining("main_program", run_engine=1, open_store=1),
    "other.py": defining("lone_wolf", "_hidden"),
}


def names(order: list[Wanted]) -> list[str]:
    return [FILES[one.path].definitions[one.index].name for one in order if one.index >= 0]


def test_what_is_referred_to_most_comes_first_and_what_nobody_wants_last() -> None:
    order = names(ranked(FILES))
    assert order[0] == "open_store"
    referred = {"open_store", "close_store", "run_engine"}
    assert set(order[:3]) == referred
    assert set(order[3:]) == {"never_used", "main_program", "lone_wolf"}, "private ones stay out"


def test_a_mentioned_name_and_a_mentioned_file_move_up() -> None:
    assert names(ranked(FILES)).index("lone_wolf") > 2
    assert names(ranked(FILES, mentions={"lone_wolf"}))[0] == "lone_wolf"
    usual, named = ranked(FILES), ranked(FILES, mentions={"engine.py"})

    def score(order: list[Wanted], name: str) -> float:
        found = [one for one in order if one.index >= 0]
        return dict(zip(names(order), (one.score for one in found), strict=True))[name]

    assert score(named, "close_store") > score(usual, "close_store")


def test_files_in_the_chat_are_left_out_and_what_they_use_moves_up() -> None:
    files = {**FILES, "user.py": defining("use", lone_wolf=1)}
    order = ranked(files, chat=["user.py"])
    assert all(one.path != "user.py" for one in order)
    first = order[0]
    assert files[first.path].definitions[first.index].name == "lone_wolf"


def test_only_what_looks_like_a_name_is_taken_for_one() -> None:
    said = "Please read the List in `store`, src/a.py and openStore or run_engine; Thanks, API"
    assert mentioned(said) == {"store", "src/a.py", "openStore", "run_engine"}


def test_rank_is_shared_out_whole_and_flows_to_what_is_pointed_at() -> None:
    rank = pagerank({"a": {"c": 1.0}, "b": {"c": 1.0}}, {"a": 1, "b": 1, "c": 1})
    assert sum(rank.values()) == pytest.approx(1.0)
    assert rank["c"] > rank["a"] == pytest.approx(rank["b"])


def test_an_entry_shows_what_a_definition_stands_inside_and_marks_what_it_leaves_out() -> None:
    definitions = (
        Definition("A", 1, 9, "class A"),
        Definition("one", 2, 3, "def one(self)"),
        Definition("two", 4, 5, "def two(self)"),
        Definition("b", 11, 12, "def b()"),
    )
    shown = "a.py\n  class A\n  ⋮\n    def two(self)\n  ⋮"
    assert entry("a.py", definitions, {2}) == shown
    assert entry("a.py", definitions, {0, 1, 2, 3}).count("⋮") == 0
    assert entry("a.py", definitions, {-1}) == "a.py"


def test_a_newer_map_is_told_as_what_differs() -> None:
    order = ranked(FILES)
    old, new = outline(FILES, order[:2]), outline(FILES, order[:3])
    told = difference(old, new)
    assert "def run_engine()" in told
    assert "open_store" not in told
    assert difference(new, old) == "No longer in it: engine.py"
    assert difference(new, new) == ""


words = st.text("abcdefgh_", min_size=1, max_size=12)
tags = st.builds(
    lambda many, references: defining(*many, **references),
    st.lists(words, max_size=6),
    st.dictionaries(words, st.integers(1, 9), max_size=6),
)


@given(st.dictionaries(words.map("{}.py".format), tags, max_size=8), st.integers(0, 400))
def test_any_map_fits_any_allowance_and_is_the_largest_that_does(
    files: dict[str, Tags], allowance: int
) -> None:
    order = ranked(files)
    made = fitted(files, order, allowance, estimate)
    assert estimate(made.text) == made.tokens <= allowance
    assert made == fitted(dict(reversed(files.items())), ranked(files), allowance, estimate)
    if made.tokens and made.text != outline(files, order):
        shown = next(n for n in range(len(order)) if outline(files, order[:n]) == made.text)
        assert estimate(outline(files, order[: shown + 1])) >= made.tokens


@pytest.mark.parametrize(
    ("name", "weight"),
    [
        ("asked_for", 10.0), ("_asked", 0.1), ("_own", 0.1), ("parse_it", 4.0), ("parseIt8", 4.0),
        ("parse_i", 1.0), ("parsing", 0.2), ("parsings", 1.0), ("Parsing", 1.0), ("PARSE", 1.0),
        ("parse_", 0.2),
    ],
)  # fmt: skip
def test_a_name_weighs_by_how_much_it_tells(name: str, weight: float) -> None:
    assert _weight(name, frozenset({"asked_for"})) == weight
