"""Names that commands are narrowed by: which project is meant, and whether there is any project,
agent, tool or model of a name at all."""

from __future__ import annotations

import os
import re
from pathlib import PurePath
from typing import TYPE_CHECKING

from holdfast.engine.usage.stats import UNKNOWN

if TYPE_CHECKING:
    from holdfast.engine.client import Holdfast

TOLD = 8
"""How many names are told where none is near."""


def named_project(hf: Holdfast, name: str) -> str:
    """The project that is listed under a name, or the one at a path."""
    from holdfast.cli.ui.format import short_project
    from holdfast.errors import InvalidRequest
    from holdfast.files import project_root

    listed = {one.project: short_project(one) for one in hf.every_session() if one.project}
    known = sorted(place for place, short in listed.items() if name in (short, place))
    if len(known) > 1:
        raise InvalidRequest(
            f"{len(known)} projects are called {name!r}; give the path: {', '.join(known)}"
        )
    if not known and os.sep not in name and not os.path.isdir(name):
        refuse("project", name, sorted({*listed.values()}))
    return known[0] if known else str(project_root(os.path.abspath(name)))


def check_agent(hf: Holdfast, agent: str, *, ours: bool = False) -> None:
    """Refuse the name of a program that no session was imported from; `ours` may be one, too."""
    from holdfast.core.search.nearest import nearest
    from holdfast.errors import NotFound

    known: set[str] = set()
    if ours and agent.lower() == "holdfast":
        return
    for session in hf.every_session():
        if session.agent.lower() == agent.lower():
            return
        known.add(session.agent)
    names = sorted(known - {""})
    told = f"sessions here are from {', '.join(names)}" if names else "nothing is imported yet"
    raise NotFound("agent", agent, nearest(agent, names), told)


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
    from holdfast.core.search.nearest import nearest
    from holdfast.errors import NotFound

    more = ", …" if len(known) > TOLD else ""
    told = f"known here are {', '.join(known[:TOLD])}{more}" if known else "none is here yet"
    near = nearest(name.rstrip("/").rpartition("/")[2], known)
    raise NotFound(kind, name, near, "" if near else told)
