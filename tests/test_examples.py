"""The examples run: each agent does a task with a tool, against the strict server."""

import importlib.util
from pathlib import Path
from types import ModuleType
from typing import Any

import anthropic
import openai
import pytest
from google import genai
from google.genai.types import HttpOptions

import holdfast
from holdfast.testing import StrictServer
from holdfast.testing.strict.script import Ask, answer

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"
LONGEST = 60


def load(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
    assert spec
    assert spec.loader
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


def client(name: str, server: StrictServer) -> Any:
    if name == "anthropic_agent":
        return anthropic.Anthropic(api_key="any", base_url=server.url("anthropic"))
    if name == "openai_agent":
        return openai.OpenAI(api_key="any", base_url=server.url("openai"))
    options = HttpOptions(base_url=server.url("google"), api_version="v1beta")
    return genai.Client(api_key="any", http_options=options)


@pytest.mark.parametrize("name", ["anthropic_agent", "openai_agent", "google_agent"])
def test_an_agent_does_its_task(name: str, tmp_path: Path) -> None:
    answers = iter(
        [answer("Looking.", Ask("shell", {"command": "echo 6 times 7"})), answer("It is 42.")]
    )
    with StrictServer(lambda asked: next(answers)) as server:
        with client(name, server) as used:
            said = load(name).main("what is 6 times 7?", str(tmp_path / "log.db"), used)
        assert said == "It is 42."
        assert "6 times 7" in str(server.asked[-1].body)
        assert not [one.rule for one in server.asked if one.rule]
    with holdfast.open(tmp_path / "log.db") as hf:
        (session,) = hf.sessions()
        assert hf.session(session.id).cost > 0


@pytest.mark.parametrize("file", sorted(EXAMPLES.glob("*.py")), ids=lambda file: file.stem)
def test_an_example_is_short(file: Path) -> None:
    assert len(file.read_text("utf-8").splitlines()) < LONGEST
