"""Arguments by which a program runs another one, writes or deletes: no wildcard stands for them.

Whoever allows `find *` thinks of looking for files; `find . -exec sh x` has the same words and does
something else. Such an argument is asked about unless the rule spells it: `find * -exec grep *`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import chain
from typing import Final, NamedTuple

from holdfast.agent.lexing import KEPT, MADE_UP, Word, commands

_QUOTES: Final = str.maketrans("", "", "\"'\\")
_BREAK: Final = re.compile(r"\$\(|[;&|\n\r`()]")
_ASSIGNED: Final = re.compile(r"[A-Za-z_]\w*\+?=")
_PROGRAM: Final = re.compile(r"[A-Za-z./~]")
_MADE_UP: Final = re.compile(r"[^$]*+\$'|-[^{$]*+[{$]|[^{]*+\{[^-]*+-")
"""Words that the shell makes options of: `$'-x'`, `-e{xec,}`, `{-exec,sh}`."""

PREFIXES: Final = frozenset(
    {
        *("env", "xargs", "parallel", "nice", "nohup", "timeout", "setsid", "stdbuf", "ionice"),
        *("chroot", "sudo", "doas", "command", "exec", "eval", "builtin", "watch", "script"),
        *("strace", "ltrace", "alias", "flock", "su", "runuser", "pkexec", "setpriv", "unshare"),
        *("nsenter", "chrt", "taskset", "fakeroot", "systemd-run", "unbuffer", "entr", "valgrind"),
        *("hyperfine", "numactl", "prlimit", "cpulimit", "faketime", "start-stop-daemon"),
    }
)
"""Programs that run what their arguments name."""

SHELLS: Final = frozenset(["sh", "bash", "dash", "zsh", "ksh", "ash", "fish", "mksh", "rbash"])

RUNNERS: Final = PREFIXES | SHELLS | {"busybox", "coproc", "trap", "ssh", "docker", "podman"}
"""The same, and shells: any of their words may be a command."""

ENVIRONMENT: Final = "="
"""Stands for the program where a variable is set."""

READERS: Final = SHELLS | {".", "source"}
"""Programs that run what they read; without the name of a file that is their input."""

BEFORE: Final = frozenset(
    ["!", "{", "if", "then", "elif", "else", "while", "until", "do", "time", "function"]
)
"""Words of the shell behind which a command begins."""

_AWKS: Final = ("awk", "gawk", "mawk", "nawk")
_PIPED: Final = re.compile(r".*(?:(?<![\"'|])\|(?!\|)|(?<!\|)\|(?![\"'|]))", re.DOTALL)
"""A program for awk that pipes to another one; a bar in quotes is a text."""
_SED: Final = rf"[gpiImM0-9]*+e[gpiImM0-9]*+(?:[;}}{KEPT}]|\Z)"
"""A command of sed that runs what it has, or the flag of one."""
_OPTIONS: Final = {
    "find": r"-(?:exec|execdir|ok|okdir|delete|fprint|fprintf|fprint0|fls)\Z",
    "git": r"--(?:upload-pack|receive-pack|exec|extcmd|open-files-in-pager|ext-diff|output)|-x|-O"
    r"|ext::|alias\.|(?:config|filter-branch|foreach|bisect)\Z",
    "tar": r"--(?:to-command|checkpoint-action|use-compress-program|rsh-command)|-I",
    "rsync": r"-e|--rsh|--rsync-path",
    "sort": r"--compress-program|-o|--output",
    "rg": r"--pre",
    "ssh": r"-o",
    **dict.fromkeys(_AWKS, r".*\b(?:system|getline)\b"),
    "sed": rf"-i|--in-place|(?!-).*[^\w\s{KEPT}]{KEPT}*+{_SED}|{KEPT}*+{_SED}",
    "hash": r"-[A-Za-z]*p",
    "env": r"-[A-Za-z0-9]*S|--s",
}  # fmt: skip
_MEANT: Final = {name: re.compile(options) for name, options in _OPTIONS.items()}
_NAMING: Final = re.compile(
    r"BASH_(?:ALIASES|CMDS)\b"
    r"|(?:GIT_(?:CONFIG(?:_COUNT|_PARAMETERS|_(?:KEY|VALUE)_\d+)?|EXEC_PATH)|BASH_ENV)="
    r"|GIT_CONFIG_(?:GLOBAL|SYSTEM)=(?!/dev/null\Z)"
    r"|(?:GIT_(?:SSH|SSH_COMMAND|PAGER|EDITOR|SEQUENCE_EDITOR|EXTERNAL_DIFF|ASKPASS|PROXY_COMMAND)"
    r"|PAGER|EDITOR|VISUAL|PROMPT_COMMAND)=[^$]*+\$"
)
"""Variables that name what programs run: a configuration of git, or what the shell makes up."""
_READER_VALUES: Final = frozenset(["-o", "+o", "-O", "+O", "--rcfile", "--init-file"])
_REDIRECTS: Final = re.compile(r"[0-9&]*+>[>&|]*+")
_IS_GIVEN: Final = re.compile(r"-[A-Za-z]*c|--version\Z|--help\Z")
_INPUT: Final = re.compile(r"-s?\Z|/dev/|/proc/")
_GIT_VALUES: Final = ("-C", "--git-dir", "--work-tree", "--namespace")
_GIT_SETTING: Final = ("-c", "--config-env", "--exec-path")
_HARMLESS: Final = re.compile(
    r"(?:-c)?(?:(?:color|user|advice|column|init)\.|core\.(?:quotepath|autocrlf|abbrev)="
    r"|[^.=-][^.=]*(?:=|\Z)|\Z)",
    re.IGNORECASE,
)
"""Settings of git that name no program, and what is no setting."""


HIDING: Final = READERS | {
    "xargs",
    "parallel",
    "alias",
    "find",
    *_AWKS,
    "sed",
    "hash",
    "tar",
    "rsync",
    "rg",
    ENVIRONMENT,
}
"""Programs of which no rule can tell what they run, where an argument makes them run something."""


class Argument(NamedTuple):
    """A word of a command that makes a program do more than its name says."""

    program: str
    word: str
    """Without quotes; for a program that runs another one, its own name."""
    setting: bool = False
    """Whether it sets something for git, or is what is set."""


def launches(command: str, pattern: str) -> bool:
    """Whether a command runs, writes or deletes by an argument that a pattern does not spell."""
    known = pattern.split()
    return any(not _spelled(found.word, known) for found in _arguments(command))


def hides(command: str) -> bool:
    """Whether what a command runs cannot be read off its words."""
    found, too_deep = lexed(command)
    return (
        too_deep
        or any(map(_is_hiding, _arguments(command)))
        or any(map(_is_hiding, chain.from_iterable(map(_in_command, found))))
    )


@lru_cache(maxsize=2)
def lexed(command: str) -> tuple[list[list[Word]], bool]:
    """The commands in a line as the shell reads it, and whether there are too many levels."""
    return commands(command, _runs_words)


def _runs_words(word: str) -> bool:
    return word == MADE_UP or _name(word) in RUNNERS


def _spelled(word: str, known: list[str]) -> bool:
    """Whether a pattern has such a word; of a program that runs another, which one that is."""
    if word not in known:
        return False
    behind = known[known.index(word) + 1 :]
    return word not in PREFIXES or any(map(_PROGRAM.match, behind))


def _is_hiding(found: Argument) -> bool:
    if found.setting:
        return not _HARMLESS.match(found.word)
    if found.program == "git":
        return "alias." in found.word or found.word.startswith("ext::")
    if found.program == "env":
        return found.word != "env"
    if found.program == "sed":
        return not found.word.startswith("-")
    return found.program in HIDING


def _arguments(command: str) -> Iterator[Argument]:
    """The words of a command line that run, write or delete."""
    for piece in _BREAK.split(command.replace("\\\n", "")):
        yield from _in_piece(piece.split())


def _in_command(words: list[Word]) -> Iterator[Argument]:
    return _in_words([word.raw for word in words], [word.text for word in words])


def _in_piece(words: list[str]) -> Iterator[Argument]:
    return _in_words(words, [word.translate(_QUOTES) for word in words])


def _in_words(words: list[str], plain: list[str]) -> Iterator[Argument]:
    yield from (Argument(ENVIRONMENT, word) for word in plain if _NAMING.match(word))
    first = first_program(plain)
    programs: dict[str, Reading] = {}
    last = len(plain) if any(map(_is_prefix, plain[first : first + 1])) else first + 1
    yield from _reading_input(plain[first:last], plain[last:])
    for at in range(first, len(plain)):
        for reading in programs.values():
            yield from reading.take(words[at], plain[at])
        name = _name(plain[at])
        if at < last and name in PREFIXES:
            yield Argument(name, name)
        if at < last and name in _MEANT:
            programs[name] = Reading(name)


def first_program(words: list[str]) -> int:
    """Which word names a program: the first behind assignments and words of the shell's own."""
    before = ""
    for at, word in enumerate(words):
        if before == "time" and word.startswith("-"):
            continue
        if word not in BEFORE and before != "function" and not _ASSIGNED.match(word):
            return at
        before = word
    return len(words)


