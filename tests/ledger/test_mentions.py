"""Paths are found as their pattern has them, though most words are never given to it."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from holdfast.core.ledger.checks import mentions

PIECES = st.sampled_from(
    ["a", "b_c", "Node", ".", "/", "\\", "-", ":", "12", ".py", ".json", ".js", ")", "(", '"', "é"]
)


@given(st.lists(PIECES, min_size=1, max_size=12).map("".join))
def test_no_word_with_a_path_is_passed_over(word: str) -> None:
    found = mentions._PATH.search(word)  # pyright: ignore[reportPrivateUsage]
    assert found is None or "/" in word or mentions._ENDED.search(word)  # pyright: ignore[reportPrivateUsage]


def test_paths_in_what_a_tool_was_given() -> None:
    given = 'sed -n 1,9p src/a.py "b.json",(c.toml) obj.method() so. **Well.** Node.js *.py'
    assert list(mentions.paths(given)) == ["src/a.py", "b.json", "c.toml"]
