"""What an error says last is what to do: the command line shows it behind `do:`."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

SOURCE = Path(__file__).resolve().parents[2] / "src" / "holdfast"

ERRORS = {"InvalidRequest", "Unknown", "StoreError", "Corrupt", "Outdated", "Unavailable", "Unsafe"}

STATES = {
    "it", "its", "that", "there", "these", "this", "nothing", "one", "entry", "at", "(there",
    "some", "is",
}  # fmt: skip
"""What a statement begins with, and an instruction does not."""


def text(node: ast.AST) -> str:
    """A text as far as it is written in the source."""
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else ""
    if isinstance(node, ast.JoinedStr):
        return "".join(text(part) or "{}" for part in node.values)
    if isinstance(node, ast.BinOp):
        return text(node.left) + text(node.right)
    return ""


def statements(source: str) -> Iterator[str]:
    """The ends of errors that state something: not `; do so`, nor `; as it is: do so`."""
    for node in ast.walk(ast.parse(source)):
        name = getattr(node.func, "id", "") if isinstance(node, ast.Call) else ""
        if not isinstance(node, ast.Call) or name not in ERRORS:
            continue
        told = text(node.args[3] if name == "Unknown" and len(node.args) > 3 else node.args[0])
        _what, mark, do = told.rpartition("; ")
        if name == "Unknown" and len(node.args) <= 3:
            continue
        begins = (do.split() or [""])[0].lower()
        if (mark or name == "Unknown") and begins in STATES and ": " not in do:
            yield do


def test_the_last_words_of_an_error_are_an_instruction() -> None:
    found = [
        f"{file.relative_to(SOURCE)}: {do}"
        for file in sorted(SOURCE.rglob("*.py"))
        for do in statements(file.read_text("utf-8"))
    ]
    assert not found


@pytest.mark.parametrize(
    ("source", "wrong"),
    [
        ('raise InvalidRequest("no entry; it has 1 to 3")', 1),
        ('raise InvalidRequest(f"no entry {n}; name one up to {last}")', 0),
        (
            'raise InvalidRequest("it is unreadable and untouched: run `holdfast doctor`")',
            0,
        ),
        ('raise Unknown("handle", name, (), "That is the last one.")', 1),
    ],
)
def test_a_statement_is_seen(source: str, wrong: int) -> None:
    assert len(list(statements(source))) == wrong
