"""Worktrees that share notes: the repository has to know its worktree."""

import subprocess
from pathlib import Path

from holdfast.engine.knowledge.project import main_worktree


def git(*words: str, cwd: Path) -> None:
    own = ("-c", "user.name=a", "-c", "user.email=a@example.invalid")
    subprocess.run(["git", *own, *words], cwd=cwd, check=True, capture_output=True, timeout=60)


def test_a_worktree_belongs_to_its_repository(tmp_path: Path) -> None:
    main = tmp_path / "main"
    main.mkdir()
    git("init", cwd=main)
    git("commit", "--allow-empty", "-m", "first", cwd=main)
    git("worktree", "add", str(tmp_path / "tree"), cwd=main)
    assert main_worktree(str(tmp_path / "tree")) == str(main)
    assert main_worktree(str(main)) == str(main)


def test_a_directory_that_only_says_so_belongs_to_itself(tmp_path: Path) -> None:
    main = tmp_path / "main"
    main.mkdir()
    git("init", cwd=main)
    git("commit", "--allow-empty", "-m", "first", cwd=main)
    git("worktree", "add", str(tmp_path / "tree"), cwd=main)
    hostile = tmp_path / "hostile"
    hostile.mkdir()
    (hostile / ".git").write_text(f"gitdir: {main}/.git/worktrees/tree\n")
    assert main_worktree(str(hostile)) == str(hostile)
    (hostile / ".git").write_text(f"gitdir: {main}/.git/worktrees/none\n")
    assert main_worktree(str(hostile)) == str(hostile)
