"""The price snapshot that ships with Holdfast, and how a model is found in it.

tools/prices.py makes the file from the genai-prices package (MIT licence) and says how.
"""

from __future__ import annotations

import lzma
import re
from collections.abc import Callable
from datetime import date
from functools import cache
from importlib.resources import files
from typing import Any, Final

import msgspec
from msgspec import Struct, field

from holdfast.model.profile import Price
from holdfast.providers.names import Reading

Clause = list[Any] | None
"""When a name is meant, as nested lists: ["or", ["equals", "gpt-4o"], ["starts", "gpt-4o-"]]."""


class Dated(Struct, frozen=True):
    """Prices from a day on, by the size of the prompt."""

    rows: tuple[Price, ...]
    since: str = field(default="", name="from")


class Listed(Struct, frozen=True):
    """One model at one provider."""

    id: str
    match: Clause
    window: int = 0
    prices: tuple[Dated, ...] = ()

    def price(self, today: date) -> tuple[Price, ...]:
        """The prices in force on a day."""
        begun = [one for one in self.prices if one.since <= today.isoformat()]
        return begun[-1].rows if begun else ()


class Provider(Struct, frozen=True):
    """What one provider serves."""

    match: Clause
    models: tuple[Listed, ...]

    def find(self, *names: str) -> Listed | None:
        """The model that goes by one of these names, the first of them that leads anywhere."""
        for name in names:
            exact = next((one for one in self.models if one.id == name), None)
            if found := exact or next((m for m in self.models if matches(m.match, name)), None):
                return found
        return None


class Snapshot(Struct, frozen=True):
    """Everything in the file."""

    source: str
    """Where the data is from, with its version."""
    providers: dict[str, Provider]


@cache
def snapshot() -> Snapshot:
    """The snapshot, read when first asked for."""
    packed = (files("holdfast.providers") / "prices.json.xz").read_bytes()
    return msgspec.json.decode(lzma.decompress(packed), type=Snapshot)


def find(read: Reading, maker: str = "") -> tuple[str, Listed] | None:
    """Who serves a model, and what is known of it; the host its name tells comes first."""
    providers = snapshot().providers
    own = read.name.rpartition("/")[2]
    claimed = (id for id, one in providers.items() if matches(one.match, read.bare))
    for id in (read.host, maker, *claimed):
        if id in providers and (found := providers[id].find(read.name, own, read.bare)):
            return id, found
    if "/" in read.name and (found := providers["openrouter"].find(read.name)):
        return "openrouter", found
    return None


def matches(clause: Clause, text: str) -> bool:
    """Whether a clause means a text; letters are compared as small ones."""
    if clause is None:
        return False
    kind, *values = clause
    if kind in _JOINED:
        return _JOINED[kind](matches(value, text) for value in values)
    if kind == "regex":
        return re.search(values[0], text) is not None
    return _COMPARED[kind](text.lower(), values[0].lower())


_JOINED: Final[dict[str, Callable[..., bool]]] = {"or": any, "and": all}
_COMPARED: Final[dict[str, Callable[[str, str], bool]]] = {
    "equals": str.__eq__,
    "starts": str.startswith,
    "ends": str.endswith,
    "contains": str.__contains__,
}
