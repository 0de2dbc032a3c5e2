"""The health of a whole store: the engine's own checks, search, blobs, rows and file modes."""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Callable, Iterator
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

import apsw

from holdfast.errors import StoreError
from holdfast.model.store import Finding
from holdfast.stores.health import backups, raw_rows, repair
from holdfast.stores.sql import rows
from holdfast.stores.sql.blobs import UNUSED
from holdfast.stores.sql.keys import (
    MOST_ENTRIES,
    ORDINAL_BITS,
    SEQ_BITS,
    entry_of,
    number_of,
    parts_of,
    place,
    seq_of,
)  # fmt: skip
from holdfast.stores.sqlite.schema import besides

if TYPE_CHECKING:
    from holdfast.stores.sqlite.connection import Sqlite

MOST = 100
"""How many findings of one kind are told."""

CHUNK = 1 << 20

_INDEX_ONLY = ("missing from index", "wrong # of entries in index", "non-unique entry in index")


def store_findings(db: Sqlite) -> Iterator[Finding]:
    """Everything about a store that is not as it should be; where one check fails, others go on."""
    checks: tuple[Callable[[Sqlite], Iterator[Finding]], ...] = (
        _database, _besides, _search, _owners, _alone, _blobs, _modes, _left_over, _erasures
    )  # fmt: skip
    for check in checks:
        try:
            yield from check(db)
        except StoreError as why:
            yield Finding(area="database", what=str(why), where=db.where, mend=repair.SALVAGE)


def _database(db: Sqlite) -> Iterator[Finding]:
    for (what,) in db.rows(f"PRAGMA integrity_check({MOST})"):
        if what == "ok" or "fts5" in what.lower():  # `_search` tells
            continue
        how = repair.REINDEX if any(sign in what for sign in _INDEX_ONLY) else repair.SALVAGE
        yield Finding(area="database", what=what, where=db.where, mend=how)


def _besides(db: Sqlite) -> Iterator[Finding]:
    for name in besides(db, db.words)[:MOST]:
        what = f"a table that is not Holdfast's: {name[:60]!a}; it is never read"
        yield Finding(area="database", what=what, where=db.where)


def _search(db: Sqlite) -> Iterator[Finding]:
    if db.read_only:
        return
    with db.writing():  # the check is written as an insertion
        what = raw_rows.search_trouble(db)
    if what:
        yield Finding(area="search", what=what, mend=repair.REBUILD)


def _owners(db: Sqlite) -> Iterator[Finding]:
    """Rows whose session's row is gone: one look for each session, not for each row."""
    numbers = {n for (n,) in db.rows("SELECT n FROM sessions")}
    lost: dict[int, set[str]] = {}
    for table in ("entries", "markers", "parts"):
        for number in _numbers(db, table, of_parts=table == "parts"):
            if number not in numbers:
                lost.setdefault(number, set()).add(table)
    for number, tables in sorted(lost.items())[:MOST]:
        what = f"{' and '.join(sorted(tables))} of a session whose row is gone"
        yield Finding(area="log", what=what, where=str(number), mend=repair.ADOPT)
    holders = (
        "SELECT t.name FROM sqlite_schema t JOIN pragma_table_info(t.name) c "
        "WHERE t.type = 'table' AND c.name = 'session'"
    )
    for (table,) in db.rows(holders):
        many = f"SELECT count(*) FROM {table} WHERE session NOT IN (SELECT n FROM sessions)"
        if count := db.rows(many)[0][0]:
            yield Finding(area="log", what=f"{count} {table} of sessions that are gone")


def _numbers(db: Sqlite, table: str, *, of_parts: bool) -> Iterator[int]:
    """The number of each session that has rows in a table."""
    at, beyond = 0, f"SELECT place FROM {table} WHERE place > ? ORDER BY place LIMIT 1"
    while after := db.rows(beyond, (at,)):
        ((at,),) = after
        number = number_of(entry_of(at) if of_parts else at)
        yield number
        last = place(number, MOST_ENTRIES)
        at = parts_of(last, last)[1] if of_parts else last


