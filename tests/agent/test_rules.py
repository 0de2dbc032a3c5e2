"""What a rule is about: the tool's own field, one simple command to allow, any part to deny."""

import time
from pathlib import Path

import pytest

from holdfast.agent.permissions.rules import Judge, Permissions, rule_for
from holdfast.model.message import ToolCall
from holdfast.testing import StrictServer
from holdfast.testing.strict.script import Ask, answer
from tests.agent.opening import agent, results

CHAINED = [
    "git --version; echo pwn > x", "git status\necho pwn", "git status && make", "git log | sh",
    "git show & make", "git `make`", "git $(make)", "git ${x:-$(make)}", "git log > x",
    "git apply < x", "git log (make)", "git status\r\nmake",
]  # fmt: skip


def may(rules: Permissions, command: str) -> str:
    return rules.verdict("shell", {"command": command})


@pytest.mark.parametrize("command", CHAINED)
@pytest.mark.parametrize(
    "rule", ["shell:git *", "shell:git*", "shell:*", "*:g?t *", "shell:[a-z]*"]
)
def test_nothing_is_allowed_that_is_chained_behind(rule: str, command: str) -> None:
    assert may(Permissions(allow=(rule,)), command) == "ask"
    assert may(Permissions(allow=("shell",)), command) == "allow"


@pytest.mark.parametrize(
    ("rule", "command"),
    [
        ("shell:git *", "git log --oneline $HOME {a,b} -- 'x y'"),
        ("shell:git *", "  git status\n"),
        ("shell:cd src && pytest *", "cd src && pytest -q tests"),
        ("shell:*.py | wc -l", "ls a.py | wc -l"),
        ("shell:ls [a-c]?", "ls b1"),
    ],
)
def test_a_wildcard_stands_for_words(rule: str, command: str) -> None:
    assert may(Permissions(allow=(rule,)), command) == "allow"
    assert may(Permissions(allow=(rule,)), f"{command}; make") == "ask"
    assert may(Permissions(allow=(rule,)), f"make; {command}") == "ask"


@pytest.mark.parametrize("command", ["a; b && c $(d) > [e]*? ${f}\n(g)", "", "[!]", "]["])
def test_always_means_the_command_as_it_is(command: str) -> None:
    rules = Permissions(allow=(rule_for("shell", {"command": command}),))
    assert may(rules, command) == "allow"
    assert may(rules, f"{command}x") == "ask"
    assert may(rules, f"{command}; x") == "ask"


@pytest.mark.parametrize(
    "command",
    [
        "git push", " git push -f", "true && git push", "true;git push", "git  \t push",
        "x | git push", "x & git push", "x\ngit push", "echo $(git push)", "echo `git push`",
        "(git push)",
        "A=1 B='x y' git push", "command git push", "env -i A=1 git push", "sudo -u me git push",
        "/usr/bin/git push", "git 'push'", "g\\it push", "git pu\\\nsh",
        "if true; then git push; fi",
        "{ git push; }", ">log git push", "2>&1 git push", "! git push", "time git push",
    ],
)  # fmt: skip
@pytest.mark.parametrize("list_", ["deny", "ask"])
def test_what_is_denied_or_asked_is_found_in_any_part(list_: str, command: str) -> None:
    rules = Permissions(**{"allow": ("shell",), list_: ("shell:git push*",)})  # type: ignore[arg-type]
    assert may(rules, command) == list_
    assert may(rules, command.replace("push", "pull").replace("pu\\\nsh", "pull")) == "allow"


@pytest.mark.parametrize(
    "command",
    [
        "sh -c 'rm x'", 'bash -lc "rm -rf x"', "find . -exec rm {} +", "setsid rm x",
        "busybox rm x", "coproc rm x", "trap 'rm x' EXIT", "rm${IFS}-rf${IFS}x", "rm$IFS-rf x",
        "$(echo rm) x", "`echo rm` x", "ionice -c 3 /bin/rm x", "A=1 xargs -0 rm x",
    ],
)  # fmt: skip
def test_what_is_denied_is_found_behind_any_word(command: str) -> None:
    denied = Permissions(allow=("shell",), deny=("shell:rm *",))
    assert may(denied, command) == "deny"
    unknown = ("find", "$(", "`", "A=1 xargs")  # begins what is not known to be no rm
    wanted = "ask" if command.startswith(unknown) else "allow"
    assert may(denied, command.replace("rm", "ls")) == wanted
    assert may(Permissions(allow=("shell:rm *",)), command.replace("rm$IFS-rf", "x")) == "ask"


