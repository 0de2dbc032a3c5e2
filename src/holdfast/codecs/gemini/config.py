"""The configuration of a request: system instruction, tools, limits and thinking.

Rule 1: a request that names cached content leaves out what lies in the cache: system instruction,
        tools and their configuration (rule G6).
Rule 2: `Options.extra` is written last and wins.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from holdfast.codecs.gemini.names import PROVIDER, signs
from holdfast.model.window import Options, Tool, Window

BUDGETS = {"none": 0, "minimal": 1_024, "low": 1_024, "medium": 8_192, "high": 24_576}
"""Effort as tokens, for models before 3 ("OpenAI compatibility": reasoning_effort)."""

LEVELS = {"minimal": "MINIMAL", "low": "LOW", "medium": "MEDIUM", "high": "HIGH"}
FREE_TEXT: dict[str, Any] = {
    "type": "object",
    "properties": {"input": {"type": "string"}},
    "required": ["input"],
}
"""What a tool with free text input takes here."""
CACHED = ("system_instruction", "tools", "tool_config")
TOP = ("model", "contents", "config")


def config_of(window: Window, options: Options, instructions: Sequence[str]) -> dict[str, Any]:
    """The `config` argument."""
    config: dict[str, Any] = {}
    if instructions:
        config["system_instruction"] = {"parts": [{"text": text} for text in instructions]}
    if tools := tools_of(window.tools):
        config["tools"] = tools
        if choice := _choice(tools, options.tool_choice):
            config["tool_config"] = {"function_calling_config": choice}
    if limit := options.max_tokens or window.budget.output:
        config["max_output_tokens"] = limit
    if thinking := _thinking(window.model, options):
        config["thinking_config"] = thinking
    extra: dict[str, Any] = {k: v for k, v in options.extra.items() if k not in TOP}
    extra |= options.extra.get("config", {})
    if extra.get("cached_content"):
        config = {name: value for name, value in config.items() if name not in CACHED}
    return config | extra


def tools_of(tools: Sequence[Tool]) -> list[dict[str, Any]]:
    """One tool with every function, then the provider's own."""
    declared = [_declaration(tool) for tool in tools if not tool.native]
    native = [tool.native for tool in tools if tool.native and tool.owner == PROVIDER]
    return [*([{"function_declarations": declared}] if declared else []), *native]


def _declaration(tool: Tool) -> dict[str, Any]:
    declared: dict[str, Any] = {"name": tool.name}
    if tool.description:
        declared["description"] = tool.description
    if schema := FREE_TEXT if tool.kind == "custom" else tool.schema:
        declared["parameters_json_schema"] = schema
    return declared


def _choice(tools: list[dict[str, Any]], choice: str | dict[str, Any]) -> dict[str, Any]:
    """How functions may be called; a choice without functions would be refused."""
    if not choice or not any("function_declarations" in tool for tool in tools):
        return {}
    if isinstance(choice, dict):
        found = choice.get("function_calling_config", choice.get("functionCallingConfig"))
        return cast("dict[str, Any]", found) if isinstance(found, dict) else {}
    if choice in ("auto", "none", "any"):
        return {"mode": choice.upper()}
    return {"mode": "ANY", "allowed_function_names": [choice]}


def _thinking(model: str, options: Options) -> dict[str, Any]:
    """A level from Gemini 3 on, a budget before; never both, which would be refused."""
    if isinstance(options.thinking, dict):
        return dict(options.thinking)
    config: dict[str, Any] = {}
    if signs(model) and options.effort in LEVELS:
        config["thinking_level"] = LEVELS[options.effort]
    elif options.thinking is not None:
        config["thinking_budget"] = options.thinking
    elif options.effort in BUDGETS and not signs(model):
        config["thinking_budget"] = BUDGETS[options.effort]
    if config and config.get("thinking_budget") != 0:
        config["include_thoughts"] = True
    return config
