"""Laws of the Anthropic codec over generated windows of parts from any provider."""

import copy
import json
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.codecs.anthropic import Anthropic
from holdfast.codecs.anthropic.encode import CONTINUE
from holdfast.model.message import Message, Text, ToolResult
from holdfast.model.profile import Profile
from holdfast.model.window import Block, Options, Window
from tests.codecs.anthropic_windows import (
    DATED,
    FOREIGN,
    OPTIONS,
    TOOLS,
    block,
    histories,
    window,
    windows,
)

CODEC = Anthropic()
PROFILES = st.sampled_from(
    [Profile(name="claude-test"), Profile(name="old", abilities=frozenset({"prefill", "images"}))]
)


@given(windows(), PROFILES, OPTIONS)
def test_every_request_keeps_every_rule(window: Window, profile: Profile, options: Options) -> None:
    request = CODEC.encode(window, profile, options)
    assert CODEC.violations(request, profile) == []


@pytest.mark.long
@settings(max_examples=10_000)
@given(windows(), PROFILES, OPTIONS)
def test_every_request_of_ten_thousand_windows_keeps_every_rule(
    window: Window, profile: Profile, options: Options
) -> None:
    request = CODEC.encode(window, profile, options)
    assert CODEC.violations(request, profile) == []
    assert FOREIGN not in json.dumps(request)


@given(windows(), PROFILES, OPTIONS)
def test_nothing_of_another_provider_or_model_is_echoed(
    window: Window, profile: Profile, options: Options
) -> None:
    request = CODEC.encode(window, profile, options)
    assert FOREIGN not in json.dumps(request)


@given(windows(), PROFILES, OPTIONS)
def test_the_same_window_gives_the_same_bytes(
    window: Window, profile: Profile, options: Options
) -> None:
    before = copy.deepcopy((window, options))
    first = msgspec.json.encode(CODEC.encode(window, profile, options))
    assert msgspec.json.encode(CODEC.encode(window, profile, options)) == first
    assert (window, options) == before


def flat(request: dict[str, Any]) -> list[tuple[str, Any]]:
    """Role and block, in order, breakpoints left out, and what stands in for the user at an end."""
    found = [("system", each) for each in request.get("system", [])]
    found += [
        (message["role"], each) for message in request["messages"] for each in message["content"]
    ]
    if found[-1] == ("user", {"type": "text", "text": CONTINUE}):
        found.pop()
    return [
        (role, {key: each[key] for key in each if key != "cache_control"}) for role, each in found
    ]


@given(histories(), st.data())
def test_what_is_appended_never_changes_what_was_sent(
    stretches: list[list[Block]], data: st.DataObject
) -> None:
    end = data.draw(st.integers(2, len(stretches)))
    earlier = [each for stretch in stretches[:end] for each in stretch]
    later = [each for stretch in stretches for each in stretch]
    options, profile = Options(), Profile(name="claude-test")
    old = flat(CODEC.encode(window(*earlier, tools=TOOLS), profile, options))
    new = flat(CODEC.encode(window(*later, tools=TOOLS), profile, options))
    # A paused call that was never answered leaves once the conversation goes on without it.
    old = [each for each in old if each[1]["type"] != "server_tool_use" or each in new]
    assert new[: len(old)] == old


NAME = st.text("abc_", min_size=1, max_size=4)
VALUE = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"]), max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAME, inner, max_size=3),
    max_leaves=6,
)  # fmt: skip
EXTRA = st.dictionaries(NAME.map("x_".__add__), VALUE, max_size=2)
SPOKEN = st.text(st.characters(exclude_categories=["Cs"])).filter(str.strip)


@st.composite
def contents(draw: st.DrawFn) -> list[dict[str, Any]]:
    """The content of a reply: blocks that are known with fields that are not, and unknown ones."""
    known = [
        st.builds(lambda text, more: {"type": "text", "text": text, **more}, SPOKEN, EXTRA),
        st.builds(
            lambda text, more: {"type": "thinking", "thinking": text, "signature": "c2ln", **more},
            st.text(st.characters(exclude_categories=["Cs"])),
            EXTRA,
        ),
        st.builds(
            lambda input, more: {"type": "tool_use", "name": "read", "input": input, **more},
            st.dictionaries(NAME, VALUE, max_size=3),
            EXTRA,
        ),
        st.builds(lambda type, more: {"type": f"new_{type}", **more}, NAME, EXTRA),
    ]
    found = draw(st.lists(st.one_of(known), min_size=1, max_size=5))
    for place, each in enumerate(found):
        if each["type"] == "tool_use":
            each["id"] = f"toolu_{place}"
    return found


def answered(message: Message) -> Window:
    results = [ToolResult(call.id, "done") for call in message.calls]
    last = block("tool", *results) if results else block("user", Text("and then?"))
    return window(block("user", Text("go")), block("assistant", *message.parts), last)


@given(contents())
def test_a_reply_comes_back_value_for_value(content: list[dict[str, Any]]) -> None:
    whole = {"model": DATED, "content": content, "stop_reason": "end_turn"}
    reply = CODEC.decode(msgspec.json.encode(whole))
    request = CODEC.encode(answered(reply.message), Profile(name="claude-test"), Options())
    assert request["messages"][1] == {"role": "assistant", "content": content}


@given(contents(), st.data())
def test_a_reply_streamed_in_pieces_is_the_reply_of_its_body(
    content: list[dict[str, Any]], data: st.DataObject
) -> None:
    whole = {"id": "msg_1", "model": DATED, "content": content, "stop_reason": "end_turn"}
    sent = b"".join(b"data: " + msgspec.json.encode(event) + b"\n\n" for event in streamed(whole))
    cut = data.draw(st.integers(0, len(sent)))
    decoder = CODEC.decoder()
    decoder.feed(sent[:cut])
    decoder.feed(sent[cut:])
    assert decoder.close() == CODEC.decode(msgspec.json.encode(whole))


def streamed(whole: dict[str, Any]) -> list[dict[str, Any]]:
    events: list[dict[str, Any]] = [{"type": "message_start", "message": {**whole, "content": []}}]
    for index, each in enumerate(whole["content"]):
        start, deltas = pieces(each)
        events.append({"type": "content_block_start", "index": index, "content_block": start})
        events += [
            {"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas
        ]
        events.append({"type": "content_block_stop", "index": index})
    delta = {"stop_reason": whole["stop_reason"]}
    return [*events, {"type": "message_delta", "delta": delta}, {"type": "message_stop"}]


def pieces(each: dict[str, Any]) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    if each["type"] == "text":
        half = len(each["text"]) // 2
        halves = (each["text"][:half], each["text"][half:])
        return {**each, "text": ""}, [{"type": "text_delta", "text": text} for text in halves]
    if each["type"] == "thinking":
        said = {"type": "thinking_delta", "thinking": each["thinking"]}
        signed = {"type": "signature_delta", "signature": each["signature"]}
        return {**each, "thinking": "", "signature": ""}, [said, signed]
    if each["type"] == "tool_use":
        written = msgspec.json.encode(each["input"]).decode()
        halves = (written[: len(written) // 2], written[len(written) // 2 :])
        return {**each, "input": {}}, [
            {"type": "input_json_delta", "partial_json": half} for half in halves
        ]
    return each, []
