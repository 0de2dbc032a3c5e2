"""A window as a user makes it small: a table for the model in a `profiles.toml` of their own."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path


def configured(folder: Path, windows: Mapping[str, int], output: int = 0) -> dict[str, str]:
    """Let models hold so many tokens; the variables that say where that stands."""
    home = folder / "holdfast"
    home.mkdir(parents=True, exist_ok=True)
    tables = [
        f'["{name}"]\nwindow = {window}\ninput_limit = 0\noutput_limit = {output or window // 8}\n'
        for name, window in windows.items()
    ]
    (home / "profiles.toml").write_text("\n".join(tables), "utf-8")
    return {"XDG_CONFIG_HOME": str(folder)}
