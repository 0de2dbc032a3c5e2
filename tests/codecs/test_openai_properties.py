"""What holds for both OpenAI formats, whatever the window and however the bytes arrive."""

import json
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from msgspec.structs import replace

from holdfast.codecs.openai_chat import ChatCodec
from holdfast.codecs.openai_responses import ResponsesCodec
from holdfast.codecs.openai_shared import Fields, without
from holdfast.model import wire
from holdfast.model.message import Opaque, Reasoning, Text
from holdfast.model.profile import Profile
from holdfast.model.reply import Reply
from holdfast.model.window import Options, Window
from holdfast.ports import Codec, Decoder
from tests.codecs.openai_windows import (
    PLAIN,
    THINKER,
    UNKNOWN,
    after,
    block,
    chat_messages,
    chunks,
    completion,
    items,
    options,
    response,
    stream,
    windows,
)

RESPONSES, CHAT = ResponsesCodec(), ChatCodec()
CODECS: list[Codec] = [
    RESPONSES,
    ResponsesCodec(ids=True),
    CHAT,
    ChatCodec("deepseek"),
]
profiles = st.sampled_from([THINKER, PLAIN, UNKNOWN])


def read(decoder: Decoder, *pieces: bytes) -> Reply:
    for piece in pieces:
        decoder.feed(piece)
    return decoder.close()


def cuts(data: bytes, places: list[int]) -> list[bytes]:
    edges = [0, *sorted(place % (len(data) + 1) for place in places), len(data)]
    return [data[start:stop] for start, stop in pairwise(edges)]


@pytest.mark.parametrize("codec", CODECS, ids=lambda codec: f"{codec.name}-{codec.provider}")
@given(windows(), profiles, options)
def test_every_repaired_window_becomes_a_request_without_a_violation(
    codec: Codec, window: Window, profile: Profile, options: Options
) -> None:
    request = codec.encode(window, profile, options)
    assert codec.violations(request, profile) == []
    assert wire.encode(request) == wire.encode(codec.encode(window, profile, options))


@pytest.mark.parametrize("codec", CODECS, ids=lambda codec: f"{codec.name}-{codec.provider}")
@given(windows(), profiles)
def test_what_is_added_leaves_what_was_sent_as_it_was(
    codec: Codec, window: Window, profile: Profile
) -> None:
    name = "input" if codec.name == "openai-responses" else "messages"
    later = replace(window, blocks=(*window.blocks, block("assistant", "yes"), block("user", "no")))
    before = codec.encode(window, profile, Options())[name]
    assert codec.encode(later, profile, Options())[name][: len(before)] == before


@pytest.mark.parametrize("codec", CODECS, ids=lambda codec: f"{codec.name}-{codec.provider}")
@given(windows(), profiles)
def test_nothing_sealed_by_another_is_sent(codec: Codec, window: Window, profile: Profile) -> None:
    foreign = [
        replace(b, parts=tuple(p for p in b.parts if not isinstance(p, Reasoning | Opaque)))
        for b in window.blocks
    ]
    stranger = ChatCodec("stranger") if codec.name == "openai-chat" else ResponsesCodec("stranger")
    bare = replace(window, blocks=tuple(b for b in foreign if b.parts))
    assert stranger.encode(window, profile, Options()) == stranger.encode(bare, profile, Options())


@given(items, st.lists(st.integers(0, 10**6), max_size=6))
def test_a_response_is_the_same_whole_streamed_and_in_any_pieces(
    output: list[Any], places: list[int]
) -> None:
    told = response(output)
    data = stream(told)
    whole = RESPONSES.decode(json.dumps(told).encode())
    assert read(RESPONSES.decoder(), data) == whole
    assert read(RESPONSES.decoder(), *cuts(data, places)) == whole


@given(chat_messages, st.lists(st.integers(0, 10**6), max_size=6))
def test_a_completion_is_the_same_whole_streamed_and_in_any_pieces(
    message: dict[str, Any], places: list[int]
) -> None:
    told = completion(message)
    data = chunks(told)
    whole = CHAT.decode(json.dumps(told).encode())
    assert read(CHAT.decoder(), data) == whole
    assert read(CHAT.decoder(), *cuts(data, places)) == whole


@given(items)
def test_a_decoded_response_is_sent_back_value_for_value(output: list[Any]) -> None:
    # An empty message says nothing, and reasoning needs what it led to; searches: see below.
    assume(output == followed(output) and all(item.get("content") != [] for item in output))
    reply = RESPONSES.decode(json.dumps(response(output)).encode())
    sent = ResponsesCodec(ids=True).encode(after(reply.message), PLAIN, Options())["input"]
    assert own(sent) == output


@given(items)
def test_without_storage_only_ids_are_left_out(output: list[Any]) -> None:
    reply = RESPONSES.decode(json.dumps(response(output)).encode())
    sent = RESPONSES.encode(after(reply.message), THINKER, Options())["input"]
    hosted = ("image_generation_call", "computer_call")
    named = [item if item["type"] in hosted else without(item, "id") for item in followed(output)]
    assert own(sent) == named


def own(sent: list[Fields]) -> list[Fields]:
    """The items that the model made."""
    return [
        item
        for item in sent
        if item.get("role", "assistant") == "assistant" and not item["type"].endswith("_output")
    ]


