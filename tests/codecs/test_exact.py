"""What codecs read of recorded replies, streams and requests, and what each field changes of it.

A reply that is kept says the same for ever. In tests/golden/read there is what is read of every
recorded reply, and then what is read otherwise where one field is missing or holds something else,
where an event of a stream is lost or comes twice, and what is wrong with requests changed so. A
change that is meant is taken over with

    python -m tests.codecs.test_exact

and its difference read before it is committed.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from holdfast.codecs.anthropic import Anthropic
from holdfast.codecs.gemini import Gemini
from holdfast.codecs.openai_chat import ChatCodec
from holdfast.codecs.openai_responses import ResponsesCodec
from holdfast.model.profile import Ability, Profile
from holdfast.ports import Codec
from tests.changing import CHANGES, Item, block, changed, compare, item, line, places, said

GOLDEN = Path(__file__).parents[1] / "golden"
READ = GOLDEN / "read"
ABILITIES: tuple[Ability, ...] = ("tools", "thinking", "images")
PROFILE = Profile(
    name="m",
    window=200_000,
    output_limit=8_000,
    abilities=frozenset({"tools", "thinking", "images"}),
)
SHOWN = 3
DEEP = 8

CODECS: dict[str, Codec] = {
    "anthropic": Anthropic(), "gemini": Gemini(), "openai-chat": ChatCodec(),
    "openai-responses": ResponsesCodec(),
}  # fmt: skip
CAPTURED = {"claude-code": "anthropic", "codex": "openai-responses", "gemini-cli": "gemini"}


@pytest.mark.parametrize("name", CODECS)
def test_what_is_read_of_replies_streams_and_requests_is_as_written_down(name: str) -> None:
    compare(READ / f"{name}.txt", described(name), "tests.codecs.test_exact")


def described(name: str) -> str:
    codec, pieces = CODECS[name], list[str]()
    for file in sorted((GOLDEN / name).iterdir()):
        pieces.append(f"# {file.name}")
        if "request" in file.name:
            pieces += _document(file, lambda data: _broken(codec, data))
        elif file.suffix == ".json":
            pieces += _document(file, lambda data: [item(codec.decode(data))])
        elif file.suffix == ".sse":
            pieces += _stream(file, codec)
    for program in (one for one, format in CAPTURED.items() if format == name):
        for file in sorted((GOLDEN / "captured" / program).iterdir()):
            pieces.append(f"# {program} {file.name}")
            pieces += _captured(file, lambda data: _broken(codec, data))
    return "\n".join(pieces) + "\n"


def _broken(codec: Codec, data: bytes) -> list[Item]:
    request = json.loads(data)
    try:
        found = codec.violations(request, PROFILE) if isinstance(request, dict) else []
    except (AttributeError, TypeError, KeyError):
        return [("of no shape that the rules are for", {})]
    return [("broken", {"rule": one.rule, "where": one.where}) for one in found]


def _document(file: Path, read: Callable[[bytes], list[Item]]) -> Iterator[str]:
    return _changes(file.read_bytes(), read, DEEP)


def _captured(file: Path, read: Callable[[bytes], list[Item]]) -> Iterator[str]:
    """Requests of real programs are long: only what is in the body, and not far down."""
    record = json.loads(file.read_bytes())
    body = record.get("body", record) if isinstance(record, dict) else record
    return _changes(json.dumps(body).encode(), read, 5)


def _changes(data: bytes, read: Callable[[bytes], list[Item]], deep: int) -> Iterator[str]:
    whole = read(data)
    yield from map(line, whole)
    document = json.loads(data)
    seen: Counter[str] = Counter()
    for place in places(document, deep):
        known = f"{_kind(document, place)} {[part for part in place if isinstance(part, str)]}"
        seen[known] += 1
        if seen[known] == 1:
            for word, change in CHANGES.items():
                made = json.dumps(changed(document, place, change)).encode()
                if read(made) != whole:
                    yield block(f"{word} {said(place)}", whole, read(made), SHOWN)


def _kind(document: Any, place: tuple[Any, ...]) -> list[Any]:
    """Of what types the objects on the way to a place are."""
    kinds: list[Any] = []
    for part in place:
        kinds += [document.get("type"), document.get("role")] if isinstance(document, dict) else []
        document = document[part]
    return kinds


def _stream(file: Path, codec: Codec) -> Iterator[str]:
    events = [one for one in file.read_bytes().replace(b"\r\n", b"\n").split(b"\n\n") if one]
    whole, seen = _streamed(codec, events), Counter[str]()
    yield from map(line, whole)
    for nth, event in enumerate(events):
        for word, instead in {"is lost": (), "comes twice": (event, event)}.items():
            made = [*events[:nth], *instead, *events[nth + 1 :]]
            yield block(f"event {nth + 1} {word}", whole, _streamed(codec, made), SHOWN)
        yield block(
            f"cut behind event {nth + 1}", whole, _streamed(codec, events[: nth + 1]), SHOWN
        )
        yield from _fields_of(codec, events, nth, whole, seen)


def _fields_of(
    codec: Codec, events: list[bytes], nth: int, whole: list[Item], seen: Counter[str]
) -> Iterator[str]:
    head, mark, data = events[nth].partition(b"data: ")
    if not data.startswith(b"{"):
        return
    record = json.loads(data)
    for place in places(record, DEEP):
        known = f"{_kind(record, place)} {place}"
        seen[known] += 1
        for word, change in CHANGES.items() if seen[known] == 1 else ():
            event = head + mark + json.dumps(changed(record, place, change)).encode()
            found = _streamed(codec, [*events[:nth], event, *events[nth + 1 :]])
            if found != whole:
                yield block(f"event {nth + 1} {word} {said(place)}", whole, found, SHOWN)


def _streamed(codec: Codec, events: list[bytes]) -> list[Item]:
    decoder = codec.decoder()
    deltas = [delta for event in events for delta in decoder.feed(event + b"\n\n")]
    return [*map(item, deltas), item(decoder.close())]


def main() -> None:
    """Write down what is read now."""
    READ.mkdir(exist_ok=True)
    for name in CODECS:
        (READ / f"{name}.txt").write_text(described(name), "utf-8")


if __name__ == "__main__":
    main()
