"""What appending and reading promise."""

from __future__ import annotations

import pytest

from holdfast.engine.client import drive
from holdfast.errors import Conflict, InvalidRequest, NotFound
from holdfast.model import wire
from holdfast.model.log import Clear, Folded, Pin, Records, Rewind, Summary
from holdfast.model.message import Message, Record, Text, assistant, opaque, tool, user
from holdfast.model.message import ToolCall as Asks
from holdfast.model.message import ToolResult as Answer
from holdfast.model.span import EVERYTHING, OPEN, Span
from holdfast.model.store import Expect
from holdfast.ports import Store
from holdfast.testing.factories import NOON, append, call, draft, read_all, start

from .base import Contract


class AppendContract(Contract):
    """All or nothing, durable on return, refused where the writer's belief does not hold."""

    def test_entries_are_numbered_from_one_without_gaps(self, store: Store) -> None:
        id = start(store)
        assert [e.seq for e in append(store, id, "a", "b")] == [1, 2]
        assert [e.seq for e in append(store, id, Pin(fact="x"))] == [3]
        assert [e.seq for e in append(store, id, "c")] == [4]

    def test_what_append_returns_is_what_is_read(self, store: Store) -> None:
        id = start(store)
        drafts = [
            draft(user("hi"), completed=NOON + 1, parent="p", provider="x", model="m", request="r"),
            draft(assistant("one", "two"), counts=(3, 4)),
            draft(assistant("not counted", "at all")),
            draft(Message("assistant", ())),
            draft(Summary(covers=(Span(1, 2),), text="t")),
        ]
        made = drive(store.log.append(id, drafts, key="k"))
        assert made == read_all(store, id)
        assert [e.body for e in made] == [d.body for d in drafts]
        assert [e.id for e in made] == [d.id for d in drafts]
        assert {(e.session, e.key) for e in made} == {(id, "k")}

    def test_every_part_has_a_count_and_a_marker_has_none(self, store: Store) -> None:
        id = start(store)
        for body, counts in ((assistant("one", "two"), (3, 4)), (assistant("one", "two"), ())):
            drive(store.log.append(id, [draft(body, counts=counts)]))
        append(store, id, Pin(fact="x"))
        assert [e.counts for e in read_all(store, id)] == [(3, 4), (0, 0), ()]

    def test_order_is_seq_whatever_the_clock_says(self, store: Store) -> None:
        id = start(store)
        for created in (NOON, NOON, NOON - 5, 0, NOON + 9):
            drive(store.log.append(id, [draft(created=created)]))
        assert [e.created for e in read_all(store, id)] == [NOON, NOON, NOON - 5, 0, NOON + 9]
        assert drive(store.sessions.session(id)).updated == NOON + 9

    def test_order_is_seq_whatever_the_ids_are(self, store: Store) -> None:
        id = start(store)
        names = ["z" * 26, "a" * 26, "m" * 26]
        for name in names:
            drive(store.log.append(id, [draft(id=name)]))
        assert [e.id for e in read_all(store, id)] == names

    def test_what_was_appended_is_there_after_opening_again(self, store: Store) -> None:
        id = start(store)
        made = append(store, id, "kept", key="k")
        again = self.reopen(store)
        assert read_all(again, id) == made
        assert append(again, id, "kept", key="k") == made
        assert drive(again.sessions.session(id)).head == 1

    def test_at_once_is_to_append_or_to_do_nothing(self, store: Store) -> None:
        id = start(store)
        append(store, id, "first")
        said = draft(assistant("one", "two"), counts=(3, 4))
        for believed in (5, 1):  # what was not expected is left to `append`, which says so
            made = store.log.append_inline(id, said, Expect(message=believed))
            assert read_all(store, id)[1:] == (() if made is None else (made,))
            assert made is None or believed == 1
        head = 1 if made is None else 2
        found = drive(store.sessions.session(id))
        assert (found.head, found.last_message) == (head, head)
        assert store.log.append_inline(id, draft(Pin(fact="x")), Expect()) is None
        assert store.log.append_inline("nobody", said, Expect()) is None
        assert len(read_all(store, id)) == head

    def test_nothing_cannot_be_appended(self, store: Store) -> None:
        id = start(store)
        with pytest.raises(InvalidRequest):
            drive(store.log.append(id, []))

    def test_the_log_of_an_unknown_session_is_told_and_no_other_named(self, store: Store) -> None:
        start(store, "session-one")
        for attempt in (
            store.log.append("session-onf", [draft()]),
            store.log.read("session-onf", EVERYTHING),
            store.log.heads("session-onf", EVERYTHING),
            store.log.markers("session-onf", before=OPEN),
            store.log.locate("session-onf", "x"),
        ):
            with pytest.raises(NotFound) as told:
                drive(attempt)  # type: ignore[arg-type]
            assert told.value.nearest == ()
            assert "session-one" not in str(told.value)

    def test_messages_are_compared_with_the_last_message_only(self, store: Store) -> None:
        id = start(store)
        append(store, id, "a", expect=Expect(message=0))
        append(store, id, Pin(fact="x"), Pin(fact="y"))
        made = append(store, id, "b", expect=Expect(message=1))
        assert made[0].seq == 4

    def test_markers_are_compared_with_the_last_marker_only(self, store: Store) -> None:
        id = start(store)
        append(store, id, Pin(fact="x"), expect=Expect(marker=0))
        append(store, id, "a", "b")
        made = append(store, id, Pin(fact="y"), expect=Expect(marker=1))
        assert made[0].seq == 4

    @pytest.mark.parametrize("expect", [Expect(message=1), Expect(message=0), Expect(marker=0)])
    def test_a_conflict_says_what_was_found_and_leaves_nothing(
        self, store: Store, expect: Expect
    ) -> None:
        id = start(store)
        append(store, id, "a", "b", Pin(fact="x"))
        before = drive(store.sessions.session(id))
        with pytest.raises(Conflict) as told:
            drive(store.log.append(id, [draft(), draft()], key="k", expect=expect, call=call(id)))
        assert told.value.session == id
        assert told.value.found == (3 if expect.message is None else 2)
        assert drive(store.sessions.session(id)) == before
        assert len(read_all(store, id)) == 3
        assert drive(store.calls.calls(id)) == ()
        assert append(store, id, "later", key="k")[0].seq == 4

    def test_an_expectation_may_name_both(self, store: Store) -> None:
        id = start(store)
        append(store, id, "a", Pin(fact="x"))
        append(store, id, "b", expect=Expect(message=1, marker=2))
        with pytest.raises(Conflict):
            append(store, id, "c", expect=Expect(message=3, marker=0))

    def test_a_call_is_recorded_with_the_reply_it_made(self, store: Store) -> None:
        id = start(store)
        made = call(id, provider="p", request="r")
        drive(store.log.append(id, [draft(assistant("done"))], call=made))
        assert drive(store.calls.calls(id)) == (made,)

    def test_the_session_knows_its_last_entries(self, store: Store) -> None:
        id = start(store)
        append(store, id, "a", Rewind(to=1), "b", "c")
        summary = Summary(covers=(Span(1, 1),), text="t")
        drive(store.log.append(id, [draft(summary, created=NOON + 7), draft(Pin(fact="x"))]))
        now = drive(store.sessions.session(id))
        assert (now.head, now.last_message, now.last_marker) == (6, 4, 6)
        assert (now.updated, now.compacted) == (NOON + 7, NOON + 7)


