"""Windows as repair leaves them, of parts from any provider, for tests of the Anthropic codec."""

from __future__ import annotations

import json
import struct
from typing import Any

from hypothesis import strategies as st

from holdfast.model.message import (
    Media,
    Opaque,
    Part,
    Patch,
    Reasoning,
    Role,
    Seal,
    Snapshot,
    Subtask,
    SummaryText,
    Text,
    ToolCall,
    ToolResult,
    opaque,
    seal,
)
from holdfast.model.window import Block, Budget, Options, Tool, Window

MODEL = "claude-test-4-5"
DATED = "claude-test-4-5-20260101"
FOREIGN = "FOREIGN"
"""Stands in every byte that must not reach Anthropic."""

BUDGET = Budget(window=200_000, output=8_000, margin=0, room=190_000)
PNG = b"\x89PNG\r\n\x1a\n" + struct.pack(">I4sII", 13, b"IHDR", 40, 30)

SIGNS = st.characters(exclude_categories=["Cs"])
WORDS = st.text(SIGNS, min_size=1, max_size=12)
OWNERS = st.sampled_from(
    [("anthropic", DATED), ("anthropic", MODEL), ("anthropic", "claude-other-1"), ("openai", "gpt")]
)


def block(role: Role, *parts: Part, **more: Any) -> Block:
    return Block(section="history", role=role, parts=parts, **more)


def window(*blocks: Block, **more: Any) -> Window:
    return Window(model=MODEL, blocks=blocks, budget=BUDGET, **more)


def ours(owner: str, model: str) -> bool:
    return owner == "anthropic" and model in (DATED, MODEL)


def residue(owner: str, model: str, members: dict[str, Any]) -> Seal:
    secret = {} if ours(owner, model) else {"secret": FOREIGN}
    return seal(owner, json.dumps(members | secret).encode(), model)


@st.composite
def thoughts(draw: st.DrawFn) -> Part:
    owner, model = draw(OWNERS)
    text = draw(st.text(SIGNS, max_size=8))
    kind = draw(st.sampled_from(["signed", "unsigned", "redacted", "tampered"]))
    if kind == "unsigned":
        return Reasoning(text + FOREIGN)
    if kind == "redacted":
        data = {"type": "redacted_thinking", "data": "ZGF0YQ==" if ours(owner, model) else FOREIGN}
        return opaque(owner, "redacted_thinking", json.dumps(data).encode(), model)
    made = residue(owner, model, {"signature": "c2ln"})
    if kind == "tampered":
        made = Seal(made.owner, json.dumps({"signature": FOREIGN}).encode(), made.model, made.hash)
    return Reasoning(text if ours(owner, model) and kind == "signed" else text + FOREIGN, made)


@st.composite
def server_tools(draw: st.DrawFn, id: str) -> list[Part]:
    owner, model = draw(OWNERS)
    mark = "" if ours(owner, model) else FOREIGN
    call = {"type": "server_tool_use", "id": id, "name": "web_search", "input": {"q": mark}}
    result = {"type": "web_search_tool_result", "tool_use_id": id, "content": [], "x": mark}
    made: list[Part] = [
        opaque(owner, each["type"], json.dumps(each).encode(), model) for each in (call, result)
    ]
    return draw(st.sampled_from([made, made, made[:1], made[1:]]))


def compaction(owner: str, model: str, *, signed: bool) -> list[Part]:
    mark = "" if ours(owner, model) else FOREIGN
    made = {"type": "compaction", "content": "so far", "encrypted_content": mark}
    made |= {"signature": "c2ln"} if signed else {}
    return [opaque(owner, "compaction", json.dumps(made).encode(), model), SummaryText("so far")]


MEDIA = st.sampled_from(
    [
        Media("image/png", PNG),
        Media("image/jpeg", PNG),
        Media("image/png", url="https://pictures.example/a.png"),
        Media("image/tiff", b"II*\0"),
        Media("application/pdf", b"%PDF-1.7", name="a.pdf"),
        Media("text/plain", b"plain", name="a.txt"),
        Media("audio/wav", b"RIFF"),
        Media("image/png"),
    ]
)
SAID: st.SearchStrategy[Part] = st.one_of(
    WORDS.map(Text),
    st.just(Text(" \n")),
    WORDS.map(SummaryText),
    WORDS.map(Patch),
    WORDS.map(Snapshot),
    WORDS.map(lambda words: Subtask("s", result=words)),
    st.builds(lambda words: Text(f"<pin>{words}</pin>", scaffold="pin"), WORDS),
)
INPUTS = st.one_of(
    st.sampled_from(["", "{}", '{"path": "a', "[1]", "free text", '{"a":"\\ud800"}', "1e999"]),
    st.dictionaries(WORDS, st.integers() | WORDS, max_size=2).map(json.dumps),
)


