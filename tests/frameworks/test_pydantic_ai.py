"""A pydantic-ai agent whose memory is Holdfast, against the strict server."""

import asyncio
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from anthropic import AsyncAnthropic
from pydantic_ai import Agent, BinaryImage
from pydantic_ai.messages import (
    ModelMessage,
    ModelRequest,
    ModelResponse,
    SystemPromptPart,
    TextPart,
    ThinkingPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.models.anthropic import AnthropicModel
from pydantic_ai.models.function import FunctionModel
from pydantic_ai.providers.anthropic import AnthropicProvider
from pydantic_ai.usage import RequestUsage

import holdfast
from holdfast.errors import InvalidRequest
from holdfast.frameworks.pydantic_ai import HoldfastHistory, read, written
from holdfast.model.window import Block
from holdfast.testing import StrictServer
from holdfast.testing.strict import answer
from tests.frameworks import talking

MODEL = "claude-sonnet-4-6"
AT = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
pytestmark = pytest.mark.filterwarnings("ignore")


def look_up(n: int) -> str:
    """Look an item up."""
    return talking.looked_up(n)


def count() -> str:
    """Count the items."""
    return "sixty"


def agent(client: AsyncAnthropic, s: Any) -> Agent[None, str]:
    model = AnthropicModel(MODEL, provider=AnthropicProvider(anthropic_client=client))
    return Agent(
        model, instructions=talking.SYSTEM, tools=[look_up, count],
        capabilities=[HoldfastHistory(s)], model_settings={"max_tokens": 1_000},
    )  # fmt: skip


def client(server: StrictServer) -> AsyncAnthropic:
    return AsyncAnthropic(api_key="any", base_url=server.url("anthropic"), max_retries=0)


MESSAGES: list[ModelMessage] = [
    ModelRequest(
        parts=[SystemPromptPart("be brief", timestamp=AT), UserPromptPart("hello", timestamp=AT)],
        run_id="r1", timestamp=AT, instructions="kindly",
    ),
    ModelResponse(
        parts=[ThinkingPart("hm", signature="c2ln", provider_name="anthropic"), TextPart("yes"),
               ToolCallPart("look_up", {"n": 1}, "c1"), ToolCallPart("count", "{}", "c2")],
        usage=RequestUsage(input_tokens=10, output_tokens=5), model_name=MODEL, timestamp=AT,
        provider_name="anthropic", run_id="r1",
    ),
    ModelRequest(
        parts=[ToolReturnPart("look_up", {"found": 1}, "c1", timestamp=AT),
               ToolReturnPart("count", "two", "c2", timestamp=AT),
               UserPromptPart(["see", BinaryImage(b"", media_type="image/png")], timestamp=AT)],
        run_id="r1", timestamp=AT,
    ),
]  # fmt: skip


def test_messages_come_back_as_they_were() -> None:
    made = [one for message in MESSAGES for one in read(message)]
    blocks = [Block(section="history", role=one.role, parts=one.parts) for one in made]
    assert written(blocks) == MESSAGES


def test_without_its_thought_a_message_keeps_its_words_and_calls() -> None:
    (made,) = read(MESSAGES[1])
    (again,) = written([Block(section="history", role="assistant", parts=made.parts[1:])])
    assert [part.part_kind for part in again.parts] == ["text", "tool-call", "tool-call"]


def test_sixty_turns_on_a_small_window(tmp_path: Path) -> None:
    async def talk(server: StrictServer, s: Any) -> None:
        async with client(server) as using:
            keeper = agent(using, s)
            for n in range(talking.TURNS):
                told = await keeper.run(talking.question(n))
                assert told.output == f"Item-{n:03d} is noted."

    with talking.small(tmp_path / "log.db", MODEL) as hf, StrictServer(talking.model) as server:
        s = hf.session(model=MODEL)
        asyncio.run(talk(server, s))
        talking.check(server, s)
        assert all(talking.SYSTEM in str(asked.body["system"]) for asked in server.asked)


def test_a_history_that_is_told_again_is_there_once(tmp_path: Path) -> None:
    async def talk(server: StrictServer) -> None:
        past: list[ModelMessage] = []
        for n in range(3):  # each time as a new process would begin
            with holdfast.open(tmp_path / "log.db") as hf:
                s = talking.resumed(hf, MODEL)
                async with client(server) as using:
                    told = await agent(using, s).run(talking.question(n), message_history=past)
                past = told.all_messages()
                assert len(past) == (n + 1) * 4
                assert len(list(s.entries())) == (n + 1) * 4

    with StrictServer(talking.model) as server:
        asyncio.run(talk(server))
        assert server.refused == []


def test_a_session_is_resumed_without_a_history(tmp_path: Path) -> None:
    async def say(server: StrictServer, text: str) -> None:
        with holdfast.open(tmp_path / "log.db") as hf:
            s = talking.resumed(hf, MODEL)
            async with client(server) as using:
                await agent(using, s).run(text)
            assert s.cost > 0

    with StrictServer(answer("Noted.")) as server:
        asyncio.run(say(server, "My cat is called Ada."))
        asyncio.run(say(server, "What is she called?"))
    assert "My cat is called Ada." in str(server.asked[-1].body["messages"])


@pytest.mark.parametrize("by", ["conversation", "deps"])
def test_one_agent_serves_two_users_at_once_and_tells_neither_of_the_other(
    by: str, tmp_path: Path
) -> None:
    async def all_of_them(server: StrictServer, hf: holdfast.Holdfast) -> None:
        async with client(server) as asking:
            model = AnthropicModel(MODEL, provider=AnthropicProvider(anthropic_client=asking))
            name = (lambda ctx: ctx.deps) if by == "deps" else None
            made = HoldfastHistory(hf, name, model=MODEL)
            runs: Any = Agent(model, deps_type=str, capabilities=[made])

            async def one(who: str) -> None:
                for n in range(3):
                    how = {"deps": who} if by == "deps" else {"conversation_id": who}
                    await runs.run(f"{n}: I am {who}", **how)

            await asyncio.gather(one("alice"), one("bob"))

    with holdfast.open(tmp_path / "log.db") as hf, StrictServer(answer("Noted.")) as server:
        asyncio.run(all_of_them(server, hf))
        assert server.refused == []
        for asked in server.asked:
            assert not ("alice" in str(asked.body) and "bob" in str(asked.body))
        assert {one.id for one in hf.sessions()} == {"alice", "bob"}
        for who in ("alice", "bob"):
            assert len(list(hf.session(who).entries())) == 6


def test_a_name_that_is_none_is_refused(tmp_path: Path) -> None:
    with holdfast.open(tmp_path / "log.db") as hf, StrictServer(answer("Noted.")) as server:

        async def run() -> None:
            async with client(server) as asking:
                model = AnthropicModel(MODEL, provider=AnthropicProvider(anthropic_client=asking))
                runs: Any = Agent(model, capabilities=[HoldfastHistory(hf, lambda _: "")])
                await runs.run("Hello")

        with pytest.raises(InvalidRequest, match="conversation"):
            asyncio.run(run())
        assert hf.sessions() == ()


def test_replies_that_are_alike_in_everything_are_all_kept(tmp_path: Path) -> None:
    def constant(*_: Any) -> ModelResponse:
        said = [TextPart("Noted.")]
        return ModelResponse(said, timestamp=AT, provider_response_id="chatcmpl-0")

    with holdfast.open(tmp_path / "log.db") as hf:
        agent = Agent(FunctionModel(constant), capabilities=[HoldfastHistory(hf, model=MODEL)])
        asked = [f"question {turn}" for turn in range(3)]
        for one in asked:
            # Not `run_sync`: it leaves an event loop, and so two sockets, open for good.
            asyncio.run(agent.run(one, conversation_id="alice"))
        kept = [e.body.text for e in hf.session("alice").entries()]  # type: ignore[union-attr]
        assert kept == [text for one in asked for text in (one, "Noted.")]
