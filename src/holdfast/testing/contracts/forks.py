"""What forks promise: a shared beginning, and then a line of their own."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from holdfast.engine.client import drive
from holdfast.errors import Conflict, InvalidRequest, NotFound
from holdfast.model.log import Entry, Pin, Summary
from holdfast.model.span import EVERYTHING, OPEN, Span
from holdfast.model.store import Expect, Page
from holdfast.ports import Store
from holdfast.testing.factories import NOON, append, call, draft, read_all, session, start

from .base import Contract


def texts(entries: tuple[Entry, ...]) -> list[str]:
    return [e.body.text if e.is_message else "*" for e in entries]  # type: ignore[union-attr]


def family(store: Store) -> tuple[str, str, str]:
    """A session a1 * a3 a4, its fork at 3 that goes on * b5, and that one's fork at 4 with c5."""
    root = start(store)
    append(store, root, "a1", Pin(fact="x"), "a3", "a4")
    child = start(store, parent=root, fork=3)
    append(store, child, Pin(fact="y"), "b5")
    grandchild = start(store, parent=child, fork=4)
    append(store, grandchild, "c5")
    append(store, root, "a5")
    return root, child, grandchild


def write(store: Store, id: str, entries: tuple[Entry, ...]) -> None:
    """The same entries once more, in another session."""
    told = [draft(entry.body, id=entry.id, created=entry.created) for entry in entries]
    drive(store.log.append(id, told))


