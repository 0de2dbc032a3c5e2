"""Filters that leave nothing: whether a project or a tool was named that is not there at all."""

from __future__ import annotations

import re
from pathlib import PurePath
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from holdfast.engine.doors import Holdfast

TOLD = 8
"""How many names are told where none is near."""


def check(hf: Holdfast, project: str, tool: str) -> None:
    """Refuse a project or a tool that no session has, with the names that are nearest."""
    if project:
        known = {one.project for one in hf.every_session() if one.project}
        if not any(_within(project, one) for one in known):
            _refuse("project", project, sorted({PurePath(one).name for one in known}))
    if tool:
        named = {name for one in hf.stats("agent") for name in one.filled}
        if not any(_plain(tool) in _plain(name) for name in named):
            _refuse("tool", tool, sorted(named))


def _within(name: str, project: str) -> bool:
    """Whether the directories of a name stand in a row in a project's path."""
    return f"/{'/'.join(_parts(name))}/" in f"/{'/'.join(_parts(project))}/"


def _parts(path: str) -> list[str]:
    return re.findall(r"\w+", path.lower())


def _plain(name: str) -> str:
    return "".join(_parts(name))


def _refuse(kind: str, name: str, known: list[str]) -> None:
    from holdfast.core.nearest import nearest
    from holdfast.errors import Unknown

    more = ", …" if len(known) > TOLD else ""
    told = f"known here are {', '.join(known[:TOLD])}{more}" if known else "none is here yet"
    near = nearest(name.rstrip("/").rpartition("/")[2], known)
    raise Unknown(kind, name, near, "" if near else told)
