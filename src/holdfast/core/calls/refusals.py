"""What a provider's refusal means, and what is sent differently from then on.

Rule 1: a refusal is known by the provider's own words; the same words always give the same remedy.
Rule 2: a remedy concerns what came before it, so that later replies are sent whole again.
Rule 3: a remedy takes away as little as it can: seals before pictures, pictures before calls.
Rule 4: a remedy changes what is sent. Where it did not help, or there is nothing for it to change,
        the next one is taken; when none is left, nothing is known to help.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final, Literal

from msgspec import Struct
from msgspec.structs import replace

from holdfast.core.window.repair import is_picture
from holdfast.model.log import Entry, Repair
from holdfast.model.message import Media, Opaque, Part, Reasoning, Text, ToolCall, ToolResult
from holdfast.model.profile import Profile
from holdfast.model.span import OPEN
from holdfast.model.window import Block

Action = Literal["unseal", "without pictures", "calls as text", "shorter", "shorter prompt",
                 "shorter reply"]  # fmt: skip

LESS = 0.8
"""How much of what was too long is sent next time, where nobody says how much fits."""


class Remedy(Struct, frozen=True):
    """The rule that was broken, and what is done about it."""

    rule: str
    action: Action


_CALLS: Action = "calls as text"
_SEALS: Action = "unseal"
_PICTURES: Action = "without pictures"
_WINDOW: Action = "shorter"
_PROMPT: Action = "shorter prompt"
_REPLY: Action = "shorter reply"

LADDER = (_SEALS, _PICTURES, _CALLS)
"""What is tried after what, when a remedy did not help."""

_WORDS: tuple[tuple[str, Action, str], ...] = (
    ("A1", _CALLS, r"tool_use`? ids were found without `?tool_result"),
    ("A2", _CALLS, r"unexpected `?tool_use_id`? found in `?tool_result"),
    ("A3", _CALLS, r"tool_result.{0,40}must come (before|first)"),
    ("A4", _SEALS, r"was found without a corresponding .{0,60}tool_result"),
    ("A5", _CALLS, r"tool_use`? ids must be unique"),
    ("A6", _SEALS, r"blocks in the latest assistant message cannot be modified"),
    ("A6", _CALLS, r"expected `?thinking`? or `?redacted_thinking"),
    ("A7", _SEALS, r"invalid `?signature`? in `?thinking"),
    ("A12", _PICTURES, r"image dimensions exceed|image exceeds .{0,20}maximum|too many images"),
    ("A12", _PICTURES, r"many-image requests|(could not|unable to) process (input )?image"),
    ("O1", _CALLS, r"no tool output found for function call"),
    ("O2", _CALLS, r"no tool call found for function call output"),
    ("O3", _SEALS, r"'reasoning' was provided without its required following item"),
    ("O4", _CALLS, r"was provided without its required 'reasoning' item"),
    ("O5", _SEALS, r"invalid_encrypted_content|encrypted content .{0,80}could not be"),
    ("O5", _SEALS, r"organization_id did not match|item with id .{0,80}not found"),
    ("O7", _CALLS, r"must be followed by tool messages|role 'tool' must be a response"),
    ("G1", _CALLS, r"number of function response parts is equal"),
    ("G2", _CALLS, r"function call turn comes immediately after"),
    ("G3", _CALLS, r"missing a `?thought_?signature"),
    ("G5", _SEALS, r"(invalid|corrupted) thought.?signature|thought signature is not valid"),
    ("output", _REPLY, r"max_tokens: \d+ > \d+, which is the maximum allowed number of output"),
    ("overflow", "shorter", r"prompt is too long|maximum context length|context_length_exceeded"),
    ("overflow", "shorter", r"exceeds the maximum number of tokens|input is too long"),
    ("overflow", "shorter", r"exceeds? (the )?(available )?context"),
)

_KNOWN = tuple(
    (re.compile(words, re.IGNORECASE), Remedy(rule, action)) for rule, action, words in _WORDS
)


def remedy(message: str) -> Remedy | None:
    """What to do about a refusal, by the provider's words; None where nothing is known to help."""
    found = message[:20_000]
    return next((cure for words, cure in _KNOWN if words.search(found)), None)


