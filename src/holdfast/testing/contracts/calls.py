"""What the calls port promises."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from holdfast.engine.client import drive
from holdfast.errors import NotFound
from holdfast.model.reply import Call, Iteration, Usage
from holdfast.ports import Store
from holdfast.testing.factories import NOON, append, call, read_all, start

from .base import Contract


class CallsContract(Contract):
    """One row for each call, from its start to its end."""

    def test_a_call_is_a_row_at_its_start_and_completed_at_its_end(self, store: Store) -> None:
        id = start(store)
        begun = call(id, cause="summary", model="m")
        assert drive(store.calls.record(begun)) == begun
        assert drive(store.calls.calls(id)) == (begun,)
        ended = replace(
            begun,
            usage=Usage(input=5, cache_read=6, cache_write=7, output=8, reasoning=2),
            iterations=(Iteration(input=1), Iteration(output=2)),
            provider="p",
            request="r",
            entry="e",
            cost=12,
            price_version="v1",
            ended=NOON + 9,
            outcome="done",
            stop="end",
            request_hash="h",
        )
        assert drive(store.calls.record(ended)) == ended
        assert drive(self.reopen(store).calls.calls(id)) == (ended,)

    def test_a_reply_told_again_is_one_row_and_its_usage_is_never_summed(
        self, store: Store
    ) -> None:
        id = start(store)
        reply = {"provider": "p", "request": "r", "content": "c"}
        first = call(id, usage=Usage(input=10, output=1), entry="e", head=3, **reply)
        drive(store.calls.record(first))
        drive(store.calls.record(call(id, usage=Usage(input=10), entry="f", **reply)))
        more = Usage(input=10, output=30)
        drive(store.calls.record(call(id, usage=more, model="m", **reply)))
        (row,) = drive(store.calls.calls(id))
        assert (row.id, row.usage, row.model) == (first.id, more, "m")
        assert (row.entry, row.head) == ("e", 3), "it stays the call behind the first of them"

    def test_what_is_told_later_wins_where_it_is_told(self, store: Store) -> None:
        id = start(store)
        reply = {"provider": "p", "request": "r", "content": "c"}
        drive(store.calls.record(call(id, model="m", entry="e", outcome="done", cost=4, **reply)))
        drive(store.calls.record(call(id, model="n", **reply)))
        (row,) = drive(store.calls.calls(id))
        assert (row.model, row.entry, row.outcome, row.cost) == ("n", "e", "done", 4)

    def test_two_rows_that_turn_out_to_be_one_reply_become_one(self, store: Store) -> None:
        id = start(store)
        reply = {"provider": "p", "request": "r", "content": "c"}
        begun = call(id, cause="notes")
        drive(store.calls.record(begun))
        drive(store.calls.record(call(id, model="m", **reply)))
        drive(store.calls.record(replace(begun, outcome="done", **reply)))
        (row,) = drive(store.calls.calls(id))
        assert (row.id, row.model, row.outcome, row.cause) == (begun.id, "m", "done", "notes")

    def test_an_id_that_a_server_repeats_never_makes_one_call_of_two(self, store: Store) -> None:
        id = start(store)
        same = {"provider": "p", "request": "constant"}
        made = [
            call(id, content="one", cost=1, **same),
            call(id, content="another", cost=2, **same),
            call(id, content="one", request_hash="a", cost=4, **same),
            call(id, cause="title", cost=8, **same),
            call(id, cause="summary", cost=16, **same),
        ]
        for one in made:
            assert drive(store.calls.record(one)).id == (made[0] if one is made[2] else one).id
        drive(store.calls.record(call(id, content="one", request_hash="b", cost=32, **same)))
        assert len(drive(store.calls.calls(id))) == 5
        assert drive(store.calls.spent(id))[0].cost == 4 + 2 + 8 + 16 + 32

    def test_a_call_belongs_to_its_session_whatever_another_has_recorded(
        self, store: Store
    ) -> None:
        one, other = start(store), start(store)
        reply = {"provider": "p", "request": "r", "content": "c"}
        first = call(one, cost=5, **reply)
        second = call(other, cost=7, **reply)
        third = replace(first, session=other, request="", cost=9)
        for made in (first, second, third):
            assert drive(store.calls.record(made)) == made
        store = self.reopen(store)
        assert drive(store.calls.calls(one)) == (first,)
        assert drive(store.calls.calls(other)) == (second, third)
        assert drive(store.calls.spent())[0].cost == 21
        drive(store.sessions.erase(other))
        assert drive(store.calls.calls(one)) == (first,)

    def test_the_same_key_in_two_sessions_is_two_appends(self, store: Store) -> None:
        one, other = start(store), start(store)
        assert append(store, one, "here", key="k")[0].session == one
        assert append(store, other, "there", key="k")[0].session == other
        assert append(store, other, "there", key="k") == read_all(store, other)
        assert [len(read_all(store, id)) for id in (one, other)] == [1, 1]

    def test_another_provider_may_use_the_same_request_id(self, store: Store) -> None:
        id = start(store)
        drive(store.calls.record(call(id, provider="p", request="r")))
        drive(store.calls.record(call(id, provider="q", request="r")))
        drive(store.calls.record(call(id, provider="p")))
        drive(store.calls.record(call(id, provider="p")))
        assert len(drive(store.calls.calls(id))) == 4

    def test_calls_are_paged_in_the_order_they_were_recorded_whatever_the_clock_said(
        self, store: Store
    ) -> None:
        id, other = start(store), start(store)
        made = [call(id, started=NOON - n % 3) for n in range(10)]
        for one in made:
            drive(store.calls.record(one))
            drive(store.calls.record(call(other)))
        drive(store.calls.record(replace(made[3], model="m")))
        found, after = list[Call](), ""
        while page := drive(store.calls.calls(id, after=after, limit=4)):
            assert len(page) <= 4
            found += page
            after = found[-1].id
        assert [one.id for one in found] == [one.id for one in made]
        assert drive(store.calls.newest(id, 2)) == tuple(reversed(found[-2:]))

    def test_the_calls_of_an_unknown_session_are_refused(self, store: Store) -> None:
        with pytest.raises(NotFound):
            drive(store.calls.calls("nobody"))
        with pytest.raises(NotFound):
            drive(store.calls.record(call("nobody")))
