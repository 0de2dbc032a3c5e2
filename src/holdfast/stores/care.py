"""What keeps a SQLite store healthy: examination, backup, repair."""

from __future__ import annotations

from collections.abc import Sequence

from holdfast.model.store import Finding
from holdfast.stores.sql.database import Database


class SqliteCare:
    """The care port on SQLite."""

    def __init__(self, db: Database) -> None:
        self._db = db

    async def examine(self, session: str = "") -> tuple[Finding, ...]:
        checks = self._db.rows("PRAGMA integrity_check")
        return tuple(Finding(area="database", what=str(what)) for (what,) in checks if what != "ok")

    async def backup(self) -> str:
        raise NotImplementedError

    async def repair(self, findings: Sequence[Finding]) -> tuple[Finding, ...]:
        raise NotImplementedError
