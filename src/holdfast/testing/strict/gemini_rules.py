"""What Gemini refuses, G1–G6, written from its answers alone; both spellings of names are read."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterator
from typing import Any

from holdfast.testing.strict.refusal import Case, Refusal, Rule, dicts
from holdfast.testing.strict.vault import fingerprint

Found = Iterator[str | Refusal]

SKIPS = {
    base64.urlsafe_b64decode("skip_thought_signature_validator"),
    b"skip_thought_signature_validator",
    base64.urlsafe_b64decode("context_engineering_is_the_way_to_go"),
    b"context_engineering_is_the_way_to_go",
}
"""The two documented stand-ins, written as they are or encoded once more."""
FREE = ("args", "response", "parametersJsonSchema", "responseJsonSchema", "partMetadata")
DATA = (
    *("text", "functionCall", "functionResponse", "inlineData", "fileData", "executableCode"),
    *("codeExecutionResult", "toolCall", "toolResponse", "thoughtSignature"),
)


def spelled(value: Any) -> Any:
    """The same JSON with every name of the format in camel case."""
    if isinstance(value, list):
        return [spelled(each) for each in value]
    if not isinstance(value, dict):
        return value
    named = {re.sub(r"_([a-z])", lambda m: m[1].upper(), name): v for name, v in value.items()}
    return {name: v if name in FREE else spelled(v) for name, v in named.items()}


def turns(case: Case) -> list[dict[str, Any]]:
    return dicts(case.body.get("contents"))


def holding(turn: dict[str, Any], kind: str) -> list[dict[str, Any]]:
    """What the parts of one kind in a turn hold."""
    return [part[kind] for part in dicts(turn.get("parts")) if isinstance(part.get(kind), dict)]


def g1(case: Case) -> Found:
    """Calls are answered in the next turn, one response for each.

    A count is asked of single turns too: Gemini CLI has the results of its tools counted alone.
    """
    said = turns(case) if case.asked.endpoint == "create" else []
    for index, turn in enumerate(said):
        calls = holding(turn, "functionCall")
        answers = holding(said[index + 1], "functionResponse") if index + 1 < len(said) else []
        if calls and sorted(map(_key, calls)) != sorted(map(_key, answers)):
            yield (
                "Please ensure that the number of function response parts is equal to the number "
                "of function call parts of the function call turn."
            )
        if holding(turn, "functionResponse") and not (
            index and holding(said[index - 1], "functionCall")
        ):
            yield (
                "Please ensure that function response turn comes immediately after a function "
                "call turn."
            )


def _key(held: dict[str, Any]) -> tuple[str, str]:
    return str(held.get("name", "")), str(held.get("id") or "")


def g2(case: Case) -> Found:
    """Calls come from the model, behind a turn of the user."""
    roles = [turn.get("role") or "user" for turn in turns(case)]
    if not roles:
        yield "* GenerateContentRequest.contents: contents is not specified"
    for index, turn in enumerate(turns(case)):
        if roles[index] not in ("user", "model"):
            yield "Please use a valid role: user, model."
        if not holding(turn, "functionCall"):
            continue
        if roles[index] != "model" or index == 0 or roles[index - 1] != "user":
            yield (
                "Please ensure that function call turn comes immediately after a user turn or "
                "after a function response turn."
            )


def strict_model(model: str) -> bool:
    """Whether a model insists on signatures: the third generation and later."""
    found = re.match(r"gemini-(\d+)", model)
    return bool(found and int(found[1]) >= 3) or bool(re.match(r"gemini-[a-z]", model))


def g3(case: Case) -> Found:
    """The first call of each step since the user last spoke is signed."""
    if not strict_model(case.asked.model):
        return
    said = turns(case)
    spoken = [
        index
        for index, turn in enumerate(said)
        if turn.get("role") != "model" and any("text" in part for part in dicts(turn.get("parts")))
    ]
    for index in range(spoken[-1] if spoken else 0, len(said)):
        for place, part in enumerate(dicts(said[index].get("parts"))):
            if part.get("thoughtSignature"):
                break  # a signature before the call, on a thought or text, is its own as well: G4
            if "functionCall" in part:
                yield _unsigned(part["functionCall"].get("name"), index, place)
                break


def _unsigned(name: Any, index: int, place: int) -> str:
    return (
        "Function call is missing a thought_signature in functionCall parts. This is required for "
        "tools to work correctly, and missing thought_signature may lead to degraded model "
        f"performance. Additional data, function call `default_api:{name}` , position {index + 1}."
        " Please refer to https://ai.google.dev/gemini-api/docs/thought-signatures for more "
        "details."
    )


def g4(case: Case) -> Found:
    """Every turn has parts, every part holds something, and signatures are base64."""
    for index, turn in enumerate(turns(case)):
        parts = dicts(turn.get("parts"))
        at = f"contents[{index}].parts"
        if not parts:
            yield f"* GenerateContentRequest.{at}: contents.parts must not be empty."
        for place, part in enumerate(parts):
            if not any(name in part for name in DATA):
                yield (
                    f"* GenerateContentRequest.{at}[{place}].data: required oneof field 'data' "
                    "must have one initialized field"
                )
            if "thoughtSignature" in part and plain(part["thoughtSignature"]) is None:
                yield (
                    f"Invalid value at '{at}[{place}].thought_signature' (TYPE_BYTES), Base64 "
                    f'decoding failed for "{part["thoughtSignature"]}"'
                )


def plain(text: Any) -> bytes | None:
    """The bytes of base64 in either alphabet, padded or not; None where it is none."""
    if not isinstance(text, str):
        return None
    bare = text.rstrip("=").replace("-", "+").replace("_", "/")
    try:
        return base64.b64decode(bare + "=" * (-len(bare) % 4), validate=True)
    except (binascii.Error, ValueError):
        return None


def g5(case: Case) -> Found:
    """A signature is one that this model put on this very part."""
    for turn in turns(case):
        for part in dicts(turn.get("parts")):
            if "thoughtSignature" not in part:
                continue
            held = plain(part["thoughtSignature"]) or b""
            if held in SKIPS and turn.get("role") == "model":
                continue
            issued = case.vault.issued(base64.b64encode(held).decode())
            if issued is None and case.foreign and held and turn.get("role") == "model":
                continue
            if issued is None or turn.get("role") != "model" or issued.content != mark(part):
                yield "Corrupted thought signature."
            elif issued.model != case.asked.model:
                yield "Invalid thought signature."


def mark(part: dict[str, Any]) -> str:
    """What a signature on this part vouches for."""
    call = part.get("functionCall")
    if isinstance(call, dict):
        return fingerprint([call.get("name"), call.get("args") or {}])
    return fingerprint([part.get("text", ""), bool(part.get("thought"))])


def g6(case: Case) -> Found:
    """Cached content brings its own system instruction and tools."""
    beside = ("systemInstruction", "tools", "toolConfig")
    if case.body.get("cachedContent") and any(case.body.get(name) for name in beside):
        yield (
            "CachedContent can not be used with GenerateContent request setting "
            "system_instruction, tools or tool_config."
        )


def thinking(case: Case) -> Found:
    """Thinking is given a level or a budget."""
    config = case.body.get("generationConfig")
    told = config.get("thinkingConfig") if isinstance(config, dict) else None
    if isinstance(told, dict) and {"thinkingLevel", "thinkingBudget"} <= told.keys():
        yield "You can only set only one of thinking budget and thinking level."


RULES: list[tuple[str, Rule]] = [
    ("G2", g2),
    ("G4", g4),
    ("G1", g1),
    ("G5", g5),
    ("G3", g3),
    ("G6", g6),
    ("thinking", thinking),
]
