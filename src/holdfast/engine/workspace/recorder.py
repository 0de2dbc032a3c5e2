"""Recorder: what happens to files around a tool call, a command, or any block of code.

Rule 1: what a file tool is about to change is durable before it is changed.
Rule 2: what changed while nothing of ours was running is somebody else's, and is not recorded.
Rule 3: a change belongs to the entry that was the last when what made it began.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec import Struct
from msgspec.structs import replace

from holdfast.core.workspace.history import changed_lines
from holdfast.core.workspace.plan import above
from holdfast.engine.workspace.directories import beneath
from holdfast.engine.workspace.rewind import every_change
from holdfast.model.workspace import Captured, Cause, Coverage, FileChange, Touched

if TYPE_CHECKING:
    from holdfast.engine.context import SessionContext
    from holdfast.files import AnyPath
    from holdfast.ports import Directory


class Recording(Struct):
    """What is under way: since when, and how its paths were."""

    cause: Cause
    batch: str
    at: int
    started: int
    task: str = ""
    before: tuple[Captured, ...] = ()
    """The paths it named, and the directories above them; none where it may change anything."""
    pending: tuple[FileChange, ...] = ()
    changes: tuple[FileChange, ...] = ()
    """What it did, once it has ended."""


class Recorder:
    """Records for one session what happens in one directory."""

    def __init__(
        self, session: SessionContext, directory: Directory, aside: Any, lock: Any
    ) -> None:
        self._session, self._directory = session, directory
        self._aside: Callable[[Callable[[], Any]], Any] = aside
        self._lock = lock
        self._running = 0

    async def prepare(self) -> Coverage:
        """Know the directory as it is."""
        return await self._aside(self._directory.prepare)

    @asynccontextmanager
    async def recording(
        self, *paths: AnyPath, cause: Cause = "recording", task: str = ""
    ) -> AsyncGenerator[Recording]:
        """Record what happens to these paths, or to any where none is named."""
        recording = await self.begin(paths, cause, task)
        try:
            yield recording
        finally:
            await self.end(recording)

    async def checkpoint(self, saved: Path) -> tuple[FileChange, ...]:
        """Record what changed since the last one, by whatever process that was made."""
        session = self._session
        recording = Recording("hook", session.new_id(), session.info.head, session.now())
        touched = await self._aside(lambda: self._directory.changed(saved))
        return await self._record(recording, await self._without_rewinds(touched))

    async def _without_rewinds(self, touched: Sequence[Touched]) -> list[Touched]:
        """What changed but for what a rewind of ours put back since the last checkpoint."""
        done = [
            one for one in await every_change(self._session) if one.root == self._directory.path
        ]
        last = {one.path: one for one in done}
        found: list[Touched] = []
        for one in touched:
            if (known := last.get(one.path)) and known.cause == "restore":
                if known.after.same(one.after.state):
                    continue
                one = Touched(Captured(one.path, known.after), one.after)
            found.append(one)
        return found

    async def begin(self, given: Sequence[AnyPath], cause: Cause, task: str = "") -> Recording:
        """From here on, what changes is done by what is recorded."""
        session, paths = self._session, beneath(self._directory.path, given)
        recording = Recording(cause, session.new_id(), session.info.head, session.now(), task)
        if paths:
            captured = await self._aside(lambda: self._directory.capture(above(paths)))
            recording.before = captured
            named = [Touched(one, one) for one in captured if one.path in paths]
            recording.pending = await self._record(recording, named, pending=True)
            return recording
        async with self._alone():
            touched = await self._aside(self._directory.scan)
            if self._running:
                await self._record(recording, touched)
            self._running += 1
        return recording

    async def end(self, recording: Recording) -> tuple[FileChange, ...]:
        """What was done since; it is recorded when this returns."""
        if recording.before:
            recording.changes = await self._end_of_paths(recording)
            return recording.changes
        async with self._alone():
            self._running -= 1
            touched = await self._aside(self._directory.scan)
            recording.changes = await self._record(recording, touched)
        return recording.changes

    async def _end_of_paths(self, recording: Recording) -> tuple[FileChange, ...]:
        paths = [one.path for one in recording.before]
        after = await self._aside(lambda: self._directory.capture(paths))
        pairs = zip(recording.before, after, strict=True)
        touched = [Touched(*pair) for pair in pairs if not pair[0].state.same(pair[1].state)]
        known = {one.path: one.number for one in recording.pending}
        made = await self._record(recording, touched, known=known)
        gone = set(known.values()) - {one.number for one in made}
        if gone:
            await self._session.store.files.remove(self._session.id, sorted(gone))
        return made

    async def _record(
        self, recording: Recording, touched: Sequence[Touched], *, pending: bool = False,
        known: dict[str, int] | None = None,
    ) -> tuple[FileChange, ...]:  # fmt: skip
        if not touched:
            return ()
        now = self._session.now()
        changes = [
            _with_lines(
                FileChange(
                    path=one.path, before=one.before.state, after=one.after.state,
                    root=self._directory.path, at=recording.at, cause=recording.cause,
                    batch=recording.batch, task=recording.task, started=recording.started,
                    created=now, pending=pending, number=(known or {}).get(one.path, 0),
                ),
                one,
            )
            for one in touched
        ]  # fmt: skip
        both = (data for one in touched for data in (one.before.data, one.after.data))
        contents = [data for data in both if data is not None]
        return await self._session.store.files.record(self._session.id, changes, contents)

    @asynccontextmanager
    async def _alone(self) -> AsyncGenerator[None]:
        if waiting := self._lock.acquire():
            await waiting
        try:
            yield
        finally:
            self._lock.release()


def _with_lines(change: FileChange, touched: Touched) -> FileChange:
    before, after = touched.before, touched.after
    if not (before.state.holds or after.state.holds) or change.pending:
        return change
    for one in (before, after):
        if one.state.holds and one.data is None:
            return change
    added, removed = changed_lines(before.data, after.data)
    return replace(change, added=added, removed=removed)
