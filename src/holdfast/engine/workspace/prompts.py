"""Prompts: places to go back to, with what came of each in files; and what became of the files."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from holdfast.core.workspace.diff import diffs
from holdfast.core.workspace.history import (
    files_of,
    net,
    placed,
    since,
    until,
    without_undone,
)
from holdfast.core.workspace.snapshots import AGENTS, snapshots, told_once
from holdfast.engine import loading
from holdfast.engine.inspect.lookup import seq_of
from holdfast.engine.workspace.rewind import changes, home
from holdfast.errors import InvalidRequest, NotFound
from holdfast.model.log import Entry, Summary
from holdfast.model.message import Message
from holdfast.model.span import OPEN, Span, Spans, clip, union
from holdfast.model.workspace import FileChange, FileDiff, ForeignSnapshot, Prompt

if TYPE_CHECKING:
    from holdfast.engine.context import SessionContext


async def prompts(session: SessionContext) -> tuple[Prompt, ...]:
    """What the user said and is in force, in order, with the files that each changed."""
    said = await _said(session)
    done = await _placed(session)
    theirs = await foreign_snapshots(session)
    found: list[Prompt] = []
    for n, (first, entry, text) in enumerate(said):
        last = said[n + 1][0] if n + 1 < len(said) else OPEN
        mine = [one for one in done if first - 1 < one.at < last and one.cause != "restore"]
        files, added, removed = files_of(mine)
        found.append(
            Prompt(
                seq=entry.seq, created=entry.created, text=text, to=first - 1, files=files,
                added=added, removed=removed,
                foreign=tuple(one for one in theirs if first - 1 < one.at < last),
            )
        )  # fmt: skip
    return tuple(found)


async def _placed(session: SessionContext) -> list[FileChange]:
    """What was done to files, named from the session's directory, or else from the only one."""
    done = await changes(session)
    roots = {one.root for one in done}
    return placed(done, home(session) if len(roots) > 1 else next(iter(roots), ""))


async def foreign_snapshots(session: SessionContext) -> tuple[ForeignSnapshot, ...]:
    """What the program that a session was imported from recorded of files, and no rewind left."""
    if session.info.agent not in AGENTS:
        return ()
    spans = await _in_force(session)
    read = loading.pages(session.store.log, session.id, spans, bare=False)
    found = [one async for page in read for one in snapshots(page)]
    return tuple(told_once(found))


async def _in_force(session: SessionContext) -> Spans:
    """What is seen, and what stands behind the summaries that are seen."""
    view = await session.view()
    markers = await loading.every_marker(session.store.log, session.id)
    known = {one.seq: one.body for one in markers if isinstance(one.body, Summary)}
    spans, waiting = view.spans, list(view.folded.summaries)
    while waiting:
        seq = waiting.pop()
        if body := known.pop(seq, None):  # what it covers may reach over what a rewind left
            spans = union(spans, clip(body.folded.visible, 1, seq))
            waiting += body.folded.summaries
    return clip(spans, 1, view.last)


async def _said(session: SessionContext) -> list[tuple[int, Entry, str]]:
    """Each prompt with its words, and where what was said along with it begins."""
    view = await session.view()
    found: list[tuple[int, Entry, str]] = []
    first = 0
    async for page in loading.pages(session.store.log, session.id, view.spans):
        for entry in page:
            if not _is_prompt(entry):
                first = 0
                continue
            first = first or entry.seq
            if text := loading.own_words_of(entry):
                found.append((first, entry, text))
                first = 0
    return found


def _is_prompt(entry: Entry) -> bool:
    """Whether the user said it, or it was said along with what they said, such as a file.

    A command of the user's own is neither: it stays where the prompt behind it is taken back.
    """
    body = entry.body
    if not isinstance(body, Message) or body.role != "user":
        return False
    return all(getattr(part, "scaffold", "") != "user_shell_command" for part in body.parts)


async def diff(
    session: SessionContext, since_: str | int = "", upto: str | int = ""
) -> tuple[FileDiff, ...]:
    """What became of files from one prompt on, up to and with another; all of it by default."""
    done = without_undone(await _placed(session))
    first = await seq_of(session, since_) if since_ != "" else 0
    if upto != "":
        if await seq_of(session, upto) < first:
            raise InvalidRequest(f"the first prompt, {since_}, comes after the last, {upto}")
        done = until(done, await _behind(session, upto))
    done = since(done, first - 1)
    return diffs(done, await _contents(session, done))


async def _behind(session: SessionContext, named: str | int) -> int:
    """Where the next thing that the user said begins."""
    seq = await seq_of(session, named)
    async for page in loading.pages(session.store.log, session.id, (Span(seq + 1),)):
        for entry in page:
            if _is_prompt(entry) and loading.own_words_of(entry):
                return entry.seq
    return OPEN


async def _contents(session: SessionContext, done: Sequence[FileChange]) -> dict[str, bytes]:
    """What the paths held at first and in the end, as far as it is kept."""
    found: dict[str, bytes] = {}
    for one in net(done).values():
        for state in (one.before, one.after):
            if state.holds and not state.uncovered and state.hash not in found:
                try:
                    found[state.hash] = await session.store.blobs.fetch(state.hash)
                except NotFound:
                    continue
    return found
