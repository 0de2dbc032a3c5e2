"""What the imports port promises."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from holdfast.engine.client import drive
from holdfast.errors import Conflict, InvalidRequest, NotFound
from holdfast.model.import_batch import ImportBatch, Source
from holdfast.model.import_report import ImportState
from holdfast.model.store import Changes, Expect
from holdfast.ports import Store
from holdfast.testing.factories import HOSTILE, append, call, draft, read_all, session, start

from .base import Contract


def origin(session: str, native: str = "n", **fields: object) -> ImportState:
    told = {"agent": "some-agent", "native": native, "session": session, **fields}
    return ImportState(**told)  # type: ignore[arg-type]


class ImportsContract(Contract):
    """What is remembered of an import, and how it is forgotten."""

    def test_an_origin_is_kept_and_replaced(self, store: Store) -> None:
        id = start(store)
        first = origin(id, prints=b"12345678" * 3, places=(1, 2, 5), head=5, kept=b"\0" * 8)
        drive(store.imports.keep(first))
        store = self.reopen(store)
        assert drive(store.imports.origin("some-agent", "n")) == first
        later = replace(first, head=9, straight=False)
        drive(store.imports.keep(later))
        assert drive(store.imports.origin("some-agent", "n")) == later

    def test_an_origin_is_of_one_agent_and_one_native_id(self, store: Store) -> None:
        drive(store.imports.keep(origin(start(store))))
        assert drive(store.imports.origin("another", "n")) is None
        assert drive(store.imports.origin("some-agent", "m")) is None

    @pytest.mark.parametrize("name", HOSTILE)
    def test_names_are_text_of_any_kind(self, store: Store, name: str) -> None:
        id = start(store)
        drive(store.imports.keep(origin(id, name, agent=name)))
        drive(store.imports.mark_done(name, "look", [id]))
        assert drive(store.imports.last_fingerprint(name)) == "look"
        found = drive(store.imports.origin(name, name))
        assert found
        assert (found.agent, found.native) == (name, name)

    def test_sessions_that_begin_alike_are_found_oldest_first(self, store: Store) -> None:
        one, two, three = start(store), start(store), start(store)
        for id, native, opening in ((two, "b", "A"), (one, "a", "A"), (three, "c", "B")):
            drive(store.imports.keep(origin(id, native, prints=opening.encode() * 16)))
        found = drive(store.imports.by_opening(b"A" * 8))
        assert [alike.session for alike in found] == [one, two]

    def test_a_source_is_marked_as_it_looked(self, store: Store) -> None:
        one, two = start(store), start(store)
        assert drive(store.imports.last_fingerprint("a.jsonl")) == ""
        drive(store.imports.mark_done("a.jsonl", "before", [one, one]))
        drive(store.imports.mark_done("b.jsonl", "other", [one]))
        drive(store.imports.mark_done("a.jsonl", "after", [one, two]))
        store = self.reopen(store)
        assert drive(store.imports.last_fingerprint("a.jsonl")) == "after"
        assert drive(store.imports.last_fingerprint("b.jsonl")) == "other"
        assert drive(store.imports.sources(one)) == ("a.jsonl", "b.jsonl")
        assert drive(store.imports.sources(two)) == ("a.jsonl",)
        with pytest.raises(NotFound):
            drive(store.imports.sources("nobody"))

    def test_a_source_is_known_by_the_sessions_it_went_into(self, store: Store) -> None:
        ours, theirs = start(store), start(store)
        drive(store.imports.keep(origin(ours, "a")))
        drive(store.imports.keep(origin(theirs, "b")))
        drive(store.imports.mark_done("a.jsonl", "look", [ours]))
        assert [one.native for one in drive(store.imports.by_source("a.jsonl"))] == ["a"]
        assert drive(store.imports.by_source("b.jsonl")) == ()

    def test_nothing_is_kept_of_a_session_that_is_not_there(self, store: Store) -> None:
        with pytest.raises(NotFound):
            drive(store.imports.keep(origin("nobody")))
        with pytest.raises(NotFound):
            drive(store.imports.mark_done("a", "look", ["nobody"]))
        assert drive(store.imports.last_fingerprint("a")) == ""

    def test_an_erased_session_is_forgotten_here_too(self, store: Store) -> None:
        id, other = start(store), start(store)
        drive(store.imports.keep(origin(id, "n", prints=b"A" * 8)))
        drive(store.imports.keep(origin(other, "m", prints=b"A" * 8)))
        drive(store.imports.mark_done("a.jsonl", "look", [id]))
        drive(store.imports.mark_done("b.jsonl", "look", [other]))
        drive(store.sessions.erase(id))
        assert drive(store.imports.origin("some-agent", "n")) is None
        assert [one.session for one in drive(store.imports.by_opening(b"A" * 8))] == [other]
        assert drive(store.imports.last_fingerprint("a.jsonl")) == ""
        assert drive(store.imports.last_fingerprint("b.jsonl")) == "look"

    def test_what_was_brought_is_all_there(self, store: Store) -> None:
        old, new = start(store), session()
        drive(
            store.imports.commit(
                ImportBatch(
                    session=new.id, new=new, drafts=(draft("one"), draft("two")), key="k",
                    expect=Expect(message=0), calls=(call(new.id), call(new.id)),
                    origin=origin(new.id, head=2),
                ),
                ImportBatch(session=old, changes=Changes(title="renamed")),
                sources=[
                    Source(name="a.jsonl", look="as it was", sessions=(new.id, old)),
                    Source(name="b.jsonl", look="as it was too", sessions=(old,)),
                ],
            )
        )  # fmt: skip
        store = self.reopen(store)
        assert [entry.key for entry in read_all(store, new.id)] == ["k", "k"]
        assert len(drive(store.calls.calls(new.id))) == 2
        assert drive(store.imports.origin("some-agent", "n")) == origin(new.id, head=2)
        assert drive(store.sessions.session(old)).title == "renamed"
        assert drive(store.imports.last_fingerprint("a.jsonl")) == "as it was"
        assert drive(store.imports.last_fingerprint("b.jsonl")) == "as it was too"

    def test_what_is_brought_meets_the_same_refusals(self, store: Store) -> None:
        id = start(store)
        append(store, id, "somebody was faster")
        late = ImportBatch(session=id, drafts=(draft("late"),), expect=Expect(message=0))
        with pytest.raises(Conflict):
            drive(store.imports.commit(late))
        with pytest.raises(InvalidRequest):
            drive(store.imports.commit(ImportBatch(session=id, new=session(id))))
        assert len(read_all(store, id)) == 1
