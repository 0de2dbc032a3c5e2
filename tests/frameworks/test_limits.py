"""The longest reply that a framework asks for is kept free in each window it is given."""

import asyncio
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

import holdfast
from holdfast.engine.client import Holdfast
from holdfast.files import config_home
from holdfast.testing import StrictServer
from holdfast.testing.strict.script import tokens

WINDOW, LIMIT = 8_192, 5_000
CLAUDE, GPT = "claude-sonnet-4-6", "gpt-5"
pytestmark = pytest.mark.filterwarnings("ignore")


def small(path: Path, model: str) -> Holdfast:
    """A store whose model holds little, as the user's own file says."""
    home = config_home()
    home.mkdir(parents=True)
    said = f'["{model}"]\nwindow = {WINDOW}\noutput_limit = 6000\n'
    (home / "profiles.toml").write_text(said, "utf-8")
    return holdfast.open(path)


Framework = tuple[Callable[[str], Any], Callable[[], Any]]
"""How something is said, and how its connections are let go."""


def langchain(server: StrictServer, s: Any) -> Framework:
    from langchain.agents import create_agent
    from langchain_anthropic import ChatAnthropic

    from holdfast.frameworks.langchain import HoldfastMiddleware
    from tests.frameworks.clients import closed_clients

    clients = ExitStack()
    clients.enter_context(closed_clients())

    async def close() -> None:
        clients.close()

    made: dict[str, Any] = {"model": CLAUDE, "api_key": "any", "max_tokens": LIMIT}
    model = ChatAnthropic(base_url=server.url("anthropic"), max_retries=0, **made)
    agent: Any = create_agent(model, [], middleware=[HoldfastMiddleware(s)])
    return (
        lambda text: asyncio.to_thread(agent.invoke, {"messages": [("user", text)]}),
        close,
    )


def agents_sdk(server: StrictServer, s: Any) -> Framework:
    import openai
    from agents import Agent, ModelSettings, OpenAIResponsesModel, RunConfig, Runner
    from agents import set_tracing_disabled as untraced

    from holdfast.frameworks.agents_sdk import HoldfastSession

    untraced(True)
    client = openai.AsyncOpenAI(api_key="any", base_url=server.url("openai"), max_retries=0)
    settings = ModelSettings(store=False, max_tokens=LIMIT)
    agent: Any = Agent(name="a", model=OpenAIResponsesModel(GPT, client), model_settings=settings)
    held = HoldfastSession(s)
    config = RunConfig(call_model_input_filter=held.fit)
    return (
        lambda text: Runner.run(agent, text, session=held, run_config=config),
        client.close,
    )


def pydantic_ai(server: StrictServer, s: Any) -> Framework:
    from anthropic import AsyncAnthropic
    from pydantic_ai import Agent
    from pydantic_ai.models.anthropic import AnthropicModel
    from pydantic_ai.providers.anthropic import AnthropicProvider

    from holdfast.frameworks.pydantic_ai import HoldfastHistory

    client = AsyncAnthropic(api_key="any", base_url=server.url("anthropic"), max_retries=0)
    model = AnthropicModel(CLAUDE, provider=AnthropicProvider(anthropic_client=client))
    agent = Agent(model, capabilities=[HoldfastHistory(s)], model_settings={"max_tokens": LIMIT})
    return agent.run, client.close


@pytest.mark.parametrize("framework", [langchain, agents_sdk, pydantic_ai])
def test_what_a_framework_asks_for_is_kept_free(tmp_path: Path, framework: Any) -> None:
    model = GPT if framework is agents_sdk else CLAUDE
    with small(tmp_path / "log.db", model) as hf, StrictServer("It is noted. " * 40) as server:
        session = hf.session(model=model)

        async def talk() -> None:
            say, close = framework(server, session)
            for n in range(12):
                await say(f"note the item {n}: " + "it has a colour " * 60)
            await close()

        asyncio.run(talk())
        assert server.refused == []
        for asked in server.asked:
            body = asked.body
            longest = body.get("max_tokens") or body.get("max_output_tokens")
            assert longest == LIMIT
            assert tokens(body) + LIMIT <= WINDOW
