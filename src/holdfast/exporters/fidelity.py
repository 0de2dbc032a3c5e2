"""What an export says of itself: what it carries, and what it does not."""

from __future__ import annotations

from collections.abc import Iterator

from holdfast.model.portable import Fidelity

MASKED = "what looks like a secret: it is masked, and --raw leaves it as it is"


def honest(carried: list[str], missing: list[str], *, raw: bool) -> Fidelity:
    """The statement; masking is told wherever it is done."""
    told = missing if raw else [*missing, MASKED]
    return Fidelity(carried=tuple(carried), not_carried=tuple(told))


def many(number: int, one: str, more: str = "") -> str:
    """So many of something."""
    return f"{number:,} {one if number == 1 else more or f'{one}s'}"


def said(messages: int, markers: int) -> str:
    """How much of a log there is; markers only where there are any."""
    marked = f" and {many(markers, 'marker')}" if markers else ""
    return f"{many(messages, 'message')}{marked}"


def in_lines(fidelity: Fidelity) -> Iterator[str]:
    """The statement, line by line."""
    yield from (f"carried: {line}" for line in fidelity.carried)
    yield from (f"not carried: {line}" for line in fidelity.not_carried)
