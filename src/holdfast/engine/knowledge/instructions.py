"""Instructions as a source of the window, and approving them.

Rule 1: files are looked at again for every window, so that after a compaction they say what they
        say now; what has changed, or loads since, is told at the tail.
Rule 2: what is approved is the content that was shown, whatever the file holds by then.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Awaitable, Callable
from typing import Any, Literal, Protocol

from holdfast.core.knowledge.instructions import InstructionFile, told
from holdfast.core.knowledge.skills import Skill
from holdfast.core.knowledge.trust import Decision
from holdfast.engine.knowledge.instruction_files import InstructionReader
from holdfast.engine.knowledge.safe_read import SafeText
from holdfast.engine.knowledge.skills import Skills
from holdfast.engine.knowledge.trust import approved_before, decide, keep
from holdfast.engine.knowledge.trusting import trusting
from holdfast.errors import InvalidRequest, NotFound
from holdfast.model.window import SectionName

Verdict = Literal["trusted", "declined", "withdrawn"]


class Aside(Protocol):
    """Does what blocks, such as reading files, in the door's colour."""

    def __call__(self, act: Callable[[], Any], /) -> Awaitable[Any]: ...


async def instructions(directory: str | os.PathLike[str], trust: str, aside: Aside) -> Instructions:
    """The instruction files of a directory, looked at once."""
    chosen = trusting(trust)
    if not await aside(lambda: os.path.isdir(directory)):
        raise InvalidRequest(f"{os.fspath(directory)!r} is no directory; name one that is there")
    made = Instructions(await aside(lambda: InstructionReader(directory, chosen)), aside)
    await aside(made.look)
    await aside(made.skills.look)
    return made


class Instructions:
    """The instruction files of one directory, as a source of the window."""

    name = "instructions"
    section: SectionName = "instructions"

    def __init__(self, reader: InstructionReader, aside: Aside) -> None:
        self._reader, self._aside = reader, aside
        self._lock = threading.Lock()
        self.files: tuple[InstructionFile, ...] = ()
        """Every file, and whether it acts, as of the newest look."""
        self.left_out: tuple[str, ...] = ()
        """The paths of those that did not fit the window last prepared."""
        self.skills = Skills(reader)
        """The skills of the directory, another source."""

    @property
    def root(self) -> str:
        """The root of the project."""
        return str(self._reader.root.path)

    def touch(self, *paths: str) -> None:
        """Paths were read or changed: rules for them load, and files of their directories."""
        with self._lock:
            for path in paths:
                self._reader.touch(path)

    def look(self) -> tuple[InstructionFile, ...]:
        """Look at all files now; it blocks for as long as that takes."""
        with self._lock:
            self.files = self._reader.files()
        return self.files

    async def text(self, allowance: int) -> str:
        """What acts, of at most so many tokens; what does not fit is left out whole and named."""
        await self._aside(self.look)
        text, self.left_out = told(self.files, allowance)
        return text

    @property
    def loaded(self) -> tuple[InstructionFile, ...]:
        """The files that act."""
        return tuple(one for one in self.files if one.acts)

    @property
    def waiting_for_approval(self) -> tuple[InstructionFile | Skill, ...]:
        """The files, skills among them, that do not act until the user approves them."""
        return tuple(one for one in (*self.files, *self.skills.found) if one.asks)

    def content(self, path: str) -> SafeText:
        """What a file says now, to be shown before it is decided about; also one outside."""
        return self._reader.read(self.key(path))

    def decide(self, path: str, verdict: Verdict, shown: SafeText | None = None) -> None:
        """Approve or decline the content that was shown, or withdraw every approval of a file."""
        digest = shown.digest if shown else ""
        if (verdict == "withdrawn") == bool(digest):
            raise InvalidRequest("an approval is of a content; read it, show it, and give it here")
        decide([Decision(project=self.root, path=self.key(path), digest=digest, verdict=verdict)])
        if shown and verdict == "trusted":
            keep(shown.digest, shown.text)

    def approved_before(self, path: str) -> str:
        """What a file said when it was approved last; empty where that is not known."""
        return approved_before(self.root, self.key(path))

    def key(self, path: str) -> str:
        """A file as approvals name it: relative to the project, or in full outside of it."""
        known = {one.path for one in (*self.files, *self.skills.found)}
        if path in known:
            return path
        place = os.path.realpath(os.path.join(self._reader.directory, os.path.expanduser(path)))
        if os.path.isfile(place):
            root = self.root
            inside = place.startswith(root.rstrip("/") + "/")
            return os.path.relpath(place, root) if inside else place
        raise NotFound("instruction file", path, (), "name one that `holdfast instructions` lists")
