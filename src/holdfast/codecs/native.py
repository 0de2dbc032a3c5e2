"""Options as a provider writes them: `thinking` and `tool_choice` as objects.

An object that says what we have a word for becomes that word, whichever provider's it is, so that
it is written once and in the words of the format that is sent. An object that only one format
knows is passed to that format as it is. Anything else is refused here, with what may be given.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, Final, cast

from msgspec.structs import replace

from holdfast.errors import InvalidRequest
from holdfast.model.window import Options

CHOICES: Final = {"auto": "auto", "none": "none", "any": "any", "required": "any"}
"""The words of all providers for how tools may be used, and ours for them."""

HOSTED: Final = frozenset({
    "allowed_tools", "apply_patch", "code_interpreter", "computer", "computer_use",
    "computer_use_preview", "custom", "file_search", "function", "image_generation", "mcp", "shell",
    "web_search", "web_search_preview", "web_search_preview_2025_03_11",
})  # fmt: skip
"""The types of a choice that only OpenAI's formats know."""

GEMINI_THINKING: Final[dict[str, type]] = {
    "thinking_budget": int, "thinking_level": str, "include_thoughts": bool,
    "thinkingBudget": int, "thinkingLevel": str, "includeThoughts": bool,
}  # fmt: skip
"""How Gemini is asked to think, and the type of each field."""

DYNAMIC: Final = -1
"""As many tokens as the model finds right, in Gemini's words."""

GEMINI_MODES: Final = frozenset({"auto", "any", "none", "validated"})

LENGTHS: Final = ("max_tokens", "max_completion_tokens", "max_output_tokens", "maxOutputTokens")
"""What the longest reply is called, in our words and in those of the providers."""

FIELDS: Final[dict[str, tuple[type, str]]] = {
    "stream": (bool, "True or False"),
    "cache": (bool, "True or False"),
    "parallel_tools": (bool, "True or False"),
    "cache_ttl": (str, "'5m' or '1h'"),
    "cache_key": (str, "text"),
    "server_edits": (dict, "a dict, as the provider writes it"),
    "extra": (dict, "a dict of further fields"),
    "config": (dict, "a dict of further fields, not an object of the provider's SDK"),
}
"""The options that are of one type, and what is said of another; None is left out like nothing."""

TTLS: Final = ("", "5m", "1h")
"""How long a cache may live."""

Native = dict[str, Any]


def typed_options(told: Native) -> Native:
    """The options of a request, each of its own type; refused in words where one is not."""
    known = {name: told[name] for name in FIELDS if told.get(name) is not None}
    extra = _object(known.get("extra"))
    inside = [("extra.config", extra["config"])] if "config" in extra else []
    for name, value in (*known.items(), *inside):
        kind, words = FIELDS[name.removeprefix("extra.")]
        if not isinstance(value, kind) or (name == "cache_ttl" and value not in TTLS):
            raise InvalidRequest(f"{name}={value!r} is not taken; give {words}")
    return {name: value for name, value in told.items() if name not in FIELDS or name in known}


def with_length(told: Native) -> Native:
    """The options of a request with the longest reply as `max_tokens`, whatever it was called.

    So it is held against the window, and written once. Gemini's may stand in its `config`.
    """
    rest = {name: value for name, value in told.items() if name not in LENGTHS}
    found = [(name, told[name]) for name in LENGTHS if told.get(name) is not None]
    for holder in ("extra", "config"):
        inside = _object(rest.get(holder))
        named = [(name, inside[name]) for name in LENGTHS if inside.get(name) is not None]
        if named:
            rest[holder] = {name: value for name, value in inside.items() if name not in LENGTHS}
            found += named
    lengths = [_length(name, value) for name, value in found]
    if len({*lengths}) > 1:
        raise InvalidRequest(
            f"how long may the reply be? {', '.join(f'{n}={v}' for n, v in found)}"
        )
    return {**rest, "max_tokens": lengths[0]} if lengths else rest


def _length(name: str, value: object) -> int:
    if type(value) is not int or value < 0:
        raise InvalidRequest(
            f"{name}={value!r} is no length of a reply; give a whole number of tokens, or leave it "
            "out for what the window has left"
        )
    return value


def normalised(options: Options, format: str, tools: Collection[str]) -> Options:
    """The options in our own words, but for what only this format can say."""
    choice, parallel = _choice(options.tool_choice, format, tools)
    _check_effort(options.effort)
    return replace(
        options,
        thinking=_thinking(options.thinking, format),
        tool_choice=choice,
        parallel_tools=parallel if options.parallel_tools is None else options.parallel_tools,
    )


