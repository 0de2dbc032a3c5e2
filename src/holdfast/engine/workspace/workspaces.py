"""Workspaces: a directory as a session works in it, behind both doors."""

from __future__ import annotations

import os
from collections.abc import Generator
from contextlib import AbstractAsyncContextManager, contextmanager
from typing import TYPE_CHECKING

from holdfast.engine.bridge import drive
from holdfast.engine.workspace.directories import saved_for
from holdfast.engine.workspace.recorder import Recorder, Recording
from holdfast.model.workspace import Cause, Coverage, FileChange

if TYPE_CHECKING:
    from holdfast.engine.context import SessionContext
    from holdfast.files import AnyPath


class AsyncWorkspace:
    """Records what is done in one directory, for one session."""

    def __init__(self, session: SessionContext, directory: str = "") -> None:
        self._session = session
        where = directory or session.info.directory or os.getcwd()
        self.recorder = Recorder(
            session, session.directories.at(where), session.aside, session.new_lock()
        )

    async def prepare(self) -> Coverage:
        """Know the directory as it is, before anything is done in it; what will be covered."""
        return await self.recorder.prepare()

    def prepare_ahead(self) -> None:
        """The same in the background, where there is one."""
        if self._session.spawn:
            self._session.spawn(self._prepared)

    async def _prepared(self) -> None:
        await self.recorder.prepare()

    async def checkpoint(self) -> tuple[FileChange, ...]:
        """Record what changed since the last checkpoint, whichever process made that.

        The first one only looks. It is for hooks of other agents, called before and after a tool.
        """
        return await self.recorder.checkpoint(saved_for(self._session.id))

    def recording(
        self, *paths: AnyPath, cause: Cause = "recording", task: str = ""
    ) -> AbstractAsyncContextManager[Recording]:
        """Record what happens inside: to these paths, or to any where none is named.

        `changes` of what it gives is what was done, once it has ended.
        """
        return self.recorder.recording(*paths, cause=cause, task=task)


class Workspace:
    """The same behind the blocking door; may be shared among threads."""

    def __init__(self, inner: AsyncWorkspace) -> None:
        self._inner = inner

    def prepare(self) -> Coverage:
        """Know the directory as it is, before anything is done in it; what will be covered."""
        return drive(self._inner.prepare())

    def checkpoint(self) -> tuple[FileChange, ...]:
        """Record what changed since the last checkpoint, whichever process made that."""
        return drive(self._inner.checkpoint())

    def prepare_ahead(self) -> None:
        """The same in the background."""
        self._inner.prepare_ahead()

    @contextmanager
    def recording(
        self, *paths: AnyPath, cause: Cause = "recording", task: str = ""
    ) -> Generator[Recording]:
        """Record what happens inside: to these paths, or to any where none is named.

        `changes` of what it gives is what was done, once it has ended.
        """
        recorder = self._inner.recorder
        recording = drive(recorder.begin(paths, cause, task))
        try:
            yield recording
        finally:
            drive(recorder.end(recording))
