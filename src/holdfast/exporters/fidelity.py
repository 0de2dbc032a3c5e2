"""What an export says of itself: what it carries, and what it does not."""

from __future__ import annotations

from collections.abc import Iterator

from holdfast.model.portable import Fidelity

MASKED = "what looks like a secret, which is masked; --raw carries all of it"


def honest(carried: list[str], missing: list[str], *, raw: bool) -> Fidelity:
    """The statement; masking is told wherever it is done."""
    told = missing if raw else [*missing, MASKED]
    return Fidelity(carried=tuple(carried), not_carried=tuple(told))


def many(number: int, one: str, more: str = "") -> str:
    """So many of something."""
    return f"{number:,} {one if number == 1 else more or f'{one}s'}"


def in_lines(fidelity: Fidelity) -> Iterator[str]:
    """The statement, line by line."""
    yield from (f"carried: {line}" for line in fidelity.carried)
    yield from (f"not carried: {line}" for line in fidelity.not_carried)
