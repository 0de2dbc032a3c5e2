"""Few bytes that ask for much: of memory, of messages told again, of files that are none."""

from __future__ import annotations

import json
import os
import sqlite3
import tracemalloc
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import apsw
import pytest

from holdfast.engine.importing.transcript_file import Bounds, FileMaterial
from holdfast.engine.plugins import importer, importers
from holdfast.files import Root
from holdfast.importers import jsonl
from holdfast.importers.opencode.database import Limits
from holdfast.importers.opencode.reader import in_database
from holdfast.model.transcript_events import (
    CallRead,
    Compacted,
    Kept,
    MessageRead,
    Problem,
    TranscriptEvent,
)
from tests.importers import copilot_writing, gemini_writing, opencode_writing, pi_writing, writing
from tests.importers.opencode_writing import database, story
from tests.thorough import share

MOST_KEPT = 1_000_000
LARGEST = 100_663_296
MOST_AGAIN = 100_000
"""What is promised, in numbers: these tests stand at its edges."""

MANY = 1_500


def read(name: str, path: Path, bounds: Bounds | None = None) -> list[TranscriptEvent]:
    with closing(FileMaterial(Root(path.parent), path.name, bounds)) as material:
        return list(importer(name).read(material))


def wrong(told: list[TranscriptEvent]) -> list[str]:
    return [item.what for item in told if isinstance(item, Problem)]


def lines(records: list[dict[str, Any]]) -> bytes:
    return b"".join(json.dumps(record).encode() + b"\n" for record in records)


def claude() -> bytes:
    told = writing.Transcript()
    ids = [told.user("x") for _ in range(MANY)]
    for _ in range(MANY):
        told.compact("s", preservedSegment={"headUuid": ids[0], "tailUuid": ids[-1]})
    return b"".join(told.lines)


def pi() -> bytes:
    told = pi_writing.Story()
    ids = [told.user("x") for _ in range(MANY)]
    for _ in range(MANY):
        told.add("compaction", summary="s", firstKeptEntryId=ids[0])
    return lines(told.entries)


def copilot() -> bytes:
    told = copilot_writing.Story()
    for _ in range(2 * MANY):
        told.user("x")
    for _ in range(MANY):
        told.add("session.truncation", messagesRemovedDuringTruncation=1)
    return lines(told.events)


def opencode() -> bytes:
    told = opencode_writing.Talk()
    first = told.user("x")
    for _ in range(MANY):
        told.user("x")
    for _ in range(MANY):
        told.compact("s", first)
    return json.dumps({"info": told.info, "messages": told.messages}).encode()


@pytest.mark.parametrize(
    ("name", "make"),
    [("claude-code", claude), ("pi", pi), ("copilot-cli", copilot), ("opencode", opencode)],
)
def test_compactions_keep_only_so_much_in_all(
    name: str, make: Callable[[], bytes], tmp_path: Path
) -> None:
    path = tmp_path / ("export.json" if name == "opencode" else "a.jsonl")
    path.write_bytes(make())
    told = read(name, path)
    kept = [len(item.kept) for item in told if isinstance(item, Compacted)]
    assert len(kept) == MANY
    assert 0 < sum(kept) <= MOST_KEPT
    assert [what for what in wrong(told) if "keep more messages" in what]
    assert sum(isinstance(item, MessageRead) for item in told) >= MANY


def test_a_message_that_is_written_again_and_again_is_kept_but_not_told_each_time(
    tmp_path: Path,
) -> None:
    chat = gemini_writing.Chat()
    for number in range(600):
        chat.user(f"u{number}", "x")
    for number in range(600):
        chat.user("u0", f"x{number}")
    told = read("gemini-cli", chat.write(tmp_path))
    assert sum(isinstance(item, MessageRead) for item in told) <= MOST_AGAIN + 600
    held = {item.record.line for item in told if isinstance(item, Kept)}
    assert {*range(602, 1_202)} <= held
    assert [what for what in wrong(told) if "written again" in what]


def test_a_stream_of_many_pieces_is_one_text(tmp_path: Path) -> None:
    first = b'{"type":"init","session_id":"s"}\n'
    piece = b'{"type":"message","role":"assistant","content":"%b"}\n' % (b"x" * 1_000)
    (tmp_path / "a.jsonl").write_bytes(first + piece * 5_000)
    tracemalloc.start()
    (said,) = (
        item for item in read("gemini-cli", tmp_path / "a.jsonl") if isinstance(item, MessageRead)
    )
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert len(said.message.text) == 5_000_000
    assert peak < 60_000_000


