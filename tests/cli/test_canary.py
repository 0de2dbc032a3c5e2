"""Keys that we are configured with appear nowhere: in no file, no output, no traceback (law 15)."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest

from holdfast.testing import StrictServer
from holdfast.testing.strict import Answer, Ask, Asked, answer
from tests.cli.running import run
from tests.providers.test_transport import Play, answering, in_pieces, playing

KEYS = {
    "ANTHROPIC_API_KEY": "sk-ant-canary-3f9c1e77aa01",
    "OPENAI_API_KEY": "sk-canary-openai-77b2d4e5f6",
    "GEMINI_API_KEY": "AIzaCanary0123456789abcdefGH",
}
MODELS = {
    "ANTHROPIC_API_KEY": "claude-sonnet-4-6",
    "OPENAI_API_KEY": "gpt-5",
    "GEMINI_API_KEY": "gemini-2.5-pro",
}
EVERY = " ".join(KEYS.values())
THEIRS = "ghp_0123456789abcdefghijABCDEFGHIJ012345"
"""A secret that is none of ours: it belongs to whoever pasted it."""


class Stage:
    """A home of its own for the program, and everything that it has said there."""

    def __init__(self, home: Path) -> None:
        self.home, self.work = home, home / "work"
        self.work.mkdir()
        self.said = ""

    def environment(self, url: str) -> dict[str, str]:
        return {
            **KEYS,
            "ANTHROPIC_BASE_URL": url,
            "OPENAI_BASE_URL": f"{url}/v1",
            "GOOGLE_GEMINI_BASE_URL": url,
            "HOLDFAST_STORE": str(self.home / "store" / "log.db"),
            "XDG_CONFIG_HOME": str(self.home / "config"),
            "XDG_DATA_HOME": str(self.home / "data"),
            "XDG_CACHE_HOME": str(self.home / "cache"),
            "HOME": str(self.home),
        }

    def run(self, url: str, *words: str, input: str | None = None) -> Any:
        done = run(*words, input=input, **self.environment(url))
        self.said += done.output + done.stderr + repr(done.exception)
        return done

    def spread(self) -> list[str]:
        """Where a key has got to."""
        files = [path for path in self.home.rglob("*") if path.is_file()]
        found = [str(path) for path in files if _has_key(path.read_bytes())]
        return [*found, *(["what was said"] if _has_key(self.said.encode()) else [])]


def _has_key(data: bytes) -> bool:
    return any(key.encode() in data for key in KEYS.values())


@pytest.fixture
def stage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Stage]:
    made = Stage(tmp_path)
    monkeypatch.chdir(made.work)
    yield made
    assert made.spread() == []


def script(asked: Asked) -> Answer:
    """A model that reads what it should not, and says it again."""
    if "tells of keys" in str(asked.body):
        return answer(f"It holds {EVERY}", piece=10_000)
    return answer(f"Looking for {EVERY}.", Ask("read", {"path": "notes.txt"}), piece=10_000)


LOOKS = (
    "show last", "show last --json", "context last", "context last --json", "explain last",
    "explain last --json", "ledger last", "ledger last --json", "cost", "cost --json",
    "status-line last", "sessions --json", "search keys", "compact last", "undo last",
    "recall last 1", "policy list", "models --json", "doctor", "doctor --json",
)  # fmt: skip


@pytest.mark.parametrize("name", KEYS)
def test_keys_in_prompts_files_and_answers_are_nowhere(stage: Stage, name: str) -> None:
    (stage.work / "notes.txt").write_text("tells of keys")
    with StrictServer(script) as server:
        done = stage.run(
            server.url(), "run", "-p", f"my key is {EVERY}, and {THEIRS}", "-m", MODELS[name],
            "--stream-json",
        )  # fmt: skip
        assert done.exit_code == 0, done.output
        assert "[redacted]" in done.output
        assert len(server.asked) == 2
        assert not _has_key(json.dumps([asked.body for asked in server.asked]).encode())
        for words in LOOKS if name == "ANTHROPIC_API_KEY" else LOOKS[:4]:
            stage.run(server.url(), *words.split())
    assert "[redacted]" in stage.said
    assert THEIRS in stage.said  # what is theirs stays with them


def drops(handler: BaseHTTPRequestHandler) -> None:
    handler.connection.close()


FAILURES: dict[str, Play] = {
    "denied": answering(401, f'{{"error": {{"message": "bad key {EVERY}"}}}}'.encode()),
    "refused": answering(400, f'{{"error": {{"message": "not with {EVERY}"}}}}'.encode()),
    "redirected": answering(302, EVERY.encode(), location=f"http://127.0.0.1:9/{EVERY}"),
    "garbage": in_pieces(EVERY.encode() * 3),
    "an error inside": in_pieces(
        b'event: error\ndata: {"type":"error","error":{"type":"x","message":"'
        + EVERY.encode() + b'"}}\n\n'
    ),
}  # fmt: skip


@pytest.mark.parametrize("kind", FAILURES)
def test_keys_in_failures_are_nowhere(stage: Stage, kind: str) -> None:
    with playing(FAILURES[kind]) as (url, heard):
        done = stage.run(url, "run", "-p", "hello", "-m", "claude-sonnet-4-6", "--json")
        assert done.exit_code != 0
        assert heard
        stage.run(url, "show", "last", "--json")
        stage.run(url, "cost", "--json")


def test_a_crash_tells_no_key(stage: Stage) -> None:
    crash = (
        "import holdfast\n"
        "from holdfast.engine.plugins import provider\n"
        "claude = provider('anthropic', 'anthropic')\n"
        "with holdfast.open() as hf:\n"
        "    s = hf.session(model='claude-sonnet-4-6')\n"
        "    s.user('hello')\n"
        "    print(repr(claude), vars(s), hf)\n"
        "    s.send(claude)\n"
    )
    with playing(FAILURES["denied"]) as (url, _):
        done = subprocess.run(
            [sys.executable, "-X", "dev", "-c", crash], cwd=stage.work, capture_output=True,
            env={**os.environ, **stage.environment(url)}, text=True, timeout=120,
        )  # fmt: skip
        stage.said += done.stdout + done.stderr
        assert "AuthError" in done.stderr
