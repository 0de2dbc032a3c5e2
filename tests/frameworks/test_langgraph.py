"""A LangGraph graph whose checkpoints Holdfast keeps: LangGraph's own suite, and real graphs."""

import asyncio
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Annotated, Any, TypedDict

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, StateGraph
from langgraph.graph.message import add_messages
from langgraph.types import Command, interrupt

import holdfast
from holdfast.errors import InvalidRequest
from holdfast.frameworks.langgraph import HoldfastSaver

pytestmark = pytest.mark.filterwarnings("ignore")
STORES = pytest.mark.parametrize("store", ["memory:", "log.db"])


def thread(id: str, **more: Any) -> Any:
    return {"configurable": {"thread_id": id, **more}}


@STORES
def test_langgraphs_own_conformance_suite_passes(store: str, tmp_path: Path) -> None:
    conformance = pytest.importorskip("langgraph.checkpoint.conformance")
    many = iter(range(100))

    @conformance.checkpointer_test(name="HoldfastSaver")
    async def saver() -> AsyncGenerator[HoldfastSaver, None]:
        url = store if store == "memory:" else str(tmp_path / f"{next(many)}{store}")
        with holdfast.open(url) as hf:
            yield HoldfastSaver(hf)

    report = asyncio.run(conformance.validate(saver))
    failures = {name: one.failures for name, one in report.results.items() if not one.passed}
    assert failures == {}
    assert {"put", "put_writes", "get_tuple", "list", "delete_thread"} <= set(report.results)


class State(TypedDict):
    messages: Annotated[list[Any], add_messages]
    n: int


def graph(saver: Any) -> Any:
    def ask(state: State) -> dict[str, Any]:
        told = interrupt("May I?")
        return {"messages": [("ai", f"You said {told}")], "n": state.get("n", 0) + 1}

    made = StateGraph(State)
    made.add_node("ask", ask)
    made.add_edge(START, "ask")
    made.add_edge("ask", END)
    return made.compile(checkpointer=saver)


@STORES
def test_two_threads_interleave_and_go_on_after_an_interrupt(store: str, tmp_path: Path) -> None:
    url = store if store == "memory:" else str(tmp_path / store)
    with holdfast.open(url) as hf:
        runs = graph(HoldfastSaver(hf))
        for who in ("alice", "bob"):
            runs.invoke({"messages": [("user", f"{who}'s PIN is {who}-4711")]}, thread(who))
        runs = graph(HoldfastSaver(hf))  # as a new process would
        for who in ("bob", "alice"):
            done = runs.invoke(Command(resume=f"yes, {who}"), thread(who))
            other = "alice" if who == "bob" else "bob"
            assert f"{who}-4711" in str(done)
            assert other not in str(done)
            assert done["messages"][-1].content == f"You said yes, {who}"
        assert hf.sessions() == ()  # its logs are in no list


def test_the_same_awaited_and_at_once(tmp_path: Path) -> None:
    async def one(runs: Any, who: str) -> None:
        await runs.ainvoke({"messages": [("user", f"I am {who}")]}, thread(who))
        done = await runs.ainvoke(Command(resume=who), thread(who))
        assert [m.content for m in done["messages"]] == [f"I am {who}", f"You said {who}"]

    async def all_of_them() -> None:
        with holdfast.open(tmp_path / "log.db") as hf:
            runs = graph(HoldfastSaver(hf))
            await asyncio.gather(*(one(runs, f"user-{n}") for n in range(6)))

    asyncio.run(all_of_them())


def test_history_is_as_the_memory_saver_has_it(tmp_path: Path) -> None:
    with holdfast.open(tmp_path / "log.db") as hf:
        told: list[Any] = []
        for saver in (InMemorySaver(), HoldfastSaver(hf)):
            runs = graph(saver)
            for n in range(3):
                runs.invoke({"messages": [("user", f"m{n}")], "n": n}, thread("t"))
                runs.invoke(Command(resume="go"), thread("t"))
            history = list(runs.get_state_history(thread("t")))
            told.append(
                [
                    (
                        s.metadata["step"],
                        s.metadata["source"],
                        s.next,  # type: ignore[index]
                        [m.content for m in s.values.get("messages", [])],
                    )
                    for s in history
                ]
            )
        assert told[0] == told[1]


def test_two_processes_see_what_each_other_puts(tmp_path: Path) -> None:
    path = tmp_path / "log.db"
    with holdfast.open(path) as one, holdfast.open(path) as two:
        first, second = HoldfastSaver(one), HoldfastSaver(two)
        graph(first).invoke({"messages": [("user", "hello")]}, thread("t"))
        done = graph(second).invoke(Command(resume="yes"), thread("t"))
        assert done["messages"][-1].content == "You said yes"
        assert graph(first).get_state(thread("t")).values == done
        second.delete_thread("t")
        assert first.get_tuple(thread("t")) is None
        graph(second).invoke({"messages": [("user", "anew")]}, thread("t"))
        found = graph(first).get_state(thread("t"))
        assert [m.content for m in found.values["messages"]] == ["anew"]


def test_a_key_of_ours_is_not_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-0123456789abcdefghijklmnop")
    with holdfast.open(tmp_path / "log.db") as hf:
        runs = graph(HoldfastSaver(hf))
        said = "use sk-ant-0123456789abcdefghijklmnop please"
        runs.invoke({"messages": [("user", said)]}, thread("t"))
        done = runs.invoke(Command(resume="yes"), thread("t"))
        assert done["messages"][-1].content == "You said yes"
    for file in tmp_path.glob("log.db*"):
        assert b"sk-ant-0123456789abcdefghijklmnop" not in file.read_bytes()


def test_a_thread_has_to_be_named(tmp_path: Path) -> None:
    with holdfast.open(tmp_path / "log.db") as hf:
        with pytest.raises(InvalidRequest, match="thread"):
            HoldfastSaver(hf).get_tuple({"configurable": {}})
        with pytest.raises(InvalidRequest, match=r"holdfast\.open"):
            HoldfastSaver(hf.session())  # type: ignore[arg-type]


@pytest.mark.parametrize("id", ["zo\u00eb", "a b", "100%", "%25", "line\nbreak", "x/y"])
def test_any_thread_id_is_its_own_thread(id: str, tmp_path: Path) -> None:
    with holdfast.open(tmp_path / "log.db") as hf:
        saver = HoldfastSaver(hf)
        graph(saver).invoke({"messages": [("user", id)]}, thread(id))
        (found,) = {one.config["configurable"]["thread_id"] for one in saver.list(None)}  # type: ignore[typeddict-item]
        assert found == id
