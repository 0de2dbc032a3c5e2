"""Projects with instruction files, for tests."""

import os
from collections.abc import Iterable, Mapping
from pathlib import Path

from holdfast.core.knowledge.instructions import InstructionFile
from holdfast.core.knowledge.trust import Decision
from holdfast.engine.knowledge.instruction_files import InstructionReader, OwnPlaces, Trusting
from holdfast.engine.knowledge.trust import decide


def project(root: Path, files: Mapping[str, str]) -> Path:
    """A repository with these files."""
    (root / ".git").mkdir(parents=True, exist_ok=True)
    return written(root, files)


def written(root: Path, files: Mapping[str, str]) -> Path:
    for name, text in files.items():
        place = root / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, "utf-8")
    return root


def reader(directory: Path, trust: Trusting = "ask", **places: object) -> InstructionReader:
    """A reader that sees no files of this machine's or this person's but those that are named."""
    home = str(directory / "no-home")
    own = OwnPlaces(
        managed=str(places.get("managed", home)),
        user=tuple(str(one) for one in _listed(places.get("user"))),
        home=str(places.get("home", home)),
    )
    return InstructionReader(directory, trust, own)


def _listed(value: object) -> Iterable[object]:
    return value if isinstance(value, (list, tuple)) else ()


def approve(made: InstructionReader, *paths: str) -> None:
    """Approve files as they are now."""
    for path in paths:
        digest = made.read(path).digest
        told = Decision(project=str(made.root.path), path=path, digest=digest, verdict="trusted")
        decide([told])


def states(files: Iterable[InstructionFile]) -> dict[str, str]:
    return {one.path: one.state for one in files}


def loaded(files: Iterable[InstructionFile]) -> list[str]:
    """The paths of the files that act, in their order; own files by their names."""
    return [
        os.path.basename(one.path) if os.path.isabs(one.path) else one.path
        for one in files
        if one.state == "loaded"
    ]
