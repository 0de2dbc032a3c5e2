"""How we decide: one TOML file a policy, prompts beside them, and the reader of both."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib.resources import files
from math import inf
from pathlib import Path
from threading import Lock
from typing import Any, cast

import msgspec

from holdfast.core.search.nearest import nearest
from holdfast.errors import InvalidRequest, NotFound
from holdfast.model.policy import Policy

DEEPEST = 4
"""A policy may be like another, which may be like another: not without end."""

_reading = Lock()
"""Two threads that are the first to read a policy would both have msgspec find out what a Policy
holds, and it ends the process then."""


def names() -> tuple[str, ...]:
    """The policies that come with Holdfast."""
    return _named(".toml")


def prompts() -> tuple[str, ...]:
    """The prompts that come with Holdfast."""
    return _named(".md", "prompts")


def _named(ending: str, *inside: str) -> tuple[str, ...]:
    found = (file.name for file in files(__name__).joinpath(*inside).iterdir())
    return tuple(sorted(name.removesuffix(ending) for name in found if name.endswith(ending)))


def policy(name: str) -> Policy:
    """A policy by its name, or by the path of a file of the user's own, as it is now."""
    return _read(name) if name.endswith(".toml") else _built_in(name)


@cache
def _built_in(name: str) -> Policy:
    return _read(name)


def _read(name: str) -> Policy:
    table = _table(name)
    _check_numbers(name, table)
    try:
        with _reading:
            made = msgspec.convert(table, Policy, strict=False)
    except msgspec.ValidationError as error:
        raise InvalidRequest(f"the policy {name} cannot be read: {error}") from error
    _check_layout(made)
    return made


def prompt(name: str) -> str:
    """A prompt by its name, or by the path of a file of the user's own, as it is now."""
    if name.endswith((".md", ".txt")):
        return _text(Path(name), "prompt").strip()
    return _own_prompt(name)


@cache
def _own_prompt(name: str) -> str:
    _check("prompt", name, prompts())
    return files(__name__).joinpath("prompts", f"{name}.md").read_text("utf-8").strip()


def _table(name: str, depth: int = 0) -> dict[str, Any]:
    """The table of a policy, laid over the one it is like."""
    if depth > DEEPEST:
        raise InvalidRequest(f"the policy {name} is like another that is like it")
    own = _own(name)
    like = own.pop("like", "")
    return _laid(_table(str(like), depth + 1), own) if like else own


def _own(name: str) -> dict[str, Any]:
    if name.endswith(".toml"):
        text = _text(Path(name), "policy")
    else:
        _check("policy", name, names())
        text = files(__name__).joinpath(f"{name}.toml").read_text("utf-8")
    try:
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InvalidRequest(f"the policy {name} cannot be read: {error}") from error
    return _beside(table, Path(name).absolute().parent) if name.endswith(".toml") else table


def _beside(table: dict[str, Any], folder: Path) -> dict[str, Any]:
    """A table of the user's own: the prompts and the policy it names lie beside its file."""
    made = dict(table)
    for key, value in table.items():
        if isinstance(value, dict):
            made[key] = _beside(cast("dict[str, Any]", value), folder)
        elif key in ("prompt", "verify", "like") and str(value).endswith((".md", ".txt", ".toml")):
            made[key] = str(folder / str(value))
    return made


def _check_layout(made: Policy) -> None:
    """Refuse a layout that would leave out the conversation itself."""
    for layout in filter(None, (made.layout, made.layout_compacted)):
        missing = {"history", "current"} - {place.section for place in layout}
        if missing:
            told = " and ".join(sorted(missing))
            raise InvalidRequest(
                f"the policy {made.name}: its layout has no place for {told}; add it"
            )
        for place in layout:
            if place.form and "{text}" not in place.form:
                raise InvalidRequest(
                    f"the policy {made.name}: the form of {place.section} leaves out its text; "
                    "write {text} where it stands"
                )


def _check_numbers(name: str, table: dict[str, Any], where: str = "") -> None:
    """Refuse numbers that no policy can mean: below nothing, without end, or none at all."""
    for key, value in table.items():
        place = f"{where}{key}"
        if isinstance(value, dict):
            _check_numbers(name, cast("dict[str, Any]", value), f"{place}.")
        elif isinstance(value, (int, float)) and not (0 <= value < inf):
            raise InvalidRequest(f"the policy {name}: {place} = {value} cannot be; give 0 or more")


def _laid(under: dict[str, Any], over: dict[str, Any]) -> dict[str, Any]:
    """One table over another; `false` in the place of a table takes it away."""
    made = dict(under)
    for key, value in over.items():
        below = made.get(key)
        if value is False and isinstance(below, dict):
            del made[key]
        elif isinstance(value, dict) and isinstance(below, dict):
            made[key] = _laid(cast("dict[str, Any]", below), cast("dict[str, Any]", value))
        else:
            made[key] = value
    return made


def _text(path: Path, kind: str) -> str:
    try:
        return path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidRequest(f"the {kind} {path} cannot be read: {error}") from error


def _check(kind: str, name: str, known: tuple[str, ...]) -> None:
    if name not in known:
        near = nearest(name, known)[:1]
        raise NotFound(kind, name, near, f"name one of {', '.join(known)}")
