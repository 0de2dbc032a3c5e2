"""Gemini replies: however the bytes come, the same reply; and what came is sent again as it was."""

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.codecs.gemini import Gemini, rest
from holdfast.model.message import Message, Opaque, Reasoning, Text, ToolCall
from holdfast.model.profile import Profile
from holdfast.model.reply import Reply, Usage
from holdfast.model.window import Block, Options, Window
from tests.codecs.gemini_windows import (
    BUDGET,
    OURS,
    array,
    chunked,
    events,
    model_parts,
    response,
)

GOLDEN = Path(__file__).parents[1] / "golden" / "gemini"
CODEC = Gemini()


def streamed(data: bytes, *cuts: int) -> Reply:
    decoder = CODEC.decoder()
    edges = [0, *sorted(cuts), len(data)]
    for start, stop in pairwise(edges):
        decoder.feed(data[start:stop])
    return decoder.close()


def echoed(reply: Reply, model: str = OURS) -> list[dict[str, Any]]:
    """The parts of the model's turn when the reply is sent again."""
    blocks = (
        Block(section="history", role="user", parts=(Text("go on"),)),
        Block(section="history", role="assistant", parts=reply.message.parts),
    )
    window = Window(model=model, blocks=blocks, budget=BUDGET)
    contents = rest(CODEC.encode(window, Profile(name=model), Options()))["contents"]
    return contents[1]["parts"] if len(contents) > 1 else []


@pytest.mark.parametrize("file", sorted(GOLDEN.glob("response-*.json")), ids=lambda path: path.stem)
def test_a_recorded_response_gives_its_reply(file: Path) -> None:
    case = json.loads(file.read_text("utf-8"))
    reply = CODEC.decode(json.dumps(case["response"]).encode())
    found = {
        "stop": reply.stop,
        "error": reply.error,
        "usage": {
            "input": reply.usage.input,
            "cache_read": reply.usage.cache_read,
            "output": reply.usage.output,
            "reasoning": reply.usage.reasoning,
        },
        "kinds": [type(part).__name__ for part in reply.message.parts],
        "text": reply.message.text,
    }
    assert found == case["reply"]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_a_recorded_stream_gives_its_reply(end: str) -> None:
    data = (GOLDEN / "stream.sse").read_bytes().replace(b"\n", end.encode())
    reply = streamed(data + b"\n")
    assert reply.message.parts[0] == Reasoning("I should look first.", reply.message.parts[0].seal)  # type: ignore[union-attr]
    assert reply.message.parts[1] == Text("Reading both files.")
    assert [call.name for call in reply.message.calls] == ["read_file", "read_file"]
    assert reply.stop == "tools"
    assert reply.usage == Usage(input=96, cache_read=1024, output=63, reasoning=41)


@given(parts=model_parts, data=st.data())
def test_whole_events_and_array_give_the_same_reply_however_split(
    parts: list[dict[str, Any]], data: st.DataObject
) -> None:
    whole = response(parts)
    chunks = data.draw(chunked(whole))
    expected = CODEC.decode(json.dumps(whole, indent=2).encode())
    for wire in (events(chunks), events(chunks, "\n"), array(chunks)):
        cuts = data.draw(st.lists(st.integers(0, len(wire)), max_size=8))
        assert streamed(wire, *cuts) == expected
    assert CODEC.decode(array(chunks)) == expected


def test_one_byte_at_a_time_gives_the_same_reply() -> None:
    data = (GOLDEN / "stream.sse").read_bytes()
    assert streamed(data, *range(len(data))) == streamed(data)


@given(parts=model_parts)
def test_a_reply_is_sent_again_value_for_value(parts: list[dict[str, Any]]) -> None:
    reply = CODEC.decode(json.dumps(response(parts)).encode())
    sent = echoed(reply)
    speaking = any(not part.get("thought") or "thoughtSignature" in part for part in parts)
    assert sent == (_signed(parts) if speaking else [])


def _signed(parts: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """As sent again: a first call that came without any signature gets the stand-in."""
    expected = [dict(part) for part in parts]
    for part in expected:
        if "thoughtSignature" in part:
            break
        if "functionCall" in part:
            part["thoughtSignature"] = "skip_thought_signature_validator"
            break
    return expected


@given(parts=model_parts)
def test_another_model_is_shown_no_signature_no_thought_and_no_opaque_part(
    parts: list[dict[str, Any]],
) -> None:
    reply = CODEC.decode(json.dumps(response(parts)).encode())
    sent = json.dumps(echoed(reply, "gemini-2.5-flash"))
    assert "thoughtSignature" not in sent
    assert '"thought"' not in sent
    assert "neverSeen" not in sent
    assert "executableCode" not in sent


@given(parts=model_parts, data=st.data())
def test_a_stream_cut_anywhere_is_aborted_and_keeps_what_was_complete(
    parts: list[dict[str, Any]], data: st.DataObject
) -> None:
    chunks = data.draw(chunked(response(parts)))
    wire = events(chunks)
    end = len(wire) - len(events(chunks[-1:]))
    cut = data.draw(st.integers(0, end))
    reply = streamed(wire[:cut])
    assert reply.stop == "aborted"
    last = reply.message.parts[-1:]
    if last and isinstance(last[0], Reasoning):
        assert last[0].seal is None
        assert not any(part.get("thought") for part in echoed(reply)[-1:])


@given(st.binary(max_size=200))
def test_hostile_bytes_end_in_an_error_never_in_a_crash(data: bytes) -> None:
    assert CODEC.decode(data).stop in ("error", "aborted")
    assert streamed(data, len(data) // 2).stop in ("error", "aborted")


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"null",
        b"[1, 2]",
        b'{"candidates": 3}',
        b'{"candidates": [{"content": {"parts": [{"text": 5}]}}]}',
        b'{"candidates": [{"content": {"parts": [{"functionCall": "no"}]}}]}',
        b'{"candidates": [' + b"[" * 5_000 + b"]" * 5_000 + b"]}",
        b'{"usageMetadata": {"promptTokenCount": -5, "candidatesTokenCount": "x"}}',
        b'{"a": "\xff\xfe"}',
    ],
)
def test_wrong_types_and_depths_are_no_crash(body: bytes) -> None:
    for reply in (CODEC.decode(body), streamed(body), streamed(b"data: " + body + b"\n\n")):
        assert reply.stop in ("error", "aborted")
        assert reply.usage == Usage()


