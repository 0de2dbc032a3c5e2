"""A provider that answers from a script, and remembers what it was asked."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import ClassVar

from holdfast.errors import InvalidRequest

Reply = object
"""A value to answer with, an exception to raise, or a callable that is given the request."""


class Scripted:
    """Gives its replies in order; a callable may wait, fail, or answer by what it is asked.

    A callable that returns an awaitable is awaited, which only an asynchronous door can do.
    """

    blocking: ClassVar[bool] = True

    def __init__(self, *replies: Reply | BaseException | Callable[[object], object]) -> None:
        self._replies = list(replies)
        self.asked: list[object] = []
        """Every request, in order, those that failed too."""

    @property
    def left(self) -> int:
        """How many replies have not been given yet."""
        return len(self._replies)

    async def send(self, request: object) -> object:
        """The next reply."""
        self.asked.append(request)
        if not self._replies:
            raise InvalidRequest(f"the script has ended; request {len(self.asked)} finds no reply")
        reply = self._replies.pop(0)
        if callable(reply) and not isinstance(reply, type):
            reply = reply(request)
            reply = await reply if inspect.isawaitable(reply) else reply
        if isinstance(reply, BaseException):
            raise reply
        return reply
