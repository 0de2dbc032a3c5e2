"""A portable file of what is here already: nothing twice, no cost twice."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

import holdfast
from holdfast.engine.bridge import drive
from holdfast.engine.client import Holdfast
from holdfast.model.log import SessionInfo
from holdfast.model.reply import Usage
from holdfast.testing.factories import call
from tests.exporters.carried import exported, imported
from tests.importers.looking import words
from tests.importers.writing import Transcript, story, text


@pytest.fixture
def hf(tmp_path: Path) -> Iterator[Holdfast]:
    with holdfast.open(tmp_path / "store.db") as opened:
        yield opened


@pytest.fixture
def other(tmp_path: Path) -> Iterator[Holdfast]:
    with holdfast.open(tmp_path / "other.db") as opened:
        yield opened


def spent(hf: Holdfast) -> tuple[int, int]:
    rows = hf.costs("model")
    return sum(row.calls for row in rows), sum(row.cost for row in rows)


def sessions(hf: Holdfast) -> list[SessionInfo]:
    return list(hf.every_session())


def test_what_was_imported_elsewhere_from_the_same_file_is_the_same(
    hf: Holdfast, other: Holdfast, tmp_path: Path
) -> None:
    told = story()
    file = told.write(tmp_path / "claude")
    for store in (hf, other):
        list(store.import_from(file))
    (session,) = sessions(hf)
    before = spent(other)
    assert before[1] > 0
    report = imported(other, exported(hf.session(session.id), raw=True), tmp_path)
    assert (report.entries, report.calls, report.troubles) == (0, 0, 0)
    assert [one.id for one in sessions(other)] == [session.id]
    assert spent(other) == before


def test_what_it_knows_more_is_added_once(hf: Holdfast, other: Holdfast, tmp_path: Path) -> None:
    told = story()
    list(other.import_from(told.write(tmp_path / "claude")))
    told.user("And then?")
    told.reply("msg_more", text("No more."))
    file = told.write(tmp_path / "claude")
    list(hf.import_from(file))
    (session,) = sessions(hf)
    report = imported(other, exported(hf.session(session.id), raw=True), tmp_path)
    assert (report.entries, report.calls) == (2, 1)
    assert [one.id for one in sessions(other)] == [session.id]
    assert spent(other) == spent(hf)
    list(other.import_from(file))
    assert spent(other) == spent(hf)
    assert len(sessions(other)) == 1


def test_a_fork_brings_the_calls_that_are_not_here(
    hf: Holdfast, other: Holdfast, tmp_path: Path
) -> None:
    session = hf.session(model="gpt-5.1")
    session.user("Mend the roof.")
    first = call(
        session.id, id="first", request="r1", provider="openai", cost=5, usage=Usage(input=9)
    )
    drive(hf.engine.store.calls.record(first))
    imported(other, exported(session, raw=True), tmp_path)
    other.session(session.id).user("And the wall.")
    session.user("Paint it.")
    for id, request in (("second", "r2"), ("first again", "r1")):
        one = call(
            session.id, id=id, request=request, provider="openai", cost=7, usage=Usage(input=9)
        )
        drive(hf.engine.store.calls.record(one))
    data = exported(session, raw=True)
    for again, many in ((0, 2), (1, 0)):  # a provider's id that is repeated makes no call the same
        assert imported(other, data + b"\n" * again, tmp_path).calls == many
        assert len(sessions(other)) == 2
        assert spent(other) == spent(hf)


def test_a_provider_id_that_two_sessions_share_makes_two_calls(
    hf: Holdfast, other: Holdfast, tmp_path: Path
) -> None:
    for store, id in ((hf, "here"), (other, "there")):
        session = store.session(model="gpt-5.1")
        session.user("Mend the roof.")
        used = Usage(input=9, output=2)
        one = call(session.id, id=id, request="r1", provider="openai", cost=5, usage=used)
        drive(store.engine.store.calls.record(one))
    (mine,) = sessions(hf)
    imported(other, exported(hf.session(mine.id), raw=True), tmp_path)
    assert spent(other) == (2, 10)


def test_the_same_ids_with_other_words_become_a_fork(
    hf: Holdfast, other: Holdfast, tmp_path: Path
) -> None:
    session = hf.session(model="gpt-5.1")
    for said in ("Mend the roof.", "It leaks.", "Paint it."):
        session.user(said)
    line = exported(session, raw=True)
    changed = line.replace(b"It leaks.", b"It holds.")
    for store in (hf, other):
        imported(store, line, tmp_path)
        for many in (1, 0):
            report = imported(store, changed + b"\n" * many, tmp_path)
            assert (report.entries, report.troubles) == (2 * many, 0)
        (fork,) = [one for one in sessions(store) if one.id != session.id]
        assert (fork.parent, fork.fork) == (session.id, 1)
        assert words(store.session(fork.id)) == ["Mend the roof.", "It holds.", "Paint it."]
        assert exported(store.session(session.id), raw=True) == line
        once_more = line.replace(b"It leaks.", b"It burns.")
        assert imported(store, once_more, tmp_path).entries == 2
        assert len(sessions(store)) == 3


@pytest.mark.parametrize("what", ["text", "label"])
def test_where_nothing_is_the_same_it_is_a_session_of_its_own(
    what: str, hf: Holdfast, tmp_path: Path
) -> None:
    session = hf.session(model="gpt-5.1")
    session.user("Mend the roof.")
    line = exported(session, raw=True)
    told = {"text": (b"Mend", b"Burn"), "label": (b'"created":1', b'"created":2')}[what]
    head, tail = line.split(b'"messages"')
    imported(hf, head + b'"messages"' + tail.replace(*told), tmp_path)
    (found,) = [one for one in sessions(hf) if one.id != session.id]
    assert (found.parent, found.fork, found.head) == ("", 0, 1)


def test_a_masked_copy_is_a_fork_from_the_masked_word_on(hf: Holdfast, tmp_path: Path) -> None:
    session = hf.session(model="gpt-5.1")
    session.user("Mend the roof.")
    session.user("My key is sk-ant-api03-0123456789abcdefABCDEF.")
    imported(hf, exported(session), tmp_path)
    (fork,) = [one for one in sessions(hf) if one.id != session.id]
    assert (fork.parent, fork.fork, fork.head) == (session.id, 1, 2)


def test_a_file_that_grew_inside_what_was_written_together_is_added(
    hf: Holdfast, other: Holdfast, tmp_path: Path
) -> None:
    told = Transcript()
    for number in range(6):
        told.user(f"Said {number}.")
    list(hf.import_from(told.write(tmp_path / "claude")))
    (session,) = sessions(hf)
    whole = json.loads(exported(hf.session(session.id), raw=True))
    for many in (2, 3, len(whole["messages"])):
        some = {**whole, "messages": whole["messages"][:many]}
        report = imported(other, json.dumps(some).encode() + b"\n", tmp_path)
        assert report.troubles == 0, report.problems
        assert [one.head for one in sessions(other)] == [many]
