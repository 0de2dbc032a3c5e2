"""The rules a generateContent request must keep, one function each.

The words are the provider's own, where they are known from its answers.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

from holdfast.codecs.gemini.names import signs, snaked
from holdfast.model.profile import Profile
from holdfast.model.window import Violation

Request = dict[str, Any]
Rule = Callable[[Request, Profile], Iterator[Violation]]
Turn = tuple[str, list[dict[str, Any]]]

BASE64 = re.compile(r"[A-Za-z0-9+/_-]*={0,2}\Z")
COUNTS = (
    "Please ensure that the number of function response parts is equal to the number of "
    "function call parts of the function call turn."
)
LOST_RESPONSE = (
    "Please ensure that function response turn comes immediately after a function call turn."
)
LOST_CALL = (
    "Please ensure that function call turn comes immediately after a user turn or after a "
    "function response turn."
)
CACHED = (
    "CachedContent can not be used with GenerateContent request setting system_instruction, "
    "tools or tool_config."
)


def broken(request: Request, profile: Profile) -> list[Violation]:
    """Every rule that a request breaks, and where."""
    return [found for rule in RULES for found in rule(request, profile)]


def g1_calls_are_answered_at_once(request: Request, profile: Profile) -> Iterator[Violation]:
    """Behind a turn of calls comes a turn with as many responses, of the same names and ids."""
    turns = _turns(request)
    for index, (_, parts) in enumerate(turns):
        calls = _inner(parts, "function_call")
        following = turns[index + 1][1] if index + 1 < len(turns) else []
        answers = _inner(following, "function_response")
        if calls and not _paired(calls, answers):
            yield _violation("G1", f"contents.{index + 1}", COUNTS)
        before = _inner(turns[index - 1][1], "function_call") if index else []
        if not before and _inner(parts, "function_response"):
            yield _violation("G1", f"contents.{index}", LOST_RESPONSE)


def g2_calls_follow_the_user(request: Request, profile: Profile) -> Iterator[Violation]:
    """A turn of calls is the model's and comes behind one of the user; there are no other roles."""
    before = ""
    for index, (role, parts) in enumerate(_turns(request)):
        if role not in ("user", "model"):
            yield _violation("G2", f"contents.{index}", "Please use a valid role: user, model.")
        if _inner(parts, "function_call") and (before, role) != ("user", "model"):
            yield _violation("G2", f"contents.{index}", LOST_CALL)
        before = role


def g3_calls_are_signed(request: Request, profile: Profile) -> Iterator[Violation]:
    """In the current turn the first call of each step is signed, on models from Gemini 3 on."""
    turns = _turns(request)
    if not signs(str(request.get("model", ""))):
        return
    for index in range(_current(turns), len(turns)):
        for place, part in enumerate(turns[index][1]):
            if "thought_signature" in part:
                break
            if "function_call" in part:
                yield _violation("G3", f"contents.{index}.parts.{place}", _unsigned(part, index))
                break


def g4_parts_are_whole(request: Request, profile: Profile) -> Iterator[Violation]:
    """A turn has parts, and each is something; a signature is base64, as it came."""
    for index, (_, parts) in enumerate(_turns(request)):
        where = f"contents.{index}"
        if not parts:
            said = f"* GenerateContentRequest.contents[{index}].parts: contents.parts must not be"
            yield _violation("G4", where, f"{said} empty.")
        for place, part in enumerate(parts):
            yield from _whole_part(part, f"{where}.parts.{place}", index, place)


def g5_signatures_are_the_model_s(request: Request, profile: Profile) -> Iterator[Violation]:
    """A signature stands in turns of the model only, and is never empty.

    Who made it cannot be seen in a request: encoding leaves out what another model signed.
    """
    for index, (role, parts) in enumerate(_turns(request)):
        for place, part in enumerate(parts):
            signature = part.get("thought_signature", "-")
            if not signature or ("thought_signature" in part and role != "model"):
                where = f"contents.{index}.parts.{place}"
                yield _violation("G5", where, "Corrupted thought signature.")


def g6_cached_content_stands_alone(request: Request, profile: Profile) -> Iterator[Violation]:
    """A request with cached content brings no system instruction, tools or tool configuration."""
    config: dict[str, Any] = request.get("config") or {}
    beside = ("system_instruction", "tools", "tool_config")
    if config.get("cached_content") and any(config.get(name) for name in beside):
        yield _violation("G6", "config.cached_content", CACHED)


RULES: tuple[Rule, ...] = (
    g1_calls_are_answered_at_once,
    g2_calls_follow_the_user,
    g3_calls_are_signed,
    g4_parts_are_whole,
    g5_signatures_are_the_model_s,
    g6_cached_content_stands_alone,
)


def _violation(rule: str, where: str, message: str) -> Violation:
    return Violation(rule=rule, where=where, message=message)


def _turns(request: Request) -> list[Turn]:
    """Role and parts of each turn, fields under their SDK names."""
    return [
        (str(turn.get("role", "user")), [snaked(part) for part in turn.get("parts") or ()])
        for turn in request.get("contents") or ()
    ]


def _inner(parts: list[dict[str, Any]], name: str) -> list[dict[str, Any]]:
    return [part[name] for part in parts if name in part]


def _paired(calls: list[dict[str, Any]], answers: list[dict[str, Any]]) -> bool:
    names = Counter(call.get("name") for call in calls)
    ids = Counter(call.get("id") for call in calls)
    same_names = names == Counter(answer.get("name") for answer in answers)
    return same_names and ids == Counter(answer.get("id") for answer in answers)


def _current(turns: list[Turn]) -> int:
    """Where the current turn begins: behind the last words of the user."""
    for index in range(len(turns) - 1, -1, -1):
        role, parts = turns[index]
        if role == "user" and any("text" in part for part in parts):
            return index + 1
    return 0


def _unsigned(part: dict[str, Any], index: int) -> str:
    name = part["function_call"].get("name", "")
    return (
        "Function call is missing a thought_signature in functionCall parts. This is required for "
        "tools to work correctly, and missing thought_signature may lead to degraded model "
        f"performance. Additional data, function call `default_api:{name}` , position {index + 1}. "
        "Please refer to https://ai.google.dev/gemini-api/docs/thought-signatures for more details."
    )


def _whole_part(part: dict[str, Any], where: str, index: int, place: int) -> Iterator[Violation]:
    if not part.keys() - {"thought"}:
        said = f"* GenerateContentRequest.contents[{index}].parts[{place}].data: required oneof"
        yield _violation("G4", where, f"{said} field 'data' must have one initialized field")
    signature = part.get("thought_signature", "")
    if not isinstance(signature, str) or not BASE64.fullmatch(signature):
        field = f"contents[{index}].parts[{place}].thought_signature"
        said = f"Invalid value at '{field}' (TYPE_BYTES), Base64 decoding failed"
        yield _violation("G4", where, said)
