"""What each rule says of each command, a table in tests/golden/verdicts.txt.

`a` is allowed, `?` is asked about, `-` is denied. A row is a command; in it stands what each rule
says as something to allow, to ask about and to deny. A change that is meant is taken over with

    python -m tests.agent.test_verdicts

and read line by line: an `a` that was none before lets an agent do what it could not.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from holdfast.agent.permissions.rules import Permissions, rule_for
from tests.changing import compare

GOLDEN = Path(__file__).parents[1] / "golden" / "verdicts.txt"
SIGNS = {"allow": "a", "ask": "?", "deny": "-"}
RULES = (
    "shell:git *", "shell:git push*", "shell:git push --force*", "shell:rm *", "shell:*rm*",
    "shell:npm test", "shell:*", "shell:ls [a-c]?", "shell:find *", "*:curl *", "shell:sudo *",
    "shell:python -c *",
)  # fmt: skip
COMMANDS = (
    "git status", "git push", "git push origin main", "git push --force", "git -c a=b push",
    "git -c a=b -c c=d -C x --no-pager push", "git --git-dir=x push", "  git   push  ",
    "git log && git push", "git log; rm -rf x", "git log | rm x", "echo $(git push)", "echo `rm x`",
    "g${x}it push", "git p{u,}sh", "$'\\x67it' push", "g''it push", 'g"i"t push', "git pu\\sh",
    "git\tpush", "git push # no", "# git push", "env git push", "env -S 'git push'",
    "env A=b git push", "A=b git push", "sudo git push", "nice -n 5 git push", "xargs git push",
    "find . -exec rm {} +", "find . -name x -delete", "git -c alias.x='!rm y' x", "timeout 5 rm x",
    "bash -c 'rm x'", "sh -lc \"git push\"", "eval git push", "exec rm x", "command rm x",
    "/bin/rm x", "./rm x", "\\rm x", "rm", "rmdir x", "alarm x", "npm test", "npm test -- --all",
    "npm test; rm x", "ls b1", "ls d1", "ls bb1", "cat x > y", "cat < x", "echo a >> b", "",
    "curl x | sh", "x=push; git $x", "git push &", "(git push)", "{ git push; }",
    "if rm x; then :; fi",
    "for a in b; do rm $a; done", "git\npush", "ls\nrm x", "echo 'rm x'", 'echo "git push"',
    "python -c 'import os'", "python3 -c 1", "time rm x", "! rm x", "rm\\\n x", "r\\\nm x",
)  # fmt: skip


def described() -> str:
    lines = [f"{nth}: {rule}" for nth, rule in enumerate(RULES)]
    for command in COMMANDS:
        cells = [_cell(rule, command) for rule in RULES]
        lines.append(f"{' '.join(cells)}  {command!r}")
    for tool, fields in CALLS:
        rules = (f"{tool}", f"{tool}:src/*", f"{tool}:*.py", "*", "read:src/a.py", "*:*secret*")
        cells = [_of(rule, tool, fields) for rule in rules]
        lines.append(f"{' '.join(cells)}  {tool} {fields} {rule_for(tool, fields)!r}")
    return "\n".join(lines) + "\n"


CALLS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("read", {"path": "src/a.py"}), ("read", {"path": "./src/a.py"}),
    ("read", {"path": "src/../a.py"}),
    ("read", {"path": "/p/src/a.py"}), ("read", {"path": "/q/src/a.py"}), ("read", {"path": ""}),
    ("read", {}), ("read", {"path": 7}), ("read", {"path": "secret"}),
    ("write", {"path": "src/a.py"}),
    ("edit", {"path": "src/b/c.py"}), ("grep", {"pattern": "x", "path": "src"}),
    ("grep", {"pattern": "secret"}), ("glob", {"pattern": "*.py"}), ("list", {"path": "src"}),
    ("todo", {"todos": []}), ("subtask", {"prompt": "look"}), ("recall", {"handle": "prt_1"}),
    ("mcp__x", {"a": "src/a.py"}), ("shell", {"command": "make"}), ("shell", {}),
)  # fmt: skip


def _cell(rule: str, command: str) -> str:
    return _of(rule, "shell", {"command": command})


def _of(rule: str, tool: str, fields: dict[str, Any]) -> str:
    each = (
        Permissions(allow=(rule,), root="/p"), Permissions(ask=(rule,), allow=(tool,), root="/p"),
        Permissions(deny=(rule,), allow=(tool,), root="/p"),
    )  # fmt: skip
    return "".join(SIGNS[one.verdict(tool, fields)] for one in each)


def test_every_rule_says_what_is_written_down() -> None:
    compare(GOLDEN, described(), "tests.agent.test_verdicts")


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("rule", RULES)
def test_to_deny_beats_to_ask_and_to_ask_beats_to_allow(rule: str, command: str) -> None:
    fields = {"command": command}

    def verdict(
        *, allow: tuple[str, ...] = (), ask: tuple[str, ...] = (), deny: tuple[str, ...] = ()
    ) -> str:
        return Permissions(allow=allow, ask=ask, deny=deny).verdict("shell", fields)

    denied = verdict(deny=(rule,)) == "deny"
    asked = verdict(ask=(rule,), allow=("shell",)) == "ask"
    assert not denied or verdict(allow=(rule, "shell"), ask=(rule,), deny=(rule,)) == "deny"
    assert denied or verdict(allow=(rule,), ask=(rule,), deny=(rule,)) != "deny"
    assert not asked or verdict(allow=(rule, "shell"), ask=(rule,)) == "ask"


def main() -> None:
    """Write down what they say now."""
    GOLDEN.write_text(described(), "utf-8")


if __name__ == "__main__":
    main()
