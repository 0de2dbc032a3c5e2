"""The documented rule of Chat Completions (O7), in the three ways that a request can break it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from holdfast.codecs.openai_shared import Fields, objects, string
from holdfast.model.profile import Profile
from holdfast.model.window import Violation

Rule = Callable[[dict[str, Any], Profile], Iterator[Violation]]


def violations(request: dict[str, Any], profile: Profile) -> list[Violation]:
    """Every rule that a request breaks, in the order of the rules."""
    return [found for rule in RULES for found in rule(request, profile)]


def _messages(request: dict[str, Any]) -> list[Fields]:
    return objects(request.get("messages"))


def _asked(message: Fields) -> list[str]:
    return [string(call.get("id")) for call in objects(message.get("tool_calls"))]


def o7_the_assistant_says_something(
    request: dict[str, Any], profile: Profile
) -> Iterator[Violation]:
    """O7: a message of the assistant has content or calls."""
    for place, message in enumerate(_messages(request)):
        silent = message.get("content") in (None, "", []) and not message.get("tool_calls")
        if message.get("role") == "assistant" and silent:
            yield Violation(
                rule="O7",
                where=f"messages.{place}",
                message="Assistant message must contain either 'content' or 'tool_calls'",
            )


def o7_every_call_is_answered_at_once(
    request: dict[str, Any], profile: Profile
) -> Iterator[Violation]:
    """O7: the answers to all calls of a message follow it, before anything else."""
    open_calls: list[str] = []
    asked = 0
    for place, message in enumerate([*_messages(request), {}]):
        if message.get("role") == "tool":
            open_calls = [id for id in open_calls if id != message.get("tool_call_id")]
            continue
        if open_calls:
            yield Violation(
                rule="O7",
                where=f"messages.{asked}",
                message="An assistant message with 'tool_calls' must be followed by tool messages "
                "responding to each 'tool_call_id'. The following tool_call_ids did not have "
                f"response messages: {', '.join(open_calls)}",
            )
        open_calls, asked = _asked(message), place


def o7_every_answer_follows_its_call(
    request: dict[str, Any], profile: Profile
) -> Iterator[Violation]:
    """O7: an answer stands behind the message that asks for it."""
    asked: list[str] = []
    for place, message in enumerate(_messages(request)):
        if message.get("role") != "tool":
            asked = _asked(message)
        elif message.get("tool_call_id") not in asked:
            yield Violation(
                rule="O7",
                where=f"messages.{place}",
                message="Messages with role 'tool' must be a response to a preceding message with "
                "'tool_calls'.",
            )


RULES: tuple[Rule, ...] = (
    o7_the_assistant_says_something,
    o7_every_call_is_answered_at_once,
    o7_every_answer_follows_its_call,
)
