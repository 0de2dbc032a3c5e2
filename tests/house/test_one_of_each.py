"""What exists once stays one: how a name is guessed, a call's row built, an entry found."""

import ast
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[2] / "src" / "holdfast"


def uses(name: str, package: Path = PACKAGE) -> set[str]:
    """The files that call or import this name."""
    found: set[str] = set()
    for file in package.rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            imported = isinstance(node, ast.ImportFrom) and name in {a.name for a in node.names}
            called = isinstance(node, ast.Call) and ast.unparse(node.func).split(".")[-1] == name
            if called or imported:
                found.add(file.relative_to(package).as_posix())
    return found


def test_one_function_says_which_name_may_be_meant() -> None:
    assert uses("get_close_matches") == set()


def test_one_function_of_the_engine_builds_the_row_of_a_call() -> None:
    calls = {file for file in uses("Call") if file.startswith("engine/")}
    built = {file for file in calls if "Call(" in (PACKAGE / file).read_text("utf-8")}
    assert {file for file in built if _builds(PACKAGE / file)} <= {
        "engine/calls/record.py",
        "engine/importing/session_import.py",  # calls that other programs have recorded
    }


def _builds(file: Path) -> bool:
    return any(
        isinstance(node, ast.Call) and ast.unparse(node.func) == "Call"
        for node in ast.walk(ast.parse(file.read_text("utf-8")))
    )


@pytest.mark.parametrize(
    "source", ["from difflib import get_close_matches\n", "x = d.get_close_matches(1)\n"]
)
def test_a_second_one_is_noticed(tmp_path: Path, source: str) -> None:
    (tmp_path / "second.py").write_text(source, "utf-8")
    assert uses("get_close_matches", tmp_path) == {"second.py"}
