"""Repaired windows from anywhere, and replies as OpenAI and its kin give them, for Hypothesis."""

import json
from typing import Any

from hypothesis import strategies as st

from holdfast.core.window.repair import repair
from holdfast.model.message import (
    Media,
    Message,
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
from holdfast.model.profile import Profile
from holdfast.model.window import Block, Budget, Options, Tool, Window

MODEL = "gpt-5.3-codex"
DATED = "gpt-5.3-codex-2026-01-15"
BUDGET = Budget(window=100_000, output=4_096, margin=0, room=90_000)
THINKER = Profile(name=MODEL, provider="openai", abilities=frozenset({"thinking", "images"}))
PLAIN = Profile(name="gpt-4.1", provider="openai", abilities=frozenset({"images", "tools"}))
UNKNOWN = Profile(name="some-model")
TOOLS = (
    Tool(name="read", description="Read a file.", schema={"type": "object"}),
    Tool(name="apply", description="Apply a patch.", kind="custom"),
)
PICTURE = Media(type="image/png", data=b"\x89PNG", name="shot.png")

words = st.text(st.characters(exclude_categories=("Cs",)), min_size=1, max_size=12).filter(
    lambda text: bool(text.strip())
)


def block(role: Any, *parts: Part | str, **more: Any) -> Block:
    """A block of the history."""
    said = tuple(Text(part) if isinstance(part, str) else part for part in parts)
    return Block(section="history", role=role, parts=said, **more)


def window(*blocks: Block, **more: Any) -> Window:
    """A window as it would be sent."""
    return Window(**({"model": MODEL, "blocks": blocks, "budget": BUDGET} | more))


def after(*messages: Message, **more: Any) -> Window:
    """A window that goes on from these messages, repaired."""
    blocks = [block("user", "begin"), *(block(one.role, *one.parts) for one in messages)]
    return window(*repair([*blocks, block("user", "go on")]).blocks, **more)


# Items of a Responses reply.

ids = st.integers(0, 10**9).map(str)
statuses = st.sampled_from(["completed", "incomplete"])
contents = st.one_of(
    st.fixed_dictionaries(
        {"type": st.just("output_text"), "text": words, "annotations": st.just([])},
        optional={"logprobs": st.just([])},
    ),
    st.fixed_dictionaries({"type": st.just("refusal"), "refusal": words}),
)
messages = st.fixed_dictionaries(
    {
        "type": st.just("message"),
        "id": ids.map(lambda id: f"msg_{id}"),
        "status": statuses,
        "role": st.just("assistant"),
        "content": st.lists(contents, max_size=3),
    },
    optional={"phase": st.sampled_from(["commentary", "final_answer"]), "end_turn": st.booleans()},
)
reasonings = st.fixed_dictionaries(
    {
        "type": st.just("reasoning"),
        "id": ids.map(lambda id: f"rs_{id}"),
        "summary": st.lists(
            st.fixed_dictionaries({"type": st.just("summary_text"), "text": words}), max_size=2
        ),
        "encrypted_content": words,
    },
    optional={"status": statuses},
)
functions = st.fixed_dictionaries(
    {
        "type": st.just("function_call"),
        "id": ids.map(lambda id: f"fc_{id}"),
        "call_id": ids.map(lambda id: f"call_{id}"),
        "name": st.sampled_from(["read", "write"]),
        "arguments": st.dictionaries(words, words, max_size=2).map(json.dumps),
        "status": statuses,
    },
    optional={"namespace": words},
)
customs = st.fixed_dictionaries(
    {
        "type": st.just("custom_tool_call"),
        "id": ids.map(lambda id: f"ctc_{id}"),
        "call_id": ids.map(lambda id: f"call_{id}"),
        "name": st.just("apply"),
        "input": words,
    }
)
shells = st.fixed_dictionaries(
    {
        "type": st.just("local_shell_call"),
        "id": ids.map(lambda id: f"lsh_{id}"),
        "call_id": ids.map(lambda id: f"call_{id}"),
        "status": statuses,
        "action": st.fixed_dictionaries(
            {"type": st.just("exec"), "command": st.lists(words, max_size=2), "env": st.just({})}
        ),
    }
)
searches = st.fixed_dictionaries(
    {
        "type": st.just("tool_search_call"),
        "id": ids.map(lambda id: f"ts_{id}"),
        "call_id": ids.map(lambda id: f"call_{id}"),
        "execution": st.just("client"),
        "arguments": st.dictionaries(words, words, max_size=1),
    }
)
hosted = st.one_of(
    st.fixed_dictionaries(
        {
            "type": st.just("web_search_call"),
            "id": ids.map(lambda id: f"ws_{id}"),
            "status": st.just("completed"),
            "action": st.fixed_dictionaries({"type": st.just("search"), "query": words}),
        }
    ),
    st.fixed_dictionaries(
        {
            "type": st.just("image_generation_call"),
            "id": ids.map(lambda id: f"ig_{id}"),
            "status": st.just("completed"),
            "result": st.just("iVBORw0="),
        }
    ),
    st.fixed_dictionaries({"type": st.just("compaction"), "encrypted_content": words}),
)
items = st.lists(
    st.one_of(messages, reasonings, functions, customs, shells, searches, hosted),
    max_size=6,
    unique_by=lambda item: item.get("call_id") or item.get("id") or json.dumps(item),
)


def response(output: list[Any], **more: Any) -> dict[str, Any]:
    """A whole response with this output."""
    usage = {
        "input_tokens": 100,
        "input_tokens_details": {"cached_tokens": 60, "cache_write_tokens": 10},
        "output_tokens": 20,
        "output_tokens_details": {"reasoning_tokens": 5},
        "total_tokens": 120,
    }
    told = {
        "id": "resp_1",
        "object": "response",
        "status": "completed",
        "model": DATED,
        "output": output,
        "usage": usage,
    }
    return told | more


def sse(*events: dict[str, Any]) -> bytes:
    """Events as they are sent, each under its own name."""
    return b"".join(
        f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode() for event in events
    )


def stream(told: dict[str, Any]) -> bytes:
    """The stream that ends in this response."""
    opening = told | {"output": [], "usage": None, "status": "in_progress"}
    events: list[dict[str, Any]] = [{"type": "response.created", "response": opening}]
    for place, item in enumerate(told["output"]):
        events += item_events(place, item)
    return sse(*events, {"type": f"response.{told['status']}", "response": told})


def item_events(place: int, item: dict[str, Any]) -> list[dict[str, Any]]:
    """What is streamed of one item."""
    bare = item | {"content": []} if item["type"] == "message" else item
    if item["type"] == "reasoning":
        bare = item | {"summary": [], "encrypted_content": "not yet"}
    if item["type"] == "function_call":
        bare = item | {"arguments": ""}
    if item["type"] == "custom_tool_call":
        bare = item | {"input": ""}
    middle = [
        {"type": f"response.{name}.delta", "delta": piece, "output_index": place} | more
        for name, text, more in _texts(item)
        for piece in (text[:2], text[2:])
        if piece
    ]
    added = {"type": "response.output_item.added", "output_index": place, "item": bare}
    done = {"type": "response.output_item.done", "output_index": place, "item": item}
    return [added, *middle, done]


def _texts(item: dict[str, Any]) -> list[tuple[str, str, dict[str, Any]]]:
    found: list[tuple[str, str, dict[str, Any]]] = []
    for index, content in enumerate(item.get("content", []) if item["type"] == "message" else []):
        name = "output_text" if content["type"] == "output_text" else "refusal"
        text = content.get("text") or content.get("refusal", "")
        found.append((name, text, {"content_index": index}))
    for index, summary in enumerate(item.get("summary", [])):
        found.append(("reasoning_summary_text", summary["text"], {"summary_index": index}))
    if item["type"] == "function_call":
        found.append(("function_call_arguments", item["arguments"], {}))
    if item["type"] == "custom_tool_call":
        found.append(("custom_tool_call_input", item["input"], {}))
    return found


# Replies of Chat Completions.

chat_calls = st.fixed_dictionaries(
    {
        "id": ids.map(lambda id: f"call_{id}"),
        "type": st.just("function"),
        "function": st.fixed_dictionaries(
            {"name": st.sampled_from(["read", "write"]), "arguments": st.just('{"path": "a"}')}
        ),
    },
    optional={"extra_content": st.just({"google": {"thought_signature": "c2ln"}})},
)
chat_messages = st.fixed_dictionaries(
    {"role": st.just("assistant"), "content": st.one_of(st.none(), words)},
    optional={
        "reasoning_content": words,
        "refusal": words,
        "reasoning_details": st.just([{"type": "reasoning.text", "text": "hm", "signature": "s"}]),
        "tool_calls": st.lists(
            chat_calls, min_size=1, max_size=3, unique_by=lambda call: str(call["id"])
        ),
    },
)


def completion(message: dict[str, Any], finish: str = "stop") -> dict[str, Any]:
    """A whole completion with this message."""
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": MODEL,
        "choices": [{"index": 0, "message": message, "finish_reason": finish}],
        "usage": {
            "prompt_tokens": 50,
            "completion_tokens": 9,
            "total_tokens": 59,
            "prompt_tokens_details": {"cached_tokens": 32},
            "completion_tokens_details": {"reasoning_tokens": 4},
        },
    }


