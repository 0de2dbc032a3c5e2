"""Policies of the tests' own."""

from pathlib import Path

SHED = str(Path(__file__).parent / "shed.toml")
"""Nothing but shedding."""

AHEAD = str(Path(__file__).parent / "ahead.toml")
"""Summaries are prepared ahead."""

NOTED = str(Path(__file__).parent / "noted.toml")
"""Running notes for a small window."""

WARNED = str(Path(__file__).parent / "warned.toml")
"""Results are cleared early, and the model is warned first."""
