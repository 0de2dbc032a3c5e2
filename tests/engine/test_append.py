"""Appends that go wrong in the middle: nothing unreadable is kept, and nobody forks from itself."""

import asyncio
import os
import threading
import warnings
from pathlib import Path
from typing import Any

import pytest

import holdfast
from holdfast import failpoints
from holdfast.errors import InvalidRequest
from holdfast.model.log import Summary
from holdfast.model.message import Message, Text, ToolCall
from holdfast.model.span import Span


@pytest.mark.parametrize("url", ["memory:", "log.db"])
@pytest.mark.parametrize(
    "wrong",
    [
        lambda s: s.append(Text("a part")),
        lambda s: s.append("words"),
        lambda s: s.append({"role": "user", "content": "words"}),
        lambda s: s.append(Message("bogus", (Text("x"),))),  # type: ignore[arg-type]
        lambda s: s.append(holdfast.assistant(ToolCall("c", "sh", {"a": 1}))),  # type: ignore[arg-type]
        lambda s: s.user(5),
        lambda s: s.user(None),
        lambda s: s.tool_result(3, "x"),
        lambda s: s.tool_result("c", {"a": 1}),
        lambda s: s.rename(5),
    ],
)
def test_what_could_not_be_read_again_is_refused(
    wrong: Any, url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with holdfast.open(url) as hf:
        s = hf.session()
        s.user("precious")
        with pytest.raises(InvalidRequest):
            wrong(s)
        assert [entry.body.text for entry in s.entries()] == ["precious"]  # type: ignore[union-attr]


def test_an_entry_may_be_named_by_its_number(tmp_path: Path) -> None:
    with holdfast.open(tmp_path / "log.db") as hf:
        s = hf.session()
        s.append_all([holdfast.user(str(n)) for n in range(4)])
        assert s.entry(2).body.text == "1"  # type: ignore[union-attr]
        assert s.fork(at=3).info.fork == 3
        s.rewind(1)
        assert len(list(s.visible())) == 1
        assert len(list(s.visible(at=3))) == 3


def test_a_cancelled_append_is_still_our_own(tmp_path: Path) -> None:
    async def main() -> list[str]:
        async with holdfast.open_async(tmp_path / "log.db") as hf:
            s = await hf.session()
            await s.user("one")
            begun = asyncio.create_task(s.user("two"))
            await asyncio.sleep(0)
            await asyncio.sleep(0)
            begun.cancel()
            with pytest.raises(asyncio.CancelledError):
                await begun
            await s.user("three")
            return [entry.body.text async for entry in s.entries()]  # type: ignore[union-attr]

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert asyncio.run(main()) in (["one", "two", "three"], ["one", "three"])


def test_an_interrupt_after_the_commit_does_not_fork(tmp_path: Path) -> None:
    def interrupt() -> None:
        raise KeyboardInterrupt

    with holdfast.open(tmp_path / "log.db") as hf, warnings.catch_warnings():
        warnings.simplefilter("error")
        s = hf.session()
        s.user("one")
        failpoints.arm("store.after_commit", interrupt)
        try:
            with pytest.raises(KeyboardInterrupt):
                s.user("two")
        finally:
            failpoints.disarm()
        s.user("three")
        assert [e.body.text for e in s.entries()] == ["one", "two", "three"]  # type: ignore[union-attr]


def test_a_summary_retried_with_its_key_happens_once(tmp_path: Path) -> None:
    with holdfast.open(tmp_path / "log.db") as hf:
        s = hf.session()
        s.user("one")
        first = s.append(Summary(covers=(Span(1, 1),), text="sum"), key="k")
        again = s.append(Summary(covers=(Span(1, 1),), text="sum"), key="k")
        assert again.seq == first.seq


def test_a_retry_in_a_fork_finds_what_was_said_before_it(tmp_path: Path) -> None:
    with holdfast.open(tmp_path / "log.db") as hf:
        s = hf.session()
        s.user("a", key="k")
        other = s.fork()
        assert other.user("a", key="k").seq == 1
        assert len(list(other.entries())) == 1


def test_labels_of_what_comes_from_elsewhere_are_kept(tmp_path: Path) -> None:
    with holdfast.open(tmp_path / "log.db") as hf:
        s = hf.session()
        made = s.append(holdfast.user("old"), created=1_600_000_000_000, parent="uuid-1")
        read = s.entry(made.id)
        assert (read.created, read.parent) == (1_600_000_000_000, "uuid-1")


def test_a_forked_process_is_told_rather_than_left_waiting(tmp_path: Path) -> None:
    with holdfast.open(tmp_path / "log.db") as hf:
        s = hf.session()
        held, go_on = threading.Event(), threading.Event()

        def hold() -> None:
            with s._inner._lock._lock:  # type: ignore[attr-defined]
                held.set()
                go_on.wait(10)

        thread = threading.Thread(target=hold)
        thread.start()
        held.wait(10)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            child = os.fork()
        if child == 0:
            try:
                s.user("from the child")
            except InvalidRequest:
                os._exit(0)
            os._exit(1)
        _, status = os.waitpid(child, 0)
        go_on.set()
        thread.join()
        assert status == 0