@pytest.mark.parametrize(
    "command",
    [
        "git -C . push", "git -c a=b -C . push -f", "git --no-pager push", "sudo git -P push",
        f"git {'-c a=b ' * 6}push", f"git {'-P ' * 500}push", f"sudo -u me git {'-C . ' * 80}push",
    ],
)  # fmt: skip
def test_options_before_what_is_denied_hide_nothing(command: str) -> None:
    rules = Permissions(allow=("shell",), deny=("shell:git push*",))
    assert may(rules, command) == "deny"
    assert may(rules, command.replace("push", "log")) == "allow"


def test_a_denied_command_is_found_with_what_it_is_redirected_to() -> None:
    rules = Permissions(allow=("shell",), deny=("shell:git push",))
    assert may(rules, "git push >/dev/null 2>&1") == "deny"


def test_no_command_holds_a_rule_up() -> None:
    rules = Permissions(allow=("shell:a*b*c*d*e*f",), deny=("shell:*x*y*z*w*",))
    for command in (
        "a" * 100_000,
        "ab" * 50_000,
        "A=1 " * 20_000,
        "sudo " * 20_000,
        'a="' * 20_000,
    ):
        assert may(rules, command) == "ask"


@pytest.mark.parametrize("list_", ["deny", "ask"])
@pytest.mark.parametrize(
    "command",
    [
        "g${x}it push",
        "git p{u,}sh",
        "$'\\x67it' push",
        "git $'\\x70ush'",
        "x=push; git $x",
        "x=git; $x push",
        "x='git push'; $x",
        'git "$x"',
        "git -C . $x",
        "${x}git push",
        "git $(echo push)",
        "git `echo push`",
        "$(echo git) push",
        "sudo $x push",
        "env A=1 $x",
        "true && { git $x; }",
        "(git $1)",
        "if true; then git $x; fi",
        "gi? push",
        "g[i]t push",
        "git pu*",
        "/usr/bin/gi* push",
        "{git,push}",
        "git $@",
        "eval $x",
        "git ${x:-push}",
        'echo "$(git $x)"',
        "git -c alias.x=push x",
        "git -calias.x=!git\\ push x",
        "git -c core.pager='git push' log",
        "git --config-env=alias.x=Y x",
        "git config alias.x push",
        "printf push | xargs git",
        "find . -name git -execdir {} push ;",
        "find . -delete",
        "env -S 'git\\_push'",
        "env --split-string=git\\_push",
        "alias g=git; g push",
        "A=1 $x push",
        ">log git $x",
        "git \\\n$x",
        '$"git" $x',
        "x=git y=push; $x $y",
        'f() { git "$@"; }; f push',
        "f () { ${1}it push; }; f g",
        "function f { git $1; }; f push",
        "a=(1) git $x",
        "git @(push|pull)",
        "git !(log)",
        "time -p g${x}it push",
        "make&>x git $x",
        "flock x g${x}it push",
        "some-runner git $x",
        "GIT push",
        "Git -C . Push",
        "echo git %s push | sh",
        "echo x | sudo -u me bash",
        "cat x | bash -x 2>&1",
        "cat x | sh > log",
        "cat x | bash -o pipefail",
        "base64 -d x | /bin/sh -s -- a",
        "bash <<< $'git \\x70ush'",
        "sh < x",
        "sh /dev/stdin",
        ". /proc/self/fd/0",
        "source <(echo git pu sh)",
        "sudo -i sh",
        "GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=alias.x GIT_CONFIG_VALUE_0=push git x",
        "export GIT_CONFIG_PARAMETERS=\"'alias.x=push'\"; git x",
        "GIT_EXEC_PATH=. git x",
        "GIT_PAGER=$x git log",
        "GIT_PAGER='git push' git log",
        "GIT_SSH_COMMAND='git $x' git fetch",
        "BASH_ENV=x bash -c true",
        "tar cf x y --checkpoint-action=exec='git push'",
        "tar cf x y --to-command=$x",
        "awk 'BEGIN{system(x)}'",
        "vim -c '!git push'",
        "git > 'a b' push",
        'git >"a;b" push',
        "git 2> a\\ b push",
        'git > "$(echo x)" push',
        "git <<< 'a|b' push",
        "git <<'E F' push\nx\nE F",
        "git -c x=\\; push",
        "git -c 'x=a;b' -C \"c)d\" push",
        "git -c 'x=a\nb' push",
        "A=b\\ c $x push",
        'A="b;c" ${x-git} "push"',
        "A[0]=b g$x push",
        "g'i''t' <>a\\ b \"pu\"sh",
        "git > x'y z'\"$(a)\" p''u$@sh",
        "# it's\ngit > 'a b' push",
        "cat <<E\n'\nE\ngit > 'a b' push",
        "cat <<E\n' $(git > 'a b' push) '\nE",
        "echo $((1<2)) ${x:-'}'}; git > 'a b' push",
        "x=$(case x in x) git > 'a b' push;; esac)",
        'echo "${x:-"$(git > \'a b\' push)"}"',
        "bash -c \"git > 'a b' push\"",
        'eval "sh -c \\"git > \'a;b\' push\\""',
        "eval git '>' \"'a b'\" push",
        'sh -c "sh -c \\"sh -c \'sh -c \\\\\\"a b\\\\\\"\'\\""',
        "find . -name 'a;b' -exec {} push +",
        "HOME=push; git ~",
        "BASH_ALIASES[g]=git\ng push",
        "BASH_CMDS[g]=/usr/bin/git; g push",
        "hash -p /usr/bin/git g; g push",
        'awk \'BEGIN{"git pu" "sh" | getline}\'',
        "mawk 'BEGIN { print | c }'",
        "sed 's/.*/git pu&/e' <<< sh",
        "sed '1p; e g\"\"it push' x",
    ],
)
def test_a_command_that_could_be_a_forbidden_one_is_asked_about(list_: str, command: str) -> None:
    rules = Permissions(**{"allow": ("shell",), list_: ("shell:git push*",)})  # type: ignore[arg-type]
    assert may(rules, command) in ("ask", list_)
    always = rule_for("shell", {"command": command})
    may_now = Permissions(**{"allow": (always,), list_: ("shell:git push*",)})  # type: ignore[arg-type]
    assert may(may_now, command) in ("allow", list_)


