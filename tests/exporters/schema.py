"""A small check of JSON against the words of JSON Schema that our own schema uses."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

TYPES: dict[str, tuple[type, ...]] = {
    "object": (dict,), "array": (list,), "string": (str,), "integer": (int,),
    "number": (int, float), "boolean": (bool,), "null": (type(None),),
}  # fmt: skip
KNOWN = {
    *("$ref", "anyOf", "type", "enum", "properties", "required", "items", "prefixItems"),
    *("minItems", "maxItems", "additionalProperties", "title", "description", "default"),
    *("contentEncoding", "discriminator", "$schema", "$defs"),
}


def faults(value: Any, schema: dict[str, Any], root: dict[str, Any], at: str = "$") -> list[str]:
    """Where a value is not what its schema says."""
    assert set(schema) <= KNOWN, set(schema) - KNOWN
    if "$ref" in schema:
        return faults(value, root["$defs"][schema["$ref"].removeprefix("#/$defs/")], root, at)
    if "anyOf" in schema:
        ways = [faults(value, one, root, at) for one in schema["anyOf"]]
        return [] if [] in ways else min(ways, key=len)
    return [*_plain(value, schema, at), *_inside(value, schema, root, at)]


def _plain(value: Any, schema: dict[str, Any], at: str) -> Iterator[str]:
    kind = schema.get("type")
    if kind and not isinstance(value, TYPES[kind]):
        yield f"{at} is no {kind}"
    if isinstance(value, bool) and kind in ("integer", "number"):
        yield f"{at} is no {kind}"
    if "enum" in schema and value not in schema["enum"]:
        yield f"{at} is none of {schema['enum']}"


def _inside(value: Any, schema: dict[str, Any], root: dict[str, Any], at: str) -> Iterator[str]:
    if isinstance(value, dict):
        needed = schema.get("required", ())
        yield from (f"{at}.{name} is missing" for name in needed if name not in value)
        yield from _members(value, schema, root, at)
    elif isinstance(value, list):
        if len(value) < schema.get("minItems", 0):
            yield f"{at} is too short"
        first = schema.get("prefixItems", [])
        for number, inner in enumerate(value):
            each = first[number] if number < len(first) else schema.get("items", {})
            yield from faults(inner, each or {}, root, f"{at}[{number}]")


def _members(
    value: dict[str, Any], schema: dict[str, Any], root: dict[str, Any], at: str
) -> Iterator[str]:
    known, other = schema.get("properties", {}), schema.get("additionalProperties")
    for name, inner in value.items():
        if name in known:
            yield from faults(inner, known[name], root, f"{at}.{name}")
        elif isinstance(other, dict):
            yield from faults(inner, other, root, f"{at}.{name}")
        elif known:
            yield f"{at}.{name} is not described"
