"""Which files are listed: those git itself would list, and nothing is run to know it."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from holdfast.files import Root
from holdfast.gitignore import rules
from holdfast.repomap.file_list import listing

PATHS = (
    *("a.py", "b.py", "made.py", "kept/made.py", "deep/in/made.py", "deep/in/x.py", "deep/y.py"),
    *("build/z.py", "src/build/z.py", "src/build.py", "#sharp.py", "!bang.py", "star*.py"),
    *("starry.py", "t1.py", "t2.py", "t10.py", "logs/one/a.py", "logs/b.py", "x/logs/c.py"),
    *("docs/a/b/c.py", "docs/c.py", "space .py", "trail.py", ".hidden/h.py", "q^.py", "qa.py"),
)
PATTERNS = (
    *("made.py", "/made.py", "kept/made.py", "deep/", "deep/*", "deep/**", "**/in", "**/made.py"),
    *("build/", "/build", "src/build", "*.py\n!a.py", "!a.py\n*.py", "\\#sharp.py", "#sharp.py"),
    *(
        "\\!bang.py",
        "!bang.py",
        "star\\*.py",
        "star*",
        "t[0-9].py",
        "t[!1].py",
        "t[^1].py",
        "t?.py",
    ),
    *("logs/**/a.py", "logs/*.py", "x/logs/", "docs/**/c.py", "docs/*/c.py", "space\\ .py"),
    *("trail.py   ", "b.py\r", "*\n!*/\n!deep/in/x.py", "[", "[]", "[a", "**", "/**", "a.py/"),
    *("q[\\^].py", "/", "//", "***", "a**", "**/", "deep/in/\n!deep/in/x.py", "docs/a/b/c.py"),
)


def git(root: Path, *words: str) -> str:
    asked = ["git", "-c", "user.email=a@b", "-c", "user.name=a", "-c", "core.excludesFile=", *words]
    return subprocess.run(
        asked, cwd=root, check=True, capture_output=True, timeout=30
    ).stdout.decode()


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    root = tmp_path / "repository"
    for path in PATHS:
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text("x = 1\n")
    git(root, "init", "-q")
    return root


def as_git_lists(root: Path) -> list[str]:
    return sorted(git(root, "ls-files", "-z", "--others", "--exclude-standard").split("\0")[:-1])


@pytest.mark.parametrize("pattern", PATTERNS)
@pytest.mark.parametrize("file", [".gitignore", ".git/info/exclude", "deep/.gitignore"])
def test_it_lists_what_git_lists(repository: Path, file: str, pattern: str) -> None:
    (repository / file).write_text(f"{pattern}\n")
    git_lists = [path for path in as_git_lists(repository) if path.endswith(".py")]
    assert sorted(listing(Root(repository))) == git_lists
    beneath = [path for path in as_git_lists(repository / "deep") if path.endswith(".py")]
    if any(path.startswith("deep/") for path in git_lists):
        assert sorted(listing(Root(repository / "deep"))) == beneath


def test_the_nearest_file_decides_and_a_repository_within_is_another(repository: Path) -> None:
    (repository / ".gitignore").write_text("x.py\ny.py\n")
    (repository / "deep" / ".gitignore").write_text("!y.py\n")
    git(repository / "docs", "init", "-q")
    found = listing(Root(repository))
    assert sorted(found) == [path for path in as_git_lists(repository) if path.endswith(".py")]
    assert "deep/y.py" in found
    assert "docs/c.py" not in found


def test_patterns_made_to_take_long_do_not() -> None:
    names = ("a" * 200,) * 30
    for pattern in ("*a" * 400 + "b", "**/a*/" * 150 + "b", "[" * 1_000, "\\" * 999, "?*" * 500):
        assert not any(rule.fits(names, False) for rule in rules(pattern))


def hostile(tmp_path: Path) -> Path:
    """A repository that lacks a file, and says with which command to fetch it."""
    origin, evil = tmp_path / "origin", tmp_path / "evil"
    origin.mkdir()
    git(origin, "init", "-q")
    (origin / ".gitignore").write_text("made.py\n")
    (origin / "a.py").write_text("x = 1\n")
    git(origin, "add", ".")
    git(origin, "commit", "-qm", "x")
    git(origin, "config", "uploadpack.allowFilter", "true")
    git(tmp_path, "clone", "-q", "--no-checkout", "--filter=blob:none", f"file://{origin}", "evil")
    git(evil, "read-tree", "HEAD")
    git(evil, "update-index", "--skip-worktree", ".gitignore")
    (evil / "b.py").write_text("y = 1\n")
    git(evil, "config", "remote.origin.uploadpack", f"env > {tmp_path}/STOLEN; false")
    return evil


def bare(tmp_path: Path, evil: Path) -> Path:
    """The same as a plain directory of another repository, with its work tree beneath it."""
    sub = tmp_path / "clone" / "examples"
    shutil.copytree(evil / ".git", sub)
    (sub / "wt").mkdir()
    (sub / "wt" / "b.py").write_text("y = 1\n")
    git(sub, "config", "-f", "config", "core.bare", "false")
    git(sub, "config", "-f", "config", "core.worktree", "wt")
    return sub


def test_a_hostile_repository_runs_nothing(tmp_path: Path) -> None:
    evil = hostile(tmp_path)
    sub = bare(tmp_path, evil)
    git(evil, "config", "core.fsmonitor", f"env > {tmp_path}/STOLEN; false")
    for place in (evil, sub, sub / "wt"):
        assert [path for path in listing(Root(place)) if path.endswith("b.py")]
        assert not (tmp_path / "STOLEN").exists()
    git_env = {**os.environ, "GIT_TERMINAL_PROMPT": "0"}
    for place in (evil, sub / "wt"):
        subprocess.run(
            ["git", "-c", "core.fsmonitor=false", "ls-files", "--others", "--exclude-standard"],
            cwd=place, env=git_env, capture_output=True, timeout=30, check=False,
        )  # fmt: skip
        assert (tmp_path / "STOLEN").exists(), "git itself would have run it"
        (tmp_path / "STOLEN").unlink()


def test_no_program_called_git_is_run(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake = repository / "git"
    fake.write_text(f"#!/bin/sh\ntouch {repository}/ran\n")
    fake.chmod(0o755)
    monkeypatch.setenv("PATH", f"{repository}:{os.environ['PATH']}")
    assert "a.py" in listing(Root(repository))
    assert not (repository / "ran").exists()
