"""The official SDKs, imported with their own warnings silenced; ours stay errors."""

import warnings
from typing import Any

import pytest


def sdk(name: str) -> Any:
    """The module of an SDK; the test is skipped where it is not installed."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return pytest.importorskip(name)
