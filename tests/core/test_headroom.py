"""What is said of limits: little, and only when it matters."""

import pytest

from holdfast.core.calls.rate_limits import told, warning
from holdfast.model.rate_limits import Limit, Limits

NOW = 1_790_000_000_000


def limits(remaining: int, reset: int | None = NOW + 12_300) -> Limits:
    tokens = Limit(kind="input_tokens", limit=80_000, remaining=remaining, reset=reset)
    calls = Limit(kind="requests", limit=50, remaining=49)
    return Limits(provider="anthropic", at=NOW, limits=(tokens, calls))


@pytest.mark.seed("001", 181)
def test_a_warning_comes_only_when_little_is_left() -> None:
    assert warning(limits(4_000), NOW) == "input tokens 5% left, 13 s"
    assert warning(limits(4_000, None), NOW) == "input tokens 5% left"
    assert warning(limits(16_000), NOW) == ""
    assert warning(limits(4_000), NOW + 12_300) == ""  # by then it is whole again
    assert warning(None, NOW) == ""


@pytest.mark.seed("001", 125)
def test_whoever_asks_is_told_everything() -> None:
    assert told(limits(4_000), 9_200, NOW) == (
        "9,200 tokens in the last minute · input tokens: 5% of 80,000 left, whole in 13 s · "
        "requests: 98% of 50 left"
    )
    assert "input tokens: all of 80,000 again" in told(limits(0, NOW), 0, NOW)
    assert told(None, 0, NOW).endswith("the provider says nothing of limits")