def followed(output: list[Fields]) -> list[Fields]:
    """The items less reasoning that led to nothing; tool searches are not answered natively."""
    kept = list(output)
    while kept and kept[-1]["type"] == "reasoning":
        kept.pop()
    return [as_function(item) if item["type"] == "tool_search_call" else item for item in kept]


def as_function(item: Fields) -> Fields:
    """What a native call becomes when nobody gave it a native answer."""
    return {
        "type": "function_call",
        "call_id": item["call_id"],
        "name": "tool_search",
        "arguments": wire.encode(item["arguments"]).decode(),
    }


@given(chat_messages)
def test_a_decoded_completion_is_sent_back_value_for_value(message: dict[str, Any]) -> None:
    codec = ChatCodec("openrouter")
    reply = codec.decode(json.dumps(completion(message)).encode())
    sent = codec.encode(after(reply.message), UNKNOWN, Options())["messages"]
    assume(message["content"] or message.get("tool_calls"))
    spoken = "\n\n".join(filter(None, [message["content"], message.get("refusal")]))
    assert sent[1] == without(message, "refusal") | {"content": spoken}


@given(items, st.integers(0, 10**6))
def test_a_response_cut_anywhere_keeps_what_was_told(output: list[Any], place: int) -> None:
    told = response(output)
    data = stream(told)
    cut = data[: place % len(data)]
    assume(not cut.endswith(b"\n\n") or b"response.completed" not in cut)
    reply = read(RESPONSES.decoder(), cut)
    whole = RESPONSES.decode(json.dumps(told).encode())
    assert reply.stop == "aborted"
    sealed = [part for part in reply.message.parts if getattr(part, "seal", None)]
    assert all(part in whole.message.parts for part in sealed)
    assert "".join(texts(reply)) == "".join(texts(whole))[: len("".join(texts(reply)))]


@given(chat_messages, st.integers(0, 10**6))
def test_a_completion_cut_anywhere_keeps_what_was_told(message: dict[str, Any], place: int) -> None:
    data = chunks(completion(message))
    cut = data[: place % len(data)]
    assume(b'"finish_reason": "stop"' not in cut)
    reply = read(CHAT.decoder(), cut)
    whole = CHAT.decode(json.dumps(completion(message)).encode())
    assert reply.stop == "aborted"
    assert not any(getattr(part, "seal", None) for part in reply.message.parts)
    assert "".join(texts(whole)).startswith("".join(texts(reply)))


def texts(reply: Reply) -> list[str]:
    return [part.text for part in reply.message.parts if isinstance(part, Text)]


HOSTILE = [
    b"",
    b"null",
    b"[]",
    b"{",
    b'"\xff"',
    b'{"choices": 1, "output": 1, "usage": "x", "error": null}',
    b'{"output": [1, {}, {"type": 3}, {"type": "message", "content": 5}, {"type": "reasoning"}]}',
    b'{"choices": [{"message": {"content": 3, "tool_calls": [{}, {"function": 1}], "x": {}}}]}',
    b'{"output": ' + b"[" * 100_000,
    b'{"output": [{"type": "x", "a": ' + b"[" * 900 + b"]" * 900 + b"}]}",
    b'{"status": "completed", "output": [], "usage": {"input_tokens": -5, "output_tokens": true}}',
]


@pytest.mark.parametrize("body", HOSTILE)
@pytest.mark.parametrize("codec", [RESPONSES, CHAT], ids=lambda codec: codec.name)
def test_hostile_bytes_are_a_reply_all_the_same(codec: Codec, body: bytes) -> None:
    assert isinstance(codec.decode(body), Reply)
    framed = b"data: " + body + b"\n\n"
    assert isinstance(read(codec.decoder(), framed, framed), Reply)


@pytest.mark.parametrize("codec", [RESPONSES, CHAT], ids=lambda codec: codec.name)
@given(st.binary(max_size=200), st.lists(st.integers(0, 300), max_size=3))
def test_any_bytes_are_a_reply(codec: Codec, noise: bytes, places: list[int]) -> None:
    assert isinstance(codec.decode(noise), Reply)
    assert read(codec.decoder(), *cuts(noise, places)) == read(codec.decoder(), noise)


NAMES = [
    *("type", "item", "response", "output_index", "delta", "choices", "tool_calls", "function"),
    *("index", "id", "name", "content", "arguments", "call_id", "output", "usage", "error"),
    *("message", "summary"),
]
EVENTS = [
    *("response.output_item.added", "response.output_item.done", "response.output_text.delta"),
    *("response.function_call_arguments.delta", "response.completed", "error", "message"),
]
JSON = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(-5, 5), st.sampled_from(["", "a", "message"])),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(
            st.sampled_from(NAMES),
            inner,
            max_size=4,
        ),
    ),
    max_leaves=20,
)


@pytest.mark.parametrize("codec", [RESPONSES, CHAT], ids=lambda codec: codec.name)
@given(
    st.lists(
        st.tuples(
            st.sampled_from(EVENTS),
            JSON,
        ),
        max_size=5,
    )
)
def test_events_of_any_shape_are_read(codec: Codec, told: list[tuple[str, Any]]) -> None:
    events = [value | {"type": name} if isinstance(value, dict) else value for name, value in told]
    data = b"".join(f"data: {json.dumps(event)}\n\n".encode() for event in events)
    reply = read(codec.decoder(), data)
    request = codec.encode(after(reply.message), UNKNOWN, Options())
    assert codec.violations(request, UNKNOWN) == []
