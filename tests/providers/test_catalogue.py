"""Models are known by every name they go by, and unknown ones get safe values that say so."""

from datetime import date
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.engine.plugins import catalogue
from holdfast.errors import InvalidRequest, NotFound
from holdfast.model.profile import Price, Profile
from holdfast.providers import families
from holdfast.providers.catalogue import BuiltIn
from holdfast.providers.names import bare, reading
from holdfast.providers.snapshot import matches, snapshot

KNOWN = BuiltIn(today=lambda: date(2026, 11, 15), file=Path("/nowhere/profiles.toml"))

SAME = {
    "claude-sonnet-4-6": [
        "claude-sonnet-4-6-20260101", "anthropic/claude-sonnet-4-6", "anthropic/claude-sonnet-4.6",
        "Claude-Sonnet-4-6", "claude-sonnet-4-6@20260101", "claude-sonnet-4-6[1m]",
        "claude-sonnet-4-6-latest", " claude-sonnet-4-6 ",
    ],
    "gemini-2.5-pro": ["models/gemini-2.5-pro", "gemini/gemini-2.5-pro", "google/gemini-2.5-pro",
                       "publishers/google/models/gemini-2.5-pro", "vertex_ai/gemini-2.5-pro"],
    "gpt-5.2": ["gpt-5.2-20251211", "gpt-5.2-2025-12-11", "openai/gpt-5.2"],
    "gpt-4o": ["gpt-4o-2024-11-20", "openai/gpt-4o"],
    "grok-4": ["xai/grok-4", "x-ai/grok-4"],
}  # fmt: skip

# From the providers' own model pages.
FACTS = [
    ("claude-opus-4-1", 200_000, 0, 32_000, ""),
    ("claude-sonnet-4-5", 200_000, 0, 64_000, ""),
    ("claude-haiku-4-5", 200_000, 0, 64_000, ""),
    ("claude-3-5-haiku-latest", 200_000, 0, 8_192, ""),
    ("claude-opus-4-6", 1_000_000, 0, 128_000, ""),
    ("claude-opus-5-5", 1_000_000, 0, 128_000, ""),
    ("gpt-4o", 128_000, 0, 16_384, "o200k_base"),
    ("gpt-4o-2024-05-13", 128_000, 0, 4_096, "o200k_base"),
    ("gpt-4.1", 1_047_576, 0, 32_768, "o200k_base"),
    ("gpt-4-turbo", 128_000, 0, 4_096, "cl100k_base"),
    ("gpt-3.5-turbo", 16_385, 0, 4_096, "cl100k_base"),
    ("o3", 200_000, 0, 100_000, "o200k_base"),
    ("gpt-5", 400_000, 272_000, 128_000, "o200k_base"),
    ("gpt-5.5", 1_050_000, 922_000, 128_000, "o200k_base"),
    ("gpt-6-astra", 1_050_000, 922_000, 128_000, ""),
    ("gpt-oss-120b", 131_072, 0, 32_768, "o200k_base"),
    ("gemini-2.5-flash", 1_048_576, 1_048_576, 65_536, ""),
    ("gemini-3.1-pro-preview", 1_048_576, 1_048_576, 65_536, ""),
]


@pytest.mark.seed("001", 74)
@pytest.mark.parametrize(("model", "window", "input", "output", "tokenizer"), FACTS)
def test_limits_are_the_providers_own(
    model: str, window: int, input: int, output: int, tokenizer: str
) -> None:
    made = KNOWN.profile(model)
    assert (made.window, made.input_limit, made.output_limit) == (window, input, output)
    assert made.tokenizer == tokenizer
    assert not {"window", "output_limit", "prices", "abilities"} & set(made.assumed)


@pytest.mark.parametrize("model", SAME)
def test_a_model_is_the_same_by_every_name(model: str) -> None:
    wanted = KNOWN.profile(model)
    for name in SAME[model]:
        made = KNOWN.profile(name)
        assert made.name == name
        for field in families.FIELDS:
            assert getattr(made, field) == getattr(wanted, field), (name, field)


def test_a_host_has_prices_and_limits_of_its_own() -> None:
    ours = KNOWN.profile("claude-sonnet-4-6")
    for name in (
        "us.anthropic.claude-sonnet-4-6-20260101-v1:0",
        "bedrock/anthropic.claude-sonnet-4-6-v1:0",
        "arn:aws:bedrock:us-east-1:1:inference-profile/us.anthropic.claude-sonnet-4-6",
    ):
        hosted = KNOWN.profile(name)
        assert hosted.provider == "aws"
        assert hosted.window == ours.window
        assert hosted.can("cache_breakpoints")
        assert not hosted.can("token_counting")
        assert hosted.request_bytes < ours.request_bytes
        assert hosted.prices[0].input > ours.prices[0].input
    routed = KNOWN.profile("openrouter/anthropic/claude-sonnet-4.6")
    assert (routed.provider, routed.can("server_compaction")) == ("openrouter", False)


