"""Plan: what putting files back would do, decided from what was recorded and what is there now.

Rule 1: a path goes back to what it was before the first of the changes that are taken back.
Rule 2: a path that is not what the last of them left it as, or that somebody else changed between
        them, is a conflict: nothing is done before it is decided.
Rule 3: what could not be brought back again is never overwritten, and what is not known is never
        made up: such a path stays, and is told of.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from msgspec.structs import replace

from holdfast.core.workspace.history import Net, net
from holdfast.model.workspace import ABSENT, FileChange, FileNote, FileState, RestorePlan, Step

SINCE: Final = "was changed by somebody else since"
BETWEEN: Final = "was changed by somebody else in between"
UNSURE: Final = "was being changed when the program ended"
ELSEWHERE: Final = "is in another directory than the session's, which a rewind leaves as it is"
PRUNED: Final = "what it held was let go, as it is older than is kept"

KEEP, RESTORE, ALL = "keep", "restore", "*"
"""What becomes of a path in conflict, and what names all of them."""


def plan(
    changes: Iterable[FileChange], now: Mapping[str, FileState], root: str = ""
) -> RestorePlan:
    """What taking these changes back would do, given the paths as they are now."""
    steps, conflicts, uncovered = list[Step](), list[FileNote](), list[FileNote]()
    for path, one in sorted(net(changes).items()):
        have = now.get(path, ABSENT)
        if have.same(one.before):
            continue
        if why := _uncovered(one, have):
            uncovered.append(FileNote(path, why))
            continue
        if why := _conflict(one, have):
            conflicts.append(FileNote(path, why))
        steps.append(Step(path, have, one.before))
    return RestorePlan(
        root=root,
        steps=(*_missing(steps, now), *steps),
        conflicts=tuple(conflicts),
        uncovered=tuple(uncovered),
    )


def decided(plan: RestorePlan, choices: Mapping[str, str]) -> RestorePlan:
    """The plan once each conflict is decided; those that are not stay conflicts."""
    kept: set[str] = set()
    left: list[FileNote] = []
    for one in plan.conflicts:
        choice = choices.get(one.path, choices.get(ALL, ""))
        if choice == KEEP:
            kept.add(one.path)
        elif choice != RESTORE:
            left.append(one)
    steps = tuple(step for step in plan.steps if step.path not in kept)
    return replace(plan, steps=steps, conflicts=tuple(left))


def _uncovered(one: Net, have: FileState) -> str:
    if one.forgotten and one.before.holds:
        return PRUNED
    if one.before.holds and one.before.uncovered:
        return one.before.uncovered
    if one.before.kind == "other" or have.kind == "other":
        return have.uncovered or "is no file"
    # A file of which only the mode changes keeps its content.
    same = (have.kind, have.hash) == (one.before.kind, one.before.hash)
    if have.holds and have.uncovered and not same:
        return f"what it holds now could not be brought back: it {have.uncovered}"
    return ""


def _conflict(one: Net, have: FileState) -> str:
    if one.pending:
        return UNSURE
    if not have.same(one.after):
        return SINCE
    return BETWEEN if one.torn else ""


def _missing(steps: Iterable[Step], now: Mapping[str, FileState]) -> list[Step]:
    """The directories that paths need and that are neither there nor brought back."""
    steps = list(steps)
    wanted = {step.path: step.want for step in steps}
    made: dict[str, Step] = {}
    for step in steps:
        above = step.path
        while step.want.kind != "absent" and (above := above.rpartition("/")[0]):
            have = now.get(above, ABSENT)
            if have.kind == "absent" and above not in wanted:
                made[above] = Step(above, ABSENT, FileState("directory", 0o755))
    return [made[path] for path in sorted(made)]


def above(paths: Iterable[str]) -> list[str]:
    """The paths and every directory above them, those above first."""
    found: set[str] = set()
    for path in paths:
        while path:
            found.add(path)
            path = path.rpartition("/")[0]
    return sorted(found)
