"""The portable form: what stands in it, what is masked, and what becomes of wrong files."""

from __future__ import annotations

import json
from base64 import b64decode
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

import holdfast
from holdfast.engine.client import Holdfast, Session
from holdfast.exporters.portable import schema
from holdfast.importers.portable import Portable
from holdfast.model import wire
from holdfast.model.log import Clear, Notes, PartRef, Rewind, Summary, Undo
from holdfast.model.message import (
    Message,
    Reasoning,
    ToolCall,
    ToolResult,
    assistant,
    opaque,
    seal,
    tool,
)
from holdfast.model.portable import PortableLine
from holdfast.model.span import Span
from holdfast.testing.contracts.importer import mutilated
from holdfast.testing.factories import HOSTILE, entry, every_part
from holdfast.testing.strategies import next_entry
from tests.exporters.carried import NAME, exported, imported, others, told, written
from tests.exporters.schema import faults
from tests.importers.looking import bring
from tests.importers.writing import story

PAGE = Path(__file__).resolve().parents[2] / "docs" / "portable.schema.json"
SECRET = "sk-ant-api03-0123456789abcdefABCDEF"


@pytest.fixture
def hf(tmp_path: Path) -> Iterator[Holdfast]:
    with holdfast.open(tmp_path / "store.db") as opened:
        yield opened


@pytest.fixture
def other() -> Iterator[Holdfast]:
    with holdfast.open("memory:") as opened:
        yield opened


def roof(hf: Holdfast) -> Session:
    """Five messages; a summary of two of them, one of which stays; another that was undone."""
    session = hf.session(model="gpt-5.1", title="The roof")
    for words in ("Mend the roof.", "It leaks.", "Paint it blue."):
        session.user(words)
    session.append(
        Summary(covers=(Span(1, 2),), text="A roof.", kept=(2,), trigger="manual", tokens_before=9)
    )
    session.append(assistant("It is blue."))
    undone = session.append(Summary(covers=(Span(1, 5),), text="Nothing.", tokens_after=4))
    session.append(Undo(marker=undone.seq))
    session.append(Notes(text="# Roof\nblue", upto=3))
    session.user("Thanks.")
    return session


def line(session: Session, *, raw: bool = False) -> dict[str, Any]:
    return json.loads(exported(session, raw=raw))


@pytest.mark.seed("003", 30, 31, 33, 34, 35, 36, 37, 40)
def test_boundaries_say_what_stands_for_what(hf: Holdfast) -> None:
    session = roof(hf)
    found = line(session)
    ids = [one.id for one in session.entries() if isinstance(one.body, Summary)]
    counts = [sum(one["counts"]) for one in found["messages"]]
    assert found["compaction"]["boundaries"] == [
        {
            "after_message_index": 2,
            "uuid": ids[0],
            "trigger": "manual",
            "pre_tokens": 9,
            "post_tokens": None,
            "summary": "A roof.",
            "replaced_message_indices": [0],
            "replaced_tokens": counts[0],
            "standing": True,
        },
        {
            "after_message_index": 3,
            "uuid": ids[1],
            "trigger": "auto",
            "pre_tokens": None,
            "post_tokens": 4,
            "summary": "Nothing.",
            "replaced_message_indices": [1, 2, 3],
            "replaced_tokens": sum(counts[1:4]),
            "standing": False,
        },
    ]
    assert found["memory"] == {"text": "# Roof\nblue", "after_message_index": 2}
    assert [one["after_message_index"] for one in found["markers"]] == [2, 3, 3, 3]
    assert (found["type"], found["version"]) == ("session", 1)


@pytest.mark.seed("003", 42)
def test_boundaries_have_lines_of_their_own_where_they_are_asked_for(hf: Holdfast) -> None:
    session = roof(hf)
    lines = [json.loads(one) for one in exported(session, boundaries=True).splitlines()]
    assert [one["type"] for one in lines] == ["session", "boundary", "boundary"]
    assert [one["boundary"] for one in lines[1:]] == lines[0]["compaction"]["boundaries"]
    assert {one.get("session") for one in lines[1:]} == {session.id}


@pytest.mark.seed("003", 3, 32)
@pytest.mark.parametrize("named", [True, False])
def test_a_boundary_of_claude_code_has_the_id_of_its_own_record(
    named: bool, hf: Holdfast, other: Holdfast, tmp_path: Path
) -> None:
    told = story()
    (at,) = [n for n, one in enumerate(told.records) if one.get("subtype") == "compact_boundary"]
    boundary, summary = told.records[at : at + 2]
    uuid = boundary["uuid"] if named else summary["uuid"]
    assert boundary["uuid"] != summary["uuid"]
    if not named:
        del boundary["uuid"]
    bring(hf, told.write(tmp_path / "p"))
    (info,) = hf.every_session()
    data = exported(hf.session(info.id), raw=True)
    assert [one["uuid"] for one in json.loads(data)["compaction"]["boundaries"]] == [uuid]
    imported(other, data, tmp_path)
    assert exported(other.session(info.id), raw=True) == data


