"""Server-sent events: however the bytes are split, in linear time, with a bound."""

import re
import time
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.codecs.gemini.stream import Objects
from holdfast.codecs.sse import Event, Events
from holdfast.engine.plugins import codec

LONGEST = 67_108_864
"""What is promised, in numbers: these tests stand at its edges."""

MIB = 1 << 20


def seconds_for(size: int, piece: int) -> float:
    events, data = Events(), b"x" * piece
    start = time.process_time()
    assert events.feed(b"data: ") == []
    for _ in range(size // piece):
        assert events.feed(data) == []
    (event,) = events.feed(b"\n\n")
    assert len(event.data) == size
    return time.process_time() - start


def test_an_unfinished_line_costs_what_it_has_bytes() -> None:
    seconds_for(MIB, 256)  # warm
    once, fourfold = seconds_for(2 * MIB, 256), seconds_for(8 * MIB, 256)
    assert fourfold < 12 * once + 0.2  # quadratic time would be sixteen times as much, and seconds


@pytest.mark.parametrize("line", [b"data: ", b"data:\n", b"event: ", b": ", b"id: 1\n", b"\xff"])
def test_an_event_beyond_the_bound_is_an_error(line: bytes) -> None:
    events, piece = Events(MIB), line * (100_000 // len(line))
    with pytest.raises(ValueError, match="more than 1,048,576 bytes"):
        list(map(events.feed, [piece] * 12))


def test_the_bound_is_for_one_event_and_not_for_the_stream() -> None:
    events = Events(1000)
    assert sum(len(events.feed(b"data: %b\n\n" % (b"x" * 900))) for _ in range(100)) == 100


@pytest.mark.parametrize("format", ["anthropic", "openai-chat", "openai-responses", "gemini"])
def test_a_reply_whose_line_never_ends_is_a_failed_reply(format: str) -> None:
    decoder, piece = codec(format).decoder(), b"data: x" * (MIB // 7)
    for _ in range(LONGEST // len(piece) + 2):
        decoder.feed(piece)
    reply = decoder.close()
    assert reply.stop == "error"
    assert "bytes; no reply needs them" in reply.error


@pytest.mark.parametrize("format", ["anthropic", "openai-chat", "openai-responses", "gemini"])
def test_the_first_thing_that_went_wrong_is_what_is_told(format: str) -> None:
    decoder = codec(format).decoder()
    decoder.feed(b'event: error\ndata: {"type": "error", "error": {"message": "boom"}}\n\n')
    assert decoder.feed(b"data: {\n\n") == []
    for _ in range(9):
        assert decoder.feed(b"x" * (LONGEST // 8)) == []
    reply = decoder.close()
    assert (reply.stop, "boom" in reply.error, reply.message.parts) == ("error", True, ())


def test_what_stands_between_objects_is_not_held() -> None:
    objects = Objects()
    for _ in range(9):
        assert objects.feed(b" " * (LONGEST // 8)) == []
    assert objects.feed(b',{"a": "}"}') == [b'{"a": "}"}']


def as_specified(whole: bytes) -> list[Event]:
    """Events by the words of the standard, from the whole at once."""
    found: list[Event] = []
    name, data = "", list[bytes]()
    for line in re.split(rb"\r\n|\r|\n", whole)[:-1]:
        field, _, value = line.partition(b":")
        value = value.removeprefix(b" ")
        if not line:
            found += [Event(name, b"\n".join(data))] if data else []
            name, data = "", []
        elif field == b"data":
            data.append(value)
        elif field == b"event":
            name = value.decode("utf-8", "replace")
    return found


SIGNS = [b"data: a", b"data:", b"event: e", b"\n", b"\r", b"\r\n", b":", b"x", b"\xe2\x80\xa8"]


@given(st.lists(st.sampled_from(SIGNS), max_size=30).map(b"".join), st.lists(st.integers(0, 60)))
def test_events_are_the_same_however_the_bytes_are_split(whole: bytes, cuts: list[int]) -> None:
    places = sorted({0, len(whole), *(cut for cut in cuts if cut < len(whole))})
    events = Events()
    pieces = [whole[a:b] for a, b in pairwise(places)]
    assert [event for piece in pieces for event in events.feed(piece)] == as_specified(whole)
