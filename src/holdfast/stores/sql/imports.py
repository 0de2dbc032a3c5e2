"""The imports port over SQL."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from holdfast.failpoints import failpoint
from holdfast.model import wire
from holdfast.model.import_batch import ImportBatch, Source
from holdfast.model.import_report import ImportState
from holdfast.ports import Calls, Sessions
from holdfast.stores.search.pending import Waiting, Words
from holdfast.stores.sql.database import Database
from holdfast.stores.sql.lineage import number_of_session
from holdfast.stores.sql.log import SqlLog
from holdfast.stores.sql.prebuilt import Laid
from holdfast.stores.sql.rows import GARBLED

_KEEP = (
    "INSERT INTO origins VALUES (?, ?, ?, ?) ON CONFLICT (name) DO UPDATE SET "
    "session = excluded.session, opening = excluded.opening, data = excluded.data"
)
_MANY = "SELECT count(*) FROM calls WHERE session = ?"

_laid = msgspec.msgpack.Decoder(Laid)


class SqlImports:
    """Rows of `origins` and `sources`; one that cannot be read is as if it were not there."""

    def __init__(
        self, db: Database, sessions: Sessions, log: SqlLog, calls: Calls, waiting: Waiting
    ) -> None:
        self._db, self._waiting = db, waiting
        self._sessions, self._log, self._calls = sessions, log, calls

    async def origin(self, agent: str, native: str) -> ImportState | None:
        found = self._db.rows("SELECT data FROM origins WHERE name = ?", (_name(agent, native),))
        return _origin(found[0][0]) if found else None

    async def by_opening(self, opening: bytes) -> tuple[ImportState, ...]:
        found = self._db.rows(
            "SELECT data FROM origins WHERE opening = ? ORDER BY session, name", (opening,)
        )
        return tuple(one for (data,) in found if (one := _origin(data)))

    async def keep(self, origin: ImportState) -> None:
        name = _name(origin.agent, origin.native)
        with self._db.writing():
            number = number_of_session(self._db, origin.session)
            self._db.run(_KEEP, (name, number, origin.opening, wire.encode(origin)))

    async def by_source(self, source: str) -> tuple[ImportState, ...]:
        found = self._db.rows(
            "SELECT o.data FROM sources s JOIN origins o ON o.session = s.session "
            "WHERE s.source = ? ORDER BY o.session, o.name",
            (wire.encode(source),),
        )
        return tuple(one for (data,) in found if (one := _origin(data)))

    async def last_fingerprint(self, source: str) -> str:
        found = self._db.rows(
            "SELECT look FROM sources WHERE source = ? LIMIT 1", (wire.encode(source),)
        )
        return str(found[0][0]) if found else ""

    async def sources(self, session: str) -> tuple[str, ...]:
        number = number_of_session(self._db, session)
        found = self._db.rows("SELECT source FROM sources WHERE session = ?", (number,))
        return tuple(sorted(wire.decode(name, str) for (name,) in found))

    async def mark_done(self, source: str, look: str, sessions: Sequence[str]) -> None:
        name = wire.encode(source)
        with self._db.writing():
            self._db.run("DELETE FROM sources WHERE source = ?", (name,))
            for session in dict.fromkeys(sessions):
                number = number_of_session(self._db, session)
                self._db.run("INSERT INTO sources VALUES (?, ?, ?)", (number, name, look))

    async def layout(self) -> str:
        return "sqlite"

    async def commit(
        self, *brought: ImportBatch, sources: Sequence[Source] = ()
    ) -> tuple[int, ...]:
        words: list[Words] = []
        with self._db.together():
            calls = tuple([await self._one(one, words) for one in brought])
            for source in sources:
                failpoint("import.before_mark")
                await self.mark_done(source.name, source.look, source.sessions)
        self._waiting.add(words)
        return calls

    async def _one(self, one: ImportBatch, words: list[Words]) -> int:
        if one.new:
            await self._sessions.create(one.new)
        if one.drafts or one.laid:
            failpoint("import.before_append")
            await self._entries(one, words)
            failpoint("import.after_append")
        calls = await self._called(one) if one.calls else 0
        if one.changes:
            await self._sessions.set(one.session, one.changes)
        if one.origin:
            failpoint("import.before_keep")
            await self.keep(one.origin)
        return calls

    async def _called(self, one: ImportBatch) -> int:
        """Record its calls; how many were new."""
        number = number_of_session(self._db, one.session)
        ((before,),) = self._db.rows(_MANY, (number,))
        await self._calls.record(*one.calls)
        ((after,),) = self._db.rows(_MANY, (number,))
        return max(after - before, 0)

    async def _entries(self, one: ImportBatch, words: list[Words]) -> None:
        if one.drafts:
            self._log.check(one.session, one.expect)
            made = await self._log.append(one.session, one.drafts, key=one.key)
            one.check(made)
            return
        laid = _laid.decode(one.laid)
        number = self._log.put(one.session, laid, key=one.key, expect=one.expect)
        words.append(Words.of(number, laid))


def _name(agent: str, native: str) -> bytes:
    return wire.encode([agent, native])


def _origin(data: bytes) -> ImportState | None:
    try:
        return wire.decode(data, ImportState)
    except GARBLED:
        return None  # the log itself tells
