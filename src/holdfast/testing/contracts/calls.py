"""What the calls port promises."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from holdfast.engine.doors import drive
from holdfast.errors import Unknown
from holdfast.model.reply import Call, Iteration, Usage
from holdfast.ports import Store
from holdfast.testing.factories import NOON, call, start

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

    def test_one_request_is_one_row_and_its_usage_is_never_summed(self, store: Store) -> None:
        id = start(store)
        first = call(id, provider="p", request="r", usage=Usage(input=10, output=1))
        drive(store.calls.record(first))
        drive(store.calls.record(call(id, provider="p", request="r", usage=Usage(input=10))))
        more = Usage(input=10, output=30)
        drive(store.calls.record(call(id, provider="p", request="r", usage=more, model="m")))
        (row,) = drive(store.calls.calls(id))
        assert (row.usage, row.model) == (more, "m")

    def test_what_is_told_later_wins_where_it_is_told(self, store: Store) -> None:
        id = start(store)
        drive(
            store.calls.record(
                call(id, provider="p", request="r", model="m", entry="e", outcome="done", cost=4)
            )
        )
        drive(store.calls.record(call(id, provider="p", request="r", model="n")))
        (row,) = drive(store.calls.calls(id))
        assert (row.model, row.entry, row.outcome, row.cost) == ("n", "e", "done", 4)

    def test_two_rows_that_turn_out_to_be_one_request_become_one(self, store: Store) -> None:
        id = start(store)
        begun = call(id, cause="notes")
        drive(store.calls.record(begun))
        drive(store.calls.record(call(id, provider="p", request="r", model="m")))
        drive(store.calls.record(replace(begun, provider="p", request="r", outcome="done")))
        (row,) = drive(store.calls.calls(id))
        assert (row.request, row.model, row.outcome) == ("r", "m", "done")

    def test_a_request_told_again_by_another_session_stays_where_it_was(self, store: Store) -> None:
        one, other = start(store), start(store)
        first = drive(store.calls.record(call(one, provider="p", request="r", cost=5)))
        drive(store.calls.record(call(other, provider="p", request="r", cost=5)))
        assert drive(store.calls.calls(one)) == (first,)
        assert drive(store.calls.calls(other)) == ()

    def test_another_provider_may_use_the_same_request_id(self, store: Store) -> None:
        id = start(store)
        drive(store.calls.record(call(id, provider="p", request="r")))
        drive(store.calls.record(call(id, provider="q", request="r")))
        drive(store.calls.record(call(id, provider="p")))
        drive(store.calls.record(call(id, provider="p")))
        assert len(drive(store.calls.calls(id))) == 4

    def test_calls_are_paged_in_the_order_they_were_begun(self, store: Store) -> None:
        id, other = start(store), start(store)
        made = [call(id, started=NOON + n // 3) for n in range(10)]
        for one in reversed(made):
            drive(store.calls.record(one))
            drive(store.calls.record(call(other)))
        found, after = list[Call](), ""
        while page := drive(store.calls.calls(id, after=after, limit=4)):
            assert len(page) <= 4
            found += page
            after = found[-1].id
        assert found == made

    def test_the_calls_of_an_unknown_session_are_refused(self, store: Store) -> None:
        with pytest.raises(Unknown):
            drive(store.calls.calls("nobody"))
        with pytest.raises(Unknown):
            drive(store.calls.record(call("nobody")))
