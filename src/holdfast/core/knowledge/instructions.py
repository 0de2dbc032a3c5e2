"""Instructions: the files in which people say how work is to be done, and how a model is told.

Rule 1: there are six levels, from the broadest on: managed policy, project, project rules, user,
        project-local, the index of the notes. The more specific stand further down, and win.
Rule 2: what is not trusted is not in the text; what does not fit is left out whole and named.
Rule 3: a change is told as what is new, or as a diff, whichever is shorter than all of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from difflib import unified_diff
from typing import Final, Literal

from msgspec import Struct

from holdfast.core.knowledge.hidden_unicode import Hidden
from holdfast.core.tokens.estimate import estimate

Level = Literal["managed", "project", "rule", "user", "local", "memory"]

LEVELS: Final[tuple[Level, ...]] = ("managed", "project", "rule", "user", "local", "memory")
"""From the broadest to the most specific."""

State = Literal["loaded", "waiting", "untrusted", "changed", "declined", "outside", "refused"]
"""`loaded` acts. `waiting` will, once a path it is for is touched, or who imports it acts.
`untrusted` was not approved yet, `changed` was, with another content; `declined` the user did not
want, `outside` lies outside of the project and was not opened. `refused` cannot be read."""

ASKS: Final[frozenset[State]] = frozenset({"untrusted", "changed", "outside"})
"""States that an approval by the user ends."""

NAMES: Final = (
    "HOLDFAST.md",
    ".holdfast/HOLDFAST.md",
    "AGENTS.md",
    "CLAUDE.md",
    ".claude/CLAUDE.md",
    "GEMINI.md",
)
"""The instruction files of a directory, in the order they are read."""

LOCAL: Final = ("HOLDFAST.local.md", "CLAUDE.local.md")
"""Those that a person keeps to themselves: git is to ignore them."""

RULES: Final = (".holdfast/rules", ".claude/rules")
"""Where rules are, at any depth."""

MOST_FILES: Final = 200
"""So many instruction files are read for one directory."""

PRECEDENCE: Final = (
    "What stands further down is more specific: where two of these disagree, it holds."
)

SAID: Final[dict[Level, str]] = {
    "managed": "managed policy of this machine",
    "project": "project instructions",
    "rule": "project rule",
    "user": "the user's own instructions for all projects",
    "local": "the user's own instructions for this project",
    "memory": "index of notes",
}


class InstructionFile(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One file, and whether it acts."""

    level: Level
    path: str
    """As approvals name it: relative to the project, else in full."""
    place: str
    """The path in full."""
    state: State
    why: str = ""
    """Why it is loaded, or what is wrong and what to do."""
    text: str = ""
    """What a model is told where it is loaded."""
    tokens: int = 0
    digest: str = ""
    newer: bool = False
    """Whether the file has changed since it was approved: what acts is the approved content."""
    paths: tuple[str, ...] = ()
    """The globs that a rule is for."""
    importer: str = ""
    """The path of the file that imports it."""
    hidden: tuple[Hidden, ...] = ()

    @property
    def acts(self) -> bool:
        """Whether a model is told what it says."""
        return self.state == "loaded"

    @property
    def asks(self) -> bool:
        """Whether there is something for the user to approve."""
        return self.newer or self.state in ASKS

    @property
    def said(self) -> str:
        """What kind of file it is, for a model."""
        kind = SAID[self.level]
        whose = f"{kind} for {', '.join(self.paths)}" if self.paths else kind
        return f"{whose}, imported by {self.importer}" if self.importer else whose


def told(files: Sequence[InstructionFile], allowance: int) -> tuple[str, tuple[str, ...]]:
    """The loaded files as one text of at most so many tokens, and the paths of those left out."""
    acting = [one for one in files if one.state == "loaded" and one.text.strip()]
    loaded = list({one.text: one for one in reversed(acting)}.values())[::-1]  # copies only once
    blocks = [_block(one) for one in loaded]
    sizes = [estimate(block) + 1 for block in blocks]
    left, kept = allowance, set[int]()
    if sum(sizes) + 30 > allowance:
        left -= 60 + sum(estimate(one.path) + 3 for one in loaded)  # the note that names them
    for at in reversed(range(len(blocks))):  # the most specific first
        if sizes[at] <= left:
            kept.add(at)
            left -= sizes[at]
    gone = tuple(one.path for at, one in enumerate(loaded) if at not in kept)
    texts = [block for at, block in enumerate(blocks) if at in kept]
    if len(texts) > 1:
        texts.insert(0, PRECEDENCE)
    if gone:
        texts.append(f"[Left out, as they do not fit: {', '.join(gone)}]")
    return "\n\n".join(texts), gone


def _block(one: InstructionFile) -> str:
    return f"Contents of {one.place} ({one.said}):\n\n{one.text.strip()}"


def ordered(files: Iterable[InstructionFile]) -> tuple[InstructionFile, ...]:
    """Files by level, within a level as they were met."""
    return tuple(sorted(files, key=lambda one: LEVELS.index(one.level)))


def change(old: str, new: str) -> str:
    """What has changed between two texts of instructions, as a model is told of it."""
    before, after = old.splitlines(), new.splitlines()
    lines = list(unified_diff(before, after, "before", "now", lineterm=""))
    marks = [line[0] for line in lines[2:]]
    if "-" not in marks:
        added = "\n".join(line[1:] for line in lines[2:] if line[0] == "+").strip()
        besides = ", besides the others" if old else ""
        return f"These instructions apply from here on{besides}:\n{added}"
    diff = "\n".join(lines)
    if len(diff) < len(new):
        return f"The instructions have changed:\n{diff}"
    return f"The instructions have changed. They now read:\n{new}"
