"""The rules of the format, one function each: what the provider would answer 400 to.

A rule reads a request as it would be sent, whoever made it, and never raises.
"""

from __future__ import annotations

import re
from base64 import b64decode
from binascii import Error
from collections import Counter
from typing import Any, cast

import msgspec

from holdfast.codecs.anthropic import pairs
from holdfast.codecs.anthropic.settings import LEAST_THINKING, turn_without_thinking
from holdfast.codecs.anthropic.walk import Broken, Reading, Rule, Said, Wire, blocks, objects, rule
from holdfast.model.image_header import dimensions
from holdfast.model.profile import Profile
from holdfast.model.window import Violation

MOST_BREAKPOINTS = 4

# The limit of one image is on its base64 text, not on its bytes, whatever the guide's wording: the
# number in the provider's error is the length of the text. The limit on pixels is one of the
# request: one picture more can make an earlier one illegal.
IMAGE_BYTES = 5 * 1024 * 1024
LONGEST_SIDE = 8_000
LONGEST_SIDE_OF_MANY = 2_000
MANY = 20
REQUEST_BYTES = 32 * 1024 * 1024

HEADER = 256 * 1024
"""How much of an image's base64 is read for its size; a multiple of four."""

_ID = re.compile(r"[a-zA-Z0-9_-]+")


def violations(request: Wire, profile: Profile) -> list[Violation]:
    """Every rule that a request breaks, in order."""
    reading = Reading(request)
    return [violation for one in RULES for violation in one(reading, profile)]


@rule("A1")
def a1_every_call_is_answered(reading: Reading, profile: Profile) -> Broken:
    """Each tool_use has its tool_result in the next message."""
    said = reading.said
    for place, message in enumerate(said):
        if message.role != "assistant":
            continue
        following = said[place + 1] if place + 1 < len(said) else None
        answered = _answered(following) if following and following.role == "user" else set[str]()
        missing = [id for id in _calls(message) if id not in answered]
        if missing:
            yield (
                f"messages.{place}",
                f"messages.{place}: `tool_use` ids were found without `tool_result` blocks "
                f"immediately after: {', '.join(missing)}. Each `tool_use` block must have a "
                "corresponding `tool_result` block in the next message.",
            )


@rule("A2")
def a2_every_result_has_its_call(reading: Reading, profile: Profile) -> Broken:
    """Each tool_result answers a tool_use of the message before it."""
    said = reading.said
    for place, message in enumerate(said):
        before = said[place - 1] if place else None
        calls = set(_calls(before)) if before and before.role == "assistant" else set[str]()
        for ordinal, block in enumerate(message.content):
            if block.get("type") == "tool_result" and str(block.get("tool_use_id")) not in calls:
                yield (
                    f"messages.{place}.content.{ordinal}",
                    f"messages.{place}.content.{ordinal}: unexpected `tool_use_id` found in "
                    f"`tool_result` blocks: {block.get('tool_use_id')}. Each `tool_result` block "
                    "must have a corresponding `tool_use` block in the previous message.",
                )


@rule("A3")
def a3_results_come_first(reading: Reading, profile: Profile) -> Broken:
    """In a message with results of tools, nothing stands before them."""
    for place, message in enumerate(reading.said):
        types = [block.get("type") for block in message.content]
        count = types.count("tool_result")
        if message.role == "user" and any(type != "tool_result" for type in types[:count]):
            yield (
                f"messages.{place}",
                f"messages.{place}: `tool_result` blocks must come first in the content array; any "
                "text must come after all tool results.",
            )


@rule("A4")
def a4_server_tools_keep_their_results(reading: Reading, profile: Profile) -> Broken:
    """A tool that the provider ran has its call and its result in the conversation, or neither."""
    said = reading.said
    for place, ordinal in pairs.unpaired([(one.role, one.content) for one in said]):
        block = said[place].content[ordinal]
        where = f"messages.{place}.content.{ordinal}"
        if pairs.is_result(block):
            id, kind = block.get("tool_use_id"), str(block.get("type"))
            yield where, f"{where}: unexpected `tool_use_id` found in `{kind}` blocks: {id}."
        else:
            name, id = block.get("name"), block.get("id")
            kind = "mcp" if block.get("type") == "mcp_tool_use" else name
            yield (
                where,
                f"{where}: `{name}` tool use with id `{id}` was found without a corresponding "
                f"`{kind}_tool_result` block",
            )


@rule("A5")
def a5_ids_are_unique(reading: Reading, profile: Profile) -> Broken:
    """Ids of calls are not empty, of plain signs, and each is used once."""
    seen: Counter[str] = Counter()
    for place, message in enumerate(reading.said):
        for ordinal, block in enumerate(message.content):
            if block.get("type") not in ("tool_use", *pairs.CALLS):
                continue
            id, where = block.get("id"), f"messages.{place}.content.{ordinal}"
            if not isinstance(id, str) or not _ID.fullmatch(id):
                kind = block["type"]
                yield where, f"{where}.{kind}.id: String should match pattern '^[a-zA-Z0-9_-]+$'"
            elif seen[id]:
                yield where, f"{where}: `tool_use` ids must be unique"
            seen[str(id)] += 1


