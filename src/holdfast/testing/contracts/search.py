"""What the search port promises."""

from __future__ import annotations

import pytest

from holdfast.engine.client import drive
from holdfast.errors import InvalidRequest
from holdfast.model.log import Pin, Summary
from holdfast.model.message import (
    Patch,
    Subtask,
    SummaryText,
    ToolCall,
    assistant,
    opaque,
    tool,
    user,
)
from holdfast.model.message import Reasoning as Thought
from holdfast.model.message import ToolResult as Answer
from holdfast.model.search import Hit, Query
from holdfast.model.span import Span
from holdfast.model.store import Changes
from holdfast.ports import Store
from holdfast.testing.factories import HOSTILE, NOON, append, draft, start

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

    def test_a_mistyped_word_is_known_by_those_spelled_like_it(self, store: Store) -> None:
        id = start(store)
        append(store, id, "the walrus", "a walrus and the carpenter", "the Wallrus café")

        def like(word: str) -> tuple[str, ...]:
            find(store, "walrus")  # what was appended is indexed
            return drive(store.search.spelled_like(word))

        assert like("walrsu") == ("walrus", "wallrus")
        assert like("carpentre") == ("carpenter",)
        assert like("xwalrus")[0] == "walrus"
        assert like("cafe") == ()  # it was said
        assert like("caff") == ("cafe",)
        assert like("wlrs") == ()  # two slips are too many for so short a word
        assert like("oyster") == like("a") == like("walrus2") == ()

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

    def test_every_filter_narrows_and_all_of_them_together(self, store: Store) -> None:
        one = start(store, project="/home/me/reef", agent="codex")
        other = start(store, project="/home/me/reef-two", agent="claude-code")
        drafts = [
            draft("walrus", created=NOON),
            draft(assistant("walrus"), created=NOON + 1, model="claude-opus-4-20250514"),
            draft(assistant(ToolCall("c1", "Read", '{"file_path": "/src/walrus.py"}'))),
            draft(tool(Answer("c1", "a walrus inside"))),
            draft(tool(Answer("c2", "a walrus of nobody knows which call"))),
            draft(assistant(Patch("+walrus", ("src/app.py",)))),
            draft(Pin(fact="walrus")),
        ]
        drive(store.log.append(one, drafts))
        append(store, other, "walrus")
        mine = {(one, seq) for seq in range(1, 8)}
        for where, expected in (
            ({"project": "reef"}, mine),
            ({"project": "/home/me/reef"}, mine),
            ({"project": "me/reef-two"}, {(other, 1)}),
            ({"project": "ree"}, set()),
            ({"agent": "codex"}, mine),
            ({"agent": "Claude-Code"}, {(other, 1)}),
            ({"model": "opus"}, {(one, 2)}),
            ({"model": "claude-opus-4"}, {(one, 2)}),
            ({"model": "opus-5"}, set()),
            ({"tool": "read"}, {(one, 3), (one, 4)}),
            ({"tool": "write"}, set()),
            ({"path": "walrus.py"}, {(one, 3), (one, 4)}),
            ({"path": "src"}, {(one, 3), (one, 4), (one, 6)}),
            ({"path": "src/app.py"}, {(one, 6)}),
            ({"path": "app"}, set()),
            ({"role": "assistant"}, {(one, 2), (one, 3), (one, 6)}),
            ({"since": NOON + 1, "until": NOON + 2}, {(one, 2)}),
            ({"until": NOON}, set()),
            ({"tool": "read", "path": "src", "role": "tool"}, {(one, 4)}),
            ({"tool": "read", "session": other}, set()),
        ):
            hits = find(store, "walrus", limit=50, **where)
            assert {(h.session, h.seq) for h in hits} == expected, where

    def test_a_hit_says_whose_it_is(self, store: Store) -> None:
        id = start(store, project="/home/me/reef", agent="codex")
        drive(store.log.append(id, [draft("walrus", model="claude-opus-4", created=NOON + 1)]))
        (hit,) = find(store, "walrus")
        assert (hit.project, hit.agent, hit.model) == ("/home/me/reef", "codex", "claude-opus-4")
        assert hit.created == NOON + 1

    def test_a_result_is_known_by_a_call_that_was_searched_before_it(self, store: Store) -> None:
        root = start(store)
        append(store, root, assistant(ToolCall("c1", "grep", '{"path": "reef"}')))
        while drive(store.search.catch_up()):
            pass
        child = start(store, parent=root, fork=1)
        append(store, child, tool(Answer("c1", "a walrus")))
        (hit,) = find(store, "walrus", tool="grep", path="reef")
        assert (hit.session, hit.seq) == (child, 2)

    def test_a_session_moves_with_its_project(self, store: Store) -> None:
        id = start(store, project="/old")
        append(store, id, "walrus")
        assert len(find(store, "walrus", project="old")) == 1
        drive(store.sessions.set(id, Changes(project="/new")))
        assert find(store, "walrus", project="old") == ()
        assert len(find(store, "walrus", project="new")) == 1

    @pytest.mark.parametrize("where", [{"path": "/"}, {"model": "-"}, {"project": "./"}])
    def test_a_filter_that_names_nothing_is_refused(
        self, store: Store, where: dict[str, str]
    ) -> None:
        with pytest.raises(InvalidRequest, match="names no"):
            find(store, "walrus", **where)

    def test_pages_follow_one_another(self, store: Store) -> None:
        id = start(store)
        append(store, id, *(f"walrus {'reef ' * (n % 5)}{n}" for n in range(30)))
        whole = find(store, "walrus", limit=30)
        pages = [find(store, "walrus", limit=7, offset=first) for first in range(0, 35, 7)]
        assert [hit for page in pages for hit in page] == list(whole)
        assert len({hit.seq for hit in whole}) == 30

    def test_the_last_word_may_be_begun(self, store: Store) -> None:
        id = start(store)
        append(store, id, "the walrus", "a wall", "walnut and carpenter", "wa")
        assert {h.seq for h in find(store, "wal", prefix=True)} == {1, 2, 3}
        assert [h.seq for h in find(store, "carpenter waln", prefix=True)] == [3]
        assert find(store, "waln carpenter", prefix=True) == ()
        assert find(store, "wal") == ()
        assert [h.seq for h in find(store, "wa", prefix=True)] == [4]

    def test_what_stands_together_is_found_together(self, store: Store) -> None:
        id = start(store)
        append(store, id, "open src/app.py now", "app src py", "Caf\u00e9 na\u00efve")
        assert [h.seq for h in find(store, "src/app.py")] == [1]
        assert [h.seq for h in find(store, "cafe NAIVE")] == [3]

    def test_scripts_without_blanks_are_found_by_any_run_of_characters(self, store: Store) -> None:
        id = start(store)
        append(store, id, "请编辑这个文件", "設定ファイルを編集する", "서울에서 만나요", "สวัสดีครับ",
               "辑编", "編集file.py", "か\u3099ある")  # fmt: skip
        for words, found in (
            ("编辑", {1}),
            ("编", {1, 5}),
            ("文件 编辑", {1}),
            ("ファイル", {2}),
            ("編集", {2, 6}),
            ("編集 する", {2}),
            ("서울", {3}),
            ("ครับ", {4}),
            ("file", {6}),
            ("集file.py", {6}),
            ("が", {7}),
            ("か", set()),
        ):
            assert {h.seq for h in find(store, words)} == found, words
            assert {h.seq for h in find(store, words, prefix=True)} == found, words

    def test_an_emoji_is_a_word(self, store: Store) -> None:
        id = start(store)
        append(store, id, "shipped 🚀🎉", "thumbs 👍🏽up", "❤️ and ✅", "plain")
        for words, found in (("🚀", 1), ("🎉", 1), ("👍", 2), ("up", 2), ("❤", 3), ("✅ and", 3)):
            assert [h.seq for h in find(store, words)] == [found], words
        assert find(store, "🎉🚀") == ()

    def test_a_snippet_shows_scripts_without_blanks_as_they_stand(self, store: Store) -> None:
        id = start(store)
        append(store, id, f"{'前' * 300}请编辑file这个文件🚀{'后' * 300}")
        (hit,) = find(store, "编辑 FILE 🚀")
        assert [hit.snippet[a:b] for a, b in hit.marks] == ["编辑", "file", "🚀"]
        assert "请编辑file这个文件🚀" in hit.snippet

    def test_words_that_are_repeated_are_one_and_too_many_are_refused(self, store: Store) -> None:
        id = start(store)
        append(store, id, "a walrus " + " ".join(f"w{n}" for n in range(300)))
        assert [h.seq for h in find(store, "walrus " * 3_000)] == [1]
        assert [h.seq for h in find(store, " ".join(f"w{n}" for n in range(256)))] == [1]
        with pytest.raises(InvalidRequest, match="too many words: 257"):
            find(store, " ".join(f"w{n}" for n in range(257)), any=True)

    def test_a_snippet_shows_what_was_found(self, store: Store) -> None:
        id = start(store)
        append(store, id, "word " * 500 + "a Walrus\n\tand a carpenter " + "word " * 500)
        (hit,) = find(store, "walrus carpenter")
        assert [hit.snippet[a:b] for a, b in hit.marks] == ["Walrus", "carpenter"]
        assert hit.snippet[0] == hit.snippet[-1] == "…"
        assert "Walrus and a carpenter" in hit.snippet
        assert len(hit.snippet) < 300

    def test_records_of_other_programs_are_not_read(self, store: Store) -> None:
        id = start(store)
        append(store, id, assistant("a reef", opaque("codex", "record.event", b"walrus")))
        assert find(store, "walrus") == ()

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
        with pytest.raises(InvalidRequest):
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
