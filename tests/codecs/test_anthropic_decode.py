"""Replies of Anthropic Messages: from a body, from a stream, from any split and any cut of it."""

from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.codecs.anthropic import Anthropic
from holdfast.model.message import Opaque, Reasoning, Seal, SummaryText, Text, ToolCall
from holdfast.model.reply import Delta, Edit, Reply, Usage

GOLDEN = Path(__file__).parents[1] / "golden" / "anthropic"
NAMES = ["plain", "tools", "server_tools", "compaction"]
MODEL = "claude-test-4-5-20260101"


def body(name: str) -> bytes:
    return (GOLDEN / f"{name}.json").read_bytes()


def stream(name: str) -> bytes:
    return (GOLDEN / f"{name}.sse").read_bytes()


def read(*pieces: bytes) -> Reply:
    decoder = Anthropic().decoder()
    for piece in pieces:
        decoder.feed(piece)
    return decoder.close()


def event(**members: Any) -> bytes:
    return b"data: " + msgspec.json.encode(members) + b"\n\n"


def residue(seal: Seal | None) -> Any:
    return None if seal is None else msgspec.json.decode(seal.data)


def test_thinking_calls_and_usage_are_read() -> None:
    reply = Anthropic().decode(body("tools"))
    thought, redacted, text, first, second = reply.message.parts
    assert isinstance(thought, Reasoning)
    assert isinstance(redacted, Opaque)
    assert isinstance(first, ToolCall)
    assert thought.text == "Two files matter here.\nRead both."
    assert residue(thought.seal) == {"signature": "c2lnbmF0dXJlLW9uZQ=="}
    assert thought.seal
    assert (thought.seal.owner, thought.seal.model) == ("anthropic", MODEL)
    assert redacted.type == "redacted_thinking"
    assert redacted.intact
    assert text == Text("Reading both files.")
    assert first.input == '{"path":"src/a.py","lines":[1,20.0]}'
    assert residue(first.seal) == {"caller": {"type": "direct"}}
    assert second == ToolCall("toolu_01b", "status", "{}")
    assert (reply.stop, reply.request, reply.model) == ("tools", "msg_02tools", MODEL)
    assert reply.usage == Usage(input=900, output=120, reasoning=80)


def test_the_cache_is_split_by_how_long_it_lives() -> None:
    usage = Usage(input=12, cache_read=4000, cache_write=300, cache_write_long=200, output=17)
    assert Anthropic().decode(body("plain")).usage == usage


def test_a_compaction_is_opaque_with_its_summary_beside_and_its_tokens_are_added() -> None:
    reply = Anthropic().decode(body("compaction"))
    block, summary, _ = reply.message.parts
    assert isinstance(block, Opaque)
    assert block.type == "compaction"
    assert summary == SummaryText("The user wants the tide table; two ports are done.")
    assert reply.usage == Usage(
        input=6000, cache_read=145000, cache_write=70, cache_write_long=70, output=925
    )
    assert sum(reply.iterations, Usage()) == reply.usage
    assert reply.edits == (
        Edit(type="clear_tool_uses_20250919", cleared_tokens=31000, cleared_tool_uses=7),
        Edit(type="clear_thinking_20251015", cleared_tokens=900, cleared_thinking_turns=2),
    )


def test_iterations_told_too_early_do_not_hide_what_came_after() -> None:
    told = {"input_tokens": 5, "output_tokens": 50, "iterations": [
        {"type": "compaction", "input_tokens": 100, "output_tokens": 9},
        {"type": "message", "input_tokens": 5, "output_tokens": 1},
    ]}  # fmt: skip
    reply = Anthropic().decode(msgspec.json.encode({"content": [], "usage": told}))
    assert reply.usage == Usage(input=105, output=59)


@pytest.mark.parametrize("name", NAMES)
def test_body_and_stream_give_the_same_reply(name: str) -> None:
    assert read(stream(name)) == Anthropic().decode(body(name))


@pytest.mark.parametrize("ending", [b"\r\n", b"\r"])
def test_lines_may_end_in_any_way(ending: bytes) -> None:
    assert read(stream("tools").replace(b"\n", ending), b"\n") == read(stream("tools"))


