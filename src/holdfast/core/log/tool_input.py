"""What stands in the input of a tool call, read without trusting its shape."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, cast

from holdfast.model.message import fields as arguments


def first(fields: dict[str, Any], names: Iterable[str]) -> Any:
    """The value of the first of these fields that is there; None where none is."""
    return next((fields[name] for name in names if fields.get(name) is not None), None)


def text_of(fields: dict[str, Any], names: Iterable[str]) -> str:
    """The text in the first of these fields that is there; empty where it is none."""
    value = first(fields, names)
    return value if isinstance(value, str) else ""


def items_of(fields: dict[str, Any], names: Iterable[str]) -> list[dict[str, Any]]:
    """The objects in the list that the first of these fields holds."""
    value = first(fields, names)
    if not isinstance(value, list):
        return []
    members = cast(list[Any], value)
    return [cast(dict[str, Any], member) for member in members if isinstance(member, dict)]


__all__ = ["arguments", "first", "items_of", "text_of"]
