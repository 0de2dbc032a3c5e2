"""What the scripted model says: parts, how they end, what they used, and what goes wrong."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, Literal

from msgspec import Struct, field

from holdfast.model.reply import Edit, Iteration, Stop, Usage

Format = Literal["anthropic", "openai-responses", "openai-chat", "gemini"]


class Say(Struct, frozen=True):
    """Words."""

    text: str


class Think(Struct, frozen=True):
    """A thought; the server signs it and wants it back as it was."""

    text: str = ""
    redacted: bool = False
    """Whether only its encrypted form is shown, where the format knows such thoughts."""


class Ask(Struct, frozen=True):
    """A call of a tool; text as input is a call of a tool that takes free text."""

    name: str
    input: dict[str, Any] | str = field(default_factory=dict)
    id: str = ""
    """Its id; empty: a new one."""


class Compact(Struct, frozen=True):
    """The server's own compaction of all that came before; it wants it back as it was."""

    text: str = ""
    """What it says, where the format shows that; empty: the compaction failed."""
    signed: bool = False
    """Whether it comes with a signature, as one that was asked for by itself."""


Part = Say | Think | Ask | Compact


class Answer(Struct, frozen=True, kw_only=True):
    """One reply of the model, or of the server in its place."""

    parts: tuple[Part, ...] = ()
    stop: Stop | None = None
    """Why it ended; None: as its parts suggest."""
    usage: Usage | None = None
    """None: estimated from what was said."""
    iterations: tuple[Iteration, ...] = ()
    """Each sampling, where the format tells; their sum is what the call took."""
    edits: tuple[Edit, ...] = ()
    """What the server says that it cleared, where the format tells."""
    status: int = 200
    """Anything else is an error of the provider, with `error` as its words."""
    error: str = ""
    """With status 200: the stream breaks off with this error behind the parts."""
    delay: float = 0.0
    """Seconds before the answer begins."""
    pace: float = 0.0
    """Seconds between the pieces of a stream."""
    cut: int | None = None
    """How many bytes of the body are sent before the connection is dropped."""
    piece: int = 12
    """How many characters a piece of a stream has."""
    headers: dict[str, str] = field(default_factory=dict)


class Asked(Struct, kw_only=True):
    """One request as it came, and what became of it."""

    format: Format
    endpoint: str
    """`create`, `count` where only tokens are asked for, `compact` for a shorter conversation."""
    model: str
    stream: bool
    body: dict[str, Any]
    headers: dict[str, str]
    """Under lower-case names."""
    rule: str = ""
    """The rule it broke; empty where it was accepted."""
    refusal: str = ""
    """What it was told then."""
    told: Answer | None = None
    """What the script answered it."""


Script = Callable[[Asked], "Answer | str"]


def answer(*parts: Part | str, **fields: Any) -> Answer:
    """An answer of these parts; plain text is said."""
    spoken = tuple(Say(part) if isinstance(part, str) else part for part in parts)
    return Answer(parts=spoken, **fields)


def in_order(*answers: Answer | str) -> Script:
    """A script that gives these answers one after another, and the last one from then on."""
    left = list(answers)
    lock = threading.Lock()

    def script(asked: Asked) -> Answer | str:
        with lock:
            return left.pop(0) if len(left) > 1 else left[0]

    return script


def used(told: Answer, asked: Asked) -> Usage:
    """The usage an answer tells, or one estimated from the letters in both directions."""
    if told.usage is not None:
        return told.usage
    thought = sum(len(part.text) for part in told.parts if isinstance(part, Think)) // 4
    said = sum(len(str(part)) for part in told.parts if not isinstance(part, Think)) // 4
    return Usage(input=tokens(asked.body), output=said + thought + 1, reasoning=thought)


def tokens(body: dict[str, Any]) -> int:
    """A rough count of what a request holds: a token for four letters."""
    return len(str(body)) // 4 + 1
