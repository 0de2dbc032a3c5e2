"""Rewind: files as they were before something was said, so that nothing is ever lost by it.

Rule 1: what is there is durable in the store before the first path is touched.
Rule 2: all paths are put back or none: what fails half-way is rolled back, and what a crash left
        half done is rolled back, or completed, by whoever looks at the session next.
Rule 3: the marker in the log comes after the files, so that a conversation never says of files what
        is not so.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import TYPE_CHECKING

from msgspec.structs import replace

from holdfast.core.workspace.history import net, own, placed, since
from holdfast.core.workspace.plan import ELSEWHERE, above, decided, plan
from holdfast.engine import loading
from holdfast.engine.inspect.lookup import seq_of
from holdfast.errors import FilesChanged, InvalidRequest, NotFound
from holdfast.failpoints import failpoint
from holdfast.model.log import Checkpoint, Context, Entry, Marker, Redo, Rewind, Switch, Undo
from holdfast.model.span import Span
from holdfast.model.workspace import ABSENT, FileChange, FileNote, FileState, RestorePlan, Step

if TYPE_CHECKING:
    from holdfast.engine.context import SessionContext
    from holdfast.ports import Directory

MODES = ("conversation", "code", "both")

NOTHING: Mapping[str, str] = {}

EARLIER = 10_000
"""Others may have recorded so many changes while a command of ours ran, before it was recorded."""


async def rewind(
    session: SessionContext,
    to: str | int,
    reason: str = "",
    restore: str = "conversation",
    resolve: Mapping[str, str] = NOTHING,
) -> Entry:
    """Go on from an earlier entry: the conversation, the files, or both."""
    if restore not in MODES:
        raise InvalidRequest(f"a rewind restores {', '.join(MODES)}, not {restore!r}")
    at = await _place(session, to)
    if restore == "conversation":
        return await session.append(Rewind(to=at, reason=reason))
    await recover(session)
    wanted = _decide(await planned(session, at), resolve)
    batch = await put_back(session, wanted)
    if restore == "both":
        body: Marker = Rewind(to=at, reason=reason, files=batch)
    else:
        body = _checkpoint(at, batch, reason, session)
    return await _told(session, body, wanted.root, batch)


async def _told(session: SessionContext, body: Marker, root: str, batch: str) -> Entry:
    """Say in the log what was done to the files."""
    failpoint("rewind.before_marker")
    made = await session.append(body, key=batch)
    await settle(session, root, batch)
    return made


def _checkpoint(at: int, batch: str, reason: str, session: SessionContext) -> Checkpoint:
    prompt = min(at + 1, session.info.head)
    return Checkpoint(prompt=prompt, label=reason or "files as they were", files=batch)


async def preview(session: SessionContext, to: str | int) -> RestorePlan:
    """What rewinding the files to an entry would do; nothing is done."""
    at = await _place(session, to)
    await recover(session)
    return await planned(session, at)


async def _place(session: SessionContext, to: str | int) -> int:
    """The last entry that stays."""
    at = await seq_of(session, to, least=0)
    following = await session.store.log.read(session.id, (Span(at + 1, at + 1),))
    if following and isinstance(following[0].body, (Context, Switch)):
        at += 1  # a change that was told and the marker of it are never parted
    return at


async def planned(session: SessionContext, at: int) -> RestorePlan:
    """What taking back all that was done to files after an entry would do."""
    found = since(await changes(session), at)
    return await _plan(session, found)


async def _plan(session: SessionContext, found: Sequence[FileChange]) -> RestorePlan:
    root = _root(session, found)
    if not root:
        return RestorePlan()
    mine = [one for one in found if one.root == root]
    directory = session.directories.at(root)
    paths = above(net(mine))
    looked = await session.aside(lambda: directory.look(paths))
    wanted = plan(mine, {one.path: one.state for one in looked}, root)
    others = sorted(net(placed((one for one in found if one.root != root), root)))
    notes = [FileNote(path, ELSEWHERE) for path in others]
    return replace(wanted, uncovered=(*wanted.uncovered, *notes))


def home(session: SessionContext) -> str:
    """The session's own directory as changes name it."""
    return os.path.realpath(session.info.directory) if session.info.directory else ""


