"""What the snapshots port promises: what was computed is found again, and never for another log."""

from __future__ import annotations

import pytest

from holdfast.engine.client import drive
from holdfast.errors import NotFound
from holdfast.ports import Store
from holdfast.testing.factories import append, start

from .base import Contract


class SnapshotsContract(Contract):
    """Snapshots by session, entry and version."""

    def test_the_newest_snapshot_up_to_an_entry_is_found(self, store: Store) -> None:
        id = start(store)
        append(store, id, "one", "two", "three")
        drive(store.snapshots.save(id, 1, 1, b"at one"))
        drive(store.snapshots.save(id, 3, 1, b"at three"))
        kept = self.reopen(store).snapshots
        assert drive(kept.newest(id, 0, 1)) is None
        assert drive(kept.newest(id, 2, 1)) == (1, b"at one")
        assert drive(kept.newest(id, 9, 1)) == (3, b"at three")
        assert drive(kept.places(id)) == (1, 3)

    def test_a_snapshot_of_another_version_is_none(self, store: Store) -> None:
        id = start(store)
        append(store, id, "one", "two")
        drive(store.snapshots.save(id, 1, 1, b"old"))
        assert drive(store.snapshots.newest(id, 2, 2)) is None
        drive(store.snapshots.save(id, 1, 2, b"new"))
        assert drive(store.snapshots.newest(id, 2, 2)) == (1, b"new")
        assert drive(store.snapshots.newest(id, 2, 1)) is None

    def test_a_snapshot_is_dropped_when_another_takes_its_place(self, store: Store) -> None:
        id = start(store)
        append(store, id, "one", "two", "three")
        for seq in (1, 2):
            drive(store.snapshots.save(id, seq, 1, b"%d" % seq))
        drive(store.snapshots.save(id, 3, 1, b"3", drop=(1,)))
        assert drive(store.snapshots.places(id)) == (2, 3)

    def test_a_fork_shares_snapshots_up_to_where_it_begins(self, store: Store) -> None:
        id = start(store)
        append(store, id, "one", "two", "three")
        fork = start(store, parent=id, fork=2)
        child = start(store, parent=fork, fork=1)
        for seq in (1, 2, 3):
            drive(store.snapshots.save(id, seq, 1, b"%d" % seq))
        assert drive(store.snapshots.newest(fork, 9, 1)) == (2, b"2")
        assert drive(store.snapshots.newest(child, 9, 1)) == (1, b"1")
        assert drive(store.snapshots.places(fork)) == ()
        append(store, fork, "other")
        drive(store.snapshots.save(fork, 3, 1, b"its own"))
        assert drive(store.snapshots.newest(fork, 9, 1)) == (3, b"its own")
        assert drive(store.snapshots.newest(id, 9, 1)) == (3, b"3")

    def test_snapshots_are_erased_with_their_session_and_forks_keep_theirs(
        self, store: Store
    ) -> None:
        id = start(store)
        append(store, id, "one", "two", "three")
        fork = start(store, parent=id, fork=2)
        for seq in (1, 2, 3):
            drive(store.snapshots.save(id, seq, 1, b"%d" % seq))
        drive(store.sessions.erase(id))
        assert drive(store.snapshots.newest(fork, 9, 1)) == (2, b"2")
        start(store, id)
        assert drive(store.snapshots.newest(id, 9, 1)) is None

    def test_an_unknown_session_has_no_snapshots(self, store: Store) -> None:
        snapshots = store.snapshots
        attempts = (
            snapshots.newest("x", 1, 1),
            snapshots.places("x"),
            snapshots.save("x", 1, 1, b""),
        )
        for attempt in attempts:
            with pytest.raises(NotFound):
                drive(attempt)  # type: ignore[arg-type]
