"""A request of anybody's making, read in order without trusting its shape, and what a rule is."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import wraps
from typing import Any, cast

from msgspec import Struct

from holdfast.model.profile import Profile
from holdfast.model.window import Violation

Wire = dict[str, Any]

Broken = Iterator[tuple[str, str]]
"""Places where a rule is broken, and what the provider would say of each."""

Rule = Callable[["Wire | Reading", Profile], Iterator[Violation]]


def rule(name: str) -> Callable[[Callable[[Reading, Profile], Broken]], Rule]:
    """Give a rule its name: what it finds are violations of it."""

    def named(find: Callable[[Reading, Profile], Broken]) -> Rule:
        @wraps(find)
        def violations(request: Wire | Reading, profile: Profile) -> Iterator[Violation]:
            reading = request if isinstance(request, Reading) else Reading(request)
            for where, message in find(reading, profile):
                yield Violation(rule=name, where=where, message=message)

        return violations

    return named


class Said(Struct, frozen=True):
    """One message: its role, and its content as blocks, a plain string being one text."""

    role: str
    content: list[Wire]
    directive: bool = False
    """Whether it is a system message that says nothing and only sets how to answer."""


def content(found: Any) -> list[Wire]:
    """Content as blocks."""
    if isinstance(found, str):
        return [{"type": "text", "text": found}] if found else []
    return objects(found)


def objects(found: Any) -> list[Wire]:
    """The items of a list, an empty object in place of anything else."""
    if not isinstance(found, list | tuple):
        return []
    items = cast(list[Any], found)
    return [cast(Wire, item) if isinstance(item, dict) else {} for item in items]


def blocks(message: Said, type: str) -> list[Wire]:
    """The blocks of one type."""
    return [block for block in message.content if block.get("type") == type]


def _said(message: Wire) -> Said:
    role, blocks = str(message.get("role")), content(message.get("content"))
    directive = role == "system" and not blocks and bool(message.get("output_config"))
    return Said(role, blocks, directive)


class Reading:
    """A request, read once for all rules."""

    def __init__(self, request: Wire) -> None:
        self.request = request
        self.said = [_said(message) for message in objects(request.get("messages"))]
        self.blocks = list(self._everything())
        """Tools, system prompt, messages, and what is inside results: in the provider's order."""

    def _everything(self) -> Iterator[tuple[str, Wire]]:
        for place, tool in enumerate(objects(self.request.get("tools"))):
            yield f"tools.{place}", tool
        for place, block in enumerate(content(self.request.get("system"))):
            yield f"system.{place}", block
        for place, message in enumerate(self.said):
            for ordinal, block in enumerate(message.content):
                where = f"messages.{place}.content.{ordinal}"
                yield where, block
                if block.get("type") == "tool_result":
                    inside = content(block.get("content"))
                    yield from ((f"{where}.content.{n}", one) for n, one in enumerate(inside))

    @property
    def marked(self) -> list[tuple[str, Wire]]:
        """The blocks that carry a cache breakpoint."""
        return [(at, one) for at, one in self.blocks if one.get("cache_control") is not None]

    @property
    def texts(self) -> Iterator[tuple[str, str]]:
        """Every text, that of tools' results included."""
        for where, block in self.blocks:
            if block.get("type") == "text":
                found = block.get("text")
                yield where, found if isinstance(found, str) else ""

    @property
    def images(self) -> list[tuple[str, Wire]]:
        """Every image with its source, in messages and in results."""
        sources = [(at, one.get("source")) for at, one in self.blocks if one.get("type") == "image"]
        return [(at, cast(Wire, one) if isinstance(one, dict) else {}) for at, one in sources]
