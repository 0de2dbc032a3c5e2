"""Frontmatter is read as it is written in real files, and what is written is read back."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.core.knowledge.frontmatter import read, write

READ = {
    "a value": ("---\nname: x\n---\nbody\n", {"name": "x"}, "body\n"),
    "a list in brackets": ('---\npaths: ["src/**", \'b, c\', d]\n---\n',
                           {"paths": ("src/**", "b, c", "d")}, ""),
    "a list of items": (
        "---\npaths:\n  - a/*\n- 'b'\n  # none\n---\nx", {"paths": ("a/*", "b")}, "x"),
    "a folded text": ("---\ndescription: >-\n  one\n  two\n\n  three\nname: n\n---\n",
                      {"description": "one two\nthree", "name": "n"}, ""),
    "a literal text": (
        "---\ndescription: |\n  one\n   two\n---\n", {"description": "one\n two"}, ""),
    "a value over two lines": (
        "---\ndescription: one\n  two\n---\n", {"description": "one two"}, ""),
    "a comment": ("---\nname: x # y\n# z\n---\n", {"name": "x"}, ""),
    "quotes": (
        '---\na: "x: \\"y\\" # z"\nb: \'it\'\'s\'\n---\n', {"a": 'x: "y" # z', "b": "it's"}, ""),
    "a mark of byte order": ("\ufeff---\na: b\n---\nc", {"a": "b"}, "c"),
    "Windows lines": ("---\r\na: b\r\n---\r\nc\r\n", {"a": "b"}, "c\r\n"),
    "no value": ("---\na:\n---\n", {"a": ""}, ""),
    "no frontmatter": ("# x\n---\na: b\n---\n", {}, "# x\n---\na: b\n---\n"),
    "a head that is not closed": ("---\na: b\n", {}, "---\na: b\n"),
    "lines that are no fields": ("---\n???\na: b\n---\n", {"a": "b"}, ""),
}  # fmt: skip


@pytest.mark.parametrize(("text", "fields", "body"), READ.values(), ids=READ)
def test_what_files_have_is_read(text: str, fields: dict[str, object], body: str) -> None:
    found = read(text)
    assert found.fields == fields
    assert found.body == body


def test_a_text_is_a_list_of_what_stands_between_its_commas_but_for_braces() -> None:
    found = read("---\npaths: src/**/*.{ts,tsx}, lib/*\n---\n")
    assert found.list("paths") == ("src/**/*.{ts,tsx}", "lib/*")
    assert found.text("paths") == "src/**/*.{ts,tsx}, lib/*"
    assert found.list("none") == ()


def test_a_head_without_end_is_body() -> None:
    text = "---\n" + "a: b\n" * 201 + "---\n"
    assert read(text).fields == {}


texts = st.text(st.characters(exclude_categories=["Cs"]))
names = st.from_regex(r"[A-Za-z_][\w.-]{0,8}", fullmatch=True)


@given(st.dictionaries(names, texts | st.lists(texts.filter(bool), min_size=1).map(tuple)), texts)
def test_what_is_written_is_read_back(fields: dict[str, str], body: str) -> None:
    found = read(write(fields, body))
    assert found.fields == fields
    assert found.body == body


@given(st.text())
def test_reading_never_fails(text: str) -> None:
    read("---\n" + text + "\n---\n")