def _alone(db: Sqlite) -> Iterator[Finding]:
    """Parts and markers whose entry's row is gone."""
    for table, entry in (("parts", f"parts.place >> {ORDINAL_BITS}"), ("markers", "markers.place")):
        alone = db.rows(
            f"SELECT {entry}, s.id FROM {table} JOIN sessions s ON s.n = ({entry}) >> {SEQ_BITS} "
            f"WHERE NOT EXISTS (SELECT 1 FROM entries e WHERE e.place = {entry}) "
            f"GROUP BY s.id LIMIT {MOST}"
        )
        for at, session in alone:
            what = f"{table} without their entry, the first at {seq_of(at)}"
            yield Finding(area="log", what=what, where=session, mend=repair.ENTER)


def _hex(hash: object) -> str:
    """The name of a blob; a file that is damaged may hold anything."""
    return hash.hex() if isinstance(hash, bytes) else repr(hash)


def _blobs(db: Sqlite) -> Iterator[Finding]:
    missing = db.rows(
        "SELECT DISTINCT blob FROM parts WHERE blob IS NOT NULL AND NOT EXISTS "
        f"(SELECT 1 FROM blobs WHERE blobs.hash = parts.blob) LIMIT {MOST}"
    )
    for (hash,) in missing:
        what = "a blob that parts refer to is missing; examining their session says where"
        yield Finding(area="blobs", what=what, where=_hex(hash))
    ((unused,),) = db.rows(f"SELECT count(*) FROM blobs WHERE {UNUSED}")
    if unused:
        what = f"{unused} that nothing refers to"
        yield Finding(area="blobs", what=what, mend=repair.SWEEP)
    for row, hash, size in _every_blob(db):
        if what := _wrong(db, row, hash, size):
            yield Finding(area="blobs", what=what, where=_hex(hash))


def _every_blob(db: Sqlite) -> Iterator[tuple[int, bytes, int]]:
    after, page = 0, "SELECT rowid, hash, size FROM blobs WHERE rowid > ? ORDER BY rowid LIMIT 256"
    while blobs := db.rows(page, (after,)):
        yield from blobs  # type: ignore[misc]
        after = blobs[-1][0]


def _wrong(db: Sqlite, row: int, hash: bytes, size: int) -> str:
    """What is wrong with a blob, unpacked a piece at a time."""
    unpacking, digest, length = rows.zstd.ZstdDecompressor(), sha256(), 0
    try:
        with db.lock, db.connection.blob_open("main", "blobs", "data", row, False) as stored:
            while not unpacking.eof:
                packed = stored.read(CHUNK) if unpacking.needs_input else b""
                piece = unpacking.decompress(packed, CHUNK)
                if not (packed or piece):
                    return "its content ends too early"
                digest.update(piece)
                length += len(piece)
                if length > rows.LARGEST_PART:
                    return f"it unpacks to more than {rows.LARGEST_PART >> 20} MiB"
    except (rows.zstd.ZstdError, apsw.Error) as why:
        return f"its content cannot be unpacked ({why})"
    whole = digest.digest() == hash and length == size
    return "" if whole else "its content is not what was stored"


def _modes(db: Sqlite) -> Iterator[Finding]:
    shelf = backups.directory(db.path)
    private = [Path(f"{db.path}{suffix}") for suffix in ("", *backups.JOURNALS)]
    private += [shelf, *(shelf / name for name in backups.copies(db.path))]
    for path in private:
        try:
            mode = stat.S_IMODE(os.lstat(path).st_mode)
        except FileNotFoundError:
            continue
        if mode & 0o077:
            what = f"others may open it (mode {mode:04o})"
            yield Finding(area="files", what=what, where=str(path), mend=repair.SHUT)


def _left_over(db: Sqlite) -> Iterator[Finding]:
    for path in backups.left_over(db.path, time.time()):
        what = "a copy that was cut short; nobody writes it any more"
        yield Finding(area="files", what=what, where=str(path), mend=repair.REMOVE)


def _erasures(db: Sqlite) -> Iterator[Finding]:
    """What is left of sessions that were erased."""
    from holdfast.stores.sqlite.erasure import unfinished

    for session, holding, indexed in unfinished(db):
        if indexed:
            what = f"the search index holds words of {session}, which was erased"
            yield Finding(area="search", what=what, where=db.where, mend=repair.FINISH)
        for path in holding:
            how = repair.FINISH if path.endswith(".db") else ""
            what = f"a backup holds {session}, which was erased"
            what += "" if how else "; it is damaged: remove it"
            yield Finding(area="files", what=what, where=path, mend=how)
