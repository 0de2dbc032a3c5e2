"""Aider's histories as programs and formatters leave them: costs on lines of their own, blank lines
and blanks at the ends of lines gone, and plans that architect mode repeats as prompts."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from holdfast.engine.client import Holdfast
from tests.importers.aider_writing import BANNER, CACHED, START, TOKENS, asked
from tests.importers.looking import bring, calls_of
from tests.importers.test_aider import brought

REPLY = "Here it is:\n\n#### The change\n\nDone."
TURNS = (
    f"{asked('Change it.')}\n{REPLY}\n\n{TOKENS}> Applied edit to a.py  \n"
    f"{asked('And again.')}\n{REPLY}\n\n{TOKENS}"
)


def squeezed(text: str) -> str:
    """Without blank lines."""
    return re.sub(r"\n\n+", "\n", text.lstrip("\n"))


def trimmed(text: str) -> str:
    """Without the blanks at the ends of lines."""
    return re.sub(r" +$", "", text, flags=re.MULTILINE)


def paragraphs(text: str) -> str:
    """Without the blanks at the end of each heading and of each block of quotes."""
    text = re.sub(r"^(#### .*?) +$", r"\1", text, flags=re.MULTILINE)
    return re.sub(r"^(> .*?) +$(?!\n>)", r"\1", text, flags=re.MULTILINE)


@pytest.mark.parametrize("before", ["", "> Applied edit to a.py  \n"])
def test_a_cost_in_a_line_of_its_own_belongs_to_the_call_before_it(
    before: str, hf: Holdfast, tmp_path: Path
) -> None:
    told = f"{START}{BANNER}{asked('Go.')}\nDone.\n\n{before}{CACHED}{asked('More.')}\nYes.\n"
    (run,) = brought(hf, tmp_path, told)
    assert [who for who, _ in run] == ["user", "assistant", "console", "user", "assistant"]
    assert (run[1][1], run[4][1]) == ("Done.", "Yes.")
    (info,) = hf.every_session()
    (call,) = calls_of(hf, hf.session(info.id))
    used = call.usage
    assert (used.input, used.cache_write, used.cache_read, used.output) == (0, 13_000, 39_000, 316)
    assert call.cost == 60_000_000


def test_a_call_without_a_price_is_still_a_call(hf: Holdfast, tmp_path: Path) -> None:
    told = f"{START}{BANNER}{asked('Go.')}\nDone.\n\n> Tokens: 4.2k sent, 310 received.  \n"
    brought(hf, tmp_path, told)
    (info,) = hf.every_session()
    (call,) = calls_of(hf, hf.session(info.id))
    assert (call.usage.input, call.usage.output) == (4_200, 310)


@pytest.mark.parametrize("banner", [BANNER, f"> /bin/aider --model m  \n{BANNER}"])
@pytest.mark.parametrize(
    "formatted",
    [squeezed, trimmed, paragraphs, lambda text: squeezed(trimmed(text))],
    ids=["no blank lines", "no blanks", "no blanks at ends of paragraphs", "neither"],
)
def test_a_formatter_makes_no_run_empty(
    formatted: Callable[[str], str], banner: str, hf: Holdfast, tmp_path: Path
) -> None:
    (run,) = brought(hf, tmp_path, formatted(START + banner + TURNS))
    typed = [words for who, words in run if who == "user"]
    replies = [re.sub(r"\n+", "\n", words) for who, words in run if who == "assistant"]
    assert typed == ["Change it.", "And again."]
    assert replies == [re.sub(r"\n+", "\n", REPLY)] * 2
    (info,) = hf.every_session()
    assert len(calls_of(hf, hf.session(info.id))) == 2


def parted(text: str) -> str:
    """With a blank line between headings that followed each other."""
    return re.sub(r"^(####.*)\n(?=####)", r"\1\n\n", text, flags=re.MULTILINE)


@pytest.mark.parametrize("between", ["", "> Unable to commit:  \n> \n> fatal: no author  \n"])
@pytest.mark.parametrize("prompt", ["Change it.\n\nAll of it.", "\nChange it.\n\n- a\n- b\n"])
@pytest.mark.parametrize("formatted", [trimmed, lambda text: parted(trimmed(text))])
def test_a_prompt_of_many_lines_is_one_without_the_blanks_at_their_ends(
    formatted: Callable[[str], str], prompt: str, between: str, hf: Holdfast, tmp_path: Path
) -> None:
    turn = f"{asked(prompt)}\n{REPLY}\n\n{TOKENS}{between}"
    told = START + BANNER + turn + asked("/run make") + "> made  \n" + asked("/run it") + turn
    (run,) = brought(hf, tmp_path, formatted(told))
    typed = [words for who, words in run if who == "user"]
    assert typed == [prompt, "/run make", "/run it", prompt]
    assert [words for who, words in run if who == "assistant"] == [REPLY] * 2


def test_a_plan_that_is_handed_to_the_editor_is_not_the_users(hf: Holdfast, tmp_path: Path) -> None:
    told = (
        f"{START}{BANNER}{asked('Change it.')}\n{REPLY}\n\n{TOKENS}> Edit the files? y  \n"
        f"{asked(REPLY)}\nEdited.\n\n{TOKENS}{asked('Thanks.')}\n"
    )
    (run,) = brought(hf, tmp_path, told)
    assert [words for who, words in run if who == "user"] == ["Change it.", "Thanks."]
    assert run[3] == ("console", REPLY)


def test_an_answer_that_the_user_repeats_in_other_words_is_the_users(
    hf: Holdfast, tmp_path: Path
) -> None:
    told = f"{START}{BANNER}{asked('Change it.')}\nShall I?\n\n{TOKENS}{asked('Shall I? Yes!')}\n"
    (run,) = brought(hf, tmp_path, told)
    assert run[-1] == ("user", "Shall I? Yes!")


def test_a_reply_that_shows_a_history_keeps_it(hf: Holdfast, tmp_path: Path) -> None:
    quoted = f"```\n> Tokens: 4.2k sent, 310 received.\n```\n{REPLY}"
    told = f"{START}{BANNER}{asked('Show me.')}\n{quoted}\n\n{TOKENS}"
    file = tmp_path / ".aider.chat.history.md"
    file.write_text(told)
    bring(hf, file)
    (info,) = hf.every_session()
    assert len(calls_of(hf, hf.session(info.id))) == 1