@rule("A6")
def a6_a_tool_cycle_keeps_its_thinking(reading: Reading, profile: Profile) -> Broken:
    """With thinking switched on, the turn that the tools belong to starts with its thinking."""
    if _thinking(reading.request).get("type") != "enabled":
        return
    place = turn_without_thinking(objects(reading.request.get("messages")))
    if place is None:
        return
    found = next((block.get("type") for block in reading.said[place].content), "nothing")
    yield (
        f"messages.{place}.content.0",
        f"messages.{place}.content.0.type: Expected `thinking` or `redacted_thinking`, but found "
        f"`{found}`. When `thinking` is enabled, a final `assistant` message must start with a "
        "thinking block (preceding the lastmost set of `tool_use` and `tool_result` blocks).",
    )


@rule("A7")
def a7_thinking_is_signed(reading: Reading, profile: Profile) -> Broken:
    """A thought is whole: its text and its signature, or its encrypted data."""
    for place, message in enumerate(reading.said):
        for ordinal, block in enumerate(message.content):
            where = f"messages.{place}.content.{ordinal}"
            if block.get("type") == "thinking" and not (
                _filled(block.get("signature")) and isinstance(block.get("thinking"), str)
            ):
                yield where, f"{where}: Invalid `signature` in `thinking` block"
            if block.get("type") == "redacted_thinking" and not _filled(block.get("data")):
                yield where, f"{where}: Invalid `data` in `redacted_thinking` block"


@rule("A8")
def a8_texts_say_something(reading: Reading, profile: Profile) -> Broken:
    """No text is empty or white space, no message is empty, no failure of a tool is silent."""
    for where, text in reading.texts:
        if not text:
            yield where, f"{where}: text content blocks must be non-empty"
        elif not text.strip():
            yield where, f"{where}: text content blocks must contain non-whitespace text"
    said = reading.said
    for place, message in enumerate(said):
        last = place + 1 == len(said) and message.role == "assistant"
        if not message.content and not last and not message.directive:
            yield (
                f"messages.{place}",
                f"messages.{place}: all messages must have non-empty content except for the "
                "optional final assistant message",
            )
        for ordinal, block in enumerate(message.content):
            if block.get("is_error") is True and not block.get("content"):
                where = f"messages.{place}.content.{ordinal}"
                yield where, f"{where}.tool_result: content cannot be empty if `is_error` is true"


@rule("A9")
def a9_the_user_has_the_last_word(reading: Reading, profile: Profile) -> Broken:
    """The last message is the user's, unless the model takes a prefill or was only paused."""
    said = reading.said
    if not said or said[-1].role != "assistant" or profile.can("prefill"):
        return
    if not pairs.paused(said[-1].content):
        yield (
            f"messages.{len(said) - 1}",
            "This model does not support assistant message prefill. The conversation must end with "
            "a user message.",
        )


@rule("A10")
def a10_at_most_four_breakpoints(reading: Reading, profile: Profile) -> Broken:
    """Tools, system prompt and messages together have at most four cache breakpoints."""
    count = len(reading.marked) + (reading.request.get("cache_control") is not None)
    if count > MOST_BREAKPOINTS:
        yield (
            "cache_control",
            f"A maximum of {MOST_BREAKPOINTS} blocks with cache_control may be provided. "
            f"Found {count}.",
        )


@rule("A11")
def a11_breakpoints_are_legal(reading: Reading, profile: Profile) -> Broken:
    """The longer-lived breakpoints come first; none is on thinking or on an empty text."""
    short = False
    for where, block in reading.marked:
        control = cast(dict[str, Any], block["cache_control"])
        long = isinstance(block["cache_control"], dict) and control.get("ttl") == "1h"
        if long and short:
            yield (
                where,
                f"{where}.cache_control.ttl: a ttl='1h' cache_control block must not come after a "
                "ttl='5m' cache_control block. Note that blocks are processed in the following "
                "order: `tools`, `system`, `messages`.",
            )
        short = short or not long
        if block.get("type") in ("thinking", "redacted_thinking"):
            yield where, f"{where}.{block['type']}.cache_control: Extra inputs are not permitted"
        if block.get("type") == "text" and block.get("text") == "":
            yield where, f"{where}: cache_control cannot be set for empty text blocks"


@rule("A13")
def a13_roles_and_thinking_fit(reading: Reading, profile: Profile) -> Broken:
    """The first message is the user's, system text stands outside, a thinking budget fits."""
    said = reading.said
    if not said:
        yield "messages", "messages: at least one message is required"
    if said and said[0].role == "assistant" and not _compacted(said[0]):
        yield "messages.0", 'messages: first message must use the "user" role'
    for place, message in enumerate(said):
        if message.role == "system" and profile.can("system_messages"):
            yield from _system(said, place)
        elif message.role not in ("user", "assistant"):
            yield (
                f"messages.{place}",
                f'messages: Unexpected role "{message.role}". The Messages API accepts a top-level '
                '`system` parameter, not "system" as an input message role.',
            )
    yield from _budget(reading.request)


