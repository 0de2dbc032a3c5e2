"""Gemini's generateContent, as its SDK sees it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from holdfast.model.reply import Usage
from holdfast.testing.strict.face import Route, bearer, event, pieces
from holdfast.testing.strict.gemini_rules import RULES, mark, spelled, strict_model
from holdfast.testing.strict.refusal import Refusal, Rule
from holdfast.testing.strict.script import Answer, Ask, Asked, Format, Say, Think, used
from holdfast.testing.strict.vault import Vault

PATH = re.compile(r"/v1(?:beta|alpha)?/models/([^/:]+):(\w+)\Z")
STATUS = {
    400: "INVALID_ARGUMENT",
    401: "UNAUTHENTICATED",
    403: "PERMISSION_DENIED",
    404: "NOT_FOUND",
    429: "RESOURCE_EXHAUSTED",
    503: "UNAVAILABLE",
}
STOPS = {"end": "STOP", "tools": "STOP", "length": "MAX_TOKENS", "refused": "SAFETY"}
METHODS = {"generateContent": "create", "streamGenerateContent": "create", "countTokens": "count"}


class Gemini:
    """The face of Google."""

    format: Format = "gemini"
    rules: Sequence[tuple[str, Rule]] = RULES

    def route(self, path: str, query: dict[str, list[str]]) -> Route | None:
        found = PATH.match(path)
        if not found or found[2] not in METHODS:
            return None
        stream = found[2] == "streamGenerateContent"
        return Route(METHODS[found[2]], found[1], stream, query.get("alt") != ["sse"])

    def keyless(self, headers: dict[str, str], query: dict[str, list[str]]) -> Refusal | None:
        if headers.get("x-goog-api-key") or query.get("key") or bearer(headers):
            return None
        return Refusal(
            rule="key",
            status=403,
            message="Method doesn't allow unregistered callers (callers without established "
            "identity). Please use API Key or other form of API consumer identity to call this "
            "API.",
        )

    def read(self, body: dict[str, Any]) -> dict[str, Any]:
        told = spelled(body)
        inner = told.get("generateContentRequest")
        return inner if isinstance(inner, dict) else told

    def error(self, refusal: Refusal) -> dict[str, Any]:
        status = STATUS.get(refusal.status, "INTERNAL")
        error = {"code": refusal.status, "message": refusal.message, "status": status}
        return {"error": error}

    def counted(self, tokens: int) -> dict[str, Any]:
        details = [{"modality": "TEXT", "tokenCount": tokens}]
        return {"totalTokens": tokens, "promptTokensDetails": details}

    def whole(self, asked: Asked, answer: Answer, vault: Vault) -> dict[str, Any]:
        parts = _parts(asked, answer, vault)
        if not any("functionCall" in part for part in parts) and _thinks(answer):
            for part in parts[-1:]:
                part["thoughtSignature"] = vault.sign_mark(asked.model, mark(part))
        return _chunk(asked, vault, parts, used(answer, asked), _finish(answer))

    def stream(self, asked: Asked, answer: Answer, vault: Vault) -> Iterator[bytes]:
        usage = used(answer, asked)
        begun = Usage(input=usage.input, cache_read=usage.cache_read, output=1)
        last: list[dict[str, Any]] = [{"text": ""}]
        name = vault.name("resp-")
        parts = _parts(asked, answer, vault)
        for part in parts:
            for piece in _split(part, answer.piece):
                yield event(_chunk(asked, vault, [piece], begun, "", name))
        if answer.error:
            yield event(self.error(Refusal(rule="", status=503, message=answer.error)))
            return
        if not any("functionCall" in part for part in parts) and _thinks(answer):
            last[0]["thoughtSignature"] = vault.sign_mark(asked.model, mark(last[0]))
        yield event(_chunk(asked, vault, last, usage, _finish(answer), name))


def _thinks(answer: Answer) -> bool:
    return any(isinstance(part, Think) for part in answer.parts)


def _finish(answer: Answer) -> str:
    return STOPS.get(answer.stop or "end", "OTHER")


def _parts(asked: Asked, answer: Answer, vault: Vault) -> list[dict[str, Any]]:
    config = asked.body.get("generationConfig") or {}
    shown = bool((config.get("thinkingConfig") or {}).get("includeThoughts"))
    parts: list[dict[str, Any]] = []
    for part in answer.parts:
        match part:
            case Think():
                parts += [{"text": part.text, "thought": True}] if shown and part.text else []
            case Say():
                parts.append({"text": part.text})
            case Ask():
                args = part.input if isinstance(part.input, dict) else {"input": part.input}
                id = part.id or vault.name("fc-")
                parts.append({"functionCall": {"id": id, "name": part.name, "args": args}})
    for part in [each for each in parts if "functionCall" in each][:1]:
        if _thinks(answer) or strict_model(asked.model):
            part["thoughtSignature"] = vault.sign_mark(asked.model, mark(part))
    return parts


def _split(part: dict[str, Any], size: int) -> list[dict[str, Any]]:
    if "text" not in part:
        return [part]
    return [part | {"text": piece} for piece in pieces(part["text"], size)]


def _chunk(
    asked: Asked,
    vault: Vault,
    parts: list[dict[str, Any]],
    usage: Usage,
    finish: str,
    name: str = "",
) -> dict[str, Any]:
    candidate: dict[str, Any] = {"content": {"role": "model", "parts": parts}, "index": 0}
    if finish:
        candidate["finishReason"] = finish
    return {
        "candidates": [candidate],
        "usageMetadata": _usage(usage),
        "modelVersion": asked.model,
        "responseId": name or vault.name("resp-"),
    }


def _usage(usage: Usage) -> dict[str, Any]:
    told = {
        "promptTokenCount": usage.prompt,
        "candidatesTokenCount": usage.output - usage.reasoning,
        "totalTokenCount": usage.total,
        "cachedContentTokenCount": usage.cache_read,
        "thoughtsTokenCount": usage.reasoning,
    }
    return {name: count for name, count in told.items() if count}
