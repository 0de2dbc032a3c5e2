"""What the counts port promises, and what calls keep."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from msgspec.structs import replace

from holdfast.engine.client import drive
from holdfast.errors import NotFound
from holdfast.model.log import PartRef
from holdfast.model.reply import QUARTER, By, Spent, Usage
from holdfast.model.span import EVERYTHING, Span
from holdfast.ports import Store
from holdfast.testing.factories import NOON, append, call, start

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
            with pytest.raises(NotFound):
                drive(store.calls.kept(session, wanted))

    def test_what_a_session_has_spent_is_the_sum_of_its_calls(self, store: Store) -> None:
        id, other = start(store), start(store)
        assert drive(store.calls.spent(id)) == (Spent(),)
        for session, cost in ((id, 5), (id, None), (id, 2**40), (other, 9)):
            drive(store.calls.record(call(session, cost=cost)))
        (spent,) = drive(store.calls.spent(id))
        assert (spent.cost, spent.calls, spent.unpriced) == (2**40 + 5, 3, 1)
        assert drive(store.calls.spent())[0].calls == 4
        with pytest.raises(NotFound):
            drive(store.calls.spent("nobody"))

    def test_what_subtasks_have_spent_is_their_sessions(self, store: Store) -> None:
        id = start(store)
        own = replace(drive(store.sessions.session(id)), parent=id, head=0, last_message=0)
        part = drive(store.sessions.create(replace(own, id=f"{id[:-1]}~", fork=0))).id
        for session, cost in ((id, 5), (part, 7)):
            drive(store.calls.record(call(session, cost=cost)))
        assert drive(store.calls.spent(id))[0].cost == 12
        assert drive(store.calls.spent(part))[0].cost == 7

    def test_what_was_spent_is_told_apart_as_asked(self, store: Store) -> None:
        id, other = start(store), start(store)
        late = NOON + QUARTER
        odd = "m\0\ud800é"
        made = [
            call(id, model="m", cost=1, ended=NOON + 4, outcome="done", usage=Usage(input=3)),
            call(id, model=odd, cost=2, cause="notes", started=late, ended=late - 9),
            call(other, model="m", outcome="failed", usage=Usage(output=5, reasoning=2)),
        ]
        for one in made:
            drive(store.calls.record(one))

        def found(by: Sequence[By], **of: Any) -> dict[tuple[Any, ...], Spent]:
            spent = drive(store.calls.spent(**of, by=by))
            return {tuple(getattr(one, name) for name in by): one for one in spent}

        assert {key: one.cost for key, one in found(("model",)).items()} == {("m",): 1, (odd,): 2}
        assert set(found(("cause", "outcome"))) == {
            ("turn", "done"),
            ("notes", "running"),
            ("turn", "failed"),
        }
        first, second = NOON // QUARTER * QUARTER, late // QUARTER * QUARTER
        assert set(found(("session", "quarter"))) == {(id, first), (id, second), (other, first)}
        assert found(("model",), session=other)[("m",)].usage == Usage(output=5)
        assert found(("model",))[("m",)].milliseconds == 4
        assert set(found(("model",), since=late)) == {(odd,)}
        assert set(found(("model",), until=late)) == {("m",)}
        assert found(("cause",), since=late + 1) == {}

    def test_the_newest_calls_come_newest_first(self, store: Store) -> None:
        id = start(store)
        made = [drive(store.calls.record(call(id, started=at))) for at in (5, 1, 9)]
        newest = drive(store.calls.newest(id, 2))
        assert [found.id for found in newest] == [made[2].id, made[1].id]
