"""What the server has issued and wants back unchanged: signatures, encrypted thoughts, items."""

from __future__ import annotations

import base64
import hashlib
import json
import threading
from typing import Any

from msgspec import Struct


class Issued(Struct, frozen=True, kw_only=True):
    """A signature, and what it vouches for."""

    token: str
    format: str
    model: str
    content: str
    """The fingerprint of what was signed."""


class Vault:
    """Remembers everything that was issued; safe to use from every thread of the server."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._number = 0
        self._issued: dict[str, Issued] = {}
        self._thoughts: dict[str, tuple[str, ...]] = {}
        self._leaders: dict[str, str] = {}
        self._responses: dict[str, list[dict[str, Any]]] = {}

    def number(self) -> int:
        """The next of a row of numbers."""
        with self._lock:
            self._number += 1
            return self._number

    def name(self, prefix: str) -> str:
        """A new id that begins so."""
        return f"{prefix}{self.number():024d}"

    def sign(self, format: str, model: str, content: Any, prefix: str = "") -> str:
        """A new signature for some content."""
        return self._sign(format, model, fingerprint(content), prefix)

    def sign_mark(self, model: str, mark: str) -> str:
        """A new signature of Gemini's, for a part with this fingerprint."""
        return self._sign("gemini", model, mark, "")

    def _sign(self, format: str, model: str, mark: str, prefix: str) -> str:
        seed = f"{self.number()}|{format}|{model}|{mark}".encode()
        body = base64.b64encode(hashlib.sha512(seed).digest()).decode()
        token = prefix + body
        with self._lock:
            self._issued[token] = Issued(token=token, format=format, model=model, content=mark)
        return token

    def issued(self, token: str) -> Issued | None:
        """Who signed it; None where this server never did."""
        return self._issued.get(token)

    def remember_thoughts(self, calls: list[str], thoughts: list[str]) -> None:
        """These calls were made behind these thoughts (Anthropic)."""
        for call in calls:
            self._thoughts[call] = tuple(thoughts)

    def thoughts(self, call: str) -> tuple[str, ...] | None:
        """The thoughts a call was made behind; None where the call is not from here."""
        return self._thoughts.get(call)

    def remember_leader(self, item: str, reasoning: str) -> None:
        """This item was made with that reasoning item (OpenAI)."""
        self._leaders[item] = reasoning

    def leader(self, item: str) -> str:
        """The reasoning item that an item needs beside it; empty where there is none."""
        return self._leaders.get(item, "")

    def keep(self, response: str, items: list[dict[str, Any]]) -> None:
        """A stored response, with everything that led to it."""
        self._responses[response] = items

    def kept(self, response: str) -> list[dict[str, Any]] | None:
        """The conversation up to a stored response; None where there is none."""
        return self._responses.get(response)


def fingerprint(content: Any) -> str:
    """Equal for equal JSON values."""
    text = json.dumps(content, sort_keys=True, ensure_ascii=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()