def _root(session: SessionContext, found: Sequence[FileChange]) -> str:
    """The directory that is put back: the session's own, or the only one there is."""
    roots = list(dict.fromkeys(one.root for one in found))
    if len(roots) > 1:
        told = ", ".join(roots[:3])
        if (own_root := home(session)) not in roots:
            raise InvalidRequest(
                f"files were changed in several directories ({told}), and none is that of the "
                "session; `holdfast diff` shows them, to be put back by hand"
            )
        return own_root
    return roots[0] if roots else ""


async def changes(session: SessionContext) -> list[FileChange]:
    """What was done to files in a session, in order, without what others did meanwhile."""
    found = await every_change(session)
    beside: list[FileChange] = []
    for root in {one.root for one in found if one.cause == "command"}:
        after = max(found[0].number - EARLIER, 0)
        while page := await session.store.files.beside(session.id, root, after=after):
            beside += page
            after = page[-1].number
    return own([one for one in found if not _is_restoring(one)], beside)


async def every_change(session: SessionContext) -> list[FileChange]:
    """What was recorded of files in a session, in order."""
    found: list[FileChange] = []
    while page := await session.store.files.changes(
        session.id, after=found[-1].number if found else 0
    ):
        found += page
    return found


def _is_restoring(change: FileChange) -> bool:
    return change.pending and change.cause == "restore"


def _decide(wanted: RestorePlan, resolve: Mapping[str, str]) -> RestorePlan:
    done = decided(wanted, resolve)
    if done.conflicts:
        raise FilesChanged(done, [(one.path, one.why) for one in done.conflicts])
    return done


async def put_back(session: SessionContext, wanted: RestorePlan) -> str:
    """Put the paths of a plan back, all or none; the name of it in the file history."""
    batch = session.new_id()
    if not wanted.steps:
        return batch
    directory = session.directories.at(wanted.root)
    contents = await _contents(session, wanted.steps)
    made = await _keep(session, directory, wanted, batch)
    failpoint("rewind.kept")
    try:
        kept = await session.aside(lambda: directory.put_back(batch, wanted.steps, contents))
    except BaseException:
        if not directory.unfinished(batch):
            await session.store.files.remove(session.id, [one.number for one in made])
        raise
    if kept:
        numbers = [one.number for one in made if one.path in kept]
        await session.store.files.remove(session.id, numbers)
    return batch


async def _contents(session: SessionContext, steps: Sequence[Step]) -> dict[str, bytes]:
    """What is to be written; refused where the store does not have it any more."""
    found: dict[str, bytes] = {}
    for step in steps:
        same = (step.have.kind, step.have.hash) == (step.want.kind, step.want.hash)
        if not step.want.holds or same or step.want.hash in found:
            continue
        try:
            found[step.want.hash] = await session.store.blobs.fetch(step.want.hash)
        except NotFound:
            raise InvalidRequest(
                f"{step.path} cannot be put back, for what it held is not in the store any more; "
                "keep it as it is, and rewind the others"
            ) from None
    return found


async def _keep(
    session: SessionContext, directory: Directory, wanted: RestorePlan, batch: str
) -> tuple[FileChange, ...]:
    """The safety snapshot: what is there now, durable; refused where it is not what was planned."""
    paths = [step.path for step in wanted.steps]
    looked = await session.aside(lambda: directory.look(paths))
    for step, now in zip(wanted.steps, looked, strict=True):
        if not now.state.same(step.have):
            raise FilesChanged(wanted, [(step.path, "was changed just now")])
    now = session.now()
    rows = [
        FileChange(
            path=step.path, before=step.have, after=step.want, root=wanted.root,
            at=session.info.head, cause="restore", batch=batch, started=now, created=now,
            pending=True,
        )
        for step in wanted.steps
    ]  # fmt: skip
    data = [one.data for one in looked if one.data is not None]
    return await session.store.files.record(session.id, rows, data)