def test_half_a_surrogate_pair_becomes_a_replacement_character() -> None:
    body = json.dumps(response([{"text": "a\ud800b 😀"}])).encode()
    assert CODEC.decode(body).message.text == "a\ufffdb 😀"


def test_an_error_inside_a_stream_keeps_what_was_said() -> None:
    first = response([{"text": "so far"}])
    del first["candidates"][0]["finishReason"]
    error = {"error": {"code": 503, "message": "The model is overloaded.", "status": "UNAVAILABLE"}}
    reply = streamed(events([first, error]))
    assert (reply.stop, reply.error) == ("error", "The model is overloaded.")
    assert reply.message.text == "so far"


@pytest.mark.parametrize(
    ("finish", "stop"),
    [
        ("STOP", "end"),
        ("MAX_TOKENS", "length"),
        ("SAFETY", "refused"),
        ("PROHIBITED_CONTENT", "refused"),
        ("MALFORMED_FUNCTION_CALL", "error"),
        ("SOMETHING_NEW", "error"),
        ("FINISH_REASON_UNSPECIFIED", "aborted"),
    ],
)
def test_each_finish_reason_has_its_stop(finish: str, stop: str) -> None:
    whole = response([{"text": "x"}])
    whole["candidates"][0]["finishReason"] = finish
    assert CODEC.decode(json.dumps(whole).encode()).stop == stop


def test_a_blocked_prompt_is_refused() -> None:
    body = json.dumps({"promptFeedback": {"blockReason": "SAFETY"}}).encode()
    reply = CODEC.decode(body)
    assert (reply.stop, reply.error) == ("refused", "the prompt was blocked: SAFETY")
    assert reply.message == Message("assistant", ())


def test_usage_is_told_in_disjoint_buckets_and_never_summed() -> None:
    usage = {
        "promptTokenCount": 100,
        "cachedContentTokenCount": 60,
        "candidatesTokenCount": 7,
        "thoughtsTokenCount": 5,
        "toolUsePromptTokenCount": 11,
        "totalTokenCount": 123,
    }
    chunks = [response([{"text": "a"}], usageMetadata=usage)] * 3
    found = streamed(events(chunks)).usage
    assert found == Usage(input=51, cache_read=60, output=12, reasoning=5)
    assert found.total == 123


def test_calls_without_an_id_get_one_of_ours_that_is_never_sent() -> None:
    parts = [{"functionCall": {"name": "read", "args": {"a": 1}}} for _ in range(2)]
    reply = CODEC.decode(json.dumps(response(parts)).encode())
    first, second = (call.id for call in reply.message.calls)
    assert first != second
    assert all("id" not in part["functionCall"] for part in echoed(reply))


def test_an_empty_text_that_carries_a_signature_survives_as_an_opaque_part() -> None:
    whole = response([{"text": "done"}, {"text": "", "thoughtSignature": "AAEC"}])
    reply = CODEC.decode(json.dumps(whole).encode())
    assert isinstance(reply.message.parts[1], Opaque)
    assert echoed(reply)[1] == {"text": "", "thoughtSignature": "AAEC"}


def test_arguments_that_arrive_in_pieces_come_together() -> None:
    def call(**fields: Any) -> dict[str, Any]:
        return {"candidates": [{"content": {"parts": [{"functionCall": fields}]}}]}

    chunks = [
        call(name="paint", id="c1", willContinue=True),
        call(
            partialArgs=[{"jsonPath": "$.room", "stringValue": "kit", "willContinue": True}],
            willContinue=True,
        ),
        call(partialArgs=[{"jsonPath": "$.room", "stringValue": "chen"}], willContinue=True),
        call(partialArgs=[{"jsonPath": "$.walls[0].width", "numberValue": 2}], willContinue=True),
        call(
            partialArgs=[{"jsonPath": "$['walls'][1].done", "boolValue": False}], willContinue=True
        ),
        call(),
        {"candidates": [{"finishReason": "STOP"}]},
    ]
    reply = streamed(events(chunks))
    assert reply.message.parts == (
        ToolCall("c1", "paint", '{"room":"kitchen","walls":[{"width":2},{"done":false}]}'),
    )
    assert reply.stop == "tools"


def test_deltas_tell_what_arrives() -> None:
    decoder = CODEC.decoder()
    deltas = decoder.feed((GOLDEN / "stream.sse").read_bytes())
    assert "".join(delta.reasoning for delta in deltas) == "I should look first."
    assert "".join(delta.text for delta in deltas) == "Reading both files."
    assert [delta.tool for delta in deltas if delta.tool] == ["read_file", "read_file"]
    assert [delta.index for delta in deltas] == sorted(delta.index for delta in deltas)
