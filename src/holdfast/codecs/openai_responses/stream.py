"""A streamed reply of the Responses API.

Rule 1: an item is what `response.output_item.done` says, never the sum of its pieces: encrypted
        reasoning may be incomplete in `.added` (the SDK's ResponseReasoningItem says so).
Rule 2: the last word on status and usage is the terminal event's. Without one it was cut short.
"""

from __future__ import annotations

from collections.abc import Iterator

from holdfast.codecs.openai_responses import calls, decode
from holdfast.codecs.openai_shared import Fields, complaint, fields, objects, read, string, whole
from holdfast.codecs.sse import Event, Events
from holdfast.model.message import Part
from holdfast.model.reply import Delta, Reply

_PIECES: dict[str, tuple[str, str]] = {
    # event: the item it belongs to, and the field that says which of its texts
    "response.output_text.delta": ("message", "content_index"),
    "response.refusal.delta": ("message", "content_index"),
    "response.reasoning_summary_text.delta": ("reasoning", "summary_index"),
    "response.reasoning_text.delta": ("reasoning", "content_index"),
    "response.function_call_arguments.delta": ("", ""),
    "response.custom_tool_call_input.delta": ("", ""),
}
_LAST = frozenset({"response.completed", "response.incomplete", "response.failed"})


class ResponsesDecoder:
    """Reads one stream."""

    def __init__(self, provider: str) -> None:
        self._provider = provider
        self._events = Events()
        self._response: Fields = {}
        self._last = False
        self._error = ""
        self._done: dict[int, Fields] = {}
        self._open: dict[int, Fields] = {}
        self._pieces: dict[int, dict[tuple[str, int], list[str]]] = {}

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
        model = string(self._response.get("model"))
        response = self._response if self._last else self._response | {"status": "in_progress"}
        return decode.told(response, self._parts(model), self._provider, self._error)

    def _event(self, event: Event) -> Iterator[Delta]:
        if self._last or self._error or event.data == b"[DONE]":
            return
        told = read(event.data)
        if told is None:
            self._error = "the stream holds an event that is not a JSON object"
            return
        name = string(told.get("type")) or event.name
        if name in _PIECES:
            yield from self._piece(name, told)
        elif name == "response.output_item.added":
            yield from self._begin(told)
        elif name == "response.output_item.done":
            self._done[self._place(told)] = fields(told.get("item"))
        elif name == "error":
            self._error = complaint(told.get("error") or told)
        elif isinstance(told.get("response"), dict):
            self._last = name in _LAST
            status = {"status": name.removeprefix("response.")} if self._last else {}
            self._response = status | fields(told["response"])

    def _begin(self, told: Fields) -> Iterator[Delta]:
        place, item = self._place(told), fields(told.get("item"))
        self._open[place] = item
        if kind := calls.KINDS.get(string(item.get("type"))):
            yield Delta(tool=kind.name or string(item.get("name")), index=place)

    def _piece(self, name: str, told: Fields) -> Iterator[Delta]:
        place, piece = self._place(told), string(told.get("delta"))
        item, index = _PIECES[name]
        if item:
            self._open.setdefault(place, {"type": item})
        number = told.get(index)
        key = (name, number if isinstance(number, int) else 0)
        self._pieces.setdefault(place, {}).setdefault(key, []).append(piece)
        if item == "message":
            yield Delta(text=piece, index=place)
        elif item == "reasoning":
            yield Delta(reasoning=piece, index=place)
        else:
            yield Delta(input=piece, index=place)

    def _place(self, told: Fields) -> int:
        """Which item of the output an event is about; the newest where a server does not say."""
        place = told.get("output_index")
        if isinstance(place, int):
            return place
        newest = max(self._open, default=-1)
        return newest + 1 if told.get("type") == "response.output_item.added" else max(newest, 0)

    def _parts(self, model: str) -> list[Part]:
        """The parts of every item, in order: finished ones first told, others as far as they go."""
        listed = dict(enumerate(objects(self._response.get("output")))) if self._last else {}
        finished = listed | self._done
        texts = {
            place: {key: whole(pieces) for key, pieces in found.items()}
            for place, found in self._pieces.items()
        }
        found: list[Part] = []
        order = sorted(finished.keys() | self._open.keys())
        items = [finished.get(place, {}) for place in order]
        for place, parts in zip(order, decode.grouped(items, self._provider, model), strict=True):
            found += parts or decode.unfinished(self._open.get(place, {}), texts.get(place, {}))
        return found
