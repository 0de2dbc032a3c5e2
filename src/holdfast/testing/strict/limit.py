"""A prompt that is longer than a model holds, in the words of each provider."""

from __future__ import annotations

from typing import Any

from holdfast.testing.strict.refusal import Refusal
from holdfast.testing.strict.script import Asked

ROOM = ("max_tokens", "max_completion_tokens")
"""Where a request says how long its reply may be; the others do not count that to the prompt."""


def too_long(asked: Asked, tokens: int, window: int) -> Refusal | None:
    """Why a prompt of so many tokens is refused by a model with this window; None where it fits."""
    room = _room(asked.body)
    if tokens + room <= window:
        return None
    coded = asked.format.startswith("openai")
    return Refusal(
        rule="window",
        message=_words(asked.format, tokens, room, window),
        code="context_length_exceeded" if coded else None,
    )


def _room(body: dict[str, Any]) -> int:
    return next((body[name] for name in ROOM if isinstance(body.get(name), int)), 0)


def _words(format: str, tokens: int, room: int, window: int) -> str:
    match format:
        case "anthropic" if tokens > window:
            return f"prompt is too long: {tokens} tokens > {window} maximum"
        case "anthropic":
            return (
                f"input length and `max_tokens` exceed context limit: {tokens} + {room} > {window},"
                " decrease input length or `max_tokens` and try again"
            )
        case "openai-chat":
            return (
                f"This model's maximum context length is {window} tokens. However, you requested "
                f"{tokens + room} tokens ({tokens} in the messages, {room} in the completion). "
                "Please reduce the length of the messages or completion."
            )
        case "openai-responses":
            return (
                "Your input exceeds the context window of this model. "
                "Please adjust your input and try again."
            )
        case _:
            return (
                f"The input token count ({tokens}) exceeds the maximum number of tokens allowed "
                f"({window})."
            )
