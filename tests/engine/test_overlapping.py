"""Several writers of one session at once: one after the other, in one session, nothing lost."""

import asyncio
import multiprocessing
import threading
import warnings
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import holdfast
from holdfast.engine.client import Holdfast
from holdfast.errors import Conflict, InvalidRequest, SessionForked
from holdfast.model.log import Summary
from holdfast.model.message import Message, ToolCall, ToolResult, assistant, tool
from holdfast.model.span import Span

MODEL = "claude-sonnet-4-6"
LONG = ": " + "what was said about it " * 60


def texts(s: Any) -> list[str]:
    return [entry.body.text for entry in s.entries() if isinstance(entry.body, Message)]


def check_request(s: Any) -> dict[str, Any]:
    """The request of a session is valid, and each call is followed by its own result."""
    request = s.window(model=MODEL).request("anthropic")  # refuses what the provider would
    for before, after in zip(request["messages"], request["messages"][1:], strict=False):
        asked = [b["id"] for b in before["content"] if b["type"] == "tool_use"]
        told = [b["tool_use_id"] for b in after["content"] if b["type"] == "tool_result"]
        assert asked == told
    return request


@pytest.mark.parametrize("store", ["memory:", "log.db"])
def test_ten_overlapping_requests_make_one_session_with_every_entry(
    store: str, tmp_path: Path
) -> None:
    url = store if store == "memory:" else str(tmp_path / store)
    with holdfast.open(url) as hf, warnings.catch_warnings():
        warnings.simplefilter("error")
        home = hf.session("home", create=True, model=MODEL)
        home.user("Hello")
        gate = threading.Barrier(10)
        failed: list[BaseException] = []

        def request(n: int) -> None:
            try:
                s = hf.session("home")
                gate.wait(20)
                s.user(f"question {n}")
                s.append(assistant(ToolCall(f"c{n}", "look", f'{{"n":{n}}}')))
                s.tool_result(f"c{n}", f"found {n}")
                s.window(model=MODEL).request("anthropic")
                s.append(assistant(f"answer {n}"))
                assert s.id == "home"
            except BaseException as error:
                failed.append(error)

        threads = [threading.Thread(target=request, args=(n,)) for n in range(10)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
        assert failed == []
        assert [one.id for one in hf.sessions()] == ["home"]
        said = texts(home)
        for n in range(10):
            assert said.count(f"question {n}") == said.count(f"answer {n}") == 1
        assert len(said) == 41
        home.user("And now?")
        assert [e.seq for e in home.entries()] == list(range(1, home.info.head + 1))
        check_request(home)


def test_ten_overlapping_requests_at_the_async_door(tmp_path: Path) -> None:
    async def all_of_it() -> None:
        async with holdfast.open_async(tmp_path / "log.db") as hf:
            opened = [await hf.session("home", create=True, model=MODEL) for _ in range(10)]

            async def request(n: int) -> None:
                await opened[n].user(f"question {n}")
                await opened[n].append(assistant(ToolCall(f"c{n}", "look", "{}")))
                await opened[n].tool_result(f"c{n}", f"found {n}")
                await opened[n].append(assistant(f"answer {n}"))

            await asyncio.gather(*map(request, range(10)))
            assert len(await hf.sessions()) == 1
            said = [e async for e in opened[0].entries()]
            assert len(said) == 40
            assert {one.id for one in opened} == {"home"}

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        asyncio.run(all_of_it())


def _talks(path: str, name: str, gate: Any) -> None:
    with holdfast.open(path) as hf:
        s = hf.session("home", create=True)
        gate.wait(30)
        for n in range(10):
            s.append(assistant(ToolCall(f"{name}{n}", "look", "{}")))
            s.tool_result(f"{name}{n}", "found")


def test_two_processes_write_one_session(tmp_path: Path) -> None:
    path = str(tmp_path / "log.db")
    with holdfast.open(path) as hf:
        hf.session("home", create=True, model=MODEL).user("Hello")
    spawn = multiprocessing.get_context("spawn")
    gate = spawn.Barrier(2)
    both = [spawn.Process(target=_talks, args=(path, name, gate)) for name in "ab"]
    for one in both:
        one.start()
    for one in both:
        one.join(60)
        assert one.exitcode == 0
    with holdfast.open(path) as hf:
        assert len(hf.sessions()) == 1
        s = hf.session("home")
        assert s.info.head == 41
        s.user("And now?")
        check_request(s)


def test_forking_is_by_choice(tmp_path: Path) -> None:
    with holdfast.open(tmp_path / "log.db") as hf:
        first = hf.session("home", create=True)
        second = hf.session("home", on_conflict="fork")
        first.user("from the first")
        with pytest.warns(SessionForked):
            second.user("from the second")
        assert second.id != first.id


def test_raising_is_by_choice(tmp_path: Path) -> None:
    with holdfast.open(tmp_path / "log.db") as hf:
        first = hf.session("home", create=True)
        second = hf.session("home", on_conflict="raise")
        first.user("from the first")
        with pytest.raises(Conflict):
            second.user("from the second")


def test_a_marker_that_names_places_is_not_put_behind_words_it_never_saw(tmp_path: Path) -> None:
    """Messages and a marker in one go: what the marker names must still be what it was."""
    with holdfast.open(tmp_path / "log.db") as hf:
        first = hf.session("home", create=True)
        first.user("m1")
        second = hf.session("home")
        first.user("m2")
        bodies = [holdfast.user("m3"), Summary(covers=(Span(1, 2),), text="m1 and m3")]
        with pytest.raises(Conflict):  # its second entry was to be m3, and is m2 by now
            second.append_all(bodies)
        assert texts(first) == ["m1", "m2"]


def test_what_a_retry_finds_is_seen_with_the_markers_between(tmp_path: Path) -> None:
    with holdfast.open(tmp_path / "log.db") as hf:
        first, second = hf.session("home", create=True), hf.session("home", create=True)
        first.user("m1")
        marker = first.append(Summary(covers=(Span(1, 1),), text="one"))
        first.user("m2", key="k")
        second.user("m2", key="k")
        assert second.info.last_marker == marker.seq
        assert second.info == hf.session("home").info


STEPS = st.lists(
    st.tuples(
        st.sampled_from("ab"), st.sampled_from(["user", "call", "result", "reply", "request"])
    ),
    max_size=24,
)


def _step(s: Any, name: str, what: str, waiting: list[str]) -> list[str]:
    """Do one thing with one of the handles; what that wrote."""
    words = f"{what} {name}" + LONG
    if what == "request" or (what == "result" and not waiting):
        check_request(s)
        return []
    if what == "user":
        s.user(words)
    elif what == "call":
        waiting.append(name)
        s.append(assistant(words, ToolCall(name, "look", "{}")))
    elif what == "result":
        s.append(tool(ToolResult(waiting.pop(0), words)))
    else:
        s.append(assistant(words))
    return [words]


def _play(hf: Holdfast, steps: list[tuple[str, str]], plan_at: int) -> None:
    hands = {"a": hf.session("home", create=True, model=MODEL), "b": hf.session("home")}
    wrote: list[str] = []
    for turn in range(8):  # enough for a compaction to be worth it
        wrote += [f"Question {turn}", f"Answer {turn}" + LONG]
        hands["a"].append_all([holdfast.user(wrote[-2]), assistant(wrote[-1])])
    open_calls: dict[str, list[str]] = {"a": [], "b": []}
    plan, seen = None, 0
    for n, (who, what) in enumerate(steps):
        if n == plan_at:
            seen = hands["b"].refresh().head
            with suppress(InvalidRequest):  # there is nothing to compact yet
                plan = hands["b"].plan(model=MODEL)
        wrote += _step(hands[who], f"{who} {n}", what, open_calls[who])
    before = {e.seq for e in hands["a"].entries()}
    if plan is not None:  # what came since it was made is neither lost nor covered
        hands["b"].apply(plan)
        (made,) = [e.body for e in hands["a"].entries() if isinstance(e.body, Summary)]
        assert made.covers[-1].last <= seen
    assert before <= {e.seq for e in hands["a"].entries()}
    said = [_words(e.body) for e in hands["a"].entries() if isinstance(e.body, Message)]
    assert said == wrote  # in order of arrival, each once
    assert [one.id for one in hf.sessions()] == ["home"]
    hands["b"].user("And now?")
    check_request(hands["b"])


def _words(body: Message) -> str:
    return body.text or "".join(p.output for p in body.parts if isinstance(p, ToolResult))


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(steps=STEPS, plan_at=st.integers(0, 24))
def test_however_two_handles_interleave_one_session_holds_all_and_asks_validly(
    steps: list[tuple[str, str]], plan_at: int
) -> None:
    with holdfast.open("memory:") as hf, warnings.catch_warnings():
        warnings.simplefilter("error", SessionForked)
        _play(hf, steps, plan_at)
