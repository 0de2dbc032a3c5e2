"""Child processes for the rows that need them, started cleanly from a server without threads."""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from multiprocessing.context import ForkServerContext
from typing import Any, TypeVar

T = TypeVar("T")

PRELOADED = ("kills", "power", "crowd", "meanwhile")


@cache
def context() -> ForkServerContext:
    """Where children come from: they start in milliseconds, with everything imported already."""
    made = multiprocessing.get_context("forkserver")
    made.set_forkserver_preload([f"tests.faults.{row}" for row in PRELOADED])
    return made


def scattered(
    function: Callable[..., T], many: Sequence[Iterable[Any]], processes: int = 0
) -> Iterator[T]:
    """The results of a function for each set of arguments, worked out on every core."""
    with context().Pool(min(processes or os.cpu_count() or 1, len(many))) as pool:
        yield from pool.imap(_Spread(function), [tuple(each) for each in many])


class _Spread:
    """Calls a function with a tuple of arguments; can be sent to another process."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function

    def __call__(self, values: tuple[Any, ...]) -> Any:
        return self._function(*values)
