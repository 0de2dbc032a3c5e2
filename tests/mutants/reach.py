"""Which tests reach which statement: collected once by running the suite over an instrumented copy.

Every statement in a function is preceded by a write into a file mapped into memory, shared by all
processes that a test starts. A statement is known by its function, its text and how often that text
came before it in the function, so that the map outlives edits elsewhere in the file.
"""

from __future__ import annotations

import ast
import base64
import hashlib
import itertools
import json
import os
import subprocess
import tempfile
import zlib
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import NamedTuple

from tests.mutants import tree

LEFT_OUT = ("agents", "bench", "cli", "docs", "embedders", "faults", "frameworks", "fuzz", "house",
            "long", "mutants", "replay", "repomap", "telemetry")  # fmt: skip
"""Directories of tests that are slow, need other programs, or do not judge the code."""

FIRST = ("core", "codecs", "importers", "ledger", "stores", "contracts", "engine", "agent", "model",
         "counters", "policies", "exporters", "providers")  # fmt: skip

HITS = "from holdfast._hits import HITS as _HITS"


class Place(NamedTuple):
    """One statement of a function."""

    path: str
    function: str
    text: str
    nth: int


class Test(NamedTuple):
    name: str
    seconds: float
    reached: int
    """One bit for each place."""

    @property
    def file(self) -> str:
        return self.name.partition("::")[0]


def places(path: str, source: bytes, module: ast.Module) -> Iterator[tuple[Place, ast.stmt]]:
    """Every statement inside a function, in order."""
    seen: Counter[tuple[str, str]] = Counter()
    lines = source.decode().split("\n")
    for function, statement in _statements(module, ()):
        text = headline(statement, lines)
        yield Place(path, function, text, seen[function, text]), statement
        seen[function, text] += 1


def headline(statement: ast.stmt, lines: list[str]) -> str:
    """The first line of a statement."""
    return lines[statement.lineno - 1].strip()


def _statements(node: ast.AST, within: tuple[str, ...]) -> Iterator[tuple[str, ast.stmt]]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield from _statements(child, (*within, child.name))
            continue
        if within and isinstance(child, ast.stmt):
            yield ".".join(within), child
        yield from _statements(child, within)


def instrument(root: Path, known: dict[Place, int]) -> dict[Place, int]:
    """Make every statement in a function of the copy say that it ran; known places keep numbers."""
    found = dict(known)
    for path, source in tree.sources(root).items():
        module = ast.parse(source)
        marks: dict[ast.stmt, int] = {}
        for place, statement in places(path, source, module):
            marks[statement] = found.setdefault(place, len(found))
        _Marking(marks).visit(module)
        _import(module)
        (root / path).write_text(ast.unparse(ast.fix_missing_locations(module)) + "\n", "utf-8")
    file = root / "hits"
    file.write_bytes(bytes(len(found)))
    (root / tree.SOURCE / "_hits.py").write_text(
        f"import mmap\nwith open({str(file)!r}, 'r+b') as file:\n"
        "    HITS = mmap.mmap(file.fileno(), 0)\n"
    )
    return found


class _Marking(ast.NodeTransformer):
    """Puts a write before each marked statement."""

    def __init__(self, marks: dict[ast.stmt, int]) -> None:
        self.marks = marks

    def generic_visit(self, node: ast.AST) -> ast.AST:
        for name in ("body", "orelse", "finalbody"):
            block = getattr(node, name, None)
            if isinstance(block, list):
                setattr(node, name, list(self._marked(block)))
        return super().generic_visit(node)

    def _marked(self, block: list[ast.stmt]) -> Iterator[ast.stmt]:
        for nth, statement in enumerate(block):
            mark = self.marks.get(statement)
            if mark is not None and not (nth == 0 and _docstring(statement)):
                yield ast.parse(f"_HITS[{mark}] = 1").body[0]
            yield statement


def _docstring(statement: ast.stmt) -> bool:
    return (
        isinstance(statement, ast.Expr)
        and isinstance(statement.value, ast.Constant)
        and isinstance(statement.value.value, str)
    )


def _import(module: ast.Module) -> None:
    after = 0
    for nth, statement in enumerate(module.body[:2]):
        future = isinstance(statement, ast.ImportFrom) and statement.module == "__future__"
        if future or (nth == 0 and _docstring(statement)):
            after = nth + 1
    module.body.insert(after, ast.parse(HITS).body[0])


