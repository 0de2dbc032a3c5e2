"""What was appended is found by its words, with any filters, as whoever reads it all would."""

import re
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.engine.client import drive
from holdfast.model.log import Draft, Pin
from holdfast.model.message import Message, Patch, Reasoning, Text, ToolCall, ToolResult
from holdfast.model.search import Query
from holdfast.ports import Store
from holdfast.stores.memory import MemoryStore
from holdfast.stores.sqlite.store import SqliteStore
from holdfast.testing.factories import draft, session

WORDS = ("reef", "walrus", "Carpenter", "oyster_bed", "42", "sand", "wal")
TOOLS = ("read", "Bash", "mcp__sea__dive")
MODELS = ("", "claude-opus-4", "gpt-5-mini")
PATHS = ("/home/me/src/app.py", "src/app.py", "docs/reef.md")
TIMES = st.sampled_from((0, 5, 1 << 24, (1 << 28) + 3, 1_760_000_000_000, 1_760_000_000_001))

said = st.lists(st.sampled_from(WORDS), min_size=1, max_size=6).map(" ".join)
calls = st.builds(
    lambda id, name, path: ToolCall(id, name, f'{{"path": "{path}"}}'),
    st.sampled_from("ab"), st.sampled_from(TOOLS), st.sampled_from(PATHS),
)  # fmt: skip
results = st.builds(ToolResult, st.sampled_from("ab"), said)
patches = st.builds(lambda text, path: Patch(text, (path,)), said, st.sampled_from(PATHS))
parts = st.one_of(said.map(Text), said.map(Reasoning), calls, results, patches)
messages = st.builds(
    lambda role, parts: Message(role, tuple(parts)),
    st.sampled_from(("user", "assistant", "tool")), st.lists(parts, min_size=1, max_size=3),
)  # fmt: skip
bodies = st.one_of(messages, messages, said.map(lambda text: Pin(fact=text)))
drafts = st.lists(
    st.builds(
        lambda body, created, model: draft(body, created=created, model=model),
        bodies, TIMES, st.sampled_from(MODELS),
    ),
    min_size=1, max_size=8,
)  # fmt: skip
projects = st.sampled_from(("", "/home/me/reef", "/home/me/bay"))
agents = st.sampled_from(("", "codex"))
logs = st.lists(st.tuples(projects, agents, drafts), min_size=1, max_size=3)
queries = st.fixed_dictionaries(
    {"words": st.lists(st.sampled_from(WORDS), min_size=1, max_size=2).map(" ".join)},
    optional={
        "role": st.sampled_from(("user", "assistant", "tool")),
        "project": st.sampled_from(("reef", "me/bay", "/home")),
        "agent": st.just("Codex"),
        "model": st.sampled_from(("opus", "gpt-5", "claude-opus-4")),
        "tool": st.sampled_from(("bash", "read", "dive", "sea__dive")),
        "path": st.sampled_from(("app.py", "src/app.py", "docs", "me/src")),
        "since": TIMES,
        "until": TIMES,
        "prefix": st.booleans(),
    },
)


def text_of(part: Any) -> str:
    if isinstance(part, ToolCall):
        return f"{part.name} path {part.input.split(chr(34))[3]}"
    if isinstance(part, ToolResult):
        return part.output
    return " ".join([*part.files, part.diff]) if isinstance(part, Patch) else part.text


def split(text: str, by: str) -> list[str]:
    return [piece for piece in re.split(by, text) if piece]


def in_a_row(wanted: list[str], whole: list[str]) -> bool:
    return any(whole[n : n + len(wanted)] == wanted for n in range(len(whole)))


def expected(log: list[tuple[str, str, list[Draft]]], query: dict[str, Any]) -> set[Any]:
    """What a plain reading finds."""
    found: set[Any] = set()
    for number, (project, agent, entries) in enumerate(log):
        made: dict[str, ToolCall] = {}
        for seq, entry in enumerate(entries, 1):
            body = entry.body
            for ordinal, part in enumerate(body.parts if isinstance(body, Message) else [body]):
                if isinstance(part, ToolCall):
                    made[part.id] = part
                call = made.get(part.call) if isinstance(part, ToolResult) else part
                told = {
                    "role": body.role if isinstance(body, Message) else "",
                    "project": project, "agent": agent, "model": entry.model,
                    "tool": call.name if isinstance(call, ToolCall) else "",
                    "paths": paths_of(call), "created": entry.created,
                    "text": part.fact if isinstance(part, Pin) else text_of(part),
                }  # fmt: skip
                if fits(told, query):
                    found.add((number, seq, ordinal))
    return found


def paths_of(part: Any) -> list[str]:
    if isinstance(part, ToolCall):
        return [part.input.split('"')[3]]
    return list(part.files) if isinstance(part, Patch) else []


def fits(told: dict[str, Any], query: dict[str, Any]) -> bool:
    words = split(told["text"].lower(), r"\W+")
    *whole, last = query["words"].lower().split()
    open = query.get("prefix") and len(last) >= 3
    has_last = any(w.startswith(last) if open else w == last for w in words)
    simple = all(query.get(n, "").lower() in ("", told[n]) for n in ("role", "agent"))
    runs = (
        ("project", "/", [told["project"]]), ("path", "/", told["paths"]),
        ("model", "-", [told["model"]]), ("tool", "__", [told["tool"].lower()]),
    )  # fmt: skip
    named = all(
        not query.get(name) or any(in_a_row(split(query[name], by), split(o, by)) for o in own)
        for name, by, own in runs
    )
    timed = query.get("since", 0) <= told["created"] < query.get("until", 2**62)
    return set(whole) <= set(words) and has_last and simple and named and timed


def stores() -> Iterator[tuple[str, Store]]:
    yield "memory", MemoryStore()
    with tempfile.TemporaryDirectory() as folder:
        store = SqliteStore.open(Path(folder) / "log.db")
        yield "sqlite", store
        store.close()


@pytest.mark.parametrize("steps", [1, 1000])
@settings(max_examples=60)
@given(logs, st.lists(queries, min_size=1, max_size=6))
def test_search_finds_what_a_reader_would(
    steps: int, log: list[tuple[str, str, list[Draft]]], asked: list[dict[str, Any]]
) -> None:
    for name, store in stores():
        ids: dict[str, int] = {}
        for number, (project, agent, entries) in enumerate(log):
            made = drive(store.sessions.create(session(project=project, agent=agent)))
            ids[made.id] = number
            drive(store.log.append(made.id, entries))
        while drive(store.search.catch_up(steps)):
            pass
        for query in asked:
            hits = drive(store.search.find(Query(**query, limit=1000)))
            found = [(ids[hit.session], hit.seq, hit.ordinal) for hit in hits]
            assert len(found) == len(set(found)), name
            assert set(found) == expected(log, query), (name, query)
