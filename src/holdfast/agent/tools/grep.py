"""Searching files by an expression, in a process that is killed when its time is up.

Rule 1: what was found until then is told, and that there may be more.
Rule 2: what was passed over is told too: which files, and why.
Rule 3: a file that may not be shown is not searched: nothing that happens tells of what it says.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from itertools import islice
from threading import Event
from typing import Final

from holdfast.agent.tools.find_files import files
from holdfast.agent.tools.shell import Interrupted
from holdfast.child_process import Child
from holdfast.errors import HoldfastError, InvalidRequest
from holdfast.files import Root

HITS: Final = 200
NAMED: Final = 5
"""So many of the files that were passed over are named, of each kind."""

AT_ONCE: Final = 256
"""So many files are named to the process at a time."""

SECONDS: Final = 10.0
"""How long a search may take."""

MORE: Final = "there is more; look for less"
STOPPED: Final = "stopped after {:g} s; this is what was found until then"
BROKEN: Final = "the search broke off; this is what was found until then"


class Search:
    """One search, and what it has found so far."""

    def __init__(
        self, root: Root, shows: Callable[[str], bool], seconds: float, stop: Event | None
    ) -> None:
        self._root, self._shows, self._seconds, self._stop = root, shows, seconds, stop
        self._end = time.monotonic() + seconds
        self._lines: list[str] = []
        self._passed: dict[str, list[str]] = {}
        self._hidden = 0

    def run(self, pattern: str, like: str) -> str:
        """Search, and say how it went; Interrupted where somebody does."""
        child = Child("holdfast.agent.tools.grep_worker")
        try:
            return self._text(self._searched(child, pattern, like))
        except TimeoutError:
            return self._text(STOPPED.format(self._seconds))
        except EOFError:
            return self._text(BROKEN)
        except (HoldfastError, OSError) as wrong:
            if not self._lines:
                raise
            return self._text(str(wrong))
        except KeyboardInterrupt:
            raise Interrupted(self._text("interrupted")) from None
        finally:
            child.close()

    def _searched(self, child: Child, pattern: str, like: str) -> str:
        """Have files searched until there are no more of them, or enough is found."""
        child.tell(json.dumps([str(self._root.path), pattern]).encode())
        self._hear(child)
        paths = self._paths(like)
        while some := list(islice(paths, AT_ONCE)):
            child.tell(json.dumps(some).encode())
            self._hear(child)
            if len(self._lines) > HITS:
                return MORE
        return ""

    def _paths(self, like: str) -> Iterator[str]:
        for one in files(self._root, like):
            if time.monotonic() > self._end:
                raise TimeoutError
            if self._shows(one.path):
                yield one.path
            else:
                self._hidden += 1

    def _hear(self, child: Child) -> None:
        """Take what comes until it is done, or enough."""
        while len(self._lines) <= HITS:
            told = json.loads(child.answer(self._end, self._stop))
            if "wrong" in told:
                raise InvalidRequest(told["wrong"])
            if "done" in told:
                return
            if "passed" in told:
                self._passed.setdefault(told["passed"], []).append(told["path"])
            else:
                self._lines.append(f"{told['path']}:{told['line']}")

    def _text(self, ended: str) -> str:
        lines = self._lines[:HITS] or ["nothing matches"]
        for why, paths in self._passed.items():
            many = f"{len(paths):,} file{'s' if len(paths) > 1 else ''}"
            rest = ", …" if len(paths) > NAMED else ""
            lines.append(f"[passed over {many}, {why}: {', '.join(paths[:NAMED])}{rest}]")
        if self._hidden:
            lines.append(f"[not searched, by the user's rules: {self._hidden}]")
        return "\n".join((*lines, *([f"[… {ended}]"] if ended else [])))
