"""Which definitions of a repository matter most, and as many of them as fit.

Rule 1: a file that refers to a name points at the files that define it; rank flows along that.
Rule 2: rank starts from the files in the chat and from what was just mentioned, else everywhere.
Rule 3: files in the chat are shown in full elsewhere, so the map leaves them out.
Rule 4: the same repository and the same questions give the same text, byte for byte.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from math import sqrt
from typing import Final

from msgspec import Struct

DAMPING: Final = 0.85
ROUNDS: Final = 60
CLOSE: Final = 1e-7
"""Rank is passed on until it changes less than this, or for so many rounds."""

DEFINERS: Final = 16
"""A name that more files than this define says nothing about any of them."""

MENTIONED: Final = 10.0
CHATTING: Final = 50.0
TELLING: Final = 4.0
PLAIN: Final = 0.2
PRIVATE: Final = 0.1
OWN: Final = 0.1
"""How much more or less a reference counts: to a name that was mentioned, from a file in the chat,
to a name that only this repository can mean, to a short word that may be a language's own, to a
private name, from the file that defines it."""

SHORT: Final = 8
"""Words of fewer letters than this are short."""

ELIDED: Final = "  ⋮"
HEAD: Final = (
    "An outline of this repository: files, and what in them is referred to most. "
    "⋮ stands for definitions left out; read a file before you rely on it."
)

_QUOTED = re.compile(r"`([^`\s]{1,200})`")
_WORD = re.compile(r"[^\W\d]\w*")
_PATH = re.compile(r"[\w./-]{1,200}\.\w{1,20}")


class Definition(Struct, frozen=True, array_like=True):
    """Something a file defines: its name, the lines it takes, and how it begins."""

    name: str
    first: int
    last: int
    text: str


class Tags(Struct, frozen=True, array_like=True):
    """What one file defines, in its order, and how often it refers to which names."""

    definitions: tuple[Definition, ...] = ()
    references: dict[str, int] = {}


class Wanted(Struct, frozen=True):
    """One thing a map may show: a definition of a file by its index, or with -1 its name alone."""

    path: str
    index: int
    score: float = 0.0


class Fitted(Struct, frozen=True, kw_only=True):
    """A map that fits, and how much of the repository it shows."""

    text: str = ""
    tokens: int = 0
    files: int = 0
    definitions: int = 0


def mentioned(text: str) -> frozenset[str]:
    """The names and paths that a text means: those in backticks, those no plain word looks like."""
    words = (word for word in _WORD.findall(text) if _compound(word))
    return frozenset((*_QUOTED.findall(text), *words, *_PATH.findall(text)))


def _compound(word: str) -> bool:
    """Whether a word is spelt as only a name is: `a_b`, `aB`, but neither `Ab` nor `AB`."""
    return "_" in word.strip("_") or word not in (word.lower(), word.upper(), word.capitalize())


def ranked(
    files: Mapping[str, Tags],
    chat: Collection[str] = (),
    mentions: Collection[str] = (),
) -> list[Wanted]:
    """Everything a map may show, what is wanted most first."""
    edges = _edges(files, frozenset(chat), frozenset(mentions))
    flow = _flow(edges)
    rank = pagerank(flow, _starts(files, frozenset(chat), frozenset(mentions)))
    scores = _scores(edges, flow, rank)
    for path, tags in files.items():
        for name in {one.name for one in tags.definitions} & frozenset(mentions):
            scores[path, name] += rank.get(path, 0.0)  # it is wanted itself
    found = [
        Wanted(path, index, score)
        for path, tags in files.items()
        if path not in chat
        for index, one in enumerate(tags.definitions)
        if (score := scores.get((path, one.name), 0.0)) or _worth_telling(path, one.name)
    ]
    bare = [Wanted(path, -1, rank.get(path, 0.0)) for path in files if path not in chat]
    order = sorted(found, key=lambda one: (-one.score, one.path, one.index))
    return [*order, *sorted(bare, key=lambda one: (-one.score, one.path))]


def _worth_telling(path: str, name: str) -> bool:
    """Whether a definition that nobody refers to is one that somebody may look for."""
    return not name.startswith(("_", "test", "Test")) and "test" not in path.lower()


Edge = tuple[str, str, str]
"""Who refers, who defines, and by which name."""


def _edges(
    files: Mapping[str, Tags], chat: frozenset[str], mentions: frozenset[str]
) -> dict[Edge, float]:
    definers: dict[str, list[str]] = defaultdict(list)
    for path in sorted(files):
        for name in dict.fromkeys(one.name for one in files[path].definitions):
            definers[name].append(path)
    edges: dict[Edge, float] = {}
    for path in sorted(files):
        for name, many in sorted(files[path].references.items()):
            defined = definers.get(name, ())
            if not 0 < len(defined) <= DEFINERS:
                continue
            weight = _weight(name, mentions) * sqrt(many) / len(defined)
            weight *= CHATTING if path in chat else 1.0
            for to in defined:
                edges[path, to, name] = weight * (OWN if to == path else 1.0)
    return edges


def _weight(name: str, mentions: frozenset[str]) -> float:
    if name in mentions:
        return MENTIONED
    if name.startswith("_"):
        return PRIVATE
    if _compound(name):
        return TELLING if len(name) >= SHORT else 1.0
    return PLAIN if len(name) < SHORT and name == name.lower() else 1.0


def _flow(edges: Mapping[Edge, float]) -> dict[str, dict[str, float]]:
    flow: dict[str, dict[str, float]] = defaultdict(dict)
    for (path, to, _), weight in edges.items():
        flow[path][to] = flow[path].get(to, 0.0) + weight
    return flow


def _starts(
    files: Mapping[str, Tags], chat: frozenset[str], mentions: frozenset[str]
) -> dict[str, float]:
    """Where rank starts: the chat, files that were named, files that define what was mentioned."""
    starts: dict[str, float] = {}
    for path in sorted(files):
        names = {path, path.rsplit("/", 1)[-1]}
        defines = any(one.name in mentions for one in files[path].definitions)
        weight = 2.0 * (path in chat) + 2.0 * bool(names & mentions) + 1.0 * defines
        if weight:
            starts[path] = weight
    return starts or dict.fromkeys(sorted(files), 1.0)


def pagerank(
    flow: Mapping[str, Mapping[str, float]], starts: Mapping[str, float]
) -> dict[str, float]:
    """How much of a walk that follows these weights, and starts over now and then, is spent where.

    A place that leads nowhere starts over at once.
    """
    whole = sum(starts.values()) or 1.0
    begin = {place: weight / whole for place, weight in starts.items()}
    totals = {place: sum(onward.values()) for place, onward in flow.items()}
    rank = dict(begin)
    for _ in range(ROUNDS):
        passed: dict[str, float] = defaultdict(float)
        stuck = 0.0
        for place, worth in rank.items():
            if not totals.get(place):
                stuck += worth
                continue
            share = DAMPING * worth / totals[place]
            for to, weight in flow[place].items():
                passed[to] += share * weight
        again = 1.0 - DAMPING + DAMPING * stuck
        new = {
            place: passed.get(place, 0.0) + again * begin.get(place, 0.0)
            for place in dict.fromkeys((*begin, *passed))
        }
        change = sum(abs(new[place] - rank.get(place, 0.0)) for place in new)
        rank = new
        if change < CLOSE:
            break
    return rank


def _scores(
    edges: Mapping[Edge, float],
    flow: Mapping[str, Mapping[str, float]],
    rank: Mapping[str, float],
) -> dict[tuple[str, str], float]:
    """What each definition receives: the rank of those who refer to it, in shares."""
    totals = {path: sum(onward.values()) for path, onward in flow.items()}
    scores: dict[tuple[str, str], float] = defaultdict(float)
    for (path, to, name), weight in edges.items():
        scores[to, name] += rank.get(path, 0.0) * weight / totals[path]
    return scores


def fitted(
    files: Mapping[str, Tags],
    order: Sequence[Wanted],
    allowance: int,
    count: Callable[[str], int],
) -> Fitted:
    """The map of as much as fits, the most wanted first; it never takes more than its allowance."""
    fits, beyond = 0, len(order) + 1
    best = Fitted()
    while fits + 1 < beyond:
        many = (fits + beyond) // 2
        text = outline(files, order[:many])
        tokens = count(text)
        if tokens <= allowance:
            fits, best = many, _told(text, tokens, order[:many])
        else:
            beyond = many
    return best


def _told(text: str, tokens: int, shown: Sequence[Wanted]) -> Fitted:
    return Fitted(
        text=text,
        tokens=tokens,
        files=len({one.path for one in shown}),
        definitions=sum(one.index >= 0 for one in shown),
    )


def outline(files: Mapping[str, Tags], shown: Iterable[Wanted]) -> str:
    """What is wanted, file by file in the order of their names."""
    by: dict[str, set[int]] = defaultdict(set)
    for one in shown:
        by[one.path] |= {one.index}
    entries = (entry(path, files[path].definitions, by[path]) for path in sorted(by))
    return "\n".join((HEAD, *entries)) if by else ""


def is_outline(text: str) -> bool:
    """Whether a text is a map, so that a difference can be told file by file."""
    return text.startswith(HEAD)


def difference(old: str, new: str) -> str:
    """What a newer map says that an older one did not, file by file, and which files it drops."""
    before, now = _by_file(old), _by_file(new)
    told = [text for path, text in now.items() if before.get(path) != text]
    gone = [path for path in before if path not in now]
    return "\n".join((*told, *([f"No longer in it: {', '.join(gone)}"] if gone else ())))


def _by_file(text: str) -> dict[str, str]:
    entries: dict[str, str] = {}
    path = ""
    for line in text.splitlines()[1:]:
        path = path if line.startswith(" ") else line
        entries[path] = f"{entries[path]}\n{line}" if path in entries else line
    return entries


def entry(path: str, definitions: Sequence[Definition], wanted: Collection[int]) -> str:
    """One file: its name, and the definitions that are wanted with those they stand inside."""
    around = _around(definitions)
    shown = set[int]()
    for index in wanted:
        while index >= 0 and index not in shown:
            shown.add(index)
            index = around[index]
    lines, left, depth = [path], False, {-1: 0}
    for index, one in enumerate(definitions):
        depth[index] = depth[around[index]] + 1
        if index in shown:
            lines += [ELIDED] * left + [f"{'  ' * depth[index]}{one.text}"]
        left = index not in shown
    return "\n".join(lines + [ELIDED] * (left and len(lines) > 1))


def _around(definitions: Sequence[Definition]) -> list[int]:
    """For each definition the one it stands inside, or -1."""
    around: list[int] = []
    for index, one in enumerate(definitions):
        outer = index - 1
        while outer >= 0 and not one.last <= definitions[outer].last:
            outer = around[outer]
        around.append(outer)
    return around
