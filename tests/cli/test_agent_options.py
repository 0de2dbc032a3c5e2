"""How the agent asks its model, as command line and settings say: each is seen in what is sent."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import holdfast
from holdfast.cli.chat.slash import slash
from holdfast.testing import StrictServer
from holdfast.testing.strict.script import Ask, answer
from tests.cli.conversing import conversing
from tests.cli.running import run

CLAUDE, GPT = "claude-sonnet-4-6", "gpt-5"


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[StrictServer]:
    work = tmp_path / "work"
    (work / ".git" / "refs" / "heads").mkdir(parents=True)
    (work / ".git" / "HEAD").write_text("ref: refs/heads/shop\n")
    (work / ".git" / "refs" / "heads" / "shop").write_text("0123456789abcdef" * 2)
    monkeypatch.chdir(work)
    with StrictServer(lambda asked: answer("They said a word often. Nothing is open.")) as server:
        monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-canary-0123456789")
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url("anthropic"))
        monkeypatch.setenv("OPENAI_API_KEY", "sk-canary-9876543210")
        monkeypatch.setenv("OPENAI_BASE_URL", server.url("openai"))
        monkeypatch.setenv("HOLDFAST_OPENAI_API", "responses")
        yield server


def sent(server: StrictServer, *words: str, model: str = CLAUDE) -> dict[str, Any]:
    """The body of the last request of a run."""
    done = run("run", "-m", model, "-p", "hello", *words)
    assert done.exit_code == 0, done.stderr
    body = server.asked[-1].body
    assert isinstance(body, dict)
    return body


@pytest.mark.seed("001", 108)
def test_thinking_is_asked_for_at_its_usual_length_or_as_it_is_said(server: StrictServer) -> None:
    assert "thinking" not in sent(server)
    assert sent(server, "--thinking", "on")["thinking"]["budget_tokens"] == 31_999
    assert sent(server, "--thinking", "2048")["thinking"]["budget_tokens"] == 2_048
    assert run("run", "-p", "x", "--thinking", "12").exit_code == 1


@pytest.mark.seed("004", 75, 76, 77, 78)
def test_what_the_responses_api_is_told_of_how_to_answer(server: StrictServer) -> None:
    usual = sent(server, model=GPT)
    assert {"service_tier", "text"} & usual.keys() == set()
    assert usual["prompt_cache_key"]
    words = ("--effort", "high", "--reasoning-summary", "auto", "--service-tier", "flex",
             "--verbosity", "low")  # fmt: skip
    asked = sent(server, *words, model=GPT)
    assert asked["reasoning"] == {"effort": "high", "summary": "auto"}
    assert (asked["service_tier"], asked["text"]) == ("flex", {"verbosity": "low"})
    assert asked["prompt_cache_key"] != usual["prompt_cache_key"]  # each session has its own


def test_the_settings_say_the_same_and_the_command_line_wins(
    server: StrictServer, tmp_path: Path
) -> None:
    home = tmp_path / "config" / "holdfast"
    home.mkdir(parents=True)
    (home / "settings.toml").write_text(
        '[agent]\nthinking = "4000"\nsections = { personality = "Be brief." }\n'
    )
    body = sent(server)
    assert body["thinking"]["budget_tokens"] == 4_000
    assert "<personality_spec>\nBe brief.\n</personality_spec>" in json.dumps(
        body["system"]
    ).replace("\\n", "\n")
    assert "thinking" not in sent(server, "--thinking", "off") or sent(server, "--thinking", "off")[
        "thinking"
    ] == {"type": "disabled"}


@pytest.mark.seed("004", 35, 200, 204, 205, 206)
def test_the_agent_says_what_it_knows_of_itself(server: StrictServer, tmp_path: Path) -> None:
    (tmp_path / "work" / "said.txt").write_text("From a file.")
    system = [one["text"] for one in sent(server, "--policy", "claude-code", "--section",
                                          "language=German", "--section", "output_style=@said.txt",
                                          "--section", "cache_breaker=7")["system"]]  # fmt: skip
    assert "gitStatus: branch shop, at commit 0123456789ab" in system
    assert "# Language\nGerman" in system
    assert "# Output style\nFrom a file." in system
    assert "cacheBreaker: 7" in system
    env = next(one for one in system if one.startswith("<env>"))
    assert f"\nmodel: {CLAUDE}\n" in env
    assert "\nos_version: " in env
    items = sent(server, "--policy", "codex", "--allow", "shell:git *", model=GPT)["input"]
    (first, context), bundle = items[:2], items[0]["content"]
    assert bundle[0]["text"].startswith(
        "<permissions instructions>\nLooking around needs no leave."
    )
    assert "allowed: shell:git *" in bundle[0]["text"]
    assert first["role"] == "developer"
    assert "<current_date>" in context["content"][-1]["text"]
    assert "<timezone>" in context["content"][-1]["text"]


def test_a_section_that_there_is_not_is_refused_before_anything_is_asked(
    server: StrictServer,
) -> None:
    for word in ("nobody=x", "language", "language=@absent.txt"):
        done = run("run", "-p", "x", "--section", word)
        assert done.exit_code == 1
    assert server.asked == []


@pytest.mark.seed("004", 36, 59)
def test_a_plan_is_made_by_looking_only(server: StrictServer, tmp_path: Path) -> None:
    answers = iter([
        answer(Ask("write", {"path": "a.txt", "content": "x"})),
        answer("<proposed_plan>\n1. Write a.txt\n</proposed_plan>"),
    ])  # fmt: skip
    with StrictServer(lambda asked: next(answers)) as own:
        done = run("run", "-p", "write it", "--plan", "--allow", "write", "-m", CLAUDE,
                   ANTHROPIC_BASE_URL=own.url("anthropic"))  # fmt: skip
        assert "<proposed_plan>" in done.stdout
        told = json.dumps(own.asked[0].body)
        assert "<collaboration_mode>" in told
        assert "a plan is being made" in json.dumps(own.asked[1].body)
    assert not (tmp_path / "work" / "a.txt").exists()


@pytest.mark.seed("001", 118)
def test_the_budgets_of_map_and_history_can_be_named(server: StrictServer, tmp_path: Path) -> None:
    for n in range(30):
        (tmp_path / "work" / f"m{n}.py").write_text(f"def function_{n}():\n    pass\n" * 5)
    usual = json.dumps(sent(server))
    small = json.dumps(sent(server, "--map-tokens", "60"))
    assert usual.count("def function_") > small.count("def function_")
    assert "def function_" not in json.dumps(sent(server, "--map-tokens", "0"))


@pytest.mark.seed("001", 21, 144)
def test_a_history_beyond_its_tokens_is_summarised(server: StrictServer) -> None:
    """Aider's slice for history is the one that is named."""
    usual = ("-p", "word " * 3_000, "--policy", "aider")

    def told() -> str:
        run("run", "-c", "-p", "go on", "-m", CLAUDE)
        return json.dumps(server.asked[-1].body)

    sent(server, *usual)
    assert "[chat summary]" not in told()
    sent(server, *usual, "--max-chat-history-tokens", "300")
    assert "[chat summary]" in told()