@given(st.sampled_from(NAMES), st.data())
def test_any_split_of_the_bytes_gives_the_same_reply(name: str, data: st.DataObject) -> None:
    whole = stream(name)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(whole)), max_size=8)))
    pieces = [whole[a:b] for a, b in zip([0, *cuts], [*cuts, len(whole)], strict=True)]
    assert read(*pieces) == Anthropic().decode(body(name))


def test_byte_by_byte_gives_the_same_deltas() -> None:
    at_once = Anthropic().decoder().feed(stream("tools"))
    decoder = Anthropic().decoder()
    singly = [delta for byte in stream("tools") for delta in decoder.feed(bytes([byte]))]
    assert singly == at_once
    assert at_once[:2] == [
        Delta(reasoning="Two files matter"),
        Delta(reasoning=" here.\nRead both."),
    ]
    assert "".join(delta.text for delta in at_once) == "Reading both files."
    assert [delta.tool for delta in at_once if delta.tool] == ["read", "status"]


@given(st.sampled_from(NAMES), st.data())
def test_a_stream_cut_anywhere_is_aborted_and_invents_nothing(
    name: str, data: st.DataObject
) -> None:
    whole = stream(name)
    end = data.draw(st.integers(0, len(whole) - 1))
    cut, full = read(whole[:end]), Anthropic().decode(body(name))
    assert cut.stop == "aborted"
    for part, complete in zip(cut.message.parts, full.message.parts, strict=False):
        assert type(part) is type(complete)
        if isinstance(part, Reasoning) and isinstance(complete, Reasoning):
            assert complete.text.startswith(part.text)
            assert part.seal in (None, complete.seal)
            assert part.seal is None or part.text == complete.text
        if isinstance(part, Text) and isinstance(complete, Text):
            assert complete.text.startswith(part.text)
        if isinstance(part, ToolCall) and isinstance(complete, ToolCall):
            assert complete.input.startswith(part.input)
        if isinstance(part, Opaque):
            assert part == complete
    assert cut.usage.input <= full.usage.input


def test_a_signature_without_the_end_of_its_block_is_not_kept() -> None:
    whole = stream("tools")
    end = whole.index(b"event: content_block_stop")
    (thought,) = read(whole[:end]).message.parts
    assert thought == Reasoning("Two files matter here.\nRead both.")


def test_a_call_cut_short_keeps_what_was_written() -> None:
    whole = stream("tools")
    reply = read(whole[: whole.index(b'a.py\\",')])
    assert reply.message.calls == (ToolCall("toolu_01a", "read", '{"path":"src/'),)
    assert reply.usage == Usage(input=900, output=3)


def test_an_error_in_the_stream_ends_it() -> None:
    whole = stream("plain")
    middle = whole.index(b"event: content_block_stop")
    error = event(type="error", error={"type": "overloaded_error", "message": "Overloaded"})
    reply = read(whole[:middle] + error + whole[middle:])
    assert (reply.stop, reply.error) == ("error", "overloaded_error: Overloaded")
    assert reply.message.text == "Grüße, 世界 🌍: the tide is out."


def test_an_error_body_is_a_reply_that_failed() -> None:
    reply = Anthropic().decode(body("error"))
    assert (reply.stop, reply.error) == ("error", "overloaded_error: Overloaded")


@pytest.mark.parametrize(
    ("reason", "stop"),
    [
        ("end_turn", "end"),
        ("stop_sequence", "end"),
        ("tool_use", "tools"),
        ("max_tokens", "length"),
        ("model_context_window_exceeded", "length"),
        ("pause_turn", "paused"),
        ("refusal", "refused"),
        ("compaction", "compaction"),
        ("a_reason_of_a_later_day", "end"),
        (None, "aborted"),
    ],
)
def test_why_it_stopped_has_a_name(reason: str | None, stop: str) -> None:
    told = msgspec.json.encode({"content": [], "stop_reason": reason})
    assert Anthropic().decode(told).stop == stop


def test_a_later_model_that_took_over_is_named_by_body_and_stream_alike() -> None:
    block = {"type": "fallback", "from": {"model": "claude-a"}, "to": {"model": "claude-b"}}
    text = {"type": "text", "text": "Yes.", "citations": None}
    whole = {"model": "claude-b", "content": [block, text], "stop_reason": "end_turn"}
    reply = read(
        event(type="message_start", message={"model": "claude-a"}),
        event(type="content_block_start", index=0, content_block=block),
        event(type="content_block_stop", index=0),
        event(type="content_block_start", index=1, content_block=text),
        event(type="content_block_stop", index=1),
        event(type="message_delta", delta={"stop_reason": "end_turn"}),
        event(type="message_stop"),
    )
    assert reply == Anthropic().decode(msgspec.json.encode(whole))
    assert reply.model == "claude-b"


