"""Filters that leave nothing: whether a project, a tool or a model was named that nobody has."""

from __future__ import annotations

import re
from pathlib import PurePath
from typing import TYPE_CHECKING

from holdfast.engine.stats import UNKNOWN

if TYPE_CHECKING:
    from holdfast.engine.doors import Holdfast

TOLD = 8
"""How many names are told where none is near."""


def check(hf: Holdfast, project: str, tool: str, model: str) -> None:
    """Refuse a project, a tool or a model that no session has, with the nearest names."""
    if project:
        known = {one.project for one in hf.every_session() if one.project}
        if not any(_within(project, one) for one in known):
            refuse("project", project, sorted({PurePath(one).name for one in known}))
    if tool:
        named = {name for one in hf.stats("agent") for name in one.filled}
        if not any(_plain(tool) in _plain(name) for name in named):
            refuse("tool", tool, sorted(named))
    if model:
        named = {one.name for one in hf.stats("model")} - {UNKNOWN}
        if named and not any(_plain(model) in _plain(name) for name in named):
            refuse("model", model, sorted(named))


def _within(name: str, project: str) -> bool:
    """Whether the directories of a name stand in a row in a project's path."""
    return f"/{'/'.join(_parts(name))}/" in f"/{'/'.join(_parts(project))}/"


def _parts(path: str) -> list[str]:
    return re.findall(r"\w+", path.lower())


def _plain(name: str) -> str:
    return "".join(_parts(name))


def refuse(kind: str, name: str, known: list[str]) -> None:
    """Say that there is none of that name."""
    from holdfast.core.nearest import nearest
    from holdfast.errors import Unknown

    more = ", …" if len(known) > TOLD else ""
    told = f"known here are {', '.join(known[:TOLD])}{more}" if known else "none is here yet"
    near = nearest(name.rstrip("/").rpartition("/")[2], known)
    raise Unknown(kind, name, near, "" if near else told)
