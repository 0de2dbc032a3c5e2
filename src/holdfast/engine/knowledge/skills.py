"""Finding and reading skills: the project's once they are approved, the user's and plug-ins'."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Final

from holdfast.core.knowledge import frontmatter
from holdfast.core.knowledge.instructions import State
from holdfast.core.knowledge.skills import DIRECTORIES, FILE, NAME, Origin, Skill, listing
from holdfast.core.knowledge.trust import Trusted
from holdfast.core.tokens.estimate import estimate
from holdfast.engine.knowledge.instruction_files import InstructionReader
from holdfast.engine.knowledge.safe_read import inside, read_text
from holdfast.engine.knowledge.trust import trusted
from holdfast.errors import HoldfastError, NotFound, Unsafe
from holdfast.files import Root
from holdfast.model.window import SectionName

MOST: Final = 200
"""So many skills are read for one directory."""


class Skills:
    """The skills of one directory, as a source of the window; they are read at once, and again
    where `look` is asked to."""

    name = "skills"
    section: SectionName = "skills"

    def __init__(self, reader: InstructionReader) -> None:
        self._reader = reader
        self.found: tuple[Skill, ...] = ()
        """Every skill, and whether it can be used."""

    def look(self) -> tuple[Skill, ...]:
        """Read all skills now; it blocks for as long as that takes."""
        self.found = tuple(_found(self._reader))
        return self.found

    async def text(self, allowance: int) -> str:
        """The list of those that can be used, within its budget."""
        return listing(self.found, allowance)

    def skill(self, name: str) -> Skill:
        """The skill of this name that can be used."""
        usable = {one.name: one for one in self.found if one.acts}
        if name not in usable:
            listed = ", ".join(usable) or "none"
            raise NotFound("skill", name, (), f"there are: {listed}")
        return usable[name]

    def file(self, name: str, path: str) -> str:
        """A file in the directory of a skill."""
        return read_text(Root(os.path.dirname(self.skill(name).place)), path).text


def _found(reader: InstructionReader) -> Iterator[Skill]:
    """Every skill; of those with one name the most specific alone is listed."""
    known = trusted(reader.root.path)
    names, met = set[str](), set[str]()
    for origin, root, path in _candidates(reader):
        try:
            place = inside(root, path)
        except Unsafe as error:
            yield _refused(origin, root, path, str(error))
            continue
        if (full := str(root.path / place)) in met or not os.path.lexists(full):
            continue
        met.add(full)
        one = _read(reader, known, origin, root, place)
        if one.acts and one.name in names:
            continue
        names |= {one.name} if one.acts else set()
        yield one
        if len(met) == MOST:
            return


def _read(
    reader: InstructionReader, known: Trusted, origin: Origin, root: Root, path: str
) -> Skill:
    """One skill, and whether it can be used."""
    full = str(root.path / path)
    key = path if origin == "project" else full
    try:
        read = reader.read(key)
    except (HoldfastError, OSError) as error:
        return _refused(origin, root, path, str(error))
    head = frontmatter.read(read.text)
    name = head.text("name") or os.path.basename(os.path.dirname(full))
    if not NAME.fullmatch(name):
        why = "its name may hold letters, digits and . _ : - only; give it another one"
        return _refused(origin, root, path, why)
    state, why = "loaded", "it is the user's own"
    if origin == "project":
        state, why = _judged(known, path, read.digest, reader.trust)
    return Skill(
        name=name, description=head.text("description"), origin=origin, path=key, place=full,
        state=state, why=why, text=read.text, tokens=estimate(read.text), digest=read.digest,
        hidden=read.hidden,
    )  # fmt: skip


def _judged(known: Trusted, path: str, digest: str, trust: str) -> tuple[State, str]:
    if trust == "always":
        return "loaded", "all of the project is trusted"
    if trust == "never":
        return "untrusted", "nothing of a project is trusted here"
    verdict = known.of(path, digest)
    if verdict == "trusted":
        return "loaded", "it is approved"
    if verdict == "declined":
        return "declined", "it was declined"
    if known.known(path):
        return "changed", "it has changed since it was approved"
    return "untrusted", "it is not approved yet"


def _refused(origin: Origin, root: Root, path: str, why: str) -> Skill:
    place = str(root.path / path)
    name = os.path.basename(os.path.dirname(place))
    key = path if origin == "project" else place
    return Skill(name=name, origin=origin, path=key, place=place, state="refused", why=why)


def _candidates(reader: InstructionReader) -> Iterator[tuple[Origin, Root, str]]:
    """Where skills may be, the most specific first."""
    for directory in reversed(reader.chain()):
        for one in DIRECTORIES:
            yield from _beneath("project", reader.root, one if directory == "." else
                                f"{directory}/{one}")  # fmt: skip
    places = [os.path.join(one, "skills") for one in reader.places.user]
    for place in (*places, os.path.join(reader.places.home, ".agents/skills")):
        yield from _own("user", place)
    for one in reader.places.user:
        plugins = os.path.join(one, "plugins")
        for name in _names(plugins):
            yield from _own("plug-in", os.path.join(plugins, name, "skills"))


def _own(origin: Origin, place: str) -> Iterator[tuple[Origin, Root, str]]:
    """Skills of the user's: they may be links to wherever the user keeps them."""
    for name in _names(place):
        real = os.path.realpath(os.path.join(place, name))
        if os.path.isfile(os.path.join(real, FILE)):
            file = os.path.realpath(os.path.join(real, FILE))
            yield origin, Root(os.path.dirname(file)), os.path.basename(file)


def _beneath(origin: Origin, root: Root, place: str) -> Iterator[tuple[Origin, Root, str]]:
    """Skills of the project: nothing that leads out of it is even looked at."""
    try:
        place = inside(root, place)
        entries = root.listing(place) if os.path.isdir(root.path / place) else []
    except (HoldfastError, OSError):
        return
    for entry in entries:
        if entry.kind in ("directory", "symlink"):
            yield origin, root, f"{entry.path}/{FILE}"


def _names(place: str) -> list[str]:
    try:
        return sorted(os.listdir(place))
    except OSError:
        return []
