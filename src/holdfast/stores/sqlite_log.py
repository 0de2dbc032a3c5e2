"""The log port on SQLite: the usual append, one short message, as a single script.

Around a sync of a tenth of a millisecond every call counts. The script is what `SqlLog.append` does
statement by statement, in one call of the engine; anything out of the ordinary goes that way.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

from holdfast.failpoints import armed
from holdfast.model import wire
from holdfast.model.log import Draft, Entry, kind_of
from holdfast.model.message import Message
from holdfast.model.reply import Call
from holdfast.model.store import Expect
from holdfast.stores.sql import rows
from holdfast.stores.sql.log import SqlLog
from holdfast.stores.sql.places import MOST_ENTRIES, ORDINAL_BITS, SEQ_BITS

if TYPE_CHECKING:
    from holdfast.stores.sqlite import Sqlite

MOST_PARTS = 8
"""With more parts than this a message is out of the ordinary."""

_ANYTHING = Expect()


class SqliteLog(SqlLog):
    """Entries as rows, the usual ones written in one go."""

    def __init__(self, db: Sqlite) -> None:
        super().__init__(db)
        self._sqlite = db

    async def append(
        self,
        session: str,
        drafts: Sequence[Draft],
        *,
        key: str = "",
        expect: Expect | None = None,
        call: Call | None = None,
    ) -> tuple[Entry, ...]:
        counted = len(drafts) == 1 and bool(drafts[0].counts)
        if key or call or not counted or armed():
            return await super().append(session, drafts, key=key, expect=expect, call=call)
        made = self._at_once(session, drafts[0], expect or _ANYTHING)
        return made or await super().append(session, drafts, expect=expect)

    def _at_once(self, session: str, draft: Draft, expect: Expect) -> tuple[Entry, ...]:
        """The entry that a plain message became; nothing where it has to go the long way."""
        body = draft.body
        if type(body) is not Message or not 0 < len(body.parts) <= MOST_PARTS:
            return ()
        contents = [wire.encode(part) for part in body.parts]
        if max(map(len, contents)) > rows.INLINE:
            return ()
        values: list[Any] = [draft.created, draft.created, session]
        message, marker = expect.message is not None, expect.marker is not None
        if message:
            values.append(expect.message)
        if marker:
            values.append(expect.marker)
        hash, data = rows.fingerprint(body.role, contents), rows.extra_of(draft, "")
        values += (draft.id, "message", body.role, draft.created, draft.completed, hash, data)
        values.append(session)
        for part, content, count in zip(body.parts, contents, draft.counts, strict=True):
            values += (kind_of(part), len(content), count, None, content, session)
        script = _script(self._sqlite.BEGIN, len(contents), message, marker)
        moved = self._sqlite.script(script, values)
        return (draft.placed(session, moved[0][0], ""),) if moved else ()


@cache
def _script(begin: str, parts: int, message: bool, marker: bool) -> str:
    """Everything in one transaction; where the head is not moved, nothing else happens either."""
    place = f"(n << {SEQ_BITS} | head)"
    moved = "FROM sessions WHERE id = ? AND changes() = 1"
    statements = [
        begin,
        "UPDATE sessions SET head = head + 1, last_message = head + 1, "
        "updated = CASE WHEN updated > ? THEN updated ELSE ? END "
        f"WHERE id = ? AND head < {MOST_ENTRIES}"
        f"{' AND last_message = ?' * message}{' AND last_marker = ?' * marker} RETURNING head",
        f"INSERT INTO entries SELECT {place}, ?, ?, ?, ?, ?, ?, ? {moved}",
    ]
    for ordinal in range(parts):
        at = f"{place} << {ORDINAL_BITS} | {ordinal}"
        statements.append(f"INSERT INTO parts SELECT {at}, ?, ?, ?, ?, ? {moved}")
    return "; ".join([*statements, "COMMIT"])
