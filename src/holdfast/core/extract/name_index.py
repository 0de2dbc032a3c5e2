"""The index: many names in few tokens, each where it can be read again.

Rule 1: a line tells names that all stand in the one entry it ends with.
Rule 2: few entries are named: each time the one in which most of the names left can be read.
Rule 3: names in one directory are written as a shell would take them: `src/{a.py, b.py}`.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from heapq import heapify, heappop, heappush
from itertools import groupby

_ITEM = re.compile(r"([^\s,{}]*/)\{([^{}]*)\}|[^\s,{}]+")
_LINE = re.compile(r"- (\S.*) #(\d+)\Z")


def lines(names: Iterable[str], places: Mapping[str, Sequence[int]]) -> list[str]:
    """These names as lines, in the order of the log."""
    found = assigned(names, places)
    return [f"- {written(found[seq])} #{seq}" for seq in sorted(found)]


def assigned(names: Iterable[str], places: Mapping[str, Sequence[int]]) -> dict[int, list[str]]:
    """Which entry each name is told with."""
    holding: dict[int, list[str]] = defaultdict(list)
    for name in names:
        for seq in places[name]:
            holding[seq].append(name)
    waiting = [(-len(held), -seq) for seq, held in holding.items()]
    heapify(waiting)
    taken: set[str] = set()
    result: dict[int, list[str]] = {}
    while waiting:
        size, seq = heappop(waiting)
        left = [name for name in holding[-seq] if name not in taken]
        if len(left) < -size:  # others took some of them meanwhile
            if left:
                heappush(waiting, (-len(left), seq))
            continue
        taken.update(left)
        result[-seq] = left
    return result


def written(names: Iterable[str]) -> str:
    """Names on one line, those of one directory together."""
    items: list[str] = []
    for folder, group in groupby(sorted(set(names), key=_sorting), key=lambda name: _folder(name)):
        ends = [name[len(folder) :] for name in group]
        if folder and len(ends) > 1:
            items.append(f"{folder}{{{', '.join(ends)}}}")
        else:
            items += [folder + end for end in ends]
    return ", ".join(items)


def _sorting(name: str) -> tuple[str, str]:
    folder = _folder(name)
    return folder, name[len(folder) :]


def _folder(name: str) -> str:
    return "" if "://" in name else name[: name.rfind("/") + 1]


def read(line: str) -> tuple[int, list[str]] | None:
    """The entry and the names of a line that was written here; None for any other line."""
    found = _LINE.match(line)
    if not found:
        return None
    names: list[str] = []
    for item in _ITEM.finditer(found[1]):
        within = [f"{item[1]}{end}" for end in item[2].split(", ")] if item[1] else []
        names += within or [item[0]]
    return int(found[2]), names
