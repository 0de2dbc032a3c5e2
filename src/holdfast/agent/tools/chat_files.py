"""Files in the chat: shown as they are now, in every call, until they are dropped.

Files that may be changed stand behind the last cache breakpoint, since they change; read-only ones
in a section of their own, which is told anew only when it has changed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from holdfast.core.secrets import redact
from holdfast.core.tokens.estimate import estimate
from holdfast.core.window.scaffold import wrap
from holdfast.errors import HoldfastError, InvalidRequest
from holdfast.files import Root
from holdfast.model.window import SectionName

LARGEST = 1024 * 1024


class ChatFiles:
    """The files of one chat."""

    name = "files of the chat"
    section: SectionName = "read_only_files"

    def __init__(
        self, root: Root, secrets: Sequence[str] = (), count: Callable[[str], int] = estimate
    ) -> None:
        self._root, self._secrets, self.count = root, secrets, count
        self._open: list[str] = []
        self._read: list[str] = []

    def add(self, path: str, *, read_only: bool = False) -> int:
        """Bring a file into the chat; how many tokens it takes."""
        tokens = self.size(path)
        self.drop(path)
        (self._read if read_only else self._open).append(path)
        return tokens

    def size(self, path: str) -> int:
        """How many tokens a file takes, whether or not it is in the chat."""
        return self.count(self.content(path))

    def drop(self, path: str) -> bool:
        """Take a file out of the chat; whether it was there."""
        there = path in self._open or path in self._read
        self._open = [one for one in self._open if one != path]
        self._read = [one for one in self._read if one != path]
        return there

    def named(self) -> list[tuple[str, bool]]:
        """What is in the chat, and whether it is read-only."""
        return [*((one, False) for one in self._open), *((one, True) for one in self._read)]

    def open_files(self) -> str:
        """The files that may be changed, as they are now."""
        return self._told(self._open)

    async def text(self, allowance: int) -> str:
        """The read-only files, as they are now."""
        return self._told(self._read)

    def _told(self, paths: list[str]) -> str:
        return "\n\n".join(wrap("file", self._now(path), path=path) for path in paths)

    def _now(self, path: str) -> str:
        try:
            return self.content(path)
        except (HoldfastError, OSError) as error:
            return f"It cannot be read now: {error}"

    def content(self, path: str) -> str:
        """What a file beneath the directory says now, without the keys that are ours."""
        data = self._root.read(path, LARGEST)
        if b"\0" in data[:8_192]:
            raise InvalidRequest(f"{path} is no text")
        return redact(data.decode("utf-8", "replace"), self._secrets)
