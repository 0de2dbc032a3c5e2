"""What callers hand over as a reply: bytes, plain values, or an SDK's own object.

An SDK that parses a reply for its caller keeps what it made of it among the reply's own fields. The
provider never said that, and refuses it as unknown where it is echoed.
"""

from __future__ import annotations

from os import PathLike
from typing import Any, cast

from holdfast.engine.plugins import codec
from holdfast.errors import InvalidRequest
from holdfast.model import wire
from holdfast.model.reply import Reply


def is_stream(response: Any) -> bool:
    """Whether a response comes piece by piece."""
    if isinstance(response, (bytes, str, dict, PathLike)) or hasattr(response, "model_dump"):
        return False
    return any(hasattr(response, name) for name in _COMES)


_COMES = ("__iter__", "__aiter__", "__enter__", "__aenter__")


def body_of(response: Any, parsed: dict[str, Any] | None = None) -> bytes:
    """The JSON of a response, whatever shape it came in, less what an SDK parsed."""
    own = PARSED if parsed is None else parsed
    if isinstance(response, bytes):
        return response
    if isinstance(response, str):
        return response.encode("utf-8", "surrogatepass")
    if isinstance(response, dict):
        return _written(_without(cast(dict[str, Any], response), own))
    dump = getattr(response, "model_dump", None)
    if dump is None:
        raise InvalidRequest(
            f"a reply cannot be read from {type(response).__name__}; give the response"
        )
    return wire.encode(dump(mode="json", by_alias=True, exclude_none=True, exclude=own))


def _written(response: Any) -> bytes:
    try:
        return wire.encode(response)
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidRequest(f"the reply is no JSON ({error}); give the response") from error


PARSED: dict[str, Any] = {
    "output": {"__all__": {"parsed_arguments": True, "content": {"__all__": {"parsed": True}}}},
    "choices": {
        "__all__": {
            "message": {
                "parsed": True,
                "tool_calls": {"__all__": {"function": {"parsed_arguments": True}}},
            }
        }
    },
    "content": {"__all__": {"parsed_output": True}},
}
"""Where `ParsedResponse`, `ParsedChatCompletion` and `ParsedMessage` keep what they parsed, as
pydantic's `exclude` wants it."""


def _without(value: Any, parsed: dict[str, Any]) -> Any:
    """A plain value less the fields named, each at its place only."""
    if isinstance(value, list):
        inner = parsed.get("__all__", {})
        return [_without(item, inner) for item in cast("list[Any]", value)]
    if not isinstance(value, dict):
        return value
    return {
        name: _without(member, parsed[name]) if name in parsed else member
        for name, member in cast("dict[str, Any]", value).items()
        if parsed.get(name) is not True
    }


def read_reply(response: Any, format: str) -> tuple[Reply, str]:
    """The reply that a response is, and its wire format; InvalidRequest where it is none.

    Nothing is appended for an error, for another format than was told, or for content that nobody
    here can read: an answer must never be kept as an empty one.
    """
    body = body_of(response)
    told = _json(body)
    _check_error(told)
    found = format_of(told)
    if format and codec(format).name != found:
        raise InvalidRequest(
            f"this is a reply of {found}, not of {codec(format).name}; name its own format"
        )
    reply = codec(found).decode(body)
    if not reply.message.parts and (_says_something(told) or reply.stop in ("error", "aborted")):
        raise InvalidRequest(
            f"nothing can be read of this {found} reply: {reply.error or 'odd content'}"
        )
    return reply, found


def _json(body: bytes) -> dict[str, Any]:
    try:
        return wire.decode(body, dict[str, Any])
    except ValueError as garbled:
        raise InvalidRequest(
            f"the reply is not JSON ({garbled}); give the response, or the last object of a stream"
        ) from garbled


def _check_error(told: dict[str, Any]) -> None:
    if told.get("error") or told.get("type") == "error":
        said = told.get("error") or told
        raise InvalidRequest(
            f"the provider answered with an error, which is no reply: {said!r:.300}; "
            "give its message to s.refused(…), which says what to send differently"
        )


def _says_something(told: dict[str, Any]) -> bool:
    """Whether a reply claims to hold anything at all."""
    candidates: Any = told.get("candidates") or [{}]
    said = (told.get("content"), told.get("choices"), told.get("output"), candidates[0])
    return any(said)


def format_of(told: dict[str, Any]) -> str:
    """The wire format that a response is written in."""
    for key, value, format in _SIGNS:
        if key in told and (value is None or told[key] == value):
            return format
    raise InvalidRequest(
        "the reply is of no wire format known here; give the provider's response whole"
    )


_SIGNS = (
    ("candidates", None, "gemini"),
    ("choices", None, "openai-chat"),
    ("object", "response", "openai-responses"),
    ("output", None, "openai-responses"),
    ("type", "message", "anthropic"),
)
