"""Commits and pull requests that a shell command has made, read off the command and its answer.

Rule 1: only a command that ended well counts; one that is only asked about (`--dry-run`) does not.
Rule 2: joined by `&&` all of it ended well; joined in any other way, the answer has to show it.
Rule 3: what stands in quotes or in a heredoc is text, not a command.
"""

from __future__ import annotations

import re
import shlex
from typing import Final, NamedTuple

LONGEST: Final = 20_000
"""So much of a command is looked at."""

_HEREDOC: Final = re.compile(
    r"<<-?\s*(['\"]?)(\w+)\1([^\n]*)\n(?:.*?\n)??\s*\2(?=\n|\)|$)", re.DOTALL
)
_JOINED: Final = frozenset({"&&", "||", ";", "|", "&", "\n", "(", ")"})
_COMMITTED: Final = re.compile(r"^\[\S[^\]\n]* [0-9a-f]{7,64}\] ", re.MULTILINE)
_REQUESTED: Final = re.compile(r"https://\S+/(?:pull|merge_requests)/\d+")
_REQUESTS: Final = (("gh", "pr", "create"), ("glab", "mr", "create"), ("hub", "pull-request"))
_ASKED: Final = frozenset({"--dry-run", "--help", "-h", "--web", "-w"})


class Made(NamedTuple):
    """What a command has made."""

    commits: int = 0
    pull_requests: int = 0


def made_by(command: str, answer: str) -> Made:
    """The commits and pull requests that a command made, given what the shell tool answered."""
    if not answer.endswith("[exit status 0]") or not ("commit" in command or "create" in command):
        return Made()
    parts, sure = _parts(command[:LONGEST])
    commits = sum(map(_commits, parts))
    requests = sum(map(_requests, parts))
    if sure:
        return Made(commits, requests)
    shown = len(_COMMITTED.findall(answer)), len(set(_REQUESTED.findall(answer)))
    return Made(min(commits, shown[0]), min(requests, shown[1]))


def _parts(command: str) -> tuple[list[list[str]], bool]:
    """The simple commands of a line, and whether each of them must have ended well."""
    lexer = shlex.shlex(_HEREDOC.sub(r"\3", command), posix=True, punctuation_chars="();<>|&\n")
    lexer.whitespace, lexer.commenters, lexer.whitespace_split = " \t\r", "", True
    parts: list[list[str]] = [[]]
    sure = True
    try:
        for word in lexer:
            if word.strip() in _JOINED or word in _JOINED:
                sure = sure and word.strip() in ("&&", "")
                parts.append([])
            else:
                parts[-1].append(word)
    except ValueError:
        return [], False
    many = [part for part in parts if part]
    return many, sure and ("\n" not in command.strip() or len(many) == 1)


def _commits(words: list[str]) -> bool:
    rest = _without_assignments(words)
    if not rest or rest[0].rsplit("/", 1)[-1] != "git":
        return False
    place = 1
    while place < len(rest) and rest[place].startswith("-"):
        place += 2 if rest[place] in ("-C", "-c", "--git-dir", "--work-tree") else 1
    return rest[place : place + 1] == ["commit"] and not _ASKED & set(rest[place:])


def _requests(words: list[str]) -> bool:
    rest = _without_assignments(words)
    named = any(tuple(rest[: len(verb)]) == verb for verb in _REQUESTS)
    return named and not _ASKED & set(rest)


def _without_assignments(words: list[str]) -> list[str]:
    place = 0
    while place < len(words) and re.fullmatch(r"\w+=.*", words[place], re.DOTALL):
        place += 1
    return words[place:]
