"""History: which changes of files belong to what was said, and what they come to together.

Rule 1: a change belongs to the last entry before it, and so to the prompt that is nearest above.
Rule 2: what a command seems to have changed is not ours where another session recorded, while the
        command ran, that its own tool left that path so.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from holdfast.core.ledger.facts.effort import changed
from holdfast.model.workspace import ABSENT, FileChange, FileState

LATE: Final = 5_000
"""Another session may record what it did so many ms after it was done."""

TEXT: Final = 1 << 20
"""A larger file is not compared line by line."""


class Net(Struct, frozen=True):
    """What several changes made of one path."""

    path: str
    before: FileState
    after: FileState
    torn: bool = False
    """Somebody else changed it between two of them."""
    pending: bool = False
    """It was being changed when the program ended, so nobody knows what it became."""
    forgotten: bool = False


def since(changes: Iterable[FileChange], to: int) -> list[FileChange]:
    """The changes made after the entry behind this one was said; all of them from entry 1 on.

    What stays is as it was right before that entry, and a prompt is usually what follows `to`.
    """
    return [one for one in changes if one.at > to]


def until(changes: Iterable[FileChange], last: int) -> list[FileChange]:
    """The changes made before an entry was said."""
    return [one for one in changes if one.at < last]


def own(changes: Sequence[FileChange], beside: Iterable[FileChange]) -> list[FileChange]:
    """The changes that are this session's, given those of others in the same directory."""
    others: dict[str, list[FileChange]] = {}
    for one in beside:
        if one.cause != "command":
            others.setdefault(one.path, []).append(one)
    return [one for one in changes if not _by_another(one, others.get(one.path, ()))]


def _by_another(change: FileChange, others: Iterable[FileChange]) -> bool:
    if change.cause != "command":
        return False
    return any(
        one.after.same(change.after) and change.started <= one.created <= change.created + LATE
        for one in others
    )


def placed(changes: Iterable[FileChange], root: str) -> list[FileChange]:
    """The changes with whole paths where they are of another directory than this one."""
    return [
        one if one.root == root else replace(one, path=f"{one.root}/{one.path}") for one in changes
    ]


def without_undone(changes: Iterable[FileChange]) -> list[FileChange]:
    """The changes but for what a rewind did to a path and its undo took back.

    What somebody else had made of it was put aside and brought back, and is no work of the agent's.
    """
    found = list(changes)
    open_: dict[str, list[int]] = {}
    gone: set[int] = set()
    for n, one in enumerate(found):
        earlier = open_.setdefault(one.path, [])
        if earlier and _takes_back(one, found[earlier[-1]]):
            gone |= {n, earlier.pop()}
        else:
            earlier.append(n)
    return [one for n, one in enumerate(found) if n not in gone]


def _takes_back(one: FileChange, before: FileChange) -> bool:
    both = one.cause == before.cause == "restore"
    return both and one.before.same(before.after) and one.after.same(before.before)


def net(changes: Iterable[FileChange]) -> dict[str, Net]:
    """What changes come to, path by path; what was changed and changed back is told as well."""
    found: dict[str, Net] = {}
    for one in changes:
        before = found.get(one.path)
        if before is None:
            found[one.path] = Net(
                one.path, one.before, one.after, False, one.pending, one.forgotten
            )
            continue
        torn = before.torn or not (before.pending or before.after.same(one.before))
        found[one.path] = Net(
            one.path, before.before, one.after, torn, one.pending, before.forgotten
        )
    return found


def changed_lines(before: bytes | None, after: bytes | None) -> tuple[int, int]:
    """Lines added and removed, where both sides are text; a file that is not there has none."""
    old, new = text_of(before), text_of(after)
    if old is None or new is None:
        return 0, 0
    lines = changed(old, new)
    return lines.added, lines.removed


def text_of(data: bytes | None) -> str | None:
    """The text that a file holds; None where it is binary or large."""
    if data is None:
        return ""
    if len(data) > TEXT or b"\0" in data[:8192]:
        return None
    return data.decode("utf-8", "surrogateescape")


def files_of(changes: Iterable[FileChange]) -> tuple[int, int, int]:
    """How many files changes concern, and the lines they added and removed."""
    found = [one for one in changes if one.before.kind != "directory" != one.after.kind]
    paths = {one.path for one in found if one.before.holds or one.after.holds}
    return len(paths), sum(one.added for one in found), sum(one.removed for one in found)


def is_nothing(state: FileState) -> bool:
    """Whether there is nothing at a path."""
    return state.same(ABSENT)
