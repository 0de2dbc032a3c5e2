"""Stored text cannot act on a terminal, and takes the room it is given."""

import json
import os
import sys
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from holdfast.cli.ui.format import ago, lasting, many, path, size
from holdfast.cli.ui.terminal import emit, fitted, neutral, one_line, write_line
from holdfast.testing.factories import HOSTILE, NOON

DAY = 86_400_000


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[31mred", "␛[31mred"),
        ("\x1b]0;title\x07", "␛]0;title␇"),
        ("\x9b31m", "<U+009B>31m"),
        ("gnp\u202eexe", "gnp<U+202E>exe"),
        ("over\rwritten", "over␍written"),
        ("a\r\nb\tc\n", "a\nb\tc\n"),
        ("\x7f\0\b", "␡␀␈"),
        ("\ud800", "<U+D800>"),
        ("\U000e0041", "<U+E0041>"),
        ("plain 漢字 👩‍👩‍👧 é", "plain 漢字 👩‍👩‍👧 é"),
    ],
)
def test_what_would_act_becomes_visible(text: str, shown: str) -> None:
    assert neutral(text) == shown


@given(st.text(alphabet=st.characters(codec=None)) | st.sampled_from(HOSTILE))
def test_neutral_text_can_be_written_and_holds_no_control(text: str) -> None:
    shown = neutral(text).encode("utf-8").decode("utf-8")
    assert not any((ord(c) < 32 and c not in "\n\t") or 0x7F <= ord(c) < 0xA0 for c in shown)
    assert neutral(shown) == shown


@given(st.text(), st.integers(2, 40))
def test_a_fitted_text_is_one_line_of_at_most_its_width(text: str, width: int) -> None:
    shown = fitted(text, width)
    assert cell_len(shown) <= width
    assert "\n" not in shown


def test_a_huge_text_is_fitted_without_reading_all_of_it() -> None:
    assert fitted(" x" * 10_000_000, 10).endswith("…")


@pytest.mark.parametrize("text", HOSTILE)
def test_json_is_one_line_of_ascii_that_reads_back(
    text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    emit({"text": text})
    out = capsys.readouterr().out
    assert out.isascii()
    assert out.count("\n") == 1
    expected = "😀" if text == "\ud83d\ude00" else text  # JSON cannot tell the two apart
    assert json.loads(out) == {"text": expected}


def test_white_space_is_one_blank_in_one_line() -> None:
    assert one_line("a\n\n b\tc ") == "a b c"


def test_numbers_read_as_people_write_them() -> None:
    ages = (0, 9_000, 90_000, 2 * 3_600_000, 3 * DAY, 20 * DAY)
    assert [ago(NOON, at=NOON + age) for age in ages] == [
        "just now", "9 s ago", "1 min ago", "2 h ago", "3 d ago", "2 wk ago",
    ]  # fmt: skip
    assert ago(NOON, at=NOON + 400 * DAY).startswith("20")
    assert ago(0) == "unknown"
    assert [many(1, "entry"), many(2, "entry"), many(1200, "token")] == [
        "1 entry", "2 entries", "1,200 tokens",
    ]  # fmt: skip
    assert [size(999), size(1_500), size(2_000_000_000)] == ["999 bytes", "1.5 kB", "2.0 GB"]
    assert [lasting(-5), lasting(40), lasting(1_500), lasting(61_000)] == [
        "0 ms", "40 ms", "1.5 s", "1 min 1 s",
    ]  # fmt: skip


def test_a_path_at_home_is_short(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/ada")
    assert [path("/home/ada/x"), path("/home/ada"), path("/home/adam/x")] == [
        "~/x", "~", "/home/adam/x",
    ]  # fmt: skip


@pytest.mark.parametrize(("write", "line"), [(emit, b'"value"\n'), (write_line, b"value\n")])
def test_a_value_reaches_a_pipe_before_the_program_ends(
    write: Callable[[str], None], line: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    end, begin = os.pipe()
    with open(end, "rb", buffering=0) as reader, open(begin, "w", encoding="utf-8") as piped:
        os.set_blocking(end, False)
        monkeypatch.setattr(sys, "stdout", piped)
        write("value")
        assert reader.read() == line


def test_what_a_model_writes_as_markdown_neither_acts_nor_hides_where_a_link_leads() -> None:
    from io import StringIO

    from rich.console import Console

    from holdfast.cli.chat.screen import page

    out = StringIO()
    screen = Console(file=out, force_terminal=True, width=200, color_system="truecolor")
    signs = "&#x202e;a &rlm;b &ZeroWidthSpace;c &#xE0041;d &#27;[31m \x1b]0;t\x07 **&#x2066;x**"
    screen.print(page(f"{signs}\n\n[home](http://evil.example/)\n\n`&#x202e;` ![&rlm;](x)\n"))
    shown = out.getvalue()
    assert not set(shown) & set("\u202e\u200f\u200b\u2066\U000e0041\x07")
    assert "\x1b]" not in shown
    assert "http://evil.example/" in shown
    assert "<U+202E>a" in shown
