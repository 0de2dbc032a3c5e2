"""Diff: what became of files, as unified diffs, with moves told as moves."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from difflib import unified_diff
from typing import Final

from msgspec.structs import replace

from holdfast.core.ledger.facts.effort import between
from holdfast.core.workspace.history import Net, changed_lines, net, text_of
from holdfast.model.workspace import FileChange, FileDiff, FileState

LONG: Final = 4_000
"""Beyond so many differing lines on a side no line is matched with another."""


def diffs(changes: Iterable[FileChange], contents: Mapping[str, bytes]) -> tuple[FileDiff, ...]:
    """What changes come to, file by file; `contents` by hash, as far as it is kept."""
    found = [one for one in net(changes).values() if not one.before.same(one.after)]
    files = [one for one in found if "directory" not in (one.before.kind, one.after.kind)]
    told = [_diff(one, contents) for one in sorted(files, key=lambda one: one.path)]
    return tuple(_moved(told))


def _diff(one: Net, contents: Mapping[str, bytes]) -> FileDiff:
    bare = FileDiff(path=one.path, before=one.before, after=one.after)
    old, new = (_content(state, contents) for state in (one.before, one.after))
    if why := _untold(one, old, new):
        return replace(bare, note=why)
    before, after = text_of(old) or "", text_of(new) or ""
    added, removed = changed_lines(old, new)
    return replace(bare, diff=unified(one.path, before, after), added=added, removed=removed)


def _content(state: FileState, contents: Mapping[str, bytes]) -> bytes | None:
    return contents.get(state.hash) if state.holds else None


def _untold(one: Net, old: bytes | None, new: bytes | None) -> str:
    """Why a path has no diff."""
    for state, data in ((one.before, old), (one.after, new)):
        if state.holds and data is None:
            return state.uncovered or "what it held is not kept any more"
        if text_of(data) is None:
            return "binary" if data and len(data) <= 1 << 20 else "large"
    return ""


def unified(path: str, before: str, after: str) -> str:
    """A unified diff of two texts; bounded in time where they differ much."""
    old, new = before.splitlines(keepends=True), after.splitlines(keepends=True)
    if max(map(len, between(old, new))) > LONG:
        return f"--- a/{path}\n+++ b/{path}\n@@ {len(old)} lines became {len(new)} @@\n"
    lines = unified_diff(old, new, f"a/{path}", f"b/{path}")
    return "".join(
        line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines
    )


def _moved(told: list[FileDiff]) -> list[FileDiff]:
    """A file that went and came elsewhere with the same content was moved."""
    gone = {one.before.hash: one for one in told if one.after.kind == "absent" and one.before.hash}
    moved: list[FileDiff] = []
    left: set[str] = set()
    for one in told:
        origin = gone.get(one.after.hash) if one.before.kind == "absent" else None
        if origin is None or origin.path in left:
            moved.append(one)
            continue
        left.add(origin.path)
        moved.append(replace(one, renamed=origin.path, diff="", added=0, removed=0, note=""))
    return [one for one in moved if one.path not in left]
