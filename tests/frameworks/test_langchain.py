"""A LangChain agent whose memory is Holdfast, against the strict server."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_anthropic import ChatAnthropic
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver

import holdfast
from holdfast.frameworks.langchain import HoldfastMiddleware, read, written
from holdfast.model.window import Block
from holdfast.testing import StrictServer
from holdfast.testing.strict import answer
from tests.frameworks import talking

MODEL = "claude-sonnet-4-6"
pytestmark = pytest.mark.filterwarnings("ignore")


@tool
def look_up(n: int) -> str:
    """Look an item up."""
    return talking.looked_up(n)


@tool
def count() -> str:
    """Count the items."""
    return "sixty"


def agent(server: StrictServer, s: Any, **more: Any) -> Any:
    told: dict[str, Any] = {"model": MODEL, "api_key": "any", "max_tokens": 1_000}
    model = ChatAnthropic(base_url=server.url("anthropic"), max_retries=0, **told)
    return create_agent(
        model, [look_up, count], system_prompt=talking.SYSTEM, middleware=[HoldfastMiddleware(s)],
        **more,
    )  # fmt: skip


def said(text: str) -> dict[str, Any]:
    return {"messages": [HumanMessage(text)]}


MESSAGES = [
    HumanMessage("plain"),
    HumanMessage([{"type": "text", "text": "look"},
                  {"type": "image", "base64": "iVBORw0KGgo=", "mime_type": "image/png"}], id="h2"),
    AIMessage([{"type": "thinking", "thinking": "hm", "signature": "c2ln"},
               {"type": "text", "text": "yes"},
               {"type": "tool_use", "id": "c1", "name": "look_up", "input": {"n": 1}}],
              tool_calls=[{"name": "look_up", "args": {"n": 1}, "id": "c1"}], id="a1",
              response_metadata={"model_provider": "anthropic", "model_name": MODEL},
              usage_metadata={"input_tokens": 10, "output_tokens": 5, "total_tokens": 15}),
    ToolMessage("found", tool_call_id="c1", name="look_up", id="t1", artifact={"rows": 3}),
]  # fmt: skip


@pytest.mark.parametrize("message", MESSAGES, ids=lambda message: message.type)
def test_a_message_comes_back_as_it_was(message: Any) -> None:
    made = read(message)
    (again,) = written([Block(section="history", role=made.role, parts=made.parts)])
    assert again == message


def test_without_its_thought_a_message_keeps_its_words_and_calls() -> None:
    made = read(MESSAGES[2])
    block = Block(section="history", role="assistant", parts=made.parts[1:])
    (again,) = written([block])
    assert isinstance(again, AIMessage)
    assert (again.content, again.tool_calls[0]["args"]) == ("yes", {"n": 1})


def test_sixty_turns_on_a_small_window(tmp_path: Path) -> None:
    with talking.small(tmp_path / "log.db", MODEL) as hf, StrictServer(talking.model) as server:
        s = hf.session(model=MODEL)
        keeper = agent(server, s)
        for n in range(talking.TURNS):
            told = keeper.invoke(said(talking.question(n)))
            assert told["messages"][-1].text == f"Item-{n:03d} is noted."
        talking.check(server, s)


def test_with_a_checkpointer_what_is_told_again_is_there_once(tmp_path: Path) -> None:
    state = InMemorySaver()
    config = {"configurable": {"thread_id": "1"}}
    with StrictServer(talking.model) as server:
        for n in range(3):  # each time as a new process would begin
            with holdfast.open(tmp_path / "log.db") as hf:
                s = talking.resumed(hf, MODEL)
                agent(server, s, checkpointer=state).invoke(said(talking.question(n)), config)
                assert len(list(s.entries())) == (n + 1) * 5
        assert server.refused == []


def test_a_session_is_resumed_without_a_checkpointer(tmp_path: Path) -> None:
    with StrictServer(answer("Noted.")) as server:
        with holdfast.open(tmp_path / "log.db") as hf:
            s = hf.session(model=MODEL)
            agent(server, s).invoke(said("My cat is called Ada."))
        with holdfast.open(tmp_path / "log.db") as hf:
            agent(server, hf.session(s.id)).invoke(said("What is she called?"))
    assert "My cat is called Ada." in str(server.asked[-1].body["messages"])


def test_the_same_awaited(tmp_path: Path) -> None:
    with holdfast.open(tmp_path / "log.db") as hf, StrictServer(talking.model) as server:
        s = hf.session(model=MODEL)
        told = asyncio.run(agent(server, s).ainvoke(said(talking.question(1))))
        assert told["messages"][-1].text == "Item-001 is noted."
        assert len(list(s.entries())) == 5
        assert s.cost > 0
