"""How full a window is: whose numbers count, and what is unknown."""

import pytest

from holdfast.core.window.occupancy import Recorded, held, whole_prompt
from holdfast.model.window import Count


def test_what_was_sent_beyond_the_messages_stands_for_system_prompt_and_tools() -> None:
    found = Recorded(program="p", sent=20_000, then=15_000)
    count, beside = whole_prompt(Count(tokens=15_400, error=4_000), found)
    assert (count.tokens, beside) == (20_400, 5_000)
    assert count.error < 4_000  # only what came since is an estimate


def test_it_stays_the_same_once_messages_have_left() -> None:
    found = Recorded(program="p", sent=20_000, then=15_000, moved=True)
    count, beside = whole_prompt(Count(tokens=3_000), found)
    assert (count.tokens, beside) == (8_000, 5_000)


def test_where_less_was_sent_than_estimated_the_estimate_is_corrected() -> None:
    found = Recorded(program="p", sent=10_000, then=15_000)
    count, beside = whole_prompt(Count(tokens=15_400), found)
    assert (count.tokens, beside) == (10_400, None)
    moved = Recorded(program="p", sent=10_000, then=15_000, moved=True)
    assert whole_prompt(Count(tokens=3_000), moved)[0].tokens == 2_000


def test_where_nothing_was_recorded_system_prompt_and_tools_are_unknown() -> None:
    now = Count(tokens=7_000, error=100)
    assert whole_prompt(now, Recorded(program="p", sent=0)) == (now, None)
    assert whole_prompt(now, Recorded(program="p", sent=9_000)) == (now, None)


@pytest.mark.parametrize(
    ("told", "window", "source"),
    [
        ((1_050_000, "codex", "m", 0, 258_400), 258_400, "recorded"),
        ((1_000_000, "claude-code", "m", 150_000), 200_000, "program"),
        ((1_000_000, "claude-code", "m", 200_001), 1_000_000, "model"),
        ((1_000_000, "claude-code", "m[1m]", 0), 1_000_000, "model"),
        ((128_000, "claude-code", "m", 0), 128_000, "model"),
        ((0, "claude-code", "m", 0), 200_000, "program"),
        ((200_000, "claude-code", "m", 412_000), 1_000_000, "program"),
        ((200_000, "claude-code", "m", 2_000_000), 200_000, "model"),
        ((1_000_000, "opencode", "m", 0), 1_000_000, "model"),
    ],
)
def test_the_window_is_what_the_program_said_or_uses_before_what_the_model_holds(
    told: tuple[int, str, str, int], window: int, source: str
) -> None:
    found = held(*told)
    assert (found.window, found.source) == (window, source)
