"""What a compaction by hand is to dwell on, as the project itself has it written down."""

from __future__ import annotations

from contextlib import suppress

from msgspec import Struct

from holdfast.core.instructions import FILES, compact_instructions
from holdfast.errors import Unsafe
from holdfast.files import Root

LARGEST = 1024 * 1024
"""No larger instruction file is read."""


class Focus(Struct, frozen=True):
    """A section of an instruction file."""

    file: str = ""
    text: str = ""


def written_down(directory: str) -> Focus:
    """The section `# Compact instructions` of the first instruction file of a directory with one.

    A file that is not there, too large, or a link is passed over: nothing fails for want of it.
    """
    for name in FILES if directory else ():
        with suppress(OSError, Unsafe):
            held = Root(directory).read(name, LARGEST).decode("utf-8", "replace")
            if text := compact_instructions(held):
                return Focus(name, text)
    return Focus()
