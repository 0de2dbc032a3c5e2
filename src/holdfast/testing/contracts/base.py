"""What all contracts share: a fresh store for each test."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from holdfast.ports import Store


class Contract:
    """Say how a store is opened, and inherit its tests."""

    def open_store(self, place: Path) -> Store:
        """An empty store, in this directory if it needs one."""
        raise NotImplementedError

    def reopen(self, store: Store) -> Store:
        """The same store, closed and opened again; itself where nothing outlives the process."""
        return store

    @pytest.fixture
    def store(self, tmp_path: Path) -> Iterator[Store]:
        store = self.open_store(tmp_path)
        yield store
        store.close()