def test_halves_of_a_character_in_two_pieces_are_one_again() -> None:
    start = event(type="content_block_start", index=0, content_block={"type": "text", "text": ""})
    high = b'data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"'
    reply = read(start, high + b'\\ud83c"}}\n\n', high + b'\\udf0d \\ud800"}}\n\n')
    assert reply.message.text == "\U0001f30d \ud800"


def test_a_block_with_a_delta_of_a_later_day_is_left_out_when_it_is_not_ours() -> None:
    reply = read(
        event(type="content_block_start", index=0, content_block={"type": "novel", "data": "a"}),
        event(type="content_block_delta", index=0, delta={"type": "novel_delta", "data": "b"}),
        event(type="content_block_stop", index=0),
        event(type="message_delta", delta={"stop_reason": "end_turn"}),
        event(type="message_stop"),
    )
    assert (reply.message.parts, reply.stop) == ((), "end")


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"{",
        b"[]",
        b"null",
        b"[" * 200_000,
        b'{"content":' + b"[" * 200_000,
        b'{"content":[1]}',
        b'{"content":{}}',
        b'{"content":[{"type":"text","text":"\xff"}]}',
        b'{"error":7}',
        b"<html>Bad gateway</html>",
    ],
)
def test_a_garbled_body_is_a_reply_that_failed(data: bytes) -> None:
    reply = Anthropic().decode(data)
    assert reply.stop == "error"
    assert reply.error


@pytest.mark.parametrize("data", [b"{", b"[" * 200_000, b'{"type":"message_start","message":[]}'])
def test_a_garbled_event_is_an_error(data: bytes) -> None:
    reply = read(stream("plain").rpartition(b"event:")[0], b"data: " + data + b"\n\n")
    assert reply.stop == "error"
    assert reply.message.text == "Grüße, 世界 🌍: the tide is out."


def test_numbers_that_cannot_be_are_none() -> None:
    told = {"input_tokens": -1, "output_tokens": 10**30, "cache_read_input_tokens": "9"}
    whole = {"content": [], "usage": {**told, "iterations": [None], "cache_creation": 3}}
    assert Anthropic().decode(msgspec.json.encode(whole)).usage == Usage()


@given(st.binary())
def test_no_body_raises(data: bytes) -> None:
    assert Anthropic().decode(data).stop == "error"


@given(st.sampled_from(NAMES), st.data())
def test_a_damaged_stream_never_raises(name: str, data: st.DataObject) -> None:
    damaged = bytearray(stream(name))
    for place in data.draw(st.lists(st.integers(0, len(damaged) - 1), max_size=6)):
        damaged[place] = data.draw(st.integers(0, 255))
    whole = bytes(damaged)
    half = data.draw(st.integers(0, len(whole)))
    assert read(whole[:half], whole[half:]) == read(whole)


@pytest.mark.parametrize(
    ("told", "tier"),
    [
        ({"speed": "fast", "service_tier": "standard"}, "fast"),
        ({"speed": "standard", "service_tier": "priority"}, "priority"),
        ({"service_tier": "batch"}, "batch"),
        ({"speed": "standard", "service_tier": "standard"}, ""),
        ({}, ""),
    ],
)
def test_how_a_call_was_served_is_read(told: dict[str, str], tier: str) -> None:
    usage = {"input_tokens": 7, "output_tokens": 3, **told}
    reply = Anthropic().decode(msgspec.json.encode({"content": [], "usage": usage}))
    assert reply.usage == Usage(input=7, output=3, tier=tier)


def test_an_advisor_is_not_served_as_the_call_is_that_asks_it() -> None:
    each = [
        {"type": "message", "input_tokens": 5, "output_tokens": 2},
        {"type": "advisor_message", "model": "other", "input_tokens": 9, "output_tokens": 1},
    ]
    usage = {"input_tokens": 5, "output_tokens": 2, "speed": "fast", "iterations": each}
    reply = Anthropic().decode(msgspec.json.encode({"content": [], "usage": usage}))
    assert [one.tier for one in reply.iterations] == ["fast", ""]
