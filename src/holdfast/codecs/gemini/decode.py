"""From response chunks to a reply: parts as they came, the last usage told, why it ended.

Rule 1: parts of one chunk stay apart; a chunk that begins with plain text goes on with the plain
        text the chunk before ended with. A part with a signature is never joined to another
        ("Thought Signatures": parts with and without a signature must not be merged).
Rule 2: what a part has beyond what we model is its seal; a part we do not model is opaque, and so
        is an empty text that only carries a signature.
Rule 3: a thought cut short has no seal, so that it is never sent again.
"""

from __future__ import annotations

from base64 import b64decode, b64encode
from binascii import Error as NotBase64
from hashlib import sha256
from typing import Any, Literal

from msgspec import Raw

from holdfast.codecs.gemini.names import ASKED, PROVIDER, taken
from holdfast.codecs.gemini.partial import Arguments
from holdfast.codecs.gemini.raw import (
    Fields,
    Unreadable,
    compact,
    fields,
    members,
    mended,
    read,
    told,
    written,
)
from holdfast.model.message import (
    Media,
    Message,
    Part,
    Reasoning,
    Seal,
    Text,
    ToolCall,
    opaque,
    seal,
)
from holdfast.model.reply import Delta, Reply, Stop, Usage

STOPS: dict[str, Stop] = {
    "STOP": "end",
    "MAX_TOKENS": "length",
    "SAFETY": "refused",
    "RECITATION": "refused",
    "LANGUAGE": "refused",
    "BLOCKLIST": "refused",
    "PROHIBITED_CONTENT": "refused",
    "SPII": "refused",
    "MODEL_ARMOR": "refused",
    "IMAGE_SAFETY": "refused",
    "IMAGE_PROHIBITED_CONTENT": "refused",
    "IMAGE_RECITATION": "refused",
    "CONTINUATION": "paused",
}
"""Every other reason is a failure under its own name: MALFORMED_FUNCTION_CALL, OTHER …"""

COUNTED = (
    "promptTokenCount",
    "cachedContentTokenCount",
    "candidatesTokenCount",
    "thoughtsTokenCount",
    "toolUsePromptTokenCount",
)
DATA = ("functionCall", "text", "inlineData", "fileData")
FRAMING = ("willContinue", "partialArgs")
"""How a call is streamed; no part of the call."""


Kind = Literal["text", "thought", "call", "media", "opaque"]


class Piece:
    """One part while it grows."""

    def __init__(self, kind: Kind) -> None:
        self.kind: Kind = kind
        self.text: list[str] = []
        self.extra: Fields = {}
        self.name = ""
        self.id = ""
        self.arguments: Arguments | None = None
        self.going_on = False
        self.media = Media(type="")
        self.raw = b""

    @property
    def plain(self) -> bool:
        """Whether it is text that may go on in the next chunk."""
        return self.kind in ("text", "thought") and not (self.extra.keys() - {"thought"})