class Map:
    """What the tests reach: the places, the test files, and in a second file every test."""

    def __init__(self, folder: Path) -> None:
        self.head = folder / "reach.json"
        self.lines = folder / "reach.jsonl"
        self.places: dict[Place, int] = {}
        self.files: dict[str, str] = {}
        """Each test file that was run, with the digest of its content."""
        self.tests: list[Test] = []
        if self.head.exists():
            head = json.loads(self.head.read_text("utf-8"))
            self.places = {Place(*place): nth for nth, place in enumerate(head["places"])}
            self.files = head["files"]
        if self.lines.exists():
            newest = {
                test.name: test for test in map(_test, self.lines.read_text("utf-8").splitlines())
            }
            self.tests = [test for test in newest.values() if (tree.ROOT / test.file).is_file()]

    def save(self) -> None:
        self.head.parent.mkdir(parents=True, exist_ok=True)
        self.head.write_text(json.dumps({"places": list(self.places), "files": self.files}))

    def by_function(self) -> dict[tuple[str, str], int]:
        """For each function the bits of all its statements."""
        bits: dict[tuple[str, str], int] = {}
        for place, nth in self.places.items():
            bits[place[:2]] = bits.get(place[:2], 0) | 1 << nth
        return bits


def _test(line: str) -> Test:
    name, seconds, packed = json.loads(line)
    return Test(name, seconds, int.from_bytes(zlib.decompress(base64.b85decode(packed)), "little"))


def collect(folder: Path, jobs: int, *, quick: bool = False) -> None:
    """Run new and changed test files over instrumented copies; note what each test reaches.

    Folders of tests come one after the other, and each is done with once it has run: a collection
    that was broken off goes on there.
    """
    now = Map(folder)
    files = test_files(tree.ROOT)
    due = sorted((name for name in files if now.files.get(name) != files[name]), key=_soonest)
    if not due:
        return
    print(f"collecting what {len(due)} test files reach")
    with tempfile.TemporaryDirectory(prefix="holdfast-reach-") as scratch:
        roots = [tree.copy(Path(scratch) / str(job)) for job in range(jobs)]
        for root in roots:
            now.places = instrument(root, now.places)
        now.save()
        with ThreadPoolExecutor(jobs) as pool:
            for _, names in itertools.groupby(due, key=lambda name: _soonest(name)[0]):
                group = list(names)
                _forget(now.lines, group)
                shares = [group[job::jobs] for job in range(jobs)]
                run = partial(_run, out=now.lines.resolve(), quick=quick)
                list(pool.map(run, roots, filter(None, shares)))
                now.files |= {name: files[name] for name in group}
                now.save()
    now.files = {name: digest for name, digest in now.files.items() if name in files}
    now.save()


def _forget(lines: Path, files: list[str]) -> None:
    """Take out what tests of these files reached: some may be gone, or have other names."""
    if lines.exists():
        said = lines.read_text("utf-8").splitlines(keepends=True)
        stay = [line for line in said if json.loads(line)[0].partition("::")[0] not in files]
        lines.write_text("".join(stay), "utf-8")


def _soonest(name: str) -> tuple[int, str]:
    """Tests of values come first, those that start programs last: a map broken off is of use."""
    folder = name.split("/")[1]
    return FIRST.index(folder) if folder in FIRST else len(FIRST), name


def test_files(root: Path) -> dict[str, str]:
    """Each test file that may judge a mutant, with the digest of its content."""
    return {
        file.relative_to(root).as_posix(): hashlib.sha256(file.read_bytes()).hexdigest()
        for file in sorted((root / "tests").rglob("test_*.py"))
        if file.relative_to(root / "tests").parts[0] not in LEFT_OUT
    }


def _run(root: Path, files: list[str], *, out: Path, quick: bool) -> None:
    marked = ["-m", "not long and not slow"] if quick else []
    subprocess.run(
        [tree.interpreter(root), "-m", "pytest", "-q", "-p", "no:cacheprovider",
         "-p", "tests.mutants.noting", *marked, *files],
        cwd=root, env={**os.environ, "HOLDFAST_REACHED": str(out)},
        stdin=subprocess.DEVNULL, check=False,
    )  # fmt: skip
