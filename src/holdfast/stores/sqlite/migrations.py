"""The schema, as named steps; each is applied and recorded in one transaction.

Column order puts what planning reads first and content last, so that reading a row's columns never
walks through its content. Whatever came from outside is bytes: PostgreSQL refuses NUL in text.
"""

from __future__ import annotations

from collections.abc import Callable

from holdfast.errors import Outdated, Unavailable
from holdfast.failpoints import failpoint
from holdfast.stores.sql.database import Database
from holdfast.stores.sqlite.migrate_calls import OLD, carry_over, put_in_order

Step = Callable[[Database, dict[str, str]], None]


def m0001_the_log(db: Database, words: dict[str, str]) -> None:
    """Sessions, entries, parts, markers, counts, blobs and idempotency keys."""
    for statement in _THE_LOG:
        db.run(statement.format_map(words))


def m0002_calls_and_jobs(db: Database, words: dict[str, str]) -> None:
    """What every model call cost, and background work."""
    for statement in _CALLS_AND_JOBS:
        db.run(statement.format_map(words))


def m0003_search(db: Database, words: dict[str, str]) -> None:
    """The full-text index, in the dialect's own words."""
    for statement in words["search"].split(";"):
        db.run(statement)


def m0004_calls_by_time(db: Database, words: dict[str, str]) -> None:
    """What a day has cost is known without reading every other day."""
    db.run("CREATE INDEX calls_by_time ON calls (started, cost)")


def m0005_imports(db: Database, words: dict[str, str]) -> None:
    """Where imported sessions come from."""
    for statement in _IMPORTS:
        db.run(statement.format_map(words))


def m0006_search_with_filters(db: Database, words: dict[str, str]) -> None:
    """The index anew, with what parts are told apart by; it fills from the log when asked."""
    db.run("DROP TABLE search")
    m0003_search(db, words)
    db.run("UPDATE sessions SET indexed = fork")


def m0007_vectors(db: Database, words: dict[str, str]) -> None:
    """What was said, by its meaning: filled where somebody asks for it."""
    for statement in _VECTORS:
        db.run(statement.format_map(words))


def m0008_search_by_character(db: Database, words: dict[str, str]) -> None:
    """The index anew, with every character apart that is a word by itself."""
    m0006_search_with_filters(db, words)


def m0009_search_sorted_in_memory(db: Database, words: dict[str, str]) -> None:
    """The settings of the index, as it would have them if it were made now."""
    for statement in words["search"].split(";")[1:]:
        db.run(statement)


def m0010_awaited(db: Database, words: dict[str, str]) -> None:
    """Sessions that belong to one that is not there yet."""
    for statement in _AWAITED:
        db.run(statement.format_map(words))


def m0011_calls_of_their_session(db: Database, words: dict[str, str]) -> None:
    """Calls in the order they were recorded, none known by its provider's id of the reply alone."""
    db.run(f"ALTER TABLE calls RENAME TO {OLD}")
    db.run("DROP INDEX calls_by_time")
    db.run("DROP INDEX calls_by_session")
    for statement in _CALLS_OF_THEIR_SESSION:
        db.run(statement.format_map(words))
    carry_over(db)
    db.run(f"DROP TABLE {OLD}")


def m0012_snapshots(db: Database, words: dict[str, str]) -> None:
    """What was computed from a log up to an entry."""
    db.run(_SNAPSHOTS.format_map(words))


def m0013_erasures(db: Database, words: dict[str, str]) -> None:
    """Erased sessions that backups or the index still hold; a session's jobs without a scan."""
    for statement in _ERASURES:
        db.run(statement.format_map(words))


def m0014_calls_in_order(db: Database, words: dict[str, str]) -> None:
    """Calls in the order of the log, also those that an earlier version had overwritten."""
    put_in_order(db)


def m0015_notes(db: Database, words: dict[str, str]) -> None:
    """Notes that outlive a session, their evidence, and how far sessions were read for them."""
    for statement in _NOTES:
        db.run(statement.format_map(words))


def m0016_search_by_stems(db: Database, words: dict[str, str]) -> None:
    """The index anew, with the stems of words and the pieces of compound names."""
    m0006_search_with_filters(db, words)


def m0017_file_changes(db: Database, words: dict[str, str]) -> None:
    """What agents did to files, with the content of either side in the blobs."""
    for statement in _FILE_CHANGES:
        db.run(statement.format_map(words))