@pytest.mark.parametrize(
    "command",
    [
        "git log $x", "ls $HOME", "echo {a,b}", "rm *.py", 'git commit -m "$x"', "cd $x && make",
        "for f in *; do echo $f; done", "git add *", "git -c color.ui=never log", "A=$x make",
        "env A=1 make", "sudo make", "find . -name '*.py'", "git diff HEAD~1", "python -c 'x[0]'",
        "awk '{print $1}' a", "echo $(date)", "timeout 5 make", "sh x.sh", "bash -lc 'make test'",
        "bash -e x.sh > log 2>&1", "sh --version", ". .venv/bin/activate && make",
        "GIT_PAGER=cat git log", "GIT_CONFIG_GLOBAL=/dev/null git log", "PAGER='less -R' git log",
        "tar xf a.tar", "time -p make", "f() { make; }; f", "which bash", "NODE_ENV=x npm ci",
        "git commit -m \"it's; done (x)\"", 'echo "$x $y" > "a b"',
        "sed -n '/e/p' a", "sed -i 's/a/the/g' c", "sed -e 1d a", "cat <<E > x\nit's\nE", "ls ~/x",
        "a=(1 2); make", "(cd a && make)", "case $x in a) make;; esac", "make >log 2>&1",
    ],
)  # fmt: skip
def test_a_command_that_cannot_be_a_forbidden_one_is_not_asked_about(command: str) -> None:
    rules = Permissions(allow=("shell",), deny=("shell:git push*",), ask=("shell:npm publish",))
    assert may(rules, command) == "allow"


OPTIONS = ["-fr", "-r -f", "-R -v -f", "--recursive --force", "-rvf", "--rec -f", "-r'f'"]


@pytest.mark.parametrize("list_", ["deny", "ask"])
@pytest.mark.parametrize("options", OPTIONS)
@pytest.mark.parametrize("rule", ["shell:rm -rf *", "shell:rm -rf*", "shell:rm --recursive -f *"])
def test_options_written_in_another_way_are_asked_about(
    rule: str, options: str, list_: str
) -> None:
    rules = Permissions(**{"allow": ("shell",), list_: (rule,)})  # type: ignore[arg-type]
    for command in (f"rm {options} x", f"rm x {options}", f"a && sudo /bin/rm {options} 'x y'"):
        assert may(rules, command) in ("ask", list_)
    for command in ("rm -r x", "rm -f x", f"ls {options} x", "rm x; ls -rf"):
        assert may(rules, command) == "allow"


