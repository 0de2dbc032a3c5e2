"""OpenAI Chat Completions, and the many servers that speak it."""

from __future__ import annotations

from typing import Any

from holdfast.codecs.openai_chat import decode, encode, rules
from holdfast.codecs.openai_chat.stream import ChatDecoder
from holdfast.model.profile import Profile
from holdfast.model.reply import Reply
from holdfast.model.window import Options, Violation, Window


class ChatCodec:
    """The wire format of `client.chat.completions.create`."""

    name = "openai-chat"

    def __init__(self, provider: str = "openai", *, limit: str = "") -> None:
        self.provider = provider
        own = "max_completion_tokens" if provider == "openai" else "max_tokens"
        self.limit = limit or own
        """The field that says how long a reply may be."""

    def encode(self, window: Window, profile: Profile, options: Options) -> dict[str, Any]:
        """The request, as `client.chat.completions.create` takes it."""
        return encode.request(window, profile, options, self.provider, self.limit)

    def decode(self, body: bytes) -> Reply:
        """The reply that a whole response body is."""
        return decode.reply(body, self.provider)

    def decoder(self) -> ChatDecoder:
        """What reads a streamed reply."""
        return ChatDecoder(self.provider)

    def violations(self, request: dict[str, Any], profile: Profile) -> list[Violation]:
        """Every documented rule that a request breaks."""
        return rules.violations(request, profile)


__all__ = ["ChatCodec"]
