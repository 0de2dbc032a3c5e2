"""Whether a body can be stored and read again, told before anything is written."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeVar, cast, get_args

import msgspec

from holdfast.errors import InvalidRequest
from holdfast.model import wire
from holdfast.model.log import Body
from holdfast.model.message import Message, Part, Record, Role, Text, ToolCall, ToolResult

T = TypeVar("T")

_KINDS = get_args(Body)
_ROLES = frozenset(get_args(Role))


def sound(body: Body) -> Body:
    """The body itself; InvalidRequest says what is wrong where it could not be read again."""
    if (
        type(body) is Message
        and type(body.parts) is tuple
        and body.role in _ROLES
        and all(map(_plain, body.parts))
    ):
        return body
    if not isinstance(body, _KINDS):
        raise InvalidRequest(
            f"{type(body).__name__} is neither a message nor a marker; write holdfast.user(…), "
            "holdfast.assistant(…) or Message(…)"
        )
    made = typed(body, Body)
    try:
        wire.decode(wire.encode(made), Body)  # type: ignore[arg-type]
    except (msgspec.MsgspecError, TypeError, ValueError, RecursionError) as error:
        raise InvalidRequest(f"this {type(body).__name__} cannot be kept: {error}") from error
    return made


def typed(value: T, kind: Any) -> T:
    """The value, with everything in it of its declared type; InvalidRequest where something is not.

    Going through JSON would not do: there bytes are text, and so is what only looks like text.
    """
    try:
        for foreign in _foreign(value):
            raise TypeError(f"there is a {foreign.__name__} in it; write str(…) around it")
        plain = msgspec.to_builtins(value, builtin_types=_BYTES, enc_hook=plain_scalar)
        return msgspec.convert(plain, kind, builtin_types=_BYTES)
    except (msgspec.MsgspecError, TypeError, ValueError, RecursionError) as error:
        told = str(error)
        hints = [do for sign, do in _HINTS.items() if sign in told]
        hint = "".join(f"; {do}" for do in hints[:1])
        raise InvalidRequest(f"this {type(value).__name__} cannot be kept: {told}{hint}") from error


def plain_scalar(value: Any) -> Any:
    """Text or a number of a subclass as a plain one; anything else as it is."""
    if type(value) in _PLAIN_TYPES:
        return value
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, int):
        return int(value)
    return float(value) if isinstance(value, float) else value


_BYTES = (bytes, bytearray, memoryview)
_PLAIN_TYPES = (str, int, float, bool, type(None), *_BYTES)


def _foreign(value: Any) -> Iterator[type]:
    """The types of what is inside that msgspec would quietly write as text, such as a UUID."""
    if isinstance(value, msgspec.Struct):
        for name in value.__struct_fields__:
            yield from _foreign(getattr(value, name))
    elif isinstance(value, dict):
        for pair in cast("dict[Any, Any]", value).items():
            yield from _foreign(pair)
    elif isinstance(value, (list, tuple)):
        for one in cast("list[Any]", value):
            yield from _foreign(one)
    elif not isinstance(value, _PLAIN_TYPES):
        yield type(cast("object", value))


_HINTS: dict[str, str] = {
    ".input": "a tool call's input is its JSON text",
    "Expected `bytes`, got `str`": "give the bytes themselves, as from base64.b64decode(…)",
    "Expected `str`, got `bytes`": "decode them first, as in data.decode()",
}


def _plain(part: Part) -> bool:
    """Whether a part is plainly all right: words, as most are, with no seal, or a record."""
    if type(part) is Record:
        named = type(part.owner) is type(part.type) is str and type(part.data) is bytes
        return named and type(part.line) is int and type(part.whole) is bool
    if type(part) is ToolCall:
        words = type(part.id) is type(part.name) is type(part.input) is str
        return words and part.seal is None
    if type(part) is Text:
        return type(part.text) is str and part.scaffold == "" and part.seal is None
    if type(part) is ToolResult:
        words = type(part.call) is type(part.output) is type(part.name) is str
        return (
            words
            and type(part.error) is bool
            and part.media == ()
            and part.seal is part.started is None
            and (part.exit is None or type(part.exit) is int)
        )
    return False


LONGEST_ID = 256
"""How long an id of the caller's own may be."""


def own_id(value: object) -> str:
    """An id of the caller's own for a session, as it is; InvalidRequest where it can be none."""
    id = text(value, "the id of a session")
    if not id.strip():
        raise InvalidRequest(
            "the id of a session has at least one letter; give the id to open or create"
        )
    if len(id) > LONGEST_ID:
        raise InvalidRequest(
            f"the id of a session has at most {LONGEST_ID} letters, not {len(id):,}"
        )
    if not (id.isascii() and id.isprintable()):
        raise InvalidRequest(
            f"{id!r} cannot be the id of a session: it may hold printable ASCII, no control "
            "characters; encode what else there is, as in quote(id)"
        )
    return id


def text(value: object, name: str) -> str:
    """The value, which must be text."""
    if not isinstance(value, str):
        raise InvalidRequest(f"{name} is text, not {type(value).__name__}: {value!r:.40}")
    return value
