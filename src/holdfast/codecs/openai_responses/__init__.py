"""OpenAI Responses: window to request, bytes to reply, and the rules a request must keep."""

from __future__ import annotations

from typing import Any

from holdfast.codecs.openai_responses import decode, encode, rules
from holdfast.codecs.openai_responses.stream import ResponsesDecoder
from holdfast.model.profile import Profile
from holdfast.model.reply import Reply
from holdfast.model.window import Options, Violation, Window


class ResponsesCodec:
    """The wire format of `client.responses.create`."""

    name = "openai-responses"

    def __init__(self, provider: str = "openai", *, ids: bool | None = None) -> None:
        self.provider = provider
        self.ids = ids
        """Whether items go with their ids; None: where the provider stores them."""

    def encode(self, window: Window, profile: Profile, options: Options) -> dict[str, Any]:
        """The request, as `client.responses.create` takes it."""
        return encode.request(window, profile, options, self.provider, self.ids)

    def decode(self, body: bytes) -> Reply:
        """The reply that a whole response body is."""
        return decode.reply(body, self.provider)

    def decoder(self) -> ResponsesDecoder:
        """What reads a streamed reply."""
        return ResponsesDecoder(self.provider)

    def violations(self, request: dict[str, Any], profile: Profile) -> list[Violation]:
        """Every documented rule that a request breaks."""
        return rules.violations(request, profile)


__all__ = ["ResponsesCodec"]
