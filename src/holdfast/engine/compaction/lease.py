"""Lease: one process at a time works on one kind of work of a session.

The lease of a process of this machine that was killed is free at once.
"""

from __future__ import annotations

import os
import socket
from functools import cache
from typing import TYPE_CHECKING

from holdfast.model.job import Job

if TYPE_CHECKING:
    from holdfast.engine.context import SessionContext

SLACK = 10_000
"""A lease outlives the question it was taken for by so many milliseconds."""


class Lease:
    """A lease on one kind of work of one session."""

    def __init__(self, session: SessionContext, job: Job, seconds: float) -> None:
        self._session = session
        self._job = job
        self._seconds = seconds

    @classmethod
    async def begin(cls, session: SessionContext, kind: str, seconds: float) -> Lease | None:
        """Take the lease; None where another process has it."""
        named, now = f"{kind} {session.id}", session.now()
        jobs, owner = session.store.jobs, holder(session.new_id())
        until = now + int(seconds * 1_000) + SLACK
        for _ in range(2):
            await jobs.offer(
                Job(id=session.new_id(), kind=named, session=session.id, created=now, key=named)
            )
            if job := await jobs.lease(named, owner=owner, now=now, until=until):
                return cls(session, job, seconds)
            for left in await _held(session, kind):
                if is_gone(left.owner):
                    await jobs.finish(left, outcome="abandoned", now=now)
        return None

    async def renew(self) -> bool:
        """Keep it for one question more; False where another process has it by now."""
        now = self._session.now()
        until = now + int(self._seconds * 1_000) + SLACK
        return await self._session.store.jobs.renew(self._job, now=now, until=until)

    async def end(self, outcome: str) -> None:
        """Let it go, and say how it went."""
        now = self._session.now()
        await self._session.store.jobs.finish(self._job, outcome=outcome, now=now)


async def is_held(session: SessionContext, kind: str) -> bool:
    """Whether any process holds the lease on this kind of work."""
    return any(not is_gone(job.owner) for job in await _held(session, kind))


async def _held(session: SessionContext, kind: str) -> list[Job]:
    """The leases on this kind of work that have not run out."""
    named, now = f"{kind} {session.id}", session.now()
    found = await session.store.jobs.jobs(session.id)
    return [job for job in found if job.kind == named and not job.finished and job.until > now]


def holder(id: str) -> str:
    """The name under which this process holds something."""
    return f"{id} {_here()} {os.getpid()} {_began(os.getpid())}"


def is_gone(owner: str) -> bool:
    """Whether the process that holds something is surely no more."""
    words = owner.split(" ")
    if len(words) != 4 or words[1] != _here() or not words[2].isdecimal():
        return False
    return not _lives(int(words[2])) or _began(int(words[2])) != words[3]


def _lives(number: int) -> bool:
    try:
        os.kill(number, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True  # it is somebody else's
    return True


def _began(number: int) -> str:
    """When a process began, where the system tells; otherwise nothing is compared."""
    try:
        with open(f"/proc/{number}/stat", "rb") as file:
            told = file.read().rpartition(b")")[2].split()
    except OSError:
        return "-"
    return told[19].decode() if len(told) > 19 and told[0] != b"Z" else "-"


@cache
def _here() -> str:
    """This machine since it was started, and the part of it whose processes we see."""
    try:
        with open("/proc/sys/kernel/random/boot_id", "rb") as file:
            booted = file.read().decode().strip()
        return f"{booted}/{os.readlink('/proc/self/ns/pid')}"
    except OSError:
        return socket.gethostname().replace(" ", "-")
