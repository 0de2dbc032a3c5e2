"""An OpenAI Agents SDK agent whose session is Holdfast, against the strict server."""

import asyncio
from pathlib import Path
from typing import Any

import openai
import pytest
from agents import (
    Agent,
    ModelSettings,
    OpenAIResponsesModel,
    RunConfig,
    Runner,
    function_tool,
    set_tracing_disabled,
)
from agents.memory import Session, is_openai_responses_compaction_aware_session

import holdfast
from holdfast.errors import InvalidRequest
from holdfast.frameworks.agents_sdk import HoldfastSession
from holdfast.model.message import Message
from holdfast.testing import StrictServer
from tests.frameworks import talking

MODEL = "gpt-5"
set_tracing_disabled(True)

ITEMS: list[Any] = [
    {"role": "user", "content": "hello"},
    {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "a"},
        {"type": "input_image", "image_url": "https://a.example/b.png", "detail": "low"}]},
    {"id": "rs_1", "type": "reasoning", "summary": [], "encrypted_content": "gAAAA"},
    {"id": "msg_1", "type": "message", "role": "assistant", "status": "completed",
     "content": [{"type": "output_text", "text": "hi", "annotations": [], "logprobs": []}]},
    {"id": "fc_1", "type": "function_call", "call_id": "c1", "name": "f", "arguments": "{ }",
     "status": "completed"},
    {"id": "ct_1", "type": "custom_tool_call", "call_id": "c2", "name": "g", "input": "free"},
    {"type": "function_call_output", "call_id": "c1", "output": "one"},
    {"type": "custom_tool_call_output", "call_id": "c2", "output": [
        {"type": "input_text", "text": "two"}]},
    {"id": "ws_1", "type": "web_search_call", "status": "completed", "action": {"type": "search"}},
    {"role": "assistant", "content": "done"},
]  # fmt: skip


def look_up(n: int) -> str:
    """Look an item up."""
    return talking.looked_up(n)


def count() -> str:
    """Count the items."""
    return "sixty"


def agent(client: openai.AsyncOpenAI, *more: Any) -> Agent[None]:
    return Agent(
        name="keeper",
        instructions=talking.SYSTEM,
        model=OpenAIResponsesModel(MODEL, client),
        model_settings=ModelSettings(
            store=False, response_include=["reasoning.encrypted_content"], max_tokens=1_000
        ),
        tools=[function_tool(look_up), function_tool(count), *more],
    )


def test_it_is_a_session_of_the_sdk(tmp_path: Path) -> None:
    with holdfast.open(tmp_path / "log.db") as hf:
        made = HoldfastSession(hf.session(model=MODEL))
        assert isinstance(made, Session)
        assert not is_openai_responses_compaction_aware_session(made)  # the ladder compacts


def test_items_come_back_as_they_were(tmp_path: Path) -> None:
    async def told(items: list[Any]) -> list[Any]:
        with holdfast.open(tmp_path / "log.db") as hf:
            made = HoldfastSession(hf.session(model=MODEL))
            await made.add_items(items)
            again = HoldfastSession(hf.session(made.session_id))
            return await again.get_items()

    assert asyncio.run(told(ITEMS)) == ITEMS


def test_the_newest_items_alone(tmp_path: Path) -> None:
    async def told() -> list[Any]:
        with holdfast.open(tmp_path / "log.db") as hf:
            made = HoldfastSession(hf.session(model=MODEL))
            assert await made.get_items() == []
            await made.add_items(ITEMS)
            return [await made.get_items(limit) for limit in (0, 1, 3, 99)]

    assert asyncio.run(told()) == [[], ITEMS[-1:], ITEMS[-3:], ITEMS]


def test_items_are_popped_one_by_one_and_stay_in_the_log(tmp_path: Path) -> None:
    async def told() -> None:
        with holdfast.open(tmp_path / "log.db") as hf:
            s = hf.session(model=MODEL)
            made = HoldfastSession(s)
            await made.add_items(ITEMS[:7])
            popped = [await made.pop_item() for _ in range(8)]
            assert popped == [*reversed(ITEMS[:7]), None]
            assert await made.get_items() == []
            said = [e.body.text for e in s.entries() if isinstance(e.body, Message)]
            assert said[0] == "hello"
            assert "hi" in said

    asyncio.run(told())


def test_a_cleared_session_begins_anew_and_keeps_its_log(tmp_path: Path) -> None:
    async def told() -> None:
        with holdfast.open(tmp_path / "log.db") as hf:
            s = hf.session(model=MODEL)
            made = HoldfastSession(s)
            await made.add_items(ITEMS[:1])
            await made.clear_session()
            assert await made.get_items() == []
            await made.add_items([{"role": "user", "content": "again"}])
            assert await made.get_items() == [{"role": "user", "content": "again"}]
            assert [e.body.text for e in s.entries() if isinstance(e.body, Message)] == [
                "hello", "again",
            ]  # fmt: skip

    asyncio.run(told())


@pytest.mark.filterwarnings("ignore")
def test_sixty_turns_on_a_small_window(tmp_path: Path) -> None:
    async def talk(server: StrictServer, s: Any) -> None:
        made = HoldfastSession(s)
        config = RunConfig(call_model_input_filter=made.fit)
        url = server.url("openai")
        async with openai.AsyncOpenAI(api_key="any", base_url=url, max_retries=0) as client:
            keeper = agent(client, *made.tools())
            for n in range(talking.TURNS):
                asked = talking.question(n)
                told = await Runner.run(keeper, asked, session=made, run_config=config)
                assert told.final_output == f"Item-{n:03d} is noted."

    with talking.small(tmp_path / "log.db", MODEL) as hf, StrictServer(talking.model) as server:
        s = hf.session(model=MODEL)
        asyncio.run(talk(server, s))
        talking.check(server, s)


def test_two_users_at_once_have_their_own_sessions_and_each_call_is_counted_once(
    tmp_path: Path,
) -> None:
    async def one(server: StrictServer, session: HoldfastSession, who: str) -> None:
        async with openai.AsyncOpenAI(api_key="any", base_url=server.url("openai")) as client:
            for n in range(3):
                await Runner.run(agent(client), f"{n}: I am {who}", session=session)

    async def all_of_them(server: StrictServer, hf: holdfast.Holdfast) -> None:
        alice, bob = (
            HoldfastSession(hf.session(who, create=True, model=MODEL)) for who in ("alice", "bob")
        )
        await asyncio.gather(
            one(server, alice, "alice"), one(server, bob, "bob"), one(server, alice, "alice")
        )

    with holdfast.open(tmp_path / "log.db") as hf, StrictServer("Noted.") as server:
        asyncio.run(all_of_them(server, hf))
        assert server.refused == []
        for asked in server.asked:
            assert not ("alice" in str(asked.body) and "bob" in str(asked.body))
        assert {one.id for one in hf.sessions()} == {"alice", "bob"}
        counted = {one.name: one.calls for one in hf.costs("session")}
        assert counted == {"alice": 6, "bob": 3}


def test_what_is_no_session_is_refused_in_words(tmp_path: Path) -> None:
    with (
        holdfast.open(tmp_path / "log.db") as hf,
        pytest.raises(InvalidRequest, match=r"hf\.session"),
    ):
        HoldfastSession(hf)  # type: ignore[arg-type]
