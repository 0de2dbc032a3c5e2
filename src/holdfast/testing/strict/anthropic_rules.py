"""What Anthropic refuses in a Messages request, A1–A13, written from its answers alone.

This is a second reading of the same rules that `holdfast.codecs.anthropic` keeps: neither may call
the other, so that each can catch the other's mistakes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from holdfast.testing.strict.pixels import dimensions
from holdfast.testing.strict.refusal import Case, Refusal, Rule, dicts

Found = Iterator[str | Refusal]

PREFILL = re.compile(r"claude-(instant|[123]\b|3-|(opus|sonnet|haiku)-4(-[0145])?(-\d{8}|@.*|$))")
PLAIN = re.compile(r"[a-zA-Z0-9_-]+\Z")
LARGEST_IMAGE = 5 * 1024 * 1024
LARGEST_REQUEST = 32 * 1024 * 1024
MANY = 20


def contents(message: dict[str, Any]) -> list[dict[str, Any]]:
    """A message's blocks; plain text is one block."""
    content = message.get("content")
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return dicts(content)


def of_type(message: dict[str, Any], *types: str) -> list[dict[str, Any]]:
    return [block for block in contents(message) if block.get("type") in types]


def messages(case: Case) -> list[dict[str, Any]]:
    return dicts(case.body.get("messages"))


def directive(message: dict[str, Any]) -> bool:
    """Whether a system message says nothing and only sets how the next answer is made."""
    said, how = contents(message), message.get("output_config")
    return message.get("role") == "system" and not said and bool(how)


def called(message: dict[str, Any] | None) -> list[str]:
    if message is None or message.get("role") != "assistant":
        return []
    return [str(block.get("id", "")) for block in of_type(message, "tool_use")]


def a1(case: Case) -> Found:
    """A call is answered in the very next message."""
    said = messages(case)
    for index, message in enumerate(said):
        after = said[index + 1] if index + 1 < len(said) else {}
        results = of_type(after, "tool_result") if after.get("role") == "user" else []
        answered = {block.get("tool_use_id") for block in results}
        if lost := [id for id in called(message) if id not in answered]:
            yield (
                f"messages.{index}: `tool_use` ids were found without `tool_result` blocks "
                f"immediately after: {', '.join(lost)}. Each `tool_use` block must have a "
                "corresponding `tool_result` block in the next message."
            )


def a2(case: Case) -> Found:
    """A result answers a call of the message before it."""
    before: dict[str, Any] | None = None
    for index, message in enumerate(messages(case)):
        known = set(called(before))
        for place, block in enumerate(contents(message)):
            if block.get("type") == "tool_result" and block.get("tool_use_id") not in known:
                yield (
                    f"messages.{index}.content.{place}: unexpected `tool_use_id` found in "
                    f"`tool_result` blocks: {block.get('tool_use_id')}. Each `tool_result` block "
                    "must have a corresponding `tool_use` block in the previous message."
                )
        before = message


def a3(case: Case) -> Found:
    """Results come before anything else."""
    for index, message in enumerate(messages(case)):
        kinds = [block.get("type") == "tool_result" for block in contents(message)]
        if kinds != sorted(kinds, reverse=True):
            yield (
                f"messages.{index}: `tool_result` blocks must come first in the content array. "
                "Any text must come after all tool results."
            )


def a4(case: Case) -> Found:
    """What the provider's tools were asked has its result; only the last turn may still wait."""
    said = messages(case)
    spoken = [index for index, message in enumerate(said) if message.get("role") == "assistant"]
    results = {
        block.get("tool_use_id")
        for message in said
        for block in contents(message)
        if str(block.get("type", "")).endswith("_tool_result")
    }
    for index in spoken[:-1]:
        for block in of_type(said[index], "server_tool_use", "mcp_tool_use"):
            if block.get("id") not in results:
                name = block.get("name") if block["type"] == "server_tool_use" else "mcp"
                yield (
                    f"messages.{index}: `{name}` tool use with id `{block.get('id')}` was found "
                    f"without a corresponding `{name}_tool_result` block"
                )


def a5(case: Case) -> Found:
    """Ids are there, well formed and unique."""
    seen: set[str] = set()
    for index, message in enumerate(messages(case)):
        for place, block in enumerate(contents(message)):
            if block.get("type") not in ("tool_use", "server_tool_use", "mcp_tool_use"):
                continue
            id = str(block.get("id") or "")
            at = f"messages.{index}.content.{place}.{block['type']}.id"
            if not PLAIN.match(id):
                yield f"{at}: String should match pattern '^[a-zA-Z0-9_-]+$'"
            if id in seen:
                yield f"messages.{index}.content.{place}: `tool_use` ids must be unique"
            seen.add(id)


def a8(case: Case) -> Found:
    """Text says something."""
    said = messages(case)
    for index, message in enumerate(said):
        final = index == len(said) - 1 and message.get("role") == "assistant"
        if not contents(message) and not final and not directive(message):
            yield (
                f"messages.{index}: all messages must have non-empty content except for the "
                "optional final assistant message"
            )
        for block in contents(message):
            yield from _speaks("messages", block)
            for inner in dicts(block.get("content")):
                yield from _speaks("messages", inner)
    for block in dicts(case.body.get("system")):
        yield from _speaks("system", block)


def _speaks(where: str, block: dict[str, Any]) -> Found:
    if block.get("type") != "text":
        return
    text = str(block.get("text") or "")
    if not text:
        yield f"{where}: text content blocks must be non-empty"
    elif not text.strip():
        yield f"{where}: text content blocks must contain non-whitespace text"