def further(
    cure: Remedy, owner: str, tried: Sequence[Repair], blocks: Sequence[Block] | None
) -> Repair | None:
    """The mildest remedy not tried yet that changes what was sent; None where none is left."""
    done = {repair.action for repair in tried if repair.owner in ("", owner)}
    for action in LADDER[LADDER.index(cure.action) :]:
        made = Repair(rule=cure.rule, action=action, owner=owner)
        if action not in done and (blocks is None or _changes(blocks, made)):
            return made
    return None


def _changes(blocks: Sequence[Block], repair: Repair) -> bool:
    return any(_cure(block, OPEN, repair) is not block for block in blocks)


def shortened(rule: str, told: int | None, sent: int, profile: Profile) -> Repair | None:
    """The limit that holds from now on: the one told, if that is news, or less than was sent.

    The profile is the one in force; `sent` is 0 where nobody knows how much that was.
    """
    if told and told < profile.window:
        return Repair(rule=rule, action=_WINDOW, limit=told, model=profile.name)
    most = profile.input_limit or profile.window
    limit = int(min(sent or most, most) * LESS)
    if limit < LEAST:
        return None
    return Repair(rule=rule, action=_PROMPT, limit=limit, model=profile.name)


def briefer(rule: str, message: str, profile: Profile) -> Repair | None:
    """The longest reply that may be asked for from now on, where that is news."""
    told = re.search(r"max_tokens: \d+ > (\d{1,9})\b", message)
    if told is None or not 0 < int(told[1]) < profile.output_limit:
        return None
    return Repair(rule=rule, action=_REPLY, limit=int(told[1]), model=profile.name)


def limits(repair: Repair, model: str) -> bool:
    """Whether a repair limits what a model is sent."""
    return bool(repair.limit) and repair.model.lower() == model.lower()


def limited(profile: Profile, repairs: Iterable[Repair]) -> Profile:
    """A model's profile with the limits that refusals have taught."""
    for repair in repairs:
        if not limits(repair, profile.name):
            continue
        if repair.action == _WINDOW:
            window = min(profile.window, repair.limit)
            known = tuple(name for name in profile.assumed if name != "window")
            prompt = min(profile.input_limit, window)
            profile = replace(profile, window=window, input_limit=prompt, assumed=known)
        elif repair.action == _REPLY:
            reply = min(profile.output_limit, repair.limit)
            profile = replace(profile, output_limit=reply)
        else:
            prompt = min(profile.input_limit or profile.window, repair.limit)
            profile = replace(profile, input_limit=prompt)
    return profile


def cured(blocks: Sequence[Block], repairs: Sequence[Entry]) -> tuple[Block, ...]:
    """The blocks with every remedy in force applied to what came before it."""
    made = tuple(blocks)
    for entry in repairs:
        if isinstance(entry.body, Repair):
            made = tuple(_cure(block, entry.seq, entry.body) for block in made)
    return tuple(block for block in made if block.parts)


def _cure(block: Block, before: int, repair: Repair) -> Block:
    if not block.seq or block.seq >= before:
        return block
    change = _ACTIONS.get(repair.action)
    if change is None:
        return block
    parts = tuple(new for part in block.parts if (new := change(part, repair.owner)) is not None)
    if parts == block.parts:
        return block
    role = "user" if block.role == "tool" and _no_results(parts) else block.role
    return replace(block, parts=parts, role=role)


def _no_results(parts: Sequence[Part]) -> bool:
    return not any(isinstance(part, ToolResult) for part in parts)


def _unsealed(part: Part, owner: str) -> Part | None:
    if isinstance(part, Opaque):
        return None if not owner or part.owner == owner else part
    seal = getattr(part, "seal", None)
    if seal is None or (owner and seal.owner != owner):
        return part
    return None if isinstance(part, Reasoning) else replace(part, seal=None)


