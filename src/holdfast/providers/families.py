"""What our own TOML says of a model, and what a user's TOML says of theirs."""

from __future__ import annotations

import re
import tomllib
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from holdfast.core.search.nearest import nearest
from holdfast.errors import InvalidRequest, NotFound
from holdfast.model.profile import Price, Profile
from holdfast.providers.names import Reading

NANO = 1_000_000_000

Told = dict[str, Any]
"""Fields of a Profile, as far as something is said of them."""


class Families(Struct, frozen=True):
    """Our own file: what holds for models by the pattern of their name, and by their host."""

    family: list[Told]
    host: list[Told]


@cache
def families() -> Families:
    """Our own file, read when first asked for."""
    text = (files("holdfast.providers") / "profiles.toml").read_text("utf-8")
    return msgspec.convert(tomllib.loads(text), Families)


def told_of(read: Reading) -> Told:
    """Everything that the patterns and the host say of a model; empty where nothing applies."""
    told: Told = {}
    abilities: set[str] = set()
    for one in families().family:
        if any(re.search(one["match"], name) for name in (read.bare, read.name)):
            told |= one
            abilities = (abilities | set(one.get("abilities", ()))) - set(one.get("lacks", ()))
    for one in families().host:
        if told and one["name"] == read.host != told.get("provider"):
            abilities -= set(one["lacks"])
            told |= {name: one[name] for name in one if name != "lacks"}
    if told:
        told["abilities"] = sorted(abilities)
    return {name: told[name] for name in told if name not in ("match", "lacks", "name")}


FIELDS = tuple(name for name in Profile.__struct_fields__ if name not in ("name", "assumed"))
"""What a user may say of a model, besides `extends`; `prices` are in dollars a million tokens."""


def read(file: Path) -> dict[str, Told]:
    """A user's own file: one table a model."""
    try:
        told = tomllib.loads(file.read_text("utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise InvalidRequest(
            f"{file} cannot be read as profiles: {error}; mend or remove it"
        ) from error
    return {name.lower(): _table(file, name, fields) for name, fields in told.items()}


def _table(file: Path, model: str, fields: Any) -> Told:
    if not isinstance(fields, dict):
        raise InvalidRequest(
            f'{file}: "{model}" is no table; write [{model}] and its fields below it'
        )
    known = (*FIELDS, "extends")
    for name in fields:
        if name not in known:
            near = nearest(name, known)[:1]
            raise NotFound("field of a profile", name, near, f"mend {file}")
    try:
        made = dict(fields)
        if "prices" in made:
            made["prices"] = [_price(row) for row in _rows(made["prices"])]
        msgspec.convert({"name": model, **without(made, "extends")}, Profile)
    except (TypeError, ValueError, msgspec.ValidationError) as error:
        raise InvalidRequest(f"{file}: [{model}] cannot be read: {error}; mend it") from error
    return made


def _rows(prices: Any) -> list[Any]:
    return prices if isinstance(prices, list) else [prices]


def _price(row: dict[str, Any]) -> Told:
    """Dollars as billionths; what has no price of its own is ordinary input."""
    made = {name: value if name == "above" else round(value * NANO) for name, value in row.items()}
    for name in ("cache_read", "cache_write"):
        made.setdefault(name, made.get("input", 0))
    unknown = set(made) - set(Price.__struct_fields__)
    if unknown:
        raise ValueError(f"no such price: {', '.join(sorted(unknown))}")
    return made


def without(told: Told, *names: str) -> Told:
    """The same without some fields."""
    return {name: value for name, value in told.items() if name not in names}
