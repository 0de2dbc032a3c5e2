"""Transcripts that mean harm: bounded in time, depth and memory, never followed, never run."""

from __future__ import annotations

import json
import sqlite3
import tracemalloc
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from holdfast.engine.importing.transcript_file import FileMaterial
from holdfast.files import Root
from holdfast.importers.gemini_cli import GeminiCli
from holdfast.importers.opencode import OpenCode
from holdfast.importers.opencode.database import Limits
from holdfast.importers.opencode.reader import in_database
from holdfast.model.transcript_events import (
    Kept,
    MessageRead,
    Problem,
    SessionStarted,
    TranscriptEvent,
)
from holdfast.ports import Importer
from tests.importers.gemini_writing import Chat
from tests.importers.gemini_writing import story as chat
from tests.importers.opencode_writing import SCHEMA, Talk, database, story
from tests.thorough import step

DEEP = b'{"a":' * 100_000
"""More levels than anything here descends."""


def read(importer: Importer, path: Path, limits: Limits | None = None) -> list[TranscriptEvent]:
    with closing(FileMaterial(Root(path.parent), path.name)) as material:
        told = in_database(material, limits) if limits else importer.read(material)
        return list(told)


def wrong(told: list[TranscriptEvent]) -> list[str]:
    return [item.what for item in told if isinstance(item, Problem)]


def said(told: list[TranscriptEvent]) -> list[str]:
    return [item.native for item in told if isinstance(item, MessageRead)]


def test_deep_lines_hide_nothing_else(tmp_path: Path) -> None:
    path = chat().write(tmp_path)
    whole = said(read(GeminiCli(), path))
    lines = chat().lines
    path.write_bytes(b"".join((*lines[:3], DEEP + b"1" + b"}" * 100_000 + b"\n", *lines[3:])))
    told = read(GeminiCli(), path)
    assert said(told) == whole
    assert len(wrong(told)) == 1


def test_deep_documents_give_what_is_whole(tmp_path: Path) -> None:
    for importer, path in (
        (GeminiCli(), chat().document(tmp_path)), (OpenCode(), story().export(tmp_path)),
    ):  # fmt: skip
        whole = said(read(importer, path))
        data = path.read_bytes().rstrip()
        path.write_bytes(data[:-1] + b',"deep":' + DEEP + b"1" + b"}" * 100_001)
        told = read(importer, path)
        assert said(told) == whole
        assert wrong(told)


@pytest.mark.parametrize("name", ["messages", "sessionId", "info"])
def test_brackets_without_end_are_read_in_one_pass(name: str, tmp_path: Path) -> None:
    path = tmp_path / "session.json"
    for filling in (b"[" * 300_000, b'"' * 300_001, b'\\"' * 300_000, b'{"a":[' * 99_000):
        path.write_bytes(b'{"sessionId":"s","%b":' % name.encode() + filling)
        for importer in (GeminiCli(), OpenCode()):
            assert wrong(read(importer, path))


def test_huge_strings_cost_a_few_times_their_size(tmp_path: Path) -> None:
    told = Chat()
    told.user("u1", "x" * 8_000_000)
    for path in (told.write(tmp_path), told.document(tmp_path)):
        tracemalloc.start()
        assert said(read(GeminiCli(), path)) == ["u1"]
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < 100_000_000


