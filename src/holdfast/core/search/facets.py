"""What a part can be told apart by besides its words: who, with what, where and when.

Rule 1: names are compared in pieces (a path by its directories, a model's name at its dashes), and
        what is asked for must be a run of them: `src/app.py` is in `/home/me/src/app.py`.
Rule 2: the tool and the paths of a result are those of its call, where that is among the
        LOOK_BACK entries before it.
Rule 3: a path is what a call names in a field for paths, or what looks like one in its input.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, cast

from msgspec import Struct

from holdfast.core.ledger.checks.mentions import paths as paths_in
from holdfast.errors import InvalidRequest
from holdfast.model.message import Part, Patch, ToolCall, ToolResult, fields
from holdfast.model.search import Query
from holdfast.model.span import OPEN

LOOK_BACK = 64
"""So many entries before a result its call is looked for."""

MOST_PATHS = 64
"""Of one call; whoever names more is not found by the rest."""

LONGEST = 20_000
"""Characters of an input that are looked through for paths."""

FIELDS = frozenset((
    "path", "paths", "file", "files", "file_path", "filepath", "filename", "file_name", "dir",
    "directory", "folder", "cwd", "workdir", "target_file", "absolute_path", "notebook_path",
    "relative_path", "dir_path", "old_path", "new_path", "uri",
))  # fmt: skip
"""Fields of a tool's input that hold paths, whatever these look like."""

_SEPARATORS = {
    "project": re.compile(r"[\\/]+"),
    "agent": re.compile(r"(?!)"),
    "role": re.compile(r"(?!)"),
    "model": re.compile(r"[-/:@. ]+"),
    "tool": re.compile(r"__|[.:/ ]+"),
    "path": re.compile(r"[\\/]+"),
}
NAMED = tuple(_SEPARATORS)
"""The filters that go by name."""

Run = tuple[str, ...]


class Used(Struct, frozen=True):
    """Which tool a call is of, and the paths it names."""

    tool: str = ""
    paths: tuple[str, ...] = ()


NOTHING = Used()


class Facets(Struct, frozen=True, kw_only=True):
    """What one part can be told apart by."""

    role: str = ""
    project: str = ""
    agent: str = ""
    model: str = ""
    used: Used = NOTHING
    created: int = 0

    def names(self, name: str) -> tuple[str, ...]:
        """Each name it has under a filter."""
        if name == "path":
            return self.used.paths
        return (self.used.tool if name == "tool" else getattr(self, name),)

    def runs(self, name: str) -> tuple[Run, ...]:
        """The pieces of each name it has under a filter."""
        return tuple(pieces(name, value) for value in self.names(name) if value)


class Calls:
    """The calls of a session as they come, so that a result knows its own."""

    def __init__(self) -> None:
        self._made: dict[str, tuple[int, Used]] = {}

    def used(self, seq: int, part: Part) -> Used:
        """The tool and the paths of a part at a place; calls are remembered."""
        if isinstance(part, ToolCall):
            self._made[part.id] = seq, (used := Used(part.name, paths(part)))
            return used
        if isinstance(part, ToolResult):
            made, used = self._made.get(part.call, (seq, NOTHING))
            used = used if seq - made <= LOOK_BACK else NOTHING
            return Used(part.name or used.tool, used.paths)
        return Used("", part.files[:MOST_PATHS]) if isinstance(part, Patch) else NOTHING

    def knows(self, call: str) -> bool:
        """Whether a call has come by."""
        return call in self._made


def pieces(name: str, value: str) -> Run:
    """What a name is made of; paths keep their case."""
    said = value if name in ("path", "project") else value.lower()
    return tuple(piece for piece in _SEPARATORS[name].split(said) if piece not in ("", "."))


def paths(call: ToolCall) -> tuple[str, ...]:
    """The paths that a call names, each once."""
    found = dict.fromkeys(_named(fields(call.input)))
    found |= dict.fromkeys(paths_in(call.input[:LONGEST].replace("\\n", "\n").replace('\\"', '"')))
    return tuple(found)[:MOST_PATHS]


def _named(value: Any) -> Iterator[str]:
    """What stands in fields for paths, in lists and objects within too."""
    if isinstance(value, dict):
        for name, inner in cast("dict[str, Any]", value).items():
            if name.lower() in FIELDS:
                yield from _texts(inner)
            else:
                yield from _named(inner)
    elif isinstance(value, list):
        for inner in cast("list[Any]", value):
            yield from _named(inner)


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value.removeprefix("file://")
    elif isinstance(value, list):
        for inner in cast("list[Any]", value):
            yield from _texts(inner)
    else:
        yield from _named(value)


def asked(query: Query) -> dict[str, Run]:
    """The filters of a query that go by name, in pieces."""
    given = {name: value for name in NAMED if (value := getattr(query, name))}
    runs = {name: pieces(name, value) for name, value in given.items()}
    for name, run in runs.items():
        if not run:
            raise InvalidRequest(f"{given[name]!r} names no {name}; leave it out, or give a name")
    return runs


def of_whole_sessions(query: Query) -> bool:
    """Whether no filter tells the parts of a session apart."""
    apart = (query.role, query.model, query.tool, query.path, query.since > 0, query.until < OPEN)
    return not any(apart)


def matches(facets: Facets, query: Query) -> bool:
    """Whether a part is one of those that a query asks for, its words aside."""
    if not query.since <= facets.created < query.until:
        return False
    return all(
        any(_within(run, own) for own in facets.runs(name)) for name, run in asked(query).items()
    )


def _within(run: Run, whole: Run) -> bool:
    return any(whole[at : at + len(run)] == run for at in range(len(whole) - len(run) + 1))
