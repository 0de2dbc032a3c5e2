"""What fuzzing has found, each as small as it can be."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import apsw
import pytest

from holdfast.importers.opencode.rows import Rows
from holdfast.model.message import Opaque
from holdfast.model.transcript_events import MessageRead, Problem, SessionStarted, TranscriptEvent
from tests.fuzz.cuts import Cutting
from tests.fuzz.forms import FORMS, unpack


def told(name: str, folder: Path, data: bytes) -> list[TranscriptEvent]:
    return Cutting(FORMS[name], folder).told(data)


def begun(items: list[TranscriptEvent]) -> list[str]:
    return [item.native for item in items if isinstance(item, SessionStarted)]


def test_a_stream_whose_first_event_is_no_beginning_begins_all_the_same(tmp_path: Path) -> None:
    first = b'{"type":"init","type":"message","session_id":"s","role":"user","content":"Hello."}\n'
    items = told("gemini-cli JSONL", tmp_path, first)
    assert begun(items) == ["s"]
    assert [item.message.text for item in items if isinstance(item, MessageRead)] == ["Hello."]


@pytest.mark.parametrize("id", [[], 7, "", None])
def test_an_export_without_an_id_is_called_as_its_file_is(id: object, tmp_path: Path) -> None:
    data = json.loads(FORMS["opencode export"].seeds[0])
    data["info"]["id"] = id
    assert begun(told("opencode export", tmp_path, json.dumps(data).encode())) == ["export"]


def test_records_that_name_no_session_are_told_under_the_file_s_name(tmp_path: Path) -> None:
    records = [
        {"type": "user", "uuid": "u1", "message": {"role": "user", "content": "Hello."}},
        {"type": "assistant", "uuid": "u2",
         "message": {"id": "m", "content": [{"type": "text", "text": "Yes?"}]}},
    ]  # fmt: skip
    data = b"".join(json.dumps(one).encode() + b"\n" for one in records)
    items = told("claude-code", tmp_path, data)
    assert begun(items) == [Path(FORMS["claude-code"].file).stem]
    assert [item.native for item in items if isinstance(item, MessageRead)] == ["u1", "u2"]


def test_a_reply_before_its_session_is_named_is_not_lost(tmp_path: Path) -> None:
    early = {"type": "assistant", "uuid": "u0", "message": {"id": "m", "content": "Early."}}
    data = json.dumps(early).encode() + b"\n" + FORMS["claude-code"].seeds[0]
    items = told("claude-code", tmp_path, data)
    assert next(item.native for item in items if isinstance(item, MessageRead)) == "u0"
    assert isinstance(items[0], SessionStarted)


def test_a_name_with_half_a_character_ends_nothing(tmp_path: Path) -> None:
    lines = FORMS["claude-code"].seeds[0].splitlines(keepends=True)
    block = b'"content": [{"type": "new", "\\ud800": 1}]'
    strange = [line.replace(b'"content": [', block[:-1] + b", ", 1) for line in lines]
    items = told("claude-code", tmp_path, b"".join(strange))
    parts = [part for item in items if isinstance(item, MessageRead) for part in item.message.parts]
    assert [part for part in parts if isinstance(part, Opaque) and b"\\ud800" in part.data]


def test_messages_of_a_session_whose_file_is_damaged_are_told(tmp_path: Path) -> None:
    cutting = Cutting(FORMS["opencode tree"], tmp_path)
    for name, data in unpack(cutting.data).items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(data)
    items = cutting.told(b'{"id": "ses_')
    assert begun(items) == [Path(FORMS["opencode tree"].file).stem]
    assert sum(isinstance(item, MessageRead) for item in items) >= 2
    assert next(item.severity for item in items if isinstance(item, Problem)) == "damaged"


def test_a_table_whose_pages_lead_back_comes_to_its_end(tmp_path: Path) -> None:
    path = tmp_path / "circle.db"
    with closing(sqlite3.connect(path)) as made:
        made.execute("PRAGMA page_size = 512")
        made.execute("CREATE TABLE told (id INTEGER PRIMARY KEY, words TEXT)")
        made.executemany("INSERT INTO told (words) VALUES (?)", [("x" * 100,)] * 40)
        ((root,),) = made.execute("SELECT rootpage FROM sqlite_master").fetchall()
        made.commit()
    data = bytearray(path.read_bytes())
    page = (root - 1) * 512
    first, third = (int.from_bytes(data[page + at : page + at + 2], "big") for at in (12, 16))
    data[page + third : page + third + 4] = data[page + first : page + first + 4]
    data[page + 8 : page + 12] = (2**31 - 1).to_bytes(4, "big")  # the last is nowhere
    for cell in range(3, int.from_bytes(data[page + 3 : page + 5], "big")):
        at = page + int.from_bytes(data[page + 12 + 2 * cell : page + 14 + 2 * cell], "big")
        data[at : at + 4] = (2**31 - 1).to_bytes(4, "big")
    path.write_bytes(data)
    with closing(apsw.Connection(str(path))) as connection:
        rows = Rows(connection, 1_000_000, seconds=20)
        found = rows.of("told", ["id"])
    numbers = [int(number) for (number,) in found if number]
    assert numbers == sorted(set(numbers))
    assert numbers[0] == 1
