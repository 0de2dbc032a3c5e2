"""What is imported before anything is asked: nothing heavy, on any of the ways in."""

import subprocess
import sys
from pathlib import Path

import pytest

from bench.startup import HEAVY, heavy, imports_of_chat

WAYS = {
    "the library": "import holdfast",
    "its doors": "import holdfast; holdfast.open, holdfast.open_async",
    "help": "import sys; sys.argv = ['holdfast', '--help']\n"
    "from holdfast.cli import main\n"
    "try:\n    main()\nexcept SystemExit:\n    pass",
}


@pytest.mark.parametrize("way", WAYS)
def test_nothing_heavy_is_imported(way: str) -> None:
    code = f"{WAYS[way]}\nimport sys; sys.stderr.write(' '.join(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "holdfast" in done.stderr.split()
    assert heavy(set(done.stderr.split())) == []


def test_nothing_heavy_is_imported_before_the_chat_asks(tmp_path: Path) -> None:
    imported = imports_of_chat(tmp_path)
    assert "prompt_toolkit" in imported
    assert heavy(imported) == []


def test_a_heavy_library_is_known_by_its_parts() -> None:
    assert heavy({"google.genai.types", "google", "opentelemetry_x", "openai"}) == [
        "google.genai", "openai",
    ]  # fmt: skip
    assert "anthropic" in HEAVY