class ForkContract(Contract):
    """A fork reads through its parents, whatever happens to them later."""

    def test_a_fork_shares_the_beginning_and_goes_on_by_itself(self, store: Store) -> None:
        root, child, grandchild = family(store)
        assert texts(read_all(store, root)) == ["a1", "*", "a3", "a4", "a5"]
        assert texts(read_all(store, child)) == ["a1", "*", "a3", "*", "b5"]
        assert texts(read_all(store, grandchild)) == ["a1", "*", "a3", "*", "c5"]

    def test_what_is_read_names_the_session_that_was_asked(self, store: Store) -> None:
        for id in family(store):
            found = read_all(store, id)
            assert {e.session for e in found} == {id}
            assert [e.seq for e in found] == [1, 2, 3, 4, 5]
            assert {e.session for e in drive(store.log.markers(id, before=OPEN))} == {id}

    def test_shared_entries_keep_their_ids(self, store: Store) -> None:
        root, child, grandchild = (read_all(store, id) for id in family(store))
        assert [e.id for e in root[:3]] == [e.id for e in child[:3]]
        assert [e.id for e in child[:4]] == [e.id for e in grandchild[:4]]

    @pytest.mark.parametrize("limit", [1, 2, 3, 4])
    def test_pages_cross_from_parent_to_fork(self, store: Store, limit: int) -> None:
        _, _, id = family(store)
        spans = (Span(1, 1), Span(3))
        assert [e.seq for e in read_all(store, id, spans, limit)] == [1, 3, 4, 5]
        heads = drive(store.log.heads(id, spans))
        assert drive(store.log.heads(id, spans, limit=limit)) == heads[-limit:]
        markers = drive(store.log.markers(id, before=OPEN))
        assert [e.seq for e in markers] == [2, 4]
        assert drive(store.log.markers(id, before=OPEN, limit=limit)) == markers[-limit:]

    def test_a_fork_holds_the_entries_of_its_line_and_no_others(self, store: Store) -> None:
        root, child, grandchild = family(store)
        a4 = read_all(store, root)[3]
        b5 = read_all(store, child)[4]
        a3 = read_all(store, root)[2]
        assert drive(store.log.locate(root, a4.id)) == 4
        assert drive(store.log.locate(child, a4.id)) is None
        assert drive(store.log.locate(child, b5.id)) == 5
        assert drive(store.log.locate(grandchild, b5.id)) is None
        assert drive(store.log.locate(grandchild, a3.id)) == 3

    def test_a_fork_knows_the_last_entries_it_shares(self, store: Store) -> None:
        root, child, _ = family(store)
        made = drive(store.sessions.create(session(parent=root, fork=3)))
        assert (made.head, made.last_message, made.last_marker) == (3, 3, 2)
        made = drive(store.sessions.create(session(parent=child, fork=4)))
        assert (made.head, made.last_message, made.last_marker) == (4, 3, 4)
        assert drive(store.sessions.session(made.id)) == made

    def test_a_fork_of_what_was_compacted_is_compacted(self, store: Store) -> None:
        root = start(store)
        append(store, root, "a", Summary(covers=(Span(1, 1),), text="t"), "b")
        assert drive(store.sessions.create(session(parent=root, fork=3))).compacted == NOON
        assert drive(store.sessions.create(session(parent=root, fork=1))).compacted == 0

    def test_a_fork_expects_by_its_own_line(self, store: Store) -> None:
        root = start(store)
        append(store, root, "a", Pin(fact="x"), "b")
        child = start(store, parent=root, fork=2)
        with pytest.raises(Conflict):
            append(store, child, "c", expect=Expect(message=3))
        made = append(store, child, "c", expect=Expect(message=1, marker=2))
        assert made[0].seq == 3

    @pytest.mark.parametrize("fork", [0, 1])
    def test_a_fork_at_the_beginning_or_after_one(self, store: Store, fork: int) -> None:
        root = start(store)
        append(store, root, "a", "b")
        child = start(store, parent=root, fork=fork)
        assert texts(read_all(store, child)) == ["a", "b"][:fork]
        append(store, child, "c")
        assert texts(read_all(store, child)) == [*["a", "b"][:fork], "c"]

    def test_a_fork_may_share_less_than_its_parent_shares(self, store: Store) -> None:
        _, _, id = family(store)
        short = start(store, parent=id, fork=2)
        append(store, short, "d3")
        assert texts(read_all(store, short)) == ["a1", "*", "d3"]
        assert texts(drive(store.log.read(short, EVERYTHING, limit=2))) == ["a1", "*"]

    def test_a_key_is_known_along_the_whole_line(self, store: Store) -> None:
        root = start(store)
        append(store, root, "a", key="k")
        append(store, root, "b", "c", key="cut")
        append(store, root, "d", key="later")
        child = start(store, parent=root, fork=2)
        assert append(store, child, "a", key="k")[0].seq == 1
        assert append(store, child, "d", key="later")[0].seq == 3
        assert append(store, child, "b", "c", key="cut")[0].seq == 4  # it shares only half of it
        drive(store.sessions.erase(root))
        assert append(store, child, "a", key="k")[0].seq == 1
        assert drive(store.sessions.session(child)).head == 5

    @pytest.mark.parametrize(
        "bad",
        [
            lambda root: session(parent=root, fork=3),
            lambda root: session(parent=root, fork=-1),
            lambda root: session(fork=1),
        ],
    )
    def test_a_fork_begins_where_its_parent_has_an_entry(
        self, store: Store, bad: Callable[[str], object]
    ) -> None:
        root = start(store)
        append(store, root, "a", "b")
        with pytest.raises(InvalidRequest):
            drive(store.sessions.create(bad(root)))  # type: ignore[arg-type]

    def test_a_parent_that_is_not_there_is_unknown(self, store: Store) -> None:
        with pytest.raises(NotFound):
            start(store, parent="nobody", fork=1)
        assert drive(store.sessions.list(Page())) == ()

    def test_what_shares_nothing_may_be_there_before_its_parent(self, store: Store) -> None:
        child = start(store, parent="later")
        append(store, child, "a")
        drive(store.calls.record(call(child, cost=5)))
        assert drive(store.sessions.session(child)).parent == "later"
        with pytest.raises(NotFound):
            drive(store.calls.spent("later"))
        start(store, "another")
        assert drive(store.calls.spent("another"))[0].cost == 0
        start(store, "later")
        again = self.reopen(store)
        assert drive(again.calls.spent("later"))[0].cost == 5
        found = drive(again.sessions.session(child))
        assert (found.parent, found.fork, found.head) == ("later", 0, 1)
        assert texts(read_all(again, child)) == ["a"]

    def test_whoever_waited_for_a_parent_and_was_erased_is_forgotten(self, store: Store) -> None:
        child = start(store, parent="later")
        drive(store.sessions.erase(child))
        start(store, "later")
        start(store, child)
        assert drive(store.sessions.session(child)).parent == ""

    def test_a_fork_that_was_there_before_its_parent_shares_with_it(self, store: Store) -> None:
        root, child, _ = family(store)
        before = {id: read_all(store, id) for id in (root, child)}
        again = start(store, "again")
        write(store, again, before[child])
        drive(store.calls.record(call(again, cost=5)))
        drive(store.sessions.await_parent(again, "later", 3))
        assert drive(store.sessions.adopt_children("later")) == ()
        start(store, "later")
        assert drive(store.sessions.adopt_children("later")) == ()
        write(store, "later", before[root])
        assert drive(store.sessions.adopt_children("later")) == (again,)
        assert drive(store.sessions.adopt_children("later")) == ()
        store = self.reopen(store)
        found = drive(store.sessions.session(again))
        assert (found.parent, found.fork, found.head) == ("later", 3, 5)
        assert [e.id for e in read_all(store, again)] == [e.id for e in before[child]]
        assert drive(store.calls.spent("later"))[0].cost == 0
        drive(store.sessions.erase("later"))
        assert [e.id for e in read_all(store, again)] == [e.id for e in before[child]]

    def test_one_that_is_not_the_same_shares_nothing(self, store: Store) -> None:
        child = start(store)
        append(store, child, "a", "b")
        drive(store.sessions.await_parent(child, "later", 1))
        start(store, "later")
        append(store, "later", "a")
        assert drive(store.sessions.adopt_children("later")) == ()
        assert texts(read_all(store, child)) == ["a", "b"]

    def test_two_that_belong_to_one_another_can_be_read(self, store: Store) -> None:
        one = start(store, "one", parent="other")
        other = start(store, "other", parent="one")
        for id in (one, other):
            append(store, id, id)
            assert texts(read_all(store, id)) == [id]

    @pytest.mark.parametrize("parent", ["itself", "\u00e9", "a\nb"])
    def test_not_everything_can_be_a_parent(self, store: Store, parent: str) -> None:
        with pytest.raises(InvalidRequest):
            start(store, "itself", parent=parent)
        assert drive(store.sessions.list(Page())) == ()

    def test_a_long_chain_of_forks_reads_as_one_line(self, store: Store) -> None:
        id = start(store)
        append(store, id, "0")
        for depth in range(1, 40):
            id = start(store, parent=id, fork=depth)
            append(store, id, str(depth))
        assert texts(read_all(store, id, limit=7)) == [str(n) for n in range(40)]
