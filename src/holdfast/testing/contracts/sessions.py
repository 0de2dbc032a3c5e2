"""What creating, changing and listing sessions promise."""

from __future__ import annotations

import pytest

from holdfast.engine.client import drive
from holdfast.errors import InvalidRequest, NotFound
from holdfast.model.log import SessionInfo
from holdfast.model.search import Query
from holdfast.model.span import EVERYTHING
from holdfast.model.store import Changes, Page
from holdfast.ports import Store
from holdfast.testing.factories import NOON, append, draft, session, start

from .base import Contract


class SessionContract(Contract):
    """One session: as it was made, and as it was changed."""

    def test_a_session_is_found_as_it_was_made(self, store: Store) -> None:
        made = drive(
            store.sessions.create(
                session(title="t", project="p", directory="/d", policy="x", model="m", agent="a")
            )
        )
        assert made.updated == NOON
        assert (made.head, made.last_message, made.last_marker, made.compacted) == (0, 0, 0, 0)
        assert drive(self.reopen(store).sessions.session(made.id)) == made

    def test_what_a_store_counts_is_not_taken_from_outside(self, store: Store) -> None:
        told = session(head=7, last_message=7, last_marker=7, compacted=7)
        made = drive(store.sessions.create(told))
        assert (made.head, made.last_message, made.last_marker, made.compacted) == (0, 0, 0, 0)
        assert append(store, made.id, "a")[0].seq == 1

    def test_only_a_session_that_holds_nothing_is_discarded(self, store: Store) -> None:
        empty, said, forked = start(store), start(store), start(store)
        append(store, said, "a")
        fork = drive(store.sessions.create(session(parent=forked, fork=0)))
        assert not drive(store.sessions.discard(said))
        assert not drive(store.sessions.discard(forked))
        assert not drive(store.sessions.discard("no such session"))
        assert drive(store.sessions.discard(empty))
        assert not drive(store.sessions.discard(empty))
        with pytest.raises(NotFound):
            drive(store.sessions.session(empty))
        left = {one.id for one in drive(store.sessions.list(Page()))}
        assert left == {said, forked, fork.id}
        again = start(store)
        assert append(store, again, "b")[0].seq == 1
        assert drive(store.care.examine()) == ()

    def test_an_id_cannot_be_used_twice(self, store: Store) -> None:
        id = start(store, title="first")
        append(store, id, "a")
        with pytest.raises(InvalidRequest):
            start(store, id, title="second")
        assert drive(store.sessions.session(id)).title == "first"

    @pytest.mark.parametrize("asked", ["session-aplha", "session-a", "SESSION-ALPHA"])
    def test_an_unknown_session_is_told_and_no_other_named(self, store: Store, asked: str) -> None:
        start(store, "session-alpha")
        start(store, "nothing-like-it")
        for attempt in (
            store.sessions.session(asked),
            store.sessions.set(asked, Changes(title="x")),
            store.sessions.erase(asked),
        ):
            with pytest.raises(NotFound) as told:
                drive(attempt)  # type: ignore[arg-type]
            assert told.value.nearest == ()
            assert "session-alpha" not in str(told.value)

    def test_ids_are_found_by_how_they_begin(self, store: Store) -> None:
        for id in ("01ABCD", "01ABCE", "01abcf", "01B", "user~1", "user~2"):
            start(store, id)
        for prefix, ids in {
            "01ABC": ("01ABCD", "01ABCE"),
            "01abc": ("01ABCD", "01ABCE", "01abcf"),
            "01ABCD": ("01ABCD",),
            "user~": ("user~1", "user~2"),
            "é": (),
            "x": (),
        }.items():
            assert drive(store.sessions.beginning(prefix)) == ids

    def test_a_session_is_looked_for_without_looking_around(self, store: Store) -> None:
        id = start(store, "session-alpha")
        assert drive(store.sessions.find(id)) == drive(store.sessions.session(id))
        assert drive(store.sessions.find("session-aplha")) is None

    def test_none_leaves_a_field_as_it_is(self, store: Store) -> None:
        id = start(store, title="t", project="p", directory="/d", policy="x", model="m")
        before = drive(store.sessions.session(id))
        assert drive(store.sessions.set(id, Changes())) == before
        after = drive(store.sessions.set(id, Changes(model="other", title="")))
        assert (after.title, after.model) == ("", "other")
        assert (after.project, after.directory, after.policy) == ("p", "/d", "x")
        assert drive(self.reopen(store).sessions.session(id)) == after

    def test_a_change_leaves_the_log_alone(self, store: Store) -> None:
        id = start(store)
        append(store, id, "a", "b")
        after = drive(store.sessions.set(id, Changes(title="t")))
        assert (after.head, after.last_message, after.updated) == (2, 2, NOON)
        assert append(store, id, "c")[0].seq == 3
        assert drive(store.sessions.session(id)).title == "t"

    def test_an_archived_session_comes_back(self, store: Store) -> None:
        id = start(store)
        drive(store.sessions.set(id, Changes(archived=NOON)))
        assert drive(store.sessions.list(Page())) == ()
        assert [s.id for s in drive(store.sessions.list(Page(archived=True)))] == [id]
        drive(store.sessions.set(id, Changes(archived=0)))
        assert [s.id for s in drive(store.sessions.list(Page()))] == [id]
        assert drive(store.sessions.list(Page(archived=True))) == ()

    def test_a_closed_store_refuses_and_closing_it_twice_is_quiet(self, store: Store) -> None:
        id = start(store)
        append(store, id, "a")
        store.close()
        store.close()
        for attempt in (
            store.sessions.session(id),
            store.sessions.create(session()),
            store.log.append(id, [draft("b")]),
            store.log.read(id, EVERYTHING),
            store.search.find(Query(words="a")),
            store.blobs.put(b"x"),
            store.jobs.jobs(id),
            store.calls.calls(id),
        ):
            with pytest.raises(InvalidRequest, match="closed"):
                drive(attempt)  # type: ignore[arg-type]