@pytest.mark.parametrize(
    "column",
    ["data AS (hex(zeroblob(20000000)))", f"data TEXT DEFAULT '{'x' * 5_000_000}'",
     f"data TEXT DEFAULT '{'x' * 90_000}'"],
    ids=["computed", "a huge default", "a large default"],
)  # fmt: skip
def test_a_schema_that_makes_every_row_huge_takes_no_memory(column: str, tmp_path: Path) -> None:
    path = tmp_path / "opencode.db"
    message = story().messages[0]["info"]["id"]
    with closing(sqlite3.connect(path)) as db:
        db.executescript(opencode_writing.SCHEMA)
        story().insert(db)
        db.executescript("DROP TABLE part; CREATE TABLE part (id TEXT, message_id TEXT)")
        rows = [(f"p{number}", message) for number in range(1_000)]
        db.executemany("INSERT INTO part VALUES (?, ?)", rows)
        db.execute(f"ALTER TABLE part ADD COLUMN {column}")
        db.commit()
    apsw.memory_high_water(True)
    assert wrong(read("opencode", path))
    assert apsw.memory_high_water() < 40_000_000


def test_a_database_is_bounded_in_time_too(tmp_path: Path) -> None:
    path = database(tmp_path, story())
    with closing(FileMaterial(Root(tmp_path), path.name)) as material:
        told = list(in_database(material, Limits(seconds=-1.0)))
    assert wrong(told) == ["is damaged: takes too long to be read"]


def test_rows_behind_a_damaged_page_are_told(tmp_path: Path) -> None:
    path = tmp_path / "opencode.db"
    talk = opencode_writing.Talk()
    for number in range(200):
        talk.user(f"{number} " + "x" * 200)
    with closing(sqlite3.connect(path)) as db:
        db.execute("PRAGMA page_size=1024")
        db.executescript(opencode_writing.SCHEMA)
        talk.insert(db)
    data = bytearray(path.read_bytes())
    torn = data.index(b'"text": "100 ') // 1024 * 1024
    data[torn : torn + 1024] = bytes(1024)
    path.write_bytes(data)
    told = read("opencode", path)
    said = [item.message.text.split()[0] for item in told if isinstance(item, MessageRead)]
    assert said[:90] == [str(number) for number in range(90)]
    assert said[-90:] == [str(number) for number in range(110, 200)]
    assert [what for what in wrong(told) if "'part' is damaged" in what]


