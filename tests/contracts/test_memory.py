"""The store in memory keeps every promise of the ports."""

from pathlib import Path

import pytest

from holdfast.engine.client import drive
from holdfast.errors import InvalidRequest
from holdfast.stores.memory import MemoryStore
from holdfast.testing.contracts import StoreContract


class TestMemory(StoreContract):
    def open_store(self, place: Path) -> MemoryStore:
        return MemoryStore()


def test_memory_is_always_well_and_cannot_be_copied() -> None:
    care = MemoryStore().care
    assert drive(care.examine()) == ()
    assert drive(care.repair(())) == ()
    with pytest.raises(InvalidRequest, match="nothing to back up"):
        drive(care.backup())