@pytest.mark.seed("003", 27, 28, 29)
def test_the_schema_is_the_published_one() -> None:
    assert json.loads(PAGE.read_text("utf-8")) == json.loads(json.dumps(schema())), (
        "write it anew: holdfast export --schema > docs/portable.schema.json"
    )


def test_real_exports_are_what_the_schema_says(hf: Holdfast, tmp_path: Path) -> None:
    bring(hf, story().write(tmp_path / "p"))
    said = [entry(1, Message("assistant", every_part("words")))]
    for letter in "mSCPUcxwruaR":
        said.append(next_entry(said, letter, (0, 1, 2, 3)))
    said += [entry(len(said) + 1 + n, body) for n, body in enumerate(others(3))]
    written(hf, said, "ALL")
    kinds: set[str] = set()
    for info in list(hf.every_session()):
        for one in exported(hf.session(info.id), raw=True, boundaries=True).splitlines():
            value = json.loads(one)
            assert faults(value, schema(), schema()) == []
            kinds |= {each["marker"]["kind"] for each in value.get("markers", ())}
            value["surprise"] = 1
            value["version"] = "1"
            assert faults(value, schema(), schema())
    assert kinds >= {"summary", "clear", "pin", "unpin", "rewind", "checkpoint", "context",
                     "switch", "repair", "undo", "redo", "notes", "damaged", "records"}  # fmt: skip


def test_secrets_are_masked_unless_all_is_asked_for(hf: Holdfast) -> None:
    session = hf.session(title=f"key {SECRET}", model="gpt-5.1")
    session.user(f"Use {SECRET}.")
    sealed = Reasoning("hm", seal("openai", f'{{"k":"{SECRET}"}}'.encode()))
    call = ToolCall("c1", "run", f'{{"cmd":"export A={SECRET}"}}')
    session.append(assistant(sealed, opaque("openai", "x", SECRET.encode()), call))
    session.append(tool(ToolResult("c1", f"token={SECRET}")))
    session.append(Summary(covers=(Span(1, 1),), text=f"Uses {SECRET}", facts=b"x" + b"y"))
    for to in ("portable", "markdown", "html", "claude-code", "codex", "anthropic",
               "openai-responses", "openai-chat"):  # fmt: skip
        data, fidelity = told(session, to)
        assert SECRET.encode() not in data
        assert any("masked" in each for each in fidelity.not_carried)
        raw, fidelity = told(session, to, raw=True)
        assert SECRET.encode() in raw
        assert not any("masked" in each for each in fidelity.not_carried)
    assert line(session)["markers"][0]["marker"].get("facts", "") == ""
    for raw in (False, True):
        thought, block, _ = line(session, raw=raw)["messages"][1]["parts"]
        sealed = b64decode(thought["seal"]["data"]), b64decode(block["data"])
        assert [SECRET.encode() in data for data in sealed] == [raw, raw]


def test_a_masked_session_can_be_imported_and_its_seals_are_never_sent(
    hf: Holdfast, other: Holdfast, tmp_path: Path
) -> None:
    session = hf.session(model="gpt-5.1")
    session.append(assistant(Reasoning("hm", seal("openai", SECRET.encode()))))
    imported(other, exported(session), tmp_path)
    (only,) = other.session(session.id).entries()
    assert isinstance(only.body, Message)
    (part,) = only.body.parts
    assert isinstance(part, Reasoning)
    assert part.seal
    assert not part.seal.intact


@pytest.mark.seed("003", 43)
def test_text_of_every_kind_comes_back(hf: Holdfast, other: Holdfast, tmp_path: Path) -> None:
    session = hf.session(model="gpt-5.1")
    for text in HOSTILE:
        session.append(Message("assistant", every_part(text)))
    data = exported(session, raw=True)
    assert data.count(b"\n") == 1
    imported(other, data, tmp_path)
    again = other.session(session.id)
    assert [one.body for one in again.entries()] == [one.body for one in session.entries()]


def test_a_file_that_knows_more_adds_to_the_session(
    hf: Holdfast, other: Holdfast, tmp_path: Path
) -> None:
    session = roof(hf)
    first = exported(session, raw=True)
    imported(other, first, tmp_path)
    session.user("One more thing.")
    later = exported(session, raw=True)
    assert imported(other, later, tmp_path).entries == 1
    assert exported(other.session(session.id), raw=True) == later
    assert imported(other, first, tmp_path).entries == 0
    assert exported(other.session(session.id), raw=True) == later


def test_a_file_that_parts_from_the_session_becomes_a_fork(
    hf: Holdfast, other: Holdfast, tmp_path: Path
) -> None:
    session = roof(hf)
    imported(other, exported(session, raw=True), tmp_path)
    session.user("Here this was said.")
    other.session(session.id).user("And there that.")
    for _ in range(2):
        (id,) = imported(other, exported(session, raw=True), tmp_path).sessions
        forked = other.session(id)
        assert id != session.id
        assert (forked.info.parent, forked.info.fork) == (session.id, 9)
        assert [one.id for one in forked.entries()] == [one.id for one in session.entries()]
    assert len(list(other.every_session())) == 2


