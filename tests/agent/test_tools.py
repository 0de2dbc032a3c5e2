"""The agent's tools: beneath their directory only, bounded, and plain about what is wrong."""

import os
import time
from pathlib import Path

import pytest

from holdfast.agent.permissions.rules import Permissions, permissions
from holdfast.agent.tools.toolbox import Toolbox
from holdfast.errors import HoldfastError, InvalidRequest


@pytest.fixture
def box(tmp_path: Path) -> Toolbox:
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "a.py").write_text("def one():\n    return 1\n")
    (tmp_path / "README.md").write_text("# Read me\n")
    return Toolbox(str(tmp_path))


def test_reading_and_looking_around(box: Toolbox) -> None:
    assert box.run("read", {"path": "src/a.py"}) == "def one():\n    return 1\n"
    assert box.run("read", {"path": "src/a.py", "offset": 2, "limit": 1}) == (
        "    return 1\n[lines 2 to 2 of 2]"
    )
    assert box.run("glob", {"pattern": "**/*.py"}) == "src/a.py"
    assert box.run("grep", {"pattern": r"return \d"}) == "src/a.py:2:     return 1"
    assert box.run("list", {}) == "README.md\nsrc/"


def test_writing_and_editing(box: Toolbox, tmp_path: Path) -> None:
    assert "created" in box.run("write", {"path": "new/b.txt", "content": "x\n"})
    assert (tmp_path / "new" / "b.txt").read_text() == "x\n"
    assert "changed" in box.run("edit", {"path": "src/a.py", "old": "return 1", "new": "return 2"})
    assert "return 2" in (tmp_path / "src" / "a.py").read_text()
    with pytest.raises(InvalidRequest, match="not in it"):
        box.run("edit", {"path": "src/a.py", "old": "nothing", "new": "x"})


@pytest.mark.parametrize("tool", ["read", "edit"])
def test_a_file_that_is_not_there(box: Toolbox, tool: str) -> None:
    for path, near in {
        "src/b.py": "did you mean src/a.py?",
        "REDME.md": "did you mean README.md?",
        "a.py": "did you mean src/a.py?",
        "quite/else": "list shows what is",
    }.items():
        with pytest.raises(InvalidRequest) as told:
            box.run(tool, {"path": path, "old": "x", "new": "y"})
        assert str(told.value) == f"there is no {path}; {near}"


@pytest.mark.parametrize("path", ["../out", "/etc/passwd", "src/../../x", "link/passwd"])
def test_no_path_leads_out(box: Toolbox, tmp_path: Path, path: str) -> None:
    os.symlink("/etc", tmp_path / "link")
    with pytest.raises((HoldfastError, OSError)):
        box.run("read", {"path": path})
    with pytest.raises((HoldfastError, OSError)):
        box.run("write", {"path": path, "content": "x"})


def test_a_command_says_how_it_ended(box: Toolbox) -> None:
    assert box.run("shell", {"command": "echo hi; exit 3"}) == "hi\n[exit status 3]"


def test_a_command_is_stopped_with_all_it_started(box: Toolbox) -> None:
    began = time.monotonic()
    told = box.run("shell", {"command": "sleep 30 & sleep 30", "timeout": 1})
    assert "stopped after 1 s" in told
    assert time.monotonic() - began < 10


def test_long_output_is_bounded(box: Toolbox) -> None:
    told = box.run("shell", {"command": "yes abcdefgh | head -c 3000000"})
    assert len(told) < 500_000
    assert "left out" in told


def test_our_keys_do_not_reach_a_command(box: Toolbox, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-canary-123456")
    assert "canary" not in box.run("shell", {"command": "env"})


def test_bad_calls_are_told(box: Toolbox) -> None:
    with pytest.raises(InvalidRequest, match="there is no tool"):
        box.run("fly", {})
    with pytest.raises(InvalidRequest, match="needs path"):
        box.run("read", {})
    with pytest.raises(InvalidRequest, match="no pattern"):
        box.run("grep", {"pattern": "("})


def test_deny_beats_ask_beats_allow() -> None:
    rules = Permissions(
        allow=("shell:git *", "write"), deny=("shell:git push*",), ask=("write:x*",)
    )
    assert rules.verdict("shell", {"command": "git status"}) == "allow"
    assert rules.verdict("shell", {"command": "git push -f"}) == "deny"
    assert rules.verdict("shell", {"command": "rm -rf /"}) == "ask"
    assert rules.verdict("write", {"path": "x.py"}) == "ask"
    assert rules.verdict("write", {"path": "a.py"}) == "allow"
    assert rules.verdict("read", {"path": "a.py"}) == "allow"


def test_rules_are_the_users_own(tmp_path: Path) -> None:
    file = tmp_path / "permissions.toml"
    file.write_text('deny = ["shell:rm *"]\n[projects."/work/p"]\nallow = ["edit"]\n')
    here = permissions("/work/p", file=file)
    assert here.verdict("edit", {"path": "a"}) == "allow"
    assert here.verdict("shell", {"command": "rm x"}) == "deny"
    assert permissions("/other", file=file).verdict("edit", {"path": "a"}) == "ask"
