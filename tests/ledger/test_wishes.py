"""Constraints and corrections in six languages, and sentences that only look like them.

These sentences were written for this test; real ones are scored in test_scores.py.
"""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.core.ledger.wishes.literals import needed
from holdfast.core.ledger.wishes.recognise import possible, wishes
from holdfast.core.ledger.wishes.rules import RULES, Kind

CONSTRAINTS = [
    "Never push to main.",
    "Please don't touch the migrations.",
    "The API must stay backwards compatible.",
    "Make sure every endpoint has a test.",
    "Do it without adding dependencies.",
    "Use pnpm, not npm.",
    "Only change src/app.py.",
    "Keep the public interface as is.",
    "At most three retries.",
    "Run the tests after each commit.",
    "From now on, begin every answer with a number.",
    "Please ask any questions before you begin.",
    "Show me the plan, and wait for my approval.",
    "I'll run the migrations myself.",
    "Keep it as simple as possible.",
    "Go through them one by one.",
    "Remember to update the changelog.",
    "This is read-only work.",
    "I don't want to touch the schema yet.",
    "Rember to keep the changelog short.",
    "Keep the overview updated as the API changes.",
    "Follow the style of the other modules.",
    "All components should have a story.",
    "Plain functions will do (no decorators).",
    "No frameworks, just the standard library.",
    "Before you merge anything into main, please run the slow tests.",
    "Let's do this test-driven.",
    "Just change the parser for now.",
    "只需要修改这个文件。",
    "你不需要修改其他的文件。",
    "Bitte ändere nichts an der Datenbank.",
    "Die Tests müssen grün bleiben.",
    "Verwende nur die Standardbibliothek.",
    "Auf keinen Fall in main committen.",
    "Löse das, ohne die Schnittstelle zu ändern.",
    "Lass die Konfiguration unverändert.",
    "不要修改数据库结构。",
    "請勿刪除任何檔案。",
    "必须使用 Python 3.11。",
    "只能修改 src 目录。",
    "确保所有测试都能通过。",
    "データベースは変更しないでください。",
    "必ずテストを書いてください。",
    "既存のファイルだけを修正してください。",
    "No modifiques la base de datos.",
    "Debes usar solo la biblioteca estándar.",
    "Hazlo sin añadir dependencias.",
    "Nunca subas cambios a main.",
    "Ne modifie pas la base de données.",
    "Il faut garder la compatibilité.",
    "Fais-le sans ajouter de dépendances.",
    "N'utilise jamais de variables globales.",
]

CORRECTIONS = [
    "No, that's the wrong file.",
    "That's not what I asked for.",
    "You forgot the second argument.",
    "It still doesn't work.",
    "Actually, use the other branch.",
    "Correction: the port is 8081.",
    "I meant the staging server.",
    "Hmm, the list is empty now.",
    "I'm getting this error: no such table.",
    "The dialog does not close.",
    "I can't open the page.",
    "For some reason the counter is reset.",
    "Two tests are failing.",
    "I expected three rows.",
    "That looks too crowded.",
    "There is one small problem with the header.",
    "I reverted your changes.",
    "There are no rows in the table.",
    "It works for one file, but only the first page is read.",
    "The search page stops responding after a while.",
    "I keep getting this message.",
    "You read the wrong column.",
    "Why didn't the cache get filled?",
    "This is backwards.",
    "Dude, we decided on one table.",
    "The field dosn't seem to be filled.",
    "We don't need that helper.",
    "但是现在出现了一个错误。",
    "可是现在无法输入。",
    "这不是我想要的。",
    "Please undo that.",
    "Nein, das ist falsch.",
    "Das funktioniert immer noch nicht.",
    "Du hast den Import vergessen.",
    "Ich meinte die andere Datei.",
    "不对，应该改另一个文件。",
    "你忘了更新测试。",
    "還是不行。",
    "違います、別のファイルです。",
    "まだ動きません。",
    "No, eso no es lo que pedí.",
    "Sigue sin funcionar.",
    "Te olvidaste del segundo parámetro.",
    "Non, ce n'est pas ça.",
    "Ça ne marche toujours pas.",
    "Tu as oublié le test.",
]

