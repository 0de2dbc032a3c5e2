"""How the agent asks its model: thinking, effort, how it is served, sections of the user's own."""

from __future__ import annotations

from typing import Any, Final

from holdfast.engine.settings import AgentSettings
from holdfast.engine.window.sections import named
from holdfast.errors import InvalidRequest

USUAL_THINKING: Final = 31_999
"""Tokens for thinking where it is only said to be on."""

LEAST_THINKING: Final = 1_024
"""Fewer than these no provider takes."""

EFFORTS: Final = ("minimal", "low", "medium", "high")


def thinking_of(told: str) -> int | None:
    """Tokens for thinking: `on` is the usual number, `off` none, empty as the provider does."""
    word = told.strip().lower()
    if not word:
        return None
    if word in ("on", "off"):
        return USUAL_THINKING if word == "on" else 0
    number = word.replace(",", "").replace("_", "")
    if not (number.isascii() and number.isdigit()) or int(number) < LEAST_THINKING:
        raise InvalidRequest(
            f"thinking is {told!r}; give on, off, or a number of tokens from {LEAST_THINKING:,} on"
        )
    return int(number)


def request_options(told: AgentSettings, session: str) -> dict[str, Any]:
    """What each call of a session asks for, besides what is in its window."""
    thinking = thinking_of(told.thinking)
    made: dict[str, Any] = {"cache_key": session}
    made |= {} if thinking is None else {"thinking": thinking}
    for name in ("effort", "reasoning_summary", "service_tier", "verbosity"):
        made |= {name: value} if (value := getattr(told, name)) else {}
    return made


def own_sections(told: AgentSettings) -> dict[str, str]:
    """The sections that the user has set; InvalidRequest for one that there is not."""
    return named(told.sections)
