"""From a URL to a store: built-in ones by scheme, others by entry point, each loaded when asked."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from difflib import get_close_matches
from importlib import import_module
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any, Protocol, cast

from holdfast.errors import Misuse, Unknown
from holdfast.ports import Store

GROUP = "holdfast.stores"
"""The entry-point group of stores: scheme = "module:function", called with the URL's rest."""

BUILT_IN = {
    "sqlite": "holdfast.stores.sqlite:SqliteStore.open",
    "memory": "holdfast.stores.memory:MemoryStore.open",
}

SALVAGE = {"sqlite": "holdfast.stores.salvage:salvage"}
"""How a damaged file is salvaged, by the scheme of its store."""


class Salvaged(Protocol):
    """What became of a damaged store."""

    @property
    def kept(self) -> Mapping[str, int]: ...
    @property
    def lost(self) -> tuple[str, ...]: ...
    @property
    def damaged(self) -> str: ...


def open_store(url: str) -> Store:
    """The store at a URL; a plain path is a SQLite file.

    As elsewhere in Python, `sqlite:///log.db` is relative and `sqlite:////var/log.db` absolute.
    """
    scheme, rest = _split(url)
    return _opener(scheme)(rest)


def salvage(url: str) -> Salvaged:
    """Put a fresh store, with all that can still be read, in the place of a damaged one.

    It is not opened as a store for that, and nobody else may have it open.
    """
    scheme, rest = _split(url)
    if scheme not in SALVAGE:
        raise Misuse(f"a store of kind {scheme!r} cannot be salvaged; restore it from a backup")
    return cast(Callable[[str], Salvaged], _load(SALVAGE[scheme]))(rest)


def file_of(url: str) -> Path | None:
    """The file that the store at a URL is; None where it is something else."""
    scheme, rest = _split(url)
    return Path(rest).expanduser().absolute() if scheme == "sqlite" else None


def _split(url: str) -> tuple[str, str]:
    scheme, mark, rest = url.partition(":")
    if not mark or len(scheme) < 2 or not scheme.isalnum():
        return "sqlite", url  # a path; one letter before a colon is a drive
    rest = rest.removeprefix("//").removeprefix("/") if rest.startswith("//") else rest
    if scheme == "sqlite" and not rest:
        raise Misuse(f"{url!r} names no file; write sqlite:///log.db, or just the path")
    return scheme, rest


def _opener(scheme: str) -> Callable[[str], Store]:
    if scheme in BUILT_IN:
        return _load(BUILT_IN[scheme])
    others = {point.name: point for point in entry_points(group=GROUP)}
    if scheme in others:
        return cast(Callable[[str], Store], others[scheme].load())
    known = (*BUILT_IN, *others)
    near = tuple(get_close_matches(scheme, known, 1))
    raise Unknown("kind of store", scheme, near, f"(there are {', '.join(known)})")


def _load(where: str) -> Any:
    module, _, names = where.partition(":")
    found: Any = import_module(module)
    for name in names.split("."):
        found = getattr(found, name)
    return found
