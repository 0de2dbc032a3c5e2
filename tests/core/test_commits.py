"""Commits and pull requests, read off commands and their answers."""

import subprocess
from pathlib import Path

import pytest

from holdfast.agent.tools.shell import run
from holdfast.core.commits import Made, made_by

GOOD = "[exit status 0]"
SHOWN = "[main 1a2b3c4] Words\n 1 file changed\n[exit status 0]"


@pytest.mark.parametrize(
    ("command", "answer", "made"),
    [
        ("git commit -m x", GOOD, Made(1)),
        ("git commit -m x", "nothing to commit\n[exit status 1]", Made()),
        ("git add -A && git commit -qm 'a; b' && git push", GOOD, Made(1)),
        ("cd sub && GIT_AUTHOR_NAME=x git -C . -c a=b commit --amend", GOOD, Made(1)),
        ("git commit -m a && git commit -m b --allow-empty", GOOD, Made(2)),
        ("git commit -m x; true", GOOD, Made()),
        ("git commit -m x; true", SHOWN, Made(1)),
        ("git commit -m x || true", f"nothing to commit\n{GOOD}", Made()),
        ("git commit --dry-run", GOOD, Made()),
        ("git log --grep commit", GOOD, Made()),
        ("echo 'git commit -m x'", GOOD, Made()),
        ("cat <<EOF\ngit commit -m x\nEOF", GOOD, Made()),
        ("git commit -m \"$(cat <<'EOF'\nTitle\n\nsays git commit -m x\nEOF\n)\"", GOOD, Made(1)),
        ("git add a\ngit commit -m x", GOOD, Made()),
        ("git add a\ngit commit -m x", SHOWN, Made(1)),
        ("gh pr create --fill", f"https://github.com/a/b/pull/7\n{GOOD}", Made(0, 1)),
        ("git push && gh pr create -t x -b y", GOOD, Made(0, 1)),
        ("gh pr create --web", GOOD, Made()),
        ("glab mr create --fill", GOOD, Made(0, 1)),
        ("git commit -m 'unfinished", GOOD, Made()),
    ],
)
def test_what_a_command_made(command: str, answer: str, made: Made) -> None:
    assert made_by(command, answer) == made


def test_a_real_commit_in_a_real_shell(tmp_path: Path) -> None:
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    named = "git -c user.name=N -c user.email=n@example.org commit"
    (tmp_path / "a").write_text("a")
    command = f"git add a; {named} -m first"
    assert made_by(command, run(command, str(tmp_path), 20)) == Made(1)
    again = f"{named} -m again; true"
    assert made_by(again, run(again, str(tmp_path), 20)) == Made()
