"""Rule A13 on roles: who may speak, and where a system message may stand."""

from __future__ import annotations

import re
from typing import Any

from holdfast.testing.strict.anthropic_rules import Found, contents, directive, messages
from holdfast.testing.strict.refusal import Case, Rule

CURRENT = "2026-10-21"
TAKES_SYSTEM = re.compile(r"claude-((fable|mythos)-5|opus-(4-8|5)|(sonnet|haiku)-5-5)")
PER_TURN = ("per-turn-control-", "mid-conversation-output-config-")


def a13_roles(case: Case) -> Found:
    """Users and assistants speak; system text stands before them, or where a model takes it."""
    for index, message in enumerate(messages(case)):
        role = message.get("role")
        if role == "system":
            yield from _system(case, index, message)
        elif role not in ("user", "assistant"):
            yield f"messages.{index}.role: Input should be 'user' or 'assistant'"


def _system(case: Case, index: int, message: dict[str, Any]) -> Found:
    modern = case.asked.headers.get("anthropic-version", "") >= CURRENT
    if not modern and not TAKES_SYSTEM.match(case.asked.model):
        yield (
            f'messages.{index}: Unexpected role "system". The Messages API accepts a top-level '
            '`system` parameter, not "system" as an input message role.'
        )
        return
    betas = case.asked.headers.get("anthropic-beta", "")
    if "output_config" in message and not any(beta in betas for beta in PER_TURN):
        yield f"messages.{index}.output_config: Extra inputs are not permitted"
    if not directive(message):
        yield from _place(case, index)


def _place(case: Case, index: int) -> Found:
    said = messages(case)
    if index == 0:
        yield (
            "messages.0: use the top-level 'system' parameter for the initial system prompt; the "
            "directive-only form (content: [] with output_config) is accepted at any position"
        )
        return
    if said[index - 1].get("role") != "user" and not _served(said[index - 1]):
        yield (
            f"messages.{index}: role 'system' must follow a 'user' message or an 'assistant' "
            "message ending in a server tool result"
        )
    if index + 1 < len(said) and said[index + 1].get("role") != "assistant":
        yield (
            f"messages.{index}: role 'system' must precede an 'assistant' message or end the array"
        )


def _served(message: dict[str, Any]) -> bool:
    """Whether an answer ends with what a tool of the provider found."""
    last = str((contents(message) or [{}])[-1].get("type", ""))
    return message.get("role") == "assistant" and last.endswith("_tool_result")


RULES: list[tuple[str, Rule]] = [("A13", a13_roles)]
