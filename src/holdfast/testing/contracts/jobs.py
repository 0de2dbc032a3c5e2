"""What the jobs port promises."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from holdfast.engine.client import drive
from holdfast.errors import NotFound
from holdfast.model.job import Job
from holdfast.ports import Store
from holdfast.testing.factories import NOON, job, start

from .base import Contract


def lease(store: Store, owner: str, now: int = 0, until: int = 10, kind: str = "summary") -> Job:
    held = drive(store.jobs.lease(kind, owner=owner, now=NOON + now, until=NOON + until))
    assert held is not None
    return held


class JobsContract(Contract):
    """Work that waits in line, is leased, and ends."""

    def free(self, store: Store, now: int = 0, kind: str = "summary") -> bool:
        held = drive(store.jobs.lease(kind, owner="probe", now=NOON + now, until=NOON + now))
        return held is not None

    def test_an_offered_job_waits_in_line(self, store: Store) -> None:
        id = start(store)
        made = job(id, payload=b"\0\xff", key="k")
        assert drive(store.jobs.offer(made)) == made
        assert drive(self.reopen(store).jobs.jobs(id)) == (made,)

    def test_one_key_waits_or_runs_once(self, store: Store) -> None:
        id = start(store)
        first = job(id, key="k")
        drive(store.jobs.offer(first))
        assert drive(store.jobs.offer(job(id, key="k"))) == first
        held = lease(store, "me")
        assert drive(store.jobs.offer(job(id, key="k"))) == held
        assert drive(store.jobs.finish(held, outcome="done", now=NOON))
        second = job(id, key="k")
        assert drive(store.jobs.offer(second)) == second
        assert len(drive(store.jobs.jobs(id))) == 2

    def test_a_key_is_of_one_kind_in_one_session(self, store: Store) -> None:
        one, other = start(store), start(store)
        offered = [job(one, key="k"), job(other, key="k"), job(one, key="k", kind="notes")]
        assert [drive(store.jobs.offer(work)) for work in offered] == offered

    def test_jobs_without_a_key_all_wait(self, store: Store) -> None:
        id = start(store)
        made = tuple(drive(store.jobs.offer(job(id))) for _ in range(3))
        assert drive(store.jobs.jobs(id)) == made

    def test_the_oldest_free_job_of_a_kind_is_leased(self, store: Store) -> None:
        id = start(store)
        newer = drive(store.jobs.offer(job(id, created=NOON + 5)))
        older = drive(store.jobs.offer(job(id, created=NOON + 1)))
        drive(store.jobs.offer(job(id, kind="notes", created=NOON)))
        held = lease(store, "me")
        assert held == replace(older, owner="me", until=NOON + 10, attempts=1)
        assert lease(store, "me").id == newer.id
        assert not self.free(store)
        assert self.free(store, kind="notes")

    def test_a_lease_that_has_run_out_is_taken_by_another(self, store: Store) -> None:
        id = start(store)
        drive(store.jobs.offer(job(id)))
        first = lease(store, "one", until=10)
        assert not self.free(store, now=9)
        second = lease(store, "two", now=10, until=20)
        assert (second.id, second.owner, second.attempts) == (first.id, "two", 2)

    def test_who_lost_the_lease_neither_renews_nor_finishes(self, store: Store) -> None:
        id = start(store)
        drive(store.jobs.offer(job(id)))
        first = lease(store, "one", until=10)
        second = lease(store, "two", now=10, until=20)
        assert not drive(store.jobs.renew(first, now=NOON + 11, until=NOON + 99))
        assert not drive(store.jobs.finish(first, outcome="late", now=NOON + 11))
        assert drive(store.jobs.finish(second, outcome="done", now=NOON + 12))

    def test_an_owner_who_leased_again_cannot_end_the_run_before(self, store: Store) -> None:
        id = start(store)
        drive(store.jobs.offer(job(id)))
        first, second = lease(store, "one", until=10), lease(store, "one", now=10, until=20)
        assert not drive(store.jobs.finish(first, outcome="late", now=NOON + 11))
        assert not drive(store.jobs.renew(first, now=NOON + 11, until=NOON + 99))
        assert drive(store.jobs.renew(second, now=NOON + 11, until=NOON + 99))

    def test_a_renewed_lease_is_kept_longer(self, store: Store) -> None:
        id = start(store)
        drive(store.jobs.offer(job(id)))
        held = lease(store, "me", until=10)
        assert drive(store.jobs.renew(held, now=NOON + 5, until=NOON + 50))
        assert not self.free(store, now=49)
        assert drive(store.jobs.finish(held, outcome="done", now=NOON + 49))

    def test_a_late_owner_whom_nobody_replaced_may_still_finish(self, store: Store) -> None:
        id = start(store)
        drive(store.jobs.offer(job(id)))
        held = lease(store, "me", until=10)
        assert drive(store.jobs.finish(held, outcome="done", now=NOON + 99))

    def test_what_ended_is_kept_and_never_leased_again(self, store: Store) -> None:
        id = start(store)
        drive(store.jobs.offer(job(id)))
        held = lease(store, "me")
        assert drive(store.jobs.finish(held, outcome="all well", now=NOON + 7))
        assert not self.free(store, now=99)
        (ended,) = drive(self.reopen(store).jobs.jobs(id))
        assert (ended.outcome, ended.finished) == ("all well", NOON + 7)
        assert not drive(store.jobs.finish(held, outcome="again", now=NOON + 8))
        assert not drive(store.jobs.renew(held, now=NOON + 8, until=NOON + 9))

    def test_nothing_to_do_is_none(self, store: Store) -> None:
        start(store)
        assert not self.free(store)

    def test_work_for_an_unknown_session_is_refused(self, store: Store) -> None:
        with pytest.raises(NotFound):
            drive(store.jobs.offer(job("nobody")))
        with pytest.raises(NotFound):
            drive(store.jobs.jobs("nobody"))
