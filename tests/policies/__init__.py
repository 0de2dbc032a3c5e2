"""Policies of the tests' own."""

from pathlib import Path

SHED = str(Path(__file__).parent / "shed.toml")
"""Nothing but shedding."""
