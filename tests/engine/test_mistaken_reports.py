"""What a provider reports is believed only where it can be true."""

from typing import Any

import pytest

from holdfast.engine.client import drive
from holdfast.engine.window.sections import Given
from holdfast.engine.window.token_count import TokenCount
from holdfast.engine.window.turn_state import TurnState
from holdfast.policies import policy
from tests.engine.test_counting import exactly, opened


def answer(prompt: int, output: int, turn: int) -> dict[str, Any]:
    return {
        "id": f"chatcmpl-{turn}", "object": "chat.completion", "model": "gpt-4o",
        "choices": [
            {"index": 0, "message": {"role": "assistant", "content": "Done."},
             "finish_reason": "stop"},
        ],
        "usage": {"prompt_tokens": prompt, "completion_tokens": output},
    }  # fmt: skip


@pytest.mark.parametrize("share", [0.0, 0.5])
def test_reports_that_are_too_small_make_no_window_too_large(share: float) -> None:
    with opened(16_384) as hf:
        s = hf.session(model="gpt-4o")
        for turn in range(12):
            s.user(f"{turn}: " + "some words and a number 12345\n" * 300)
            made = s.window()
            request = made.request("openai-chat")
            assert exactly(request) <= made.window.budget.room
            s.reply(answer(max(10, int(made.estimated * share) + 1), 3, turn))


@pytest.mark.parametrize(("prompt", "output"), [(5_000_000, 3), (30, 5_000_000)])
@pytest.mark.parametrize("model", ["gpt-4o", "claude-sonnet-4-6"])
def test_one_report_that_is_too_large_does_not_stop_the_session(
    prompt: int, output: int, model: str
) -> None:
    with opened(128_000) as hf:
        s = hf.session(model=model)
        s.user("word " * 25)
        s.window().request("openai-chat")
        s.reply(answer(prompt, output, 1))
        s.user("and now?")
        made = s.window()
        assert made.over == 0
        assert made.tokens < 200


def test_a_small_ratio_does_not_let_more_through_than_twice_the_room() -> None:
    with opened(200_000) as hf:
        s = hf.session(model="gpt-4o")
        for turn in range(20):
            s.user("some words " * 40)
            made = s.window()
            made.request("openai-chat")
            s.reply(answer(made.estimated // 2 + 1, 3, turn))
        profile, budget = s.catalogue.profile("gpt-4o"), s.preview().window.budget
        turn = TurnState(s._inner, Given(), profile, policy("holdfast"))
        counting = drive(TokenCount(turn, asks=False).begin())
        assert counting.ratio < 0.7
        assert counting.hopeful(budget).room == 2 * budget.room