OPENERS = [
    ("git *", "git -c alias.x=!sh x"),
    ("git *", "git -calias.x=!sh x"),
    ("git *", "git -c a.b=c log"),
    ("git *", "git --config-env core.pager=X log"),
    ("git *", "git --exec-path=. x"),
    ("git *", "git config alias.x !sh"),
    ("git *", "git submodule foreach sh"),
    ("git *", "git rebase --exec=sh main"),
    ("git *", "git rebase -x sh main"),
    ("git *", "git clone ext::sh\\ -c\\ x"),
    ("git *", "git diff --ext-diff"),
    ("git *", "git fetch --upload-pack=sh"),
    ("git *", "git log --output=/etc/x"),
    ("git *", "git $'-c' alias.x=!sh x"),
    ("git *", "git -C . {-c,alias.x=!sh} x"),
    ("find *", "find . -exec sh x +"),
    ("find *", "find . -execdir sh x ;"),
    ("find *", "find -delete"),
    ("find *", "find . -ok rm {} +"),
    ("find *", "find . -okdir rm +"),
    ("find *", "find -fprintf x y"),
    ("find *", "find . '-exec' rm {} +"),
    ("find *", 'find . -e"xec" rm {} +'),
    ("find *", "find . -e{xec,} rm {} +"),
    ("find*", "find . {-exec,rm,+}"),
    ("*", "find . -exec rm {} +"),
    ("find *", "find . $'\\x2dexec' rm {} +"),
    ("xargs *", "xargs rm"),
    ("env *", "env -S 'rm x'"),
    ("env *", "env rm x"),
    ("* x", "sudo rm x"),
    ("nohup *", "nohup rm x"),
    ("timeout 5 *", "timeout 5 rm x"),
    ("tar *", "tar -xf a --to-command=sh"),
    ("sort *", "sort a -o b"),
    ("rg *", "rg --pre sh x"),
    ("sed *", "sed -i s/a/b/ c"),
    ("sed *", "sed s/x/make/e a"),
]


@pytest.mark.parametrize(("pattern", "command"), OPENERS)
def test_no_wildcard_stands_for_an_argument_that_runs_something(pattern: str, command: str) -> None:
    assert may(Permissions(allow=(f"shell:{pattern}",)), command) == "ask"
    assert may(Permissions(allow=("shell",)), command) == "allow"
    assert may(Permissions(allow=(rule_for("shell", {"command": command}),)), command) == "allow"


@pytest.mark.parametrize(
    ("pattern", "command"),
    [
        ("find * -exec grep *", "find . -exec grep x {} +"),
        ("xargs grep *", "xargs grep x"),
        ("timeout 60 pytest *", "timeout 60 pytest -q"),
        ("git -c color.ui=never *", "git -c color.ui=never log"),
        ("env A=1 make *", "env A=1 make x"),
        ("git *", "git switch -c new"),
        ("git *", "git commit -m x"),
        ("git *", "git -C sub log -p"),
        ("find *", "find . -name '*.py' -newer x"),
        ("git *", "git commit -c HEAD"),
        ("echo *", "echo sudo find -exec"),
        ("ls *", "ls -x -O"),
    ],
)
def test_what_a_rule_spells_is_allowed(pattern: str, command: str) -> None:
    assert may(Permissions(allow=(f"shell:{pattern}",)), command) == "allow"


PIECES = [
    "a ",
    "ab",
    "a",
    "-c x ",
    "A=1 ",
    "sudo ",
    'a="',
    "$x ",
    "${",
    "{a,",
    "{",
    "`",
    "$(",
    "(",
    ")",
    "[",
    "'",
    "$'",
    "git ",
    "git -c ",
    "git -x ",
    "/",
    "a/",
    ";",
    "\n",
    ">",
    "1",
    "1>",
    "x y z ",
    "X Y ",
    "a=",
    "$x=",
    "sh ",
    "sudo sh -x ",
    "time -p ",
    "<x ",
    "&>x",
    "*",
    "find ",
    "$IFS",
    "${IFS",
    "\\\n",
    "\uffff",
    '"',
    '"${',
    "'a ",
    '\\"',
    "<<E\n",
    "<<E ",
    "((",
    "#",
    "a#",
    "[a",
    "sh -c 'a b' ",
    'eval "a b" ',
    "awk |",
    "sed /1",
    "sed e",
    "rm -r ",
]


