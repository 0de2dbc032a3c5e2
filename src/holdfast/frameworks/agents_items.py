"""The items of the OpenAI Agents SDK as messages, and back.

Rule 1: what one response brought stands together in one message, an item a part; so a call is never
        parted from the reasoning that led to it, nor from the calls beside it.
Rule 2: an item comes back as it was. One whose reasoning is no longer shown goes without its id:
        the provider would look for what led to it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import Any, cast

from msgspec.structs import replace

from holdfast.codecs.openai_responses import calls
from holdfast.codecs.openai_shared import location
from holdfast.frameworks.kept_messages import keep, kept, medium
from holdfast.model import wire
from holdfast.model.message import (
    Media,
    Message,
    Opaque,
    Part,
    Reasoning,
    Role,
    Text,
    ToolCall,
    ToolResult,
    opaque,
)
from holdfast.model.window import Block

NAME = "openai-agents"
Item = dict[str, Any]


def messages(items: Iterable[Item]) -> list[Message]:
    """The messages that items make."""
    found: list[Message] = []
    for role, group in groupby(items, _role):
        if role == "assistant":
            found.append(Message(role, tuple(_said(list(group)))))
        elif role == "tool":
            found.append(Message(role, tuple(map(_result, group))))
        else:
            found += [Message(role, _asked(item, role)) for item in group]
    return found


def _role(item: Item) -> Role:
    told = item.get("role")
    if told in ("user", "system", "developer"):
        return told
    return "tool" if calls.answers(item) else "assistant"


def _asked(item: Item, role: Role) -> tuple[Part, ...]:
    content = item.get("content")
    if item == {"role": role, "content": content} and isinstance(content, str):
        return (Text(content),)
    entries: list[Any] = content if isinstance(content, list) else [{"text": content}]
    return keep(list(_contents(entries)), NAME, item)


def _contents(entries: Sequence[Any]) -> Iterator[Text | Media]:
    for entry in entries:
        if entry.get("type") == "input_image" and entry.get("image_url"):
            yield medium("image/*", entry["image_url"])
        elif entry.get("type") == "input_file" and (
            entry.get("file_data") or entry.get("file_url")
        ):
            yield medium("application/pdf", entry.get("file_data") or entry["file_url"])
        else:
            yield Text(str(entry.get("text") or entry.get("refusal") or entry))


def _result(item: Item) -> ToolResult:
    call, output = calls.answers(item), item.get("output")
    if isinstance(output, str):
        made = ToolResult(call, output)
        if item == {"type": "function_call_output", "call_id": call, "output": output}:
            return made
    else:
        made = _listed(call, item)
    (sealed,) = keep([made], NAME, item)
    return cast(ToolResult, sealed)


def _listed(call: str, item: Item) -> ToolResult:
    output = item.get("output")
    entries = cast("list[Any]", output) if isinstance(output, list) else []
    if not all(isinstance(e, dict) and str(e.get("type")).startswith("input_") for e in entries):
        entries = []
    if not entries:
        return ToolResult(call, wire.encode(output).decode("utf-8", "surrogatepass"))
    parts = list(_contents(entries))
    text = "\n".join(part.text for part in parts if isinstance(part, Text))
    return ToolResult(call, text, media=tuple(p for p in parts if isinstance(p, Media)))


def _said(items: list[Item]) -> Iterator[Part]:
    thinks = any(item.get("type") == "reasoning" for item in items)
    for item in items:
        part = _part(item)
        if isinstance(part, Opaque):
            yield part
        else:
            yield from keep([part], NAME, {"item": item, "thinks": thinks})


def _part(item: Item) -> Part:
    if item.get("role") == "assistant":
        content = item.get("content")
        entries = cast("list[Any]", content) if isinstance(content, list) else [{"text": content}]
        return Text("".join(str(e.get("text") or e.get("refusal") or "") for e in entries))
    if item.get("type") == "reasoning":
        shown = item.get("summary") or item.get("content") or []
        return Reasoning("\n\n".join(str(entry.get("text", "")) for entry in shown))
    if call := calls.call(item, NAME, ""):
        return replace(call, seal=None)
    return opaque(NAME, str(item.get("type", "item")), wire.encode(item))


def items(blocks: Sequence[Block]) -> list[Item]:
    """The items that show these blocks."""
    parts = [part for block in blocks for part in block.parts]
    results = {part.call: part for part in parts if isinstance(part, ToolResult)}
    kinds = {part.id: _kind(part, results) for part in parts if isinstance(part, ToolCall)}
    found: list[Item] = []
    for block in blocks:
        if block.role in ("assistant", "tool"):
            thinks = any(isinstance(part, Reasoning) for part in block.parts)
            found += [item for part in block.parts if (item := _item(part, kinds, thinks))]
        else:
            found.append(kept(block.parts, NAME) or _fresh(block))
    return found


def _kind(call: ToolCall, results: dict[str, ToolResult]) -> calls.Kind:
    """What kind of call it is; where its answer is shown otherwise, one that takes any text."""
    original = kept([call], NAME)
    kind = calls.KINDS[original["item"]["type"]] if original else calls.FUNCTION
    answer = results.get(call.id)
    if answer and kept([answer], NAME):
        return kind
    return calls.fitting(kind, answer, lambda part: part.output)


def _item(part: Part, kinds: dict[str, calls.Kind], thinks: bool) -> Item | None:
    if isinstance(part, Opaque):
        return wire.decode(part.data, dict[str, Any]) if part.owner == NAME else None
    original = kept([part], NAME)
    if isinstance(part, ToolResult):
        return original or _output(part, kinds.get(part.call, calls.FUNCTION))
    item: Item | None = original["item"] if original else None
    if isinstance(part, ToolCall) and (not item or item["type"] != kinds[part.id].type):
        return calls.item(part, kinds[part.id], {})
    if item and original and original["thinks"] and not thinks:
        return {name: value for name, value in item.items() if name != "id"}
    return item or _text(part)


def _output(part: ToolResult, kind: calls.Kind) -> Item | None:
    return calls.output(part, kind, lambda one: one.output, {})


def _text(part: Part) -> Item | None:
    text = getattr(part, "text", "")
    return {"role": "assistant", "content": text} if text and isinstance(part, Text) else None


def _fresh(block: Block) -> Item:
    role = block.role if block.entry and block.role != "tool" else "user"
    if all(isinstance(part, Text) for part in block.parts):
        return {"role": role, "content": Message(block.role, block.parts).text}
    return {"role": role, "content": [_content(part) for part in block.parts]}


def _content(part: Part) -> Item:
    if isinstance(part, Media) and part.type.startswith("image/"):
        return {"type": "input_image", "image_url": location(part), "detail": "auto"}
    if isinstance(part, Media):
        return {"type": "input_file", "filename": "document.pdf", "file_data": location(part)}
    return {"type": "input_text", "text": getattr(part, "text", "")}
