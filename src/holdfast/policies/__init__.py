"""How we decide: one TOML file a policy, and the reader of them."""

from __future__ import annotations

import tomllib
from difflib import get_close_matches
from functools import cache
from importlib.resources import files
from pathlib import Path

import msgspec

from holdfast.errors import Misuse, Unknown
from holdfast.model.policy import Policy


def names() -> tuple[str, ...]:
    """The policies that come with Holdfast."""
    found = (file.name for file in files(__name__).iterdir() if file.name.endswith(".toml"))
    return tuple(sorted(name.removesuffix(".toml") for name in found))


@cache
def policy(name: str) -> Policy:
    """A policy by its name, or by the path of a file of the user's own."""
    if name.endswith(".toml"):
        return _read(Path(name).read_text("utf-8"), name)
    if name not in names():
        near = tuple(get_close_matches(name, names(), 1))
        raise Unknown("policy", name, near, f"(there are {', '.join(names())})")
    return _read((files(__name__) / f"{name}.toml").read_text("utf-8"), name)


def _read(text: str, where: str) -> Policy:
    try:
        return msgspec.convert(tomllib.loads(text), Policy, strict=False)
    except (tomllib.TOMLDecodeError, msgspec.ValidationError) as error:
        raise Misuse(f"the policy {where} cannot be read: {error}") from error