def thinks(thinking: object) -> bool:
    """Whether a model is asked to think: by a number, or by an object that does not say no."""
    if isinstance(thinking, dict):
        return cast(Native, thinking).get("type") != "disabled"
    return bool(thinking)


def _check_effort(effort: object) -> None:
    """An effort is a word, whichever words a provider has for it."""
    if not isinstance(effort, str):
        raise InvalidRequest(f"effort={effort!r} is not taken; give a word such as 'low' or 'high'")


def _thinking(told: object, format: str) -> int | Native | None:
    least = DYNAMIC if format == "gemini" else 0
    if told is None or (type(told) is int and told >= least):
        return told
    native = _object(told)
    kind, budget = native.get("type"), native.get("budget_tokens")
    if kind == "disabled":
        return 0
    if kind == "adaptive":
        return native if format == "anthropic" else None
    if kind == "enabled" and type(budget) is int and budget >= 0:
        return native if format == "anthropic" and len(native) > len(("type", "budget")) else budget
    if format == "gemini" and _is_gemini_thinking(native):
        return native
    raise InvalidRequest(
        f"thinking={told!r} is not taken for {format}; give a number of tokens, 0 for none, "
        "{'type': 'enabled', 'budget_tokens': …}, {'type': 'adaptive'} or {'type': 'disabled'}"
    )


def _is_gemini_thinking(native: Native) -> bool:
    """Whether an object is what Gemini takes, each field of its own type."""
    kinds = GEMINI_THINKING
    return bool(native) and all(type(value) is kinds.get(name) for name, value in native.items())


def _choice(told: object, format: str, tools: Collection[str]) -> tuple[str | Native, bool | None]:
    """The choice in our words or the format's own, and whether calls may be made in parallel."""
    if isinstance(told, str):
        return _word(told, tools), None
    native = _object(told)
    if type(native.get("disable_parallel_tool_use", False)) is not bool:
        raise _no_choice(told, tools)
    parallel = False if native.get("disable_parallel_tool_use") else None
    if (word := _named(native, tools)) is not None:
        return _word(word, tools), parallel
    if _is_own(native, format):
        return native, None
    raise _no_choice(told, tools)


def _object(told: object) -> Native:
    """An object as its fields; none where it is something else."""
    return cast(Native, told) if isinstance(told, dict) else {}


def _word(told: str, tools: Collection[str]) -> str:
    if not told or told in tools or not tools:
        return told
    if told not in CHOICES:
        raise _no_choice(told, tools)
    return CHOICES[told]


def _named(native: Native, tools: Collection[str]) -> str | None:
    """What an object says in one word: how tools may be used, or the one to use."""
    if mode := _object(native.get("function_calling_config", native.get("functionCallingConfig"))):
        return _mode(mode)
    kind = native.get("type")
    if kind in ("tool", "function", "custom"):
        found = native.get("name", _object(native.get(kind)).get("name"))
        return found if isinstance(found, str) and found in tools else None
    return CHOICES.get(kind) if isinstance(kind, str) else None


def _mode(mode: Native) -> str | None:
    word, names = str(mode.get("mode", "")).lower(), _allowed(mode)
    if names is None or len(names) > 1:
        return None
    return names[0] if names and word == "any" else CHOICES.get(word)


def _allowed(mode: Native) -> list[str] | None:
    """The tools that Gemini may call; None where that is no list of names."""
    told: object = mode.get("allowed_function_names", mode.get("allowedFunctionNames")) or []
    names = cast(list[object], told) if isinstance(told, list) else [None]
    found = [name for name in names if isinstance(name, str)]
    return found if len(found) == len(names) else None


def _is_own(native: Native, format: str) -> bool:
    """Whether an object is a choice that this format knows and we have no word for."""
    if format.startswith("openai"):
        kind = native.get("type")
        return isinstance(kind, str) and kind in HOSTED - {"function", "custom"}
    wanted = _object(native.get("function_calling_config", native.get("functionCallingConfig")))
    mode = str(wanted.get("mode", "")).lower()
    return format == "gemini" and mode in GEMINI_MODES and _allowed(wanted) is not None


def _no_choice(told: object, tools: Collection[str]) -> InvalidRequest:
    offered = ", ".join(sorted(tools)[:8])
    return InvalidRequest(
        f"tool_choice={told!r} is no choice here; give 'auto', 'none', 'any', the name of a tool "
        f"({offered or 'none is offered'}), or one of these as the provider writes it"
    )
