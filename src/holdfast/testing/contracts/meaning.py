"""What the search port promises of meaning."""

from __future__ import annotations

from holdfast.engine.client import drive
from holdfast.model.message import ToolResult as Answer
from holdfast.model.message import assistant, tool
from holdfast.model.search import Hit, Query
from holdfast.ports import Store
from holdfast.testing.embedder import Synonyms
from holdfast.testing.factories import append, start

from .base import Contract


def find(store: Store, words: str, **query: object) -> tuple[Hit, ...]:
    return drive(store.search.find(Query(words=words, **query), Synonyms()))  # type: ignore[arg-type]


class MeaningContract(Contract):
    """With an embedder, what says the same in other words is found as well."""

    def test_what_means_the_same_is_found_and_nothing_else(self, store: Store) -> None:
        id = start(store)
        append(store, id, "the walrus", "the joiner", "nobody at all")
        assert [h.seq for h in find(store, "animal")] == [1]
        assert [h.seq for h in find(store, "craftsman")] == [2]
        assert drive(store.search.find(Query(words="animal"))) == ()

    def test_words_and_meaning_count_together(self, store: Store) -> None:
        id = start(store)
        append(store, id, "a walrus", "a seal", "one animal")
        assert [h.seq for h in find(store, "seal")] == [2, 3, 1]

    def test_what_has_words_but_no_meaning_is_found_too(self, store: Store) -> None:
        id = start(store)
        append(store, id, tool(Answer("c", "walrus = 1")), assistant("a seal"))
        assert {h.seq for h in find(store, "walrus")} == {1, 2}

    def test_filters_hold_for_meaning(self, store: Store) -> None:
        one, other = start(store, project="/reef"), start(store)
        append(store, one, "a walrus", assistant("a walrus"))
        append(store, other, "a walrus")
        assert {(h.session, h.seq) for h in find(store, "animal", project="reef")} == {
            (one, 1),
            (one, 2),
        }
        assert [h.seq for h in find(store, "animal", session=one, role="assistant")] == [2]
        assert len(find(store, "animal", since=1)) == 3
        assert find(store, "animal", until=1) == ()

    def test_what_was_indexed_before_is_learned_when_it_is_asked_for(self, store: Store) -> None:
        id = start(store)
        append(store, id, *["a walrus"] * 150)
        while drive(store.search.catch_up()):
            pass
        assert len(find(store, "animal", limit=500)) == 150
        append(store, id, "a seal")
        assert find(self.reopen(store), "seal")[0].seq == 151

    def test_erased_sessions_are_gone_for_meaning_too(self, store: Store) -> None:
        root = start(store)
        append(store, root, "a walrus", "a seal")
        child = start(store, parent=root, fork=1)
        append(store, child, "an oyster")
        assert len(find(store, "animal")) == 2
        drive(store.sessions.erase(root))
        assert [(h.session, h.seq) for h in find(store, "animal")] == [(child, 1)]
        assert [(h.session, h.seq) for h in find(store, "pearl")] == [(child, 2)]

    def test_some_of_the_words_will_do_where_that_is_asked_for(self, store: Store) -> None:
        id = start(store)
        append(store, id, "the walrus", "the carpenter", "nobody")
        query = Query(words="walrus carpenter oyster", any=True)
        assert {h.seq for h in drive(store.search.find(query))} == {1, 2}
        assert drive(store.search.find(Query(words="walrus oyster"))) == ()
