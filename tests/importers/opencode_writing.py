"""Writes sessions as OpenCode does: as an export, as a tree of files, and as a database."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

SESSION = "ses_277daa810ffe000000000000a1"
MODEL = "claude-sonnet-4-6"

SCHEMA = """
CREATE TABLE session (
  id TEXT PRIMARY KEY, project_id TEXT NOT NULL, parent_id TEXT, slug TEXT NOT NULL,
  directory TEXT NOT NULL, title TEXT NOT NULL, version TEXT NOT NULL, share_url TEXT,
  summary_additions INTEGER, summary_deletions INTEGER, summary_files INTEGER,
  summary_diffs TEXT, revert TEXT, permission TEXT, time_created INTEGER NOT NULL,
  time_updated INTEGER NOT NULL, time_compacting INTEGER, time_archived INTEGER);
CREATE TABLE message (
  id TEXT PRIMARY KEY, session_id TEXT NOT NULL REFERENCES session(id) ON DELETE CASCADE,
  time_created INTEGER NOT NULL, time_updated INTEGER NOT NULL, data TEXT NOT NULL);
CREATE INDEX message_session_idx ON message (session_id);
CREATE TABLE part (
  id TEXT PRIMARY KEY, message_id TEXT NOT NULL REFERENCES message(id) ON DELETE CASCADE,
  session_id TEXT NOT NULL, time_created INTEGER NOT NULL, time_updated INTEGER NOT NULL,
  data TEXT NOT NULL);
CREATE INDEX part_message_idx ON part (message_id);
"""


class Talk:
    """One session, message by message."""

    def __init__(self, session: str = SESSION, **fields: Any) -> None:
        self.info: dict[str, Any] = {
            "id": session, "slug": "quiet-roof", "projectID": "p1", "directory": "/home/me/project",
            "title": "The roof", "version": "1.4.3",
            "time": {"created": 1_776_105_641_967, "updated": 1_776_121_618_956}, **fields,
        }  # fmt: skip
        self.messages: list[dict[str, Any]] = []
        self._parts = 0

    def _add(self, role: str, parts: tuple[dict[str, Any], ...], **fields: Any) -> str:
        number = len(self.messages) + 1
        id = fields.pop("id", f"msg_{number:04d}{self.info['id'][-4:]}")
        created = 1_776_105_642_000 + number * 1_000
        info = {"id": id, "sessionID": self.info["id"], "role": role,
                "time": {"created": created}, **fields}  # fmt: skip
        held = []
        for part in parts:
            self._parts += 1
            name = {"id": f"prt_{self._parts:05d}{self.info['id'][-4:]}"}
            held.append({**name, "sessionID": self.info["id"], "messageID": id, **part})
        self.messages.append({"info": info, "parts": held})
        return id

    def user(self, *parts: dict[str, Any] | str, **fields: Any) -> str:
        return self._add("user", tuple(map(_part, parts)), agent="build", **fields)

    def reply(self, *parts: dict[str, Any] | str, **fields: Any) -> str:
        number = len(self.messages) + 1
        created = 1_776_105_642_000 + number * 1_000
        told = {
            "parentID": "", "mode": "build", "agent": "build", "modelID": MODEL,
            "providerID": "anthropic", "cost": 0.25, "finish": "stop",
            "tokens": {"input": 10, "output": 7, "reasoning": 3, "cache": {"read": 5, "write": 2}},
            "time": {"created": created, "completed": created + 500}, **fields,
        }  # fmt: skip
        steps = ({"type": "step-start", "snapshot": "aa"}, *map(_part, parts),
                 {"type": "step-finish", "reason": "stop", "cost": 0.25})  # fmt: skip
        return self._add("assistant", steps, **told)

    def compact(self, summary: str = "The roof was mended.", tail: str = "", **fields: Any) -> None:
        request = {"type": "compaction", "auto": True, "overflow": False}
        asked = self.user({**request, "tail_start_id": tail} if tail else request)
        self.reply(summary, parentID=asked, summary=True, mode="compaction", **fields)

    def export(self, directory: Path, many: int | None = None) -> Path:
        directory.mkdir(parents=True, exist_ok=True)
        path = directory / "session.json"
        whole = {"info": self.info, "messages": self.messages[:many]}
        path.write_text(json.dumps(whole, indent=2, ensure_ascii=False))
        return path

    def tree(self, directory: Path) -> Path:
        """Write it as files; the session's own."""
        storage = directory / "storage"
        path = storage / "session" / "p1" / f"{self.info['id']}.json"
        _write(path, self.info)
        for message in self.messages:
            info = message["info"]
            _write(storage / "message" / self.info["id"] / f"{info['id']}.json", info)
            for part in message["parts"]:
                _write(storage / "part" / info["id"] / f"{part['id']}.json", part)
        return path

    def insert(self, db: sqlite3.Connection) -> None:
        """Write it into a database."""
        info = self.info
        revert = json.dumps(info["revert"]) if "revert" in info else None
        db.execute(
            "INSERT OR REPLACE INTO session (id, project_id, parent_id, slug, directory, title, "
            "version, revert, time_created, time_updated) VALUES (?,?,?,?,?,?,?,?,?,?)",
            (info["id"], "p1", info.get("parentID"), info["slug"], info["directory"],
             info["title"], info["version"], revert, *info["time"].values()),
        )  # fmt: skip
        for message in self.messages:
            told, id = dict(message["info"]), message["info"]["id"]
            created = told["time"]["created"]
            del told["id"], told["sessionID"]
            row = (id, info["id"], created, created, json.dumps(told))
            db.execute("INSERT OR REPLACE INTO message VALUES (?,?,?,?,?)", row)
            for part in message["parts"]:
                held = {k: v for k, v in part.items() if k not in ("id", "sessionID", "messageID")}
                row = (part["id"], id, info["id"], created, created, json.dumps(held))
                db.execute("INSERT OR REPLACE INTO part VALUES (?,?,?,?,?,?)", row)
        db.commit()


