"""The mutants that no test can tell from the source, each with the reason why."""

from __future__ import annotations

import tomllib
from pathlib import Path

FILE = Path(__file__).with_name("equivalents.toml")


def load(file: Path = FILE) -> dict[str, str]:
    """The reason for each equivalent mutant, by its key."""
    if not file.exists():
        return {}
    listed = tomllib.loads(file.read_text("utf-8")).get("mutant", [])
    return {one["key"]: one["why"] for one in listed}
