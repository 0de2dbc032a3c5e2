"""Facts of a long session are gathered as it grows, and read on from where they were frozen."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any
from unittest.mock import patch

import pytest

import holdfast
from holdfast import assistant, user
from holdfast.core.ledger.build import step
from holdfast.engine import loading, writer
from holdfast.engine.client import Holdfast, drive
from holdfast.engine.importing import commit
from holdfast.engine.inspect import ledger
from holdfast.errors import Unavailable
from holdfast.model.ledger import Ledger
from holdfast.model.log import Body, Summary
from holdfast.model.span import Span
from tests.importers.writing import Transcript, text
from tests.ledger.saying import asked, done, said

MODEL = "claude-sonnet-4-5"


@contextmanager
def stretches(size: int) -> Iterator[list[int]]:
    """Short stretches; which entries are read for facts meanwhile."""
    seen: list[int] = []

    def counted(known: Ledger, entry: Any) -> Ledger:
        seen.append(entry.seq)
        return step(known, entry)

    with (
        patch.object(writer, "STRETCH", size), patch.object(ledger, "INTERVAL", size // 2),
        patch.object(loading, "PAGE", size // 4), patch.object(ledger, "step", counted),
        patch.object(commit, "LONG", size),
    ):  # fmt: skip
        yield seen


@contextmanager
def reads(hf: Holdfast) -> Iterator[list[int]]:
    """How many entries of the log are read meanwhile, page by page."""
    log, seen = type(hf.session()._inner.store.log), list[int]()
    read = log.read

    async def counted(*told: Any, **how: Any) -> tuple[Any, ...]:
        found = await read(*told, **how)
        seen.append(len(found))
        return found

    with patch.object(log, "read", counted):
        yield seen


def talk(first: int, last: int) -> list[Body]:
    """Requests, each with an answer of some length."""
    numbers = range(first, last)
    return [b for n in numbers for b in (user(f"Do {n} in a_b/{n}.py"), assistant("ok so " * 40))]


@pytest.fixture
def hf(tmp_path: Path) -> Iterator[Holdfast]:
    with holdfast.open(tmp_path / "store.db") as opened:
        yield opened


def events(known: Ledger, log: list[Any]) -> int:
    """How many functions are called for these entries."""
    calls = 0

    def count(frame: FrameType, event: str, arg: object) -> None:
        nonlocal calls
        calls += event == "call"

    sys.setprofile(count)
    try:
        for entry in log:
            known = step(known, entry)
    finally:
        sys.setprofile(None)
    return calls


def test_a_reply_costs_the_same_however_many_requests_there_were() -> None:
    log = said(*(b for n in range(2_000) for b in (asked(f"Do {n}"), done())))
    known = Ledger()
    for entry in log[:20]:
        known = step(known, entry)
    early = events(known, log[20:40])
    for entry in log[20:-20]:
        known = step(known, entry)
    assert events(known, log[-20:]) <= early * 1.2


def test_a_long_session_is_read_on_from_what_was_frozen_while_it_grew(hf: Holdfast) -> None:
    session = hf.session()
    with stretches(64) as seen:
        for n in range(0, 500, 25):
            session.append_all(talk(n, n + 25))
        gathered = len(seen)
        assert 900 <= gathered <= 1_000  # each entry once, the newest not yet
        known = hf.session(id=session.id).ledger()
        assert len(seen) - gathered <= 3 * 64
    assert len(known.requests) == 500
    assert known == ledger_of(hf, session.id)


def ledger_of(hf: Holdfast, id: str) -> Ledger:
    """The ledger computed from nothing but the log."""
    from holdfast.core.ledger.build import ledger

    head = hf.session(id=id).info.head
    read = loading.read(hf.engine.store.log, id, (Span(1, head),))
    return ledger(drive(read))


def test_messages_appended_one_by_one_are_gathered_too(hf: Holdfast) -> None:
    session = hf.session()
    with stretches(16) as seen:
        for n in range(30):
            session.user(f"Do {n}")
            session.append(assistant("ok"))
        assert len(seen) >= 32
    assert drive(hf.engine.store.snapshots.places(session.id))


def test_a_fork_reads_on_from_what_was_frozen_before_it(hf: Holdfast) -> None:
    session = hf.session()
    with stretches(32) as seen:
        for n in range(0, 200, 10):
            session.append_all(talk(n, n + 10))
        fork = session.fork()
        fork.user("And now?")
        read = len(seen)
        known = fork.ledger()
        assert len(seen) - read <= 2 * 32
    assert known == ledger_of(hf, fork.id)


def test_the_first_compaction_reads_no_more_of_a_long_past(hf: Holdfast) -> None:
    taken: list[int] = []
    for many in (150, 600):
        session = hf.session()
        with stretches(64) as seen, patch.object(ledger, "SLICE", 64):
            for n in range(0, many, 25):
                session.append_all(talk(n, n + 25))
            before = len(seen)
            opened = hf.session(id=session.id)
            opened.apply(opened.plan(model=MODEL))
            taken.append(len(seen) - before)
    assert taken[1] <= taken[0] + 64


def test_the_first_window_reads_no_more_of_a_long_past(hf: Holdfast) -> None:
    taken: list[int] = []
    for many in (150, 450):
        session = hf.session()
        with (
            stretches(128), patch.object(ledger, "SLICE", 64), patch.object(ledger, "NEWEST", 64),
            reads(hf) as seen,
        ):  # fmt: skip
            for n in range(0, many, 50):
                session.append_all(
                    [b for m in range(50) for b in (user(f"Do {n + m}"), assistant("so " * 250))]
                )
            opened = hf.session(id=session.id)
            seen.clear()
            assert not opened.window(model="gpt-4").over
            taken.append(sum(seen))
    assert taken[1] <= taken[0] + 128


def test_an_old_store_is_never_read_to_its_end_for_one_window(hf: Holdfast) -> None:
    session = hf.session()
    session.append_all(talk(0, 400))  # nothing is frozen: it is shorter than a stretch
    with (
        stretches(64) as seen,
        patch.object(ledger, "SLICE", 100),
        patch.object(ledger, "NEWEST", 50),
    ):
        opened = hf.session(id=session.id)
        made = opened.apply(opened.plan(model=MODEL))
        assert len(seen) <= 2 * (100 + 50)
        body = made.body
        assert isinstance(body, Summary)
        assert not body.facts  # they are not all there yet
        assert "not gathered yet" in body.ledger
        opened.undo()
        for _ in range(9):
            opened = hf.session(id=session.id)
            drive(opened._inner.ledgers.catch_up(session.id, opened.info.head, 100))
        body = opened.apply(opened.plan(model=MODEL)).body
        assert isinstance(body, Summary)
        assert body.facts
        assert "not gathered yet" not in body.ledger


def test_what_cannot_be_frozen_is_computed_again(hf: Holdfast) -> None:
    session = hf.session()

    async def refuses(*_: Any, **__: Any) -> None:
        raise Unavailable("it can only be read")

    with stretches(16), patch.object(type(hf.engine.store.snapshots), "save", refuses):
        for n in range(0, 60, 10):
            session.append_all(talk(n, n + 10))
        assert len(session.ledger().requests) == 60


def test_a_long_import_gathers_its_facts_in_pieces_too(hf: Holdfast, tmp_path: Path) -> None:
    transcript = Transcript()
    places: list[tuple[int, ...]] = []
    with stretches(32):
        for piece in range(3):
            for n in range(30):
                transcript.user(f"Do {piece}-{n}")
                transcript.reply(f"r{piece}-{n}", text("done"))
            transcript.write(tmp_path / "p")
            (report,) = hf.import_from(tmp_path / "p")
            (id,) = report.sessions
            places.append(drive(hf.engine.store.snapshots.places(id)))
            assert hf.session(id=id).ledger() == ledger_of(hf, id)
    assert all(places)
    assert places[0] < places[1] < places[2]
