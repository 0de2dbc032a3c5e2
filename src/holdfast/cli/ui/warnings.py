"""Warnings of our own as plain sentences; all others as Python says them."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from holdfast import errors


def on_stderr(words: str) -> None:
    """Where a warning is said unless somebody knows better."""
    from holdfast.cli.ui.terminal import say

    say(words, "yellow", error=True)


@contextmanager
def plainly(tell: Callable[[str], None] = on_stderr) -> Iterator[None]:
    """Have our own warnings told as sentences."""
    before = warnings.showwarning

    def show(message: Warning | str, category: type[Warning], *where: Any, **more: Any) -> None:
        if category.__module__ == errors.__name__:
            tell(str(message))
        else:
            before(message, category, *where, **more)

    warnings.showwarning = show
    try:
        yield
    finally:
        warnings.showwarning = before
