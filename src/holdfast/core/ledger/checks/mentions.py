"""What a summary names: paths, commands and identifiers, each told by its shape."""

from __future__ import annotations

import re
from collections.abc import Iterator
from difflib import SequenceMatcher
from functools import lru_cache
from typing import Final

from holdfast.core.ledger.checks.matching import plain
from holdfast.core.window.handles import is_own
from holdfast.model.ledger import Ledger

_SPAN = re.compile(r"`([^`\n]+)`")
_FENCED = re.compile(
    r"^```(?:sh|bash|shell|console|zsh)?[ \t]*\n(.*?)^```", re.MULTILINE | re.DOTALL
)
_ENDINGS_TEXT = """
py pyi js jsx ts tsx mjs cjs rs go rb java kt c h cc cpp hpp cs php swift scala sh bash zsh fish
sql md mdx rst txt json jsonl yaml yml toml ini cfg conf lock xml html css scss less vue svelte
ipynb csv tsv log env proto graphql tf gradle dockerfile pkl mod sum png gif jpg svg pdf
"""
_ENDINGS = "|".join(_ENDINGS_TEXT.split())

_PATH = re.compile(
    r"(?<![\w/.@:-])(?:[A-Za-z]:[\\/]|~/|\.{1,2}/|/)?"
    r"(?:[\w.@+-]+[\\/])*[\w.@+-]*[\w)]\.(?:" + _ENDINGS + r")(?![\w-]|\.\w)"
    r"|(?<![\w/.@:<-])(?:~/|\.{1,2}/|/)(?:[\w.@+-]+/)+[\w.@+-]*"
)  # fmt: skip
_ENDED = re.compile(rf"\.(?:{_ENDINGS})(?![\w-]|\.\w)")
"""What has neither this nor a slash has no path."""
_RUN = re.compile(r"[\w.@+\-/\\~:)]{3,}")
"""Signs that stand in paths; whatever is between two runs of them is in none."""
COMMON = 200
"""Longer words hardly come twice."""

_BRAND = re.compile(r"(?:Node|Vue|Next|Nuxt|React|Express|Three|D3|Alpine|Ember|Deno|Chart)\.js\Z")
_URL = re.compile(r"https?://[^\s<>\"'`)\]]+")
_PROGRAMS_TEXT = """
git npm npx pnpm yarn bun deno node python python3 pip uv uvx poetry pytest ruff mypy pyright
make cargo rustc go gofmt gradle mvn java docker podman kubectl helm terraform rm mv cp mkdir
touch cat sed awk grep rg find ls cd curl wget bash sh zsh chmod ssh tox nox ctest cmake bundle
rake rspec php composer dotnet swift jest vitest tsc eslint prettier gh brew apt mise just
"""
PROGRAMS = frozenset(_PROGRAMS_TEXT.split())

_NAME = re.compile(r"(?:[A-Za-z_$][\w$]*(?:\.|::|#|->))*[A-Za-z_$][\w$]*[?!]?(?:\(\))?\Z", re.ASCII)
_TELLING = re.compile(r"_|[a-z][A-Z]|\.|::|->|\(\)|[A-Z]{2}|\d")
_HASH = re.compile(r"\b(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{7,40}\b")
_ISSUE = re.compile(r"\b(?:PR|MR|GH|issue) ?#\d{1,7}\b", re.IGNORECASE)


def code_spans(text: str) -> list[str]:
    """What a text puts in backticks."""
    return [found.strip() for found in _SPAN.findall(_FENCED.sub(" ", text))]


def paths(text: str) -> Iterator[str]:
    """Everything in a text that looks like a path, without line numbers."""
    bare = _URL.sub(" ", text) if "://" in text else text
    for word in bare.split():
        if "." in word or "/" in word:
            yield from (_known_in if len(word) <= COMMON else _in_word)(word)


def _in_word(word: str) -> tuple[str, ...]:
    """The paths between two blanks."""
    if "/" not in word and not _ENDED.search(word):
        return ()
    return tuple([
        path for run in _RUN.finditer(word) for found in _PATH.finditer(word, *run.span())
        if not _BRAND.match(path := found[0].rstrip(".")) and not _inside_pattern(word, found)
    ])  # fmt: skip


_known_in = lru_cache(4096)(_in_word)
"""The same few files are named again and again."""


def _inside_pattern(text: str, found: re.Match[str]) -> bool:
    """Whether a path is a piece of a pattern such as `src/*.py` or `{a,b}.py`."""
    return found.start() > 0 and text[found.start() - 1] in "*{}]…"


