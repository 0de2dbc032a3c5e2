"""The jobs port in memory."""

from __future__ import annotations

from msgspec.structs import replace

from holdfast.model.job import Job

from .state import Shelf


class MemoryJobs:
    """The jobs port."""

    def __init__(self, shelf: Shelf) -> None:
        self._shelf = shelf

    async def offer(self, job: Job) -> Job:
        with self._shelf.lock:
            self._shelf.session(job.session)
            same = (job.session, job.kind, job.key)
            for other in self._shelf.jobs.values():
                if job.key and not other.finished and same == (
                    other.session, other.kind, other.key
                ):  # fmt: skip
                    return other
            return self._shelf.jobs.setdefault(job.id, job)

    async def lease(self, kind: str, *, owner: str, now: int, until: int) -> Job | None:
        with self._shelf.lock:
            for job in self._in_line():
                if job.kind == kind and not job.finished and job.until <= now:
                    return self._keep(job, owner=owner, until=until, attempts=job.attempts + 1)
        return None

    async def renew(self, job: Job, *, now: int, until: int) -> bool:
        with self._shelf.lock:
            return self._held(job) and bool(self._keep(self._shelf.jobs[job.id], until=until))

    async def finish(self, job: Job, *, outcome: str, now: int) -> bool:
        with self._shelf.lock:
            return self._held(job) and bool(
                self._keep(self._shelf.jobs[job.id], finished=now, outcome=outcome)
            )

    async def jobs(self, session: str) -> tuple[Job, ...]:
        with self._shelf.lock:
            self._shelf.session(session)
            return tuple(job for job in self._in_line() if job.session == session)

    def _in_line(self) -> list[Job]:
        return sorted(self._shelf.jobs.values(), key=lambda job: (job.created, job.id))

    def _held(self, job: Job) -> bool:
        now = self._shelf.jobs.get(job.id)
        return bool(now) and not now.finished and (now.owner, now.attempts) == (
            job.owner, job.attempts
        )  # fmt: skip

    def _keep(self, job: Job, **changes: object) -> Job:
        self._shelf.jobs[job.id] = replace(job, **changes)
        return self._shelf.jobs[job.id]
