"""No package imports itself in a circle, with imports for types and inside functions counted.

A circle cannot be read in any order: each module of it is understood only after all the others.
"""

import ast
from collections.abc import Iterator
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[2] / "src" / "holdfast"
Graph = dict[str, set[str]]


def graph(package: Path) -> Graph:
    """Every module with the modules it imports, wherever in it and for whatever."""
    files = {name(file, package): file for file in package.rglob("*.py")}
    return {module: set(imported(file, set(files))) - {module} for module, file in files.items()}


def name(file: Path, package: Path) -> str:
    parts = ("holdfast", *file.relative_to(package).with_suffix("").parts)
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imported(file: Path, known: set[str]) -> Iterator[str]:
    for node in ast.walk(ast.parse(file.read_text("utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                inner = f"{node.module}.{alias.name}"
                yield from {inner if inner in known else node.module} & known
        elif isinstance(node, ast.Import):
            yield from {alias.name for alias in node.names} & known
        elif isinstance(node, ast.Call) and ast.unparse(node.func) == "later":
            yield from {str(ast.literal_eval(node.args[0]))} & known


def circles(imports: Graph) -> list[set[str]]:
    """The sets of modules that reach one another (strongly connected, more than one)."""
    reach = {module: reached(module, imports) for module in imports}
    found = {
        frozenset(other for other in reach[module] if module in reach[other])
        for module in imports
        if module in reach[module]
    }
    return sorted(map(set, found), key=len)


def reached(start: str, imports: Graph) -> set[str]:
    seen, left = set[str](), [*imports[start]]
    while left:
        module = left.pop()
        if module not in seen:
            seen.add(module)
            left += imports[module]
    return seen


OPEN = (
    *("holdfast.cli.chat", "holdfast.cli.sessions", "holdfast.cli.usage"),
    "holdfast.engine.knowledge",
)
"""Packages that are still to be straightened."""


def test_no_package_imports_itself_in_a_circle() -> None:
    found = circles(graph(PACKAGE))
    assert [one for one in found if not min(one).startswith(OPEN)] == []


def test_a_planted_circle_is_found_for_types_and_in_functions_too(tmp_path: Path) -> None:
    plant(tmp_path, "a.py", "if TYPE_CHECKING:\n    from holdfast.b import B")
    plant(tmp_path, "b.py", "def f():\n    from holdfast import c")
    plant(tmp_path, "c.py", "x = later('holdfast.a')")
    plant(tmp_path, "d.py", "from holdfast.a import A")
    assert circles(graph(tmp_path)) == [{"holdfast.a", "holdfast.b", "holdfast.c"}]


def plant(package: Path, path: str, source: str) -> None:
    (package / path).write_text(source, "utf-8")
