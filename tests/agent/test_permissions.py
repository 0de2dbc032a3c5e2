"""The answer `always` becomes a rule of the user's own, and nothing else of the file changes."""

import stat
import tomllib
from pathlib import Path

import pytest

from holdfast.agent.permissions.remember import remember, with_rule
from holdfast.agent.permissions.rules import HARMLESS, Judge, Permissions, permissions, rule_for
from holdfast.errors import HoldfastError
from holdfast.model.message import ToolCall

HERE = "/home/me/a [1] \"b\" 'c' é"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "# mine\nallow = ['read']",
        "allow = []\n\n[projects.'/elsewhere']\nallow = ['edit']  # keep\n",
        f'[projects."/x"]\nask = ["shell"]\n\n{with_rule("", HERE, "edit")}',
        f"{with_rule('', HERE, 'edit')}deny = ['shell:rm *']\n[projects.'/z']\nallow = ['x']\n",
        with_rule("", HERE, "edit").replace("allow = [", "allow = [ # why\n  "),
        with_rule("", HERE, "edit").replace("allow", "ask"),
    ],
)
def test_a_rule_is_added_and_all_else_stays(tmp_path: Path, text: str) -> None:
    file = tmp_path / "config" / "permissions.toml"
    file.parent.mkdir(mode=0o700)
    file.write_text(text)
    before = permissions("/elsewhere", file=file)
    remember(HERE, "shell:make test", file)
    remember(HERE, "shell:make test", file)
    now = file.read_text()
    assert now.count("make test") == 1
    assert all(line in now for line in text.splitlines() if "allow" not in line)
    assert permissions(HERE, file=file).verdict("shell", {"command": "make test"}) == "allow"
    assert permissions("/elsewhere", file=file) == before
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_where_there_is_no_file_it_is_made(tmp_path: Path) -> None:
    file = tmp_path / "config" / "permissions.toml"
    remember(HERE, "edit", file)
    assert tomllib.loads(file.read_text()) == {"projects": {HERE: {"allow": ["edit"]}}}
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700


@pytest.mark.parametrize(
    "text", ["projects = {}\n", "[projects]\n\"/p\" = {allow = ['x']}\n", "[projects.'/p']\n", "["]
)
def test_what_cannot_be_added_to_is_left_alone(tmp_path: Path, text: str) -> None:
    file = tmp_path / "permissions.toml"
    file.write_text(text)
    with pytest.raises(HoldfastError):
        remember("/p", "edit", file)
    assert file.read_text() == text


def test_always_is_asked_once(tmp_path: Path) -> None:
    asked: list[str] = []
    kept: list[str] = []
    judge = Judge(Permissions(), lambda call: asked.append(call.name) or "always", kept.append)  # type: ignore[func-returns-value]
    for _ in range(2):
        assert judge.allows(ToolCall("1", "shell", '{"command": "ls *.py"}'))
    assert asked == ["shell"]
    assert kept == ["shell:ls [*].py"]
    judge.allows(ToolCall("1", "shell", '{"command": "ls a.py"}'))
    assert asked == ["shell", "shell"]


def test_what_always_means() -> None:
    assert rule_for("edit", {"path": "a.py"}) == "edit"
    assert rule_for("shell", {"command": "make [x]?"}) == "shell:make [[]x][?]"
    assert Permissions(allow=(rule_for("shell", {"command": "a[b]*?"}),)).verdict(
        "shell", {"command": "a[b]*?"}
    ) == "allow"  # fmt: skip


ORDER = ("deny", "ask", "allow")


@pytest.mark.parametrize(
    ("rules", "verdict"),
    [
        ("allow", "allow"), ("ask", "ask"), ("deny", "deny"), ("allow ask", "ask"),
        ("allow deny", "deny"), ("ask deny", "deny"), ("allow ask deny", "deny"), ("", "ask"),
    ],
)  # fmt: skip
def test_deny_beats_ask_beats_allow(rules: str, verdict: str) -> None:
    made = Permissions(**dict.fromkeys(rules.split(), ("shell:git *",)))  # type: ignore[arg-type]
    assert made.verdict("shell", {"command": "git push"}) == verdict


@pytest.mark.parametrize("tool", sorted(HARMLESS))
def test_looking_around_needs_no_rule_and_obeys_those_there_are(tool: str) -> None:
    assert Permissions().verdict(tool, {}) == "allow"
    assert Permissions(ask=(tool,)).verdict(tool, {}) == "ask"
    assert Permissions(deny=(tool,), ask=(tool,)).verdict(tool, {}) == "deny"
