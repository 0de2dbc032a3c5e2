"""A function call's arguments that arrive in pieces, each with the path where it belongs."""

from __future__ import annotations

import re
from typing import Any, cast

import msgspec

STEP = re.compile(r"\.([^.\[\]]+)|\[(\d{1,6})\]|\['([^']*)'\]|\[\"([^\"]*)\"\]")
DEEPEST = 64

Path = tuple[str | int, ...]
Tree = dict[str | int, Any]


class Arguments:
    """Puts the pieces together; a piece without a path is left out."""

    def __init__(self) -> None:
        self._values: dict[Path, Any] = {}
        self._texts: dict[Path, list[str]] = {}
        """The pieces of each text; joined once, since joining at each takes quadratic time."""

    def add(self, piece: dict[str, Any]) -> None:
        """One piece: text goes on where text already is, any other value takes the place."""
        path = _path(str(piece.get("jsonPath", "")))
        if not 0 < len(path) <= DEEPEST:
            return
        value = _value(piece)
        if not isinstance(value, str):
            self._texts.pop(path, None)
        elif path in self._texts:
            self._texts[path].append(value)
            return
        else:
            self._texts[path] = [value]
        self._values[path] = value

    @property
    def text(self) -> str:
        """The object as it stands."""
        root: Tree = {}
        for path, value in self._values.items():
            place = root
            for step in path[:-1]:
                inner = place.get(step)
                place[step] = place = cast("Tree", inner) if isinstance(inner, dict) else {}
            place[path[-1]] = "".join(self._texts[path]) if path in self._texts else value
        return msgspec.json.encode(_shaped(root, list_too=False)).decode()


def _path(text: str) -> Path:
    found = STEP.findall(text.removeprefix("$"))
    return tuple(int(index) if index else name or one or two for name, index, one, two in found)


def _shaped(value: Any, *, list_too: bool = True) -> Any:
    """A tree whose steps are all numbers is a list."""
    if not isinstance(value, dict):
        return value
    tree = cast("Tree", value)
    if list_too and tree and all(isinstance(step, int) for step in tree):
        return [_shaped(inner) for inner in tree.values()]
    return {str(step): _shaped(inner) for step, inner in tree.items()}


def _value(piece: dict[str, Any]) -> Any:
    for name in ("stringValue", "numberValue", "boolValue"):
        if name in piece:
            return piece[name]
    return None
