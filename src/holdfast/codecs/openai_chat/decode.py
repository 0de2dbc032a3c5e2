"""A chat completion as a reply, whole or streamed.

Rule 1: a stream is put together into the message that the whole response would have held, so both
        become the same parts.
Rule 2: fields that are null or empty say nothing and are not kept: servers differ in them.
Rule 3: the parts of a message cut short have no seals.
"""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import sha256

from holdfast.codecs.openai_shared import (
    Fields,
    complaint,
    fields,
    number,
    objects,
    read,
    sealed,
    served,
    string,
    usage,
    without,
)
from holdfast.model import wire
from holdfast.model.message import Message, Part, Reasoning, Text, ToolCall, opaque
from holdfast.model.reply import Reply, Stop, Usage

REASONING = ("reasoning_content", "reasoning")
"""Where servers show reasoning: llama.cpp and DeepSeek in the first, OpenRouter in the second."""

_STOPS: dict[str, Stop] = {
    "length": "length",
    "content_filter": "refused",
    "error": "error",
}


def reply(body: bytes, provider: str) -> Reply:
    """The reply that a whole response body is."""
    response = read(body)
    if response is None:
        return told({}, {}, "", provider, error="the response is not a JSON object")
    choices = objects(response.get("choices"))
    if response.get("error") or not choices:
        error = complaint(response.get("error") or "the response has no choices")
        return told(response, {}, "", provider, error=error)
    first = choices[0]
    finish = string(first.get("finish_reason")) or "stop"
    return told(response, fields(first.get("message")), finish, provider)


def told(
    response: Fields, message: Fields, finish: str, provider: str, *, error: str = ""
) -> Reply:
    """A reply from a response, the message in it, and why it ended; no reason: it was cut short."""
    complete = bool(finish) and not error
    owner = provider if complete else ""
    made = Message("assistant", tuple(parts(message, response, owner)))
    if finish == "error" and not error:
        error = "the provider gave no reason"
    return Reply(
        message=made,
        stop="error" if error else stop(finish, made, string(message.get("refusal"))),
        usage=served(counted(fields(response.get("usage"))), response.get("service_tier")),
        model=string(response.get("model")),
        provider=provider,
        request=string(response.get("id")),
        error=error,
    )


def stop(finish: str, message: Message, refusal: str) -> Stop:
    """Why a message ended; some servers say `stop` where the model asks for tools."""
    if not finish:
        return "aborted"
    if finish in _STOPS:
        return _STOPS[finish]
    if message.calls:
        return "tools"
    return "refused" if refusal else "end"


def counted(told: Fields) -> Usage:
    """The tokens of a completion in their buckets; DeepSeek has its own name for cache hits."""
    details = fields(told.get("prompt_tokens_details"))
    hits = number(details.get("cached_tokens")) or number(told.get("prompt_cache_hit_tokens"))
    made = fields(told.get("completion_tokens_details"))
    return usage(
        number(told.get("prompt_tokens")),
        details | {"cached_tokens": hits},
        number(told.get("completion_tokens")),
        number(made.get("reasoning_tokens")),
    )


def parts(message: Fields, response: Fields, owner: str) -> Iterator[Part]:
    """The parts of a message; without seals where there is no owner."""
    model = string(response.get("model"))
    content, thoughts = said(message.get("content"))
    shown = {name: text for name in REASONING if (text := string(message.get(name)))}
    if thought := "".join(list(shown.values())[:1]) or thoughts:
        yield Reasoning(thought, sealed(owner, {"chat": shown}, model) if owner and shown else None)
    if content:
        yield Text(content)
    if refusal := string(message.get("refusal")):
        mark = {"content": {"type": "refusal"}}
        yield Text(refusal, seal=sealed(owner, mark, model) if owner else None)
    for place, call in enumerate(objects(message.get("tool_calls"))):
        yield from _call(call, f"{string(response.get('id'))}:{place}", model, owner)
    rest = without(message, "role", "content", "refusal", "tool_calls", *REASONING)
    if owner and (kept := {name: value for name, value in rest.items() if value}):
        yield opaque(owner, "chat.message", wire.encode(kept), model)


def said(value: object) -> tuple[str, str]:
    """The text and the thoughts of a content, which some servers (Mistral) send as a list."""
    entries = objects(value)
    texts = [string(entry.get("text")) for entry in entries]
    nested = [objects(entry.get("thinking")) for entry in entries]
    thoughts = [string(inner.get("text")) for thinking in nested for inner in thinking]
    return string(value) or "".join(texts), "".join(thoughts)


def _call(call: Fields, place: str, model: str, owner: str) -> Iterator[ToolCall]:
    custom = call.get("type") == "custom"
    body = fields(call.get("custom" if custom else "function"))
    given = body.get("input" if custom else "arguments")
    text = given if isinstance(given, str) else _json(given) if given else ""
    name = string(body.get("name"))
    if not name:
        return  # nobody can be asked
    extras = without(call, "id", "index", "type", "function", "custom")
    if inner := without(body, "name", "arguments", "input"):
        extras["function"] = inner
    mark: Fields = {"type": "custom_tool_call"} if custom else {}
    mark |= {"chat": extras} if extras else {}
    id = string(call.get("id")) or _made_up(place, name, text)
    yield ToolCall(id, name, text, sealed(owner, mark, model) if owner else None)


def _made_up(*facts: str) -> str:
    """An id for a call that came without one: the same each time the reply is read."""
    digest = sha256("\0".join(facts).encode("utf-8", "surrogatepass")).hexdigest()
    return f"call_{digest[:24]}"


def _json(value: object) -> str:
    return wire.encode(value).decode("utf-8", "surrogatepass")
