"""Which paths a rule is for."""

import pytest

from holdfast.core.knowledge.rules import alternatives, matches


@pytest.mark.parametrize(
    ("pattern", "path", "like"),
    [
        ("src/**/*.py", "src/a/b/c.py", True),
        ("src/**/*.py", "src/c.py", True),
        ("src/**/*.py", "src/c.ts", False),
        ("src/**/*.py", "lib/src/c.py", False),
        ("src/*.py", "src/a/c.py", False),
        ("**/*.ts", "a.ts", True),
        ("**/*.ts", "x/y/a.ts", True),
        ("*.md", "docs/x.md", True),
        ("docs/", "docs/x/y.md", True),
        ("docs/api", "docs/api/y.md", True),
        ("docs/**", "docs", False),
        ("docs/**", "docs/x/y", True),
        ("src/**/*.{ts,tsx}", "src/a.tsx", True),
        ("{src,lib}/**/*.{c,h}", "lib/x/y.h", True),
        ("{src,lib}/**/*.{c,h}", "bin/x/y.h", False),
        ("./src/a?.py", "src/ab.py", True),
        ("/src/a.py", "src/a.py", True),
        ("**", "anything/at/all", True),
        ("", "a", False),
        ("src/[ab].py", "src/b.py", True),
        ("x" * 600, "x" * 600, False),
    ],
)
def test_a_pattern_is_for_paths(pattern: str, path: str, like: bool) -> None:
    assert matches([pattern], path) is like


def test_any_of_several_will_do_and_none_matches_nothing() -> None:
    assert matches(["a/*", "b/*"], "b/x")
    assert not matches([], "b/x")


def test_braces_are_written_out_and_bounded() -> None:
    assert set(alternatives("a{b,c{d,e}}")) == {"ab", "acd", "ace"}
    assert alternatives("{a,b}" * 12) == []
    assert alternatives("a}b{") == ["a}b{"]


def test_a_pattern_made_to_be_slow_is_not() -> None:
    assert not matches(
        ["/".join(["**", "a*a*a*b"] * 20)], "/".join(["aaaaaaaaaaaaaaaaaaaac"] * 200)
    )
