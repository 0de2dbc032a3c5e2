"""What a model and a field are called: families that sign, names with dates, camel and snake."""

from __future__ import annotations

import re
from typing import Any

PROVIDER = "google"
"""Whose seals these are."""

SKIP = "skip_thought_signature_validator"
"""The documented stand-in for a signature that never was ("Thought Signatures", FAQ on history that
comes from another model). On the wire it stands for itself; being legal base64, it survives an SDK
that decodes signatures and encodes them again."""

ASKED = "gfc_"
"""How ids begin that we gave to calls which came without one; they are never sent back."""

IMAGES = ("image/png", "image/jpeg", "image/webp", "image/heic", "image/heif")
TAKEN = ("audio/", "video/", "text/", "application/pdf")

OPENING = re.compile(r"(?:.*/)?gemini-(\d+)")
DATED = re.compile(r"-\d[\d-]*\Z")
HUMP = re.compile(r"(?<=[a-z0-9])([A-Z])")
GAP = re.compile(r"_([a-z0-9])")


def signs(model: str) -> bool:
    """Whether a model refuses function calls without a signature: Gemini 3 and later do.

    A name without a number, such as gemini-flash-latest, is taken for a new one.
    """
    bare = model.rpartition("/")[2]
    if not bare.startswith("gemini-"):
        return False
    found = OPENING.match(bare)
    return int(found[1]) >= 3 if found else True


def same_model(one: str, other: str) -> bool:
    """Whether two names mean one model: alike but for a path before or a date behind."""
    first, second = sorted((one.rpartition("/")[2], other.rpartition("/")[2]), key=len)
    if not second.startswith(first):
        return False
    rest = second[len(first) :]
    return not rest or bool(DATED.fullmatch(rest))


def snake(name: str) -> str:
    """`thoughtSignature` as `thought_signature`."""
    return HUMP.sub(lambda found: f"_{found[1].lower()}", name)


def camel(name: str) -> str:
    """`thought_signature` as `thoughtSignature`."""
    return GAP.sub(lambda found: found[1].upper(), name)


def snaked(fields: dict[str, Any]) -> dict[str, Any]:
    """The same fields under the names the SDK uses; values stay as they are."""
    return {snake(name): value for name, value in fields.items()}


def taken(type: str) -> bool:
    """Whether a file of this media type may be sent."""
    return type in IMAGES or type.startswith(TAKEN)