def chunks(told: dict[str, Any]) -> bytes:
    """The stream of that completion, usage in a last chunk without choices."""
    head = {"id": told["id"], "created": 1, "model": told["model"]}
    head["object"] = "chat.completion.chunk"
    message, choice = told["choices"][0]["message"], told["choices"][0]
    deltas: list[dict[str, Any]] = [{"role": "assistant", "content": ""}]
    for name in ("reasoning_content", "content", "refusal"):
        text = message.get(name) or ""
        deltas += [{name: piece} for piece in (text[:2], text[2:]) if piece]
    for index, call in enumerate(message.get("tool_calls", [])):
        given = call["function"]["arguments"]
        first = call | {"index": index, "function": call["function"] | {"arguments": ""}}
        rest = [{"index": index, "function": {"arguments": p}} for p in (given[:4], given[4:])]
        deltas += [{"tool_calls": [piece]} for piece in (first, *rest)]
    if "reasoning_details" in message:
        deltas.append({"reasoning_details": message["reasoning_details"]})
    told_chunks = [
        head | {"choices": [{"index": 0, "delta": delta, "finish_reason": None}], "usage": None}
        for delta in deltas
    ]
    end = {"index": 0, "delta": {}, "finish_reason": choice["finish_reason"]}
    told_chunks += [head | {"choices": [end]}, head | {"choices": [], "usage": told["usage"]}]
    lines = [f"data: {json.dumps(chunk)}\n\n" for chunk in told_chunks]
    return "".join([*lines, "data: [DONE]\n\n"]).encode()


