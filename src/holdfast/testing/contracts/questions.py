"""What the search port promises of questions, and of strings that are typed as they stand."""

from __future__ import annotations

import pytest

from holdfast.engine.client import drive
from holdfast.errors import InvalidRequest
from holdfast.model.message import ToolCall, assistant, tool
from holdfast.model.message import ToolResult as Answer
from holdfast.model.search import Hit, Query
from holdfast.ports import Store
from holdfast.testing.factories import HOSTILE, NOON, append, draft, start

from .base import Contract

STRINGS = (
    ("--no-verify", "commit it with --no-verify please", "commit it with no verify please"),
    ("foo.bar_baz()", "then foo.bar_baz() fails", "then foo bar_baz fails"),
    ("a/b/c.py:12", "File a/b/c.py:12 in main", "a b c py 12"),
    ("$HOME", "cd $HOME/src", "go home"),
    ('"no such file"', "it says: No such  file or directory", "no, such a file is there"),
    ("`git push -f`", "never git push -f here", "git, then push f"),
    ("std::vec<u8>", "a std::vec<u8> of them", "std vec u8"),
    ("key=value;", "set key=value; and go on", "the key is a value"),
)


def find(store: Store, words: str, **query: object) -> tuple[Hit, ...]:
    asked = Query(words=words, **{"any": True, **query})  # type: ignore[arg-type]
    return drive(store.search.find(asked))


def seqs(store: Store, words: str, **query: object) -> list[int]:
    return [hit.seq for hit in find(store, words, **query)]


