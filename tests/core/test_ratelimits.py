"""Limits read out of headers as providers document them."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.core.calls.rate_limits import counted, limits_in, per_minute
from holdfast.model.rate_limits import Limit, Limits
from holdfast.model.reply import Usage

NOW = 1_790_000_000_000

ANTHROPIC = {
    "anthropic-ratelimit-requests-limit": "50",
    "anthropic-ratelimit-requests-remaining": "49",
    "anthropic-ratelimit-requests-reset": "2026-09-21T14:13:21Z",
    "anthropic-ratelimit-tokens-limit": "90000",
    "anthropic-ratelimit-tokens-remaining": "88000",
    "anthropic-ratelimit-tokens-reset": "2026-09-21T14:13:30Z",
    "anthropic-ratelimit-input-tokens-limit": "80000",
    "anthropic-ratelimit-input-tokens-remaining": "4000",
    "anthropic-ratelimit-input-tokens-reset": "2026-09-21T14:14:05Z",
    "anthropic-ratelimit-output-tokens-limit": "10000",
    "anthropic-ratelimit-output-tokens-remaining": "10000",
    "anthropic-ratelimit-output-tokens-reset": "2026-09-21T14:13:20Z",
    "anthropic-organization-id": "f0e1",
    "request-id": "req_1",
}
OPENAI = {
    "x-ratelimit-limit-requests": "60",
    "x-ratelimit-limit-tokens": "150000",
    "x-ratelimit-remaining-requests": "59",
    "x-ratelimit-remaining-tokens": "149984",
    "x-ratelimit-reset-requests": "1s",
    "x-ratelimit-reset-tokens": "6m0s",
    "x-ratelimit-limit-project-tokens": "60000",
    "x-ratelimit-remaining-project-tokens": "57000",
    "x-ratelimit-reset-project-tokens": "3s",
    "x-request-id": "req_2",
}
GEMINI = {"content-type": "text/event-stream", "server-timing": "gfet4t7; dur=812"}


def of(limits: Limits | None, kind: str) -> Limit:
    assert limits
    return next(one for one in limits.limits if one.kind == kind)


def test_anthropic_says_dates() -> None:
    found = limits_in(ANTHROPIC, "anthropic", NOW)
    assert found
    assert [one.kind for one in found.limits] == [
        "input_tokens", "output_tokens", "requests", "tokens",
    ]  # fmt: skip
    moment = datetime(2026, 9, 21, 14, 14, 5, tzinfo=UTC)
    assert of(found, "input_tokens").reset == moment.timestamp() * 1000
    assert found.tightest.kind == "input_tokens"
    assert found.tightest.share == 0.05


def test_openai_says_durations() -> None:
    found = limits_in(OPENAI, "openai", NOW)
    assert found
    assert [one.kind for one in found.limits] == ["project_tokens", "requests", "tokens"]
    assert of(found, "tokens") == Limit(
        kind="tokens", limit=150_000, remaining=149_984, reset=NOW + 360_000
    )
    assert of(found, "requests").reset == NOW + 1_000


def test_gemini_says_nothing() -> None:
    assert limits_in(GEMINI, "google", NOW) is None


@pytest.mark.parametrize(
    ("said", "after"),
    [
        ("1s", 1_000),
        ("6m0s", 360_000),
        ("12ms", 12),
        ("2m59.56s", 179_560),
        ("7.66s", 7_660),
        ("1h2m3s", 3_723_000),
        ("1d", 86_400_000),
        ("30", 30_000),
        ("1790000005", 5_000),
        ("1790000005000", 5_000),
        ("2026-09-21T14:13:21+00:00", 1_000),
        ("2026-09-21T09:13:21-05:00", 1_000),
        ("2026-09-21T14:13:21", 1_000),
        ("soon", None),
        ("1.2.3s", None),
        ("", None),
    ],
)
def test_every_way_to_say_when(said: str, after: int | None) -> None:
    told = {"x-ratelimit-limit-tokens": "9", "x-ratelimit-remaining-tokens": "1"}
    found = limits_in({**told, "X-RateLimit-Reset-Tokens": said}, "openai", NOW)
    assert of(found, "tokens").reset == (None if after is None else NOW + after)


def test_numbers_without_a_name_are_requests() -> None:
    told = {"x-ratelimit-limit": "50", "x-ratelimit-remaining": "3"}
    assert of(limits_in(told, "openai", NOW), "requests").remaining == 3


@pytest.mark.parametrize(
    ("limit", "remaining"), [("-1", "-1"), ("0", "0"), ("many", "1"), ("9", ""), ("1", "2")]
)
def test_what_makes_no_sense_is_left_out(limit: str, remaining: str) -> None:
    told = {"x-ratelimit-limit-tokens": limit, "x-ratelimit-remaining-tokens": remaining}
    assert limits_in(told, "openai", NOW) is None


@given(st.dictionaries(st.sampled_from([*ANTHROPIC, *OPENAI]), st.text(max_size=80)))
def test_no_header_breaks_it(headers: dict[str, str]) -> None:
    found = limits_in(headers, "openai", NOW)
    assert found is None or all(0.0 <= one.share <= 1.0 for one in found.limits)


def test_what_was_reset_since_holds_nobody_back() -> None:
    found = limits_in(OPENAI, "openai", NOW)
    assert found
    headroom = [found.headroom(NOW + ms) for ms in (0, 3_500, 400_000)]
    assert [one and one.kind for one in headroom] == ["project_tokens", "tokens", None]


def test_a_minute_rolls_on() -> None:
    calls = [(NOW - 90_000, 5), (NOW - 60_000, 7), (NOW - 59_999, 11), (NOW, 13), (NOW + 1, 17)]
    assert per_minute(calls, NOW) == 24


def test_what_was_read_from_the_cache_counts_as_the_provider_counts_it() -> None:
    usage = Usage(input=100, cache_read=1_000, output=10)
    assert counted(usage, "anthropic") == 110
    assert counted(usage, "openai") == 1_110
