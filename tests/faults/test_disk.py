"""The model of a disk: what lasts, what may be lost, and what may be torn."""

from random import Random

from tests.faults.disk import SECTOR, Op, Platter, sectors

DATABASE, LOG = "store.db", "store.db-wal"


def played(*ops: Op) -> Platter:
    platter = Platter(DATABASE)
    for op in ops:
        platter.play(op)
    return platter


def contents(platter: Platter, mode: str, name: str, tries: int = 200) -> set[bytes | None]:
    random = Random(1)
    return {platter.left(mode, random).get(name) for _ in range(tries)}  # type: ignore[arg-type]


def test_what_was_synced_lasts() -> None:
    platter = played(Op("write", DATABASE, 0, b"abc"), Op("sync", DATABASE))
    for mode in ("none", "all", "some", "torn"):
        assert contents(platter, mode, DATABASE) == {b"abc"}


def test_what_was_not_synced_may_be_there_or_not() -> None:
    platter = played(Op("write", DATABASE, 0, b"abc"))
    assert contents(platter, "none", DATABASE) == {b""}
    assert contents(platter, "all", DATABASE) == {b"abc"}
    assert contents(platter, "some", DATABASE) == {b"", b"abc"}


def test_later_writes_may_arrive_without_earlier_ones() -> None:
    platter = played(Op("write", DATABASE, 0, b"a"), Op("write", DATABASE, 1, b"b"))
    assert contents(platter, "some", DATABASE) == {b"", b"a", b"ab", b"\0b"}


def test_a_write_is_torn_between_sectors_of_the_disk() -> None:
    pieces = list(sectors(Op("write", DATABASE, 500, bytes(1000))))
    assert [(piece.at, len(piece.data)) for piece in pieces] == [
        (500, 12),
        (SECTOR, SECTOR),
        (2 * SECTOR, 476),
    ]


def test_a_new_file_lasts_with_its_first_sync() -> None:
    made = [Op("create", LOG), Op("write", LOG, 0, b"x")]
    assert contents(played(*made), "some", LOG) == {None, b"", b"x"}
    assert contents(played(*made, Op("sync", LOG)), "some", LOG) == {b"x"}


def test_a_deleted_file_may_come_back_until_its_directory_is_synced() -> None:
    journal = [Op("create", "j"), Op("write", "j", 0, b"x"), Op("sync", "j"), Op("delete", "j")]
    assert contents(played(*journal), "some", "j") == {None, b"x"}
    later = [*journal, Op("create", LOG), Op("sync", LOG)]
    assert contents(played(*later), "some", "j") == {None}


def test_a_truncated_file_loses_its_end() -> None:
    ops = [Op("write", DATABASE, 0, b"abcdef"), Op("truncate", DATABASE, 2), Op("sync", DATABASE)]
    assert contents(played(*ops), "none", DATABASE) == {b"ab"}