class KeyContract(Contract):
    """An operation retried with its key happens once."""

    def test_a_key_already_used_returns_what_it_made(self, store: Store) -> None:
        id = start(store)
        made = append(store, id, "a", Pin(fact="x"), "b", key="k")
        append(store, id, "between")
        assert append(store, id, "a", Pin(fact="x"), "b", key="k") == made
        assert drive(store.sessions.session(id)).head == 4

    def test_a_summary_retried_is_the_same_whatever_state_it_carries(self, store: Store) -> None:
        id = start(store)
        append(store, id, "a")
        made = append(store, id, Summary(covers=(Span(1, 1),), text="s"), key="k")
        carried = Summary(covers=(Span(1, 1),), text="s", folded=Folded(epoch=2))
        assert append(store, id, carried, key="k") == made

    def test_a_large_batch_is_found_again_whole(self, store: Store) -> None:
        id = start(store)
        many = Message("user", tuple(Text(str(n)) for n in range(2_000)))
        made = append(store, id, many, many, many, key="k")
        assert append(store, id, many, many, many, key="k") == made

    def test_a_retry_succeeds_though_the_session_has_gone_on(self, store: Store) -> None:
        id = start(store)
        made = append(store, id, "a", key="k", expect=Expect(message=0))
        append(store, id, "b")
        assert append(store, id, "a", key="k", expect=Expect(message=0)) == made

    @pytest.mark.parametrize("bodies", [("a",), ("a", "c"), ("a", "b", "c"), ("b", "a")])
    def test_a_key_used_for_something_else_is_refused(
        self, store: Store, bodies: tuple[str, ...]
    ) -> None:
        id = start(store)
        append(store, id, "a", "b", key="k")
        with pytest.raises(InvalidRequest):
            append(store, id, *bodies, key="k")
        assert drive(store.sessions.session(id)).head == 2

    def test_a_retry_does_not_record_its_call_twice(self, store: Store) -> None:
        id = start(store)
        for _ in range(2):
            reply = [draft(assistant("done"))]
            drive(store.log.append(id, reply, key="k", call=call(id, provider="p", request="r")))
        assert len(drive(store.calls.calls(id))) == 1

    def test_without_a_key_saying_it_twice_is_saying_it_twice(self, store: Store) -> None:
        id = start(store)
        append(store, id, "a")
        append(store, id, "a")
        assert len(read_all(store, id)) == 2

    def test_another_session_may_use_the_same_key(self, store: Store) -> None:
        one, other = start(store), start(store)
        append(store, one, "a", key="k")
        assert append(store, other, "b", key="k")[0].session == other


