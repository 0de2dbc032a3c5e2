"""The same request for plain HTTP: the JSON body and the path it is posted to.

The SDK's `config` holds what the wire keeps in three places: beside the contents, in
`generationConfig`, or nowhere because it is a matter of the client.
"""

from __future__ import annotations

from typing import Any, cast

from holdfast.codecs.gemini.names import camel

BESIDE = (
    *("system_instruction", "tools", "tool_config", "safety_settings", "cached_content"),
    *("labels", "service_tier", "store"),
)
CLIENT = ("http_options", "automatic_function_calling", "should_return_http_response")
VERBATIM = (
    *("args", "response", "parametersJsonSchema", "responseJsonSchema", "partMetadata"),
    *("responseSchema", "parameters", "labels"),
)
"""Fields whose value is somebody else's: the names inside are not ours to change."""


def rest(request: dict[str, Any]) -> dict[str, Any]:
    """The body that is posted for a request."""
    config: dict[str, Any] = request.get("config") or {}
    body: dict[str, Any] = {"contents": _wire(request["contents"])}
    body |= {camel(name): _wire(config[name]) for name in BESIDE if name in config}
    aside = {*BESIDE, *CLIENT}
    generation = {name: value for name, value in config.items() if name not in aside}
    if generation:
        body["generationConfig"] = _wire(generation)
    return body


def path(request: dict[str, Any], *, stream: bool = False) -> str:
    """Where it is posted to, behind the version."""
    model = str(request["model"])
    place = model if "/" in model else f"models/{model}"
    return f"{place}:streamGenerateContent?alt=sse" if stream else f"{place}:generateContent"


def _wire(value: Any) -> Any:
    if isinstance(value, list):
        return [_wire(member) for member in cast("list[Any]", value)]
    if not isinstance(value, dict):
        return value
    named = {camel(name): inner for name, inner in cast("dict[str, Any]", value).items()}
    return {name: inner if name in VERBATIM else _wire(inner) for name, inner in named.items()}
