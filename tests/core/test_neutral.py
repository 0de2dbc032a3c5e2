"""What people read is visible: nothing in it acts on a terminal, and nothing hides."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.core.neutralise import neutral

SHOWN = ["\n", "\t", "é", "e\u0301", "日本", "👩\u200d👩\u200d👧", "❤\ufe0f",
         "नि\u200dक", "می\u200cخواهم",
         "葛\U000e0100", "\u2028", "a b", "ß", "🏳\ufe0f\u200d🌈"]  # fmt: skip


@pytest.mark.parametrize("text", SHOWN)
def test_what_is_text_stays_as_it_is(text: str) -> None:
    assert neutral(f"before {text} behind") == f"before {text} behind"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[31m", "␛[31m"), ("\x9b2J", "<U+009B>2J"), ("\x1b]8;;http://x\x07", "␛]8;;http://x␇"),
        ("a\u202eb", "a<U+202E>b"), ("pass\u200bword", "pass<U+200B>word"),
        ("a\U000e0041b", "a<U+E0041>b"), ("a\u200db", "a<U+200D>b"), ("\ufeffx", "<U+FEFF>x"),
        ("😀\ufe0f\ufe01", "😀\ufe0f<U+FE01>"), ("x\U000e01f0", "x<U+E01F0>"),
        ("a\r\nb\rc", "a\nb␍c"),
        ("\ud800", "<U+D800>"), ("\u2066x\u2069", "<U+2066>x<U+2069>"), ("s\u00adh", "s<U+00AD>h"),
    ],
)  # fmt: skip
def test_what_acts_or_hides_is_made_visible(text: str, shown: str) -> None:
    assert neutral(text) == shown


@given(st.text())
def test_nothing_that_acts_is_left(text: str) -> None:
    shown = neutral(text)
    kinds = {sign for sign in shown if unicodedata.category(sign) in ("Cc", "Cf", "Cs")}
    assert kinds <= {"\n", "\t", "\u200c", "\u200d"} | FORMATS
    assert neutral(shown) == shown


FORMATS = {chr(n) for n in range(0x110000) if unicodedata.category(chr(n)) == "Cf"} - {
    chr(n)
    for first, last in ((0x200B, 0x200F), (0x202A, 0x202E), (0x2060, 0x206F), (0xE0000, 0xE00FF))
    for n in range(first, last + 1)
} - {"\ufeff", "\u00ad", "\u061c", "\u180e", "\ufff9", "\ufffa", "\ufffb"}  # fmt: skip
"""Signs of scripts that Unicode calls formats: signs before numbers, shorthand, hieroglyphs."""