class Assembly:
    """Takes responses, whole or in chunks, and gives the reply they are."""

    def __init__(self) -> None:
        self._pieces: list[Piece] = []
        self._usage: dict[str, int] = {}
        self._finish = ""
        self._said = ""
        self._blocked = ""
        self._model = ""
        self._id = ""
        self._error = ""

    def whole(self, body: bytes) -> None:
        """A body that is one response or an array of them."""
        data = mended(body).strip()
        try:
            chunks = members(data) if data.startswith(b"[") else [data]
        except Unreadable as fault:
            self.fail(str(fault))
            return
        for chunk in chunks:
            self.take(bytes(chunk))

    def take(self, chunk: bytes) -> list[Delta]:
        """One response; what it adds, for whoever looks on."""
        if self._error:
            return []
        try:
            return self._take(fields(compact(mended(chunk))))
        except Unreadable as fault:
            self.fail(str(fault))
            return []

    def fail(self, why: str) -> None:
        """The reply ends here, with an error."""
        self._error = self._error or why or "unreadable"

    @property
    def failed(self) -> bool:
        """Whether nothing more is read."""
        return bool(self._error)

    def _take(self, chunk: Fields) -> list[Delta]:
        if "error" in chunk:
            self.fail(_complaint(chunk["error"]))
            return []
        self._model = told(chunk, "modelVersion", str, self._model)
        self._id = told(chunk, "responseId", str, self._id)
        feedback = told(chunk, "promptFeedback", Fields, {})
        self._blocked = told(feedback, "blockReason", str, self._blocked)
        counts = told(chunk, "usageMetadata", Fields, {})
        self._usage |= {name: told(counts, name, int, 0) for name in COUNTED if name in counts}
        return self._candidate(_first(chunk))

    def _candidate(self, candidate: Fields) -> list[Delta]:
        finish = told(candidate, "finishReason", str, "")
        if finish and finish != "FINISH_REASON_UNSPECIFIED":
            self._finish = finish
            self._said = told(candidate, "finishMessage", str, "")
        content = told(candidate, "content", Fields, {})
        deltas: list[Delta] = []
        opening = True
        for raw in told(content, "parts", list[Raw], []):
            if delta := self._part(fields(raw), bytes(raw), opening):
                deltas.append(delta)
                opening = False
        return deltas

    def _part(self, part: Fields, raw: bytes, opening: bool) -> Delta | None:
        """Add a part; None where there was nothing in it."""
        last = self._pieces[-1] if self._pieces else None
        if last and last.going_on and "functionCall" in part:
            call = fields(part["functionCall"])
            if not told(call, "name", str, ""):
                return _go_on(last, call, len(self._pieces) - 1)
        piece = _piece(part, raw)
        if piece is None:
            return None
        index = len(self._pieces)
        if opening and last and last.plain and piece.plain and last.kind == piece.kind:
            last.text += piece.text
            index -= 1
        else:
            self._pieces.append(piece)
        return _delta(piece, index)

    def reply(self) -> Reply:
        """What has come together."""
        stop, error = self._ending()
        if stop in ("aborted", "error"):
            self._unseal()
        parts = tuple(self._finished(at, piece) for at, piece in enumerate(self._pieces))
        return Reply(
            message=Message("assistant", parts),
            stop=stop,
            usage=_usage(self._usage),
            model=self._model,
            provider=PROVIDER,
            request=self._id,
            error=error,
        )

    def _ending(self) -> tuple[Stop, str]:
        if self._error:
            return "error", self._error
        if self._blocked and not self._finish:
            return "refused", f"the prompt was blocked: {self._blocked}"
        if not self._finish:
            return "aborted", ""
        stop = STOPS.get(self._finish, "error")
        if stop == "end" and any(piece.kind == "call" for piece in self._pieces):
            return "tools", ""
        silent = stop in ("end", "length", "paused")
        return stop, "" if silent else self._said or self._finish

    def _unseal(self) -> None:
        """The thought the stream broke off in is not whole."""
        if self._pieces and self._pieces[-1].kind == "thought" and self._pieces[-1].plain:
            self._pieces[-1].extra = {}

    def _finished(self, at: int, piece: Piece) -> Part:
        residue = self._seal(piece.extra)
        text = "".join(piece.text)
        match piece.kind:
            case "text":
                return Text(text, seal=residue)
            case "thought":
                return Reasoning(text, residue)
            case "call":
                words = piece.arguments.text if piece.arguments else text
                return ToolCall(piece.id or self._name_call(at, piece), piece.name, words, residue)
            case "media":
                media = piece.media
                return Media(media.type, media.data, media.url, seal=residue)
            case "opaque":
                return opaque(PROVIDER, piece.name, piece.raw, self._model)

    def _seal(self, extra: Fields) -> Seal | None:
        return seal(PROVIDER, written(extra), self._model) if extra else None

    def _name_call(self, at: int, piece: Piece) -> str:
        """An id that only the reply itself decides: the same however its bytes came."""
        known = "\0".join((self._id, self._model, str(at), piece.name, *piece.text))
        return ASKED + sha256(known.encode("utf-8", "replace")).hexdigest()[:24]


def _first(chunk: Fields) -> Fields:
    for raw in told(chunk, "candidates", list[Raw], []):
        candidate = fields(raw)
        if told(candidate, "index", int, 0) == 0:
            return candidate
    return {}


