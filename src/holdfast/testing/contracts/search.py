"""What the search port promises."""

from __future__ import annotations

import pytest

from holdfast.engine.doors import drive
from holdfast.errors import Misuse
from holdfast.model.log import Pin, Summary
from holdfast.model.message import Patch, Subtask, SummaryText, ToolCall, assistant, tool, user
from holdfast.model.message import Reasoning as Thought
from holdfast.model.message import ToolResult as Answer
from holdfast.model.search import Hit, Query
from holdfast.model.span import Span
from holdfast.ports import Store
from holdfast.testing.factories import HOSTILE, append, start

from .base import Contract


def find(store: Store, words: str, **query: object) -> tuple[Hit, ...]:
    return drive(store.search.find(Query(words=words, **query)))  # type: ignore[arg-type]


class SearchContract(Contract):
    """Words over what was said, with the place where it was said."""

    def test_what_was_said_is_found_where_it_was_said(self, store: Store) -> None:
        id = start(store)
        made = append(store, id, "nothing", assistant("no", "the Walrus and the carpenter"))
        (hit,) = find(store, "walrus")
        assert (hit.session, hit.seq, hit.ordinal, hit.kind) == (id, 2, 1, "text")
        assert (hit.entry, hit.role) == (made[1].id, "assistant")
        assert "Walrus" in hit.snippet

    def test_every_word_must_be_there_in_any_case_and_order(self, store: Store) -> None:
        id = start(store)
        append(store, id, "the walrus", "the carpenter", "Carpenter meets WALRUS")
        assert [h.seq for h in find(store, "walrus carpenter")] == [3]
        assert {h.seq for h in find(store, "THE")} == {1, 2}
        assert find(store, "walrus oyster") == ()

    def test_every_kind_of_part_is_searched(self, store: Store) -> None:
        id = start(store)
        append(
            store,
            id,
            assistant(Thought("thinking of herring")),
            assistant(ToolCall("c", "grep", '{"pattern": "first\\nmackerel"}')),
            tool(Answer("c", "found a sardine")),
            assistant(SummaryText("about tuna"), Patch("+salmon", ("trout.py",))),
            assistant(Subtask("s", "catch a pike", "caught an eel")),
            Summary(covers=(Span(1, 2),), text="all about sturgeon"),
            Pin(fact="remember the anchovy"),
        )
        for word, seq, kind in (
            ("herring", 1, "reasoning"),
            ("mackerel", 2, "tool_call"),
            ("grep", 2, "tool_call"),
            ("sardine", 3, "tool_result"),
            ("tuna", 4, "summary"),
            ("salmon", 4, "patch"),
            ("pike", 5, "subtask"),
            ("eel", 5, "subtask"),
            ("sturgeon", 6, "summary"),
            ("anchovy", 7, "pin"),
        ):
            assert [(h.seq, h.kind) for h in find(store, word)] == [(seq, kind)], word

    def test_it_catches_up_in_steps_until_nothing_is_left(self, store: Store) -> None:
        id = start(store)
        append(store, id, *(f"walrus {n}" for n in range(25)))
        steps = 0
        while drive(store.search.catch_up(limit=10)):
            steps += 1
        assert steps >= 3
        assert drive(store.search.catch_up()) == 0
        assert len(find(store, "walrus", limit=100)) == 25

    def test_what_came_after_catching_up_is_found_too(self, store: Store) -> None:
        id = start(store)
        append(store, id, "a walrus")
        assert len(find(store, "walrus")) == 1
        append(store, id, "another walrus")
        assert len(find(self.reopen(store), "walrus")) == 2

    def test_at_most_as_many_as_asked(self, store: Store) -> None:
        id = start(store)
        append(store, id, *(f"walrus {n}" for n in range(30)))
        assert len(find(store, "walrus", limit=7)) == 7
        assert len(find(store, "walrus")) == 20

    def test_one_session_and_one_role_at_a_time(self, store: Store) -> None:
        one, other = start(store), start(store)
        append(store, one, "walrus", assistant("walrus"))
        append(store, other, "walrus")
        assert {(h.session, h.seq) for h in find(store, "walrus", session=one)} == {
            (one, 1),
            (one, 2),
        }
        assert {(h.session, h.role) for h in find(store, "walrus", role="user")} == {
            (one, "user"),
            (other, "user"),
        }

    def test_a_role_is_found_behind_many_of_another(self, store: Store) -> None:
        id = start(store)
        bodies = [assistant("walrus " * 9) for _ in range(40)]
        append(store, id, *bodies[:20], user("a walrus, as the user said it"), *bodies[20:])
        assert [h.seq for h in find(store, "walrus", role="user", limit=2)] == [21]

    def test_a_fork_is_searched_with_what_it_shares(self, store: Store) -> None:
        root = start(store)
        append(store, root, "first walrus", "second walrus")
        child = start(store, parent=root, fork=1)
        append(store, child, "own walrus")
        assert {(h.session, h.seq) for h in find(store, "walrus", session=child)} == {
            (child, 1),
            (child, 2),
        }
        assert len(find(store, "walrus")) == 3

    def test_secrets_are_neither_found_nor_shown(self, store: Store) -> None:
        id = start(store)
        key = "sk-ant-api03-Zm9vYmFyMTIzNDU2Nzg5"
        append(store, id, f"the walrus key is {key} today")
        assert find(store, key) == ()
        assert find(store, "Zm9vYmFyMTIzNDU2Nzg5") == ()
        (hit,) = find(store, "walrus")
        assert key not in hit.snippet
        assert "[secret]" in hit.snippet

    @pytest.mark.parametrize("words", ["", "  ", "\n"], ids=ascii)
    def test_nothing_cannot_be_searched_for(self, store: Store, words: str) -> None:
        with pytest.raises(Misuse):
            find(store, words)

    @pytest.mark.parametrize("text", HOSTILE, ids=ascii)
    def test_any_text_can_stand_beside_a_word(self, store: Store, text: str) -> None:
        id = start(store)
        append(store, id, f"walrus {text} carpenter", Pin(fact=f"{text} oyster"))
        assert [h.seq for h in find(store, "walrus carpenter")] == [1]
        assert [h.seq for h in find(store, "oyster")] == [2]

    @pytest.mark.parametrize(
        "words",
        ["walrus AND", '"walrus', "walrus*", "NEAR(walrus", "walrus -x", "^walrus", "a:b\0"],
    )
    def test_what_people_type_is_never_syntax(self, store: Store, words: str) -> None:
        id = start(store)
        append(store, id, "walrus and x near a b")
        assert {h.seq for h in find(store, words)} <= {1}