class ReadContract(Contract):
    """Reading in order, in pages, with or without content."""

    def test_read_gives_the_first_inside_the_spans(self, store: Store) -> None:
        id = start(store)
        append(store, id, *map(str, range(1, 11)))
        spans = (Span(2, 3), Span(6, 6), Span(9))
        assert [e.seq for e in drive(store.log.read(id, spans))] == [2, 3, 6, 9, 10]
        assert [e.seq for e in drive(store.log.read(id, spans, limit=3))] == [2, 3, 6]

    @pytest.mark.parametrize("spans", [(), (Span(11, 20),), (Span(99),)])
    def test_where_there_is_nothing_nothing_is_read(
        self, store: Store, spans: tuple[Span, ...]
    ) -> None:
        id = start(store)
        assert drive(store.log.read(id, EVERYTHING)) == ()
        append(store, id, *map(str, range(1, 11)))
        assert drive(store.log.read(id, spans)) == ()
        assert drive(store.log.heads(id, spans)) == ()

    @pytest.mark.parametrize("limit", [1, 2, 7, 100])
    def test_pages_together_are_the_whole(self, store: Store, limit: int) -> None:
        id = start(store)
        made = append(store, id, "a", Pin(fact="x"), "b", "c", Pin(fact="y"), "d", Pin(fact="z"))
        assert read_all(store, id, limit=limit) == made

    def test_heads_are_the_last_inside_the_spans_without_content(self, store: Store) -> None:
        id = start(store)
        asks = assistant("let me look", Asks("c1", "ls", "{}"))
        answers = tool(Answer("c1", "a file"))
        drafts = [draft("hi"), draft(asks, counts=(3, 9)), draft(answers), draft(Pin(fact="x"))]
        made = drive(store.log.append(id, drafts))
        heads = drive(store.log.heads(id, EVERYTHING))
        assert [h.id for h in heads] == [e.id for e in made]
        assert [h.seq for h in heads] == [1, 2, 3, 4]
        assert [h.kind for h in heads] == ["message", "message", "message", "pin"]
        assert [h.role for h in heads] == ["user", "assistant", "tool", ""]
        assert [h.kinds for h in heads] == [("text",), ("text", "tool_call"), ("tool_result",), ()]
        assert [h.counts for h in heads] == [(0,), (3, 9), (0,), ()]
        assert [h.created for h in heads] == [NOON] * 4
        assert heads[1].sizes == tuple(len(wire.encode(part)) for part in asks.parts)
        assert heads[3].sizes == ()
        assert drive(store.log.heads(id, EVERYTHING, limit=2)) == heads[2:]
        assert drive(store.log.heads(id, (Span(1, 1), Span(3, 4)), limit=2)) == heads[2:]
        assert drive(store.log.heads(id, (Span(1, 2), Span(4)), limit=2)) == (heads[1], heads[3])

    def test_markers_are_the_newest_below_a_place_in_order(self, store: Store) -> None:
        id = start(store)
        made = append(
            store, id, Pin(fact="a"), "x", Rewind(to=1), Clear(parts=()), "y", Pin(fact="b")
        )
        seqs = [1, 3, 4, 6]
        found = drive(store.log.markers(id, before=OPEN))
        assert found == tuple(made[seq - 1] for seq in seqs)
        assert [e.seq for e in drive(store.log.markers(id, before=OPEN, limit=2))] == [4, 6]
        assert [e.seq for e in drive(store.log.markers(id, before=4))] == [1, 3]
        assert [e.seq for e in drive(store.log.markers(id, before=5, limit=1))] == [4]
        assert drive(store.log.markers(id, before=1)) == ()

    def test_an_entry_is_located_by_its_id_in_its_session_only(self, store: Store) -> None:
        one, other = start(store), start(store)
        made = append(store, one, "a", Pin(fact="x"))
        append(store, other, "b")
        assert [drive(store.log.locate(one, e.id)) for e in made] == [1, 2]
        assert drive(store.log.locate(other, made[0].id)) is None
        assert drive(store.log.locate(one, "nobody")) is None

    def test_a_message_of_a_thousand_parts_keeps_their_order(self, store: Store) -> None:
        id = start(store)
        parts = tuple(Text(str(n)) for n in range(1000))
        counts = tuple(range(1000))
        drive(store.log.append(id, [draft(Message("assistant", parts), counts=counts)]))
        (found,) = read_all(store, id)
        assert found.body == Message("assistant", parts)
        assert found.counts == drive(store.log.heads(id, EVERYTHING))[0].counts == counts

    def test_large_and_sealed_bytes_come_back_as_they_went_in(self, store: Store) -> None:
        id = start(store)
        raw = bytes(range(256)) * 4096
        made = append(store, id, assistant(opaque("anthropic", "thinking", raw)), "after")
        assert drive(store.blobs.sweep()) == 0
        found = read_all(store, id)
        assert found == made
        part = made[0].body.parts[0]  # type: ignore[union-attr]
        assert part.intact  # type: ignore[union-attr]

    def test_records_are_left_out_of_a_bare_reading(self, store: Store) -> None:
        id = start(store)
        record = Record("agent", "kind", b"{}" * 40_000, 3, whole=True)
        said = Message("user", (Text("b"), Text("c"), record, record))
        drafts = [
            draft("a", counts=(1,), native="one"),
            draft(said, counts=(2, 3, 0, 0)),
            draft(Records(records=(record,))),
        ]
        drive(store.log.append(id, drafts))
        whole = drive(store.log.read(id, EVERYTHING))
        bare = drive(store.log.read(id, EVERYTHING, bare=True))
        assert (bare[0], bare[2]) == (whole[0], whole[2])
        assert (whole[1].body, whole[1].counts) == (said, (2, 3, 0, 0))
        assert (bare[1].body, bare[1].counts) == (Message("user", said.parts[:2]), (2, 3))
        assert whole[0].native == "one"

    def test_large_entries_are_all_read_page_by_page(self, store: Store) -> None:
        id = start(store)
        made = append(store, id, *(f"{n}" * 3_000_000 for n in range(5)), Pin(fact="x"), "end")
        assert read_all(store, id) == made
