"""Every kind of call that the client answers: from item to part and back, with its output item.

Rule 1: a call and its output are of one kind. Where the answer does not fit the native output (no
        screenshot, no list of tools), both go as a function call, which takes any text.
Rule 2: `arguments` of a function are JSON text; `input` of a custom tool is free text.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from holdfast.codecs.openai_shared import (
    Fields,
    arguments,
    fields,
    location,
    sealed,
    string,
    without,
)
from holdfast.model import wire
from holdfast.model.message import ToolCall, ToolResult

Content = Callable[[ToolResult], str | list[Fields]]


class Kind(msgspec.Struct, frozen=True):
    """One kind of call: where its input stands, what it is called, and what answers it."""

    type: str
    input: str
    output: str
    name: str = ""
    """The tool's name, where the item does not say it."""


KINDS: dict[str, Kind] = {
    kind.type: kind
    for kind in (
        Kind("function_call", "arguments", "function_call_output"),
        Kind("custom_tool_call", "input", "custom_tool_call_output"),
        Kind("local_shell_call", "action", "local_shell_call_output", "local_shell"),
        Kind("shell_call", "action", "shell_call_output", "shell"),
        Kind("apply_patch_call", "operation", "apply_patch_call_output", "apply_patch"),
        Kind("computer_call", "action", "computer_call_output", "computer"),
        Kind("tool_search_call", "arguments", "tool_search_output", "tool_search"),
    )
}
FUNCTION, CUSTOM = KINDS["function_call"], KINDS["custom_tool_call"]
UNNAMED = "unnamed"
OUTPUTS = frozenset(kind.output for kind in KINDS.values())


def asks(item: Fields) -> str:
    """The id of the call that an item makes and the client answers; empty for any other item."""
    type = item.get("type")
    if not isinstance(type, str) or type not in KINDS or item.get("execution") == "server":
        return ""
    return string(item.get("call_id"))


def answers(item: Fields) -> str:
    """The id of the call that an output item answers; empty where it is no output."""
    type = item.get("type")
    if not isinstance(type, str) or type not in OUTPUTS:
        return ""
    return string(item.get("call_id")) or (
        # A local shell's output names its call by `id` (the SDK's LocalShellCallOutput).
        string(item.get("id")) if type == "local_shell_call_output" else ""
    )


def call(item: Fields, owner: str, model: str) -> ToolCall | None:
    """The call that an item is; None where the client is not asked.

    A call that came without a name or an input is a call all the same: unanswered it would be
    refused in every later request.
    """
    kind, id = KINDS.get(string(item.get("type"))), asks(item)
    if kind is None or not id:
        return None
    name, given = kind.name or string(item.get("name")) or UNNAMED, item.get(kind.input)
    named = () if kind.name else ("name",)
    extras = without(item, "call_id", kind.input, *named, *(("type",) if kind is FUNCTION else ()))
    text = _json(given) if kind.name or not isinstance(given, str | None) else given or ""
    return ToolCall(id, name, text, sealed(owner, extras, model))


def _json(value: object) -> str:
    return wire.encode(value).decode("utf-8", "surrogatepass")


def kind_of(part: ToolCall, extras: Fields, custom: frozenset[str]) -> Kind:
    """What kind of call a part was made as; a foreign one is custom where its tool is."""
    if found := KINDS.get(string(extras.get("type"))):
        return found
    return CUSTOM if part.name in custom else FUNCTION


def item(part: ToolCall, kind: Kind, extras: Fields) -> Fields:
    """The call as an item."""
    made: Fields = {"type": kind.type, "call_id": part.id}
    if kind.name:
        made[kind.input] = _value(part.input)
    else:
        made["name"] = part.name
        made[kind.input] = arguments(part.input) if kind is FUNCTION else part.input
    return made | without(extras, "type", "chat") if extras else made


def _value(text: str) -> Any:
    try:
        return wire.decode(text.encode("utf-8", "surrogatepass"), object)
    except (msgspec.DecodeError, ValueError, RecursionError):
        return {}


def output(part: ToolResult, kind: Kind, content: Content, extras: Fields) -> Fields | None:
    """The answer as an item of the call's kind; None where it does not fit that kind."""
    body = _BODIES[kind.type](part, content)
    if body is None:
        return None
    named = "id" if kind.type == "local_shell_call" else "call_id"
    made: Fields = {"type": kind.output, named: part.call, **body}
    return made | without(extras, "type", "chat", *made) if extras else made


def fitting(kind: Kind, answer: ToolResult | None, content: Content) -> Kind:
    """The kind that a call of this kind and its answer can both go as."""
    if answer is None or kind in (FUNCTION, CUSTOM) or output(answer, kind, content, {}):
        return kind
    return FUNCTION


def _content(part: ToolResult, content: Content) -> Fields:
    return {"output": content(part)}


def _text(part: ToolResult, content: Content) -> Fields:
    return {"output": part.output}


def _shell(part: ToolResult, content: Content) -> Fields:
    outcome = {"type": "exit", "exit_code": 1 if part.error else 0}
    return {"output": [{"stdout": part.output, "stderr": "", "outcome": outcome}]}


def _patch(part: ToolResult, content: Content) -> Fields:
    return {"status": "failed" if part.error else "completed", "output": part.output}


def _screen(part: ToolResult, content: Content) -> Fields | None:
    shots = [location(media) for media in part.media if media.type.startswith("image/")]
    if not shots or not shots[-1]:
        return None
    return {"output": {"type": "computer_screenshot", "image_url": shots[-1]}}


def _tools(part: ToolResult, content: Content) -> Fields | None:
    value = _value(part.output)
    tools = fields(value).get("tools", value)
    if not isinstance(tools, list):
        return None
    return {"status": "completed", "execution": "client", "tools": tools}


_BODIES: dict[str, Callable[[ToolResult, Content], Fields | None]] = {
    "function_call": _content,
    "custom_tool_call": _content,
    "local_shell_call": _text,
    "shell_call": _shell,
    "apply_patch_call": _patch,
    "computer_call": _screen,
    "tool_search_call": _tools,
}