def test_prices_and_windows_follow_what_a_name_adds_to_a_model() -> None:
    for name in ("deepseek/deepseek-chat:free", "deepseek-v4-flash-free", "acme-ultra:free"):
        made = KNOWN.profile(name)
        assert made.prices == (Price(),)
        assert "prices" not in made.assumed
    assert KNOWN.profile("claude-sonnet-4-5").window == 200_000
    assert KNOWN.profile("claude-sonnet-4-5[1m]").window == 1_000_000


def test_another_price_that_stands_in_is_stated() -> None:
    made = KNOWN.profile("azure/gpt-4o")
    assert made.provider == "azure"
    assert made.prices
    assert "prices" in made.assumed


def test_gpt_6_has_no_known_vocabulary_and_says_so() -> None:
    assert KNOWN.profile("gpt-6.1-sol").assumed == ("tokenizer",)


def test_abilities_follow_the_model() -> None:
    told = {"claude-sonnet-4-5", "claude-sonnet-4-6", "claude-haiku-4-5"}
    for model in (*told, "claude-opus-4-6", "claude-opus-4-5", "claude-sonnet-5"):
        assert KNOWN.profile(model).can("budget_awareness") == (model in told)
    assert KNOWN.profile("claude-opus-4-5").can("prefill")
    assert not KNOWN.profile("claude-opus-4-6").can("prefill")
    assert KNOWN.profile("claude-opus-4-6").can("server_compaction")
    assert not KNOWN.profile("gpt-4o").can("thinking")
    assert KNOWN.profile("gpt-5").can("thinking")
    assert KNOWN.profile("gpt-5").can("cache_key")
    assert not KNOWN.profile("o3-mini").can("images")
    assert KNOWN.profile("claude-opus-4-5").most_images == 100
    assert KNOWN.profile("claude-opus-4-6").most_images == 600
    assert KNOWN.profile("gpt-5").most_tools == 128
    assert KNOWN.profile("claude-opus-4-6").request_bytes == 32 * 1024 * 1024


def test_a_model_nobody_knows_gets_safe_values_that_say_so() -> None:
    made = KNOWN.profile("acme-ultra")
    assert (made.window, made.output_limit) == (32_768, 4_096)
    assert made.assumed == ("abilities", "output_limit", "prices", "tokenizer", "window")
    assert made.prices == ()


def test_a_new_model_of_a_known_family_is_assumed_to_be_like_it() -> None:
    made = KNOWN.profile("claude-zeta-9")
    assert (made.provider, made.window) == ("anthropic", 200_000)
    assert {"window", "output_limit", "prices"} <= set(made.assumed)


@pytest.mark.parametrize(
    "model", ["ollama/llama3.1:8b", "qwen2.5-coder:32b", "gpt-oss:20b", "lmstudio/gemma-3-27b"]
)
def test_a_local_model_is_taken_to_hold_what_its_runner_gives_it(model: str) -> None:
    made = KNOWN.profile(model)
    assert (made.window, made.output_limit) == (4_096, 1_024)
    assert {"window", "output_limit"} <= set(made.assumed)
    assert not made.prices


@given(st.text())
def test_no_name_fails(model: str) -> None:
    made = KNOWN.profile(model)
    assert made.window > 0
    assert 0 < made.output_limit < made.window
    assert reading(model).bare is not None


def test_every_listed_model_has_a_profile_that_holds_together() -> None:
    for id, provider in snapshot().providers.items():
        for one in provider.models:
            made = KNOWN.profile(f"{id}/{one.id}")
            assert 0 < made.output_limit < made.window
            assert made.input_limit <= made.window
            starts = [price.above for price in made.prices]
            assert starts == sorted(starts)
            assert all(price.input >= 0 and price.output >= 0 for price in made.prices)


def test_prices_change_on_their_day() -> None:
    def price(day: date) -> int:
        return BuiltIn(today=lambda: day).profile("gemini-4-argon").prices[0].input

    assert price(date(2026, 11, 30)) == 2_000_000_000
    assert price(date(2026, 12, 1)) == 4_000_000_000


