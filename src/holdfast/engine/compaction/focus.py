"""What every compaction is to dwell on, as it is written down: in the policy, and in files.

An instruction file says so in its section `# Compact instructions`, where the file acts: the
user's own always, one of the project once it is approved.
"""

from __future__ import annotations

import os
from contextlib import suppress

from msgspec import Struct

from holdfast.core.compaction.focus_section import LONGEST, compact_instructions
from holdfast.engine.knowledge.instruction_files import InstructionReader
from holdfast.engine.knowledge.trusting import trusting
from holdfast.errors import Unsafe
from holdfast.files import config_home
from holdfast.model.policy import Policy


class Focus(Struct, frozen=True):
    """What instruction files say, and which."""

    file: str = ""
    text: str = ""


def standing(policy: Policy, directory: str, trust: str = "") -> str:
    """What every compaction of a session in this directory is to dwell on."""
    own = written_down(directory, trust).text
    return "\n\n".join(filter(None, (policy.compact_instructions.strip(), own)))


def written_down(directory: str, trust: str = "") -> Focus:
    """What the instruction files that act say about compacting.

    Nothing fails for want of it: where the directory is gone only the user's own files are read.
    """
    there = directory if directory and os.path.isdir(directory) else ""
    with suppress(OSError, Unsafe):
        chosen = trusting(trust) if there else "never"
        files = InstructionReader(there or config_home(), chosen).files()
        found = [(one.path, compact_instructions(one.text)) for one in files if one.acts]
        said = {path: text for path, text in found if text}
        return Focus(", ".join(said), "\n\n".join(said.values())[:LONGEST].rstrip())
    return Focus()
