"""The examples run: each agent does a task with a tool, against the strict server."""

import asyncio
import importlib.util
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from inspect import iscoroutinefunction
from pathlib import Path
from types import ModuleType
from typing import Any

import agents
import anthropic
import openai
import pytest
from google import genai
from google.genai.types import HttpOptions
from langchain_anthropic import ChatAnthropic
from pydantic_ai.models.anthropic import AnthropicModel
from pydantic_ai.providers.anthropic import AnthropicProvider

import holdfast
from holdfast.testing import StrictServer
from holdfast.testing.strict.script import Ask, answer
from tests.frameworks.clients import closed_clients

agents.set_tracing_disabled(True)
EXAMPLES = Path(__file__).resolve().parents[1] / "examples"
LONGEST = 60


def load(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
    assert spec
    assert spec.loader
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


def gemini(server: StrictServer) -> Any:
    options = HttpOptions(base_url=server.url("google"), api_version="v1beta")
    return genai.Client(api_key="any", http_options=options)


def claude_of_pydantic(server: StrictServer) -> Any:
    client = anthropic.AsyncAnthropic(api_key="any", base_url=server.url("anthropic"))
    return AnthropicModel("claude-sonnet-4-6", provider=AnthropicProvider(anthropic_client=client))


def claude_of_langchain(server: StrictServer) -> Any:
    told: dict[str, Any] = {"model": "claude-sonnet-4-6", "api_key": "any"}
    return ChatAnthropic(base_url=server.url("anthropic"), **told)


CLIENTS: dict[str, Callable[[StrictServer], Any]] = {
    "anthropic_agent": lambda server: anthropic.Anthropic(
        api_key="any", base_url=server.url("anthropic")
    ),
    "openai_agent": lambda server: openai.OpenAI(api_key="any", base_url=server.url("openai")),
    "google_agent": gemini,
    "agents_sdk_agent": lambda server: openai.AsyncOpenAI(
        api_key="any", base_url=server.url("openai")
    ),
    "langchain_agent": claude_of_langchain,
    "pydantic_ai_agent": claude_of_pydantic,
}


@pytest.fixture(autouse=True)
def closed() -> Iterator[None]:
    with closed_clients():
        yield


def said(name: str, server: StrictServer, *given: str) -> str:
    """What the example answers to a task."""
    task, store, *resume = given
    main = load(name).main
    if not iscoroutinefunction(main):
        used = CLIENTS[name](server)
        with closing(getattr(used, "_client", used)):
            return main(task, store, used, *resume)

    async def awaited() -> str:
        used = CLIENTS[name](server)
        try:
            return await main(task, store, used, *resume)
        finally:
            await getattr(used, "client", used).close()

    return asyncio.run(awaited())


@pytest.mark.filterwarnings("ignore")  # the SDKs' own
@pytest.mark.parametrize("name", CLIENTS)
def test_an_agent_does_its_task_and_goes_on_later(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    look = answer("Looking.", Ask("shell", {"command": "echo 6 times 7"}))
    answers = iter([look, answer("It is 42."), answer("As I said, 42.")])
    store = str(tmp_path / "log.db")
    with StrictServer(lambda asked: next(answers)) as server:
        assert said(name, server, "what is 6 times 7?", store) == "It is 42."
        assert "6 times 7" in str(server.asked[-1].body)
        with holdfast.open(store) as hf:
            (session,) = hf.sessions()
            assert hf.session(session.id).cost > 0
        assert f"[session {session.id}, $0.0" in capsys.readouterr().err
        assert said(name, server, "what was it?", store, session.id) == "As I said, 42."
        assert "what is 6 times 7?" in str(server.asked[-1].body)
        assert server.refused == []


@pytest.mark.filterwarnings("ignore")  # the SDKs' own
@pytest.mark.parametrize("name", CLIENTS)
def test_a_tool_that_is_not_there_is_no_end(name: str, tmp_path: Path) -> None:
    answers = iter([answer(Ask("fly", {"to": "the moon"})), answer("Then not.")])
    with StrictServer(lambda asked: next(answers)) as server:
        assert said(name, server, "fly to the moon", str(tmp_path / "log.db")) == "Then not."
        assert "fly" in str(server.asked[-1].body)
        assert server.refused == []


@pytest.mark.parametrize("file", sorted(EXAMPLES.glob("*.py")), ids=lambda file: file.stem)
def test_without_a_task_an_example_says_how_it_is_used(file: Path) -> None:
    done = subprocess.run([sys.executable, str(file)], capture_output=True, text=True, timeout=60)
    assert done.returncode == 1
    assert done.stderr.startswith("What is to be done? Use: python ")
    assert "Traceback" not in done.stderr


def test_every_example_is_run() -> None:
    assert sorted(CLIENTS) == sorted(file.stem for file in EXAMPLES.glob("*.py"))


@pytest.mark.parametrize("file", sorted(EXAMPLES.glob("*.py")), ids=lambda file: file.stem)
def test_an_example_is_short(file: Path) -> None:
    assert len(file.read_text("utf-8").splitlines()) < LONGEST
