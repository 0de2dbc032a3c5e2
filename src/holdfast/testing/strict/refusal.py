"""Why a request is refused, and what a rule is given to decide it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from msgspec import Struct

from holdfast.testing.strict.script import Asked
from holdfast.testing.strict.vault import Vault


class Refusal(Struct, frozen=True, kw_only=True):
    """A rule that was broken, in the provider's words."""

    rule: str
    message: str
    status: int = 400
    code: str | None = None
    param: str | None = None


class Case(Struct, kw_only=True):
    """A request before its rules."""

    asked: Asked
    vault: Vault
    size: int = 0
    """How many bytes the body has."""
    foreign: bool = False
    """Whether signatures that this server never issued are taken on trust."""

    @property
    def body(self) -> dict[str, Any]:
        return self.asked.body


Rule = Callable[[Case], Iterator[str | Refusal]]


def first(case: Case, rules: Iterable[tuple[str, Rule]]) -> Refusal | None:
    """The first rule of a table that a request breaks."""
    for name, rule in rules:
        for found in rule(case):
            return found if isinstance(found, Refusal) else Refusal(rule=name, message=found)
    return None


def dicts(value: Any) -> list[dict[str, Any]]:
    """The objects of a list; nothing where it is none."""
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []
