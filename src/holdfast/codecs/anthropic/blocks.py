"""Content blocks of the wire as parts, whether they came whole or in pieces.

Rule 1: what a part does not model stays with it as its seal; a block we do not know is opaque.
Rule 2: a block that a stream broke off in is kept where its words are worth something (text,
        thinking, a tool's input) and left out where it is not; it never gets a seal.
"""

from __future__ import annotations

from holdfast.codecs.anthropic.raw import Garbled, fields, together, value, words, written
from holdfast.model.message import (
    Opaque,
    Part,
    Reasoning,
    Seal,
    SummaryText,
    Text,
    ToolCall,
    opaque,
    seal,
)

OWNER = "anthropic"

_PIECES = {
    "text_delta": "text",
    "thinking_delta": "thinking",
    "input_json_delta": "partial_json",
}
"""The member of each delta that is to be joined with the ones before it."""


class Draft:
    """One content block while it arrives."""

    def __init__(self, start: dict[str, bytes]) -> None:
        self.members = start
        self.type = words(start.get("type")) or ""
        self.closed = False
        self._pieces: dict[str, list[str]] = {}
        self._citations: list[bytes] = []
        self._strange = False

    def add(self, delta: dict[str, bytes]) -> tuple[str, str]:
        """Take one delta; the member it adds to, and the words it adds."""
        kind = words(delta.get("type")) or ""
        if name := _PIECES.get(kind):
            piece = words(delta.get(name)) or ""
            self._pieces.setdefault(name, []).append(piece)
            return name, piece
        if kind == "citations_delta" and "citation" in delta:
            self._citations.append(delta["citation"])
        elif kind in ("signature_delta", "compaction_delta"):
            self.members |= {key: member for key, member in delta.items() if key != "type"}
        else:
            self._strange = True
        return "", ""

    def parts(self, model: str) -> tuple[Part, ...]:
        """What it is as parts of a message."""
        if self.closed:
            return self._whole(model)
        if self.type == "text" and (text := self._joined("text")):
            return (Text(text),)
        if self.type == "thinking" and (text := self._joined("thinking")):
            return (Reasoning(text),)
        name, id = words(self.members.get("name")), words(self.members.get("id"))
        if self.type == "tool_use" and name and id:
            return (ToolCall(id, name, self._joined("partial_json")),)
        return ()

    def _whole(self, model: str) -> tuple[Part, ...]:
        members = dict(self.members)
        for name in ("text", "thinking"):
            if name in self._pieces:
                members[name] = written(self._joined(name))
        if self._joined("partial_json"):
            members["input"] = self._joined("partial_json").encode("utf-8", "surrogatepass")
        if self._citations:
            told = members.get("citations", b"null").strip()
            first = [told[1:-1]] if told.startswith(b"[") and told[1:-1].strip() else []
            members["citations"] = b"[" + b",".join(first + self._citations) + b"]"
        found = parts(members, model)
        if self._strange and any(isinstance(part, Opaque) for part in found):
            return ()  # a delta we do not know: the block would not be what was sent
        return found

    def _joined(self, name: str) -> str:
        text = (words(self.members.get(name)) or "") + "".join(self._pieces.get(name, ()))
        if text.isascii() or not any("\ud800" <= sign <= "\udfff" for sign in text):
            return text
        # Halves of one character that came in two pieces are one character again.
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")


def parts(members: dict[str, bytes], model: str) -> tuple[Part, ...]:
    """The parts that one whole content block is."""
    type = words(members.get("type")) or ""
    part = _modelled(type, members, model)
    if part is not None:
        return (part,)
    try:
        data = together(members)
        value(data)
    except Garbled:
        return ()
    block = opaque(OWNER, type, data, model)
    summary = words(members.get("content")) if type == "compaction" else None
    return (block, SummaryText(summary)) if summary else (block,)


def _modelled(type: str, members: dict[str, bytes], model: str) -> Part | None:
    if type == "text" and (text := words(members.get("text"))) is not None:
        return Text(text, seal=_rest(members, ("type", "text"), model))
    if type == "thinking" and (text := words(members.get("thinking"))) is not None:
        return Reasoning(text, _rest(members, ("type", "thinking"), model))
    if type == "tool_use":
        return _call(members, model)
    return None


def _call(members: dict[str, bytes], model: str) -> ToolCall | None:
    id, name = words(members.get("id")), words(members.get("name"))
    if not id or not name:
        return None
    written = members.get("input", b"{}").decode("utf-8", "surrogatepass").strip()
    return ToolCall(id, name, written, _rest(members, ("type", "id", "name", "input"), model))


def _rest(members: dict[str, bytes], modelled: tuple[str, ...], model: str) -> Seal | None:
    """What is left of a block beside what its part says."""
    rest = {key: member for key, member in members.items() if key not in modelled}
    if not rest:
        return None
    try:
        fields(data := together(rest))
    except Garbled:
        return None
    return seal(OWNER, data, model)
