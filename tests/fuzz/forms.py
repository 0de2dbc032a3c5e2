"""The formats that are fuzzed: small, rich files of each, and how bytes become a transcript.

Rule 1: an input is one string of bytes: a file, or several that are packed into one.
Rule 2: what lies beside a file is as hostile as it is only where an input packs it too.
"""

from __future__ import annotations

import json
import sqlite3
import tempfile
from collections.abc import Callable, Sequence
from contextlib import closing
from functools import cache
from pathlib import Path
from typing import Any, Literal

from msgspec import Struct

import holdfast
from holdfast.engine.bridge import drive_all
from holdfast.engine.exporting.export import Exporting
from tests.importers import (
    copilot_writing,
    gemini_writing,
    opencode_writing,
    pi_writing,
    rollouts,
    writing,
)
from tests.importers.aider_writing import BANNER, START, STORY, asked

Kind = Literal["lines", "document", "words", "files", "database"]

FILE, NAME = b"\x1e", b"\x1f"
"""What stands before each packed file, and behind its name."""

PIECE = 6
"""How many lines a piece of a file has, beside the first one."""

MEMORY = f"{writing.SESSION}/session-memory/summary.md"


class Form(Struct, frozen=True, kw_only=True):
    """One format, as one importer reads it."""

    name: str
    importer: str
    file: str
    """Where the transcript lies, beneath the directory that its importer may look into."""
    kind: Kind
    make: Callable[[], list[bytes]]
    beside: dict[str, bytes] = {}

    @property
    def seeds(self) -> list[bytes]:
        """Files that are right: the first has in it all that the format can say."""
        return _made(self.name)

    @property
    def starts(self) -> list[bytes]:
        """What mutations begin with: the seeds, and pieces of them that are sooner read."""
        return _pieces(self.name)


@cache
def _made(name: str) -> list[bytes]:
    return FORMS[name].make()


@cache
def _pieces(name: str) -> list[bytes]:
    seeds = _made(name)
    if FORMS[name].kind != "lines":
        return seeds
    first, *lines = seeds[0].splitlines(keepends=True)
    pieces = [lines[at : at + PIECE] for at in range(0, len(lines), PIECE)]
    return [b"".join((first, *piece)) for piece in pieces] + seeds


def pack(files: dict[str, bytes]) -> bytes:
    """Several files as one input."""
    return b"".join(FILE + name.encode() + NAME + data for name, data in files.items())


def unpack(data: bytes) -> dict[str, bytes]:
    """The files of an input; what has no name is left out."""
    found = (piece.partition(NAME) for piece in data.split(FILE)[1:])
    return {name.decode("utf-8", "replace"): body for name, mark, body in found if mark}


