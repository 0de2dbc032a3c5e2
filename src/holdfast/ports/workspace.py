"""What looks after the files that an agent works on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Protocol

from holdfast.model.workspace import Captured, Coverage, Step, Touched


class Directory(Protocol):
    """One directory: what changes in it is noticed, and paths beneath it are put back.

    Its methods block; the engine calls them as it calls all that blocks. Threads may share it.
    """

    path: str

    def prepare(self) -> Coverage:
        """Know it as it is, before the first command; what is known is not read again."""
        ...

    def scan(self) -> tuple[Touched, ...]:
        """What differs from what was known, with the content of either side; now it is known."""
        ...

    def capture(self, paths: Sequence[str]) -> tuple[Captured, ...]:
        """These paths as they are; from here on they are known so."""
        ...

    def changed(self, saved: Path) -> tuple[Touched, ...]:
        """What differs from what another process saved in a directory of its own, which knows
        from then on what is there now."""
        ...

    def look(self, paths: Sequence[str]) -> tuple[Captured, ...]:
        """These paths as they are, and nothing more."""
        ...

    def put_back(
        self, batch: str, steps: Sequence[Step], contents: Mapping[str, bytes]
    ) -> tuple[str, ...]:
        """Do all steps or none; the directories that stay, since others have files in them."""
        ...

    def roll_back(self, batch: str, steps: Sequence[Step]) -> tuple[str, ...]:
        """Undo what was interrupted; the paths where somebody has put something else since."""
        ...

    def finish(self, batch: str) -> None:
        """Let go of what was kept aside."""
        ...

    def unfinished(self, batch: str) -> str:
        """ "busy" while a living process is at it, "left" where one ended, else empty."""
        ...

    def close(self) -> None: ...