def test_a_limit_is_learned() -> None:
    known = BuiltIn()
    known.profile("acme-ultra")
    made = known.learn("acme-ultra", window=8_192)
    assert (made.window, made.output_limit) == (8_192, 2_048)
    assert "window" not in made.assumed
    assert known.profile("acme-ultra") is made
    assert known.learn("acme-ultra", output_limit=1_000).window == 8_192
    assert "acme-ultra" in known.models()
    for wrong in ({"size": 1}, {"window": -1}):
        with pytest.raises(InvalidRequest):
            known.learn("acme-ultra", **wrong)


def written(folder: Path, text: str) -> BuiltIn:
    file = folder / "profiles.toml"
    file.write_text(text, "utf-8")
    return BuiltIn(file=file)


def test_a_user_says_what_their_models_can_do(tmp_path: Path) -> None:
    known = written(
        tmp_path,
        """
        ["qwen2.5-coder:32b"]
        window = 32_768
        output_limit = 8_192
        abilities = ["tools"]
        prices = { input = 0.25, output = 1 }

        [acme-ultra]
        extends = "gpt-5"
        window = 64_000
        """,
    )
    local = known.profile("qwen2.5-coder:32b")
    assert (local.window, local.output_limit, local.assumed) == (32_768, 8_192, ())
    assert local.prices == (
        Price(input=250_000_000, output=10**9, cache_read=250_000_000, cache_write=250_000_000),
    )
    acme = known.profile("acme-ultra")
    assert (acme.window, acme.tokenizer, acme.can("thinking")) == (64_000, "o200k_base", True)
    assert known.learn("qwen2.5-coder:32b", window=4_096).window == 4_096


def test_a_file_that_changes_is_read_again(tmp_path: Path) -> None:
    import os

    known = written(tmp_path, "[m]\nwindow = 1_000")
    assert known.profile("m").window == 1_000
    file = tmp_path / "profiles.toml"
    file.write_text("[m]\nwindow = 2_000", "utf-8")
    os.utime(file, ns=(1, 1))
    assert known.profile("m").window == 2_000
    file.unlink()
    assert known.profile("m").window == 32_768


@pytest.mark.parametrize(
    ("text", "error", "words"),
    [
        ("[m", InvalidRequest, "cannot be read as profiles"),
        ("m = 3", InvalidRequest, "no table"),
        ("[m]\nwidow = 3", NotFound, "did you mean window"),
        ("[m]\nwindow = 'large'", InvalidRequest, "cannot be read"),
        ("[m]\nabilities = ['magic']", InvalidRequest, "magic"),
        ("[m]\nprices = { input = 1, lunch = 2 }", InvalidRequest, "lunch"),
        ("[m]\nextends = 'n'\n[n]\nextends = 'm'", InvalidRequest, "m → n → m"),
    ],
)
def test_what_a_user_got_wrong_is_told(
    tmp_path: Path, text: str, error: type[Exception], words: str
) -> None:
    with pytest.raises(error, match=words):
        written(tmp_path, text).profile("m")


def test_the_file_lies_beside_the_settings(tmp_path: Path) -> None:
    folder = tmp_path / "config" / "holdfast"
    folder.mkdir(parents=True)
    (folder / "profiles.toml").write_text("[mine]\nwindow = 12_345", "utf-8")
    assert catalogue().profile("mine").window == 12_345


def test_our_own_file_says_nothing_that_a_profile_does_not_have() -> None:
    allowed = {*Profile.__struct_fields__, "match", "lacks"}
    for one in families.families().family:
        assert set(one) <= allowed
    for one in families.families().host:
        assert set(one) <= allowed | {"name"}


def test_clauses_mean_what_they_say() -> None:
    assert matches(["or", ["equals", "A"], ["ends", "z"]], "a")
    assert matches(["and", ["starts", "g"], ["contains", "4"], ["regex", r"o$"]], "gpt-4o")
    assert not matches(["and", ["starts", "g"], ["contains", "5"]], "gpt-4o")
    assert not matches(None, "gpt-4o")


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("gemini-pro-latest", "gemini-pro-latest"),
        ("claude-3.5-haiku-latest", "claude-3-5-haiku"),
        ("us.anthropic.claude-sonnet-4-5-20250929-v1:0", "claude-sonnet-4-5"),
        ("anthropic/claude-opus-4.6:beta", "claude-opus-4-6"),
        ("gpt-5.2-2025-12-11", "gpt-5.2"),
    ],
)
def test_a_bare_name_is_the_models_own(name: str, wanted: str) -> None:
    assert bare(name) == wanted
