"""What is said: parts, and the messages made of them.

Rule 1: a message is a pure value; where and when it was said is the entry's business (log.py).
Rule 2: what a provider adds to a part we understand rides along as a `Seal`; a block we do not
        understand is an `Opaque` part. Both are bytes with an owner, echoed to it or left out.
Rule 3: every new field has a default and no field changes its type, so old rows always decode.
"""

from __future__ import annotations

from hashlib import sha256
from typing import Any, Literal, cast

from msgspec import Struct
from msgspec.structs import replace

from holdfast.model import wire

Role = Literal["system", "developer", "user", "assistant", "tool"]


FRAMEWORK = "framework:"
"""How the owners begin that are no provider: what is sealed for them is kept, and never sent."""


class Seal(Struct, frozen=True, omit_defaults=True):
    """A provider's residue on a part: signatures, item ids, encrypted text. Never read here."""

    owner: str
    """The provider that made it and alone may see it again."""
    data: bytes
    """JSON of the fields we do not model, verbatim."""
    model: str = ""
    hash: str = ""
    """SHA-256 of `data`, set when it was stored and checked before it is echoed."""

    @property
    def sent(self) -> bool:
        """Whether it goes to a provider with its part."""
        return not self.owner.startswith(FRAMEWORK)

    @property
    def intact(self) -> bool:
        """Whether the bytes are the ones that were stored."""
        return not self.hash or sha256(self.data).hexdigest() == self.hash


def seal(owner: str, data: bytes, model: str = "") -> Seal:
    """A seal that knows the hash of its bytes."""
    return Seal(owner, data, model, sha256(data).hexdigest())


class Text(Struct, frozen=True, omit_defaults=True, tag_field="kind", tag="text"):
    """Words: of the user, the model or the harness."""

    text: str
    scaffold: str = ""
    """The scaffold tag this text was written for; empty when it is somebody's own words."""
    seal: Seal | None = None


class Reasoning(Struct, frozen=True, omit_defaults=True, tag_field="kind", tag="reasoning"):
    """What the model thought aloud, with the signature that lets its owner accept it again."""

    text: str
    seal: Seal | None = None


class ToolCall(Struct, frozen=True, omit_defaults=True, tag_field="kind", tag="tool_call"):
    """The model asks for a tool; `input` is the JSON it wrote, character for character."""

    id: str
    name: str
    input: str
    seal: Seal | None = None

    @property
    def fields(self) -> dict[str, Any]:
        """What the tool is called with, by name."""
        return fields(self.input)


class ToolResult(Struct, frozen=True, omit_defaults=True, tag_field="kind", tag="tool_result"):
    """What a tool answered: text, and pictures beside it."""

    call: str
    """The id of the call it answers."""
    output: str
    error: bool = False
    name: str = ""
    media: tuple[Media, ...] = ()
    started: int | None = None
    """When the tool began, in ms; the entry says when it ended."""
    seal: Seal | None = None
    exit: int | None = None
    """The status of a command, where an imported record tells it beside the answer."""


class Media(Struct, frozen=True, omit_defaults=True, tag_field="kind", tag="media"):
    """A picture, document or sound: its bytes, or where they are."""

    type: str
    """Its media type, such as image/png."""
    data: bytes = b""
    url: str = ""
    name: str = ""
    width: int = 0
    height: int = 0
    seal: Seal | None = None


class SummaryText(Struct, frozen=True, omit_defaults=True, tag_field="kind", tag="summary"):
    """A summary made elsewhere (an import, a provider): known as one, whatever its role."""

    text: str
    seal: Seal | None = None


class Patch(Struct, frozen=True, omit_defaults=True, tag_field="kind", tag="patch"):
    """A change to files, as a diff."""

    diff: str
    files: tuple[str, ...] = ()


class Snapshot(Struct, frozen=True, omit_defaults=True, tag_field="kind", tag="snapshot"):
    """The state of the files at this place, by the name their keeper gave it."""

    name: str


class Subtask(Struct, frozen=True, omit_defaults=True, tag_field="kind", tag="subtask"):
    """Work handed to another session, and what came back."""

    session: str
    prompt: str = ""
    result: str = ""


class Opaque(Struct, frozen=True, omit_defaults=True, tag_field="kind", tag="opaque"):
    """A provider's block that we do not model: stored, echoed to its owner, never read."""

    owner: str
    type: str
    data: bytes
    model: str = ""
    hash: str = ""

    @property
    def intact(self) -> bool:
        """Whether the bytes are the ones that were stored."""
        return not self.hash or sha256(self.data).hexdigest() == self.hash


def opaque(owner: str, type: str, data: bytes, model: str = "") -> Opaque:
    """An opaque part that knows the hash of its bytes."""
    return Opaque(owner, type, data, model, sha256(data).hexdigest())


class Record(Struct, frozen=True, omit_defaults=True, tag_field="kind", tag="record"):
    """What an importer found and our model has no place for: kept, never sent, weighing nothing.

    Records stand behind all other parts of a message, so that a window can do without reading them.
    """

    owner: str
    """The program that wrote it."""
    type: str
    data: bytes
    line: int = 0
    """Where it stood in its file."""
    whole: bool = False
    """Whether it is kept for itself, and not as what is left of the message it stands in."""


Part = (
    Text | Reasoning | ToolCall | ToolResult | Media | SummaryText | Patch | Snapshot | Subtask
    | Opaque | Record
)  # fmt: skip


class Message(Struct, frozen=True, omit_defaults=True, tag_field="kind", tag="message"):
    """One thing said: a role and its parts, in order."""

    role: Role
    parts: tuple[Part, ...]

    @property
    def text(self) -> str:
        """The words in it, without calls, results and reasoning."""
        return "\n".join(part.text for part in self.parts if isinstance(part, Text))

    @property
    def bare(self) -> Message:
        """The message without the originals that a framework keeps with it."""
        if not any(map(_kept, self.parts)):
            return self
        bare = [replace(part, seal=None) if _kept(part) else part for part in self.parts]
        return Message(self.role, tuple(bare))

    @property
    def calls(self) -> tuple[ToolCall, ...]:
        """The tools it asks for."""
        return tuple(part for part in self.parts if isinstance(part, ToolCall))


def _kept(part: Part) -> bool:
    seal: Seal | None = getattr(part, "seal", None)
    return seal is not None and not seal.sent


def fields(input: str) -> dict[str, Any]:
    """The fields of a call's input; none where the model wrote no JSON object."""
    try:
        found: Any = wire.value(input)
    except (ValueError, RecursionError):
        return {}
    return cast("dict[str, Any]", found) if isinstance(found, dict) else {}


def system(text: str) -> Message:
    """What the model is told to be."""
    return Message("system", (Text(text),))


def user(text: str, *media: Media) -> Message:
    """What the user said, with pictures if there are any."""
    return Message("user", (Text(text), *media))


def assistant(*parts: Part | str) -> Message:
    """What the model said."""
    return Message("assistant", tuple([Text(p) if isinstance(p, str) else p for p in parts]))


def tool(*results: ToolResult) -> Message:
    """What the tools answered."""
    return Message("tool", results)
