"""What keeps a SQLite store healthy: examination, backup, repair."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from typing import TYPE_CHECKING

import apsw

from holdfast.errors import StoreError
from holdfast.model.store import Erasing, Finding
from holdfast.stores.health import backups

if TYPE_CHECKING:
    from holdfast.stores.sqlite.connection import Sqlite

MOST = 1000
"""How many findings one examination tells; mending these and examining again tells more."""


class SqliteCare:
    """The care port on SQLite."""

    def __init__(self, db: Sqlite) -> None:
        self._db = db

    async def ids(self) -> tuple[str, ...]:
        return tuple(id for (id,) in self._db.rows("SELECT id FROM sessions ORDER BY n"))

    async def examine(self, session: str = "") -> tuple[Finding, ...]:
        from holdfast.stores.health.check import (
            store_findings,
        )  # much code, which hardly anybody needs
        from holdfast.stores.health.log_checks import session_findings
        from holdfast.stores.health.repair import SALVAGE

        if not session:
            return tuple(islice(store_findings(self._db), MOST))
        try:
            with self._db.reading():
                return tuple(islice(session_findings(self._db, session), MOST))
        except StoreError as why:
            what = str(why)
            return (Finding(area="database", what=what, where=session, mend=SALVAGE),)

    async def backup(self) -> str:
        with self._db.lock:
            try:
                return str(backups.backup(self._db.connection, self._db.path))
            except apsw.Error as error:
                raise self._db.mapped(error) from error

    async def erase_further(self, *, owner: str, now: int, until: int) -> Erasing | None:
        from holdfast.stores.sqlite.erasure import erase_further

        return erase_further(self._db, owner, now, until)

    async def repair(self, findings: Sequence[Finding]) -> tuple[Finding, ...]:
        mended: dict[tuple[str, str], bool] = {}
        for finding in findings:
            once = (finding.mend, finding.where)
            if finding.mend and once not in mended:
                mended[once] = self._mend(finding)
        self._db.settle()
        return tuple(one for one in findings if mended.get((one.mend, one.where)))

    def _mend(self, finding: Finding) -> bool:
        from holdfast.stores.health.repair import mend

        try:
            return mend(self._db, finding.mend, finding.where)
        except StoreError:
            return False  # examining again tells that it is still so
