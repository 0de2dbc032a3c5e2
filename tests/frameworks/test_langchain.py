"""A LangChain agent whose memory is Holdfast, against the strict server."""

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_anthropic import ChatAnthropic
from langchain_core.language_models.chat_models import BaseChatModel
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState, StateGraph

import holdfast
from holdfast.errors import InvalidRequest
from holdfast.frameworks.langchain import HoldfastMiddleware, read, written
from holdfast.frameworks.langgraph import HoldfastSaver
from holdfast.model.window import Block
from holdfast.testing import StrictServer
from holdfast.testing.strict import Ask, answer
from tests.frameworks import talking
from tests.frameworks.clients import closed_clients, ran

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


@pytest.fixture(autouse=True)
def closed() -> Iterator[None]:
    with closed_clients():
        yield


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
        told = ran(agent(server, s).ainvoke(said(talking.question(1))))
        assert told["messages"][-1].text == "Item-001 is noted."
        assert len(list(s.entries())) == 5
        assert s.cost > 0


def remembers(asked: Any) -> Any:
    """Repeats what it was shown, so that what leaks is heard."""
    return answer(f"I see: {asked.body['messages']}"[:400].replace("\\", ""))


def in_thread(who: str) -> Any:
    return {"configurable": {"thread_id": who}}


def agent_of(server: StrictServer, hf: Any, **more: Any) -> Any:
    made: dict[str, Any] = {"model": MODEL, "api_key": "any", "max_tokens": 500}
    model = ChatAnthropic(base_url=server.url("anthropic"), max_retries=0, **made)
    return create_agent(model, [], middleware=[HoldfastMiddleware(hf, model=MODEL)], **more)


@pytest.mark.parametrize("saved", ["nothing", "memory", "holdfast"])
def test_one_agent_serves_two_threads_and_shows_neither_the_others_words(
    saved: str, tmp_path: Path
) -> None:
    with holdfast.open(tmp_path / "log.db") as hf, StrictServer(remembers) as server:
        savers = {"memory": InMemorySaver(), "holdfast": HoldfastSaver(hf)}
        more = {"checkpointer": savers[saved]} if saved in savers else {}
        runs = agent_of(server, hf, **more)
        for n in range(2):
            for who, pin in (("alice", "4711"), ("bob", "1234")):
                runs.invoke(said(f"{n}: I am {who}, my PIN is {pin}"), in_thread(who))
                other = {"alice": "1234", "bob": "4711"}[who]
                assert other not in str(server.asked[-1].body)
        assert {one.id for one in hf.sessions()} == {"alice", "bob"}
        for who in ("alice", "bob"):
            assert len(list(hf.session(who).entries())) == 4
        assert server.refused == []


def test_threads_at_once_stay_apart_when_awaited(tmp_path: Path) -> None:
    async def all_of_them(runs: Any) -> None:
        async def one(who: str) -> None:
            for n in range(3):
                await runs.ainvoke(said(f"{n}: I am {who}"), in_thread(who))

        await asyncio.gather(*(one(f"user-{n}") for n in range(5)))

    with holdfast.open(tmp_path / "log.db") as hf, StrictServer(remembers) as server:
        ran(all_of_them(agent_of(server, hf)))
        for n in range(5):
            texts = [e.body.text for e in hf.session(f"user-{n}").entries()]  # type: ignore[union-attr]
            assert len(texts) == 6
            assert not any(f"user-{other}" in text for text in texts for other in {*range(5)} - {n})


def test_ten_runs_of_one_thread_at_once_are_one_session(tmp_path: Path) -> None:
    async def all_of_them(runs: Any) -> None:
        asks = (runs.ainvoke(said(f"question {n}"), in_thread("home")) for n in range(10))
        await asyncio.gather(*asks)

    with holdfast.open(tmp_path / "log.db") as hf, StrictServer(answer("Noted.")) as server:
        ran(all_of_them(agent_of(server, hf)))
        assert [one.id for one in hf.sessions()] == ["home"]
        said_there = [e.body.text for e in hf.session("home").entries()]  # type: ignore[union-attr]
        assert sorted(said_there) == sorted([f"question {n}" for n in range(10)] + ["Noted."] * 10)
        assert server.refused == []