class QuestionsContract(Contract):
    """With `any`, what has some of the words follows where little has them all."""

    def test_a_question_finds_what_answers_it(self, store: Store) -> None:
        id = start(store)
        append(store, id, *["Nothing of note."] * 9, "We deploy on Fridays, tests permitting.",
               *["Nothing of note."] * 9)  # fmt: skip
        question = "On which day of the week did the deployment of our tested release happen?"
        assert seqs(store, question)[0] == 10
        assert seqs(store, question, any=False) == []
        (hit, *_) = find(store, question)
        assert "deploy" in [hit.snippet[a:b] for a, b in hit.marks]

    def test_what_has_every_word_comes_first(self, store: Store) -> None:
        id = start(store)
        append(store, id, "walrus walrus walrus carpenter oyster", "a walrus", "the walrus and the "
               "carpenter met an oyster on the beach")  # fmt: skip
        assert seqs(store, "walrus carpenter oyster beach")[0] == 3
        assert set(seqs(store, "walrus carpenter oyster beach")) == {1, 2, 3}

    def test_names_that_are_found_are_all_that_is_found(self, store: Store) -> None:
        append(store, start(store), "number 1", "number 2", "numbered")
        assert seqs(store, "number 2") == [2]

    @pytest.mark.parametrize("asked", ["deploying", "deployed", "Deployments", "DEPLOY"])
    def test_endings_do_not_matter_where_nothing_has_the_word(
        self, store: Store, asked: str
    ) -> None:
        append(store, start(store), "it deploys itself", "a walrus")
        assert seqs(store, asked) == [1]

    @pytest.mark.parametrize(
        "asked", ["parse url", "http_url", "HttpUrl parser", "parse_http_url", "url"]
    )
    def test_compound_names_are_found_by_their_pieces(self, store: Store, asked: str) -> None:
        append(store, start(store), "a walrus", "the function parseHttpUrl fails", "an oyster")
        assert seqs(store, asked)[0] == 2

    def test_what_stands_beside_an_answer_is_found_with_it(self, store: Store) -> None:
        id = start(store)
        append(store, id, *["Nothing."] * 20, "Which colour should the walrus sign have?",
               assistant("Blue."), *["Nothing."] * 20)  # fmt: skip
        assert seqs(store, "colour of the walrus sign outside")[:2] == [21, 22]
        other = start(store)
        append(store, other, "Blue.")
        assert all(hit.session == id for hit in find(store, "colour of the walrus sign outside"))

    def test_filters_hold_for_questions(self, store: Store) -> None:
        one, other = start(store, project="/reef"), start(store)
        append(store, one, "Where does the walrus sleep at noon?", assistant("On the beach."),
               assistant(ToolCall("c", "grep", '{"path": "walrus.py"}')),
               tool(Answer("c", "walrus sleeping")))  # fmt: skip
        append(store, other, "a walrus sleeping")
        question = "where did the walrus go sleeping in winter?"
        for where, found in (
            ({}, {one, other}),
            ({"session": one}, {one}),
            ({"project": "reef"}, {one}),
            ({"until": NOON - 1}, set[str]()),
        ):
            assert {hit.session for hit in find(store, question, **where)} == found, where
        assert {hit.role for hit in find(store, question, role="user")} == {"user"}
        assert {hit.seq for hit in find(store, question, tool="grep")} == {3, 4}
        assert {hit.seq for hit in find(store, question, path="walrus.py")} == {3, 4}

    def test_time_holds_for_questions(self, store: Store) -> None:
        id = start(store)
        said = ("the walrus slept", "the walrus sleeps", "the walrus will sleep")
        drive(store.log.append(id, [draft(text, created=NOON + n) for n, text in enumerate(said)]))
        question = "how long did all of these walruses sleep"
        assert set(seqs(store, question, since=NOON + 1, until=NOON + 2)) == {2}

    def test_a_time_that_is_preferred_comes_first_and_is_no_filter(self, store: Store) -> None:
        id, day = start(store), 86_400_000
        said = [f"the walrus slept on beach number {n}" for n in range(9)]
        at = [draft(text, created=NOON + n * day) for n, text in enumerate(said)]
        drive(store.log.append(id, at))
        question = "where did our walrus go when it slept"
        plain = seqs(store, question)
        times = ((NOON + 2 * day, NOON + 3 * day), (NOON + 6 * day, NOON + 7 * day))
        found = seqs(store, question, prefer=times)
        assert set(found[:2]) == {3, 7}
        assert set(plain[:2]) != {3, 7}
        assert sorted(found) == sorted(plain)
        assert seqs(store, "walrus slept", prefer=times) == seqs(store, "walrus slept")

    def test_a_time_that_is_preferred_does_not_hide_a_better_match(self, store: Store) -> None:
        id = start(store)
        best = draft("the walrus sleeps under the pier in winter", created=NOON)
        other = [draft("Nothing of note.", created=NOON + 1) for _ in range(9)]
        drive(store.log.append(id, [best, *other, draft("the winter was cold", created=NOON + 2)]))
        question = "under which pier does a walrus sleep in cold winters"
        assert seqs(store, question, prefer=((NOON + 2, NOON + 3),))[0] == 1

    def test_of_a_time_that_is_preferred_old_parts_are_weighed_too(self, store: Store) -> None:
        id = start(store)
        old = draft("the walrus sleeps", created=NOON)
        apart = ["the walrus sleeps", *["Nothing."] * 4]  # so that none stands beside another
        later = [
            draft(text, created=NOON + 90_000_000) for text in ["Nothing."] * 4 + apart * 2_100
        ]
        drive(store.log.append(id, [old, *later]))
        question = "where does our walrus go when it sleeps"
        assert seqs(store, question, prefer=((NOON, NOON + 1),))[0] == 1

    def test_a_fork_is_asked_with_what_it_shares_and_no_more(self, store: Store) -> None:
        root = start(store)
        append(store, root, "the walrus sleeps on the beach", "the walrus swims at noon")
        child = start(store, parent=root, fork=1)
        append(store, child, "the walrus eats oysters")
        question = "what did the walruses do on beaches and what do they eat"
        assert set(seqs(store, question, session=child)) == {1, 2}
        assert all("swims" not in hit.snippet for hit in find(store, question, session=child))

    def test_a_question_in_a_script_without_blanks(self, store: Store) -> None:
        append(store, start(store), "请编辑这个文件", "没有海象", "设定")
        assert seqs(store, "我们怎么编辑那些文件")[:1] == [1]
        assert seqs(store, "编辑文件") == [1]

    def test_pages_of_a_question_follow_one_another(self, store: Store) -> None:
        id = start(store)
        append(store, id, *(f"the walrus {'sleeps' * (n % 3)} {'on the beach' * (n % 2)} {n}"
                            for n in range(30)))  # fmt: skip
        question = "where and when did walruses sleep, and on which beaches?"
        whole = find(store, question, limit=30)
        pages = [find(store, question, limit=7, offset=first) for first in range(0, 35, 7)]
        assert [hit for page in pages for hit in page] == list(whole)
        assert len({hit.seq for hit in whole}) == 30

    @pytest.mark.parametrize(
        ("typed", "here", "elsewhere"), STRINGS, ids=[one[0] for one in STRINGS]
    )
    def test_a_string_is_found_as_it_is_typed(
        self, store: Store, typed: str, here: str, elsewhere: str
    ) -> None:
        id = start(store)
        append(store, id, here, elsewhere, elsewhere)
        hit = find(store, typed)[0]
        assert hit.seq == 1
        string = " ".join(typed.strip('"`').split()).lower()
        assert string in hit.snippet.lower()

    def test_the_case_that_is_typed_comes_first(self, store: Store) -> None:
        append(store, start(store), "a treeItem of ours", "class TreeItem", "in Next.js",
               "next.js it is", "TREEITEM, and NEXT.JS")  # fmt: skip
        assert seqs(store, "treeItem")[0] == 1
        assert seqs(store, "TreeItem")[0] == 2
        assert seqs(store, "next.js")[0] == 4
        assert "treeItem" in find(store, "treeItem")[0].snippet

    def test_blanks_within_a_string_are_shown_as_they_stand(self, store: Store) -> None:
        append(store, start(store), "then\n  printf('  two  blanks:  %d')  comes\n\n it")
        (hit,) = find(store, '"two  blanks:  %d"')
        assert "two  blanks:  %d" in hit.snippet
        assert "\n" not in hit.snippet
        (hit,) = find(store, '"two blanks: %d"')
        assert "two blanks: %d" in hit.snippet

    def test_in_a_session_what_is_typed_comes_first_where_it_stands_in_one_piece(
        self, store: Store
    ) -> None:
        id = start(store)
        append(store, id, 'set isolation: "worktree" there', "a worktree of isolation",
               "isolation by worktree")  # fmt: skip
        assert seqs(store, 'isolation: "worktree', session=id)[0] == 1
        append(store, id, "worktree, isolation")
        assert seqs(store, "worktree of isolation", session=id)[0] == 2

    def test_a_string_within_longer_names_is_found_in_its_session(self, store: Store) -> None:
        one, other = start(store), start(store)
        append(store, one, "call my_get_user_id(7)", "a walrus")
        append(store, other, "call my_get_user_id(8)")
        for typed in ("get_us", "t_user_id(7", "user_id", "y_get_user_id(7)"):
            hits = find(store, typed, session=one)
            assert [(hit.session, hit.seq) for hit in hits][:1] == [(one, 1)], typed
            assert all(hit.session == one for hit in hits)

    def test_a_long_string_is_shown_whole(self, store: Store) -> None:
        path = "/srv/" + "/".join(f"directory-{n}" for n in range(25)) + "/file.py"
        append(store, start(store), f"{'word ' * 300}{path} {'word ' * 300}")
        assert path in find(store, path)[0].snippet

    def test_a_string_that_is_a_secret_is_not_found(self, store: Store) -> None:
        id = start(store)
        key = "sk-ant-api03-Zm9vYmFyMTIzNDU2Nzg5"
        append(store, id, f"the walrus key is {key} today")
        for typed in (key, key[:14], "Zm9vYmFyMTIz", f'"key is {key}"'):
            assert all("Zm9v" not in hit.snippet for hit in find(store, typed, session=id)), typed
        assert find(store, key, session=id) == ()

    @pytest.mark.parametrize("text", HOSTILE, ids=ascii)
    def test_any_text_can_be_asked_for(self, store: Store, text: str) -> None:
        id = start(store)
        append(store, id, f"walrus {text} carpenter", "an oyster")
        assert find(store, f"where is the walrus {text} carpenter of old")[0].seq == 1
        assert find(store, f'"walrus {text} carpenter"')[0].seq == 1

    @pytest.mark.parametrize(
        "words",
        ["walrus AND NOT x", '"walrus" "', "walrus* OR ^x", "NEAR(walrus x, 2)", "{words} : walrus",
         "walrus - + ( ) { } : ^ *", "a\0walrus\0b", "walrus " * 5_000, "walrus-" * 500,
         '"' * 999 + "walrus", "x" * 100_000 + " walrus"],
        ids=range(11),
    )  # fmt: skip
    def test_what_people_ask_is_never_syntax(self, store: Store, words: str) -> None:
        append(store, start(store), "the walrus and the oyster", "nothing")
        assert set(seqs(store, words)) <= {1, 2}

    def test_too_many_words_are_refused(self, store: Store) -> None:
        with pytest.raises(InvalidRequest, match="too many words"):
            find(store, " ".join(f"w{n}" for n in range(300)))
