"""Servers repeat the ids of their replies: a call belongs to its session, whatever its id."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from holdfast import Holdfast, open, open_async
from holdfast.core.calls.price import dollars
from holdfast.engine.blocking import Session
from holdfast.engine.client import drive


def completion(id: str, text: str, read: int = 10) -> dict[str, Any]:
    """A reply as Ollama and others send it, with an id that they use again."""
    message = {"role": "assistant", "content": text}
    return {
        "id": id, "object": "chat.completion", "created": 1, "model": "gpt-4o",
        "choices": [{"index": 0, "finish_reason": "stop", "message": message}],
        "usage": {"prompt_tokens": read, "completion_tokens": 5, "total_tokens": read + 5},
    }  # fmt: skip


def turn(session: Session, words: str, reply: dict[str, Any], system: str = "be brief") -> str:
    """One turn; the id of the reply's entry."""
    session.user(words)
    session.window(system=system).request("openai-chat", max_tokens=100)
    return session.reply(reply, format="openai-chat").id


def calls_of(hf: Holdfast, session: Session) -> list[Any]:
    return list(drive(hf.engine.store.calls.calls(session.id)))


@pytest.mark.parametrize("url", ["memory:", "store.db"])
def test_a_reply_id_that_another_session_had_takes_nothing_from_it(
    tmp_path: Path, url: str
) -> None:
    with open(url if url == "memory:" else tmp_path / url) as hf:
        alice, bob = hf.session(model="gpt-4o"), hf.session(model="gpt-4o")
        first = turn(alice, "I am Alice", completion("chatcmpl-0", "hi Alice", 10), "for Alice")
        second = turn(bob, "I am Bob", completion("chatcmpl-0", "hi Bob", 20), "for Bob")
        (hers,), (his,) = calls_of(hf, alice), calls_of(hf, bob)
        assert (hers.entry, hers.usage.input) == (first, 10)
        assert (his.entry, his.usage.input) == (second, 20)
        assert dollars(hf.costs("model")[0].cost) == pytest.approx(alice.cost + bob.cost)
        for session, entry in ((alice, first), (bob, second)):
            explained = session.explain(entry)
            assert explained.matches
            assert explained.call
            assert explained.call.entry == entry
            told = json.loads(hf.export(session.id).data)
            assert [one["entry"] for one in told["calls"]] == [entry]
        assert not [one for id in ("", *hf.examinable()) for one in hf.examine(id)]


def test_the_same_through_the_async_door(tmp_path: Path) -> None:
    async def both() -> list[int]:
        async with open_async(tmp_path / "s.db") as hf:
            sessions = [await hf.session(model="gpt-4o") for _ in range(2)]
            for n, session in enumerate(sessions):
                await session.user(f"I am {n}")
                await session.reply(completion("c", f"hi {n}", n + 1), format="openai-chat")
            store = sessions[0].store
            return [one.usage.input for s in sessions for one in await store.calls.calls(s.id)]

    assert asyncio.run(both()) == [1, 2]


def test_a_server_with_one_id_for_everything_has_every_call_counted() -> None:
    with open("memory:") as hf:
        session = hf.session(model="gpt-4o")
        for n in range(5):
            turn(session, f"question {n}", completion("constant", f"answer {n}", 100 - n))
        assert [one.usage.input for one in calls_of(hf, session)] == [100, 99, 98, 97, 96]
        assert hf.costs("model")[0].calls == 5


def test_a_reply_that_is_told_again_is_paid_once_and_stays_the_call_it_was() -> None:
    with open("memory:") as hf:
        session = hf.session(model="gpt-4o")
        reply = completion("chatcmpl-7", "the answer")
        entry = turn(session, "a question", reply)
        (before,) = calls_of(hf, session)
        paid = session.cost
        session.reply(reply, format="openai-chat")
        assert calls_of(hf, session) == [before]
        assert before.entry == entry
        assert session.cost == paid
        assert session.explain(entry).matches


def test_a_fork_may_be_told_an_id_that_its_parent_had() -> None:
    with open("memory:") as hf:
        session = hf.session(model="gpt-4o")
        turn(session, "a question", completion("c", "an answer", 10))
        fork = session.fork()
        turn(fork, "another", completion("c", "another answer", 30))
        assert [len(calls_of(hf, one)) for one in (session, fork)] == [1, 1]
        assert (session.cost, fork.cost) == (pytest.approx(5e-5 + 25e-6), fork.cost)
        assert hf.costs("model")[0].calls == 2


def test_a_session_taken_elsewhere_and_back_has_its_calls_once(tmp_path: Path) -> None:
    file = tmp_path / "s.jsonl"
    with open(tmp_path / "one.db") as hf:
        session = hf.session(model="gpt-4o")
        for n in range(3):
            turn(session, f"question {n}", completion("constant", f"answer {n}", 10 * (n + 1)))
        hf.export(session.id, file=file)
        before = calls_of(hf, session)
        list(hf.import_from(file))
        assert calls_of(hf, session) == before
    with open(tmp_path / "two.db") as hf:
        turn(hf.session(model="gpt-4o"), "somebody else", completion("constant", "hello", 99))
        list(hf.import_from(file))
        list(hf.import_from(file))
        moved = hf.session(session.id)
        assert [one.usage.input for one in calls_of(hf, moved)] == [10, 20, 30]
        assert hf.costs("model")[0].calls == 4
