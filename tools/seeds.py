"""Which test holds which item of the seed documents: `python tools/seeds.py [--open] [--find X]`.

`tests/seed_items.tsv` lists the items in our own words, numbered within each seed. A test names
those it holds: `@pytest.mark.seed("004", 12, 13)`. Without an option this writes docs/seeds.md anew
from the marks; it reads the tests as text and runs none, so after a merge it is simply run again.
"""

from __future__ import annotations

import argparse
import ast
import csv
import sys
import tomllib
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
PAGE = Path("docs/seeds.md")
AREAS = {"K": "knowledge", "W": "workspace", "": "context"}

HEAD = """\
# The seed documents, item by item

Holdfast began with four documents that describe how Aider, Codex, OpenCode, Claude Code and Gemini
CLI keep their context, and what a library for all of them would need. Each thing that they ask for
is an item here, with the module that does it and a test that fails where it does not.

This page is made by `python tools/seeds.py` from `tests/seed_items.tsv` and from the marks in the
tests (`@pytest.mark.seed("004", 12)`). `python tools/seeds.py --open` lists the items that no test
holds yet.
"""


class Item(NamedTuple):
    """One thing that a seed document asks for."""

    seed: str
    number: int
    line: str
    system: str
    area: str
    what: str
    where: tuple[str, ...]

    @property
    def key(self) -> tuple[str, int]:
        return self.seed, self.number


class Difference(NamedTuple):
    """Items that Holdfast does otherwise on purpose, and the law that demands it."""

    items: tuple[tuple[str, int], ...]
    law: int
    why: str


def items(root: Path = ROOT) -> list[Item]:
    """The items in the order of the documents."""
    with (root / "tests/seed_items.tsv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    return [
        Item(r["seed"], int(r["item"]), r["line"], r["system"], r["area"], r["what"],
             tuple(r["where"].split()))
        for r in rows
    ]  # fmt: skip


def differences(root: Path = ROOT) -> list[Difference]:
    """The deliberate differences."""
    table = tomllib.loads((root / "tests/seed_differences.toml").read_text("utf-8"))
    return [
        Difference(tuple(map(_key, one["items"])), int(one["law"]), str(one["why"]))
        for one in table.get("difference", [])
    ]


def _key(text: str) -> tuple[str, int]:
    seed, _, number = text.partition("-")
    return seed, int(number)


def holding(root: Path = ROOT) -> dict[tuple[str, int], list[str]]:
    """The tests that hold each item."""
    found: dict[tuple[str, int], list[str]] = defaultdict(list)
    for file in sorted((root / "tests").rglob("test_*.py")):
        source = file.read_text("utf-8")
        if "mark.seed(" not in source:
            continue
        for name, key in marks(ast.parse(source, str(file))):
            test = f"{file.relative_to(root).as_posix()}{name}"
            if test not in found[key]:
                found[key].append(test)
    return dict(found)


def marks(node: ast.AST, name: str = "") -> Iterator[tuple[str, tuple[str, int]]]:
    """Every mark in a file, with the test that has it; one for all its tests has no name."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        name = f"{name}::{node.name}"
    if isinstance(node, ast.Call) and ast.unparse(node.func).endswith("mark.seed"):
        said = [ast.literal_eval(argument) for argument in node.args]
        if len(said) < 2 or not isinstance(said[0], str):
            raise SystemExit(f'line {node.lineno}: write @pytest.mark.seed("004", 12, 13)')
        for number in said[1:]:
            yield name, (said[0], number)
    for child in ast.iter_child_nodes(node):
        yield from marks(child, name)


def unheld(root: Path = ROOT) -> list[Item]:
    """The items that no test holds and that are no deliberate difference."""
    decided = {key for one in differences(root) for key in one.items}
    closed = decided | set(holding(root))
    return [one for one in items(root) if one.key not in closed]


def unknown(root: Path = ROOT) -> list[str]:
    """The marks that name no item, each with its test."""
    known = {one.key for one in items(root)}
    found = holding(root)
    return [f"{test}: {seed}-{n}" for (seed, n), tests in found.items() if (seed, n) not in known
            for test in tests]  # fmt: skip


def page(root: Path = ROOT) -> str:
    """The page, as it should read now."""
    found, decided = holding(root), differences(root)
    otherwise = {key: place for place, one in enumerate(decided, 1) for key in one.items}
    lines = [HEAD, *_counts(items(root), found, otherwise), *_decided(decided)]
    group = ""
    for one in items(root):
        if group != (group := f"Seed {one.seed}: {one.system}"):
            lines += [
                "",
                f"## {group}",
                "",
                "| item | line | what | where | test |",
                "|---|---|---|---|---|",
            ]
        tests = "<br>".join(f"`{test}`" for test in found.get(one.key, []))
        tests = tests or (f"difference {otherwise[one.key]}" if one.key in otherwise else "open")
        where = ", ".join(f"`{path}`" for path in one.where)
        lines.append(
            f"| {one.seed}-{one.number} | {one.line} | {_cell(one.what)} | {where} | {tests} |"
        )
    return "\n".join(lines) + "\n"


def _counts(
    every: list[Item],
    found: dict[tuple[str, int], list[str]],
    otherwise: dict[tuple[str, int], int],
) -> Iterator[str]:
    yield from (
        "| items about | all | held by a test | different on purpose | open |",
        "|---|---|---|---|---|",
    )
    for area, name in sorted(AREAS.items(), key=lambda pair: pair[1]):
        own = [one.key for one in every if one.area == area]
        held = sum(key in found for key in own)
        other = sum(key in otherwise and key not in found for key in own)
        yield f"| {name} | {len(own)} | {held} | {other} | {len(own) - held - other} |"


def _decided(decided: list[Difference]) -> Iterator[str]:
    if decided:
        yield from (
            "",
            "## Differences on purpose",
            "",
            "| | items | what a law demands |",
            "|---|---|---|",
        )
    for place, one in enumerate(decided, 1):
        keys = ", ".join(f"{seed}-{number}" for seed, number in one.items)
        yield f"| {place} | {keys} | Law {one.law}: {_cell(one.why)} |"


def _cell(text: str) -> str:
    """Text that a table of Markdown shows as it is."""
    for raw, shown in (
        ("&", "&amp;"),
        ("<", "&lt;"),
        (">", "&gt;"),
        ("|", "&#124;"),
        ("*", "&#42;"),
    ):
        text = text.replace(raw, shown)
    return text.replace("[", "&#91;").replace("_", "&#95;")


def main(arguments: list[str]) -> int:
    read = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    read.add_argument("--open", nargs="?", const="all", metavar="AREA",
                      help="list what no test holds: all, or K, W or context")  # fmt: skip
    read.add_argument("--find", metavar="WORD", help="list the items that say a word")
    told = read.parse_args(arguments)
    if told.open is None and told.find is None:
        (ROOT / PAGE).write_text(page(), "utf-8")
        return 0
    shown = items() if told.open is None else unheld()
    if told.open not in (None, "all"):
        shown = [one for one in shown if (one.area or "context") == told.open]
    if told.find:
        shown = [one for one in shown if told.find.lower() in f"{one.system} {one.what}".lower()]
    for one in shown:
        print(
            f'"{one.seed}", {one.number}', one.line, one.system, one.area or "-", one.what, sep="\t"
        )
    print(f"{len(shown)} items", file=sys.stderr)
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
