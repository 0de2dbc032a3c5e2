"""What every test of importing begins with."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import holdfast
from holdfast.engine.client import Holdfast


@pytest.fixture
def hf(tmp_path: Path) -> Iterator[Holdfast]:
    """A store on disk that knows nothing."""
    with holdfast.open(tmp_path / "store.db") as opened:
        yield opened
