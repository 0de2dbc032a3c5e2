"""A streamed chat completion, as OpenAI sends it and as the servers do that speak its format.

Rule 1: a call is found by its index; where that is missing or used twice, a new id begins a call.
Rule 2: usage may come in any chunk, in one without choices, or never; the last one told counts.
Rule 3: once a reason to finish is told the message is whole, whether or not `[DONE]` still comes.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from holdfast.codecs.openai_chat.decode import REASONING, said, told
from holdfast.codecs.openai_shared import (
    Fields,
    complaint,
    fields,
    objects,
    read,
    string,
    whole,
    without,
)
from holdfast.codecs.sse import Event, Events
from holdfast.model import wire
from holdfast.model.reply import Delta, Reply

_TEXTS = ("content", "refusal", *REASONING)


class ChatDecoder:
    """Reads one stream."""

    def __init__(self, provider: str) -> None:
        self._provider = provider
        self._events = Events()
        self._response: Fields = {}
        self._texts: dict[str, list[str]] = {}
        self._thoughts: list[str] = []
        self._calls: list[Fields] = []
        self._inputs: list[list[str]] = []
        self._places: dict[int, int] = {}
        self._extras: Fields = {}
        self._finish = ""
        self._error = ""

    def feed(self, data: bytes) -> list[Delta]:
        """The pieces that these bytes complete."""
        if self._error:
            return []
        try:
            events = self._events.feed(data)
        except ValueError as refused:
            self._error = f"the stream cannot be read: {refused}"
            return []
        return [delta for event in events for delta in self._event(event)]

    def close(self) -> Reply:
        """The whole reply."""
        texts: Fields = {name: whole(pieces) for name, pieces in self._texts.items()}
        if self._thoughts:
            thought = {"type": "thinking", "thinking": [{"text": whole(self._thoughts)}]}
            texts |= {"content": [thought, {"type": "text", "text": texts.get("content", "")}]}
        message = texts | self._extras | {"tool_calls": [*self._whole_calls()]}
        return told(self._response, message, self._finish, self._provider, error=self._error)

    def _whole_calls(self) -> Iterator[Fields]:
        for call, pieces in zip(self._calls, self._inputs, strict=True):
            custom = call.get("type") == "custom"
            name, field = ("custom", "input") if custom else ("function", "arguments")
            yield call | {name: fields(call.get(name)) | {field: whole(pieces)}}

    def _event(self, event: Event) -> Iterator[Delta]:
        if self._error:
            return
        if event.data == b"[DONE]":
            self._finish = self._finish or "stop"
            return
        chunk = read(event.data)
        if chunk is None:
            self._error = "the stream holds an event that is not a JSON object"
        elif chunk.get("error") or event.name == "error":
            self._error = complaint(chunk.get("error") or chunk)
        else:
            yield from self._chunk(chunk)

    def _chunk(self, chunk: Fields) -> Iterator[Delta]:
        for name in ("id", "model", "usage", "service_tier"):
            if chunk.get(name):
                self._response[name] = chunk[name]
        for choice in objects(chunk.get("choices")):
            if not choice.get("index"):
                yield from self._delta(fields(choice.get("delta")))
                self._finish = string(choice.get("finish_reason")) or self._finish

    def _delta(self, delta: Fields) -> Iterator[Delta]:
        content, thought = said(delta.get("content"))
        shown = [text for name in REASONING if (text := string(delta.get(name)))]
        self._thoughts += [thought] if thought else []
        for name in _TEXTS:
            piece = content if name == "content" else string(delta.get(name))
            self._texts.setdefault(name, []).append(piece)
        if text := content or string(delta.get("refusal")):
            yield Delta(text=text)
        if thought := thought or "".join(shown[:1]):
            yield Delta(reasoning=thought)
        for call in objects(delta.get("tool_calls")):
            yield from self._call(call)
        for name, value in without(delta, "role", "tool_calls", *_TEXTS).items():
            if value:
                self._extras[name] = _added(self._extras.get(name), value)

    def _call(self, call: Fields) -> Iterator[Delta]:
        place = self._place(call)
        known = self._calls[place]
        field = "custom" if isinstance(call.get("custom"), dict) else "function"
        body = fields(call.get(field))
        begins = not fields(known.get(field)).get("name") and bool(string(body.get("name")))
        inner = without(body, "arguments", "input") | fields(known.get(field))
        outer = without(call, "index", "function", "custom") | known
        self._calls[place] = outer | {field: inner}
        piece = _input(body.get("input" if field == "custom" else "arguments"))
        self._inputs[place].append(piece)
        if begins:
            yield Delta(tool=string(body["name"]), index=place)
        if piece:
            yield Delta(input=piece, index=place)

    def _place(self, call: Fields) -> int:
        """Which call a piece belongs to; a new one where it begins one."""
        index, newest = call.get("index"), len(self._calls) - 1
        place = self._places.get(index, -1) if isinstance(index, int) else newest
        if place >= 0 and _goes_on(self._calls[place], call):
            return place
        self._calls.append({})
        self._inputs.append([])
        if isinstance(index, int):
            self._places[index] = newest + 1
        return newest + 1


def _goes_on(known: Fields, call: Fields) -> bool:
    """Whether a piece continues a call, or begins another in its place."""
    id, named = string(call.get("id")), string(fields(call.get("function")).get("name"))
    if id:
        return known.get("id") in (None, "", id)
    begun = fields(known.get("function")).get("name")
    return isinstance(call.get("index"), int) or not (named and begun)


def _input(value: object) -> str:
    """A piece of a call's input; a server that decodes it for us gets it encoded again."""
    if value is None or isinstance(value, str):
        return value or ""
    return wire.encode(value).decode("utf-8", "surrogatepass")


def _added(known: Any, value: Any) -> Any:
    """A field told in pieces: texts and lists go on, anything else is told anew."""
    if isinstance(known, str) and isinstance(value, str):
        return known + value
    if isinstance(known, list) and isinstance(value, list):
        return [*known, *value]  # pyright: ignore[reportUnknownVariableType]
    return value