def commands(text: str) -> Iterator[str]:
    """Everything in a text that is shown as a command: more than a program's bare name."""
    for fence in _FENCED.findall(text):
        for line in fence.splitlines():
            yield from _command(line.removeprefix("$ "))
    for span in code_spans(text):
        yield from _command(span.removeprefix("$ "))


def _command(line: str) -> Iterator[str]:
    words = line.split()
    if len(words) > 1 and words[0] in PROGRAMS:
        yield plain(line)


def identifiers(text: str) -> Iterator[str]:
    """Names in backticks, and hashes, addresses and issues anywhere."""
    for span in code_spans(text):
        is_path = any(True for _ in paths(span))
        is_name = len(span) > 2 and not is_path and _NAME.match(span)
        if is_name and _TELLING.search(span) and not is_own(span):
            yield span
    for pattern in (_URL, _HASH, _ISSUE):
        yield from (found[0].rstrip(".,;:") for found in pattern.finditer(text))


ALIKE: Final = 0.6
"""How alike two file names are when one may be a slip for the other."""


class Known:
    """The words against which what a summary names is held."""

    def __init__(self, ledger: Ledger, covered: str = "") -> None:
        self.files = tuple(ledger.files)
        self.text = plain("\n".join((*_words(ledger), covered)))
        self.paths = self.text.replace("\\", "/")
        self.lines = tuple(plain(one.line) for one in ledger.commands)

    def has_path(self, path: str) -> bool:
        """Whether a path, or the end of one, was ever named."""
        bare = re.sub(r"^(?:\.{3}|…)?/?|^\./", "", path.replace("\\", "/"), count=1)
        bare = re.sub(r"^\./", "", bare)
        if not bare or self._stands(bare) or self._stands(path):  # some programs print `...ile.py`
            return True
        return self._joined(path.replace("\\", "/"))

    def _stands(self, path: str) -> bool:
        """Whether a path stands somewhere; an ideograph right beside it is none of its letters."""
        found = rf"(?<![A-Za-z0-9_.-]){re.escape(path.rstrip('/'))}(?![A-Za-z0-9_-])"
        return bool(re.search(found, self.paths))

    def _joined(self, path: str) -> bool:
        """Whether it is a known directory and a known path behind it."""
        for file in self.files:
            end = file.replace("\\", "/").removeprefix("./")
            if path.endswith("/" + end) and path[: -len(end) - 1] in self.paths:
                return True
        return False

    def meant(self, path: str) -> str:
        """The file that a wrong path was probably written for; empty where none comes near."""
        name = path.replace("\\", "/").rsplit("/", 1)[-1]
        best, found = ALIKE, ""
        for file in self.files:
            other = file.replace("\\", "/").rsplit("/", 1)[-1]
            alike = SequenceMatcher(None, name.lower(), other.lower(), autojunk=False).ratio()
            if alike > best or (alike == best and not found):
                best, found = alike, file
        return found

    def has_command(self, line: str) -> bool:
        """Whether a command was given or spoken of so; words may be left out of it."""
        if plain(line) in self.text:
            return True
        pieces = [plain(piece) for piece in re.split(r"\.{3}|…", line) if piece.strip()]
        if len(pieces) > 1:
            return all(piece in self.text for piece in pieces)
        return any(_within(line.split(), known.split()) for known in self.lines)

    def has_name(self, name: str) -> bool:
        """Whether an identifier, or each piece of a dotted one, was ever used."""
        bare = name.removesuffix("()").removeprefix("self.").removeprefix("this.")
        if bare in self.text:
            return True
        pieces = [piece for piece in re.split(r"\.|::|#|->", bare) if piece]
        return len(pieces) > 1 and all(self._word(piece) for piece in pieces)

    def _word(self, word: str) -> bool:
        return bool(re.search(rf"(?<!\w){re.escape(word)}(?!\w)", self.text))


def _within(some: list[str], others: list[str]) -> bool:
    """Whether all words of one list stand in another, in the same order."""
    rest = iter(others)
    return all(word in rest for word in some)


def _words(ledger: Ledger) -> Iterator[str]:
    yield from ledger.files
    yield from (one.line for one in ledger.commands)
    yield from (one.text for one in ledger.requests)
    for problem in ledger.problems:
        yield from (problem.subject, problem.text)
    yield from (step.text for plan in ledger.plans for step in plan.steps)
    yield from (one.title for one in ledger.subtasks)
    yield from (one.name for one in ledger.subtasks)
    yield from (one.text for one in ledger.decisions)
    yield from ledger.identifiers
