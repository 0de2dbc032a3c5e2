"""Caps on the command line: said with an option, and asked about where somebody can be asked."""

from __future__ import annotations

from collections.abc import Callable
from math import isfinite
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from holdfast.engine.client import Session
    from holdfast.errors import Capped


class _Dollars(click.FloatRange):
    """An amount above nothing, and not endless."""

    name = "amount"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        dollars = super().convert(value, param, ctx)
        if not isfinite(dollars):
            self.fail(f"{value} is no amount; leave it out for no cap", param, ctx)
        return dollars


_DOLLARS = _Dollars(min=0, min_open=True)


def cap_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command --cap-session and --cap-day; it gets them as `caps`, by name."""
    from functools import wraps

    @click.option("--cap-session", type=_DOLLARS, metavar="USD", help="What it may cost at most.")
    @click.option("--cap-day", type=_DOLLARS, metavar="USD",
                  help="What all sessions may cost in a day.")  # fmt: skip
    @wraps(function)
    def command(*words: Any, cap_session: float | None, cap_day: float | None, **rest: Any) -> Any:
        return function(*words, caps={"session": cap_session, "day": cap_day}, **rest)

    return command


def raised(session: Session, capped: Capped) -> float:
    """Let a session spend as much again as its cap was, from here on; the new cap."""
    old = capped.cap / 1e9
    new = max(capped.spent + capped.held, capped.cap) / 1e9 + max(old, 2 * capped.price / 1e9)
    session.set_caps(**{capped.of: round(new, 4)})
    return round(new, 4)
