"""What a shell command says plainly: its own text, patches in it, files it removes or moves.

Rule 1: the command is kept as it was given; a wrapper such as `bash -lc` is taken off.
Rule 2: files are read off only from `rm`, `mv`, `cp`, `touch`, `mkdir`, `git rm`, `git mv` and
        `sed -i`, whose script alone may be quoted, only when they are the whole of a command or of
        a list joined by `&&`, and only with paths that hold no variable, pattern or substitution.
        Beside other commands only what `sed -i` edits is read off: what was removed or made they
        may have changed again. A `cd` before it is where the paths are. Each is marked with the
        rule `shell-verb`.
Rule 3: a heredoc handed to `apply_patch` is a patch.
"""

from __future__ import annotations

import json
import posixpath
import re
import shlex
from collections.abc import Callable, Iterator
from typing import Any, cast

from msgspec.structs import replace

from holdfast.core.ledger.facts.files import Touch, patched

_SHELLS = ("bash", "sh", "zsh", "dash")
_PLAIN = re.compile(r"[^\s$*?\[\]{}~`'\"\\;|<>()&!#]+")
_IN_PLACE = re.compile(r"(?:-[Enrsuz]*i|--in-place)")
_SIGN = re.compile(r"""'[^']*'|"(?:[^"\\]|\\.)*"|\\.|&&|\|\||\d?[<>]&\d|[;&\n]""", re.DOTALL)
"""A quoted text, or what ends a command."""
_LISTS = ("||", ";", "&", "\n")
LONGEST = 20_000
"""Longer commands are not read for what they edit."""
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
    found, alone, place = list[Touch](), True, ""
    for part in _listed(line):
        words = part.split()
        edited = _edited(part)
        if edited is not None:
            found += (_touch(posixpath.join(place, path), "changed") for path in edited)
        elif words[:1] == ["cd"]:
            if len(words) != 2 or not _PLAIN.fullmatch(words[1]):
                return []
            place = posixpath.normpath(posixpath.join(place, words[1]))
        elif moved := _changed(words):
            found += (replace(one, path=posixpath.join(place, one.path)) for one in moved)
        else:
            alone = alone and words[:1] == ["mkdir"]
    return found if alone else [one for one in found if one.change == "changed"]


def _listed(line: str) -> list[str]:
    """The commands of a list joined by `&&`; none where it is another kind of list."""
    parts, begin = list[str](), 0
    for sign in _SIGN.finditer(line):
        if sign[0] == "&&":
            parts.append(line[begin : sign.start()])
            begin = sign.end()
        elif sign[0] in _LISTS:
            return []
    return [*parts, line[begin:]]


def _changed(words: list[str]) -> list[Touch]:
    """The files that a command of plain words removes, moves or makes."""
    verb = 2 if " ".join(words[:2]) in _VERBS else 1
    change = _VERBS.get(" ".join(words[:verb]))
    if change is None or not all(map(_PLAIN.fullmatch, words)):
        return []
    return list(change([word for word in words[verb:] if not word.startswith("-")]))


def _edited(part: str) -> list[str] | None:
    """The files that `sed -i` changes; None where it is another command, or not plain."""
    if not part.lstrip().startswith("sed ") or len(part) > LONGEST:
        return None
    try:
        words = shlex.split(part)[1:]
    except ValueError:
        return None
    place = next((n for n, word in enumerate(words) if _IN_PLACE.match(word)), -1)
    if place < 0:
        return None
    del words[place : place + (2 if words[place + 1 : place + 2] == [""] else 1)]
    paths, scripts, rest = list[str](), 0, iter(words)
    for word in rest:
        if word in ("-e", "-f", "--expression", "--file"):
            scripts += 1 if next(rest, "") else 0
        elif not word.startswith("-"):
            paths.append(word)
    files = paths if scripts else paths[1:]
    return files if files and all(map(_PLAIN.fullmatch, files)) else None


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


_VERBS: dict[str, Callable[[list[str]], Iterator[Touch]]] = {
    "rm": _removed,
    "git rm": _removed,
    "mv": _moved,
    "git mv": _moved,
    "cp": _copied,
    "touch": _made,
}
