"""How commands end, and which files they concern, where agents say it in words of their own."""

from __future__ import annotations

import pytest

from holdfast.core.ledger.build import ledger
from holdfast.core.ledger.facts.exit_answers import RULE, is_answer
from holdfast.core.ledger.render import render
from holdfast.importers.aider import CONSOLE
from holdfast.model.ledger import Command, Ledger
from holdfast.model.message import Message, Text, ToolResult, assistant, tool, user
from tests.ledger.saying import asked, done, imported, said, used

LONGEST = 4_000
"""What is promised, in numbers: these tests stand at its edges."""

WORKED = '{"output":"Done.","metadata":{"exit_code":0}}'


def command(known: Ledger) -> Command:
    (one,) = known.commands
    return one


def changes(known: Ledger) -> dict[str, str]:
    return {path: file.change for path, file in known.files.items()}


def test_a_command_that_runs_has_not_failed() -> None:
    known = ledger(said(asked("go"), *used("Bash", {"command": "make serve"}, RUNNING)))
    text = render(known, 2_000)
    assert "Commands that failed" not in text
    assert "make serve → running #" in text


RUNNING = "Command running in background with ID: b1"

SAYS_NO = [
    "rg -n 'a|b' src", "cd src && rg x", "git diff --exit-code",
    "git -C sub --no-pager diff --quiet",
    "cat a | grep -q x", "make; grep x y", "rg a || rg b", "LC_ALL=C /usr/bin/diff a b", "[ -f x ]",
    "npm test\ngrep -c x log", "git grep TODO", "echo looking && pgrep node", "rg x 2>/dev/null",
]  # fmt: skip


@pytest.mark.parametrize("line", SAYS_NO)
def test_a_status_of_1_that_says_no_is_no_problem(line: str) -> None:
    output = "Exit code 1\n"
    known = ledger(said(asked("go"), *used("Bash", {"command": line}, output, error=True)))
    assert (command(known).outcome, command(known).exit, command(known).inferred) == (
        "succeeded", 1, RULE,
    )  # fmt: skip
    assert known.problems == ()


@pytest.mark.parametrize(
    "line",
    [
        "npm test && rg x", "rg x | xargs false", "rg x && npm test", "git commit -m diff",
        "pytest",
        "rg 'unbalanced", "rg x; make", "cd x\nnpm test", "rg " + "x" * LONGEST, "", "git",
    ],
)  # fmt: skip
def test_a_status_of_1_that_another_command_may_have_told_is_a_failure(line: str) -> None:
    assert not is_answer(line)


def test_another_status_of_the_same_command_is_a_problem() -> None:
    output = "Exit code 2\nrg: nowhere: No such file or directory"
    known = ledger(said(asked("go"), *used("Bash", {"command": "rg x y"}, output, error=True)))
    assert command(known).outcome == "failed"
    assert len(known.problems) == 1


@pytest.mark.parametrize("program", ["apply_patch", "applypatch"])
def test_a_patch_that_is_the_argument_of_a_command_is_read(program: str) -> None:
    patch = "*** Begin Patch\n*** Update File: it's/a.py\n@@\n-x\n+y\n*** End Patch"
    for given in ([program, patch], f"{program} '{patch}'"):
        known = ledger(said(asked("go"), *used("shell", {"command": given}, WORKED)))
        assert list(changes(known).values()) == ["changed"]
    plain = patch.replace("it's", "b")
    known = ledger(said(asked("go"), *used("shell", {"command": [program, plain]}, WORKED)))
    assert changes(known) == {"b/a.py": "changed"}


EDITS = [
    ("cd web && sed -i 's/a && b/c/' x.ts", {"web/x.ts": "changed"}),
    ("cd web && sed -i 's/a/b/g' x.ts y.ts", {"web/x.ts": "changed", "web/y.ts": "changed"}),
    ("cd /w && cd ../v && sed -i 1d x.ts", {"/v/x.ts": "changed"}),
    ("cd web && sed -i 's/a/b/' x.ts && grep -n 'b;' x.ts", {"web/x.ts": "changed"}),
    ("cd web && sed -i 1d x.ts && make 2>&1 | tail", {"web/x.ts": "changed"}),
    ('cd "$WEB" && sed -i 1d x.ts', {}),
    ("cd web && sed -i 1d x.ts || true", {}),
    ("cd web; sed -i 1d x.ts", {}),
    ("cd web && sed -i 1d x.ts && rm y.ts && make", {"web/x.ts": "changed"}),
    ("sed -i '' -e 's/a/b/' -e 's/c/d/' x.ts", {"x.ts": "changed"}),
    ("sed -i.bak \"s/a/b/\" x.ts && rm x.ts.bak", {"x.ts": "changed", "x.ts.bak": "deleted"}),
    ("sed --in-place 1d x.ts", {"x.ts": "changed"}),
    ("sed -i 's/a/b/' *.ts", {}),
    ("sed -n 1,5p x.ts", {}),
    ("sed -i 's/a/b/'", {}),
    ("sed -i 's/a/b x.ts", {}),
]  # fmt: skip


@pytest.mark.parametrize(("line", "wanted"), EDITS)
def test_files_that_sed_edits_in_place_are_changed(line: str, wanted: dict[str, str]) -> None:
    known = ledger(said(asked("go"), *used("Bash", {"command": line}, "")))
    assert changes(known) == wanted


GEMINI = [
    ("Output: (empty)\nProcess Group PGID: 12", "succeeded", {"a.md": "deleted"}),
    ("Output: (empty)\nExit Code: 1", "failed", {}),
    ("Output: x\nSignal: 9\nProcess Group PGID: 12", "unknown", {}),
    ("Command: rm a.md\nOutput: \nExit Code: 0\nSignal: 0", "succeeded", {"a.md": "deleted"}),
]


@pytest.mark.parametrize(("output", "outcome", "wanted"), GEMINI)
def test_gemini_tells_of_a_status_only_where_it_is_not_0(
    output: str, outcome: str, wanted: dict[str, str]
) -> None:
    known = ledger(said(asked("go"), *used("run_shell_command", {"command": "rm a.md"}, output)))
    assert command(known).outcome == outcome
    assert changes(known) == wanted


def test_a_status_beside_the_answer_is_the_command_s() -> None:
    asks = assistant(*used("bash", {"command": "make"}, call="1")[0].parts)
    known = ledger(said(asked("go"), asks, tool(ToolResult("1", "no rule", exit=2))))
    assert (command(known).outcome, command(known).exit) == ("failed", 2)


def test_what_aider_has_applied_is_changed() -> None:
    shown = Text("Applied edit to src/my file.py\nCommit abc1234 fix", scaffold=CONSOLE)
    known = ledger(imported(asked("go"), done("Here."), Message("user", (shown,))))
    assert changes(known) == {"src/my file.py": "written"}
    quoted = ledger(said(asked("go"), user("Applied edit to a.py")))
    assert changes(quoted) == {}
