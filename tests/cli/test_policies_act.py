"""What a policy says acts in `chat` and `run`: asking, counting by the endpoint, a weak model."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import holdfast
from holdfast.agent.count_endpoints import RESTS, Endpoints
from holdfast.cli.chat.slash import SLASH
from holdfast.engine.bridge import drive
from holdfast.engine.settings import settings
from holdfast.model.log import Summary
from holdfast.model.message import assistant
from holdfast.testing import StrictServer
from holdfast.testing.strict.script import answer
from tests.cli.talking import Begin, talking

CLAUDE, HAIKU = "claude-sonnet-4-6", "claude-haiku-4-5"
SUMMARY = "<summary>They count things of many kinds, and each was answered so far.</summary>"


def small(tmp_path: Path, window: int) -> None:
    """Make both models hold little, as the user's own file says."""
    home = tmp_path / "config" / "holdfast"
    home.mkdir(parents=True, exist_ok=True)
    table = f"window = {window}\noutput_limit = 500\n"
    (home / "profiles.toml").write_text(f'["{CLAUDE}"]\n{table}["{HAIKU}"]\n{table}')


def run(
    tmp_path: Path, server: StrictServer, *words: str, **more: str
) -> subprocess.CompletedProcess[str]:
    env = {
        **os.environ, "ANTHROPIC_API_KEY": "sk-canary-0123456789",
        "ANTHROPIC_BASE_URL": server.url("anthropic"),
        "HOLDFAST_STORE": str(tmp_path / "log.db"), "XDG_CONFIG_HOME": str(tmp_path / "config"),
        **more,
    }  # fmt: skip
    work = tmp_path / "work"
    work.mkdir(exist_ok=True)
    said = [sys.executable, "-m", "holdfast.cli", "run", *words]
    return subprocess.run(said, cwd=work, env=env, capture_output=True, text=True, timeout=120)


def script(asked: Any) -> Any:
    said = str(asked.body)
    return answer(SUMMARY if "<conversation>" in said or "# USER" in said else "Well said.")


def worked(tmp_path: Path, policy: str, turns: int) -> str:
    """A session in the store, with so many turns of about 170 tokens."""
    with holdfast.open(tmp_path / "log.db") as hf:
        s = hf.session(model=CLAUDE, policy=policy, directory=tmp_path)
        for n in range(turns):
            s.user(f"count the things of kind {n} " + "please " * 60)
            s.append(assistant(f"there are {n} things " + "of that kind " * 30))
        return s.id


def test_run_sends_no_more_than_fits_under_a_policy_that_asks_first(tmp_path: Path) -> None:
    small(tmp_path, 3_000)
    with StrictServer(script) as server:
        done = run(tmp_path, server, "-p", "look " * 4_000, "--policy", "aider", "-m", CLAUDE)
        assert done.returncode == 1
        assert "nothing was sent" in done.stderr
        assert [one for one in server.asked if one.endpoint == "create"] == []


@pytest.fixture
def begin(tmp_path: Path) -> Iterator[Begin]:
    small(tmp_path, 1_000)
    with talking(tmp_path, script) as begin:
        yield begin


def test_chat_asks_before_it_sends_more_than_fits(begin: Begin) -> None:
    talk = begin("--policy", "aider", "-m", CLAUDE)
    talk.type("hello")
    talk.wait("more than the 1,000 that fit")
    talk.type("n")
    talk.wait("nothing was sent: About")
    talk.type("hello again")
    talk.wait("more than the 1,000 that fit", times=2)
    talk.type("y")
    talk.wait("Well said.")
    talk.type(f"/weak-model {HAIKU}")
    talk.wait(f"summaries are written by {HAIKU} first")
    talk.type("/policy codex")
    talk.type(f"/weak-model {HAIKU}")
    talk.wait("codex has the model itself write its summaries")
    talk.type("/weak-model off")
    talk.wait("the model itself writes its summaries")


