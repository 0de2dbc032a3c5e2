"""Row 8: kill -9 while a transcript is imported, at every point. Importing it again comes to what
importing it once would have come to: no word twice, and none missing."""

from __future__ import annotations

import shutil
import signal
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from holdfast.engine.bridge import drive
from holdfast.engine.client import Holdfast
from holdfast.engine.importing import history_match
from holdfast.errors import HoldfastError
from holdfast.failpoints import POINTS, VARIABLE, arm, arm_from, disarm
from holdfast.model import wire
from holdfast.model.log import Rewind
from tests.faults.board import GOOD, Tally, Trial, Verdict
from tests.faults.look import damages
from tests.faults.processes import context
from tests.faults.stores import STORES
from tests.importers.writing import story, text
from tests.properties.ladders import engine

BATCH = 4
"""So few entries in a transaction, so that there are many."""
SECOND = "5d1a2b3c-0000-4000-8000-000000000002"


def run(trial: Trial) -> Tally:
    """Every passing of every point; in the short form the first and the last of each."""
    tally = Tally()
    kills = passings(trial.folder / "count", trial.store)
    if not trial.long:
        first = {point: (point, count) for point, count in reversed(kills)}
        kills = list(dict.fromkeys((*first.values(), *dict(kills).items())))
    for done, (point, count) in enumerate(kills, 1):
        verdicts = kill(trial.folder / "kill", trial.store, point, count)
        tally.count(f"killed at {point}, passing {count}", *verdicts)
        trial.progress(done, len(kills))
        if trial.enough(tally):
            break
    return tally


def write(folder: Path) -> Path:
    """A session, and another that begins with a copy of it."""
    story().write(folder / "p")
    copied = story(SECOND)
    for record, other in zip(copied.records, story().records, strict=True):
        for name in ("uuid", "parentUuid"):
            if name in other:
                record[name] = other[name]
    copied.user("And in the copy?", parent=story().records[-2]["uuid"])
    copied.reply("msg_9", text("Here too."))
    copied.write(folder / "p")
    return folder / "p"


def passings(folder: Path, store: str) -> list[tuple[str, int]]:
    """Which passings of which points lie inside an import."""
    passed: Counter[str] = Counter()
    inside: list[tuple[str, int]] = []
    importing = False

    def pass_by(point: str) -> None:
        passed[point] += 1
        if importing:
            inside.append((point, passed[point]))

    for point in POINTS:
        arm(point, lambda point=point: pass_by(point))
    usual, history_match.BATCH = history_match.BATCH, BATCH
    try:
        place = write(folder)
        with _opened(folder / "store.db", store) as hf:
            importing = True
            list(hf.import_from(place))
            importing = False
    finally:
        history_match.BATCH = usual
        disarm()
        shutil.rmtree(folder)
    return inside


@contextmanager
def _opened(path: Path, store: str) -> Iterator[Holdfast]:
    with engine(8_192, STORES[store].open(path)) as hf:
        yield hf


def live(folder: Path, store: str, wish: str) -> None:
    """The life of a process that imports."""
    history_match.BATCH = BATCH
    arm_from({VARIABLE: wish})
    with _opened(folder / "store.db", store) as hf:
        list(hf.import_from(folder / "p"))


def kill(folder: Path, store: str, point: str, count: int) -> list[Verdict]:
    """One life and death of a process, and what the next one makes of it."""
    write(folder)
    process = context().Process(target=live, args=(folder, store, f"{point}=kill:{count}"))
    process.start()
    process.join()
    try:
        if process.exitcode not in (0, -signal.SIGKILL):
            return [Verdict(f"it ended with {process.exitcode}")]
        return [aftermath(folder, store)]
    finally:
        shutil.rmtree(folder)


def aftermath(folder: Path, store: str) -> Verdict:
    """Import again, and compare with a store where nothing happened."""
    try:
        opened = STORES[store].open(folder / "store.db")
        damage = damages(opened)
        opened.close()
        if damage:
            return Verdict(f"integrity check: {damage}", corrupt=True)
        logs: list[dict[str, list[bytes]]] = []
        for name in ("store.db", "fresh.db"):
            with _opened(folder / name, store) as hf:
                list(hf.import_from(folder / "p"))
                logs.append(_log(hf))
        found, wanted = logs
    except HoldfastError as error:
        return Verdict(f"cannot go on: {error}", corrupt=True)
    if found == wanted:
        return GOOD
    lost = [one for id in wanted for one in wanted[id] if one not in found.get(id, [])]
    if lost:
        return Verdict(f"{len(lost)} entries are missing", lost=len(lost))
    return Verdict("something was imported twice", silent=True)


def _log(hf: Holdfast) -> dict[str, list[bytes]]:
    """Everything that a store holds, by session, but for what a batch has to do with."""
    found: dict[str, list[bytes]] = {}
    for info in hf.every_session():
        session = hf.session(info.id)
        found[info.id] = [
            wire.encode([entry.native, entry.created, _content(entry.body)])
            for entry in session.entries()
        ]
        calls = drive(hf.engine.store.calls.calls(info.id))
        found[info.id] += [wire.encode([call.request, call.usage]) for call in calls]
        found[info.id].append(wire.encode([info.title, info.model, info.parent, info.fork]))
    return found


def _content(body: object) -> object:
    return [body.to] if isinstance(body, Rewind) else body
