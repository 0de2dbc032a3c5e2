"""What the blobs port promises."""

from __future__ import annotations

from hashlib import sha256

import pytest

from holdfast.engine.client import drive
from holdfast.errors import NotFound
from holdfast.ports import Store

from .base import Contract


class BlobsContract(Contract):
    """Content by its SHA-256, stored once."""

    @pytest.mark.parametrize("data", [b"", b"\0\xff", bytes(range(256)) * 10_000])
    def test_a_blob_comes_back_as_it_went_in(self, store: Store, data: bytes) -> None:
        hash = drive(store.blobs.put(data))
        assert hash == sha256(data).hexdigest()
        assert drive(self.reopen(store).blobs.fetch(hash)) == data

    def test_the_same_content_is_stored_once(self, store: Store) -> None:
        assert drive(store.blobs.put(b"x")) == drive(store.blobs.put(b"x"))
        assert drive(store.blobs.sweep()) == 1

    @pytest.mark.parametrize("hash", ["", "zz", "00" * 32, "\0", "\ud800", "é"], ids=ascii)
    def test_an_unknown_blob_is_said_to_be_unknown(self, store: Store, hash: str) -> None:
        with pytest.raises(NotFound):
            drive(store.blobs.fetch(hash))

    def test_what_nothing_refers_to_is_swept(self, store: Store) -> None:
        hash = drive(store.blobs.put(b"x" * 1000))
        drive(store.blobs.put(b"y"))
        assert drive(store.blobs.sweep()) == 2
        assert drive(store.blobs.sweep()) == 0
        with pytest.raises(NotFound):
            drive(store.blobs.fetch(hash))
