"""The store on SQLite keeps every promise of the ports."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from holdfast.ports import Store
from holdfast.stores.sqlite.store import SqliteStore
from holdfast.testing.contracts import StoreContract


class TestSqlite(StoreContract):
    @pytest.fixture
    def store(self, tmp_path: Path) -> Iterator[Store]:
        self.path, self.opened = tmp_path / "store.db", list[Store]()
        yield self.open_store(tmp_path)
        for store in self.opened:
            store.close()

    def open_store(self, place: Path) -> Store:
        self.opened.append(SqliteStore.open(self.path))
        return self.opened[-1]

    def reopen(self, store: Store) -> Store:
        return self.open_store(self.path)
