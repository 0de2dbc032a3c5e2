"""What the notes port promises: records by content, kept with a session's cursor or not at all."""

from __future__ import annotations

from typing import Any

import pytest

from holdfast.engine.client import drive
from holdfast.errors import Changed, NotFound
from holdfast.model.note import Cursor, Evidence, NoteRecord, hash_of
from holdfast.ports import Store
from holdfast.testing.factories import HOSTILE, NOON, append, start

from .base import Contract


def record(id: str, **given: Any) -> NoteRecord:
    """A record with the least that it needs."""
    told: dict[str, Any] = {"scope": "/p", "kind": "note", "created": NOON, **given}
    return NoteRecord(id=id, **told)


class NotesContract(Contract):
    """Records of notes: evidence, trust, use, versions, and texts without files."""

    def test_a_record_comes_back_as_it_went_in(self, store: Store) -> None:
        made = record(
            "a", file="user_role.md", text="t", trust="tool", cause="learn", reason="why",
            data={"slug": "x"}, evidence=(Evidence("s", "e", 3),), uses=2, used=NOON, ended=NOON,
        )  # fmt: skip
        drive(store.notes.commit([made]))
        assert drive(self.reopen(store).notes.records("/p", "note")) == (made,)

    @pytest.mark.parametrize("text", HOSTILE)
    def test_hostile_text_is_text(self, store: Store, text: str) -> None:
        made = record(text, scope=f"s{text}", kind="text", file=text, text=text)
        drive(store.notes.commit([made]))
        assert drive(store.notes.records(f"s{text}", "text")) == (made,)
        assert drive(store.notes.scopes()) == (f"s{text}",)

    def test_records_are_of_a_scope_and_a_kind_the_oldest_first(self, store: Store) -> None:
        made = [record("b"), record("a"), record("0", created=NOON + 1)]
        others = [record("a", scope="/q"), record("a", kind="proposal")]
        drive(store.notes.commit([*made, *others]))
        assert [one.id for one in drive(store.notes.records("/p", "note"))] == ["a", "b", "0"]
        assert drive(store.notes.records("/q", "note")) == (others[0],)
        assert drive(store.notes.scopes()) == ("/p", "/q")

    def test_a_record_takes_the_place_of_the_one_before_and_its_uses_stay(
        self, store: Store
    ) -> None:
        drive(store.notes.commit([record("a", cause="hand")]))
        drive(store.notes.used("/p", ["a", "unknown"], NOON + 5))
        drive(store.notes.used("/p", ["a"], NOON + 3))
        drive(store.notes.commit([record("a", cause="review")]))
        (now,) = drive(store.notes.records("/p", "note"))
        assert (now.cause, now.uses, now.used) == ("review", 2, NOON + 5)

    def test_what_is_removed_is_gone_with_its_evidence(self, store: Store) -> None:
        made = record("a", evidence=(Evidence("s", "e"),))
        drive(store.notes.commit([made]))
        drive(store.notes.commit([record("b")], remove=[made]))
        assert [one.id for one in drive(store.notes.records("/p", "note"))] == ["b"]
        assert drive(store.notes.about("s")) == ()

    def test_records_are_found_by_the_session_they_come_from(self, store: Store) -> None:
        one = record("a", evidence=(Evidence("s", "e"), Evidence("s", "f"), Evidence("t", "g")))
        other = record("b", kind="proposal", evidence=(Evidence("t", "g"),))
        drive(store.notes.commit([one, other]))
        assert drive(store.notes.about("s")) == (one,)
        assert drive(store.notes.about("t")) == (one, other)

    def test_a_cursor_moves_on_with_what_was_kept_and_never_back(self, store: Store) -> None:
        id = start(store)
        assert drive(store.notes.cursor(id)) == 0
        drive(store.notes.commit([record("a")], cursor=Cursor(id, 5)))
        drive(store.notes.commit(cursor=Cursor(id, 3)))
        assert drive(self.reopen(store).notes.cursor(id)) == 5

    def test_nothing_is_kept_for_a_session_that_is_not_there(self, store: Store) -> None:
        with pytest.raises(NotFound):
            drive(store.notes.commit([record("a")], cursor=Cursor("nobody", 5)))
        assert drive(store.notes.records("/p", "note")) == ()
        with pytest.raises(NotFound):
            drive(store.notes.cursor("nobody"))

    def test_a_text_that_was_changed_meanwhile_is_not_replaced(self, store: Store) -> None:
        def text(words: str) -> NoteRecord:
            return record("a.md", kind="text", file="a.md", text=words)

        drive(store.notes.commit([text("one")], expect={("/p", "a.md"): ""}))
        drive(store.notes.commit([text("two")], expect={("/p", "a.md"): hash_of("one")}))
        for stale in ("", hash_of("one")):
            with pytest.raises(Changed):
                drive(
                    store.notes.commit([text("three"), record("b")], expect={("/p", "a.md"): stale})
                )
        assert [one.text for one in drive(store.notes.records("/p", "text"))] == ["two"]
        assert drive(store.notes.records("/p", "note")) == ()

    def test_a_fork_has_been_read_as_far_as_what_it_shares(self, store: Store) -> None:
        id = start(store)
        append(store, id, "one", "two", "three")
        fork = start(store, parent=id, fork=2)
        drive(store.notes.commit(cursor=Cursor(id, 3)))
        assert drive(store.notes.cursor(fork)) == 2
        drive(store.sessions.erase(id))
        assert drive(store.notes.cursor(fork)) == 2

    def test_an_erased_session_leaves_no_words_beside_the_notes(self, store: Store) -> None:
        id = start(store)
        append(store, id, "one")
        evidence = (Evidence(id, "e"),)
        other = (Evidence("t", "g"),)
        drive(store.notes.commit([
            record("a", evidence=evidence + other),
            *(record("x", kind=kind, text="one", evidence=evidence)
              for kind in ("proposal", "pending", "change", "rollout", "text")),
            record("y", kind="change", text="two", evidence=other),
        ], cursor=Cursor(id, 1)))  # fmt: skip
        drive(store.sessions.erase(id))
        assert drive(store.notes.about(id)) == ()
        assert [one.id for one in drive(store.notes.records("/p", "note"))] == ["a"]
        assert [one.id for one in drive(store.notes.records("/p", "change"))] == ["y"]
        for kind in ("proposal", "pending", "rollout", "text"):
            assert drive(store.notes.records("/p", kind)) == ()