MIGRATIONS: tuple[Step, ...] = (
    m0001_the_log,
    m0002_calls_and_jobs,
    m0003_search,
    m0004_calls_by_time,
    m0005_imports,
    m0006_search_with_filters,
    m0007_vectors,
    m0008_search_by_character,
    m0009_search_sorted_in_memory,
    m0010_awaited,
    m0011_calls_of_their_session,
    m0012_snapshots,
    m0013_erasures,
    m0014_calls_in_order,
    m0015_notes,
    m0016_search_by_stems,
    m0017_file_changes,
)


def migrate(db: Database, words: dict[str, str], now: int, where: str) -> None:
    """Bring the schema up to date; refuse one that a newer program has written."""
    with db.writing():
        db.run(
            "CREATE TABLE IF NOT EXISTS migrations (name TEXT PRIMARY KEY, applied BIGINT NOT NULL)"
        )
        applied = {name for (name,) in db.rows("SELECT name FROM migrations")}
    known = [step.__name__ for step in MIGRATIONS]
    if applied - set(known):
        raise Outdated(len(applied), len(known), where)
    for step in MIGRATIONS:
        if step.__name__ not in applied:
            _apply(db, step, words, now)


def check_migrated(db: Database, where: str) -> None:
    """Refuse a store that would have to be brought up to date, and cannot be."""
    applied = {name for (name,) in db.rows("SELECT name FROM migrations")}
    if any(step.__name__ not in applied for step in MIGRATIONS):
        raise Unavailable(
            f"{where} was written by an earlier version, and can only be read where it is; copy it "
            "to a directory of yours and name the copy as the --store"
        )


def _apply(db: Database, step: Step, words: dict[str, str], now: int) -> None:
    with db.writing():
        if db.rows("SELECT 1 FROM migrations WHERE name = ?", (step.__name__,)):
            return  # another process was faster
        failpoint("migrate.before_step")
        step(db, words)
        failpoint("migrate.before_record")
        db.run("INSERT INTO migrations (name, applied) VALUES (?, ?)", (step.__name__, now))


_THE_LOG = (
    """CREATE TABLE sessions (
        n {identity}, id TEXT NOT NULL UNIQUE, parent BIGINT, fork BIGINT NOT NULL,
        updated BIGINT NOT NULL, compacted BIGINT NOT NULL, archived BIGINT NOT NULL,
        head BIGINT NOT NULL, last_message BIGINT NOT NULL, last_marker BIGINT NOT NULL,
        indexed BIGINT NOT NULL, project {bytes} NOT NULL, data {bytes} NOT NULL)""",
    "CREATE INDEX sessions_by_change ON sessions (updated, id)",
    "CREATE INDEX sessions_by_project ON sessions (project, updated, id)",
    "CREATE INDEX sessions_by_parent ON sessions (parent) WHERE parent IS NOT NULL",
    """CREATE TABLE entries (
        place {key}, id TEXT NOT NULL, kind TEXT NOT NULL, role TEXT, created BIGINT NOT NULL,
        completed BIGINT, hash {bytes} NOT NULL, data {bytes})""",
    "CREATE INDEX entries_by_id ON entries (id)",
    """CREATE TABLE parts (
        place {key}, kind TEXT NOT NULL, size BIGINT NOT NULL, estimate BIGINT NOT NULL,
        blob {bytes}, data {bytes})""",
    "CREATE INDEX parts_by_blob ON parts (blob) WHERE blob IS NOT NULL",
    "CREATE TABLE markers (place {key}, kind TEXT NOT NULL, data {bytes} NOT NULL)",
    """CREATE TABLE counts (
        part BIGINT NOT NULL, counter TEXT NOT NULL, tokens BIGINT NOT NULL,
        PRIMARY KEY (part, counter)) {clustered}""",
    "CREATE TABLE blobs (hash {bytes} PRIMARY KEY, size BIGINT NOT NULL, data {bytes} NOT NULL)",
    """CREATE TABLE keys (
        session BIGINT NOT NULL, key {bytes} NOT NULL, first BIGINT NOT NULL, many BIGINT NOT NULL,
        PRIMARY KEY (session, key)) {clustered}""",
)

_CALLS_AND_JOBS = (
    """CREATE TABLE calls (
        id TEXT PRIMARY KEY, session BIGINT NOT NULL, started BIGINT NOT NULL, ended BIGINT,
        input BIGINT NOT NULL, cache_read BIGINT NOT NULL, cache_write BIGINT NOT NULL,
        output BIGINT NOT NULL, cost BIGINT, request {bytes}, data {bytes} NOT NULL)""",
    "CREATE INDEX calls_by_session ON calls (session, started, id, cost)",
    "CREATE UNIQUE INDEX calls_by_request ON calls (request) WHERE request IS NOT NULL",
    """CREATE TABLE givens (
        session BIGINT NOT NULL, hash {bytes} NOT NULL, data {bytes} NOT NULL,
        PRIMARY KEY (session, hash))""",
    """CREATE TABLE jobs (
        id TEXT PRIMARY KEY, session BIGINT NOT NULL, kind TEXT NOT NULL, created BIGINT NOT NULL,
        key {bytes} NOT NULL, owner TEXT NOT NULL, until BIGINT NOT NULL, attempts BIGINT NOT NULL,
        finished BIGINT NOT NULL, outcome {bytes} NOT NULL, payload {bytes} NOT NULL)""",
    "CREATE INDEX jobs_in_line ON jobs (kind, created, id) WHERE finished = 0",
    """CREATE UNIQUE INDEX jobs_by_key ON jobs (session, kind, key)
        WHERE finished = 0 AND length(key) > 0""",
)

