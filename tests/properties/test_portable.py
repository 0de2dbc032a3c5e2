"""Law 11: what is exported and imported again is the same, in every store."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

import holdfast
from holdfast.engine.bridge import drive
from holdfast.engine.client import Holdfast, Session
from holdfast.engine.inspect.ledger import packed
from holdfast.model.log import Entry, Summary
from holdfast.model.message import Message, assistant
from holdfast.model.span import EVERYTHING, Span
from holdfast.testing.factories import entry, read_all
from holdfast.testing.strategies import logs, messages
from tests.exporters.carried import exported, imported, others, written

Pair = tuple[Holdfast, Holdfast, Path]


@pytest.fixture(scope="module", params=["memory to sqlite", "sqlite to memory"])
def pair(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Pair]:
    """A store to export from, one to import to, and a place for files."""
    place = tmp_path_factory.mktemp("portable")
    with holdfast.open("memory:") as memory, holdfast.open(place / "log.db") as sqlite:
        whence, to = (memory, sqlite) if request.param.startswith("memory") else (sqlite, memory)
        yield whence, to, place


NUMBERS = count(1)


@st.composite
def everything(draw: st.DrawFn) -> tuple[Entry, ...]:
    """A log with every kind of marker and of part."""
    log = list(draw(logs("mmmmSSCPURcxwrua", min_size=3, max_size=25)))
    for at, one in enumerate(log):
        if isinstance(one.body, Message):
            log[at] = replace(one, body=draw(messages()))
    log += [entry(len(log) + 1 + n, body) for n, body in enumerate(others(len(log)))]
    return tuple(log)


def everything_said(session: Session) -> tuple[object, ...]:
    view = session.view()
    calls = drive(session.store.calls.calls(session.id))
    kept = [drive(session.store.calls.kept(session.id, call.given)) for call in calls]
    entries = read_all(session.store, session.id, EVERYTHING)
    return (replace(session.info, head=0), view.folded, view.spans, entries, calls, kept,
            session.ledger())  # fmt: skip


@settings(max_examples=max(settings().max_examples // 4, 10), deadline=None)
@given(everything())
def test_what_is_exported_and_imported_is_the_same(pair: Pair, log: tuple[Entry, ...]) -> None:
    one, other, place = pair
    id = f"SESSION-{next(NUMBERS)}"
    session = written(one, log, id, title="Roof", directory="/tmp/roof", agent="diary")
    line = exported(session, raw=True)
    report = imported(other, line, place)
    assert (report.troubles, report.problems) == (0, ())
    assert report.sessions == (id,)
    again = other.session(id)
    assert exported(again, raw=True) == line
    assert everything_said(again) == everything_said(session)
    assert imported(other, line + b"\n", place).entries == 0


def test_a_frozen_ledger_goes_along(pair: Pair) -> None:
    one, other, place = pair
    session = one.session(model="gpt-5.1")
    session.user("Mend the roof.")
    session.append(assistant("Done."))
    frozen = packed(session.ledger())
    session.append(Summary(covers=(Span(1, 2),), text="A roof was mended.", facts=frozen))
    imported(other, exported(session, raw=True), place)
    again = other.session(session.id)
    summaries = [one.body for one in again.entries() if isinstance(one.body, Summary)]
    assert [one.facts for one in summaries] == [frozen]
    assert again.ledger() == session.ledger()