_REFUSED = "left out: the provider refused a picture of this conversation"
"""Which one it refused is seldom told, so it must not be said of each."""


def _unpictured(part: Part, owner: str) -> Part | None:
    """A part without its pictures; documents are none, and nobody has refused them."""
    if isinstance(part, Media):
        return Text(f"[{part.type} {_REFUSED}]", "system-reminder") if is_picture(part) else part
    if not isinstance(part, ToolResult):
        return part
    stay = tuple(media for media in part.media if not is_picture(media))
    gone = len(part.media) - len(stay)
    if not gone:
        return part
    what = "a picture" if gone == 1 else f"{gone} pictures"
    return replace(part, media=stay, output=f"{part.output}\n[{what} {_REFUSED}]")


def _as_text(part: Part, owner: str) -> Part | None:
    if isinstance(part, ToolCall):
        return Text(f"[called {part.name} with {part.input}]", "system-reminder")
    if isinstance(part, ToolResult):
        return Text(f"[a tool answered]\n{part.output}", "system-reminder")
    return None if isinstance(part, (Reasoning, Opaque)) else _unsealed(part, owner)


_ACTIONS = {_SEALS: _unsealed, _PICTURES: _unpictured, _CALLS: _as_text}


LEAST, MOST = 256, 100_000_000
"""What can be a limit at all."""

_NUMBER = r"(\d[\d,_]*)"
_PATTERNS: Final = tuple(
    re.compile(pattern.replace("NUMBER", _NUMBER), re.IGNORECASE | re.DOTALL)
    for pattern in (
        # Anthropic: prompt is too long: 213456 tokens > 200000 maximum
        r"tokens?\s*>\s*NUMBER\s*(?:tokens?\s*)?maximum",
        # Anthropic: input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000
        r"exceeds? (?:the )?context limit:\s*[\d,]+\s*\+\s*[\d,]+\s*>\s*NUMBER",
        # OpenAI, vLLM, DeepSeek: this model's maximum context length is 8192 tokens
        r"max(?:imum)?[ _](?:model |sequence )?(?:context )?(?:length|window)(?: is| of|:)?"
        r"\s*(?:only )?NUMBER",
        # Gemini: the input token count (1200000) exceeds the maximum … tokens allowed (1048576)
        r"maximum number of (?:input )?tokens allowed\s*\(?\s*NUMBER",
        # llama.cpp: {"n_prompt_tokens": 1407, "n_ctx": 256}; Ollama: … limit=8192 prompt=18538
        r"\bn_ctx\w*\W{1,5}NUMBER",
        r"truncating input prompt\W+limit=NUMBER",
        # llama.cpp: request (1407 tokens) exceeds the available context size (256 tokens)
        r"context (?:size|length|window)(?: limit)?(?: of| is|:)?(?: only)?\s*\(?NUMBER\s*tokens",
        # Mistral: … too large for model with 32768 maximum context length
        r"with NUMBER (?:tokens? )?max(?:imum)? context",
        # Mistral, Groq, xAI, TGI: … limit of 32768 tokens; must be <= 4096
        r"(?:limit|maximum)(?: prompt length| context length)?(?: is| of|:)\s*NUMBER(?: tokens)?",
        r"`?inputs`?.{0,60}must (?:have less than|be ?<=) NUMBER",
        # Bedrock: expected maxLength / too many tokens … max 8192
        r"max(?:imum)?(?: input)? tokens?\W{1,5}NUMBER",
    )
)


def limit_in(message: str) -> int | None:
    """The number of tokens that an error says may be sent at most; None where it names none."""
    for pattern in _PATTERNS:
        if found := pattern.search(message[:20_000]):
            number = int(re.sub("[,_]", "", found[1]))
            if LEAST <= number <= MOST:
                return number
    return None