def _name(word: str) -> str:
    return word.rpartition("/")[2]


def _is_prefix(word: str) -> bool:
    return _name(word) in PREFIXES


def _reading_input(named: list[str], behind: list[str]) -> Iterator[Argument]:
    """A shell, where a program may be named, that runs its input, which cannot be seen here."""
    for at, word in enumerate(named):
        if (name := _name(word)) in READERS:
            if _runs_input([*named[at + 1 :], *behind]):
                yield Argument(name, name)
            return


def _runs_input(words: list[str]) -> bool:
    if any("<" in word for word in words):
        return not any(map(_IS_GIVEN.match, words))
    operands = iter(words)
    for word in operands:
        if _IS_GIVEN.match(word):
            return False
        if word in _READER_VALUES or _REDIRECTS.fullmatch(word):
            next(operands, "")
        elif _REDIRECTS.match(word):
            continue
        elif word == "-s" or word == "-" or not word.startswith(("-", "+")):
            return _INPUT.match(word) is not None
    return True


class Reading:
    """The words of one program, read one after the other."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._global = name == "git"
        """Whether no subcommand has come."""
        self._value = ""
        """The option whose value is next."""

    def take(self, word: str, plain: str) -> Iterator[Argument]:
        """What the next word makes of it."""
        if self._value or (self._global and plain.startswith("-")):
            yield from self._before_subcommand(plain)
            return
        self._global = False
        piped = self._name in _AWKS and _PIPED.match(word)
        if piped or _MEANT[self._name].match(plain) or _MADE_UP.match(word):
            yield Argument(self._name, plain)

    def _before_subcommand(self, plain: str) -> Iterator[Argument]:
        """Settings that git is given before its subcommand: many of them name a program."""
        before, self._value = self._value, ""
        if before == "-c":
            yield Argument(self._name, plain, setting=True)
        elif not before and plain.startswith(_GIT_SETTING):
            yield Argument(self._name, plain, setting=True)
            self._value = "-c" if plain in ("-c", "--config-env") else ""
        elif not before and plain in _GIT_VALUES:
            self._value = plain
