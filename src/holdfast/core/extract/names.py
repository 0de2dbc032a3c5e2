"""Names in a conversation, and how likely each is to be used again.

Rule 1: a name is told by its shape: a path, an address, a file, `snake_case`, `camelCase`, a hash,
        a code. Words of any language are none.
Rule 2: every entry that uses a name warms it: the newer the more, and what somebody wrote more than
        what a tool printed. How warm it is says how likely it comes again.
Rule 3: all is read once, and each distinct word looked at once: the time is linear in the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Any, Final, cast

from holdfast.core.secrets import mask
from holdfast.core.window.handles import is_own
from holdfast.model import wire

SHORTEST: Final = 6
LONGEST: Final = 120

SAID, PRINTED = 3.0, 1.0
"""How much a name is warmed by whoever writes it, and by what a tool prints."""
HALF: Final = 40.0
"""After so many entries a use warms half as much; more and less make little difference."""
EVEN: Final = 8.0
"""A name this warm comes again as likely as not."""
PLACES: Final = 8
"""So many entries are remembered for each name, the newest."""

# A line break written as `\n` would pass for the first letter of a word, so such words are left.
# Latin, Greek and Cyrillic letters go on a word; those of scripts without blanks end it.
_LETTERS: Final = r"[A-Za-z0-9_./@+~\u00c0-\u058f-]"
_ESCAPED = re.compile(rf"\\(?<!\\\\)[nrt]{_LETTERS}*")
_RUN = re.compile(rf"{_LETTERS}{{5,}}")
_ADDRESS = re.compile(rf"http(?<!{_LETTERS}http)s?://[^\s\"'`<>()\[\]{{}}\\,;]+")
_TELLING = re.compile(
    r"[^\W\d]\w*_\w+|[a-z]+[A-Z]\w+|[A-Z][a-z0-9]+[A-Z]\w*"
    r"|(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{7,40}|[A-Z]{1,10}-?\d{2,6}"
)
_LETTER = re.compile(r"[^\W\d_]")
_ENDINGS_TEXT = """
py pyi js jsx ts tsx mjs cjs rs go rb java kt c h cc cpp hpp cs php swift scala sh bash zsh sql md
mdx rst txt json jsonl yaml yml toml ini cfg conf lock xml html css scss less vue svelte ipynb csv
tsv log env proto graphql tf gradle mod sum png gif jpg svg pdf exe dll so bat ps1 lua pl r jl ex
"""
_ENDINGS: Final = frozenset(_ENDINGS_TEXT.split())


class Names:
    """Every name of a stretch: how warm it is, and where it stands."""

    def __init__(self, newest: int) -> None:
        self.newest = newest
        self.warmth: dict[str, float] = {}
        self.places: dict[str, list[int]] = {}
        self._read: set[str] = set()
        self._held: dict[str, list[str]] = {}

    def within(self, text: str) -> set[str]:
        """The names in a text."""
        runs, held = _runs(text), self._held
        for run in runs - self._read:
            if not (run.isalpha() and run[1:].islower()) and (names := _names(run)):
                held[run] = names  # a plain word has none
        self._read |= runs
        return {name for run in runs & held.keys() for name in held[run]}

    def use(self, names: Iterable[str], seq: int, weight: float) -> None:
        """These names stand in an entry, or, where it is 0, somewhere; the newest come last."""
        warmer = weight / (1 + (self.newest - seq) / HALF)
        for name in names:
            self.warmth[name] = self.warmth.get(name, 0.0) + warmer
            if seq:
                self._place(name, seq)

    def _place(self, name: str, seq: int) -> None:
        places = self.places.setdefault(name, [])
        if seq not in places:
            places.append(seq)
            if len(places) > PLACES:
                del places[0]

    def likely(self, name: str) -> float:
        """How likely a name comes again, from 0 to 1."""
        warmth = self.warmth.get(name, 0.0)
        return warmth / (warmth + EVEN)


def _runs(text: str) -> set[str]:
    """What names may stand in: addresses, and runs of the letters that names are made of."""
    if "\\" in text:
        text = _ESCAPED.sub(" ", text)
    if "://" not in text:
        return set(_RUN.findall(text))
    return {*_ADDRESS.findall(text), *_RUN.findall(_ADDRESS.sub(" ", text))}


def values(given: str) -> str:
    """What stands in the input of a tool, without the names of its fields: a model knows those."""
    try:
        return "\n".join(_leaves(wire.value(given)))
    except (ValueError, RecursionError):
        return given


def _leaves(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        yield from _leaves(list(cast(dict[str, Any], value).values()))
    elif isinstance(value, list):
        for inner in cast(list[Any], value):
            yield from _leaves(inner)


def is_public(text: str) -> bool:
    """Whether nothing in a text looks like a secret."""
    return mask(text) == text


def names_in(text: str) -> set[str]:
    """The names in a text, without a stretch to remember them for."""
    plain = (run for run in _runs(text) if not (run.isalpha() and run[1:].islower()))
    return {name for run in plain for name in _names(run)}


@lru_cache(16_384)
def _names(run: str) -> list[str]:
    found = (name for name in _split(run) if SHORTEST <= len(name) <= LONGEST)
    return [name for name in found if not is_own(name)]


def _split(run: str) -> list[str]:
    """The names in a run of letters that names are made of."""
    if run[:1] == "-" and "/" in run:
        return []  # a line of a diff, or a directory named so: which of them cannot be told
    run = run.rstrip("./").lstrip("-+@")
    if run.endswith(("-", "+", "~", "@")) or "..." in run:
        return []  # what is left of a pattern, or of a word that somebody cut
    if "://" in run:
        return [run]
    if "/" in run:
        pieces = [piece for piece in run.split("/") if piece]
        if len(pieces) > 1:
            return [run] if _LETTER.search(run) else []
        return _split(pieces[0]) if pieces else []
    if "." in run and run.rsplit(".", 1)[1].lower() not in _ENDINGS:
        return [name for piece in run.split(".") for name in _split(piece)]
    return [run] if "." in run or _TELLING.fullmatch(run) else []