# No two tables have columns of the same types in the same order: that is how rows of a damaged
# file are told apart (salvage.py).
_IMPORTS = (
    """CREATE TABLE origins (
        name {bytes} PRIMARY KEY, session BIGINT NOT NULL, opening {bytes} NOT NULL,
        data {bytes} NOT NULL)""",
    "CREATE INDEX origins_by_session ON origins (session)",
    "CREATE INDEX origins_by_opening ON origins (opening)",
    """CREATE TABLE sources (
        session BIGINT NOT NULL, source {bytes} NOT NULL, look TEXT NOT NULL,
        PRIMARY KEY (session, source))""",
    "CREATE INDEX sources_by_name ON sources (source)",
)

_VECTORS = (
    "CREATE TABLE search_vectors (place {key}, vector {bytes} NOT NULL)",
    "CREATE TABLE search_learned (n {key}, maker TEXT NOT NULL, upto BIGINT NOT NULL)",
)

_AWAITED = (
    """CREATE TABLE awaited (
        session BIGINT PRIMARY KEY, fork BIGINT NOT NULL, parent TEXT NOT NULL)""",
    "CREATE INDEX awaited_by_parent ON awaited (parent)",
)

_CALLS_OF_THEIR_SESSION = (
    """CREATE TABLE calls (
        place {key}, id TEXT NOT NULL, session BIGINT NOT NULL, started BIGINT NOT NULL,
        ended BIGINT, input BIGINT NOT NULL, cache_read BIGINT NOT NULL,
        cache_write BIGINT NOT NULL, output BIGINT NOT NULL, cost BIGINT, request {bytes},
        data {bytes} NOT NULL)""",
    "CREATE UNIQUE INDEX calls_by_id ON calls (session, id)",
    "CREATE INDEX calls_by_reply_id ON calls (session, request) WHERE request IS NOT NULL",
    "CREATE INDEX calls_by_time ON calls (started, cost)",
)

_SNAPSHOTS = """CREATE TABLE snapshots (
    session BIGINT NOT NULL, seq BIGINT NOT NULL, version BIGINT NOT NULL, data {bytes} NOT NULL,
    PRIMARY KEY (session, seq))"""

_ERASURES = (
    """CREATE TABLE erasures (
        number {key}, id TEXT NOT NULL, owner TEXT NOT NULL, until BIGINT NOT NULL,
        step BIGINT NOT NULL)""",
    "CREATE INDEX jobs_by_session ON jobs (session)",
)

_NOTES = (
    """CREATE TABLE notes (
        scope {bytes} NOT NULL, kind TEXT NOT NULL, id {bytes} NOT NULL, created BIGINT NOT NULL,
        used BIGINT NOT NULL, uses BIGINT NOT NULL, data {bytes} NOT NULL,
        PRIMARY KEY (scope, kind, id)) {clustered}""",
    """CREATE TABLE note_evidence (
        session TEXT NOT NULL, scope {bytes} NOT NULL, kind TEXT NOT NULL, id {bytes} NOT NULL,
        PRIMARY KEY (session, scope, kind, id)) {clustered}""",
    "CREATE TABLE note_cursors (session BIGINT NOT NULL PRIMARY KEY, seq BIGINT NOT NULL)",
)

_FILE_CHANGES = (
    """CREATE TABLE file_changes (
        number {identity}, session BIGINT NOT NULL, at BIGINT NOT NULL, created BIGINT NOT NULL,
        before {bytes}, after {bytes}, root {bytes} NOT NULL, data {bytes} NOT NULL)""",
    "CREATE INDEX file_changes_by_session ON file_changes (session, number)",
    "CREATE INDEX file_changes_by_root ON file_changes (root, number)",
    "CREATE INDEX file_changes_by_before ON file_changes (before) WHERE before IS NOT NULL",
    "CREATE INDEX file_changes_by_after ON file_changes (after) WHERE after IS NOT NULL",
)