NEITHER = [
    "Can you add a login page?",
    "What does this function do?",
    "It must be late where you are.",
    "Do you always write tests first?",
    "I don't know how the cache works.",
    "I don't think we need it, what do you think?",
    "Should I never use globals?",
    "Add a notice that the project is not official.",
    "Show the number of issues.",
    "No problem, thanks.",
    "Rename `never_mind` to `always_on`.",
    'Change the text "do not touch" to "ok".',
    "```\nmust not be empty\n```",
    "    ValueError: name must not be empty",
    "> you must never do this",
    "Erkläre mir, wie das funktioniert.",
    "Füge eine Anmeldeseite hinzu.",
    "Muss ich das selbst machen?",
    "这个函数是做什么的？",
    "添加一个登录页面。",
    "ログインページを追加してください。",
    "¿Qué hace esta función?",
    "Añade una página de inicio.",
    "Que fait cette fonction ?",
    "Ajoute une page de connexion.",
    "Is there an error in this file?",
    "Does it still need the cache?",
    "I can see why you chose this.",
    "How do I do that without an account?",
    "Add a test for what is not found.",
    "Thanks, it still works.",
    "Make sure I can open the page.",
    "The report is written by a job now, for example, instead of the server.",
    "We want an MVP (minimum viable product).",
    "If you did not do it already, write the page.",
    "OK, you can try again to push.",
    "Another agent says this:\nThe name must be set. It does not check the length.",
    "1. no, one table is enough\n2. too many columns are no problem",
    "× The directive must be placed before other expressions.",
]


def found(text: str, kind: Kind, *, begun: bool = True) -> bool:
    return bool(wishes(1, text, kind, begun=begun))


@pytest.mark.parametrize("text", CONSTRAINTS)
def test_a_constraint_is_found(text: str) -> None:
    assert found(text, "constraint")


@pytest.mark.parametrize("text", CORRECTIONS)
def test_a_correction_is_found(text: str) -> None:
    assert found(text, "correction")


@pytest.mark.parametrize("text", NEITHER)
def test_what_only_looks_like_one_is_left(text: str) -> None:
    assert not found(text, "constraint")
    assert not found(text, "correction")


def test_the_first_words_of_a_session_correct_nothing() -> None:
    assert not found("No, that's the wrong file.", "correction", begun=False)


def test_a_wish_is_its_sentence_and_the_rules_that_found_it() -> None:
    (wish,) = wishes(7, "Add a page. Never use tabs! Thanks.", "constraint", begun=True)
    assert (wish.seq, wish.text, wish.inferred) == (7, "Never use tabs!", "en-prohibition")


def test_a_document_that_was_handed_over_is_not_read() -> None:
    assert not found("You must never do this. " * 400, "constraint")


def test_every_rule_has_a_name_of_its_own_and_a_sentence_that_shows_it() -> None:
    names = [rule.name for rule in RULES]
    assert len(set(names)) == len(names)
    shown = {
        name
        for kind, texts in (("constraint", CONSTRAINTS), ("correction", CORRECTIONS))
        for text in texts
        for wish in wishes(1, text, kind, begun=True)  # type: ignore[arg-type]
        for name in wish.inferred.split()
    }
    assert set(names) - shown == set()


WORDS = sorted({word for rule in RULES for word in needed(rule.shape) or ()})
FILLING = ("use", "x.py", "we", "do", "not", "it", ",", ".", "!", "that's", "a", "the", "No", "\n")


@given(st.lists(st.sampled_from((*WORDS, *FILLING)), max_size=12).map(" ".join), st.booleans())
def test_no_rule_is_passed_over_that_finds_something(sentence: str, shouted: bool) -> None:
    said = sentence.upper() if shouted else sentence
    for rule in RULES:
        if rule.pattern.search(said):
            assert rule in possible(said, rule.kind)


def test_rules_are_passed_over_that_cannot_find_anything() -> None:
    assert [rule.name for rule in possible("Please read x.py.", "constraint")] == []
    assert needed(r"(?:^|,)\s*(?:don['\u2019]?t|never)\s+\w+") == {"don", "never"}
    assert needed(r"a?b*") is None
    assert needed(r"(?:x|\d)") is None
