"""One execution: an input is read by its importer, and what it tells is judged.

Rule 1: nothing is raised, whatever stands in the file, and it takes no longer than a few seconds.
Rule 2: whatever is told can be written down, is no more than so many times what was read, and of
        a session only after its beginning.
Rule 3: now and then it goes into a store, where the same holds.
"""

from __future__ import annotations

import signal
import traceback
from collections.abc import Iterator
from contextlib import closing, contextmanager
from itertools import cycle, islice
from pathlib import Path
from typing import Any, Literal

from msgspec import Struct

from holdfast.engine import client
from holdfast.engine.bridge import drive
from holdfast.engine.importing.discovery import Source
from holdfast.engine.importing.source import Importing
from holdfast.engine.importing.transcript_file import Bounds, FileMaterial
from holdfast.engine.plugins import importer, importers
from holdfast.files import Root
from holdfast.model import wire
from holdfast.model.transcript_events import (
    CallRead,
    Compacted,
    MessageRead,
    Problem,
    Rewound,
    SessionStarted,
    TranscriptEvent,
)
from holdfast.ports import Importer
from tests.fuzz.forms import Form, unpack

SECONDS = 5
"""How long one execution may take, in seconds of the processor's time."""

MOST_ITEMS = 1_000_000

SWOLLEN = 60
"""How many bytes may be told for each that was read."""

STORED = 256
"""Every so many-eth input goes into a store."""

Verdict = Literal["read", "refused", "crash", "hang"]


class Hang(BaseException):
    """It takes too long; nothing that catches errors catches this."""


class Wrong(AssertionError):
    """What was told breaks a rule."""


class Outcome(Struct, frozen=True):
    """What came of an input."""

    verdict: Verdict
    why: str = ""
    """For a crash or a hang: where and what, as a traceback."""

    @property
    def place(self) -> str:
        """What findings of one cause have in common."""
        lines = [line.strip() for line in self.why.splitlines() if line.strip()]
        files = [line for line in lines if line.startswith("File")]
        return " ".join((*files[-1:], *lines[-1:]))[:200]


class Judge:
    """Executes one format's inputs, in a directory of its own."""

    def __init__(
        self, form: Form, folder: Path, reader: Importer | None = None, seconds: float = SECONDS
    ) -> None:
        self.form, self._folder, self._seconds = form, folder, seconds
        self._there: dict[str, bytes] = {}
        self._reader = reader or importer(form.importer)
        self._others = cycle([importer(name) for name in importers()])
        self._count = 0
        self._put(form.beside)
        self._root = Root(folder)

    def __call__(self, data: bytes) -> Outcome:
        """Read an input, and say what came of it."""
        self._count += 1
        self._lay(data)
        try:
            with watch(self._seconds):
                return Outcome(self._read(len(data), store=self._count % STORED == 0))
        except Hang:
            return Outcome("hang", traceback.format_exc())
        except Exception:
            return Outcome("crash", traceback.format_exc())

    def _lay(self, data: bytes) -> None:
        """The input as files; what is there already is left as it is."""
        files = unpack(data) if self.form.kind == "files" else {self.form.file: data}
        wanted = {name: body for name, body in files.items() if _is_plain(name)}
        for name in self._there.keys() - wanted.keys() - self.form.beside.keys():
            (self._folder / name).unlink()
            del self._there[name]
        self._put(wanted)

    def _put(self, files: dict[str, bytes]) -> None:
        for name, data in files.items():
            path = self._folder / name
            if self._there.get(name) == data or path.is_dir():
                continue
            try:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(data)
            except OSError:
                continue  # a file is where its directory would be
            self._there[name] = data

    def _read(self, size: int, *, store: bool) -> Verdict:
        form, reader = self.form, self._reader
        head = self._there.get(form.file, b"")[: 64 * 1024]
        for one in (reader, next(self._others)):
            one.matches_name(form.file)
            one.recognises(head, form.file)
        with closing(FileMaterial(self._root, form.file, Bounds(line=1 << 20))) as material:
            said = judged(reader.read(material), size)
        if store:
            self._store()
        return "read" if said else "refused"

    def _store(self) -> None:
        source = Source(self.form.importer, str(self._folder), self.form.file)
        with client.open("memory:") as hf:
            for _ in range(2):
                report = drive(Importing(hf.engine, source).run(again=True))
                for problem in report.problems:
                    if "broke off" in problem.what:
                        raise Wrong(problem.what)


def judged(told: Iterator[TranscriptEvent], size: int) -> bool:
    """Whether anything is told beside problems; `Wrong` where a rule is broken."""
    begun = said = False
    weight = 0
    for item in islice(told, MOST_ITEMS):
        weight += len(wire.encode(item))
        if weight > (size + 4_096) * SWOLLEN:
            raise Wrong(f"more than {weight:,} bytes are told of {size:,}")
        begun = begun or isinstance(item, SessionStarted)
        said = said or not isinstance(item, (Problem, SessionStarted))
        if isinstance(item, (MessageRead, Compacted, Rewound, CallRead)) and not begun:
            raise Wrong(f"{type(item).__name__} of no session")
        _check(item)
    return said


def _check(item: TranscriptEvent) -> None:
    if isinstance(item, SessionStarted) and not item.native:
        raise Wrong("a session without a name")
    for name in ("created", "completed", "started", "ended", "before", "after", "line"):
        value = getattr(item, name, None)
        if value is not None and not 0 <= value < 1 << 62:
            raise Wrong(f"{name} is {value}")


def _is_plain(name: str) -> bool:
    """Whether it is the name of a file that is to be laid in the directory, and nowhere else."""
    pieces = name.split("/")
    return "\0" not in name and all(0 < len(p.encode()) < 200 and p not in (".", "..")
                                    for p in pieces)  # fmt: skip


@contextmanager
def watch(seconds: float) -> Iterator[None]:
    """Raise `Hang` in what takes longer; a signal, so that it reaches loops of any kind."""

    def stop(*_: Any) -> None:
        raise Hang(f"took more than {seconds} s")

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
