"""Untrusted JSON: what lines begin with, and values, each as what it should be or as nothing."""

from __future__ import annotations

import re
from base64 import b64decode
from binascii import Error as NotBase64
from typing import Any

from holdfast.model import wire
from holdfast.model.image_header import dimensions, is_shown
from holdfast.model.message import Media


def text(value: Any) -> str:
    """Text; empty where it is something else."""
    return value if type(value) is str else ""


def table(value: Any) -> dict[str, Any]:
    """An object; empty where it is something else."""
    return value if type(value) is dict else {}


def rows(value: Any) -> list[Any]:
    """A list; empty where it is something else."""
    return value if type(value) is list else []


def count(value: Any) -> int:
    """A number of things, or of ms since 1970; 0 where it is none."""
    if type(value) is float and 0 <= value < wire.LARGEST:
        return int(value)
    return value if type(value) is int and 0 <= value < wire.LARGEST else 0


def picture(kind: str, base64: str, name: str = "") -> Media | None:
    """A picture or document from its base64; None where its bytes are not there."""
    try:
        data = b64decode(base64, validate=True)
    except (NotBase64, ValueError):
        return None
    if not is_shown(kind, data):
        return None
    width, height = dimensions(data) or (0, 0)
    return Media(type=kind, data=data, name=name, width=width, height=height)


def begins(form: re.Pattern[bytes], head: bytes) -> bool:
    """Whether any line of it begins in such a form."""
    at = 0
    while not form.match(head, at):
        at = head.find(b"\n", at) + 1
        if not at:
            return False
    return True


def billionths(dollars: Any) -> int | None:
    """An amount of dollars in billionths; None where there is none, or nobody knew it."""
    if type(dollars) in (int, float) and 0 < dollars < 1_000_000:
        return round(dollars * 1_000_000_000)
    return None


def written(value: Any) -> str:
    """What a tool was called with, as JSON; text is taken for what a model wrote itself."""
    if type(value) is str:
        return value
    return wire.encode(value or {}).decode("utf-8", "surrogatepass")
