"""OpenAI's Responses, as its SDK sees them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

from holdfast.model.reply import Usage
from holdfast.testing.strict.chat_face import OpenAI
from holdfast.testing.strict.face import Route, event, pieces
from holdfast.testing.strict.openai_rules import RESPONSES, items
from holdfast.testing.strict.refusal import Case, Rule, dicts
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

PATHS = {
    "/v1/responses": "create",
    "/v1/responses/input_tokens": "count",
    "/v1/responses/compact": "compact",
}
ENDINGS = {"length": "max_output_tokens", "refused": "content_filter"}
Item = dict[str, Any]


class Responses(OpenAI):
    """The face of Responses."""

    format: Format = "openai-responses"
    rules: Sequence[tuple[str, Rule]] = RESPONSES

    def route(self, path: str, query: dict[str, list[str]]) -> Route | None:
        return Route(PATHS[path]) if path in PATHS else None

    def whole(self, asked: Asked, answer: Answer, vault: Vault) -> dict[str, Any]:
        if asked.endpoint == "compact":
            return _compacted(asked, answer, vault)
        response = _response(asked, vault)
        output = _output(asked, answer, vault)
        reason = ENDINGS.get(answer.stop or "")
        if asked.body.get("store") is not False:
            before = vault.kept(str(asked.body.get("previous_response_id") or "")) or []
            given = items(Case(asked=asked, vault=vault))
            vault.keep(response["id"], [*before, *given, *output])
        return response | {
            "status": "incomplete" if reason else "completed",
            "incomplete_details": {"reason": reason} if reason else None,
            "output": output,
            "usage": _usage(used(answer, asked)),
        }

    def stream(self, asked: Asked, answer: Answer, vault: Vault) -> Iterator[bytes]:
        final = self.whole(asked, answer, vault)
        begun = final | {"status": "in_progress", "output": [], "usage": None}
        told = list(_events(final, begun, answer))
        for number, data in enumerate(told):
            yield event(data | {"sequence_number": number}, data["type"])


def _events(final: Item, begun: Item, answer: Answer) -> Iterator[Item]:
    yield {"type": "response.created", "response": begun}
    yield {"type": "response.in_progress", "response": begun}
    for index, item in enumerate(final["output"]):
        at = {"output_index": index}
        yield {"type": "response.output_item.added", "item": _unfinished(item)} | at
        for data in _grown(item, answer.piece):
            yield data | at | {"item_id": item["id"]}
        yield {"type": "response.output_item.done", "item": item} | at
    if answer.error:
        error = {"code": "server_error", "message": answer.error}
        failed = final | {"status": "failed", "error": error, "output": []}
        yield {"type": "response.failed", "response": failed}
    else:
        yield {"type": f"response.{final['status']}", "response": final}


def _unfinished(item: Item) -> Item:
    """An item as it begins; encrypted content is not whole before the item is done (rule O5)."""
    begun = dict(item)
    for name, empty in (("content", []), ("summary", []), ("arguments", ""), ("input", "")):
        if name in begun:
            begun[name] = empty
    if begun.get("encrypted_content"):
        begun["encrypted_content"] = "gAAAAAB-not-yet"
    return begun | ({"status": "in_progress"} if "status" in begun else {})


def _grown(item: Item, size: int) -> Iterator[Item]:
    """What happens between the beginning of an item and its end."""
    match item["type"]:
        case "message":
            yield from _spoken(item["content"][0], size)
        case "reasoning":
            for part in item["summary"]:
                yield from _thought(part, size)
        case "function_call":
            yield from _written("function_call_arguments", "arguments", item, size)
        case "custom_tool_call":
            yield from _written("custom_tool_call_input", "input", item, size)


def _spoken(part: Item, size: int) -> Iterator[Item]:
    at = {"content_index": 0}
    yield {"type": "response.content_part.added", "part": part | {"text": ""}} | at
    for piece in pieces(part["text"], size):
        yield {"type": "response.output_text.delta", "delta": piece, "logprobs": []} | at
    text = part["text"]
    yield {"type": "response.output_text.done", "text": text, "logprobs": []} | at
    yield {"type": "response.content_part.done", "part": part} | at


def _thought(part: Item, size: int) -> Iterator[Item]:
    at = {"summary_index": 0}
    yield {"type": "response.reasoning_summary_part.added", "part": part | {"text": ""}} | at
    for piece in pieces(part["text"], size):
        yield {"type": "response.reasoning_summary_text.delta", "delta": piece} | at
    yield {"type": "response.reasoning_summary_text.done", "text": part["text"]} | at
    yield {"type": "response.reasoning_summary_part.done", "part": part} | at


def _written(kind: str, field: str, item: Item, size: int) -> Iterator[Item]:
    for piece in pieces(item[field], size):
        yield {"type": f"response.{kind}.delta", "delta": piece}
    done = {"type": f"response.{kind}.done", field: item[field]}
    yield done | ({"name": item["name"]} if field == "arguments" else {})


def _output(asked: Asked, answer: Answer, vault: Vault) -> list[Item]:
    found: list[Item] = []
    if any(item.get("type") == "compaction_trigger" for item in dicts(asked.body.get("input"))):
        return [_compaction(asked, answer, vault)]
    for part in answer.parts:
        item = _item(part, asked, vault)
        if found and found[-1]["type"] == "reasoning" and item["type"] != "reasoning":
            vault.remember_leader(item["id"], found[-1]["id"])
        found.append(item)
    return found


def _compaction(asked: Asked, answer: Answer, vault: Vault) -> Item:
    """What was said instead of the conversation, sealed."""
    summary = "".join(part.text for part in answer.parts if isinstance(part, Say))
    sealed = vault.sign("openai", asked.model, summary, "gAAAAAB")
    return {"id": vault.name("cmp_"), "type": "compaction", "encrypted_content": sealed}


def _compacted(asked: Asked, answer: Answer, vault: Vault) -> dict[str, Any]:
    """What the user said, and a compaction in place of everything else."""
    given = items(Case(asked=asked, vault=vault))
    kept = [item for item in given if item.get("type") == "message" and item.get("role") == "user"]
    return {
        "id": vault.name("resp_"),
        "object": "response.compaction",
        "created_at": 1_760_000_000,
        "output": [*kept, _compaction(asked, answer, vault)],
        "usage": _usage(used(answer, asked)),
    }


def _item(part: Part, asked: Asked, vault: Vault) -> Item:
    match part:
        case Compact():
            return _compaction(asked, Answer(parts=(Say(part.text),)), vault)
        case Say():
            text = {"type": "output_text", "text": part.text, "annotations": [], "logprobs": []}
            head = {"id": vault.name("msg_"), "type": "message", "role": "assistant"}
            return head | {"status": "completed", "content": [text]}
        case Think():
            summary = [{"type": "summary_text", "text": part.text}] if part.text else []
            item: Item = {"id": vault.name("rs_"), "type": "reasoning", "summary": summary}
            if "reasoning.encrypted_content" in (asked.body.get("include") or ()):
                sealed = vault.sign("openai", asked.model, part.text, "gAAAAAB")
                item["encrypted_content"] = sealed
            return item
        case Ask(input=str() as words):
            return _call("custom_tool_call", "ctc_", part, vault) | {"input": words}
        case Ask():
            arguments = json.dumps(part.input, ensure_ascii=False)
            return _call("function_call", "fc_", part, vault) | {"arguments": arguments}


def _call(kind: str, prefix: str, part: Ask, vault: Vault) -> Item:
    call = part.id or vault.name("call_")
    head = {"id": vault.name(prefix), "type": kind, "status": "completed"}
    return head | {"call_id": call, "name": part.name}


def _response(asked: Asked, vault: Vault) -> dict[str, Any]:
    body = asked.body
    return {
        "id": vault.name("resp_"),
        "object": "response",
        "created_at": 1_760_000_000,
        "error": None,
        "model": asked.model,
        "instructions": body.get("instructions"),
        "max_output_tokens": body.get("max_output_tokens"),
        "metadata": body.get("metadata") or {},
        "parallel_tool_calls": body.get("parallel_tool_calls", True),
        "previous_response_id": body.get("previous_response_id"),
        "store": body.get("store", True),
        "temperature": 1.0,
        "tool_choice": body.get("tool_choice", "auto"),
        "tools": body.get("tools") or [],
        "top_p": 1.0,
    }


def _usage(usage: Usage) -> dict[str, Any]:
    return {
        "input_tokens": usage.prompt,
        "input_tokens_details": {
            "cached_tokens": usage.cache_read,
            "cache_write_tokens": usage.cache_write,
        },
        "output_tokens": usage.output,
        "output_tokens_details": {"reasoning_tokens": usage.reasoning},
        "total_tokens": usage.total,
    }
