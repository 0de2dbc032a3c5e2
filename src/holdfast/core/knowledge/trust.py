"""Trust: which contents of a project's files the user has approved.

Rule 1: an approval is of one content of one file of one project; another content is not approved.
Rule 2: the newest decision holds: approved, declined, or withdrawn for every content of a file.
Rule 3: what is not known to be approved is not.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from msgspec import Struct

Verdict = Literal["trusted", "declined", "unknown"]
Trusting = Literal["ask", "always", "never"]
"""Which files of a project act: those that the user approved, all, or none."""


class Decision(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What the user decided about a file."""

    project: str
    """The root of the project, in full."""
    path: str
    """The file: relative to the project, or in full where it lies outside of it."""
    digest: str = ""
    """SHA-256 of its bytes; empty for any content."""
    verdict: Literal["trusted", "declined", "withdrawn"]
    at: int = 0


class Trusted(Struct, frozen=True):
    """The decisions in force for one project."""

    verdicts: dict[tuple[str, str], Verdict]

    def of(self, path: str, digest: str) -> Verdict:
        """What was decided about this content of this file."""
        return self.verdicts.get((path, digest), "unknown")

    def known(self, path: str) -> bool:
        """Whether some content of this file was approved: it may be read to compare it."""
        return any(
            one == path and verdict == "trusted" for (one, _), verdict in self.verdicts.items()
        )


def in_force(decisions: Iterable[Decision], project: str) -> Trusted:
    """What holds for a project after all these decisions, the oldest first."""
    found: dict[tuple[str, str], Verdict] = {}
    for one in decisions:
        if one.project != project:
            continue
        if one.verdict == "withdrawn":
            found = {key: verdict for key, verdict in found.items() if key[0] != one.path}
        else:
            found[one.path, one.digest] = one.verdict
    return Trusted(found)
