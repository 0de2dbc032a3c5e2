"""Gemini's generateContent: window to request, bytes to reply, and the rules of the format."""

from __future__ import annotations

from typing import Any

from holdfast.codecs.gemini.decode import Assembly
from holdfast.codecs.gemini.encode import request_of
from holdfast.codecs.gemini.names import PROVIDER
from holdfast.codecs.gemini.rest import path, rest
from holdfast.codecs.gemini.rules import broken
from holdfast.codecs.gemini.stream import GeminiDecoder
from holdfast.model.profile import Profile
from holdfast.model.reply import Reply
from holdfast.model.window import Options, Violation, Window

__all__ = ["Gemini", "path", "rest"]


class Gemini:
    """The codec; `encode` gives what `client.models.generate_content(**request)` takes.

    Whether a reply is streamed is a matter of the method called (`generate_content_stream`), so
    `Options.stream` changes nothing here; `rest` and `path` give the same request for plain HTTP.
    """

    name: str = "gemini"
    provider: str = PROVIDER

    def encode(self, window: Window, profile: Profile, options: Options) -> dict[str, Any]:
        """The request, as google-genai takes it."""
        return request_of(window, options)

    def decode(self, body: bytes) -> Reply:
        """The reply that a whole response body is: one response, or the array of a stream."""
        assembly = Assembly()
        assembly.whole(body)
        return assembly.reply()

    def decoder(self) -> GeminiDecoder:
        """What reads a streamed reply, as server-sent events or as a JSON array."""
        return GeminiDecoder()

    def violations(self, request: dict[str, Any], profile: Profile) -> list[Violation]:
        """Every rule of G1–G6 that a request breaks."""
        return broken(request, profile)