def test_a_line_of_nothing_but_zeros_is_never_held(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    with path.open("wb") as file:
        file.truncate(300 << 20)  # sparse: it takes no disk
        file.seek(0, os.SEEK_END)
        file.write(b"\n" + lines(copilot_writing.story().events))
    tracemalloc.start()
    told = read("copilot-cli", path, Bounds(line=1 << 20))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 20_000_000
    assert "is longer than 1,048,576 bytes" in wrong(told)
    assert [item for item in told if isinstance(item, MessageRead)]


def test_a_record_of_nothing_but_values_is_kept_and_not_taken_apart(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jsonl, "MOST_VALUES", jsonl.MOST_VALUES // 10)  # each is slow when traced
    (tmp_path / "a.jsonl").write_bytes(b'{"type":"x","a":[' + b"[]," * 150_000 + b"1]}\n")
    tracemalloc.start()
    told = read("codex", tmp_path / "a.jsonl")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert [what for what in wrong(told) if "more than 200,000 values" in what]
    assert peak < 4_000_000


def test_two_million_values_are_the_most_of_a_record(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_bytes(b'{"type":"x","a":[' + b"[]," * 1_500_000 + b"1]}\n")
    told = read("codex", tmp_path / "a.jsonl")
    assert [what for what in wrong(told) if "more than 2,000,000 values" in what]


@pytest.mark.parametrize(("name", "times"), [("opencode", 1.6), ("gemini-cli", 2.6)])
def test_a_document_is_held_once(name: str, times: float, tmp_path: Path) -> None:
    talk, chat = opencode_writing.Talk(), gemini_writing.Chat()
    for number in range(1_000):
        talk.user("x" * 10_000)
        chat.user(f"u{number}", "x" * 10_000)
    path = talk.export(tmp_path) if name == "opencode" else chat.document(tmp_path)
    tracemalloc.start()
    with closing(FileMaterial(Root(path.parent), path.name)) as material:
        said = sum(isinstance(one, MessageRead) for one in importer(name).read(material))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert said == 1_000
    assert peak < times * path.stat().st_size


@pytest.mark.parametrize("name", ["opencode", "gemini-cli"])
def test_a_document_that_is_too_large_is_told_as_such(name: str, tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    with path.open("wb") as file:
        file.write(b'{"info":{')
        file.truncate(LARGEST + 1)  # sparse: it takes no disk
    (what,) = wrong(read(name, path))
    assert what.endswith("has more than the 96 MB that are read of one document")


def test_a_text_of_nothing_but_commas_is_one_value(tmp_path: Path) -> None:
    words = ',[{"' * 1_000_000
    told = pi_writing.Story()
    told.user(words)
    (said,) = (item for item in read("pi", told.write(tmp_path)) if isinstance(item, MessageRead))
    assert said.message.text == words


def test_many_tiny_records_are_told_each(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_bytes(b'{"type":"x"}\n' * (many := share(30_000)))
    for name in ("claude-code", "codex", "gemini-cli", "pi", "copilot-cli"):
        told = read(name, tmp_path / "a.jsonl")
        assert sum(isinstance(item, Kept) for item in told) in (0, many)
        assert len(wrong(told)) <= 1


def test_ids_that_repeat_and_parents_in_a_circle_end_nothing(tmp_path: Path) -> None:
    told = writing.Transcript()
    for number in range(300):
        told.user("x", uuid=f"u{number % 3}", parent=f"u{(number + 1) % 3}")
    path = told.write(tmp_path)
    assert sum(isinstance(item, MessageRead) for item in read("claude-code", path)) == 300
    other = pi_writing.Story()
    for number in range(300):
        other.user("x", id=f"u{number % 3}", parent=f"u{(number + 1) % 3}")
    other.add("compaction", id="u0", parent="u0", summary="s", firstKeptEntryId="nobody")
    items = read("pi", other.write(tmp_path))
    assert sum(isinstance(item, MessageRead) for item in items) == 300
    assert not [item for item in items if isinstance(item, CallRead)]


@pytest.mark.parametrize("name", importers())
def test_what_is_no_file_is_not_opened(name: str, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret").write_bytes(lines(copilot_writing.story().events))
    place = tmp_path / "place"
    place.mkdir()
    suffix = {"aider": ".md", "opencode": ".db", "portable": ".ndjson"}.get(name, ".jsonl")
    pipe, link, device = (place / f"opencode-{n}{suffix}" for n in ("pipe", "link", "device"))
    os.mkfifo(pipe)
    link.symlink_to(outside / "secret")
    device.symlink_to("/dev/zero")
    for path in (pipe, link, device):
        told = read(name, path)
        assert [item for item in told if not isinstance(item, Problem)] == []
        assert wrong(told)


def test_a_long_session_of_opencode_keeps_what_its_compactions_kept(tmp_path: Path) -> None:
    told = opencode_writing.Talk()
    for _ in range(share(200)):
        *_, first, _, _ = [told.user("x") for _ in range(100)]
        told.compact("s", first)
    path = tmp_path / "session.json"
    path.write_bytes(json.dumps({"info": told.info, "messages": told.messages}).encode())
    found = read("opencode", path)
    assert wrong(found) == []
    assert {len(one.kept) for one in found if isinstance(one, Compacted)} == {3}


def test_a_long_session_of_gemini_goes_back_and_is_written_again(tmp_path: Path) -> None:
    told = gemini_writing.Chat()
    rounds = share(100)
    for number in range(rounds):
        for message in range(100):
            told.user(f"u{number}-{message}", "x")
        told.user(f"u{number}-98", "y")
        told.rewind(f"u{number}-99")
    path = told.write(tmp_path)
    found = read("gemini-cli", path)
    assert wrong(found) == []
    again = [one for one in found if isinstance(one, MessageRead) and one.message.text == "y"]
    assert len(again) == rounds
