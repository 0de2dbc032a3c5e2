"""What other programs count in the recorded files, and what we count in the same ones."""

from __future__ import annotations

import json
import re
import shutil
import sqlite3
from collections import defaultdict
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple

import holdfast
from holdfast.model.message import Message, ToolCall
from holdfast.model.reply import Call
from tests.agents.harness import Place
from tests.conftest import SHARED_DATA
from tests.importers.looking import calls_of, parts

TRANSCRIPTS = SHARED_DATA / "transcripts"
BUCKETS = (
    *("input_tokens", "cache_creation_input_tokens"),
    *("cache_read_input_tokens", "output_tokens"),
)
REPLIES = (
    "SELECT id, claude_message_id, token_usage FROM messages"
    " WHERE session_id = ? AND role = 'assistant' AND is_system = 0"
)
CALLS = (
    "SELECT coalesce(nullif(tool_use_id, ''), id), tool_name, input_json FROM tool_calls"
    " WHERE session_id = ?"
)
EVENTS = f"SELECT {', '.join(BUCKETS)} FROM usage_events WHERE session_id = ?"
CCUSAGE = ("inputTokens", "cacheCreationTokens", "cacheReadTokens", "outputTokens")
MICROSECONDS = re.compile(r'("timestamp":"[^"]*\.\d{3})\d+Z"')


class Used(NamedTuple):
    """Tokens: new, written to the cache, read from it, and answered; and dollars."""

    tokens: tuple[int, ...]
    cost: float


class Counted(NamedTuple):
    """What is in one file."""

    replies: int
    calls: int
    tokens: tuple[int, ...]


def ours(path: Path) -> tuple[Counted, Used]:
    """What an import of one file tells."""
    with holdfast.open("memory:") as hf:
        list(hf.import_from(path))
        sessions = [hf.session(one.id) for one in hf.every_session()]
        made = [call for session in sessions for call in calls_of(hf, session)]
        found = [part for session in sessions for part in parts(session)]
        bodies = [entry.body for session in sessions for entry in session.entries()]
    replies = sum(isinstance(one, Message) and one.role == "assistant" for one in bodies)
    tokens = _tokens(made)
    cost = sum(call.cost or 0 for call in made) / 1e9
    calls = sum(isinstance(part, ToolCall) for part in found)
    return Counted(replies, calls, tokens), Used(tokens, cost)


def _tokens(made: list[Call]) -> tuple[int, ...]:
    usages = [call.usage for call in made]
    return (
        sum(one.input for one in usages),
        sum(one.cache_write for one in usages),
        sum(one.cache_read for one in usages),
        sum(one.output for one in usages),
    )


def ccusage_codex(path: Path, folder: Path) -> Used:
    """What ccusage tells of one rollout of Codex."""
    place = Place.at(folder)
    day = place.home / ".codex" / "sessions" / "2026" / "01" / "01"
    day.mkdir(parents=True)
    shutil.copy(
        path, day / "rollout-2026-01-01T00-00-00-00000000-0000-4000-8000-000000000001.jsonl"
    )
    ended = place.run("ccusage", "codex", "session", "--json", "--offline")
    assert ended.status == 0, ended
    told = json.loads(ended.out).get("totals") or {}
    return Used(tuple(told.get(name, 0) for name in CCUSAGE), told.get("costUSD") or 0.0)


def ccusage(path: Path, folder: Path, *, rewritten: bool = False) -> Used:
    """What ccusage tells of one file of Claude Code, with the prices that it brings along."""
    place = Place.at(folder)
    project = place.home / ".claude" / "projects" / "p"
    project.mkdir(parents=True)
    text = path.read_text()
    (project / path.name).write_text(
        "".join(map(_plainer, text.splitlines())) if rewritten else text
    )
    ended = place.run(
        *("ccusage", "claude", "session", "--json", "--offline", "--mode", "calculate"),
        CLAUDE_CONFIG_DIR=str(place.home / ".claude"),
    )
    assert ended.status == 0, ended
    told = json.loads(ended.out).get("totals") or {}
    return Used(tuple(told.get(name, 0) for name in CCUSAGE), told.get("totalCost", 0.0))