@st.composite
def replies(draw: st.DrawFn, turn: int) -> list[Block]:
    """What the assistant says, and what the tools answer."""
    parts: list[Part] = draw(st.lists(thoughts(), max_size=2))
    parts += draw(st.lists(SAID | MEDIA, max_size=2))
    if draw(st.booleans()):
        parts += draw(server_tools(f"srvtoolu_{turn}"))
    if draw(st.booleans()):
        parts += compaction(*draw(OWNERS), signed=draw(st.booleans()))
    ids = [f"{draw(st.sampled_from(['toolu_', 'f.x:', 'ü']))}{turn}_{n}" for n in range(3)]
    ids = ids[: draw(st.integers(0, 3))]
    for id in ids:
        owner, model = draw(OWNERS)
        caller = residue(owner, model, {"caller": {"type": "direct"}})
        name = draw(st.sampled_from(["read", "fs.read", "patch"]))
        parts.append(ToolCall(id, name, draw(INPUTS), draw(st.sampled_from([None, caller]))))
    made = [block("assistant", *parts)]
    if ids:
        made += draw(st.lists(instructions(), max_size=1))
        made.append(block("tool", *[draw(results(id)) for id in ids]))
    return made


@st.composite
def results(draw: st.DrawFn, call: str) -> ToolResult:
    return ToolResult(
        call,
        draw(st.text(SIGNS, max_size=8)),
        error=draw(st.booleans()),
        media=tuple(draw(st.lists(MEDIA, max_size=1))),
    )


@st.composite
def instructions(draw: st.DrawFn) -> Block:
    return block(draw(st.sampled_from(["system", "developer"])), draw(SAID))


@st.composite
def histories(draw: st.DrawFn) -> list[list[Block]]:
    """Stretches of blocks; a window may end behind any of them."""
    stretches = [draw(st.lists(instructions(), max_size=2))]
    stretches.append([block("user", Text("go"), *draw(st.lists(SAID | MEDIA, max_size=2)))])
    for turn in range(draw(st.integers(0, 5))):
        stretches.append(draw(replies(turn)))
        if draw(st.booleans()):
            stretches.append([block("user", *draw(st.lists(SAID | MEDIA, min_size=1, max_size=2)))])
        if draw(st.booleans()):
            stretches.append([draw(instructions())])
    return stretches


TOOLS = (
    Tool(name="read", description="Read a file.", schema={"properties": {}}),
    Tool(name="fs.read", schema={"type": "object", "properties": {"path": {"type": "string"}}}),
    Tool(name="patch", kind="custom"),
    Tool(name="", native={"type": "web_search_20250305", "name": "web_search"}, owner="anthropic"),
    Tool(name="", native={"type": "shell", "secret": FOREIGN}, owner="openai"),
)

EDITS: list[dict[str, Any]] = [
    {},
    {"edits": [{"type": "clear_tool_uses_20250919"}]},
    {"edits": [{"type": "compact_20260112"}]},
    {"type": "summarize"},
]

OPTIONS = st.builds(
    Options,
    max_tokens=st.sampled_from([0, 500, 1024, 4096]),
    stream=st.booleans(),
    thinking=st.sampled_from([None, 0, 100, 2048, 99_999]),
    effort=st.sampled_from(["", "low"]),
    tool_choice=st.sampled_from(["", "auto", "none", "any", "read", "fs.read"]),
    parallel_tools=st.sampled_from([None, True, False]),
    cache=st.booleans(),
    cache_ttl=st.sampled_from(["", "1h"]),
    server_edits=st.sampled_from(EDITS),
)


@st.composite
def windows(draw: st.DrawFn) -> Window:
    blocks = [each for stretch in draw(histories()) for each in stretch]
    points = draw(st.lists(st.integers(-1, len(blocks) - 1), max_size=7))
    tools = draw(st.sampled_from([(), TOOLS]))
    return window(*blocks, tools=tools, breakpoints=tuple(points))


def has_opaque(blocks: list[Block]) -> bool:
    return any(isinstance(part, Opaque) for each in blocks for part in each.parts)