def _system(said: list[Said], place: int) -> Broken:
    """Where a model takes system text inside a conversation: between a user and an assistant."""
    where = f"messages.{place}"
    if said[place].directive:
        return
    before = said[place - 1] if place else Said("", [])
    if before.role != "user" and not _served(before):
        yield (
            where,
            f"{where}: role 'system' must follow a 'user' message or an 'assistant' message ending "
            "in a server tool result",
        )
    if place + 1 < len(said) and said[place + 1].role != "assistant":
        yield (
            where,
            f"{where}: role 'system' must precede an 'assistant' message or end the array",
        )


def _served(message: Said) -> bool:
    """Whether an answer ends with what a tool of the provider found."""
    return (
        message.role == "assistant"
        and bool(message.content)
        and pairs.is_result(message.content[-1])
    )


def _budget(request: Wire) -> Broken:
    longest, thinking = request.get("max_tokens"), _thinking(request)
    if type(longest) is not int or longest < 1:
        yield "max_tokens", "max_tokens: Input should be greater than or equal to 1"
        return
    if thinking.get("type") != "enabled":
        return
    budget, where = thinking.get("budget_tokens"), "thinking.enabled.budget_tokens"
    if type(budget) is not int or budget < LEAST_THINKING:
        yield where, f"{where}: Input should be greater than or equal to {LEAST_THINKING}"
    elif budget >= longest and not _interleaved(request):
        yield "max_tokens", "`max_tokens` must be greater than `thinking.budget_tokens`"
    choice = request.get("tool_choice")
    forced = cast(Wire, choice).get("type") if isinstance(choice, dict) else None
    if forced in ("any", "tool"):
        yield "tool_choice", "Thinking may not be enabled when tool_choice forces tool use."


def _interleaved(request: Wire) -> bool:
    return any("interleaved-thinking" in str(beta) for beta in request.get("betas") or ())


def _thinking(request: Wire) -> Wire:
    found = request.get("thinking")
    return cast(Wire, found) if isinstance(found, dict) else {}


def _compacted(message: Said) -> bool:
    return bool(message.content) and message.content[0].get("type") == "compaction"


def _calls(message: Said) -> list[str]:
    return [str(one.get("id")) for one in blocks(message, "tool_use")]


def _answered(message: Said) -> set[str]:
    return {str(one.get("tool_use_id")) for one in blocks(message, "tool_result")}


def _filled(found: Any) -> bool:
    return isinstance(found, str) and bool(found)


@rule("A12")
def a12_images_and_request_within_limits(reading: Reading, profile: Profile) -> Broken:
    """Each image at most 5 MB and 8000 pixels, 2000 where there are many; the request 32 MB."""
    found = reading.images
    if profile.most_images and len(found) > profile.most_images:
        yield "messages", f"Too many images in request: {len(found)} > {profile.most_images}"
    for where, source in found:
        yield from _image(where, source, many=len(found) > MANY)
    limit = profile.request_bytes or REQUEST_BYTES
    if (taken := size(reading.request)) > limit:
        yield "", f"Request exceeds the maximum size: {taken} bytes > {limit} bytes"


def _image(where: str, source: Wire, *, many: bool) -> Broken:
    data = source.get("data")
    if source.get("type") != "base64" or not isinstance(data, str):
        return
    at = f"{where}.image.source.base64"
    if len(data) > IMAGE_BYTES:
        yield where, f"{at}: image exceeds 5 MB maximum: {len(data)} bytes > {IMAGE_BYTES} bytes"
    longest = max(_measured(data) or (0, 0))
    most = "At least one of the image dimensions exceed max allowed size"
    if longest > LONGEST_SIDE:
        yield where, f"{at}.data: {most}: {LONGEST_SIDE} pixels"
    elif many and longest > LONGEST_SIDE_OF_MANY:
        yield where, f"{at}.data: {most} for many-image requests: {LONGEST_SIDE_OF_MANY} pixels"


def _measured(data: str) -> tuple[int, int] | None:
    try:
        return dimensions(b64decode(data[:HEADER]))
    except (Error, ValueError):
        return None


def size(request: Wire) -> int:
    """How many bytes the body of a request takes."""
    body = {key: member for key, member in request.items() if key != "betas"}
    try:
        return len(msgspec.json.encode(body))
    except (UnicodeEncodeError, TypeError, RecursionError):
        return 0  # it cannot be written at all, which is no matter of size


RULES: tuple[Rule, ...] = (
    a1_every_call_is_answered,
    a2_every_result_has_its_call,
    a3_results_come_first,
    a4_server_tools_keep_their_results,
    a5_ids_are_unique,
    a6_a_tool_cycle_keeps_its_thinking,
    a7_thinking_is_signed,
    a8_texts_say_something,
    a9_the_user_has_the_last_word,
    a10_at_most_four_breakpoints,
    a11_breakpoints_are_legal,
    a12_images_and_request_within_limits,
    a13_roles_and_thinking_fit,
)