@pytest.mark.seed("000", 144)
@pytest.mark.seed("001", 79, 159)
def test_a_model_that_is_not_told_by_its_provider_is_told_its_budget_once_at_the_start(
    server: StrictServer,
) -> None:
    body = sent(server, "--policy", "claude-code", model="claude-opus-4-5")
    told = [one["text"] for one in body["system"]]
    assert "<budget:token_budget>\n200,000 tokens\n</budget:token_budget>" in told
    knows = [one["text"] for one in sent(server, "--policy", "claude-code")["system"]]
    assert not any("token_budget" in one for one in knows)


@pytest.mark.seed("004", 56)
def test_a_command_of_the_users_own_is_told_to_the_model(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with conversing(tmp_path, monkeypatch) as talk:
        talk._heard("!echo 12")  # type: ignore[reportPrivateUsage]
        said = [one.body.text for one in talk.agent.session.entries() if one.is_message]  # type: ignore[union-attr]
        [told] = said
        assert told.startswith("<user_shell_command>\n$ echo 12\n12\n")


def test_what_is_typed_changes_how_the_model_is_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with conversing(tmp_path, monkeypatch) as talk:
        for typed in (
            "/think 2048",
            "/think high",
            "hello",
            "/plan",
            "again",
            "/back",
            "/plan off",
        ):
            assert slash(talk, typed) if typed.startswith("/") else talk.agent.turn(typed)
        session = talk.agent.session
        assert talk.agent.options["thinking"] == 2_048
        assert talk.agent.options["effort"] == "high"
        texts = [one.body.text for one in session.visible() if one.is_message]  # type: ignore[union-attr]
        assert "hello" in texts
        assert "again" not in texts


@pytest.mark.seed("000", 12)
def test_what_is_said_is_written_as_aider_writes_it(server: StrictServer, tmp_path: Path) -> None:
    file = tmp_path / "work" / ".aider.chat.history.md"
    for words in ("Fix the login.\nAnd its test.", "Now the logout."):
        sent(server, "-p", words, "--log-markdown", str(file))
    text = file.read_text()
    assert text.count("# aider chat started at ") == 2
    assert "#### Fix the login.  \n#### And its test.  \n" in text
    done = run("import", str(file))
    assert done.exit_code == 0, done.stderr
    with holdfast.open() as hf:
        told = [
            one.body.text  # type: ignore[union-attr]
            for info in hf.sessions() if info.agent == "aider"
            for one in hf.session(info.id).entries() if one.is_message
        ]  # fmt: skip
    assert sorted(told) == sorted([
        "Fix the login.\nAnd its test.", "Now the logout.",
        *["They said a word often. Nothing is open."] * 2,
    ])  # fmt: skip


@pytest.mark.seed("000", 11)
def test_a_file_that_comes_into_the_chat_is_acknowledged_under_aider(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with conversing(tmp_path, monkeypatch) as talk:
        (tmp_path / "work" / "a.py").write_text("x = 1\n")
        slash(talk, "/add a.py")
        assert talk.agent.session.info.head == 0
        slash(talk, "/policy aider")
        slash(talk, "/add a.py")
        said = [one.body.text for one in talk.agent.session.entries() if one.is_message]  # type: ignore[union-attr]
        assert said == ["I added a.py to the chat.", "Ok."]