def database(directory: Path, *talks: Talk) -> Path:
    """A database with some sessions, in the mode that the program uses."""
    directory.mkdir(parents=True, exist_ok=True)
    path = directory / "opencode.db"
    with closing(sqlite3.connect(path)) as db:
        db.execute("PRAGMA journal_mode=WAL")
        db.executescript(SCHEMA)
        for talk in talks:
            talk.insert(db)
    return path


def _write(path: Path, value: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value, ensure_ascii=False))


def _part(part: dict[str, Any] | str) -> dict[str, Any]:
    return {"type": "text", "text": part} if isinstance(part, str) else part


def ran(id: str, output: str | None = "done", **state: Any) -> dict[str, Any]:
    told = {"status": "completed", "input": {"command": "ls"}, "output": output, "title": "ls",
            "metadata": {}, "time": {"start": 5, "end": 9}, **state}  # fmt: skip
    return {"type": "tool", "callID": id, "tool": "bash", "state": told}


def thought(words: str, **metadata: Any) -> dict[str, Any]:
    return {"type": "reasoning", "text": words, "metadata": metadata, "time": {"start": 1}}


def story(session: str = SESSION) -> Talk:
    """Turns with thought, tools, a patch, an aborted reply and a compaction with a tail."""
    talk = Talk(session)
    talk.user("Please mend the roof.", {"type": "text", "text": "See roof.py.", "synthetic": True},
              {"type": "file", "mime": "text/plain", "filename": "roof.py",
               "url": "file:///home/me/roof.py"})  # fmt: skip
    talk.reply(thought("It may leak.", anthropic={"signature": "c2lnbmVk"}), "I look.",
               ran("c1", "roof.py"), ran("c2", "/home/me", time={"start": 5, "compacted": 77}),
               {"type": "patch", "hash": "bb", "files": ["roof.py"]},
               finish="tool-calls")  # fmt: skip
    talk.reply("The roof has a hole.")
    tail = talk.user("Paint it blue.")
    talk.reply("Painting", finish=None, error={"name": "MessageAbortedError", "data": {}})
    talk.compact("The roof was mended.", tail)
    talk.user({"type": "text", "text": "Continue.", "synthetic": True})
    talk.reply("Nothing is left.", ran("c3", status="error", output=None, error="no such file"))
    return talk
