"""The jobs port over SQL."""

from __future__ import annotations

from holdfast.errors import Corrupt
from holdfast.model import wire
from holdfast.model.job import Job
from holdfast.stores.sql import rows
from holdfast.stores.sql.database import Database, Row
from holdfast.stores.sql.lineage import number_of_session

_COLUMNS = (
    "j.id, s.id, j.kind, j.created, j.key, j.owner, j.until, j.attempts, j.finished, j.outcome, "
    "j.payload"
)
_SELECT = f"SELECT {_COLUMNS} FROM jobs j JOIN sessions s ON s.n = j.session"
_MINE = "id = ? AND owner = ? AND attempts = ? AND finished = 0"


class SqlJobs:
    """Leased rows of `jobs`."""

    def __init__(self, db: Database) -> None:
        self._db = db

    async def offer(self, job: Job) -> Job:
        with self._db.writing():
            number = number_of_session(self._db, job.session)
            key = wire.encode(job.key) if job.key else b""
            waiting = self._db.rows(
                f"{_SELECT} WHERE j.session = ? AND j.kind = ? AND j.key = ? AND j.finished = 0",
                (number, job.kind, key),
            )
            if key and waiting:
                return _job(waiting[0])
            self._db.run(
                "INSERT INTO jobs VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (
                    job.id, number, job.kind, job.created, key, job.owner, job.until, job.attempts,
                    job.finished, wire.encode(job.outcome), job.payload,
                ),
            )  # fmt: skip
        return job

    async def lease(self, kind: str, *, owner: str, now: int, until: int) -> Job | None:
        with self._db.writing():
            free = self._db.rows(
                f"{_SELECT} WHERE j.kind = ? AND j.finished = 0 AND j.until <= ? "
                f"ORDER BY j.created, j.id LIMIT 1{self._db.for_update}",
                (kind, now),
            )
            if not free:
                return None
            self._db.run(
                "UPDATE jobs SET owner = ?, until = ?, attempts = attempts + 1 WHERE id = ?",
                (owner, until, free[0][0]),
            )
            return _job(self._db.rows(f"{_SELECT} WHERE j.id = ?", (free[0][0],))[0])

    async def renew(self, job: Job, *, now: int, until: int) -> bool:
        return self._mine(job, "UPDATE jobs SET until = ? WHERE id = ?", (until, job.id))

    async def finish(self, job: Job, *, outcome: str, now: int) -> bool:
        ended = (now, wire.encode(outcome), job.id)
        return self._mine(job, "UPDATE jobs SET finished = ?, outcome = ? WHERE id = ?", ended)

    async def jobs(self, session: str) -> tuple[Job, ...]:
        with self._db.reading():
            number = number_of_session(self._db, session)
            found = self._db.rows(
                f"{_SELECT} WHERE j.session = ? ORDER BY j.created, j.id", (number,)
            )
        return tuple(_job(row) for row in found)

    def _mine(self, job: Job, sql: str, values: Row) -> bool:
        with self._db.writing():
            held = self._db.rows(
                f"SELECT 1 FROM jobs WHERE {_MINE}", (job.id, job.owner, job.attempts)
            )
            if held:
                self._db.run(sql, values)
            return bool(held)


def _job(row: Row) -> Job:
    id, session, kind, created, key, owner, until, attempts, finished, outcome, payload = row
    try:
        said, ended = wire.decode(key, str) if key else "", wire.decode(outcome, str)
    except rows.GARBLED as garbled:
        raise Corrupt(
            f"the row of job {id} cannot be read ({garbled}); run `holdfast doctor`"
        ) from garbled
    return Job(
        id=id,
        kind=kind,
        session=session,
        created=created,
        key=said,
        payload=payload,
        owner=owner,
        until=until,
        attempts=attempts,
        finished=finished,
        outcome=ended,
    )
