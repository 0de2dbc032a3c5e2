"""Whether a file's schema is what the migrations make: a store may have come from somebody else.

A schema can act. A trigger deletes rows behind an insertion, a view in the place of a table never
ends, a column computes. So it is compared before any table is read: a store with a trigger, a view
or a changed definition is refused, and salvaging it takes over its rows alone. A table besides ours
is never read, and is no reason to refuse.
"""

from __future__ import annotations

from collections.abc import Collection
from hashlib import sha256
from typing import Any, NamedTuple

import apsw

from holdfast.errors import Corrupt, Outdated
from holdfast.stores.sql.database import Database
from holdfast.stores.sqlite.migrations import MIGRATIONS

CURRENT = "756ed7f44999d9301d1ecd3d3d20c750"
"""The fingerprint of the schema after all migrations: what nearly every store has. Where it is not
up to date, opening a store takes longer, for its schema is made anew to be compared."""

KNOWN = {step.__name__ for step in MIGRATIONS}

MOST_NAMED = 5
LONGEST = 60

_LEDGER = "CREATE TABLE migrations (name TEXT PRIMARY KEY, applied BIGINT NOT NULL)"
_OBJECTS = "SELECT type, name, tbl_name, sql FROM sqlite_schema"


class Object(NamedTuple):
    """A row of the schema."""

    type: str
    name: str
    table: str
    sql: str | None


def check_schema(db: Database, words: dict[str, str], where: str) -> None:
    """Refuse a store whose schema holds something that is not ours."""
    found = [Object(*row) for row in db.rows(_OBJECTS)]
    if not found or fingerprint(found) == CURRENT:
        return
    odd = _acting(found)
    applied = set[str]() if odd else _applied(db, found, where)
    odd = odd or _changed(found, applied, words)
    if odd:
        raise Corrupt(
            f"the schema of {where} is not the one that Holdfast makes: it holds {_listed(odd)}; "
            "nothing was read or changed. Do not use a store that you do not trust; "
            "`holdfast doctor` offers to take over its rows alone"
        )


def besides(db: Database, words: dict[str, str]) -> list[str]:
    """The names of tables that are not ours: they are never read."""
    ours = {one.name for one in made_by(KNOWN, words)}
    found = [Object(*row) for row in db.rows(_OBJECTS)]
    return [
        one.name
        for one in found
        if one.type == "table" and one.name not in ours and not one.name.startswith("sqlite_")
    ]


def fingerprint(found: list[Object]) -> str:
    """What identifies a schema, apart from the engine's own tables and from blanks."""
    told = sorted(
        (one.type, one.name, one.table, _plain(one.sql))
        for one in found
        if not one.name.startswith("sqlite_")
    )
    return sha256(repr(told).encode()).hexdigest()[:32]


def made_by(applied: Collection[str], words: dict[str, str]) -> list[Object]:
    """The schema that these migrations make."""
    scratch = _Scratch()
    try:
        scratch.run(_LEDGER)
        for step in MIGRATIONS:
            if step.__name__ in applied:
                step(scratch, words)  # type: ignore[arg-type]
        return [Object(*row) for row in scratch.rows(_OBJECTS)]
    finally:
        scratch.connection.close()


class _Scratch:
    """As much of a database as the migrations of an empty one need."""

    where = ":memory:"

    def __init__(self) -> None:
        self.connection = apsw.Connection(":memory:")

    def rows(self, sql: str, values: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
        return self.connection.execute(sql, values).fetchall()

    def run(self, sql: str, values: tuple[Any, ...] = ()) -> None:
        self.connection.execute(sql, values)


def _acting(found: list[Object]) -> list[str]:
    """What acts by itself: we never make any of it."""
    return [
        f"the {one.type} {_name(one.name)}" + (f" on {_name(one.table)}" * (one.type == "trigger"))
        for one in found
        if one.type not in ("table", "index")
    ]


def _applied(db: Database, found: list[Object], where: str) -> set[str]:
    """The migrations that a store says it has; Outdated where it knows more than this program."""
    ledger = next((one for one in found if one.name == "migrations"), None)
    if ledger is None or _plain(ledger.sql) != _plain(_LEDGER):
        return set()
    applied = {name for (name,) in db.rows("SELECT name FROM migrations LIMIT 10000")}
    if applied - KNOWN:
        raise Outdated(len(applied), len(KNOWN), where)
    return applied


def _changed(found: list[Object], applied: set[str], words: dict[str, str]) -> list[str]:
    """What is defined otherwise than by the migrations that were applied."""
    complete = applied == KNOWN
    try:
        made = made_by(applied, words)
    except apsw.Error:
        return ["migrations that do not go together"]
    expected = {(one.type, one.name): _plain(one.sql) for one in made}
    ours = {name for _, name in expected}
    odd: list[str] = []
    for one in found:
        known = expected.get((one.type, one.name))
        if one.name.startswith("sqlite_") or (_is_search(one) and not complete):
            continue  # the index of an older store is dropped unread, and made anew
        if one.type == "index" and complete and known is None and one.table in ours:
            odd.append(f"the index {_name(one.name)} on {_name(one.table)}")
        elif known is None:
            odd += [f"the virtual table {_name(one.name)}"] if _is_virtual(one) else []
        elif known != _plain(one.sql) and (one.type == "table" or complete):
            odd.append(f"another {one.type} {_name(one.name)}")
    return odd


def _is_search(one: Object) -> bool:
    return one.table.startswith("search") and (
        not _is_virtual(one) or "usingfts5" in _plain(one.sql)
    )


def _is_virtual(one: Object) -> bool:
    return _plain(one.sql).startswith("createvirtual")


def _plain(sql: str | None) -> str:
    """A definition without its blanks and quotes: engines write those of their own tables apart."""
    return "".join((sql or "").split()).replace("'", "").replace('"', "").lower()


def _name(name: str) -> str:
    return ascii(name[:LONGEST])


def _listed(odd: list[str]) -> str:
    more = f" and {len(odd) - MOST_NAMED} more" if len(odd) > MOST_NAMED else ""
    return ", ".join(odd[:MOST_NAMED]) + more
