"""Repaired windows from anywhere, and responses as Gemini gives them, for Hypothesis."""

import json
from itertools import pairwise
from typing import Any

from hypothesis import strategies as st

from holdfast.model.message import (
    Media,
    Opaque,
    Part,
    Patch,
    Reasoning,
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
from holdfast.model.window import Block, Budget, Tool, Window

OURS = "gemini-3-pro-preview"
MODELS = (OURS, "gemini-3-pro-preview-11-2025", "gemini-2.5-flash", "claude-sonnet-4-5", "")
BUDGET = Budget(window=100_000, output=4_096, margin=0, room=90_000)

words = st.text(st.characters(exclude_categories=("Cs",)), min_size=1, max_size=20).filter(
    lambda text: text.strip() != ""
)
signatures = st.sampled_from(["AAEC", "c2lnbmF0dXJl", "+/8=", "Zm9v"])


@st.composite
def seals(draw: st.DrawFn) -> Seal | None:
    owner = draw(st.sampled_from(["google", "anthropic", "openai", ""]))
    if not owner:
        return None
    name = "thoughtSignature" if owner == "google" else "signature"
    data = json.dumps({name: draw(signatures)}).encode()
    made = seal(owner, data, draw(st.sampled_from(MODELS)))
    spoiled = Seal(made.owner, data + b" ", made.model, made.hash)
    return draw(st.sampled_from([made, made, made, spoiled]))


def opaques() -> st.SearchStrategy[Opaque]:
    return st.builds(
        lambda owner, model: opaque(
            owner, "executableCode", b'{"executableCode":{"code":"1"}}', model
        ),
        st.sampled_from(["google", "anthropic", "openai"]),
        st.sampled_from(MODELS),
    )


media = st.builds(
    Media,
    type=st.sampled_from(["image/png", "image/gif", "application/pdf", "application/zip"]),
    data=st.binary(max_size=8),
    url=st.just("https://example.org/a.png"),
)
said: st.SearchStrategy[Part] = st.one_of(
    st.builds(Text, words, seal=seals()),
    st.builds(SummaryText, words),
    st.builds(Patch, words),
    st.builds(Subtask, st.just("s"), words, words),
    st.just(Snapshot("tree")),
    media,
)
thought: st.SearchStrategy[Part] = st.one_of(said, opaques(), st.builds(Reasoning, words, seals()))
inputs = st.one_of(
    st.dictionaries(words, words, max_size=2).map(json.dumps),
    st.sampled_from(["", "{}", "[1]", '{"cut": "sho', "free text", '{"n": 1e999}', "null"]),
)


@st.composite
def turns(draw: st.DrawFn, number: int) -> list[Block]:
    """A user's words, steps with answered calls, and a last word."""
    blocks = [_block("user", [Text(draw(words)), *draw(st.lists(said, max_size=2))])]
    if draw(st.booleans()):
        role = draw(st.sampled_from(["system", "developer"]))
        blocks.append(_block(role, [Text(draw(words))]))
    for step in range(draw(st.integers(0, 3))):
        blocks += draw(steps(f"{number}_{step}"))
    return [*blocks, *draw(answers())]


@st.composite
def steps(draw: st.DrawFn, name: str) -> list[Block]:
    model = draw(st.sampled_from(MODELS))
    calls = [
        ToolCall(
            draw(st.sampled_from(["toolu_", "call_", "gfc_"])) + f"{name}_{index}",
            draw(st.sampled_from(["read", "edit"])),
            draw(inputs),
            draw(seals()),
        )
        for index in range(draw(st.integers(1, 3)))
    ]
    results = [
        ToolResult(
            call.id,
            draw(words),
            draw(st.booleans()),
            media=tuple(draw(st.lists(media, max_size=1))),
        )
        for call in draw(st.permutations(calls))
    ]
    before = draw(st.lists(thought, max_size=2))
    return [_block("assistant", [*before, *calls], model), _block("tool", results)]


@st.composite
def answers(draw: st.DrawFn) -> list[Block]:
    parts = [*draw(st.lists(thought, max_size=2)), Text(draw(words))]
    return [_block("assistant", parts, draw(st.sampled_from(MODELS)))]


@st.composite
def windows(draw: st.DrawFn, model: str = "") -> Window:
    """A window as repair leaves it."""
    blocks = [_block("system", [Text(draw(words))]) for _ in range(draw(st.integers(0, 2)))]
    for number in range(draw(st.integers(1, 3))):
        blocks += draw(turns(number))
    blocks.append(_block("user", [Text(draw(words))]))
    return Window(
        model=model or draw(st.sampled_from([OURS, "gemini-2.5-flash"])),
        blocks=tuple(blocks),
        budget=BUDGET,
        tools=(Tool(name="read", schema={"type": "object"}), Tool(name="edit", kind="custom")),
    )


def _block(role: Any, parts: list[Any], model: str = "") -> Block:
    return Block(section="history", role=role, parts=tuple(parts), model=model)


# --- what Gemini answers --------------------------------------------------------------------

plain = st.builds(lambda text: {"text": text}, words)
thoughts = st.builds(lambda text: {"text": text, "thought": True}, words)
signed = st.builds(lambda text, sign: {"text": text, "thoughtSignature": sign}, words, signatures)
bare = st.builds(lambda sign: {"text": "", "thoughtSignature": sign}, signatures)
calls = st.builds(
    lambda name, args, sign, id: {
        "functionCall": {"name": name, "args": args} | ({"id": id} if id else {}),
        **({"thoughtSignature": sign} if sign else {}),
    },
    st.sampled_from(["read", "edit"]),
    st.dictionaries(
        words,
        st.one_of(
            words, st.integers(), st.none(), st.floats(allow_nan=False, allow_infinity=False)
        ),
        max_size=2,
    ),
    st.one_of(st.just(""), signatures),
    st.one_of(st.just(""), st.integers(1, 10**6).map(lambda number: f"fc{number}")),
)
others = st.sampled_from(
    [
        {"inlineData": {"mimeType": "image/png", "data": "AAEC"}, "thoughtSignature": "AAEC"},
        {"inlineData": {"mimeType": "image/gif", "data": "AAEC", "displayName": "a"}},
        {"fileData": {"mimeType": "application/pdf", "fileUri": "files/1", "displayName": "b"}},
        {"executableCode": {"language": "PYTHON", "code": "print(1)"}},
        {"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": "1"}},
        {"toolCall": {"id": "t", "toolType": "GOOGLE_SEARCH_WEB"}, "thoughtSignature": "Zm9v"},
        {"neverSeen": {"deep": [1, {"a": None}]}},
        {"text": "x", "partMetadata": {"some_key": {"innerKey": 1}}},
    ]
)


