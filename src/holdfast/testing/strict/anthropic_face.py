"""Anthropic's Messages, as its SDK sees them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

from holdfast.model.reply import Edit, Iteration, Usage
from holdfast.testing.strict import (
    anthropic_context,
    anthropic_roles,
    anthropic_rules,
    anthropic_thoughts,
)
from holdfast.testing.strict.face import Route, bearer, event, pieces
from holdfast.testing.strict.refusal import Refusal, Rule
from holdfast.testing.strict.script import (
    Answer,
    Ask,
    Asked,
    Compact,
    Format,
    Part,
    Say,
    Think,
    used,
)
from holdfast.testing.strict.vault import Vault

PATHS = {"/v1/messages": "create", "/v1/messages/count_tokens": "count"}
ERRORS = {
    400: "invalid_request_error",
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    529: "overloaded_error",
}
STOPS = {
    "end": "end_turn",
    "tools": "tool_use",
    "length": "max_tokens",
    "refused": "refusal",
    "paused": "pause_turn",
    "compaction": "compaction",
}


class Anthropic:
    """The face of Anthropic."""

    format: Format = "anthropic"
    rules: Sequence[tuple[str, Rule]] = (
        *anthropic_roles.RULES,
        *anthropic_rules.RULES,
        *anthropic_thoughts.RULES,
        *anthropic_context.RULES,
    )

    def route(self, path: str, query: dict[str, list[str]]) -> Route | None:
        return Route(PATHS[path]) if path in PATHS else None

    def keyless(self, headers: dict[str, str], query: dict[str, list[str]]) -> Refusal | None:
        if not headers.get("x-api-key") and not bearer(headers):
            return Refusal(rule="key", status=401, message="x-api-key header is required")
        if not headers.get("anthropic-version"):
            return Refusal(rule="version", message="anthropic-version: header is required")
        return None

    def read(self, body: dict[str, Any]) -> dict[str, Any]:
        return body

    def error(self, refusal: Refusal) -> dict[str, Any]:
        kind = ERRORS.get(refusal.status, "api_error")
        error = {"type": kind, "message": refusal.message}
        return {"type": "error", "error": error, "request_id": "req_strict"}

    def counted(self, tokens: int) -> dict[str, Any]:
        return {"input_tokens": tokens}

    def whole(self, asked: Asked, answer: Answer, vault: Vault) -> dict[str, Any]:
        calling = any(isinstance(part, Ask) for part in answer.parts)
        stop = answer.stop or ("tools" if calling else "end")
        usage = _usage(used(answer, asked))
        if answer.iterations:
            usage = _summed(answer.iterations)
        managed = {"context_management": {"applied_edits": _applied(answer.edits)}}
        return {
            "id": vault.name("msg_"),
            "type": "message",
            "role": "assistant",
            "model": asked.model,
            "content": _content(asked, answer, vault),
            "stop_reason": STOPS.get(stop, "end_turn"),
            "stop_sequence": None,
            "usage": usage,
        } | (managed if asked.body.get("context_management") else {})

    def stream(self, asked: Asked, answer: Answer, vault: Vault) -> Iterator[bytes]:
        message = self.whole(asked, answer, vault)
        opening = message | {"content": [], "stop_reason": None}
        opening["usage"] = message["usage"] | {"output_tokens": 1}
        opening["usage"].pop("iterations", None)
        managed = {"context_management": opening.pop("context_management", None)}
        yield _told({"type": "message_start", "message": opening})
        yield _told({"type": "ping"})
        for index, block in enumerate(message["content"]):
            yield from _streamed(block, index, answer.piece)
        if answer.error:
            error = {"type": "overloaded_error", "message": answer.error}
            yield _told({"type": "error", "error": error})
            return
        delta = {"stop_reason": message["stop_reason"], "stop_sequence": None}
        yield _told({"type": "message_delta", "delta": delta, "usage": message["usage"]} | managed)
        yield _told({"type": "message_stop"})


def _content(asked: Asked, answer: Answer, vault: Vault) -> list[dict[str, Any]]:
    blocks = [_block(part, asked, vault) for part in answer.parts]
    thoughts: list[str] = []
    for block in blocks:
        if block["type"] in anthropic_thoughts.THOUGHTS:
            thoughts.append(anthropic_thoughts.token(block))
        elif block["type"] == "tool_use":
            vault.remember_thoughts([block["id"]], list(thoughts))
    return blocks


def _block(part: Part, asked: Asked, vault: Vault) -> dict[str, Any]:
    match part:
        case Compact():
            return _compaction(part, asked, vault)
        case Say():
            return {"type": "text", "text": part.text, "citations": None}
        case Ask():
            id = part.id or vault.name("toolu_")
            given = part.input if isinstance(part.input, dict) else {"input": part.input}
            return {"type": "tool_use", "id": id, "name": part.name, "input": given}
        case Think(redacted=True):
            data = vault.sign("anthropic", asked.model, ["redacted"], "R")
            return {"type": "redacted_thinking", "data": data}
        case Think():
            shown = "" if _hidden(asked) else part.text
            signature = vault.sign("anthropic", asked.model, shown, "E")
            return {"type": "thinking", "thinking": shown, "signature": signature}


def _compaction(part: Compact, asked: Asked, vault: Vault) -> dict[str, Any]:
    if not part.text:
        return {"type": "compaction", "content": None, "encrypted_content": None}
    token = vault.sign("anthropic", asked.model, part.text, "C")
    field = "signature" if part.signed else "encrypted_content"
    return {"type": "compaction", "content": part.text, field: token}


def _hidden(asked: Asked) -> bool:
    """Whether thoughts are to come back as their signatures alone."""
    thinking = asked.body.get("thinking")
    return isinstance(thinking, dict) and thinking.get("display") == "omitted"


def _usage(usage: Usage) -> dict[str, Any]:
    short = usage.cache_write - usage.cache_write_long
    return {
        "input_tokens": usage.input,
        "cache_creation_input_tokens": usage.cache_write,
        "cache_read_input_tokens": usage.cache_read,
        "cache_creation": {
            "ephemeral_5m_input_tokens": short,
            "ephemeral_1h_input_tokens": usage.cache_write_long,
        },
        "output_tokens": usage.output,
        "service_tier": "standard",
    }


def _summed(iterations: Sequence[Iteration]) -> dict[str, Any]:
    """Usage by iteration; at the top only what the model itself was sampled for."""
    own = [one for one in iterations if one.type in ("", "message", "fallback_message")]
    each = [
        _usage(one) | {"type": one.type or "message"} | ({"model": one.model} if one.model else {})
        for one in iterations
    ]
    return _usage(sum(own, Usage())) | {"iterations": each}


def _applied(edits: Sequence[Edit]) -> list[dict[str, Any]]:
    """What was cleared, in the words of each edit."""
    told: list[dict[str, Any]] = []
    for edit in edits:
        thoughts = edit.type.startswith("clear_thinking")
        count = edit.cleared_thinking_turns if thoughts else edit.cleared_tool_uses
        field = "cleared_thinking_turns" if thoughts else "cleared_tool_uses"
        head = {"type": edit.type, field: count}
        told.append(head | {"cleared_input_tokens": edit.cleared_tokens})
    return told


def _told(data: dict[str, Any]) -> bytes:
    return event(data, data["type"])


def _streamed(block: dict[str, Any], index: int, size: int) -> Iterator[bytes]:
    empty = {
        "text": {"text": ""},
        "thinking": {"thinking": "", "signature": ""},
        "compaction": {"content": None},
    }
    started = block | empty.get(block["type"], {}) | ({"input": {}} if "input" in block else {})
    yield _told({"type": "content_block_start", "index": index, "content_block": started})
    for delta in _deltas(block, size):
        yield _told({"type": "content_block_delta", "index": index, "delta": delta})
    yield _told({"type": "content_block_stop", "index": index})


def _deltas(block: dict[str, Any], size: int) -> Iterator[dict[str, Any]]:
    match block["type"]:
        case "text":
            yield from ({"type": "text_delta", "text": t} for t in pieces(block["text"], size))
        case "thinking":
            for piece in pieces(block["thinking"], size) if block["thinking"] else ():
                yield {"type": "thinking_delta", "thinking": piece}
            yield {"type": "signature_delta", "signature": block["signature"]}
        case "compaction":
            told = {name: block.get(name) for name in ("content", "encrypted_content")}
            yield {"type": "compaction_delta"} | told
        case "tool_use":
            written = json.dumps(block["input"], ensure_ascii=False)
            for piece in ["", *pieces(written, size)]:
                yield {"type": "input_json_delta", "partial_json": piece}
