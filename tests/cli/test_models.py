"""`holdfast models` shows what is known of a model, and what is only assumed."""

import json
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.agent.test_served import listing, server
from tests.cli.running import run, terminal, values


def test_the_common_models_are_listed() -> None:
    done = run("models", "--all")
    assert done.exit_code == 0
    assert max(map(len, done.stdout.splitlines())) <= 80
    for name in ("claude-opus-5-5", "gpt-6-astra", "gpt-4o", "gemini-2.5-flash"):
        assert name in done.stdout
    for name in ("embedding", "whisper", "tts"):
        assert name not in done.stdout


def test_those_that_a_key_is_set_for_are_listed_and_the_rest_with_all() -> None:
    keyless = run("models").stdout
    assert "No key is set" in keyless
    assert "`holdfast models --all` lists" in keyless
    assert values("models") == []
    keyed = run("models", GEMINI_API_KEY="sk-not-a-key").stdout
    assert "gemini-2.5-flash" in keyed
    assert "claude" not in keyed
    assert "more are known" in keyed
    assert "more are known" not in run("models", "--all").stdout


def test_the_models_of_a_server_on_this_machine_are_listed_first() -> None:
    with server(listing("nomic-embed-text", "qwen3:8b", "gpt-4o")) as url:
        ports = {"HOLDFAST_LOCAL_PORTS": str(urlsplit(url).port)}
        keyless = run("models", COLUMNS="120", **ports)
        lines = keyless.stdout.splitlines()
        assert lines[1].split()[:2] == ["qwen3:8b", "4096"]
        assert f"At {url} on this machine: qwen3:8b, gpt-4o." in keyless.stdout
        assert "holdfast chat -m NAME" in keyless.stdout
        assert "No key is set" in keyless.stdout
        assert "nomic" not in keyless.stdout
        told = [json.loads(one) for one in run("models", "--json", **ports).stdout.splitlines()]
        assert [(one["name"], one["server"]) for one in told] == [
            ("qwen3:8b", url),
            ("gpt-4o", url),
        ]
        keyed = run("models", OPENAI_API_KEY="sk-not-a-key", **ports).stdout
        assert "more are known, of makers that no key is set for" in keyed
        assert keyed.count("gpt-4o ") == 1
        card = run("models", "qwen3:8b", COLUMNS="120", **ports).stdout
        assert f"The server at {url} on this machine has it" in card


def test_one_model_is_shown_in_full() -> None:
    done = run("models", "claude-haiku-5-5")
    for line in (
        "model      claude-haiku-5-5 · anthropic",
        "window     1,000,000 tokens · a reply 128,000",
        "prices     in 0.1 · out 0.5 · cache read 0.01, write 0.125, for an hour 0.2",
        "prices     above 100,000 tokens: in 0.5 · out 2.5",
        "counts     by estimate, 1.35 × o200k_base until calls have told; its provider can be",
        "assumed    cache_minimum",
    ):
        assert line in done.stdout


def test_a_model_nobody_knows_is_shown_with_what_is_assumed() -> None:
    done = run("models", "acme-ultra")
    assert "acme-ultra · nobody knows whose" in done.stdout
    assert "prices     not known" in done.stdout
    assert "assumed    abilities, output_limit, prices, tokenizer, window" in done.stdout


def test_a_slip_is_answered_with_the_names_that_may_be_meant() -> None:
    told = run("models", "claude-sonet-4-6").stdout
    assert "Did you mean claude-sonnet-4-6, " in told
    assert "Did you mean claude-sonnet-" in run("models", "sonet").stdout
    assert "`holdfast models --all` lists what is known" in run("models", "acme-ultra").stdout
    assert "Did you mean" not in run("models", "gpt-4o").stdout
    (value,) = values("models", "gpt5")
    assert value["nearest"][0] == "gpt-5"


@pytest.mark.parametrize("name", ["claude-haiku-5-5", "gpt-5.5", "gemini-2.5-pro", "sonet"])
def test_a_card_fits_a_terminal_and_keeps_its_columns(name: str) -> None:
    shown = terminal("models", name)
    assert max(map(len, shown.splitlines())) <= 80
    card = shown.partition("Nobody")[0].splitlines()
    assert all(line[9:11].strip() == "" for line in card)


def test_a_script_gets_every_key() -> None:
    (told,) = values("models", "gpt-5.5")
    assert set(told) == {
        "name", "provider", "window", "input_limit", "output_limit", "tokenizer", "ratio",
        "price_version", "cache_seconds", "cache_minimum", "request_bytes", "most_images",
        "most_tools", "page_tokens", "prices", "tiers", "abilities", "assumed", "nearest", "server",
    }  # fmt: skip
    assert told["prices"][0]["input"] == 5.0
    assert told["prices"][1]["above"] == 272_000
    assert len(values("models", "--all")) > 50


def test_the_users_own_models_are_known(tmp_path: Path) -> None:
    folder = tmp_path / "config" / "holdfast"
    folder.mkdir(parents=True)
    (folder / "profiles.toml").write_text(
        '[mine]\nextends = "gpt-5"\nwindow = 64_000\nprices = { input = 1, output = 2 }', "utf-8"
    )
    (told,) = values("models", "mine")
    assert (told["window"], told["prices"][0]["output"]) == (64_000, 2.0)
    assert "mine" in run("models").stdout
    (folder / "profiles.toml").write_text("[mine]\nwidow = 1", "utf-8")
    done = run("models", "mine")
    assert done.exit_code == 1
    assert "did you mean window?" in done.stderr
