"""What the counts port promises, and what calls keep."""

from __future__ import annotations

import pytest

from holdfast.engine.doors import drive
from holdfast.errors import Unknown
from holdfast.model.log import PartRef
from holdfast.model.span import EVERYTHING, Span
from holdfast.ports import Store
from holdfast.testing.factories import append, call, start

from .base import Contract


class CountsContract(Contract):
    """Counts by part and counter."""

    def test_counts_are_known_by_counter_and_place(self, store: Store) -> None:
        id = start(store)
        append(store, id, "one", "two", "three")
        drive(store.counts.tally(id, "o200k", {PartRef(1, 0): 5, PartRef(3, 0): 7}))
        drive(store.counts.tally(id, "cl100k", {PartRef(2, 0): 9}))
        drive(store.counts.tally(id, "o200k", {PartRef(1, 0): 6}))
        known = drive(self.reopen(store).counts.known(id, EVERYTHING, "o200k"))
        assert known == {PartRef(1, 0): 6, PartRef(3, 0): 7}
        assert drive(store.counts.known(id, (Span(2),), "o200k")) == {PartRef(3, 0): 7}

    def test_counts_of_parts_that_are_not_there_are_left_out(self, store: Store) -> None:
        id = start(store)
        append(store, id, "one")
        drive(store.counts.tally(id, "o200k", {PartRef(1, 4): 5, PartRef(9, 0): 5}))
        assert drive(store.counts.known(id, EVERYTHING, "o200k")) == {}

    def test_what_a_call_was_given_is_kept_once_for_its_session(self, store: Store) -> None:
        id, other = start(store), start(store)
        hash = drive(store.calls.keep(id, b"system \x00 prompt"))
        assert drive(store.calls.keep(id, b"system \x00 prompt")) == hash
        assert drive(self.reopen(store).calls.kept(id, hash)) == b"system \x00 prompt"
        for session, wanted in ((other, hash), (id, "00" * 32)):
            with pytest.raises(Unknown):
                drive(store.calls.kept(session, wanted))

    def test_what_a_session_has_spent_is_the_sum_of_its_calls(self, store: Store) -> None:
        id, other = start(store), start(store)
        assert drive(store.calls.spent(id)) == 0
        for session, cost in ((id, 5), (id, None), (id, 2**40), (other, 9)):
            drive(store.calls.record(call(session, cost=cost)))
        assert drive(store.calls.spent(id)) == 2**40 + 5

    def test_the_newest_calls_come_newest_first(self, store: Store) -> None:
        id = start(store)
        made = [drive(store.calls.record(call(id, started=at))) for at in (5, 1, 9)]
        newest = drive(store.calls.newest(id, 2))
        assert [found.id for found in newest] == [made[2].id, made[0].id]
