"""OPENAI_BASE_URL without a model: the server is asked which it has, and what is taken is said."""

import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from holdfast.agent.model_choice import whom
from holdfast.errors import AuthError

Says = Callable[[str, str], tuple[int, bytes]]
"""What is answered at a path, to a key."""


@contextmanager
def server(says: Says) -> Iterator[str]:
    """A server on loopback; its base URL."""

    class Answers(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            status, body = says(self.path, self.headers.get("authorization", ""))
            self.send_response(status)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def do_POST(self) -> None:
            self.rfile.read(int(self.headers.get("content-length", 0)))
            self.do_GET()

        def log_message(self, format: str, *args: Any) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Answers) as made:
        serving = threading.Thread(target=made.serve_forever, args=(0.01,), daemon=True)
        serving.start()
        try:
            yield f"http://127.0.0.1:{made.server_address[1]}/v1"
        finally:
            made.shutdown()
            serving.join(10)


def listing(*names: str) -> Says:
    body = json.dumps({"object": "list", "data": [{"id": name} for name in names]}).encode()
    return lambda path, key: (200, body) if path == "/v1/models" else (404, b"")


@pytest.mark.parametrize(
    ("names", "taken", "why"),
    [
        (("qwen3:8b",), "qwen3:8b", "the only model"),
        (("nomic-embed-text", "llama3.2", "qwen3:8b"), "llama3.2", "one of the 3 models"),
        (("gpt-4o", "gpt-5"), "gpt-5", "one of the 2 models"),
        (("claude-sonnet-4-6",), "claude-sonnet-4-6", "the only model"),
    ],
)
def test_the_server_says_which_model(names: tuple[str, ...], taken: str, why: str) -> None:
    with server(listing(*names)) as url:
        found = whom("", {"OPENAI_BASE_URL": url})
    assert (found.model, found.provider, found.format) == (taken, "openai", "openai-chat")
    assert why in found.why
    assert url in found.why
    assert "-m NAME" in found.why


def test_what_is_named_is_taken_and_nobody_is_asked() -> None:
    def nobody(path: str, key: str) -> tuple[int, bytes]:
        raise AssertionError("it was asked")

    with server(nobody) as url:
        env = {"OPENAI_BASE_URL": url}
        assert whom("llama3", env).model == "llama3"
        assert whom("", env | {"HOLDFAST_MODEL": "mine"}).model == "mine"
        assert whom("", env | {"ANTHROPIC_API_KEY": "k"}).provider == "anthropic"


def test_the_key_goes_along() -> None:
    keys: list[str] = []

    def says(path: str, key: str) -> tuple[int, bytes]:
        keys.append(key)
        return 200, b'{"data": [{"id": "m"}]}'

    with server(says) as url:
        assert whom("", {"OPENAI_BASE_URL": url, "OPENAI_API_KEY": "the-key"}).model == "m"
    assert keys == ["Bearer the-key"]


@pytest.mark.parametrize(
    ("status", "body", "words"),
    [
        (404, b"not here", "says 404"),
        (200, b"<html>", "no list of models"),
        (200, b'{"data": [{"name": "x"}]}', "no list of models"),
        (200, b'{"data": []}', "has no model"),
        (401, b'{"error": {"message": "who are you?"}}', "who are you?"),
    ],
)
def test_what_is_missing_is_said(status: int, body: bytes, words: str) -> None:
    with server(lambda path, key: (status, body)) as url:
        with pytest.raises(AuthError, match="-m") as told:
            whom("", {"OPENAI_BASE_URL": url})
        assert words in str(told.value)
        assert url in str(told.value)


def test_a_server_that_does_not_run_is_named() -> None:
    with server(listing("m")) as url:
        pass
    with pytest.raises(AuthError, match="cannot be reached") as told:
        whom("", {"OPENAI_BASE_URL": url.replace("//", "//user:secret@")})
    assert "secret" not in str(told.value)


def test_a_run_says_which_model_it_talks_to(tmp_path: Path) -> None:
    env = {name: value for name, value in os.environ.items() if "_API_KEY" not in name}
    env |= {"HOLDFAST_STORE": str(tmp_path / "log.db"), "HOLDFAST_MODEL": ""}
    told = [sys.executable, "-m", "holdfast.cli", "run", "-p", "hi"]
    with server(listing("qwen3:8b")) as url:
        done = subprocess.run(
            told, cwd=tmp_path, env=env | {"OPENAI_BASE_URL": url}, capture_output=True, text=True,
            timeout=60, check=False,
        )  # fmt: skip
    assert f"qwen3:8b is the only model that {url} has; -m NAME takes another" in done.stderr
    assert done.returncode == 1, "this server only lists"
