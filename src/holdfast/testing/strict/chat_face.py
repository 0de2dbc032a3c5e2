"""OpenAI's Chat Completions, as its SDK sees them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

from holdfast.model.reply import Usage
from holdfast.testing.strict.face import Route, bearer, event, pieces
from holdfast.testing.strict.openai_rules import CHAT
from holdfast.testing.strict.refusal import Refusal, Rule
from holdfast.testing.strict.script import Answer, Ask, Asked, Format, Say, used
from holdfast.testing.strict.vault import Vault

STOPS = {"end": "stop", "tools": "tool_calls", "length": "length", "refused": "content_filter"}


class OpenAI:
    """What both faces of OpenAI share: the key, and how errors are told."""

    def keyless(self, headers: dict[str, str], query: dict[str, list[str]]) -> Refusal | None:
        if bearer(headers):
            return None
        return Refusal(
            rule="key",
            status=401,
            message="You didn't provide an API key. You need to provide your API key in an "
            "Authorization header using Bearer auth (i.e. Authorization: Bearer YOUR_KEY).",
        )

    def read(self, body: dict[str, Any]) -> dict[str, Any]:
        return body

    def error(self, refusal: Refusal) -> dict[str, Any]:
        kind = "server_error" if refusal.status >= 500 else "invalid_request_error"
        return {
            "error": {
                "message": refusal.message,
                "type": "requests" if refusal.status == 429 else kind,
                "param": refusal.param,
                "code": refusal.code or ("rate_limit_exceeded" if refusal.status == 429 else None),
            }
        }

    def counted(self, tokens: int) -> dict[str, Any]:
        return {"object": "response.input_tokens", "input_tokens": tokens}


class Chat(OpenAI):
    """The face of Chat Completions."""

    format: Format = "openai-chat"
    rules: Sequence[tuple[str, Rule]] = CHAT

    def route(self, path: str, query: dict[str, list[str]]) -> Route | None:
        return Route("create") if path == "/v1/chat/completions" else None

    def whole(self, asked: Asked, answer: Answer, vault: Vault) -> dict[str, Any]:
        calls = _calls(answer, vault)
        text = "".join(part.text for part in answer.parts if isinstance(part, Say))
        message: dict[str, Any] = {"role": "assistant", "content": text or None, "refusal": None}
        if calls:
            message["tool_calls"] = calls
        choice = {"index": 0, "message": message, "finish_reason": _finish(answer, calls)}
        return _head(asked, vault, "chat.completion") | {
            "choices": [choice],
            "usage": _usage(used(answer, asked)),
        }

    def stream(self, asked: Asked, answer: Answer, vault: Vault) -> Iterator[bytes]:
        head = _head(asked, vault, "chat.completion.chunk")
        calls = _calls(answer, vault)
        for delta in _deltas(answer, calls):
            yield event(head | {"choices": [_choice(delta)]})
        if answer.error:
            yield event(self.error(Refusal(rule="", status=500, message=answer.error)))
            return
        yield event(head | {"choices": [_choice({}, _finish(answer, calls))]})
        options = asked.body.get("stream_options") or {}
        if options.get("include_usage"):
            yield event(head | {"choices": [], "usage": _usage(used(answer, asked))})
        yield b"data: [DONE]\n\n"


def _head(asked: Asked, vault: Vault, kind: str) -> dict[str, Any]:
    id = vault.name("chatcmpl-")
    return {"id": id, "object": kind, "created": 1_760_000_000, "model": asked.model}


def _choice(delta: dict[str, Any], finish: str | None = None) -> dict[str, Any]:
    return {"index": 0, "delta": delta, "finish_reason": finish}


def _finish(answer: Answer, calls: list[dict[str, Any]]) -> str:
    return STOPS.get(answer.stop or ("tools" if calls else "end"), "stop")


def _calls(answer: Answer, vault: Vault) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    for part in answer.parts:
        if not isinstance(part, Ask):
            continue
        id = part.id or vault.name("call_")
        if isinstance(part.input, str):
            custom = {"name": part.name, "input": part.input}
            found.append({"id": id, "type": "custom", "custom": custom})
        else:
            arguments = json.dumps(part.input, ensure_ascii=False)
            function = {"name": part.name, "arguments": arguments}
            found.append({"id": id, "type": "function", "function": function})
    return found


def _deltas(answer: Answer, calls: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    yield {"role": "assistant", "content": "", "refusal": None}
    for part in answer.parts:
        if isinstance(part, Say):
            yield from ({"content": piece} for piece in pieces(part.text, answer.piece))
    for index, call in enumerate(calls):
        kind = call["type"]
        field = "arguments" if kind == "function" else "input"
        begun = call | {kind: call[kind] | {field: ""}}
        yield {"tool_calls": [{"index": index} | begun]}
        for piece in pieces(call[kind][field], answer.piece):
            yield {"tool_calls": [{"index": index, kind: {field: piece}}]}


def _usage(usage: Usage) -> dict[str, Any]:
    return {
        "prompt_tokens": usage.prompt,
        "completion_tokens": usage.output,
        "total_tokens": usage.total,
        "prompt_tokens_details": {
            "cached_tokens": usage.cache_read,
            "cache_write_tokens": usage.cache_write,
        },
        "completion_tokens_details": {"reasoning_tokens": usage.reasoning},
    }
