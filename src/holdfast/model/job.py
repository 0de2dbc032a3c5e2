"""Background work as data: one leased row a job."""

from __future__ import annotations

from msgspec import Struct


class Job(Struct, frozen=True, omit_defaults=True, kw_only=True):
    """One piece of background work."""

    id: str
    kind: str
    session: str
    created: int
    key: str = ""
    """Of several jobs with one key only one waits or runs at a time."""
    payload: bytes = b""
    owner: str = ""
    until: int = 0
    """When its lease runs out, in ms."""
    attempts: int = 0
    """How often it was leased; part of the lease, so an old owner cannot finish a newer run."""
    finished: int = 0
    outcome: str = ""
