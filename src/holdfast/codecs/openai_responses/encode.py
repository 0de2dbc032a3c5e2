"""A window as the arguments of `client.responses.create`.

Rule 1: nothing is kept at the provider unless asked (`store` is false), so encrypted reasoning is
        asked for; a model that is known not to think refuses that and is not asked.
Rule 2: fields stand in one order, so that the same window gives the same bytes.
"""

from __future__ import annotations

from typing import Any

from holdfast.codecs.openai_responses.items import Writer
from holdfast.codecs.openai_shared import Fields, cache_key, objects, prompt, spoken, toolbox
from holdfast.model.profile import Profile
from holdfast.model.window import Options, Tool, Window

LEAST_OUTPUT = 16
"""The API refuses a smaller `max_output_tokens`."""


def request(
    window: Window, profile: Profile, options: Options, provider: str, ids: bool | None
) -> dict[str, Any]:
    """The request; `options.extra` has the last word."""
    stored = bool(options.extra.get("store", False))
    made: Fields = {"model": window.model}
    if told := instructions(window):
        made["instructions"] = told
    named = stored if ids is None else ids
    made["input"] = Writer(window, profile, provider, ids=named, stored=stored).items()
    tools = [spec for entry in window.tools if (spec := tool(entry, provider))]
    made |= toolbox(tools, options, choice)
    made |= how(options)
    made["store"] = False
    if options.stream:
        made["stream"] = True
    if profile.can("thinking") or not profile.abilities:
        made["include"] = ["reasoning.encrypted_content"]
    if options.cache and options.cache_key:
        made["prompt_cache_key"] = cache_key(options.cache_key)
    if most := options.max_tokens or window.budget.output:
        made["max_output_tokens"] = max(most, LEAST_OUTPUT)
    if edits := compactions(options.server_edits):
        made["context_management"] = edits
    return made | options.extra


def how(options: Options) -> Fields:
    """How long it reasons and what it tells of that, how much it says, and how it is served."""
    reasons = {"effort": options.effort, "summary": options.reasoning_summary}
    asked: Fields = {
        "reasoning": {name: value for name, value in reasons.items() if value},
        "service_tier": options.service_tier,
        "text": {"verbosity": options.verbosity} if options.verbosity else {},
    }
    return {name: value for name, value in asked.items() if value}


def instructions(window: Window) -> str:
    """The system prompt: every leading system block."""
    ahead = window.blocks[: prompt(window.blocks)]
    texts = [spoken(block) for block in ahead if block.role == "system"]
    return "\n\n".join(text for text in texts if text)


def compactions(edits: dict[str, Any]) -> list[Fields]:
    """The server's own compaction, the one entry the API knows, alone or in a list of `edits`."""
    entries = objects(edits.get("edits")) or [edits]
    return [entry for entry in entries if entry.get("type") == "compaction"]


def tool(entry: Tool, provider: str) -> Fields | None:
    """One tool; a provider's own goes to that provider only."""
    if entry.native and entry.owner == provider:
        return entry.native
    described = {"description": entry.description} if entry.description else {}
    if entry.kind == "custom":
        return {"type": "custom", "name": entry.name, **described}
    if entry.kind != "function":
        return None
    schema = entry.schema or {"type": "object", "properties": {}}
    # Left unsaid, `strict` is true, and the API refuses every schema with an optional property.
    return {
        "type": "function", "name": entry.name, **described, "parameters": schema, "strict": False,
    }  # fmt: skip


def choice(wanted: str, tools: list[Fields]) -> str | Fields:
    """How a tool is to be chosen, in the API's words."""
    if wanted in ("auto", "none", "required"):
        return wanted
    if wanted == "any":
        return "required"
    kinds = {spec.get("name"): spec.get("type") for spec in tools}
    return {"type": "custom" if kinds.get(wanted) == "custom" else "function", "name": wanted}
