"""Whoever looks on while a reply comes sees none of our keys, though they come in pieces.

What may be the beginning of a key waits until more has come, or until something else comes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from inspect import isawaitable
from typing import Any

from msgspec.structs import replace

from holdfast.core.secrets import redact
from holdfast.model.reply import Delta

Hear = Callable[[Delta], Any]
"""Told of each piece of a reply as it comes; behind the async door it may be a coroutine."""


async def heard(hear: Hear, delta: Delta) -> None:
    """Tell a listener, and wait until it has listened."""
    told = hear(delta)
    if isawaitable(told):
        await told


class Masked:
    """Tells somebody of each piece of a reply, without the keys."""

    def __init__(self, hear: Hear, secrets: Sequence[str]) -> None:
        self._listener, self._secrets = hear, secrets
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
