"""What a rule is that recognises a constraint or a correction."""

from __future__ import annotations

import re
from functools import cache
from typing import Literal

from msgspec import Struct

Kind = Literal["constraint", "correction"]


class Rule(Struct, frozen=True):
    """One way of saying it."""

    name: str
    kind: Kind
    shape: str
    """The regular expression, made when it is first needed."""

    @property
    def pattern(self) -> re.Pattern[str]:
        return _pattern(self.shape)


@cache
def _pattern(shape: str) -> re.Pattern[str]:
    return re.compile(shape, re.IGNORECASE)


def rule(name: str, kind: Kind, *patterns: str) -> Rule:
    """A rule that any of some patterns makes."""
    return Rule(name, kind, "|".join(patterns))
