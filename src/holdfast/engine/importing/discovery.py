"""Finding transcripts: which files at a path are some program's, and whose.

Rule 1: a file is known by its name and by how its records look, wherever the first whole one is.
Rule 2: a file that was named is told of, also where it is no transcript.
Rule 3: what cannot be read hinders nothing else, and is a problem of its own.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import BinaryIO

from msgspec import Struct

from holdfast.engine.importing.transcript_file import MARK
from holdfast.engine.plugins import importer, importers
from holdfast.errors import InvalidRequest, NotFound, Unavailable, Unsafe
from holdfast.files import Root
from holdfast.model.import_report import ImportReport
from holdfast.model.transcript_events import Problem
from holdfast.ports import Importer

HEAD = 64 * 1024
"""How much of a file is looked at to know whose it is."""

MOST_FILES = 1_000_000

UNNAMED = "no known program gives its transcripts such a name"
UNKNOWN = "it does not begin as the transcripts of any known program do"
LINKED = "it is a link, and none is followed"
CLOSED = "this directory cannot be read, so nothing in it is imported; check its owner and mode"


class Source(Struct, frozen=True):
    """A transcript that was found, and who reads it; or a file that is none."""

    importer: str
    root: str
    name: str
    size: int = 0
    why: str = ""
    """Why it is none, where nobody reads it."""
    named: bool = False
    """Whether whoever asked must know: it was named and is no transcript, or cannot be read."""

    @property
    def path(self) -> str:
        """Where it is."""
        return str(Path(self.root) / self.name)


def usual(home: Path, wanted: Sequence[str] = ()) -> Iterator[Path]:
    """The places that exist where programs usually keep their transcripts."""
    for name in wanted or importers():
        for place in importer(name).default_paths():
            if (home / place).exists():
                yield home / place


def find(
    paths: Iterable[str | Path], wanted: Sequence[str] = (), *, others: bool = False
) -> Iterator[Source]:
    """The transcripts at these paths, whole directories included, each once.

    With `others` also the files that are none, with why. Of several paths, one that is none is
    told of so too; a single one is refused. A single wanted program reads whatever file is named.
    """
    known = [importer(name) for name in wanted or importers()]
    places, met = [Path(path) for path in paths], set[str]()
    for place in places:
        for source in _named(place, known, alone=len(places) == 1, forced=len(wanted) == 1):
            if source.path not in met and (others or source.named or not source.why):
                met.add(source.path)
                yield source


def _named(path: Path, known: Sequence[Importer], *, alone: bool, forced: bool) -> Iterator[Source]:
    """What is at a path; that nothing is, where others were named too."""
    try:
        yield from _at(path, known, forced=forced)
    except (InvalidRequest, NotFound, Unavailable) as why:
        if alone:
            raise
        yield Source("", str(path.parent), path.name, why=str(why), named=True)


def _at(path: Path, known: Sequence[Importer], *, forced: bool) -> Iterator[Source]:
    place = path.expanduser()
    if place.is_dir():
        yield from _beneath(place, known)
    elif place.exists():
        root = Root(place.parent)
        source = _recognised(root, place.name, known, any_name=True)
        if source.why and source.size and forced:
            source = _taken(root, place.name, known[0], source.size)
        if source.why:
            names = ", ".join(one.name for one in known)
            raise InvalidRequest(
                f"{path} is no transcript that can be imported: {source.why}; known are {names}"
            )
        yield source
    else:
        raise NotFound("file or directory", str(path), (), "check the path")


def _beneath(place: Path, known: Sequence[Importer]) -> Iterator[Source]:
    try:
        root = Root(place)
        for found in root.walk(limit=MOST_FILES, skip=lambda one: one.path.endswith(".git")):
            if found.kind == "file":
                yield _recognised(root, found.path, known)
            elif found.kind == "symlink":
                yield Source("", str(root.path), found.path, why=LINKED)
            elif found.kind == "closed directory":
                yield Source("", str(root.path), found.path, why=CLOSED, named=True)
    except OSError as why:
        raise Unavailable(
            f"not all of {place} can be read ({why}); check owner and mode, or name what can be"
        ) from why


def _recognised(
    root: Root, name: str, known: Sequence[Importer], *, any_name: bool = False
) -> Source:
    """Whose a file is, by its name and its first bytes; or why it is nobody's."""
    taken = [one for one in known if any_name or one.matches_name(name)]
    if not taken:
        return Source("", str(root.path), name, why=UNNAMED)
    try:
        with root.open(name) as file:
            size = os.fstat(file.fileno()).st_size
            for head in _looks(file, size):
                for one in taken:
                    if one.recognises(head, name):
                        return _taken(root, name, one, size)
    except (OSError, Unsafe) as why:
        reason = getattr(why, "strerror", None) or why
        told = f"it cannot be read ({reason}); check its owner and mode"
        return Source("", str(root.path), name, why=told, named=True)
    return Source("", str(root.path), name, size, UNKNOWN if size else "it is empty")


def _looks(file: BinaryIO, size: int) -> Iterator[bytes]:
    """What is looked at: the first bytes; where they tell nothing, whole lines further on."""
    yield file.read(HEAD).removeprefix(MARK)
    for place in (HEAD, size // 2):
        file.seek(place)
        _, _, lines = file.read(HEAD).partition(b"\n")
        if place >= HEAD and lines:
            yield lines


def _taken(root: Root, name: str, one: Importer, size: int) -> Source:
    """A file as one that an importer reads."""
    above = _above(root, name, one.reach)
    return Source(one.name, str(above), str((root.path / name).relative_to(above)), size)


def _above(root: Root, name: str, reach: int) -> Path:
    """The directory that an importer may look into, so many above the file's own."""
    directory = (root.path / name).parent
    return (directory, *directory.parents)[min(reach, len(directory.parents))]


def left_aside(source: Source) -> ImportReport:
    """The report of what was named, but is no transcript; and of what cannot be read."""
    return ImportReport(path=source.path, problems=(Problem(source.why),), troubles=1)
