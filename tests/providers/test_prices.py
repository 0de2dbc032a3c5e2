"""Costs are those of genai-prices, to the billionth, and its snapshot can be made again."""

import lzma
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import msgspec
import pytest
from genai_prices import Usage as TheirUsage
from genai_prices import calc_price
from msgspec.structs import replace

from holdfast.core.calls.price import cost
from holdfast.model.reply import Usage
from holdfast.providers.catalogue import BuiltIn
from holdfast.providers.snapshot import Snapshot, snapshot
from holdfast.providers.weights import MODEL
from tools import prices

NOON = datetime(2026, 11, 15, 12, tzinfo=UTC)
KNOWN = BuiltIn(today=lambda: NOON.date())

MODELS = [
    ("anthropic", "claude-sonnet-4-6"), ("anthropic", "claude-sonnet-4-5"),
    ("anthropic", "claude-haiku-5-5"), ("anthropic", "claude-opus-4-1"),
    ("anthropic", "claude-opus-5-5"), ("anthropic", "claude-fable-5-1"),
    ("openai", "gpt-4o"), ("openai", "gpt-5"), ("openai", "gpt-5.5"), ("openai", "gpt-6-astra"),
    ("openai", "o3"), ("google", "gemini-2.5-pro"), ("google", "gemini-3.1-pro-preview"),
    ("google", "gemini-4-argon"), ("x-ai", "grok-4"), ("mistral", "mistral-large-latest"),
]  # fmt: skip
USES = {
    "small": Usage(input=1_234, output=567),
    "cached": Usage(input=10, cache_read=90_001, cache_write=2_003, output=777),
    "long": Usage(input=150_001, cache_read=150_002, cache_write=3, output=64_001),
    "at the edge": Usage(input=200_000, output=1),
    "behind the edge": Usage(input=200_001, output=1),
    "an hour": Usage(input=5, cache_write=9_000, cache_write_long=4_000, output=11),
    "an hour, long": Usage(input=250_000, cache_write=9_000, cache_write_long=9_000, output=11),
    "nothing": Usage(),
}


def theirs(provider: str, model: str, usage: Usage) -> Decimal:
    told: dict[str, Any] = {
        "input_tokens": usage.prompt,
        "output_tokens": usage.output,
        "cache_read_tokens": usage.cache_read,
        "cache_write_tokens": usage.cache_write,
    }
    if usage.cache_write_long:
        told["cache_write_1h_tokens"] = usage.cache_write_long
    found = calc_price(
        TheirUsage(**told), model_ref=model, provider_id=provider, genai_request_timestamp=NOON
    )
    return found.total_price


@pytest.mark.parametrize("kind", USES)
@pytest.mark.parametrize(("provider", "model"), MODELS)
def test_a_cost_is_theirs(provider: str, model: str, kind: str) -> None:
    usage = USES[kind]
    ours = cost(usage, KNOWN.profile(model))
    assert ours is not None
    assert abs(Decimal(ours) - theirs(provider, model, usage) * 10**9) <= Decimal("0.5")


def test_a_model_without_a_price_costs_nobody_knows_what() -> None:
    assert cost(USES["small"], KNOWN.profile("acme-ultra")) is None


def test_long_prompts_have_prices_of_their_own() -> None:
    profile = KNOWN.profile("claude-haiku-5-5")
    small, large = profile.price(100_000), profile.price(100_001)
    assert small
    assert large
    assert large.input == 5 * small.input


@pytest.mark.parametrize("version", ["4-6", "4-7", "4-8", "5"])
def test_fast_mode_costs_what_the_snapshot_says_where_it_is_a_model_of_its_own(
    version: str,
) -> None:
    used = USES["cached"]
    apart = KNOWN.profile(f"openrouter/anthropic/claude-opus-{version.replace('-', '.')}-fast")
    fast = replace(used, tier="fast")
    assert cost(fast, KNOWN.profile(f"claude-opus-{version}")) == cost(used, apart)


def test_a_tier_that_a_model_has_no_price_of_is_unknown() -> None:
    assert cost(replace(USES["small"], tier="fast"), KNOWN.profile("claude-haiku-4-5")) is None
    assert cost(replace(USES["small"], tier="priority"), KNOWN.profile("claude-opus-5")) is None


def test_openai_s_tiers_are_those_of_its_price_list() -> None:
    listed = {"gpt-5": 200, "gpt-5.4": 200, "gpt-5.5": 250, "gpt-5-mini": 180}
    for model, percent in listed.items():
        profile = KNOWN.profile(model)
        assert profile.percent("priority") == percent
        assert profile.percent("flex") == profile.percent("batch") == 50


def test_the_snapshot_is_what_the_tool_makes_of_the_installed_package() -> None:
    again = prices.snapshot()
    assert again["source"] == snapshot().source, "run `python tools/prices.py`"
    assert prices.TARGET.read_bytes() == prices.packed(again), "run `python tools/prices.py`"


def test_a_snapshot_is_well_formed() -> None:
    made = msgspec.json.decode(lzma.decompress(prices.packed(prices.snapshot())), type=Snapshot)
    assert made.source.startswith("genai-prices ")
    assert sum(len(one.models) for one in made.providers.values()) > 1_000
    assert {"anthropic", "openai", "google", "aws", "openrouter"} <= set(made.providers)
    assert KNOWN.profile("gpt-4o").price_version == made.source


def test_the_model_inside_the_process_costs_nothing() -> None:
    assert cost(USES["long"], KNOWN.profile(MODEL)) == 0