@pytest.mark.parametrize("piece", PIECES)
def test_judging_takes_time_linear_in_the_command(piece: str) -> None:
    rules = Permissions(
        allow=("shell:a*b*c*d*e*f",),
        deny=("shell:*x*y*z*w*", "shell:git push*"),
        ask=("shell:rm *", "shell:ls -zq *"),
    )

    def seconds(size: int) -> float:
        command = f"find {piece * (size // len(piece))}"
        start = time.process_time()
        assert may(rules, command) != "allow"
        return time.process_time() - start

    seconds(1_000)
    once, fourfold = seconds(5_000), seconds(20_000)
    assert fourfold < 10 * once + 0.2  # quadratic time would be sixteen times as much
    assert fourfold < 10


def test_what_is_too_long_to_be_judged_is_asked_about() -> None:
    command = f"echo {'x' * 600_000}"
    assert may(Permissions(allow=("shell",)), command) == "allow"
    assert may(Permissions(allow=("shell",), deny=("shell:git push*",)), command) == "ask"
    assert may(Permissions(allow=("shell",), deny=("read:x",)), command) == "allow"


@pytest.mark.parametrize(
    "path", [".env", "./.env", ".//.env", "a/../.env", "/work/p/.env", "//work/p/./.env"]
)
@pytest.mark.parametrize("rule", ["read:.env", "*:.env", "read:./.env", "read:/work/p/.env"])
def test_a_path_is_what_it_leads_to(rule: str, path: str) -> None:
    rules = Permissions(deny=(rule,), root="/work/p")
    assert rules.verdict("read", {"path": path, "command": "x", "pattern": "y"}) == "deny"
    assert rules.verdict("read", {"path": "b/.env"}) == "allow"


def test_only_the_tools_own_field_decides() -> None:
    rules = Permissions(allow=("write:docs/*",), deny=("grep:secret", "subtask:*"), root="/work/p")
    evil = {"path": "src/evil.py", "content": "x", "command": "docs/a.md", "pattern": "docs/a.md"}
    assert rules.verdict("write", evil) == "ask"
    assert rules.verdict("write", {"path": "docs/../evil"}) == "ask"
    assert rules.verdict("write", {"path": "/work/p/docs/a.md"}) == "allow"
    assert rules.verdict("grep", {"pattern": "secret"}) == "deny"
    assert rules.verdict("grep", {"pattern": "x", "path": "a/../secret"}) == "deny"
    assert rules.verdict("subtask", {"description": "x"}) == "deny"
    assert rule_for("write", evil) == "write"
    assert rule_for("shell", {}) == "shell:"


@pytest.mark.parametrize("rules", [Permissions(deny=("read:.env",)), Permissions(ask=("*:.env",)),
                                   Permissions(deny=("grep:.env",))])  # fmt: skip
def test_a_search_shows_no_line_of_what_may_not_be_read(tmp_path: Path, rules: Permissions) -> None:
    calls = (Ask("grep", {"pattern": "SECRET"}), Ask("list", {}), Ask("glob", {"pattern": ".e*"}))
    answers = iter([answer(*calls), answer(Ask("subtask", {"description": "d", "prompt": "p"})),
                    answer(calls[0]), answer("said"), answer("done")])  # fmt: skip
    with (
        StrictServer(lambda asked: next(answers)) as server,
        agent(tmp_path, server, rules=rules) as made,
    ):
        (tmp_path / "work" / ".env").write_text("SECRET=1\n")
        (tmp_path / "work" / "a.py").write_text("SECRET\n")
        made.turn("look")
        found, listed, named, _ = (str(one.output) for one in results(made))
        assert found == "a.py:1: SECRET\n[not searched, by the user's rules: 1]"
        assert ".env" in listed
        assert named == ".env"
        assert "SECRET=1" not in "".join(str(one.body) for one in server.asked)


def test_a_tool_that_is_not_there_is_not_one_that_is_not_allowed(tmp_path: Path) -> None:
    answers = iter(
        [answer(Ask("frob", {"a": 1}), Ask("tool_search", {"query": "x"})), answer("so")]
    )
    told: list[str] = []
    with (
        StrictServer(lambda asked: next(answers)) as server,
        agent(tmp_path, server, onlooker=lambda what: told.append(what.kind)) as made,
    ):
        made.turn("do it")
        unknown, other = results(made)
        assert unknown.error
        assert unknown.output.startswith("there is no tool 'frob'; name one of read, write, edit")
        assert "recall" in unknown.output
        assert "not allow" not in other.output
        assert "refused" not in told


def test_looking_for_tools_needs_no_leave() -> None:
    assert Judge(Permissions()).allows(ToolCall("1", "tool_search", '{"query": "x"}'))