def a9(case: Case) -> Found:
    """The user has the last word, where the model cannot go on with an answer begun for it.

    A turn that the provider paused, for its own tools or behind a compaction, is sent as it came.
    """
    said = messages(case)
    if not said or said[-1].get("role") != "assistant":
        return
    waiting = of_type(said[-1], "server_tool_use", "mcp_tool_use", "compaction")
    if not PREFILL.match(case.asked.model) and not waiting:
        yield (
            "This model does not support assistant message prefill. The conversation must end "
            "with a user message."
        )


def marks(case: Case) -> Iterator[tuple[str, dict[str, Any], dict[str, Any]]]:
    """Every `cache_control` in the order it is read: where, the block, and the mark."""
    groups: list[tuple[str, list[dict[str, Any]]]] = [
        ("tools", dicts(case.body.get("tools"))),
        ("system", dicts(case.body.get("system"))),
    ]
    groups += [(f"messages.{i}.content", contents(m)) for i, m in enumerate(messages(case))]
    for where, blocks in groups:
        for place, block in enumerate(blocks):
            for inner in [*dicts(block.get("content")), block]:
                if isinstance(mark := inner.get("cache_control"), dict):
                    yield f"{where}.{place}", inner, mark


def a10(case: Case) -> Found:
    """At most four breakpoints in all."""
    count = sum(1 for _ in marks(case)) + bool(case.body.get("cache_control"))
    if count > 4:
        yield f"A maximum of 4 blocks with cache_control may be provided. Found {count}."


def a11(case: Case) -> Found:
    """Long-lived breakpoints come before short-lived ones, and none sits on nothing."""
    short = False
    for where, block, mark in marks(case):
        if block.get("type") in ("thinking", "redacted_thinking"):
            yield f"{where}.{block['type']}.cache_control: Extra inputs are not permitted"
        if block.get("type") == "text" and not str(block.get("text", "")).strip():
            yield f"{where}.text: cache_control cannot be set for empty text blocks"
        if mark.get("ttl") == "1h" and short:
            yield (
                f"{where}.cache_control.ttl: a ttl='1h' cache_control block must not come after a "
                "ttl='5m' cache_control block. Note that blocks are processed in the following "
                "order: `tools`, `system`, `messages`."
            )
        short = short or mark.get("ttl", "5m") == "5m"


def a12(case: Case) -> Found:
    """Pictures and the request as a whole keep within their limits."""
    if case.size > LARGEST_REQUEST:
        yield Refusal(rule="A12", status=413, message="Request exceeds the maximum size")
    pictures = list(_pictures(case))
    widest = 2000 if len(pictures) > MANY else 8000
    kind = " for many-image requests" if len(pictures) > MANY else ""
    for where, data in pictures:
        if len(data) > LARGEST_IMAGE:
            yield (
                f"{where}: image exceeds 5 MB maximum: {len(data)} bytes > {LARGEST_IMAGE} bytes"
            )
        if max(dimensions(data) or (0,)) > widest:
            yield (
                f"{where}.data: At least one of the image dimensions exceed max allowed size"
                f"{kind}: {widest} pixels"
            )


def _pictures(case: Case) -> Iterator[tuple[str, str]]:
    for index, message in enumerate(messages(case)):
        for place, block in enumerate(contents(message)):
            inner = dicts(block.get("content"))
            for each in [block, *inner]:
                source = each.get("source")
                if each.get("type") == "image" and isinstance(source, dict):
                    where = f"messages.{index}.content.{place}.image.source.base64"
                    yield where, str(source.get("data") or "")


def a13(case: Case) -> Found:
    """The user begins, and the reply has room to think."""
    said = messages(case)
    if not said:
        yield "messages: at least one message is required"
        return
    if said[0].get("role") == "assistant" and not of_type(said[0], "compaction"):
        yield 'messages: first message must use the "user" role'
    if case.asked.endpoint == "create":
        yield from _room(case)


def _room(case: Case) -> Found:
    limit = case.body.get("max_tokens")
    if not isinstance(limit, int):
        yield "max_tokens: Field required"
        return
    if limit < 1:
        yield "max_tokens: Input should be greater than or equal to 1"
    thinking = case.body.get("thinking")
    if not isinstance(thinking, dict) or thinking.get("type") != "enabled":
        return
    budget = thinking.get("budget_tokens")
    if not isinstance(budget, int) or budget < 1024:
        yield ("thinking.enabled.budget_tokens: Input should be greater than or equal to 1024")
    elif limit <= budget:
        yield "`max_tokens` must be greater than `thinking.budget_tokens`."


def version(case: Case) -> Found:
    """What the version of October 2026 no longer takes."""
    if case.asked.headers.get("anthropic-version", "") < "2026-10-21":
        return
    for name in ("temperature", "top_p", "top_k"):
        if name in case.body:
            yield f"{name}: Extra inputs are not permitted"
    for index, message in enumerate(messages(case)):
        if message.get("role") == "assistant" and of_type(message, "document"):
            yield f"messages.{index}: `document` blocks are not permitted in assistant messages"


RULES: list[tuple[str, Rule]] = [
    ("A13", a13),
    ("A5", a5),
    ("A8", a8),
    ("A1", a1),
    ("A2", a2),
    ("A3", a3),
    ("A4", a4),
    ("A9", a9),
    ("A10", a10),
    ("A11", a11),
    ("A12", a12),
    ("version", version),
]
