"""Row 6: kill -9 while a compaction is planned, asked for, written and applied. It has happened
whole or not at all, and the session goes on either way."""

from __future__ import annotations

import shutil
import signal
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing.connection import Connection
from pathlib import Path
from random import Random

from holdfast.core.log.fold import in_force
from holdfast.core.window.explain import absent
from holdfast.engine.bridge import drive
from holdfast.engine.client import Holdfast, Session
from holdfast.errors import HoldfastError
from holdfast.failpoints import POINTS, VARIABLE, arm, arm_from, disarm
from holdfast.model.log import SessionInfo
from holdfast.model.message import Message, Text, ToolCall, ToolResult
from holdfast.model.store import Page
from tests.faults.board import GOOD, Tally, Trial, Verdict
from tests.faults.look import damages
from tests.faults.processes import context
from tests.faults.stores import STORES
from tests.faults.workload import NOON
from tests.properties.histories import FORMATS
from tests.properties.ladders import engine, hasty

TALK, MODEL, WINDOW = "talk", "claude-sonnet-4-6", 8_192
POLICY = "codex"
STRIDE = 5
"""Every transaction passes the points of the store: one in so many is enough beside the rest."""
ROUNDS, EACH = 3, 6
"""So many compactions, and so many turns before each."""


def run(trial: Trial) -> Tally:
    """The points that are passed while a window is made, of two talks in the long form."""
    tally = Tally()
    kills = [
        (seed, point, count)
        for seed in range(trial.seed, trial.seed + (2 if trial.long else 1))
        for point, count in passings(trial.folder / "count", trial.store, seed)
        if not point.startswith("store.") or count % STRIDE == 0 or not trial.long
    ]
    if not trial.long:
        kills = _few(kills)
    for done, (seed, point, count) in enumerate(kills, 1):
        verdicts = kill(trial.folder / "kill", trial.store, seed, point, count)
        tally.count(f"seed {seed}, killed at {point}, passing {count}", *verdicts)
        trial.progress(done, len(kills))
        if trial.enough(tally):
            break
    return tally


def _few(kills: list[tuple[int, str, int]]) -> list[tuple[int, str, int]]:
    """The first and the last passing of each point."""
    ends: dict[str, tuple[int, str, int]] = {}
    first = [ends.setdefault(one[1], one) for one in kills if one[1] not in ends]
    last = {one[1]: one for one in kills}
    return [*first, *(one for one in last.values() if one not in first)]


def passings(folder: Path, store: str, seed: int) -> list[tuple[str, int]]:
    """Which passings of which points lie inside the making of a window."""
    passed: Counter[str] = Counter()
    inside: list[tuple[str, int]] = []
    making = False

    def pass_by(point: str) -> None:
        passed[point] += 1
        if making:
            inside.append((point, passed[point]))

    for point in POINTS:
        arm(point, lambda point=point: pass_by(point))
    try:
        folder.mkdir(parents=True)
        with _opened(folder / "store.db", store) as hf:
            life = Life(_session(hf), seed)
            for number in range(ROUNDS):
                life.talk(number)
                making = True
                life.window()
                making = False
    finally:
        disarm()
        shutil.rmtree(folder)
    return inside


@contextmanager
def _opened(path: Path, store: str) -> Iterator[Holdfast]:
    opened = STORES[store].open(path)
    if not drive(opened.sessions.list(Page(limit=1))):
        drive(
            opened.sessions.create(SessionInfo(id=TALK, created=NOON, model=MODEL, policy=POLICY))
        )
    with engine(WINDOW, opened) as hf:
        yield hf


def _session(hf: Holdfast, *, asks: bool = True) -> Session:
    told = (lambda question: "They went on, and it is nearly done.") if asks else None
    return hf.session(TALK, summariser=told, on_conflict="raise")


class Life:
    """What a process does with the session, word for word the same for one seed."""

    def __init__(self, s: Session, seed: int) -> None:
        self.s, self._random = s, Random(seed)
        self.said: list[str] = []

    def talk(self, number: int) -> None:
        """Some turns: a question, a call, its result, an answer."""
        for turn in range(EACH):
            name = f"{number}.{turn}"
            words = self._random.randbytes(150).hex()
            self._say(Message("user", (Text(f"ask {name} {words}"),)))
            call = ToolCall(f"c{name}", "read_file", '{"path": "a.py"}')
            self._say(Message("assistant", (Text(f"look {name}"), call)))
            self._say(Message("tool", (ToolResult(call.id, f"found {name} {words * 6}"),)))
            self._say(Message("assistant", (Text(f"done {name}"),)))

    def _say(self, message: Message) -> None:
        self.s.append(message)
        self.said.append(wording(message))

    def window(self) -> None:
        self.s.user("go on")
        self.said.append("go on")
        self.s.window(policy=hasty(POLICY))


def wording(message: Message) -> str:
    """What tells one message of a talk from every other."""
    parts = [getattr(part, "text", "") or getattr(part, "output", "") for part in message.parts]
    return "".join(parts)


def live(path: Path, store: str, seed: int, wish: str, pipe: Connection) -> None:
    """The life of a process: whatever was appended is acknowledged."""
    arm_from({VARIABLE: wish})
    with _opened(path, store) as hf:
        life = Life(_session(hf), seed)
        for number in range(ROUNDS):
            life.talk(number)
            pipe.send(life.said)
            life.window()
            pipe.send(life.said)


def kill(folder: Path, store: str, seed: int, point: str, count: int) -> list[Verdict]:
    """One life and death of a process, and what it left."""
    folder.mkdir(parents=True)
    path = folder / "store.db"
    ours, theirs = context().Pipe(duplex=False)
    values = (path, store, seed, f"{point}=kill:{count}", theirs)
    process = context().Process(target=live, args=values)
    process.start()
    theirs.close()
    said: list[str] = []
    try:
        with ours:
            try:
                while True:
                    said = ours.recv()
            except EOFError:
                process.join()
        if process.exitcode != -signal.SIGKILL:
            return [Verdict(f"it should have been killed, and ended with {process.exitcode}")]
        return aftermath(path, store, said)
    finally:
        shutil.rmtree(folder)


def aftermath(path: Path, store: str, said: list[str]) -> list[Verdict]:
    """What the process left, and whether another can go on from there."""
    try:
        opened = STORES[store].open(path)
        damage = damages(opened)
        opened.close()
        if damage:
            return [Verdict(f"integrity check: {damage}", corrupt=True)]
        with _opened(path, store) as hf:
            s = _session(hf, asks=False)
            return [_kept(s, said), _goes_on(s)]
    except HoldfastError as error:
        return [Verdict(f"cannot go on: {error}", corrupt=True)]


def _kept(s: Session, said: list[str]) -> Verdict:
    found = [wording(e.body) for e in s.entries() if isinstance(e.body, Message)]
    lost = [words for words in said if words not in found]
    if lost:
        return Verdict(f"{len(lost)} of {len(said)} messages are lost", lost=len(lost))
    return GOOD


def _goes_on(s: Session) -> Verdict:
    """A window can be made, every format takes it, and a marker names whatever is not in it."""
    s.user("and now?")
    made = s.window(policy=hasty(POLICY))
    for format in FORMATS:
        made.request(format)
    log = list(s.entries())
    standing = in_force([entry for entry in log if not entry.is_message])
    shown = {block.seq for block in made.blocks}
    for entry in log:
        away = isinstance(entry.body, Message) and entry.body.role != "tool"
        if away and entry.seq not in shown and not absent(entry.seq, None, standing).marker:
            return Verdict(f"nobody says where entry {entry.seq} is", corrupt=True)
    return GOOD
