"""What a shell command says plainly: its own text, patches in it, files it removes or moves.

Rule 1: the command is kept as it was given; a wrapper such as `bash -lc` is taken off.
Rule 2: files are read off only from `rm`, `mv`, `cp`, `touch`, `mkdir`, `git rm` and `git mv`, only
        when they are the whole of a command or of a list joined by `&&`, and only with paths that
        hold no variable, pattern or substitution. Each is marked with the rule `shell-verb`.
Rule 3: a heredoc handed to `apply_patch` is a patch.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Callable, Iterator
from typing import Any, cast

from holdfast.core.ledger.patches import Touch, patched

_SHELLS = ("bash", "sh", "zsh", "dash")
_PLAIN = re.compile(r"[^\s$*?\[\]{}~`'\"\\;|<>()&!#]+")
_PATCHER = re.compile(r"\bapply_?patch\b")
_LITERAL = re.compile(r'"(?:[^"\\]|\\.)*"')
_CALL = re.compile(r'tools\.exec_command\(\{\s*"?cmd"?\s*:\s*("(?:[^"\\]|\\.)*")')


def command_line(value: Any) -> str:
    """A command as text, given as one or as a list of words."""
    if isinstance(value, str):
        return value
    if not isinstance(value, list):
        return ""
    words = [str(word) for word in cast(list[Any], value)]
    wrapped = len(words) == 3 and words[0].rsplit("/", 1)[-1] in _SHELLS
    if wrapped and words[1] in ("-c", "-lc", "-ic"):
        return words[2]
    return shlex.join(words)


def scripted(script: str) -> list[str]:
    """The commands that a script hands on as plain literals; the script where they are none."""
    if "exec_command" not in script:
        return []
    found = [_literal(text) for text in _CALL.findall(script)]
    return [line for line in found if line] or [script]


def scripted_patches(script: str) -> list[Touch]:
    """The files of patches that a script holds as plain literals."""
    if not _PATCHER.search(script):
        return []
    texts = (_literal(text) for text in _LITERAL.findall(script))
    return [touch for text in texts for touch in patched(text, "patch-in-script")]


def _literal(text: str) -> str:
    try:
        return str(json.loads(text))
    except ValueError:
        return ""


def touched(line: str) -> list[Touch]:
    """The files that a command concerns beyond doubt."""
    if _PATCHER.search(line):
        return patched(line, "patch-in-command")
    found: list[Touch] = []
    for part in line.split("&&"):
        words = part.split()
        change = _VERBS.get(" ".join(words[:2])) or _VERBS.get(words[0] if words else "")
        if change is None or not all(map(_PLAIN.fullmatch, words)):
            return []
        verb = 2 if " ".join(words[:2]) in _VERBS else 1
        found += change([word for word in words[verb:] if not word.startswith("-")])
    return found


def _touch(path: str, change: Any) -> Touch:
    return Touch(path=path, change=change, inferred="shell-verb")


def _removed(paths: list[str]) -> Iterator[Touch]:
    return (_touch(path, "deleted") for path in paths)


def _moved(paths: list[str]) -> Iterator[Touch]:
    if len(paths) == 2 and not paths[1].endswith(("/", ".")):
        yield _touch(paths[0], "deleted")
        yield _touch(paths[1], "written")


def _copied(paths: list[str]) -> Iterator[Touch]:
    if len(paths) == 2 and not paths[1].endswith(("/", ".")):
        yield _touch(paths[1], "written")


def _made(paths: list[str]) -> Iterator[Touch]:
    return (_touch(path, "written") for path in paths)


def _nothing(paths: list[str]) -> Iterator[Touch]:
    return iter(())


_VERBS: dict[str, Callable[[list[str]], Iterator[Touch]]] = {
    "rm": _removed,
    "git rm": _removed,
    "mv": _moved,
    "git mv": _moved,
    "cp": _copied,
    "touch": _made,
    "mkdir": _nothing,
    "cd": _nothing,
}