def _plainer(line: str) -> str:
    """A record without white space between its members, its times in milliseconds."""
    try:
        text = json.dumps(json.loads(line), ensure_ascii=False, separators=(",", ":"))
    except ValueError:
        text = line
    return MICROSECONDS.sub(r'\1Z"', text) + "\n"


def agentsview(folder: Path) -> dict[str, Counted]:
    """What agentsview finds in every recorded file that it can read, by the file's name."""
    place = Place.at(folder)
    names = {str(place.home / there): name for name, there in laid_out().items()}
    for there, name in names.items():
        Path(there).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(TRANSCRIPTS / name, there)
    data = place.home / "data"
    ended = place.run("agentsview", "sync", AGENTSVIEW_DATA_DIR=str(data), AGENTSVIEW_NO_DAEMON="1",
                      AIDER_DIR=str(place.home / "code"))  # fmt: skip
    assert ended.status == 0, ended
    with closing(sqlite3.connect(data / "sessions.db")) as base:
        return _found(base, names)


def laid_out() -> dict[str, str]:
    """Where each file has to lie for agentsview to see it, each under a name of its own."""
    places: dict[str, str] = {}
    for number, path in enumerate(sorted(TRANSCRIPTS.rglob("*"))):
        name = str(path.relative_to(TRANSCRIPTS))
        id = f"00000000-0000-4000-8000-{number:012d}"
        sub = f"{id}/subagents/{path.name}" if path.name.startswith("agent-") else f"{id}.jsonl"
        there = {
            ("claude", ".jsonl"): f".claude/projects/p{number}/{sub}",
            (
                "codex",
                ".jsonl",
            ): f".codex/sessions/2026/01/01/rollout-2026-01-01T00-00-00-{id}.jsonl",
            (
                "gemini",
                path.suffix,
            ): f".gemini/tmp/p{number}/chats/session-{number:08d}{path.suffix}",
            ("other-pi", ".jsonl"): f".pi/agent/sessions/--p{number}--/2026_{id}.jsonl",
            ("other-copilot", ".jsonl"): f".copilot/session-state/{id}/events.jsonl",
            ("aider", ".md"): f"code/p{number}/.aider.chat.history.md",
        }.get((name.split("/")[0], path.suffix))
        if path.is_file() and there and not name.endswith(("journal.jsonl", "expected.json")):
            places[name] = there
    return places


def _found(base: sqlite3.Connection, names: dict[str, str]) -> dict[str, Counted]:
    ids: dict[str, list[str]] = defaultdict(list)
    for id, path in base.execute("SELECT id, file_path FROM sessions"):
        ids[names[path.split("#")[0]]].append(id)
    return {name: _counted(base, each) for name, each in ids.items()}


def _counted(base: sqlite3.Connection, sessions: list[str]) -> Counted:
    """The replies, calls and usage of some sessions; a reply that is told in pieces counts once."""
    usages: dict[str, dict[str, Any]] = {}
    replies: set[str] = set()
    calls: set[Any] = set()
    for session in sessions:
        for id, message, told in base.execute(REPLIES, (session,)):
            name = message or str(id)
            replies.add(name)
            used = json.loads(told) if told else {}
            if used.get("output_tokens", 0) >= usages.get(name, {}).get("output_tokens", 0):
                usages[name] = used
        calls |= set(base.execute(CALLS, (session,)))
        for event in base.execute(EVENTS, (session,)):
            usages[f"{session} {len(usages)}"] = dict(zip(BUCKETS, event, strict=True))
    tokens = tuple(sum(one.get(name, 0) for one in usages.values()) for name in BUCKETS)
    return Counted(len(replies), len(calls), tokens)
