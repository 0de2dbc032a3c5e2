"""Where an import finds no transcript: what was looked for, what is there instead, what to do."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from holdfast.engine.doors import Holdfast


def nothing_found(hf: Holdfast, paths: tuple[str, ...], agents: tuple[str, ...]) -> str:
    """That nothing was found, and what to do."""
    from holdfast.engine.plugins import importers

    wanted = ", ".join(agents or importers())
    if not paths:
        return (
            f"no transcripts are in the usual places of {wanted}: {', '.join(_usual(agents))}; "
            "name a file or a directory"
        )
    where = ", ".join(paths)
    if there := _others(hf, paths) if agents else "":
        return (
            f"no transcript of {wanted} was found in {where}, but {there}; "
            "name that program with --agent, or leave --agent out"
        )
    return (
        f"no transcript was found in {where}; looked for those of {wanted}, by the names and the "
        "first bytes of all files there; name another place, or none to look in the usual ones"
    )


def _usual(agents: tuple[str, ...]) -> list[str]:
    """Where programs keep their transcripts."""
    from holdfast.engine.plugins import importer, importers

    return [f"~/{place}" for name in agents or importers() for place in importer(name).places()]


def _others(hf: Holdfast, paths: tuple[str, ...]) -> str:
    """How many transcripts of which programs are there."""
    found = Counter(one.importer for one in hf.transcripts(*paths) if not one.why)
    return ", ".join(f"{many:,} of {name}" for name, many in found.most_common())
