"""Values as JSON has them: every field of every struct, always; money in US dollars."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

NANO = 1_000_000_000
"""Money is kept in whole billionths of a dollar."""


def plain(value: Any) -> Any:
    """A struct as a dictionary of all its fields, and so whatever is inside it."""
    if isinstance(value, Struct):
        names = value.__struct_fields__
        if value.__struct_config__.array_like:
            return [plain(getattr(value, name)) for name in names]
        return {name: plain(getattr(value, name)) for name in names}
    if isinstance(value, dict):
        return {key: plain(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [plain(inner) for inner in value]
    return value


def dollars(nano: int | None) -> float | None:
    """Billionths of a dollar as dollars; None where no price is known."""
    return None if nano is None else nano / NANO
