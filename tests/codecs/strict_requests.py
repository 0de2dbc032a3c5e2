"""For each rule a request that keeps it, and the same request with one thing broken by hand."""

import base64
import struct
from collections.abc import Callable
from typing import Any, NamedTuple

from holdfast.model.reply import Usage
from holdfast.testing.strict import Ask, Think, answer

Body = dict[str, Any]
Harm = Callable[[Body], Any]

SPOKEN = answer(
    Think("Let me see."),
    "Reading it now.",
    Ask("read", {"path": "ü.py"}),
    Ask("read", {"path": "b.py"}),
    usage=Usage(input=7, cache_read=100, cache_write=20, output=30, reasoning=9),
)


class Broken(NamedTuple):
    """A rule, a good request, how to break it, and what the provider says then."""

    rule: str
    good: Body
    harm: Harm
    message: str
    format: str


def picture(width: int, height: int, padding: int = 0) -> str:
    """The beginning of a PNG of this size."""
    head = b"\x89PNG\r\n\x1a\n" + struct.pack(">I4sII", 13, b"IHDR", width, height)
    return base64.b64encode(head + b"\x08\x06\x00\x00\x00" + bytes(padding)).decode()


def image(width: int, height: int, padding: int = 0) -> Body:
    source = {"type": "base64", "media_type": "image/png", "data": picture(width, height, padding)}
    return {"type": "image", "source": source}


def anthropic() -> Body:
    """Two calls, both answered, and a question."""
    calls = [{"type": "tool_use", "id": f"toolu_{n}", "name": "read", "input": {}} for n in (1, 2)]
    results = [{"type": "tool_result", "tool_use_id": f"toolu_{n}", "content": "x"} for n in (1, 2)]
    return {
        "model": "claude-opus-4-6",
        "max_tokens": 2048,
        "system": [{"type": "text", "text": "Be brief."}],
        "tools": [{"name": "read", "input_schema": {"type": "object"}}],
        "messages": [
            {"role": "user", "content": [{"type": "text", "text": "Read both."}]},
            {"role": "assistant", "content": [{"type": "text", "text": "Yes."}, *calls]},
            {"role": "user", "content": [*results, {"type": "text", "text": "And?"}]},
        ],
    }


def said(body: Body, index: int) -> list[Body]:
    return body["messages"][index]["content"]


def _mark(ttl: str = "5m") -> Body:
    return {"type": "ephemeral", "ttl": ttl}


def _five_marks(body: Body) -> None:
    for block in [
        body["tools"][0],
        body["system"][0],
        *said(body, 0),
        said(body, 2)[0],
        said(body, 2)[2],
    ]:
        block["cache_control"] = _mark()


def _late_hour(body: Body) -> None:
    body["system"][0]["cache_control"] = _mark()
    said(body, 2)[2]["cache_control"] = _mark("1h")


def _server_tool(body: Body) -> None:
    use = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_fetch", "input": {}}
    body["messages"][1:1] = [
        {"role": "assistant", "content": [use]},
        {"role": "user", "content": [{"type": "text", "text": "Go on."}]},
    ]


ANTHROPIC: list[tuple[str, Harm, str]] = [
    ("A1", lambda b: said(b, 2).pop(0), "`tool_use` ids were found without `tool_result` blocks"),
    (
        "A2",
        lambda b: said(b, 2).insert(
            0, {"type": "tool_result", "tool_use_id": "toolu_9", "content": "x"}
        ),
        "unexpected `tool_use_id` found in `tool_result` blocks: toolu_9",
    ),
    ("A3", lambda b: said(b, 2).reverse(), "`tool_result` blocks must come first"),
    ("A4", _server_tool, "`web_fetch` tool use with id `srvtoolu_1` was found without"),
    (
        "A5",
        lambda b: (
            said(b, 1)[2].update(id="toolu_1"),
            said(b, 2)[1].update(tool_use_id="toolu_1"),
        ),
        "`tool_use` ids must be unique",
    ),
    ("A5", lambda b: said(b, 1)[2].update(id=""), "String should match pattern"),
    (
        "A6",
        lambda b: b.update(thinking={"type": "enabled", "budget_tokens": 1024}),
        "Expected `thinking` or `redacted_thinking`, but found `text`",
    ),
    (
        "A7",
        lambda b: said(b, 1).insert(0, {"type": "thinking", "thinking": "hm", "signature": "EnEv"}),
        "Invalid `signature` in `thinking` block",
    ),
    ("A8", lambda b: said(b, 0)[0].update(text=""), "text content blocks must be non-empty"),
    ("A8", lambda b: said(b, 0)[0].update(text=" \n"), "must contain non-whitespace text"),
    (
        "A9",
        lambda b: b["messages"].append({"role": "assistant", "content": "It"}),
        "This model does not support assistant message prefill",
    ),
    ("A10", _five_marks, "A maximum of 4 blocks with cache_control may be provided. Found 5."),
    ("A11", _late_hour, "a ttl='1h' cache_control block must not come after a ttl='5m'"),
    (
        "A12",
        lambda b: said(b, 0).append(image(8001, 10)),
        "image dimensions exceed max allowed size: 8000",
    ),
    (
        "A12",
        lambda b: said(b, 0).extend(image(2001, 10) for _ in range(21)),
        "exceed max allowed size for many-image requests: 2000 pixels",
    ),
    (
        "A12",
        lambda b: said(b, 0).append(image(10, 10, 4 * 1024 * 1024)),
        "image exceeds 5 MB maximum",
    ),
    ("A13", lambda b: b["messages"].pop(0), 'first message must use the "user" role'),
    (
        "A13",
        lambda b: b["messages"].insert(0, {"role": "system", "content": "Be brief."}),
        'Unexpected role "system"',
    ),
    (
        "A13",
        lambda b: b.update(thinking={"type": "enabled", "budget_tokens": 4096}),
        "`max_tokens` must be greater than `thinking.budget_tokens`",
    ),
    (
        "A13",
        lambda b: b.update(thinking={"type": "enabled", "budget_tokens": 100}),
        "greater than or equal to 1024",
    ),
]


