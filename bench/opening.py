"""Opening a long session: what its window costs against reading the same rows directly."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from bench.contenders import HOLDFAST, RAW, Door
from bench.corpus import WORDS, conversation
from bench.measure import WARM_UP, Series, interleave
from bench.progress import Stage, silent

BUDGET = 60.0
FLOOR = f"{RAW}, decoded"


def warm(door: Door, window: int, rounds: int, stage: Stage = silent) -> dict[str, Series]:
    """In a process that has the library loaded and the store open."""
    places = summarise(door, window)
    connection = connect(door.path)
    expected = visible(door.hf, door.id)
    read = reader(connection, door.id, places)
    if expected[1:] != read():
        raise SystemExit("the raw reader and Holdfast do not read the same entries")
    calls: dict[str, Callable[[int], object]] = {
        HOLDFAST: lambda _: visible(door.hf, door.id),
        FLOOR: lambda _: read(),
    }
    tick = stage(f"opening, {window} messages visible", rounds + WARM_UP)
    taken = interleave(calls, rounds=rounds, budget=BUDGET, in_a_row=10, tick=tick)
    connection.close()
    return taken


def cold(door: Door, window: int, times: int, stage: Stage = silent) -> dict[str, Series]:
    """In a new process each time: the interpreter, the imports, the file."""
    calls: dict[str, Callable[[int], object]] = {
        name: _process(way, door.path, door.id, window)
        for name, way in ((HOLDFAST, "holdfast"), (FLOOR, "raw"))
    }
    tick = stage("opening in a new process", times + WARM_UP)
    return interleave(calls, rounds=times, budget=BUDGET, tick=tick)


def summarise(door: Door, window: int) -> tuple[int, int]:
    """Let a summary stand for all but the newest messages; the first and last place visible."""
    from holdfast.model.log import Summary
    from holdfast.model.span import Span
    from holdfast.stores.sql.keys import place

    door.seed(conversation(window, seed=3))
    head = door.session.refresh().head
    text = " ".join(WORDS * 6)
    door.session.append(Summary(covers=(Span(1, head - window),), text=text))
    number = connect(door.path).execute("SELECT n FROM sessions WHERE id = ?", (door.id,))
    n = number.fetchall()[0][0]
    return place(n, head - window + 1), place(n, head)


def visible(hf: Any, id: str) -> list[Any]:
    """A session opened and its window read, through the door."""
    return list(hf.session(id=id).visible())


def connect(path: Path) -> Any:
    """A connection with Holdfast's own settings."""
    from holdfast.stores.sqlite.connection import Sqlite

    return Sqlite(path).connection


def reader(connection: Any, session: str, places: tuple[int, int]) -> Callable[[], list[Any]]:
    """Reads the same entries from the same rows: no marker, no lookup, no check."""
    import msgspec

    from holdfast.model.log import Entry
    from holdfast.model.message import Message, Part
    from holdfast.stores.sql.keys import parts_of, seq_of

    decode = msgspec.json.Decoder(Part).decode
    within = parts_of(*places)

    def read() -> list[Any]:
        entries = connection.execute(
            "SELECT place, id, role, created, completed FROM entries WHERE place BETWEEN ? AND ?",
            places,
        )
        parts = connection.execute(
            "SELECT estimate, data FROM parts WHERE place BETWEEN ? AND ?", within
        )
        return [
            Entry(
                id=id, session=session, seq=seq_of(at), body=Message(role, (decode(data),)),
                created=created, completed=completed, counts=(n,),
            )
            for (at, id, role, created, completed), (n, data) in zip(entries, parts, strict=True)
        ]  # fmt: skip

    return read


def _process(way: str, path: Path, id: str, window: int) -> Callable[[int], object]:
    command = [sys.executable, "-m", "bench.opening", way, str(path), id, str(window)]
    root = Path(__file__).resolve().parents[1]

    def call(_: int) -> None:
        subprocess.run(command, check=True, cwd=root, env=os.environ)

    return call


def main(way: str, path: str, id: str, window: str) -> None:
    """What the new process does."""
    if way == "holdfast":
        import holdfast

        with holdfast.open(path) as hf:
            assert len(visible(hf, id)) == int(window) + 1
        return
    import apsw

    from holdfast.stores.sql.keys import place

    connection = apsw.Connection(path)
    find = "SELECT n, head FROM sessions WHERE id = ?"
    rows: Any = connection.execute(find, (id,)).fetchall()
    ((n, head),) = rows
    places = place(n, head - int(window)), place(n, head - 1)
    assert len(reader(connection, id, places)()) == int(window)


if __name__ == "__main__":
    main(*sys.argv[1:])
