"""What a compaction is to dwell on, as it is written down.

The policy and the user's own file hold for every compaction. A project's file holds for one by hand
alone, since nobody has trusted it yet.
"""

from __future__ import annotations

from contextlib import suppress

from msgspec import Struct

from holdfast.core.compaction.focus_section import FILES, compact_instructions
from holdfast.errors import Unsafe
from holdfast.files import Root, config_home
from holdfast.model.policy import Policy

LARGEST = 1024 * 1024
"""No larger instruction file is read."""


class Focus(Struct, frozen=True):
    """A section of an instruction file."""

    file: str = ""
    text: str = ""


def standing(policy: Policy) -> str:
    """What every compaction is to dwell on: as the policy and the user's own file have it."""
    own = written_down(str(config_home())).text
    return "\n\n".join(filter(None, (policy.compact_instructions.strip(), own)))


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
