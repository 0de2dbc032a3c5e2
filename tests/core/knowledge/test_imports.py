"""Which words of an instruction file are imports, and where they lead."""

import pytest

from holdfast.core.knowledge.imports import imports

FILE = "/project/docs/AGENTS.md"


def places(text: str) -> list[str]:
    return [one.place for one in imports(text, FILE, "/home/me")]


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("See @style.md for more", "/project/docs/style.md"),
        ("@../README.md", "/project/README.md"),
        ("- (@./a/b.md)", "/project/docs/a/b.md"),
        ("@~/notes.md.", "/home/me/notes.md"),
        ("@/etc/hosts, please", "/etc/hosts"),
        (r"@with\ blank.md", "/project/docs/with blank.md"),
        ("@Makefile", "/project/docs/Makefile"),
    ],
)
def test_a_path_is_relative_to_the_file_that_names_it(text: str, place: str) -> None:
    assert places(text) == [place]


@pytest.mark.parametrize(
    "text",
    ["me@example.com", "`@style.md`", "``a `@style.md` b``", "```\n@style.md\n```",
     "~~~md\n```\n@style.md\n~~~", "a@b", "@", "@@", "nothing"],
)  # fmt: skip
def test_code_and_addresses_are_no_imports(text: str) -> None:
    assert [one for one in places(text) if "style" in one or "b" in one[-1:]] == []


def test_each_is_named_once_and_what_is_written_as_a_path_says_so() -> None:
    found = imports("@a.md @a.md @types/node @./x", FILE, "/home/me")
    assert [(one.named, one.plain) for one in found] == [
        ("a.md", True), ("types/node", False), ("./x", True)
    ]  # fmt: skip


def test_behind_a_fence_imports_are_seen_again() -> None:
    assert places("```\n@a.md\n```\n@b.md") == ["/project/docs/b.md"]
