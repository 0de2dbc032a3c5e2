"""Anthropic Messages: how a window is written for it, how its replies are read, and its rules.

A request that carries `betas` is for `client.beta.messages.create(**request)`, any other for
`client.messages.create(**request)`.
"""

from __future__ import annotations

from typing import Any

from holdfast.codecs.anthropic.blocks import OWNER
from holdfast.codecs.anthropic.decode import decode
from holdfast.codecs.anthropic.encode import encode
from holdfast.codecs.anthropic.rules import violations
from holdfast.codecs.anthropic.stream import StreamDecoder
from holdfast.model.profile import Profile
from holdfast.model.reply import Reply
from holdfast.model.window import Options, Violation, Window


class Anthropic:
    """The codec of the Messages format."""

    name = "anthropic"
    provider = OWNER

    def encode(self, window: Window, profile: Profile, options: Options) -> dict[str, Any]:
        """The request, as the official SDK takes it."""
        return encode(window, profile, options)

    def decode(self, body: bytes) -> Reply:
        """The reply that a whole response body is."""
        return decode(body)

    def decoder(self) -> StreamDecoder:
        """What reads a streamed reply."""
        return StreamDecoder()

    def violations(self, request: dict[str, Any], profile: Profile) -> list[Violation]:
        """Every rule, A1 to A13, that a request breaks."""
        return violations(request, profile)