def _kind(part: dict[str, Any]) -> str:
    plain = part.keys() <= {"text", "thought"}
    return f"plain{part.get('thought')}" if plain else ""


def _apart(parts: list[dict[str, Any]]) -> bool:
    """No two plain texts of one kind side by side: a stream cannot tell them from one."""
    kinds = [_kind(part) for part in parts]
    return all(not one or one != other for one, other in pairwise(kinds))


model_parts = st.lists(st.one_of(plain, thoughts, signed, bare, calls, others), max_size=6).filter(
    _apart
)


def response(parts: list[dict[str, Any]], **fields: Any) -> dict[str, Any]:
    """One whole response."""
    candidate = {"content": {"role": "model", "parts": parts}, "finishReason": "STOP", "index": 0}
    return {
        "candidates": [candidate],
        "usageMetadata": {"promptTokenCount": 9, "candidatesTokenCount": 3, "totalTokenCount": 12},
        "modelVersion": OURS,
        "responseId": "resp-1",
        **fields,
    }


@st.composite
def chunked(draw: st.DrawFn, whole: dict[str, Any]) -> list[dict[str, Any]]:
    """The same response as chunks: plain texts in pieces, other parts whole."""
    head = {name: whole[name] for name in ("modelVersion", "responseId")}
    chunks: list[dict[str, Any]] = []
    for part in whole["candidates"][0]["content"]["parts"]:
        for piece in draw(_pieces(part)) if _kind(part) else [part]:
            content = {"role": "model", "parts": [piece]}
            usage = {"promptTokenCount": 9, "candidatesTokenCount": 1}
            chunks.append({"candidates": [{"content": content}], "usageMetadata": usage, **head})
    last = {"content": {"role": "model", "parts": [{"text": ""}]}, "finishReason": "STOP"}
    return [*chunks, {"candidates": [last], "usageMetadata": whole["usageMetadata"], **head}]


@st.composite
def _pieces(draw: st.DrawFn, part: dict[str, Any]) -> list[dict[str, Any]]:
    cut = draw(st.integers(0, len(part["text"])))
    pieces = (part["text"][:cut], part["text"][cut:])
    return [part | {"text": piece} for piece in pieces if piece]


def events(chunks: list[dict[str, Any]], end: str = "\r\n") -> bytes:
    """Chunks as server-sent events."""
    return "".join(f"data: {json.dumps(chunk)}{end}{end}" for chunk in chunks).encode()


def array(chunks: list[dict[str, Any]]) -> bytes:
    """Chunks as the JSON array a stream without `alt=sse` is."""
    return f"[{','.join(json.dumps(chunk, indent=2) for chunk in chunks)}\n]\n".encode()
