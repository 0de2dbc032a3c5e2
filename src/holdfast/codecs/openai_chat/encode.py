"""A window as the arguments of `client.chat.completions.create`.

OpenAI's own models take `max_completion_tokens` and refuse `max_tokens`; the servers that speak the
format know `max_tokens`. Cache keys are OpenAI's.
"""

from __future__ import annotations

from typing import Any

from holdfast.codecs.openai_chat.messages import Writer
from holdfast.codecs.openai_shared import Fields, cache_key, toolbox
from holdfast.model.profile import Profile
from holdfast.model.window import Options, Tool, Window

_FREE = {
    "type": "object",
    "properties": {"input": {"type": "string"}},
    "required": ["input"],
}


def request(
    window: Window, profile: Profile, options: Options, provider: str, limit: str
) -> dict[str, Any]:
    """The request; `options.extra` has the last word."""
    made: Fields = {
        "model": window.model,
        "messages": Writer(window, profile, provider).messages(),
    }
    tools = [spec for entry in window.tools if (spec := tool(entry, provider))]
    made |= toolbox(tools, options, choice)
    if options.effort:
        made["reasoning_effort"] = options.effort
    if most := options.max_tokens or window.budget.output:
        made[limit] = most
    if options.stream:
        made["stream"] = True
        made["stream_options"] = {"include_usage": True}
    if options.cache and options.cache_key and provider == "openai":
        made["prompt_cache_key"] = cache_key(options.cache_key)
    return made | options.extra


def tool(entry: Tool, provider: str) -> Fields | None:
    """One tool; a provider's own goes to that provider, where it is written for this format."""
    if entry.owner == provider and {"function", "custom"} & entry.native.keys():
        return entry.native
    named = {"name": entry.name}
    if entry.description:
        named["description"] = entry.description
    if entry.kind == "custom" and provider == "openai":
        return {"type": "custom", "custom": named}
    if entry.kind not in ("function", "custom"):
        return None
    schema = _FREE if entry.kind == "custom" else entry.schema
    parameters = schema or {"type": "object", "properties": {}}
    return {"type": "function", "function": named | {"parameters": parameters}}


def choice(wanted: str, tools: list[Fields]) -> str | Fields:
    """How a tool is to be chosen, in the API's words."""
    if wanted in ("auto", "none", "required"):
        return wanted
    if wanted == "any":
        return "required"
    custom = any(spec.get("custom", {}).get("name") == wanted for spec in tools)
    kind = "custom" if custom else "function"
    return {"type": kind, kind: {"name": wanted}}