def _claude() -> list[bytes]:
    told = writing.story()
    told.reply("msg_6", writing.call("toolu_9", "Task", prompt="Look."))
    spilled = "<persisted-output>\nOutput too large. Full output saved to: /x/tool-results/t.txt"
    told.result("toolu_9", spilled, toolUseResult={"agentId": "a1"})
    told.user("Look.", isSidechain=True, agentId="a1", parent=None)
    told.reply("msg_7", writing.text("Seen."), isSidechain=True, agentId="a1")
    told.add("attachment", attachment={"type": "queued_command", "prompt": "And “this”?"})
    told.add("system", subtype="microcompact_boundary",
             microcompactMetadata={"compactedToolIds": ["toolu_1"], "preTokens": 9})  # fmt: skip
    image = {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo="}
    told.user([{"type": "image", "source": image}, writing.text("See.")])
    told.compact(preservedSegment={"headUuid": told.records[2]["uuid"],
                                   "tailUuid": told.records[4]["uuid"]})  # fmt: skip
    return [b"".join(told.lines)]


def _codex() -> list[bytes]:
    told = rollouts.story()
    typed = [{"session_id": rollouts.THREAD, "ts": 1_767_000_000 + n, "text": w}
             for n, w in enumerate(("Mend.", "Paint.", "Paint."))]  # fmt: skip
    names = [{"id": rollouts.THREAD, "thread_name": "The roof", "updated_at": "2026"}]
    bare = [record["payload"] for record in told.records if record["type"] != "event_msg"]
    return [b"".join(told.lines), *map(_lines, (typed, names, bare))]


def _gemini_lines() -> list[bytes]:
    stream = [
        {"type": "init", "session_id": "s", "timestamp": "2026-01-02T03:04:05Z", "model": "g"},
        {"type": "message", "role": "user", "content": "Mend."},
        {"type": "message", "role": "assistant", "content": "I ", "delta": True},
        {"type": "message", "role": "assistant", "content": "look.", "delta": True},
        {"type": "tool_use", "tool_id": "t1", "tool_name": "ls", "parameters": {"a": 1}},
        {"type": "tool_result", "tool_id": "t1", "status": "success", "output": "roof.py"},
        {"type": "result", "stats": {"input_tokens": 9, "output_tokens": 3, "cached": 2}},
    ]
    dense = b"".join(json.dumps(one, separators=(",", ":")).encode() + b"\n" for one in stream)
    return [b"".join(gemini_writing.story().lines), dense]


def _gemini_document() -> list[bytes]:
    with tempfile.TemporaryDirectory() as folder:
        data = gemini_writing.story().document(Path(folder)).read_bytes()
    history = {"history": [{"role": "user", "parts": [{"text": "Mend."}]},
                           {"role": "model", "parts": [{"text": "Mended."}]}]}  # fmt: skip
    return [data, json.dumps(history).encode()]


def _export() -> list[bytes]:
    with tempfile.TemporaryDirectory() as folder:
        return [opencode_writing.story().export(Path(folder)).read_bytes()]


def _talk(session: str = opencode_writing.SESSION) -> opencode_writing.Talk:
    talk = opencode_writing.Talk(session)
    talk.user("Mend the “roof”.")
    talk.reply(opencode_writing.thought("Hm."), opencode_writing.ran("c1", "roof.py"))
    talk.compact("The roof was mended.")
    return talk


def _tree() -> list[bytes]:
    talk = _talk()
    with tempfile.TemporaryDirectory() as folder:
        talk.tree(Path(folder))
        files = {file.relative_to(folder).as_posix(): file.read_bytes()
                 for file in sorted(Path(folder).rglob("*.json"))}  # fmt: skip
    return [pack(files)]


def _database() -> list[bytes]:
    """With pages as small as they may be, so that there are many of them."""
    with closing(sqlite3.connect(":memory:")) as db:
        db.execute("PRAGMA page_size=512")
        db.executescript(opencode_writing.SCHEMA)
        _talk().insert(db)
        _talk("ses_277daa810ffe000000000000b2").insert(db)
        few = db.serialize()
        opencode_writing.story().insert(db)
        return [few, db.serialize()]


def _portable() -> list[bytes]:
    with tempfile.TemporaryDirectory() as folder, holdfast.open("memory:") as hf:
        list(hf.import_from(writing.story().write(Path(folder) / "p")))
        list(hf.import_from(rollouts.story().write(Path(folder) / "q")))
        made: list[bytes] = []
        for info in hf.every_session():
            opened = hf.session(info.id)._inner  # pyright: ignore[reportPrivateUsage]
            export = Exporting(opened, opened.turns, "portable")
            export.boundaries = True
            made.append(b"".join(drive_all(export.chunks())))
    return [b"".join(made), *made]


def _lines(records: Sequence[dict[str, Any]]) -> bytes:
    return b"".join(json.dumps(record).encode() + b"\n" for record in records)


def _aider() -> list[bytes]:
    later = START.replace("03:04:05", "05:00:00")
    open_fence = f"{later}{BANNER}{asked('Gô.')}\n~~~~py\n> a  \n\n> Applied edit to a.py  \n"
    return [(STORY + open_fence).encode()]


_TREE = f"storage/session/p1/{opencode_writing.SESSION}.json"

FORMS: dict[str, Form] = {
    form.name: form
    for form in (
        Form(name="claude-code", importer="claude-code", kind="lines", make=_claude,
             file=f"p/{writing.SESSION}.jsonl",
             beside={f"p/{MEMORY}": b"# Notes\n",
                     f"p/{writing.SESSION}/tool-results/t.txt": b"all of it"}),
        Form(name="codex", importer="codex", kind="lines", make=_codex,
             file=f"rollout-2026-01-02T03-00-00-{rollouts.THREAD}.jsonl"),
        Form(name="gemini-cli JSON", importer="gemini-cli", kind="document",
             make=_gemini_document, file="p/chats/session-1.json",
             beside={"p/.project_root": b"/home/me/project"}),
        Form(name="gemini-cli JSONL", importer="gemini-cli", kind="lines", make=_gemini_lines,
             file="p/chats/session-1.jsonl"),
        Form(name="opencode tree", importer="opencode", kind="files", make=_tree, file=_TREE),
        Form(name="opencode SQLite", importer="opencode", kind="database", make=_database,
             file="opencode.db"),
        Form(name="opencode export", importer="opencode", kind="document", make=_export,
             file="export.json"),
        Form(name="aider", importer="aider", kind="words", make=_aider,
             file=".aider.chat.history.md"),
        Form(name="pi", importer="pi", kind="lines", file="2026-01-02_s-1.jsonl",
             make=lambda: [_lines(pi_writing.story().entries),
                           _lines(pi_writing.Story(ids=False).entries)]),
        Form(name="copilot-cli", importer="copilot-cli", kind="lines", file="s-1/events.jsonl",
             make=lambda: [_lines(copilot_writing.story().events)]),
        Form(name="portable", importer="portable", kind="lines", make=_portable,
             file="export.ndjson"),
    )
}  # fmt: skip
"""Every format, by its name."""
