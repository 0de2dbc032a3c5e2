"""Imports go one way only, and pure packages import nothing that can act."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

PURE = {"errors", "model", "core", "codecs"}
SEAMS = PURE | {"ports", "files", "gitignore", "failpoints", "child_process"}
ENGINE = SEAMS | {"engine", "exporters"}
AGENT = ENGINE | {"agent"}

# What each part of the package may import from the rest of it. "__init__" is holdfast/__init__.py.
ALLOWED: dict[str, set[str]] = {
    "errors": set(),
    "model": {"errors"},
    "core": {"errors", "model"},
    "codecs": {"errors", "model"},
    "exporters": {"errors", "model", "core"},
    "ports": {"errors", "model"},
    "files": {"errors"},
    "gitignore": {"errors", "files"},
    "failpoints": set(),
    "child_process": set(),
    "stores": SEAMS,
    "providers": SEAMS | {"policies"},
    "importers": SEAMS,
    "counters": SEAMS,
    "knowledge": SEAMS,
    "workspace": SEAMS,
    "repomap": SEAMS,
    "telemetry": SEAMS,
    "embedders": SEAMS,
    "policies": {"errors", "model", "core"},
    "engine": SEAMS | {"exporters"},
    "testing": ENGINE,
    "agent": ENGINE,
    "cli": AGENT | {"__init__"},  # the demo is an example of the public names
    "frameworks": ENGINE,
    "gateway": AGENT,
    "lab": AGENT,
    "__init__": ENGINE,
}

CAN_ACT = {
    *("asyncio", "threading", "concurrent", "multiprocessing", "subprocess", "signal"),
    *("sqlite3", "apsw", "psycopg", "http", "httpx", "httpx2", "urllib", "socket", "ssl"),
    *("os", "pathlib", "shutil", "tempfile", "time", "uuid", "random", "secrets", "logging"),
}
# Modules from outside that a part must not import; then the files that are excused.
BANNED: dict[str, set[str]] = {
    "model": CAN_ACT,
    "core": CAN_ACT,
    "codecs": CAN_ACT,
    "exporters": CAN_ACT,
    "engine": {"asyncio"},
}
EXCUSED = {"engine/background_threads.py", "engine/client.py", "engine/bridge.py"}


def violations(package: Path) -> list[str]:
    """Every import beneath `package` that the tables above do not allow."""
    found: list[str] = []
    for file in sorted(package.rglob("*.py")):
        place = file.relative_to(package)
        part = place.parts[0].removesuffix(".py")
        if part not in ALLOWED:
            found.append(f"{place}: add {part!r} to the table in tests/house/test_imports.py")
            continue
        for line, module in imports(file, package):
            if reason := refusal(part, place, module):
                found.append(f"{place}:{line}: {reason}")
    return found


def refusal(part: str, place: Path, module: str) -> str | None:
    top, _, rest = module.partition(".")
    if top != "holdfast":
        banned = top in BANNED.get(part, set()) and place.as_posix() not in EXCUSED
        return f"{part} must not import {top}" if banned else None
    target = rest.partition(".")[0] or "__init__"
    if target == part or target in ALLOWED[part]:
        return None
    return f"{part} must not import holdfast.{target}"


def imports(file: Path, package: Path) -> Iterator[tuple[int, str]]:
    """Line and absolute name of everything a file imports, inside functions too."""
    for node in ast.walk(ast.parse(file.read_text("utf-8"), str(file))):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            module = absolute(node, file, package)
            if module == "holdfast":  # `from holdfast import core` means holdfast.core
                yield from ((node.lineno, inside(package, alias.name)) for alias in node.names)
            else:
                yield node.lineno, module


def absolute(node: ast.ImportFrom, file: Path, package: Path) -> str:
    if not node.level:
        return node.module or ""
    home = ["holdfast", *file.relative_to(package).parts[:-1]]
    return ".".join([*home[: len(home) - node.level + 1], *filter(None, [node.module])])


def inside(package: Path, name: str) -> str:
    known = name in ALLOWED or (package / name).is_dir() or (package / f"{name}.py").exists()
    return f"holdfast.{name}" if known else "holdfast"


def test_imports_go_one_way() -> None:
    assert violations(ROOT / "src/holdfast") == []


@pytest.mark.parametrize(
    ("path", "source", "reason"),
    [
        ("core/log/fold.py", "import asyncio", "core must not import asyncio"),
        ("model/log.py", "def f():\n    from os import path", "model must not import os"),
        ("codecs/x.py", "import http.client", "codecs must not import http"),
        ("engine/turn.py", "import asyncio", "engine must not import asyncio"),
        (
            "model/log.py",
            "from holdfast.core.log.fold import fold",
            "model must not import holdfast.core",
        ),
        ("model/log.py", "from holdfast import core", "model must not import holdfast.core"),
        ("model/log.py", "from ..core import fold", "model must not import holdfast.core"),
        (
            "stores/sqlite/store.py",
            "import holdfast.engine",
            "stores must not import holdfast.engine",
        ),
        (
            "stores/sqlite/store.py",
            "import holdfast.importers",
            "stores must not import holdfast.importers",
        ),
        ("errors.py", "from holdfast.model import log", "errors must not import holdfast.model"),
        ("core/log/fold.py", "from holdfast import open", "core must not import holdfast.__init__"),
        ("utils/x.py", "", "add 'utils' to the table"),
    ],
)
def test_a_planted_violation_is_caught(tmp_path: Path, path: str, source: str, reason: str) -> None:
    plant(tmp_path, path, source)
    assert [line for line in violations(tmp_path) if reason in line]


@pytest.mark.parametrize(
    ("path", "source"),
    [
        ("core/log/fold.py", "from holdfast.model.log import Entry\nimport json"),
        ("core/log/fold.py", "from .boundary import rule"),
        ("engine/client.py", "import asyncio"),
        ("cli/main.py", "from holdfast.engine import doors"),
        ("__init__.py", "from .engine.doors import open"),
    ],
)
def test_what_is_allowed_passes(tmp_path: Path, path: str, source: str) -> None:
    plant(tmp_path, path, source)
    assert violations(tmp_path) == []


def plant(package: Path, path: str, source: str) -> None:
    file = package / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(source, "utf-8")
