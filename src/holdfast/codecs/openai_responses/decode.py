"""A response of the Responses API as a reply.

Rule 1: an item that we understand becomes parts, and its other fields their seal; every other item
        is kept whole as an opaque part.
Rule 2: a call that the server itself has answered in the same reply is the server's business.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from holdfast.codecs.openai_responses import calls
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
from holdfast.model.message import Message, Opaque, Part, Reasoning, Text, ToolCall, opaque
from holdfast.model.reply import Edit, Reply, Stop, Usage

GARBLED = "the response is not a JSON object"


def reply(body: bytes, provider: str) -> Reply:
    """The reply that a whole response body is."""
    response = read(body)
    if response is None:
        return Reply(
            message=Message("assistant", ()), stop="error", provider=provider, error=GARBLED
        )
    items = objects(response.get("output"))
    return told(response, parts(items, provider, string(response.get("model"))), provider)


def told(response: Fields, said: Iterable[Part], provider: str, error: str = "") -> Reply:
    """A reply from what a response says of itself and the parts it consists of."""
    message = Message("assistant", tuple(said))
    failure = error or (complaint(response["error"]) if response.get("error") else "")
    compacted = [place for place, part in enumerate(message.parts) if _is_compaction(part)]
    return Reply(
        message=message,
        stop="error" if failure else stop(response, message),
        usage=served(counted(fields(response.get("usage"))), response.get("service_tier")),
        model=string(response.get("model")),
        provider=provider,
        request=string(response.get("id")),
        edits=tuple(Edit(type="compaction") for _ in compacted),
        compaction=compacted[-1] if compacted else None,
        error=failure,
    )


def _is_compaction(part: Part) -> bool:
    return isinstance(part, Opaque) and part.type == "compaction"


def stop(response: Fields, message: Message) -> Stop:
    """Why a response ended."""
    if response.get("object") == "response.compaction":
        return "compaction"
    match response.get("status"):
        case "completed":
            return _finished(message)
        case None if "output" in response:  # some servers leave it out
            return _finished(message)
        case "incomplete":
            reason = fields(response.get("incomplete_details")).get("reason")
            return "refused" if reason == "content_filter" else "length"
        case "failed":
            return "error"
        case _:
            return "aborted"


def _finished(message: Message) -> Stop:
    if message.calls:
        return "tools"
    return "refused" if any(_is_refusal(part) for part in message.parts) else "end"


def _is_refusal(part: Part) -> bool:
    if not isinstance(part, Text) or part.seal is None:
        return False
    return fields((read(part.seal.data) or {}).get("content")).get("type") == "refusal"


def counted(told: Fields) -> Usage:
    """The tokens of a response in their buckets."""
    return usage(
        number(told.get("input_tokens")),
        fields(told.get("input_tokens_details")),
        number(told.get("output_tokens")),
        number(fields(told.get("output_tokens_details")).get("reasoning_tokens")),
    )


def parts(items: list[Fields], owner: str, model: str) -> Iterator[Part]:
    """The parts of a reply, from its finished items in order."""
    for found in grouped(items, owner, model):
        yield from found


def grouped(items: list[Fields], owner: str, model: str) -> list[list[Part]]:
    """The parts of each item; none of an empty one."""
    answered = {answer for item in items if (answer := calls.answers(item))}
    return [_parts(item, answered, owner, model) if item else [] for item in items]


def _parts(item: Fields, answered: set[str], owner: str, model: str) -> list[Part]:
    found: list[Part] = []
    match item.get("type"):
        case "message":
            found = list(_message(item, owner, model))
        case "reasoning":
            found = [_reasoning(item, owner, model)]
        case _ if (call := calls.call(item, owner, model)) and call.id not in answered:
            found = [call]
        case _:
            pass
    type = string(item.get("type")) or "item"
    return found or [opaque(owner, type, wire.encode(item), model)]


def _message(item: Fields, owner: str, model: str) -> Iterator[Text]:
    """The texts of a message; none where it holds anything else, or is not the model's."""
    entries = objects(item.get("content"))
    texts = [_entry(entry) for entry in entries]
    if item.get("role") != "assistant" or item.get("content") != entries or None in texts:
        return
    outer = without(item, "type", "role", "content")
    for place, text in enumerate(texts):
        text, inner = text or ("", {})
        extras = outer | ({"content": inner} if inner else {}) | {"content_index": place}
        yield Text(text, seal=sealed(owner, extras, model))


def _entry(entry: Fields) -> tuple[str, Fields] | None:
    text, refusal = entry.get("text"), entry.get("refusal")
    if entry.get("type") == "output_text" and isinstance(text, str):
        return text, without(entry, "type", "text")
    if entry.get("type") == "refusal" and isinstance(refusal, str):
        return refusal, without(entry, "refusal")
    return None


def _reasoning(item: Fields, owner: str, model: str) -> Reasoning:
    """What was thought: the summary, or the thought itself where it is told."""
    shown = objects(item.get("summary")) or objects(item.get("content"))
    text = "\n\n".join(string(entry.get("text")) for entry in shown)
    return Reasoning(text, sealed(owner, without(item, "type"), model))


def unfinished(item: Fields, texts: dict[tuple[str, int], str]) -> Iterator[Part]:
    """What was told of an item before the stream broke off: without a seal, so never echoed."""
    said = [text for text in texts.values() if text]  # in the order they began
    kind = calls.KINDS.get(string(item.get("type")))
    if item.get("type") == "message":
        yield from (Text(text) for text in said)
    elif item.get("type") == "reasoning" and said:
        yield Reasoning("\n\n".join(said))
    elif kind and item.get("call_id") and (name := kind.name or string(item.get("name"))):
        yield ToolCall(string(item["call_id"]), name, "".join(said))