def test_a_fork_is_one_again_where_its_parent_is(
    hf: Holdfast, other: Holdfast, tmp_path: Path
) -> None:
    session = roof(hf)
    forked = session.fork(3)
    forked.user("Or green?")
    alone = exported(forked, raw=True)
    imported(other, alone, tmp_path)
    assert not other.session(forked.id).info.parent
    assert len(list(other.session(forked.id).entries())) == 4
    with holdfast.open("memory:") as third:
        imported(third, exported(session, raw=True) + alone, tmp_path)
        info = third.session(forked.id).info
        assert (info.parent, info.fork) == (session.id, 3)
        assert exported(third.session(forked.id), raw=True) == alone


def test_a_file_that_was_cut_or_changed_raises_nothing(
    hf: Holdfast, other: Holdfast, tmp_path: Path
) -> None:
    whole = exported(roof(hf), raw=True)
    for length in range(80, len(whole) - 2, max(len(whole) // 150, 1)):
        report = imported(other, whole[:length], tmp_path)
        assert (report.sessions, report.troubles) == ((), 1)
    assert list(other.every_session()) == []


def test_whatever_stands_in_a_line_is_taken_in_or_told(hf: Holdfast, tmp_path: Path) -> None:
    head = exported(roof(hf), raw=True)
    for strange in islice(mutilated(head, 3, lines=True), 40, 2_000, 30):
        if not Portable().recognises(strange, NAME):
            continue
        with holdfast.open("memory:") as fresh:
            report = imported(fresh, strange, tmp_path)
            assert bool(report.sessions) != bool(report.troubles)
            for id in report.sessions:
                exported(fresh.session(id), "markdown")
                fresh.session(id).ledger()


WRONG: dict[str, tuple[str, Any]] = {
    "a gap": ("messages.1.seq", 40),
    "no id": ("messages.1.id", ""),
    "another id": ("session.id", "ümläut"),
    "no time": ("messages.0.created", -5),
    "a huge time": ("session.updated", 2**63 + 1),
    "a key twice": ("messages.0.key", "again"),
    "a role": ("messages.0.role", "nobody"),
    "a marker": ("markers.0.marker.kind", "spell"),
    "a newer version": ("version", 2),
}


@pytest.mark.parametrize("what", WRONG)
def test_what_no_log_can_be_made_of_is_told(
    what: str, hf: Holdfast, other: Holdfast, tmp_path: Path
) -> None:
    value = line(roof(hf), raw=True)
    path, wrong = WRONG[what]
    _set(value, path, wrong)
    if what == "a key twice":
        _set(value, "messages.2.key", "again")
    good = exported(hf.session(hf.session(model="gpt-5.1").user("Fine.").session), raw=True)
    report = imported(other, json.dumps(value).encode() + b"\n" + good, tmp_path)
    assert report.troubles == 1
    assert report.problems[0].line == 1
    assert report.sessions  # the line after it is read


def _set(value: Any, path: str, new: Any) -> None:
    *steps, last = path.split(".")
    for step in steps:
        value = value[int(step) if isinstance(value, list) else step]
    value[last] = new


def test_what_a_file_says_of_itself_is_not_believed(
    hf: Holdfast, other: Holdfast, tmp_path: Path
) -> None:
    session = roof(hf)
    value = line(session, raw=True)
    value["compaction"] = {"boundaries": []}
    value["markers"][0]["marker"] |= {"folded": {"summaries": [77]}, "facts": "bm9uZQ=="}
    value["messages"][0]["counts"] = [-5]
    value["session"] |= {"head": 99, "last_marker": 99}
    imported(other, json.dumps(value).encode(), tmp_path)
    again = other.session(session.id)
    assert again.view().folded == session.view().folded
    assert again.ledger() == session.ledger()
    assert exported(again, raw=True) == exported(session, raw=True)


def test_markers_that_reach_back_again_and_again_are_bounded(
    other: Holdfast, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("holdfast.engine.importing.portable.WORK", 50)
    bodies: list[Any] = ["words"]
    for _ in range(20):
        bodies += [Rewind(to=1), Summary(covers=(Span(1, 1),), text="x")]
    with holdfast.open("memory:") as hf:
        log = [entry(n, body) for n, body in enumerate(bodies, 1)]
        data = exported(written(hf, log, "LONG"), raw=True)
    report = imported(other, data, tmp_path)
    assert "for ever" in report.problems[0].what


def test_it_reads_what_its_own_types_say(hf: Holdfast) -> None:
    session = roof(hf)
    session.append(Clear(parts=(PartRef(1, 0),)))
    found = wire.decode(exported(session, raw=True), PortableLine)  # type: ignore[arg-type]
    assert [one.seq for one in found.entries] == list(range(1, session.info.head + 1))