def _piece(part: Fields, raw: bytes) -> Piece | None:
    if "functionCall" in part:
        return _call(part)
    if "text" in part:
        return _text(part, raw)
    if "inlineData" in part or "fileData" in part:
        return _media(part, raw)
    return _opaque(part, raw)


def _text(part: Fields, raw: bytes) -> Piece | None:
    piece = Piece("thought" if told(part, "thought", bool, False) else "text")
    piece.text = [read(part["text"], str)]
    piece.extra = {name: value for name, value in part.items() if name != "text"}
    if piece.kind == "text" and "thought" in piece.extra:
        del piece.extra["thought"]  # `false` says nothing
    if piece.text[0]:
        return piece
    return None if piece.plain else _opaque(part, raw)


def _call(part: Fields) -> Piece:
    call = fields(part["functionCall"])
    piece = Piece("call")
    piece.name = told(call, "name", str, "")
    piece.id = told(call, "id", str, "")
    piece.text = [bytes(call["args"]).decode() if "args" in call else "{}"]
    piece.extra = {name: value for name, value in part.items() if name != "functionCall"}
    known = {"name", "id", "args", *FRAMING}
    if further := {name: value for name, value in call.items() if name not in known}:
        piece.extra["functionCall"] = Raw(written(further))
    if "partialArgs" in call or told(call, "willContinue", bool, False):
        piece.arguments = Arguments()
        _go_on(piece, call, 0)
    return piece


def _go_on(piece: Piece, call: Fields, index: int) -> Delta:
    """A further piece of a call whose arguments are streamed."""
    arguments = piece.arguments = piece.arguments or Arguments()
    for argument in told(call, "partialArgs", list[dict[str, Any]], []):
        arguments.add(argument)
    piece.going_on = told(call, "willContinue", bool, False)
    return Delta(tool=piece.name, input=arguments.text, index=index)


def _media(part: Fields, raw: bytes) -> Piece:
    """Bytes or where they are; kept opaque where writing them again would not give the same."""
    kind, place = ("inlineData", "data") if "inlineData" in part else ("fileData", "fileUri")
    body = fields(part[kind])
    content = told(body, place, str, "")
    data = _bytes(content) if kind == "inlineData" else b""
    type = told(body, "mimeType", str, "")
    if data is None or not content or not taken(type):
        return _opaque(part, raw)
    piece = Piece("media")
    piece.media = Media(type=type, data=data, url="" if data else content)
    piece.extra = {name: value for name, value in part.items() if name != kind}
    known = {place, "mimeType"}
    if further := {name: value for name, value in body.items() if name not in known}:
        piece.extra[kind] = Raw(written(further))
    return piece


def _bytes(text: str) -> bytes | None:
    try:
        data = b64decode(text, validate=True)
    except (NotBase64, ValueError):
        return None
    return data if b64encode(data).decode() == text else None


def _opaque(part: Fields, raw: bytes) -> Piece:
    piece = Piece("opaque")
    piece.name = next((name for name in part if name not in ("thought", "thoughtSignature")), "")
    piece.name = piece.name or next(iter(part), "part")
    piece.raw = raw
    return piece


def _delta(piece: Piece, index: int) -> Delta:
    text = "".join(piece.text)
    if piece.kind == "thought":
        return Delta(reasoning=text, index=index)
    if piece.kind == "call":
        said = piece.arguments.text if piece.arguments else text
        return Delta(tool=piece.name, input=said, index=index)
    return Delta(text=text, index=index)


def _usage(told: dict[str, int]) -> Usage:
    """Cached tokens are within the prompt, thoughts beside the candidates ("UsageMetadata")."""
    prompt, cached, candidates, thoughts, tools = (max(0, told.get(name, 0)) for name in COUNTED)
    return Usage(
        input=max(0, prompt - cached) + tools,
        cache_read=min(cached, prompt),
        output=candidates + thoughts,
        reasoning=thoughts,
    )


def _complaint(raw: Raw) -> str:
    try:
        error = fields(raw)
    except Unreadable:
        return bytes(raw).decode("utf-8", "replace")
    return told(error, "message", str, "") or told(error, "status", str, "") or "an error"
