"""The sessions port in memory."""

from __future__ import annotations

from msgspec.structs import asdict, replace

from holdfast.errors import InvalidRequest
from holdfast.model.log import Entry, SessionInfo
from holdfast.model.message import Message
from holdfast.model.store import Changes, Erased, OfBackups, Page

from .log import moved_on
from .notes import erase_notes
from .state import Shelf


class MemorySessions:
    """The sessions port."""

    def __init__(self, shelf: Shelf) -> None:
        self._shelf = shelf

    async def create(self, session: SessionInfo) -> SessionInfo:
        if not (session.id and session.id.isascii() and session.id.isprintable()):
            raise InvalidRequest(
                f"{session.id!r} cannot be the id of a session; use printable ASCII"
            )
        with self._shelf.lock:
            if session.id in self._shelf.sessions:
                raise InvalidRequest(
                    f"session {session.id!r} exists already; resume it, or use a new id"
                )
            shared = self._shared(session)
            bare = replace(
                session, updated=max(session.created, session.updated), compacted=0,
                head=0, last_message=0, last_marker=0,
            )  # fmt: skip
            made = replace(moved_on(bare, shared), updated=bare.updated)
            self._shelf.sessions[session.id] = made
            self._shelf.entries[session.id] = []
            return made

    def _shared(self, session: SessionInfo) -> tuple[Entry, ...]:
        id = session.parent
        if id and (id == session.id or not (id.isascii() and id.isprintable())):
            raise InvalidRequest(f"session {session.id} cannot belong to {id!r}; name another")
        awaited = not session.fork and id not in self._shelf.sessions
        last = self._shelf.session(id).head if id and not awaited else 0
        if not 0 <= session.fork <= last:
            whose = f"session {session.parent}" if session.parent else "a session without a parent"
            raise InvalidRequest(
                f"{whose} has no entry {session.fork} to fork at; name one up to {last}"
            )
        return tuple(self._shelf.line(session.parent)[: session.fork]) if session.fork else ()

    async def find(self, id: str) -> SessionInfo | None:
        with self._shelf.lock:
            return self._shelf.sessions.get(id)

    async def session(self, id: str) -> SessionInfo:
        with self._shelf.lock:
            return self._shelf.session(id)

    async def beginning(self, prefix: str) -> tuple[str, ...]:
        with self._shelf.lock:
            begun = [
                one for one in self._shelf.sessions if one.startswith((prefix, prefix.upper()))
            ]
        return tuple(sorted(begun))

    async def set(self, id: str, changes: Changes) -> SessionInfo:
        told = {name: value for name, value in asdict(changes).items() if value is not None}
        with self._shelf.lock:
            self._shelf.sessions[id] = replace(self._shelf.session(id), **told)
            return self._shelf.sessions[id]

    async def list(self, page: Page) -> tuple[SessionInfo, ...]:
        with self._shelf.lock:
            known = sorted(self._shelf.sessions.values(), key=_change, reverse=True)
        return tuple(
            session
            for session in known
            if bool(session.archived) == page.archived
            and page.project in (None, session.project)
            and (page.after is None or _change(session) < page.after)
        )[: page.limit]

    async def await_parent(self, id: str, parent: str, fork: int) -> None:
        with self._shelf.lock:
            self._shelf.awaited[self._shelf.session(id).id] = (parent, fork)

    async def adopt_children(self, id: str) -> tuple[str, ...]:
        with self._shelf.lock:
            waiting = [(child, n) for child, (up, n) in self._shelf.awaited.items() if up == id]
            return tuple(child for child, fork in waiting if self._shares(child, id, fork))

    def _shares(self, child: str, id: str, fork: int) -> bool:
        """Whether a session becomes a fork of the one it waited for."""
        shelf, own = self._shelf, self._shelf.entries[child]
        if id not in shelf.sessions or id == child or shelf.sessions[child].parent:
            return False
        shared = [replace(entry, session=child) for entry in shelf.line(id)[:fork]]
        if len(shared) < fork or own[:fork] != shared or child in shelf.above(id):
            return False
        shelf.entries[child] = own[fork:]
        shelf.sessions[child] = replace(shelf.sessions[child], parent=id, fork=fork)
        shelf.keys = {
            at: (first, many)
            for at, (first, many) in shelf.keys.items()
            if at[0] != child or first + many - 1 > fork
        }
        del shelf.awaited[child]
        return True

    async def discard(self, id: str) -> bool:
        with self._shelf.lock:
            shelf, found = self._shelf, self._shelf.sessions.get(id)
            belonging = (
                *(one.parent for one in shelf.sessions.values()),
                *(key[0] for key in (*shelf.calls, *shelf.givens)),
                *(one.session for one in (*shelf.jobs.values(), *shelf.origins.values())),
                *(key[1] for key in shelf.looks), *shelf.awaited,
            )  # fmt: skip
            if found is None or found.head or id in belonging:
                return False
            del shelf.sessions[id], shelf.entries[id]
            return True

    async def erase(self, id: str, *, backups: OfBackups = "rewrite") -> Erased:
        with self._shelf.lock:
            shelf, gone = self._shelf, self._shelf.session(id)
            forks = [fork for fork in shelf.sessions.values() if fork.parent == id]
            for fork in forks:
                self._hand_over(gone, fork)
            own = shelf.entries.pop(id)
            del shelf.sessions[id]
            shelf.keys = {place: made for place, made in shelf.keys.items() if place[0] != id}
            shelf.calls = {key: call for key, call in shelf.calls.items() if key[0] != id}
            shelf.givens = {key: given for key, given in shelf.givens.items() if key[0] != id}
            shelf.jobs = {job.id: job for job in shelf.jobs.values() if job.session != id}
            shelf.origins = {k: one for k, one in shelf.origins.items() if one.session != id}
            shelf.awaited.pop(id, None)
            shelf.snapshots.pop(id, None)
            erase_notes(shelf, id)
            shelf.file_changes = {
                n: one for n, one in shelf.file_changes.items() if one.session != id
            }
            shelf.looks = {key: look for key, look in shelf.looks.items() if key[1] != id}
            shelf.unindexed = [each for each in shelf.unindexed if each.session != id]
            return Erased(
                session=id,
                entries=len(own),
                parts=sum(len(e.body.parts) for e in own if isinstance(e.body, Message)),
                blobs=shelf.sweep(),
                copied=tuple(fork.id for fork in forks),
            )

    def _hand_over(self, gone: SessionInfo, fork: SessionInfo) -> None:
        """The fork gets what it shared of the erased session's own; it may go on sharing the rest.

        Its parent is now the erased session's parent, if that had one.
        """
        shared = self._shelf.line(fork.id)[gone.fork : fork.fork]
        self._shelf.entries[fork.id][:0] = shared
        self._shelf.unindexed += shared
        for (home, key), (first, many) in list(self._shelf.keys.items()):
            if home == gone.id and first + many - 1 <= fork.fork:
                self._shelf.keys.setdefault((fork.id, key), (first, many))
        own = self._shelf.snapshots.get(gone.id, {})
        for seq in [seq for seq in own if seq <= fork.fork]:
            self._shelf.snapshots.setdefault(fork.id, {}).setdefault(seq, own[seq])
        if upto := self._shelf.note_cursors.get(gone.id, 0):
            self._shelf.note_cursors.setdefault(fork.id, min(upto, fork.fork))
        for change in [c for c in self._shelf.file_changes.values() if c.session == gone.id]:
            if change.at <= fork.fork:
                self._shelf.file_number = number = self._shelf.file_number + 1
                copied = replace(change, session=fork.id, number=number)
                self._shelf.file_changes[number] = copied
        further = min(gone.fork, fork.fork)
        heir = gone.parent if gone.parent in self._shelf.sessions else ""
        self._shelf.sessions[fork.id] = replace(fork, parent=heir, fork=further)


def _change(session: SessionInfo) -> tuple[int, str]:
    return session.updated, session.id
