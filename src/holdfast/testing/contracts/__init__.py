"""What every store promises, as tests to inherit.

    class TestMine(StoreContract):
        def open_store(self, place): return MyStore(place / "store")

Call `pytest.register_assert_rewrite("holdfast.testing.contracts")` before importing this, to be
told by a failing test what it saw.
"""

from __future__ import annotations

from .base import Contract
from .blobs import BlobsContract
from .calls import CallsContract
from .counts import CountsContract
from .erasing import ErasingContract
from .files import FilesContract
from .forks import ForkContract
from .importer import ImporterContract
from .imports import ImportsContract
from .jobs import JobsContract
from .log import AppendContract, KeyContract, ReadContract
from .meaning import MeaningContract
from .notes import NotesContract
from .questions import QuestionsContract
from .search import SearchContract
from .sessions import ListContract, SessionContract
from .snapshots import SnapshotsContract
from .text import TextContract
from .threads import ThreadContract


class LogContract(
    AppendContract, KeyContract, ReadContract, ForkContract, TextContract, ThreadContract
):
    """The log port."""


class SessionsContract(SessionContract, ListContract, ErasingContract):
    """The sessions port."""


class StoreContract(
    LogContract,
    SessionsContract,
    BlobsContract,
    CallsContract,
    CountsContract,
    SnapshotsContract,
    NotesContract,
    FilesContract,
    SearchContract,
    QuestionsContract,
    MeaningContract,
    JobsContract,
    ImportsContract,
):
    """Every port of a store."""


__all__ = [
    "BlobsContract",
    "CallsContract",
    "Contract",
    "CountsContract",
    "FilesContract",
    "ImporterContract",
    "ImportsContract",
    "JobsContract",
    "LogContract",
    "MeaningContract",
    "NotesContract",
    "QuestionsContract",
    "SearchContract",
    "SessionsContract",
    "SnapshotsContract",
    "StoreContract",
]
