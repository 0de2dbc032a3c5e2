"""Words as search knows them, and the snippets that show them."""

import pytest

from holdfast.core.search.words import fold, holds, looked_for, snippet, terms, words
from holdfast.errors import InvalidRequest
from holdfast.model.search import Query


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("The quick_brown fox-trot", ["the", "quick_brown", "fox", "trot"]),
        ("Café e\u0301té ÅNGSTRÖM", ["cafe", "ete", "angstrom"]),
        ("한글 漢字 คำ 🦭👍🏽", ["한", "글", "漢", "字", "ค", "ำ", "🦭", "👍", "🏽"]),
        ("編集file_1 が は\u3099", ["編", "集", "file_1", "が", "ば"]),
        ("→ … ()", []),
    ],
)
def test_a_word_is_letters_digits_and_underscores(text: str, found: list[str]) -> None:
    assert words(text) == found


def test_folding_keeps_every_character_in_its_place() -> None:
    text = "İstanbul ẞ ﬀ é \ud800"
    assert len(fold(text)) == len(text)


def test_what_is_typed_together_stands_in_a_row() -> None:
    assert holds(words("see src/app.py"), terms("app.py"))
    assert not holds(words("py and app"), terms("app.py"))
    assert not holds([], terms("app"))


def test_where_there_is_no_word_there_is_nothing_to_find() -> None:
    with pytest.raises(InvalidRequest, match="at least one word"):
        looked_for(Query(words="→ -- ()"))


def test_a_snippet_is_cut_where_most_words_are_close() -> None:
    text = f"oyster {'x ' * 300}walrus and oyster {'y ' * 300}walrus"
    shown, marks = snippet(text, terms("walrus oyster"))
    assert [shown[a:b] for a, b in marks] == ["walrus", "oyster"]
    assert shown.startswith("…")
    assert shown.endswith("…")


def test_a_short_text_is_its_own_snippet() -> None:
    assert snippet("a  walrus\n", terms("WALRUS")) == ("a walrus", ((2, 8),))


def test_a_snippet_finds_words_with_accents() -> None:
    shown, marks = snippet("un café noir", terms("cafe"))
    assert [shown[a:b] for a, b in marks] == ["café"]


def test_a_mark_ends_where_its_word_does() -> None:
    assert snippet("wal walrus", terms("wal"))[1] == ((0, 3),)
    begun = looked_for(Query(words="wal", prefix=True))
    assert snippet("wal walrus", begun)[1] == ((0, 3), (4, 10))
