"""Arguments by which a program runs another one, writes or deletes: no wildcard stands for them.

Whoever allows `find *` thinks of looking for files; `find . -exec sh x` has the same words and does
something else. Such an argument is asked about unless the rule spells it: `find * -exec grep *`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

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
        *("strace", "alias"),
    }
)
"""Programs that run what their arguments name."""

RUNNERS: Final = PREFIXES | {"busybox", "coproc", "trap", "sh", "bash", "dash", "zsh", "ksh"}
"""The same, and shells: any of their words may be a command."""

BEFORE: Final = frozenset(["!", "{", "if", "then", "elif", "else", "while", "until", "do", "time"])
"""Words of the shell behind which a command begins."""

_OPTIONS: Final = {
    "find": r"-(?:exec|execdir|ok|okdir|delete|fprint|fprintf|fprint0|fls)\Z",
    "git": r"--(?:upload-pack|receive-pack|exec|extcmd|open-files-in-pager|ext-diff|output)|-x|-O"
    r"|ext::|alias\.|(?:config|filter-branch|foreach|bisect)\Z",
    "tar": r"--(?:to-command|checkpoint-action|use-compress-program|rsh-command)|-I",
    "rsync": r"-e|--rsh|--rsync-path",
    "sort": r"--compress-program|-o|--output",
    "rg": r"--pre",
    "ssh": r"-o",
    "awk": r".*\b(?:system|getline)\b",
    "sed": r"-i|--in-place",
    "env": r"-[A-Za-z0-9]*S|--s",
}  # fmt: skip
_MEANT: Final = {name: re.compile(options) for name, options in _OPTIONS.items()}
_GIT_VALUES: Final = ("-C", "--git-dir", "--work-tree", "--namespace")
_GIT_SETTING: Final = ("-c", "--config-env", "--exec-path")
_HARMLESS: Final = re.compile(
    r"(?:-c)?(?:(?:color|user|advice|column|init)\.|core\.(?:quotepath|autocrlf|abbrev)="
    r"|[^.=-][^.=]*(?:=|\Z)|\Z)",
    re.IGNORECASE,
)
"""Settings of git that name no program, and what is no setting."""


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
    return any(map(_is_hiding, _arguments(command)))


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
    return found.program in ("xargs", "parallel", "alias", "find")


def _arguments(command: str) -> Iterator[Argument]:
    """The words of a command line that run, write or delete."""
    for piece in _BREAK.split(command.replace("\\\n", "")):
        yield from _in_piece(piece.split())


def _in_piece(words: list[str]) -> Iterator[Argument]:
    programs: dict[str, Reading] = {}
    first, behind_prefix = True, False
    for word in words:
        plain = word.translate(_QUOTES)
        if first and (plain in BEFORE or _ASSIGNED.match(plain)):
            continue
        for reading in programs.values():
            yield from reading.take(word, plain)
        name = plain.rpartition("/")[2]
        if (first or behind_prefix) and name in PREFIXES:
            behind_prefix = True
            yield Argument(name, name)
        if (first or behind_prefix) and name in _MEANT:
            programs[name] = Reading(name)
        first = False


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
        if _MEANT[self._name].match(plain) or _MADE_UP.match(word):
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
