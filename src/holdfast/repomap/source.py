"""The map of a repository as a source of text: read, ranked, fitted, and kept while it may stay.

Rule 1: nothing is read outside the root, through a link, or beyond its bounds of size and time.
Rule 2: the text is kept until its policy lets it be made anew, so that what is cached stays so.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection
from typing import Final

from msgspec import Struct

from holdfast.core.repo_map import Fitted, Tags, fitted, mentioned, ranked
from holdfast.core.tokens.estimate import estimate
from holdfast.errors import HoldfastError, InvalidRequest
from holdfast.files import AnyPath, Root
from holdfast.model.policy import Refresh
from holdfast.model.window import SectionName
from holdfast.repomap import cache
from holdfast.repomap.file_list import listing
from holdfast.repomap.parse import MISSING, installed, language_of
from holdfast.repomap.worker import Parsing

LARGEST: Final = 512 * 1024
"""No larger file is read."""

SECONDS: Final = 20.0
"""So long may reading take at once; what is left is read the next time."""

BINARY: Final = 8 * 1024


class Asked(Struct, frozen=True, kw_only=True):
    """What a map is to dwell on."""

    chat: tuple[str, ...] = ()
    """The files that are in the chat."""
    said: str = ""
    """What the user said last: the names in it count."""
    refresh: Refresh = "manual"

    @property
    def reason(self) -> tuple[str, ...]:
        """What has to be different for the map to be made anew."""
        files = self.chat if self.refresh in ("files", "auto") else ()
        return (*files, *((f"\n{self.said}",) if self.refresh == "auto" else ()))


class Kept(Struct, frozen=True):
    """A map that was made, for what reason and what allowance."""

    reason: tuple[str, ...]
    allowance: int
    made: Fitted

    def suits(self, allowance: int) -> bool:
        """Whether it may stay: it fits still, and was not made for far less."""
        return self.made.tokens <= allowance <= 2 * self.allowance


class RepoMap:
    """The map of what lies beneath one directory."""

    name = "map of the repository"
    section: SectionName = "repo_map"

    def __init__(
        self,
        root: AnyPath | Root,
        *,
        count: Callable[[str], int] = estimate,
        asked: Callable[[], Asked] = Asked,
        parse: Callable[[str, bytes], Tags] | None = None,
    ) -> None:
        if not installed():
            raise InvalidRequest(MISSING)
        self._root = root if isinstance(root, Root) else Root(root)
        self._count, self._asked, self._parse = count, asked, parse
        self._kept: Kept | None = None
        self.unread = 0
        """How many files there was no time for when it was made last."""

    async def text(self, allowance: int) -> str:
        """The map in force, made anew where its policy says so or it has become too large."""
        asked = self._asked()
        if asked.refresh == "off":
            return ""
        kept = self._kept
        if kept is None or kept.reason != asked.reason or not kept.suits(allowance):
            made = self.made(allowance, asked.chat, asked.said)
            kept = self._kept = Kept(asked.reason, allowance, made)
        return kept.made.text

    def forget(self) -> None:
        """Let it be made anew when it is asked for next."""
        self._kept = None

    def made(self, allowance: int, chat: Collection[str] = (), said: str = "") -> Fitted:
        """A map of at most so many tokens, as the files are now."""
        files = self.tags()
        return fitted(files, ranked(files, chat, mentioned(said)), allowance, self._count)

    def tags(self) -> dict[str, Tags]:
        """What each file of the repository defines and refers to."""
        known, end = cache.load(self._root.path), time.monotonic() + SECONDS
        now: dict[str, cache.Known] = {}
        parsing = Parsing()
        self.unread = 0
        try:
            for path in listing(self._root):
                if (found := self._known(path, known, self._parse or parsing, end)) is not None:
                    now[path] = found
        finally:
            parsing.close()
        if now != known:
            cache.save(self._root.path, now)
        return {path: one.tags for path, one in now.items()}

    def _known(
        self,
        path: str,
        known: dict[str, cache.Known],
        parse: Callable[[str, bytes], Tags],
        end: float,
    ) -> cache.Known | None:
        """What is known of one file; None for one that cannot be read, or not now."""
        try:
            found = self._root.stat(path)
            before, same = known.get(path), (found.st_mtime_ns, found.st_size)
            if before is not None and (before.time, before.size) == same:
                return before
            if time.monotonic() > end:
                self.unread += 1
                return None
            data = self._root.read(path, LARGEST)
        except (HoldfastError, OSError):
            return None
        binary = b"\0" in data[:BINARY]
        return cache.Known(*same, Tags() if binary else parse(language_of(path), data))