class ListContract(Contract):
    """Sessions by last change, newest first, page by page."""

    def listed(self, store: Store, **page: object) -> list[str]:
        return [s.id for s in drive(store.sessions.list(Page(**page)))]  # type: ignore[arg-type]

    def test_the_last_changed_comes_first(self, store: Store) -> None:
        for id, created in (("a", 3), ("b", 9), ("c", 5)):
            drive(store.sessions.create(SessionInfo(id=id, created=created)))
        assert self.listed(store) == ["b", "c", "a"]
        drive(store.log.append("a", [draft(created=20), draft(created=1)]))
        assert self.listed(store) == ["a", "b", "c"]

    def test_a_clock_that_goes_backwards_changes_no_order(self, store: Store) -> None:
        for id, created in (("a", 3), ("b", 9)):
            drive(store.sessions.create(SessionInfo(id=id, created=created)))
        drive(store.log.append("b", [draft(created=1)]))
        assert self.listed(store) == ["b", "a"]
        assert drive(store.sessions.session("b")).updated == 9

    def test_pages_of_sessions_of_one_moment_miss_and_repeat_nothing(self, store: Store) -> None:
        ids = [start(store, f"session-{n:02d}") for n in range(23)]
        found, after = list[str](), None
        while page := drive(store.sessions.list(Page(limit=5, after=after))):
            assert len(page) <= 5
            found += [s.id for s in page]
            after = min((s.updated, s.id) for s in page)
        assert found == ids[::-1]

    def test_only_one_project_is_listed_when_asked(self, store: Store) -> None:
        one = start(store, project="one")
        start(store, project="two")
        none = start(store)
        assert self.listed(store, project="one") == [one]
        assert self.listed(store, project="") == [none]
        assert self.listed(store, project="three") == []
        assert len(self.listed(store)) == 3
