"""A server of models that already runs on this machine is noticed where no key is set."""

import json
import os
import subprocess
import sys
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from holdfast.agent.api_keys import check_key
from holdfast.agent.model_choice import SMALL, whom
from holdfast.engine.settings import settings
from holdfast.errors import AuthError, InvalidRequest
from holdfast.providers import weights
from tests.agent.test_served import Says, listing, server


def port(url: str) -> str:
    return str(urlsplit(url).port)


def test_the_usual_ports_are_looked_at_unless_others_are_named(tmp_path: Path) -> None:
    assert settings(environ={}).providers.local_ports == (11434, 1234, 8080, 8000)
    env = {"HOLDFAST_LOCAL_PORTS": "81, 82"}
    assert settings(environ=env).providers.local_ports == (81, 82)
    assert settings(environ={"HOLDFAST_LOCAL_PORTS": "none"}).providers.local_ports == ()
    (tmp_path / "holdfast").mkdir()
    (tmp_path / "holdfast" / "settings.toml").write_text("[providers]\nlocal_ports = []\n")
    assert settings(environ={"XDG_CONFIG_HOME": str(tmp_path)}).providers.local_ports == ()
    for wrong in ("http", "0", "70000", "-1"):
        with pytest.raises(InvalidRequest, match="such as 11434"):
            settings(environ={"HOLDFAST_LOCAL_PORTS": wrong})


def test_a_running_server_comes_before_the_embedded_model(monkeypatch: pytest.MonkeyPatch) -> None:
    weights.place().parent.mkdir(parents=True)
    weights.place().touch()
    os.truncate(weights.place(), weights.SIZE)
    with server(listing("nomic-embed-text", "qwen3:8b", "llama3.2")) as url:
        env = {"HOLDFAST_LOCAL_PORTS": port(url)}
        found = whom("", env)
        assert (found.model, found.format, found.url) == ("qwen3:8b", "openai-chat", url)
        assert "one of the 3 models" in found.why
        assert url in found.why
        check_key(found, env)
        assert whom("llama3.2", env).url == url
        assert whom("absent", env).url == ""
        assert whom("", env | {"ANTHROPIC_API_KEY": "k"}).provider == "anthropic"
    assert whom("", env).model == SMALL


@pytest.mark.parametrize(
    "says",
    [
        lambda path, key: (404, b"not here"),
        lambda path, key: (200, b"<html>somebody's site</html>"),
        lambda path, key: (401, b'{"error": {"message": "who are you?"}}'),
        listing(),
        listing("nomic-embed-text"),
    ],
)
def test_what_is_no_server_of_models_is_passed_over(says: Says) -> None:
    with server(says) as other, server(listing("mine")) as url:
        env = {"HOLDFAST_LOCAL_PORTS": f"{port(other)} {port(url)}"}
        assert whom("", env).model == "mine"
        with pytest.raises(AuthError, match="no server of models answers"):
            whom("", {"HOLDFAST_LOCAL_PORTS": port(other)})


def test_a_run_without_a_key_talks_to_it(tmp_path: Path) -> None:
    pieces = ({"delta": {"content": "Four."}}, {"delta": {}, "finish_reason": "stop"})
    events = [{"id": "1", "model": "mine", "choices": [{"index": 0, **one}]} for one in pieces]
    stream = "".join(f"data: {json.dumps(one)}\n\n" for one in events) + "data: [DONE]\n\n"

    def says(path: str, key: str) -> tuple[int, bytes]:
        assert not key
        return (
            (200, stream.encode()) if path.endswith("/completions") else listing("mine")(path, "")
        )

    with server(says) as url:
        env = {name: value for name, value in os.environ.items() if "_API_KEY" not in name}
        done = subprocess.run(
            [sys.executable, "-m", "holdfast.cli", "run", "-p", "What is two and two?"],
            cwd=tmp_path, env=env | {"HOLDFAST_LOCAL_PORTS": port(url)}, capture_output=True,
            text=True, timeout=60, check=False,
        )  # fmt: skip
    assert done.stdout.strip() == "Four.", done.stderr
    assert f"mine is the only model that the server at {url} has" in done.stderr
