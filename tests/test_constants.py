"""Every limit, table of words and default of the packages that decide: tests/golden/constants.txt.

A limit that is a hundred times too large, a word that is spelt wrong in a table, a default that is
another: hardly any test comes to each of them, and each is a promise. So they are written down, a
line for each, and whoever changes one sees it in the difference. A change that is meant is taken
over with

    python -m tests.test_constants
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import msgspec
import pytest

import holdfast
from tests.changing import compare, short_hash

GOLDEN = Path(__file__).parent / "golden" / "constants.txt"
PACKAGES = ("agent", "codecs", "core", "engine", "importers", "stores")
SQL = re.compile(r"\b(?:SELECT|UPDATE|DELETE|INSERT|CREATE|WHERE)\b")
MOST = 300
"""Of what is longer the beginning is written down, and a hash."""


def test_no_limit_table_or_default_changes_by_accident() -> None:
    compare(GOLDEN, described(), "tests.test_constants")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (200, 20_000), (("a", "b"), ("a",)), ({"stop": "end"}, {"stop_": "end"}), ({3}, {4}),
        ("SELECT 1 AS a", "SELECT 2 AS a"), ([(1, {"x": 2})], [(1, {"x": 3})]),
    ],
)  # fmt: skip
def test_a_planted_change_is_seen(one: Any, other: Any) -> None:
    assert said(one) != said(other)


def described() -> str:
    return "".join(f"{line}\n" for package in PACKAGES for line in _package(package))


def _package(package: str) -> Iterator[str]:
    root = Path(holdfast.__file__).parent
    for file in sorted((root / package).rglob("*.py")):
        name = ".".join(("holdfast", *file.relative_to(root).with_suffix("").parts))
        if file.name != "__main__.py":
            yield from _module(import_module(name.removesuffix(".__init__")))


def _module(module: ModuleType) -> Iterator[str]:
    where, own = module.__name__.removeprefix("holdfast."), _bound(module)
    for name, value in vars(module).items():
        if isinstance(value, type) and value.__module__ == module.__name__:
            yield from (f"{where}.{name}.{line}" for line in _defaults(value))
        elif name in own and (told := said(value)):
            short = told if len(told) <= MOST else f"{told[: MOST - 20]} … {short_hash(told)}"
            yield f"{where}.{name} = {short}"


def _bound(module: ModuleType) -> set[str]:
    """The names that a module gives a value itself, rather than importing it."""
    found: set[str] = set()
    for one in ast.parse(Path(str(module.__file__)).read_text("utf-8")).body:
        targets = one.targets if isinstance(one, ast.Assign) else [getattr(one, "target", None)]
        found |= {name.id for target in targets if target for name in ast.walk(target)
                  if isinstance(name, ast.Name)}  # fmt: skip
    return found


def _defaults(kind: type) -> Iterator[str]:
    """What the fields of a struct are where nobody says, and what is bound in any class."""
    if issubclass(kind, msgspec.Struct):
        known = kind.__struct_defaults__
        for name, default in zip(kind.__struct_fields__[-len(known) :], known, strict=False):
            if told := said(default):
                yield f"{name} = {told}"
    for name, value in vars(kind).items():
        if isinstance(value, int | float | str | tuple | frozenset) and not name.startswith("_"):
            yield f"{name} = {said(value)}"


def said(value: Any) -> str:
    """A value as a text that is the same each time; empty for what is neither word nor number."""
    match value:
        case str() if re.search(r"\s", value) and not SQL.search(value):
            return "words"  # what people read, and what they write, is judged by other tests
        case bool() | int() | float() | str() | bytes() | None:
            return repr(value)
        case dict():
            return f"{{{', '.join(f'{_inner(key)}: {_inner(one)}' for key, one in value.items())}}}"
        case tuple() | list():
            return f"[{', '.join(map(_inner, value))}]"
        case set() | frozenset():
            return f"{{{', '.join(sorted(map(_inner, value)))}}}"
        case msgspec.Struct():
            fields = value.__struct_fields__
            return f"{type(value).__name__}({', '.join(f'{name}={_inner(getattr(value, name))}' for name in fields)})"  # noqa: E501
    return ""


def _inner(value: Any) -> str:
    return said(value) or getattr(value, "__qualname__", type(value).__name__)


def main() -> None:
    """Write down what they are now."""
    GOLDEN.write_text(described(), "utf-8")


if __name__ == "__main__":
    main()
