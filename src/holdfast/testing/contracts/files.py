"""What the file history port promises: what was done to files is kept in order."""

from __future__ import annotations

from hashlib import sha256

import pytest

from holdfast.engine.client import drive
from holdfast.errors import NotFound
from holdfast.model.workspace import ABSENT, FileChange, FileState
from holdfast.ports import Store
from holdfast.testing.factories import append, start

from .base import Contract

ROOT = "/work/\udcff"


def state(data: bytes) -> FileState:
    """A file with this content."""
    return FileState("file", 0o644, sha256(data).hexdigest(), len(data))


def change(path: str, before: bytes | None, after: bytes | None, at: int = 1) -> FileChange:
    """A file's change; None is a file that is not there."""
    both = (ABSENT if data is None else state(data) for data in (before, after))
    return FileChange(path=path, before=next(both), after=next(both), root=ROOT, at=at, created=at)


class FilesContract(Contract):
    """Changes of files by session."""

    def test_changes_come_back_in_order_with_their_contents(self, store: Store) -> None:
        id = start(store)
        append(store, id, "one")
        made = drive(
            store.files.record(
                id, [change("a\udcff", None, b"1"), change("b", b"2", b"3")], [b"1", b"2", b"3"]
            )
        )
        again = self.reopen(store)
        assert drive(again.files.changes(id)) == made
        assert [one.path for one in made] == ["a\udcff", "b"]
        assert made[0].number < made[1].number
        assert drive(again.files.changes(id, after=made[0].number)) == made[1:]
        assert drive(again.files.changes(id, limit=1)) == made[:1]
        assert drive(again.blobs.fetch(made[1].before.hash)) == b"2"
        assert drive(again.blobs.sweep()) == 0

    def test_a_change_that_was_pending_is_completed_in_its_place(self, store: Store) -> None:
        id = start(store)
        (first,) = drive(store.files.record(id, [change("a", b"1", b"1")], [b"1"]))
        (other,) = drive(store.files.record(id, [change("b", None, b"1")], [b"1"]))
        done = FileChange(
            path="a", before=first.before, after=state(b"2"), root=ROOT, at=1, created=1,
            number=first.number,
        )  # fmt: skip
        drive(store.files.record(id, [done], [b"2"]))
        found = drive(self.reopen(store).files.changes(id))
        assert [(one.path, one.number) for one in found] == [
            ("a", first.number),
            ("b", other.number),
        ]
        assert found[0].after == state(b"2")

    def test_a_change_that_was_not_made_leaves_nothing(self, store: Store) -> None:
        id = start(store)
        (made,) = drive(store.files.record(id, [change("a", b"1", b"1")], [b"1"]))
        drive(store.files.remove(id, [made.number]))
        assert drive(store.files.changes(id)) == ()
        with pytest.raises(NotFound):
            drive(store.blobs.fetch(made.before.hash))

    def test_a_fork_knows_the_changes_before_it_and_keeps_them(self, store: Store) -> None:
        id = start(store)
        append(store, id, "one", "two", "three")
        drive(store.files.record(id, [change("a", None, b"1", at=1)], [b"1"]))
        drive(store.files.record(id, [change("a", b"1", b"2", at=3)], [b"2"]))
        fork = start(store, parent=id, fork=2)
        drive(store.files.record(fork, [change("c", None, b"3", at=2)], [b"3"]))
        before = [one.path for one in drive(store.files.changes(fork))]
        assert before == ["a", "c"]
        drive(store.sessions.erase(id))
        found = drive(self.reopen(store).files.changes(fork))
        assert sorted(one.path for one in found) == ["a", "c"]
        assert drive(store.blobs.fetch(state(b"1").hash)) == b"1"
        with pytest.raises(NotFound):
            drive(store.blobs.fetch(state(b"2").hash))

    def test_what_other_sessions_do_in_a_directory_is_known(self, store: Store) -> None:
        one, other = start(store), start(store)
        drive(store.files.record(one, [change("a", None, b"1")], [b"1"]))
        drive(store.files.record(other, [change("b", None, b"1")], [b"1"]))
        (found,) = drive(store.files.beside(one, ROOT))
        assert (found.session, found.path) == (other, "b")
        assert drive(store.files.beside(one, "/elsewhere")) == ()
        assert drive(store.files.beside(one, ROOT, after=found.number)) == ()

    def test_old_content_is_let_go_and_the_newest_stays(self, store: Store) -> None:
        id = start(store)
        for at in (1, 2, 3):
            drive(store.files.record(id, [change("a", None, b"%d" % at, at)], [b"%d" % at]))
        gone = drive(store.files.forget(before=3, keep=2))
        assert (gone.changes, gone.contents, gone.bytes) == (1, 1, 1)
        found = drive(self.reopen(store).files.changes(id))
        assert [one.forgotten for one in found] == [True, False, False]
        with pytest.raises(NotFound):
            drive(store.blobs.fetch(state(b"1").hash))
        assert drive(store.files.forget(before=1, keep=0)).changes == 0
        assert drive(store.files.forget(before=9, keep=5)).changes == 0

    def test_how_much_is_kept_is_known(self, store: Store) -> None:
        one, other = start(store), start(store)
        drive(store.files.record(one, [change("a", b"12", b"345", 5)], [b"12", b"345"]))
        drive(store.files.record(other, [change("b", b"12", None, 4)], [b"12"]))
        drive(store.blobs.put(b"not a file's"))
        kept = drive(store.files.kept())
        assert (kept.changes, kept.contents, kept.bytes, kept.oldest) == (2, 2, 5, 4)
        assert drive(store.files.kept(other)).bytes == 2

    def test_content_that_is_not_kept_is_not_looked_for(self, store: Store) -> None:
        id = start(store)
        large = FileState("file", 0o644, "", 1 << 30, "larger than is kept")
        made = FileChange(path="a", before=ABSENT, after=large, root=ROOT)
        (made,) = drive(store.files.record(id, [made]))
        assert drive(self.reopen(store).files.changes(id)) == (made,)

    def test_files_go_with_their_session(self, store: Store) -> None:
        id, other = start(store), start(store)
        drive(store.files.record(id, [change("a", b"mine", b"both")], [b"mine", b"both"]))
        drive(store.files.record(other, [change("a", None, b"both")], [b"both"]))
        drive(store.sessions.erase(id))
        with pytest.raises(NotFound):
            drive(store.blobs.fetch(state(b"mine").hash))
        assert drive(store.blobs.fetch(state(b"both").hash)) == b"both"
        start(store, id)
        assert drive(store.files.changes(id)) == ()

    def test_an_unknown_session_has_no_changes(self, store: Store) -> None:
        for attempt in (
            store.files.changes("x"),
            store.files.record("x", [change("a", None, b"")]),
            store.files.kept("x"),
            store.files.remove("x", [1]),
        ):
            with pytest.raises(NotFound):
                drive(attempt)  # type: ignore[arg-type]