def test_without_a_thread_nothing_is_shared_by_accident(tmp_path: Path) -> None:
    with holdfast.open(tmp_path / "log.db") as hf, StrictServer(answer("Noted.")) as server:
        with pytest.raises(InvalidRequest, match="thread_id"):
            agent_of(server, hf).invoke(said("Hello"))
        one = agent(server, hf.session(model=MODEL))
        one.invoke(said("I am Alice"), in_thread("alice"))
        with pytest.raises(InvalidRequest, match="alice"):
            one.invoke(said("I am Bob"), in_thread("bob"))
        assert "Alice" not in str(server.asked[-1].body) or len(server.asked) == 1


def test_recall_answers_from_the_thread_that_asks(tmp_path: Path) -> None:
    def asks(asked: Any) -> Any:
        told = str(asked.body["messages"])
        if "tool_result" in told.rpartition("find it")[2]:
            return answer("Done.")
        return (
            answer(Ask("search_history", {"query": "PIN"})) if "find it" in told else answer("Ok")
        )

    with holdfast.open(tmp_path / "log.db") as hf, StrictServer(asks) as server:
        runs = agent_of(server, hf)
        runs.invoke(said("alice: the PIN is 4711"), in_thread("alice"))
        runs.invoke(said("bob: the PIN is 1234"), in_thread("bob"))
        done = runs.invoke(said("find it"), in_thread("bob"))
        assert "1234" in str(done["messages"])
        assert "4711" not in str(done["messages"])


def test_a_graph_within_a_graph_has_a_session_of_its_own(tmp_path: Path) -> None:
    with holdfast.open(tmp_path / "log.db") as hf, StrictServer(answer("Noted.")) as server:
        outer = StateGraph(MessagesState)
        outer.add_node("research", agent_of(server, hf))
        outer.add_node("write", agent_of(server, hf))
        outer.add_edge(START, "research")
        outer.add_edge("research", "write")
        outer.compile().invoke(said("Hello"), in_thread("t"))  # type: ignore[arg-type]
        assert {one.id for one in hf.sessions()} == {"t|research", "t|write"}


def test_no_thread_id_leads_to_another_threads_checkpoints_or_inner_graph(tmp_path: Path) -> None:
    with holdfast.open(tmp_path / "log.db") as hf, StrictServer(remembers) as server:
        runs = agent_of(server, hf, checkpointer=HoldfastSaver(hf))
        runs.invoke(said("I am Alice, my PIN is 4711"), in_thread("alice"))
        outer = StateGraph(MessagesState)
        outer.add_node("research", agent_of(server, hf))
        outer.add_edge(START, "research")
        outer.compile().invoke(said("My PIN is 4711"), in_thread("t"))  # type: ignore[arg-type]
        checkpoints = hf.session("langgraph:alice").info.head
        for chosen in ("langgraph:alice", "t|research"):
            runs.invoke(said("What is it?"), in_thread(chosen))
            assert "4711" not in str(server.asked[-1].body)
        assert hf.session("langgraph:alice").info.head == checkpoints
        assert hf.session("t|research").info.head == 2


class Constant(BaseChatModel):
    """A model whose server gives every reply the same id and says the same."""

    @property
    def _llm_type(self) -> str:
        return "constant"

    def bind_tools(self, tools: Any, **_: Any) -> Any:
        return self

    def _generate(self, messages: Any, *_: Any, **__: Any) -> ChatResult:
        said = AIMessage("Noted.", id="chatcmpl-0")
        return ChatResult(generations=[ChatGeneration(message=said)])


@pytest.mark.parametrize("checkpointed", [False, True])
def test_replies_under_one_repeated_id_are_all_kept(tmp_path: Path, checkpointed: bool) -> None:
    path = tmp_path / "log.db"
    thread: Any = {"configurable": {"thread_id": "alice"}}
    saver = InMemorySaver() if checkpointed else None
    for turn in range(3):  # each in a process of its own, as far as the middleware knows
        with holdfast.open(path) as hf:
            middleware = [HoldfastMiddleware(hf, model=MODEL)]
            told: dict[str, Any] = {"middleware": middleware, "checkpointer": saver}
            made: Any = create_agent(Constant(), [], **told)
            for half in "ab":
                made.invoke(said(f"question {turn}{half}"), thread)
    with holdfast.open(path) as hf:
        kept = [e.body.text for e in hf.session("alice").entries()]  # type: ignore[union-attr]
        asked = [f"question {turn}{half}" for turn in range(3) for half in "ab"]
        assert kept == [text for one in asked for text in (one, "Noted.")]