# Windows with parts from everywhere.

OWNERS = ("openai", "anthropic", "google", "deepseek")
SEALS: tuple[dict[str, Any], ...] = (
    {"id": "rs_1", "encrypted_content": "gAAAA", "summary": []},
    {"id": "rs_2", "summary": []},
    {"id": "msg_1", "status": "completed", "phase": "commentary", "content_index": 0},
    {"id": "fc_1", "status": "completed"},
    {"type": "custom_tool_call", "id": "ctc_1"},
    {"type": "local_shell_call", "id": "lsh_1", "status": "completed"},
    {"type": "tool_search_call", "execution": "client"},
    {"type": "computer_call", "id": "cu_1", "pending_safety_checks": [], "status": "completed"},
    {"chat": {"reasoning_content": "hm"}},
    {"content": {"type": "refusal"}},
    {"signature": "EqQB"},
)


@st.composite
def seals(draw: st.DrawFn) -> Seal | None:
    data = json.dumps(draw(st.sampled_from(SEALS))).encode()
    made = seal(draw(st.sampled_from(OWNERS)), data, draw(st.sampled_from(["", MODEL, "o3"])))
    spoiled = Seal(made.owner, b"{}", made.model, made.hash)
    return draw(st.sampled_from([made, made, spoiled, None]))


opaques = st.builds(
    lambda owner, kind, model: opaque(owner, kind, json.dumps({"type": kind}).encode(), model),
    st.sampled_from(OWNERS),
    st.sampled_from(["web_search_call", "ghost_snapshot", "chat.message", "redacted_thinking"]),
    st.sampled_from(["", MODEL, "o3"]),
)
media = st.builds(
    Media,
    type=st.sampled_from(["image/png", "image/tiff", "application/pdf", "audio/wav"]),
    data=st.binary(max_size=4),
    url=st.sampled_from(["", "https://example.org/a"]),
)
said: st.SearchStrategy[Part] = st.one_of(
    st.builds(Text, words, seal=seals()),
    st.builds(SummaryText, words),
    st.builds(Patch, words),
    st.builds(Subtask, st.just("s"), words, words),
    st.just(Snapshot("tree")),
    media,
)
inputs = st.sampled_from(["", "{}", '{"a": 1}', '{"cut": "sho', "free text", "[1]", "null"])
calls = st.builds(ToolCall, ids, st.sampled_from(["read", "apply", "local_shell"]), inputs, seals())
made: st.SearchStrategy[Part] = st.one_of(
    said, opaques, st.builds(Reasoning, words, seals()), calls
)


@st.composite
def windows(draw: st.DrawFn) -> Window:
    """Any repaired window."""
    blocks = [block("system", draw(words))] if draw(st.booleans()) else []
    for role in draw(
        st.lists(st.sampled_from(["user", "assistant", "developer", "system"]), max_size=7)
    ):
        parts = draw(st.lists(made if role == "assistant" else said, min_size=1, max_size=4))
        blocks.append(block(role, *parts))
        asked = [part for part in parts if isinstance(part, ToolCall)]
        if asked and draw(st.booleans()):
            shown = draw(st.lists(media, max_size=1))
            results = [
                ToolResult(part.id, draw(words), media=tuple(shown), seal=draw(seals()))
                for part in asked
            ]
            blocks.append(block("tool", *results))
    blocks.append(block("user", "go on"))
    return window(*repair(blocks).blocks, tools=TOOLS)


options = st.builds(
    Options,
    max_tokens=st.sampled_from([0, 1, 5_000]),
    stream=st.booleans(),
    effort=st.sampled_from(["", "high"]),
    tool_choice=st.sampled_from(["", "auto", "any", "none", "read", "apply"]),
    parallel_tools=st.sampled_from([None, True, False]),
    cache_key=st.sampled_from(["", "session", "k" * 100]),
    server_edits=st.sampled_from([{}, {"type": "compaction", "compact_threshold": 1000}]),
)