def test_an_estimate_that_leaves_it_open_is_settled_by_the_endpoint(tmp_path: Path) -> None:
    small(tmp_path, 32_000)
    id = worked(tmp_path, "claude-code", 120)
    with StrictServer(script, count=lambda body: 15_000) as server:
        done = run(tmp_path, server, "-r", id, "-p", "go on")
        assert done.returncode == 0, done.stderr
        assert "count" in [one.endpoint for one in server.asked]
    with holdfast.open(tmp_path / "log.db") as hf:
        assert not [e for e in hf.session(id).entries() if isinstance(e.body, Summary)]


@pytest.mark.parametrize("how", ["option", "environment", "file"])
def test_a_weak_model_writes_the_summaries(tmp_path: Path, how: str) -> None:
    small(tmp_path, 32_000)
    if how == "file":
        file = tmp_path / "config" / "holdfast" / "settings.toml"
        file.write_text(f'summary_model = "{HAIKU}"\n')
    id = worked(tmp_path, "aider", 120)
    words = ["--summary-model", HAIKU] if how == "option" else []
    more = {"HOLDFAST_SUMMARY_MODEL": HAIKU} if how == "environment" else {}
    with StrictServer(script) as server:
        done = run(tmp_path, server, "-r", id, "-p", "go on", "--json", *words, **more)
        assert done.returncode == 0, done.stderr
        assert json.loads(done.stdout.splitlines()[-1])["result"] == "Well said."
        models = [one.body["model"] for one in server.asked if one.endpoint == "create"]
        assert HAIKU in models
        assert models[-1] == CLAUDE


def test_a_weak_model_named_on_the_way_is_asked_from_then_on() -> None:
    asked: list[str] = []

    def voice(question: Any) -> str:
        asked.append(question.model)
        return SUMMARY

    with holdfast.open("memory:") as hf:
        s = hf.session(model=CLAUDE, policy="aider", summariser=voice)
        for n in range(60):
            s.user(f"count the things of kind {n} " + "please " * 60)
            s.append(assistant(f"there are {n} things " + "of that kind " * 30))
        for named in ("", HAIKU, ""):
            s.set_weak_model(named)
            assert s.plan().summary
    assert asked == [CLAUDE, HAIKU, CLAUDE]


def test_a_policy_that_asks_no_cheaper_model_says_so(tmp_path: Path) -> None:
    with StrictServer(script) as server:
        words = ["-p", "hello", "-m", CLAUDE, "--summary-model", HAIKU]
        for policy, says in (("codex", True), ("aider", False)):
            done = run(tmp_path, server, *words, "--policy", policy)
            assert done.returncode == 0, done.stderr
            assert (
                f"codex has the model itself write its summaries; {HAIKU}" in done.stderr
            ) == says
        named = {"HOLDFAST_SUMMARY_MODEL": HAIKU}
        done = run(tmp_path, server, *words[:-2], "--policy", "codex", **named)
        assert "is not asked" not in done.stderr


def test_an_endpoint_that_fails_is_said_once_and_left_alone_for_a_while(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("ANTHROPIC_BASE_URL", "http://127.0.0.1:9")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-canary-0123456789")
    now, said = [0.0], list[str]()
    counts = Endpoints(now=lambda: now[0])
    counts.tell = said.append
    request = {"model": CLAUDE, "messages": [{"role": "user", "content": "hi"}]}
    assert counts.serves("anthropic")
    assert drive(counts.count_request(request, "anthropic")) is None
    assert not counts.serves("anthropic")
    now[0] = RESTS + 1
    assert counts.serves("anthropic")
    assert drive(counts.count_request(request, "anthropic")) is None
    assert len(said) == 1
    assert "anthropic did not count" in said[0]
    counts.close()


def test_a_server_of_somebody_elses_is_not_asked_to_count() -> None:
    env = {"OPENAI_API_KEY": "k", "OPENAI_BASE_URL": "http://127.0.0.1:11434/v1"}
    assert not Endpoints(env).serves("openai")
    assert Endpoints({"OPENAI_API_KEY": "k"}).serves("openai")
    assert not Endpoints({}).serves("anthropic")


def test_the_setting_is_read_and_the_command_is_there(tmp_path: Path) -> None:
    env = {"XDG_CONFIG_HOME": str(tmp_path), "HOLDFAST_SUMMARY_MODEL": HAIKU}
    assert settings(environ=env).summary_model == HAIKU
    assert "weak-model" in SLASH
