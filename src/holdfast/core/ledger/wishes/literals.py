"""Words of which a regular expression needs one: what has none of them need not be searched.

Looking for a word takes a hundredth of what searching for a rule of many alternatives takes. The
words are told from the parsed expression, and hold for plain ASCII, where cases are one to one.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from importlib import import_module
from typing import Any

_Needs = frozenset[str] | None
"""None where nothing is needed that could be looked for."""


@cache
def needed(shape: str) -> _Needs:
    """Words in lower case, one of which is in whatever this expression finds in plain ASCII."""
    try:
        parser = import_module("re._parser")
    except ImportError:  # it is CPython's own; without it every rule is searched
        return None
    return _of(parser.parse(shape))


def _of(tree: Iterable[tuple[Any, Any]]) -> _Needs:
    """What a sequence needs: the best of what its pieces do."""
    found, run = list[frozenset[str]](), ""
    for kind, given in tree:
        name = str(kind)
        if name == "LITERAL":
            run += chr(given)
            continue
        if run:
            found.append(frozenset({run.lower()}))
            run = ""
        if (inner := _inside(name, given)) is not None:
            found.append(inner)
    if run:
        found.append(frozenset({run.lower()}))
    return max(found, key=_use, default=None)


def _inside(name: str, given: Any) -> _Needs:
    if name == "BRANCH":
        each = [_of(branch) for branch in given[1]]
        if None in each:
            return None
        return frozenset(word for words in each if words for word in words)
    if name == "SUBPATTERN":
        return _of(given[3])
    if name in ("MAX_REPEAT", "MIN_REPEAT") and given[0]:
        return _of(given[2])
    return None


def _use(words: frozenset[str]) -> tuple[int, int]:
    """How rare it is that one of them is there: by the shortest, then by how many there are."""
    return min(map(len, words)), -len(words)
