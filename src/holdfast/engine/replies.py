"""What callers hand over as a reply: bytes, plain values, or an SDK's own object."""

from __future__ import annotations

from typing import Any, cast

from holdfast.errors import Misuse
from holdfast.model import wire


def body_of(response: Any) -> bytes:
    """The JSON of a response, whatever shape it came in."""
    if isinstance(response, bytes):
        return response
    if isinstance(response, str):
        return response.encode("utf-8", "surrogatepass")
    if isinstance(response, dict):
        return wire.encode(cast(dict[str, Any], response))
    dump = getattr(response, "model_dump", None)
    if dump is None:
        raise Misuse(f"a reply cannot be read from {type(response).__name__}; give the response")
    return wire.encode(dump(mode="json", by_alias=True, exclude_none=True))


def format_of(body: bytes) -> str:
    """The wire format that a response body is written in."""
    try:
        told = wire.decode(body, dict[str, Any])
    except ValueError as garbled:
        raise Misuse(f"the reply is not JSON: {garbled}") from garbled
    for key, value, format in _SIGNS:
        if key in told and (value is None or told[key] == value):
            return format
    raise Misuse("the reply is of no wire format known here; name it with format=")


_SIGNS = (
    ("candidates", None, "gemini"),
    ("choices", None, "openai-chat"),
    ("object", "response", "openai-responses"),
    ("output", None, "openai-responses"),
    ("type", "message", "anthropic"),
)
