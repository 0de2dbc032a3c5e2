"""Packages: few enough modules to find a name by looking, and each module says what it is."""

import ast
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[2] / "src" / "holdfast"
MODULES = 12

LARGER = {
    "model": "one frozen value a module, named by the glossary",
    "core/knowledge": "instructions, trust and notes, each decision a module",
    "engine": "what both doors share, beside its packages",
    "engine/compaction": "one module for each part of climbing the ladder",
    "engine/knowledge": "instructions, trust and notes, each deed a module",
    "engine/importing": "one module for each stage of an import",
    "agent": "the loop and what it is made of, beside tools and permissions",
    "cli/chat": "everything a conversation on a terminal needs",
    "stores/sql": "one module for each port",
    "testing/contracts": "one contract for each port",
    "testing/strict": "one provider's rules and face each",
}
"""Packages with more modules, and why they stay whole."""


def modules(package: Path) -> dict[str, int]:
    """How many modules each package holds."""
    found: dict[str, int] = {}
    for head in package.rglob("__init__.py"):
        folder = head.parent
        found[folder.relative_to(package).as_posix()] = len(list(folder.glob("*.py"))) - 1
    return found


def headless(package: Path) -> list[str]:
    """Modules without a sentence at their head."""
    return [
        file.relative_to(package).as_posix()
        for file in sorted(package.rglob("*.py"))
        if not ast.get_docstring(ast.parse(file.read_text("utf-8")))
    ]


def test_a_package_holds_at_most_twelve_modules_or_says_why() -> None:
    large = {name for name, count in modules(PACKAGE).items() if count > MODULES}
    assert large == set(LARGER)


def test_every_module_begins_with_what_it_is() -> None:
    assert headless(PACKAGE) == []


def test_a_planted_crowd_and_a_planted_headless_module_are_seen(tmp_path: Path) -> None:
    for name in ("__init__", *(f"m{n}" for n in range(13))):
        (tmp_path / f"{name}.py").write_text('"""Head."""\n' if name != "m0" else "x = 1\n")
    assert modules(tmp_path) == {".": 13}
    assert headless(tmp_path) == ["m0.py"]


def test_core_and_engine_use_the_same_words() -> None:
    same = {"window", "compaction", "calls"}
    for side in ("core", "engine"):
        assert same <= {folder.name for folder in (PACKAGE / side).iterdir() if folder.is_dir()}