def test_names_lead_nowhere_else(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.mkdir()
    (secret / "x.json").write_text('{"type": "text", "text": "stolen"}')
    for name in ("../../secret", "/etc", "..", "a/b", "\0", "x" * 5_000):
        talk = Talk()
        talk.user("Look.", id="msg_1")
        path = talk.tree(tmp_path / "opencode")
        messages = path.parents[2] / "message"
        for found in messages.rglob("*.json"):
            found.write_text(json.dumps({"id": name, "role": "user", "time": {"created": 1}}))
        path.write_text(json.dumps({**talk.info, "id": name, "parentID": name}))
        with closing(FileMaterial(Root(tmp_path), str(path.relative_to(tmp_path)))) as material:
            assert "stolen" not in str(list(OpenCode().read(material)))


def test_links_are_not_followed(tmp_path: Path) -> None:
    (tmp_path / "outside.json").write_text('{"type": "text", "text": "stolen"}')
    path = story().tree(tmp_path / "opencode")
    place = next((path.parents[2] / "part").iterdir())
    (place / "prt_00000.json").symlink_to(tmp_path / "outside.json")
    with closing(FileMaterial(Root(tmp_path), str(path.relative_to(tmp_path)))) as material:
        told = list(OpenCode().read(material))
    assert "stolen" not in str(told)
    assert wrong(told) == [f"{(place / 'prt_00000.json').relative_to(tmp_path)} cannot be read"]


def test_views_and_virtual_tables_are_no_tables(tmp_path: Path) -> None:
    path = tmp_path / "opencode.db"
    with closing(sqlite3.connect(path)) as db:
        db.execute("CREATE VIEW session AS SELECT 'ses_1' AS id, randomblob(1000) AS title")
        db.execute("CREATE VIRTUAL TABLE message USING fts5(id, session_id, time_created, data)")
        db.execute("CREATE TABLE part (id, message_id, data)")
    told = read(OpenCode(), path)
    assert wrong(told)[:2] == ["has no table 'session'", "has no table 'message'"]
    assert not [item for item in told if isinstance(item, SessionStarted)]


def test_triggers_never_run_and_what_they_guard_is_read(tmp_path: Path) -> None:
    path = database(tmp_path, story())
    with closing(sqlite3.connect(path)) as db:
        db.execute("CREATE TRIGGER t AFTER INSERT ON part BEGIN DELETE FROM session; END")
        db.execute("CREATE VIEW spy AS SELECT * FROM session")
    assert said(read(OpenCode(), path))


def test_rows_that_cannot_be_read_hide_no_other(tmp_path: Path) -> None:
    path = database(tmp_path, story())
    whole = said(read(OpenCode(), path))
    rows: list[tuple[Any, ...]] = [
        ("prt_x1", b"\xff\xfe"), ("prt_x2", 7), ("prt_x3", "[]"), ("prt_x4", '{"type":'),
        ("prt_x5", DEEP.decode()), (b"\xff", '{"type": "text"}'), (None, '{"type": 1}'),
    ]  # fmt: skip
    message = story().messages[0]["info"]["id"]
    with closing(sqlite3.connect(path)) as db:
        for id, data in rows:
            db.execute("INSERT INTO part VALUES (?, ?, 's', 0, 0, ?)", (id, message, data))
        db.execute("INSERT INTO session VALUES ('', '', '', '', x'ff', 1, 2, 3, 4, 5, 6, 7, '{',"
                   " 8, 'then', x'00', 9, 10)")  # fmt: skip
        db.execute("INSERT INTO message VALUES ('m', ?, 'x', 0, 'null')", (story().info["id"],))
        db.commit()
    told = read(OpenCode(), path)
    assert said(told) == whole
    damaged = [item for item in told if isinstance(item, Kept) and item.record.type == "damaged"]
    assert len(damaged) == 3
    assert len(wrong(told)) >= 6


def test_a_database_is_bounded_in_steps_values_and_bytes(tmp_path: Path) -> None:
    path = tmp_path / "opencode.db"
    with closing(sqlite3.connect(path)) as db:
        db.executescript(SCHEMA)
        story().insert(db)
        blow = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i < 30000) "
        db.execute(f"{blow} INSERT INTO part SELECT 'p'||i, 'm', 's', 0, 0, '{{}}' FROM n")
        large = json.dumps({"type": "text", "text": "x" * 2_000_000})
        db.execute("UPDATE part SET data = ? WHERE id LIKE 'prt_00001%'", (large,))
        db.execute("DROP INDEX part_message_idx")
        db.commit()
    assert not wrong(read(OpenCode(), path, Limits(slack=0)))
    assert wrong(read(OpenCode(), path, Limits(steps=1))) == ["is damaged: interrupted"]
    assert "too big" in wrong(read(OpenCode(), path, Limits(value=10_000)))[0]
    assert wrong(read(OpenCode(), path, Limits(slack=-10_000_000))) == [
        "is damaged: gives more than it can hold, and is damaged"
    ]


def test_a_database_cut_or_scribbled_on_anywhere_is_read_to_its_end(tmp_path: Path) -> None:
    path = database(tmp_path, story())
    data = path.read_bytes()
    for at in range(0, len(data), 997):
        path.write_bytes(data[:at])
        read(OpenCode(), path)
        path.write_bytes(data[:at] + b"\xff" * 64 + data[at + 64 :])
        read(OpenCode(), path)


def test_a_database_with_names_that_are_no_text_is_damaged(tmp_path: Path) -> None:
    path = database(tmp_path, story())
    data = path.read_bytes()
    path.write_bytes(data.replace(b"message_id TEXT", b"mess\xfage_id TEXT"))
    (problem,) = wrong(read(OpenCode(), path))
    assert problem.startswith("is damaged")


def test_an_export_cut_at_any_byte_gives_every_whole_message(tmp_path: Path) -> None:
    talk = Talk()
    talk.user("Is it “ready”?")
    talk.reply("It is.")
    path = talk.export(tmp_path)
    data = path.read_bytes()
    whole = said(read(OpenCode(), path))
    ends = [data.find(b"\n    }", data.find(b'"%b"' % id.encode())) + 6 for id in whole]
    for length in range(1, len(data), step(4)):
        path.write_bytes(data[:length])
        told = read(OpenCode(), path)
        assert said(told) == whole[: sum(end <= length for end in ends)]
        assert wrong(told)