def responses() -> Body:
    """A call and its output, and a question."""
    call = {"type": "function_call", "call_id": "call_1", "name": "read", "arguments": "{}"}
    return {
        "model": "gpt-5.2",
        "store": False,
        "input": [
            {"role": "user", "content": "Read it."},
            call,
            {"type": "function_call_output", "call_id": "call_1", "output": "x"},
            {"role": "user", "content": "And?"},
        ],
    }


def _reasoning() -> Body:
    return {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "gAAAmade-up"}


RESPONSES: list[tuple[str, Harm, str]] = [
    ("O1", lambda b: b["input"].pop(2), "No tool output found for function call call_1."),
    (
        "O2",
        lambda b: b["input"].pop(1),
        "No tool call found for function call output with call_id call_1.",
    ),
    (
        "O3",
        lambda b: b["input"].insert(3, _reasoning()),
        "Item 'rs_1' of type 'reasoning' was provided without its required following item.",
    ),
    ("O5", lambda b: b["input"].insert(1, _reasoning()), "could not be verified"),
    (
        "O5",
        lambda b: b["input"].insert(1, {"type": "reasoning", "id": "rs_1", "summary": []}),
        "not found",
    ),
    ("O6", lambda b: b.update(previous_response_id="resp_9"), "Previous response with id 'resp_9'"),
    ("shape", lambda b: b["input"][1].update(id="call_1"), "Expected an ID that begins with 'fc'"),
]


def chat() -> Body:
    """Two calls, both answered, and a question."""
    calls = [
        {"id": f"call_{n}", "type": "function", "function": {"name": "read", "arguments": "{}"}}
        for n in (1, 2)
    ]
    return {
        "model": "gpt-5.2",
        "messages": [
            {"role": "developer", "content": "Be brief."},
            {"role": "user", "content": "Read both."},
            {"role": "assistant", "content": None, "tool_calls": calls},
            {"role": "tool", "tool_call_id": "call_1", "content": "x"},
            {"role": "tool", "tool_call_id": "call_2", "content": "y"},
            {"role": "assistant", "content": "Read."},
            {"role": "user", "content": "And?"},
        ],
    }


CHAT: list[tuple[str, Harm, str]] = [
    (
        "O7",
        lambda b: b["messages"].pop(4),
        "tool_call_ids did not have response messages: call_2",
    ),
    (
        "O7",
        lambda b: b["messages"].pop(2),
        "must be a response to a preceeding message with 'tool_calls'",
    ),
    (
        "O7",
        lambda b: b["messages"][5].update(content=None),
        "Assistant message must contain either 'content' or 'tool_calls'",
    ),
]


def gemini() -> Body:
    """Two calls, both answered."""
    calls = [{"functionCall": {"name": "read", "args": {}}} for _ in range(2)]
    calls[0]["thoughtSignature"] = "skip_thought_signature_validator"  # type: ignore[assignment]
    answers = [{"functionResponse": {"name": "read", "response": {"output": "x"}}}] * 2
    return {
        "contents": [
            {"role": "user", "parts": [{"text": "Read both."}]},
            {"role": "model", "parts": [{"text": "Yes."}, *calls]},
            {"role": "user", "parts": answers},
        ],
        "tools": [{"functionDeclarations": [{"name": "read"}]}],
    }


def parts(body: Body, index: int) -> list[Body]:
    return body["contents"][index]["parts"]


GEMINI: list[tuple[str, Harm, str]] = [
    ("G1", lambda b: parts(b, 2).pop(), "number of function response parts is equal"),
    (
        "G1",
        lambda b: b["contents"].append(dict(b["contents"][2])),
        "function response turn comes immediately after a function call turn",
    ),
    (
        "G2",
        lambda b: b["contents"].insert(1, {"role": "model", "parts": [{"text": "Hm."}]}),
        "function call turn comes immediately after a user turn",
    ),
    (
        "G2",
        lambda b: b["contents"][0].update(role="system"),
        "Please use a valid role: user, model.",
    ),
    (
        "G3",
        lambda b: parts(b, 1)[1].pop("thoughtSignature"),
        "Function call is missing a thought_signature in functionCall parts",
    ),
    ("G4", lambda b: parts(b, 1)[1].update(thoughtSignature="msg_01!"), "Base64 decoding failed"),
    ("G4", lambda b: parts(b, 0).clear(), "contents.parts must not be empty"),
    (
        "G5",
        lambda b: parts(b, 1)[1].update(thoughtSignature="AAEC"),
        "Corrupted thought signature.",
    ),
    ("G6", lambda b: b.update(cachedContent="cachedContents/1"), "CachedContent can not be used"),
]


def every() -> list[Broken]:
    """Every broken request."""
    table: list[tuple[str, Callable[[], Body], list[tuple[str, Harm, str]]]] = [
        ("anthropic", anthropic, ANTHROPIC),
        ("openai-responses", responses, RESPONSES),
        ("openai-chat", chat, CHAT),
        ("gemini", gemini, GEMINI),
    ]
    return [
        Broken(rule, good(), harm, message, format)
        for format, good, harms in table
        for rule, harm, message in harms
    ]
