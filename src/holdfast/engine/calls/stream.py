"""A reply as an SDK streams it: heard piece by piece, recorded exactly once, however it ends.

Rule 1: what came is kept, be it cut short; a reply that was cut is recorded as aborted.
Rule 2: what the SDK raises is the caller's to see: it is raised again once what came is kept.
Rule 3: what an SDK adds to the events of its provider, such as what it has put together so far, is
        its own and not read.
Rule 4: whoever looks on sees none of our keys.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from contextlib import AsyncExitStack
from inspect import isawaitable
from typing import TYPE_CHECKING, Any, cast

from msgspec.structs import replace

from holdfast.core.secrets import redact
from holdfast.engine.calls.response import PARSED, body_of
from holdfast.engine.plugins import codec
from holdfast.errors import InvalidRequest, Unreachable
from holdfast.model import wire
from holdfast.model.log import ReplyEntry
from holdfast.model.reply import Delta, Reply
from holdfast.ports import Decoder

if TYPE_CHECKING:
    from holdfast.engine.context import SessionContext
    from holdfast.engine.turns import Turns


async def listen(
    session: SessionContext,
    turns: Turns,
    stream: Any,
    on_delta: OnDelta | None,
    *,
    format: str = "",
    key: str = "",
) -> ReplyEntry:
    """Append what a stream brings: parts verbatim, usage and cost, in one go at its end."""
    heard, shown = Heard(format), Masked(on_delta or nobody, session.secrets)
    entry = None
    try:
        async for piece in pieces(stream):
            for delta in heard.take(piece):
                await shown(delta)
        await shown.rest()
    finally:
        reply = heard.close()
        if reply and (reply.message.parts or reply.stop != "aborted"):
            entry = await turns.record(reply, heard.format, key=key)
        elif reply:
            await turns.failed(reply, heard.format)
    if entry is None:
        said = (reply and reply.error) or "the stream ended before a word had come"
        raise Unreachable(f"{said}; ask again")
    return entry


async def pieces(stream: Any) -> AsyncIterator[Any]:
    """What comes, awaited where it must be; the stream is let go at the end, finished or not."""
    async with AsyncExitStack() as held:
        if hasattr(stream, "__aenter__"):
            stream = await held.enter_async_context(stream)
        elif hasattr(stream, "__enter__"):
            stream = held.enter_context(stream)
        elif close := getattr(stream, "aclose", None):
            held.push_async_callback(close)
        elif close := getattr(stream, "close", None):
            held.callback(close)
        if hasattr(stream, "__aiter__"):
            async for piece in stream:
                yield piece
        else:
            for piece in cast("Iterable[Any]", stream):
                yield piece


class Heard:
    """What has come of one reply."""

    def __init__(self, format: str = "") -> None:
        self.format = codec(format).name if format else ""
        self._decoder: Decoder | None = None

    def take(self, piece: Any) -> list[Delta]:
        """The deltas that a piece completes."""
        event = told(piece)
        if event is None:
            return []
        if self._decoder is None:
            self._decoder = self._begin(event)
        return self._decoder.feed(b"data: " + wire.encode(event) + b"\n\n")

    def _begin(self, event: dict[str, Any]) -> Decoder:
        found = format_of(event)
        if self.format not in ("", found):
            raise InvalidRequest(
                f"this is a stream of {found}, not of {self.format}; name its own format"
            )
        self.format = found
        return codec(found).decoder()

    def close(self) -> Reply | None:
        """The reply as far as it came, None where nothing did."""
        if self._decoder is None:
            return None
        reply = self._decoder.close()
        return replace(reply, stop="aborted") if reply.stop == "error" else reply


def told(piece: Any) -> dict[str, Any] | None:
    """What the provider said in a piece of a stream; None where only the SDK speaks."""
    kind = _field(piece, "type")
    if kind == "chunk":  # the openai SDK's own event around a chunk
        return told(_field(piece, "chunk"))
    if isinstance(kind, str) and not _of_provider(kind):
        return None
    try:
        found = wire.decode(body_of(piece, IN_EVENTS), dict[str, Any])
    except ValueError as garbled:
        raise InvalidRequest(
            f"a piece of this stream is none of a provider's ({garbled}); give what its SDK returns"
        ) from garbled
    return {name: value for name, value in found.items() if name != "snapshot"}


def _field(piece: Any, name: str) -> Any:
    if isinstance(piece, dict):
        return cast("dict[str, Any]", piece).get(name)
    return getattr(piece, name, None)


def _of_provider(kind: str) -> bool:
    return kind in _ANTHROPIC or kind == "error" or kind.startswith("response.")


_ANTHROPIC = frozenset({
    "message_start", "content_block_start", "content_block_delta", "content_block_stop",
    "message_delta", "message_stop", "ping",
})  # fmt: skip

IN_EVENTS: dict[str, Any] = {
    "response": PARSED,
    "message": PARSED,
    "item": PARSED["output"]["__all__"],
    "part": {"parsed": True},
    "content_block": {"parsed_output": True},
    "snapshot": True,
}
"""Where the events of a stream keep what the SDK parsed or has put together."""


def format_of(event: dict[str, Any]) -> str:
    """The wire format that a stream is written in, by one of its events."""
    kind = str(event.get("type", ""))
    if kind in _ANTHROPIC:
        return "anthropic"
    if kind.startswith("response."):
        return "openai-responses"
    if "choices" in event:
        return "openai-chat"
    if any(name in event for name in ("candidates", "usageMetadata", "promptFeedback")):
        return "gemini"
    raise InvalidRequest(
        "the stream is of no wire format known here; give what the provider's SDK returns"
    )


OnDelta = Callable[[Delta], Any]
"""Told of each piece of a reply as it comes; behind the async door it may be a coroutine."""


async def heard(on_delta: OnDelta, delta: Delta) -> None:
    """Tell a listener, and wait until it has listened."""
    told = on_delta(delta)
    if isawaitable(told):
        await told


class Masked:
    """Tells somebody of each piece of a reply, without the keys."""

    def __init__(self, on_delta: OnDelta, secrets: Sequence[str]) -> None:
        self._listener, self._secrets = on_delta, secrets
        self._held: Delta | None = None

    async def __call__(self, delta: Delta) -> None:
        """A piece has come."""
        field = next((name for name in ("text", "reasoning", "input") if _of(delta, name)), "")
        if not self._secrets or not field:
            await self.rest()
            await heard(self._listener, delta)
            return
        if self._held and (self._held.index != delta.index or not _of(self._held, field)):
            await self.rest()
        held, self._held = self._held, None
        clean = redact((_of(held, field) if held else "") + _of(delta, field), self._secrets)
        kept = max(_begun(clean, secret) for secret in self._secrets)
        if kept:
            self._held = replace(Delta(index=delta.index), **{field: clean[-kept:]})
        told = replace(delta, **{field: clean[: len(clean) - kept]})
        if _of(told, field) or told.tool:
            await heard(self._listener, told)

    async def rest(self) -> None:
        """Nothing more of this comes: what waited was no key."""
        held, self._held = self._held, None
        if held:
            await heard(self._listener, held)


def nobody(_: Delta) -> None:
    """Nobody looks on."""


def _of(delta: Delta, field: str) -> str:
    return getattr(delta, field)


def _begun(text: str, secret: str) -> int:
    """How many characters at the end of a text are the beginning of a secret."""
    sizes = range(min(len(secret) - 1, len(text)), 0, -1)
    return next((n for n in sizes if text.endswith(secret[:n])), 0)
