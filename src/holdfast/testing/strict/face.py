"""How the server plays one provider: its paths, its keys, its words, its bytes."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any, Protocol

from msgspec import Struct

from holdfast.testing.strict.refusal import Refusal, Rule
from holdfast.testing.strict.script import Answer, Asked, Format
from holdfast.testing.strict.vault import Vault


class Route(Struct, frozen=True):
    """What a path asks for."""

    endpoint: str
    model: str = ""
    """Where the path names it."""
    stream: bool | None = None
    """Where the path says so."""
    array: bool = False
    """Whether a stream is one JSON array rather than events."""


class Face(Protocol):
    """One provider."""

    format: Format
    rules: Sequence[tuple[str, Rule]]

    def route(self, path: str, query: dict[str, list[str]]) -> Route | None:
        """What the path asks for; None where it is not this provider's."""
        ...

    def keyless(self, headers: dict[str, str], query: dict[str, list[str]]) -> Refusal | None:
        """Why these headers open no door; None where a key is there."""
        ...

    def read(self, body: dict[str, Any]) -> dict[str, Any]:
        """The body as the rules read it."""
        ...

    def error(self, refusal: Refusal) -> dict[str, Any]:
        """The body of an error."""
        ...

    def counted(self, tokens: int) -> dict[str, Any]:
        """The body of a count."""
        ...

    def whole(self, asked: Asked, answer: Answer, vault: Vault) -> dict[str, Any]:
        """The body of an answer."""
        ...

    def stream(self, asked: Asked, answer: Answer, vault: Vault) -> Iterator[bytes]:
        """The events of an answer."""
        ...


def event(data: Any, name: str = "") -> bytes:
    """One server-sent event."""
    head = f"event: {name}\n" if name else ""
    return f"{head}data: {json.dumps(data, ensure_ascii=False)}\n\n".encode()


def pieces(text: str, size: int) -> list[str]:
    """A text in pieces of some characters; one empty piece where there is none."""
    return [text[at : at + size] for at in range(0, len(text), max(1, size))] or [""]


def bearer(headers: dict[str, str]) -> str:
    """The token of an Authorization header."""
    kind, _, token = headers.get("authorization", "").partition(" ")
    return token.strip() if kind.lower() == "bearer" else ""
