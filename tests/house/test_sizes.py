"""Sizes: a file is one thought, and a function is one step of it.

The limit is where a file has surely become two thoughts. It is no target: an idea that needs 600
lines stays whole, and a second idea is a reason to part a file long before.
"""

import ast
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FILE_LINES = 700
FUNCTION_LINES = 40


def oversize(root: Path) -> list[str]:
    """Every file and function beneath the code directories of `root` that is too long."""
    found: list[str] = []
    for folder in ("src", "tests", "bench", "tools"):
        for file in sorted((root / folder).rglob("*.py")):
            found += [f"{file.relative_to(root)}{complaint}" for complaint in complaints(file)]
    return found


def complaints(file: Path) -> Iterator[str]:
    source = file.read_text("utf-8")
    if (lines := len(source.splitlines())) > FILE_LINES:
        yield f": {lines} lines, at most {FILE_LINES}"
    for node in ast.walk(ast.parse(source, str(file))):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            lines = (node.end_lineno or node.lineno) - node.lineno + 1
            if lines > FUNCTION_LINES:
                yield f":{node.lineno}: {node.name} has {lines} lines, at most {FUNCTION_LINES}"


def test_no_file_and_no_function_is_too_long() -> None:
    assert oversize(ROOT) == []


def test_a_planted_long_file_is_caught(tmp_path: Path) -> None:
    plant(tmp_path, "src/holdfast/long.py", "x = 1\n" * 701)
    assert oversize(tmp_path) == ["src/holdfast/long.py: 701 lines, at most 700"]


def test_a_planted_long_function_is_caught(tmp_path: Path) -> None:
    plant(tmp_path, "tests/test_x.py", "async def f():\n" + "    x = 1\n" * 40)
    assert oversize(tmp_path) == ["tests/test_x.py:1: f has 41 lines, at most 40"]


def test_the_limits_themselves_pass(tmp_path: Path) -> None:
    plant(tmp_path, "bench/x.py", "def f():\n" + "    x = 1\n" * 39 + "y = 1\n" * 660)
    assert oversize(tmp_path) == []


def plant(root: Path, path: str, source: str) -> None:
    file = root / path
    file.parent.mkdir(parents=True)
    file.write_text(source, "utf-8")
