"""What erasing promises: the session is gone, and nobody else misses anything."""

from __future__ import annotations

import pytest

from holdfast.engine.client import drive
from holdfast.errors import InvalidRequest, NotFound
from holdfast.model.log import PartRef, Pin
from holdfast.model.search import Query
from holdfast.model.span import EVERYTHING
from holdfast.model.store import Page
from holdfast.ports import Store
from holdfast.testing.factories import append, call, job, read_all, start

from .base import Contract
from .forks import family


class ErasingContract(Contract):
    """Erasing a session, its forks, and what hangs on it."""

    def test_an_erased_session_is_unknown(self, store: Store) -> None:
        id, other = start(store), start(store)
        append(store, id, "a", Pin(fact="x"))
        erased = drive(store.sessions.erase(id))
        assert (erased.session, erased.entries, erased.parts, erased.copied) == (id, 2, 1, ())
        for attempt in (
            store.sessions.session(id),
            store.log.read(id, EVERYTHING),
            store.sessions.erase(id),
            store.calls.calls(id),
            store.jobs.jobs(id),
        ):
            with pytest.raises(NotFound):
                drive(attempt)  # type: ignore[arg-type]
        assert [s.id for s in drive(store.sessions.list(Page()))] == [other]

    def test_an_erased_id_may_be_used_again_and_holds_nothing(self, store: Store) -> None:
        id = start(store, title="old")
        append(store, id, "a", key="k")
        drive(store.calls.record(call(id)))
        drive(store.jobs.offer(job(id)))
        given = drive(store.calls.keep(id, b"system prompt"))
        drive(store.counts.tally(id, "o200k", {PartRef(1, 0): 5}))
        drive(store.sessions.erase(id))
        start(store, id)
        with pytest.raises(NotFound):
            drive(store.calls.kept(id, given))
        assert drive(store.counts.known(id, EVERYTHING, "o200k")) == {}
        assert drive(store.sessions.session(id)).title == ""
        assert read_all(store, id) == ()
        assert drive(store.calls.calls(id)) == ()
        assert drive(store.jobs.jobs(id)) == ()
        assert drive(store.jobs.lease("summary", owner="me", now=1, until=2)) is None
        assert append(store, id, "b", key="k")[0].seq == 1

    @pytest.mark.parametrize("order", ["rcg", "rgc", "crg", "cgr", "grc", "gcr"])
    def test_forks_keep_every_word_whatever_is_erased_before(
        self, store: Store, order: str
    ) -> None:
        names = dict(zip("rcg", family(store), strict=True))
        whole = {id: read_all(store, id) for id in names.values()}
        for letter in order:
            drive(store.sessions.erase(names[letter]))
            del whole[names[letter]]
            again = self.reopen(store)
            for id, entries in whole.items():
                assert read_all(again, id) == entries
                assert [drive(again.log.locate(id, e.id)) for e in entries] == [1, 2, 3, 4, 5]
            store = again
        assert drive(store.sessions.list(Page())) == ()

    def test_a_fork_of_what_was_erased_stands_by_itself_and_goes_on(self, store: Store) -> None:
        root, child, _ = family(store)
        before = drive(store.sessions.session(child))
        erased = drive(store.sessions.erase(root))
        assert erased.copied == (child,)
        after = drive(store.sessions.session(child))
        assert (after.parent, after.fork) == ("", 0)
        assert (after.head, after.last_message, after.last_marker) == (
            before.head,
            before.last_message,
            before.last_marker,
        )
        assert append(store, child, "b6")[0].seq == 6
        assert [s.seq for s in read_all(store, child)] == [1, 2, 3, 4, 5, 6]

    @pytest.mark.parametrize("fork", [1, 2, 3, 4, 5])
    def test_a_fork_of_a_fork_shares_no_more_with_its_new_parent_than_before(
        self, store: Store, fork: int
    ) -> None:
        root = start(store)
        append(store, root, "a1", "a2", "a3", "a4", "a5", "a6")
        child = start(store, parent=root, fork=3)
        append(store, child, "b4", "b5", "b6")
        grandchild = start(store, parent=child, fork=fork)
        append(store, grandchild, "c")
        before = read_all(store, grandchild)
        drive(store.sessions.erase(child))
        after = drive(store.sessions.session(grandchild))
        assert (after.parent, after.fork) == (root, min(fork, 3))
        assert read_all(self.reopen(store), grandchild) == before
        words = [f"a{n}" for n in range(1, min(fork, 3) + 1)] + [
            f"b{n}" for n in range(4, fork + 1)
        ]
        assert [e.body.text for e in before] == [*words, "c"]  # type: ignore[union-attr]

    def test_forks_keep_exact_counts_when_what_they_share_is_erased(self, store: Store) -> None:
        root, child, grandchild = family(store)
        exact = {PartRef(1, 0): 11, PartRef(2, 0): 22}
        drive(store.counts.tally(root, "o200k", exact))
        shared = {
            id: drive(store.counts.known(id, EVERYTHING, "o200k")) for id in (child, grandchild)
        }
        assert PartRef(1, 0) in shared[child]
        drive(store.sessions.erase(root))
        again = self.reopen(store)
        for id, counts in shared.items():
            assert drive(again.counts.known(id, EVERYTHING, "o200k")) == counts

    def test_a_session_with_forks_can_be_forked_again_after_erasing(self, store: Store) -> None:
        _, child, grandchild = family(store)
        drive(store.sessions.erase(child))
        fork = start(store, parent=grandchild, fork=4)
        assert read_all(store, fork)[3].id == read_all(store, grandchild)[3].id

    def test_what_was_erased_is_not_found(self, store: Store) -> None:
        id, other = start(store), start(store)
        append(store, id, "the walrus was here", Pin(fact="walrus"))
        append(store, other, "a walrus elsewhere")
        assert len(drive(store.search.find(Query(words="walrus")))) == 3
        append(store, id, "walrus again")
        drive(store.sessions.erase(id))
        assert [h.session for h in drive(store.search.find(Query(words="walrus")))] == [other]

    def test_a_fork_still_finds_what_it_shared(self, store: Store) -> None:
        root = start(store)
        append(store, root, "the walrus", "an octopus")
        child = start(store, parent=root, fork=1)
        append(store, child, "the carpenter")
        drive(store.search.find(Query(words="walrus")))
        drive(store.sessions.erase(root))
        (hit,) = drive(store.search.find(Query(words="walrus")))
        assert (hit.session, hit.seq) == (child, 1)
        assert drive(store.search.find(Query(words="octopus"))) == ()

    def test_content_nobody_else_uses_goes_and_what_others_use_stays(self, store: Store) -> None:
        one, other = start(store), start(store)
        shared, alone = "shared" * 20_000, "alone" * 20_000
        append(store, one, shared, alone)
        append(store, other, shared)
        drive(store.sessions.erase(one))
        assert read_all(store, other)[0].body.text == shared  # type: ignore[union-attr]
        assert drive(store.blobs.sweep()) == 0

    def test_a_session_that_was_never_there_cannot_be_erased(self, store: Store) -> None:
        with pytest.raises(InvalidRequest):
            drive(store.sessions.erase("nobody"))