async def settle(session: SessionContext, root: str, batch: str) -> None:
    """Files and log say the same: nothing needs to be kept aside any more."""
    rows = await _batch(session, batch)
    if not rows:
        return
    failpoint("rewind.before_settled")
    done = [replace(one, pending=False) for one in rows]
    await session.store.files.record(session.id, done)
    directory = session.directories.at(root)
    await session.aside(lambda: directory.finish(batch))


async def _batch(session: SessionContext, batch: str) -> list[FileChange]:
    """The rows of one restoring, in order."""
    found: list[FileChange] = []
    after = 0
    while page := await session.store.files.changes(session.id, after=after):
        found += [one for one in page if one.batch == batch]
        after = page[-1].number
    return found


async def recover(session: SessionContext) -> None:
    """End what was interrupted: complete what the log tells of, roll the rest back."""
    waiting: list[FileChange] = []
    after = 0
    while page := await session.store.files.changes(session.id, after=after):
        waiting += [one for one in page if _is_restoring(one)]
        after = page[-1].number
    if not waiting:
        return
    markers = await loading.every_marker(session.store.log, session.id)
    told = {str(getattr(one.body, "files", "")) for one in markers}
    for batch, rows in groupby(waiting, key=lambda one: one.batch):
        await _recover_one(session, batch, list(rows), done=batch in told)


async def _recover_one(
    session: SessionContext, batch: str, rows: list[FileChange], *, done: bool
) -> None:
    root = rows[0].root
    directory = session.directories.at(root)
    if await session.aside(lambda: directory.unfinished(batch)) == "busy":
        raise InvalidRequest(
            "another process is rewinding files of this session; wait until it has ended"
        )
    if done:
        await settle(session, root, batch)
        return
    steps = [Step(one.path, one.before, one.after) for one in rows]
    left = await session.aside(lambda: directory.roll_back(batch, steps))
    gone = [one.number for one in rows if one.path not in left]
    await session.store.files.remove(session.id, gone)
    if left:  # somebody has put something else there: what was there stays in the history
        looked = await session.aside(lambda: directory.look(left))
        states = {one.path: one.state for one in looked}
        kept = [
            replace(one, pending=False, after=_known(states[one.path]))
            for one in rows
            if one.path in left
        ]
        data = [one.data for one in looked if one.data is not None]
        await session.store.files.record(session.id, kept, data)
        await session.aside(lambda: directory.finish(batch))


def _known(state: FileState) -> FileState:
    return state if state.holds else ABSENT


async def undo_files(
    session: SessionContext, batch: str, resolve: Mapping[str, str] = NOTHING
) -> tuple[str, str]:
    """Put back what a restoring replaced; the name of doing so, and in which directory."""
    await recover(session)
    rows = await _batch(session, batch)
    wanted = _decide(await _plan(session, rows), resolve)
    return await put_back(session, wanted), wanted.root


async def turn(
    session: SessionContext, marker: Entry, resolve: Mapping[str, str], *, back: bool
) -> Entry | None:
    """Undo or redo a marker that files were put back with; None where there were none."""
    batch = await _last_turn(session, marker)
    if not batch:
        return None
    made, root = await undo_files(session, batch, resolve)
    body = Undo(marker=marker.seq, files=made) if back else Redo(marker=marker.seq, files=made)
    return await _told(session, body, root, made)


async def _last_turn(session: SessionContext, marker: Entry) -> str:
    """What was done last to the files on behalf of a marker: by it, or by undoing or redoing it."""
    last = str(getattr(marker.body, "files", ""))
    if not last:
        return ""
    for entry in await loading.every_marker(session.store.log, session.id):
        body = entry.body
        if isinstance(body, (Undo, Redo)) and body.marker == marker.seq and body.files:
            last = body.files
    return last
