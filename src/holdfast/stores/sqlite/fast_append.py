"""The log port on SQLite: the usual append, one short message, as a single script.

Around a sync of a tenth of a millisecond every call counts. The script is what `SqlLog.append` does
statement by statement, in one call of the engine; anything out of the ordinary goes that way. It
is made for the place behind a session's newest entry as this connection remembers it, and is undone
where the session has moved on since.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from holdfast.failpoints import armed
from holdfast.model import wire
from holdfast.model.log import Draft, Entry, kind_of
from holdfast.model.message import Message
from holdfast.model.reply import Call
from holdfast.model.store import Expect
from holdfast.stores.sql import rows
from holdfast.stores.sql.keys import MOST_ENTRIES, ORDINAL_BITS, SEQ_BITS, place
from holdfast.stores.sql.log import SqlLog
from holdfast.stores.sql.rows import Moves

if TYPE_CHECKING:
    from holdfast.stores.sqlite.connection import Sqlite

MOST_PARTS = 8
"""With more parts than this a message is out of the ordinary."""

MOST_REMEMBERED = 4096
"""Of how many sessions the newest entry is remembered."""

_ANYTHING = Expect()


class SqliteLog(SqlLog):
    """Entries as rows, the usual ones written in one go."""

    def __init__(self, db: Sqlite) -> None:
        super().__init__(db)
        self._sqlite = db
        self._newest: dict[str, int] = {}
        self._scripts = [_script(db.BEGIN, parts) for parts in range(MOST_PARTS + 1)]

    async def append(
        self,
        session: str,
        drafts: Sequence[Draft],
        *,
        key: str = "",
        expect: Expect | None = None,
        call: Call | None = None,
    ) -> tuple[Entry, ...]:
        if len(drafts) == 1 and not (key or call or self._sqlite.inside):
            made = self.append_inline(session, drafts[0], expect or _ANYTHING)
            if made:
                return (made,)
        return await super().append(session, drafts, key=key, expect=expect, call=call)

    def _advance(self, session: str, moves: Moves, expect: Expect) -> tuple[int, int]:
        number, head = super()._advance(session, moves, expect)
        if len(self._newest) >= MOST_REMEMBERED:
            self._newest.clear()
        self._newest[session] = place(number, head + moves[0])  # if it is undone, a wrong guess
        return number, head

    def append_inline(self, session: str, draft: Draft, expect: Expect) -> Entry | None:
        newest, body = self._newest.get(session), draft.body
        if not newest or type(body) is not Message or not 0 < len(body.parts) <= MOST_PARTS:
            return None
        head = newest & MOST_ENTRIES
        if expect.marker is not None or head == MOST_ENTRIES or armed() or _long(draft):
            return None
        at, made = newest + 1, draft.placed(session, head + 1, "")
        contents: list[bytes] = []
        parts: list[Any] = []
        for ordinal, part in enumerate(body.parts):
            content = wire.encode(part)
            size = len(content)
            if size > rows.INLINE:
                return None
            contents.append(content)
            parts += (
                at << ORDINAL_BITS | ordinal,
                kind_of(part),
                size,
                made.counts[ordinal],
                content,
            )
        values = [
            at, draft.id, body.role, draft.created, draft.completed,
            rows.fingerprint(body.role, contents), rows.extra_of(draft, ""), *parts,
            draft.created, newest >> SEQ_BITS, session, head, expect.message,
        ]  # fmt: skip
        if not self._sqlite.attempt(self._scripts[len(contents)], values):
            return None
        self._newest[session] = at
        return made


def _long(draft: Draft) -> bool:
    """Whether it is so long that part of it belongs in a blob, as far as its estimate tells."""
    return sum(draft.counts) > rows.INLINE // 4


def _script(begin: str, parts: int) -> str:
    """The rows of a message of so many parts, and then its session, if it is as it was."""
    return "; ".join((
        begin,
        "INSERT INTO entries VALUES (?, ?, 'message', ?, ?, ?, ?, ?)",
        *["INSERT INTO parts VALUES (?, ?, ?, ?, NULL, ?)"] * parts,
        "UPDATE sessions SET head = head + 1, last_message = head + 1, updated = max(updated, ?) "
        "WHERE n = ? AND id = ? AND head = ? AND last_message = coalesce(?, last_message)",
    ))  # fmt: skip
