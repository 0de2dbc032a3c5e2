"""What tests of exports share: sessions with everything in them, exported and imported again."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from holdfast.engine.bridge import drive, drive_all
from holdfast.engine.client import Holdfast, Session
from holdfast.engine.exporting.export import Exporting
from holdfast.model.import_report import ImportReport
from holdfast.model.log import Damaged, Draft, Entry, Notes, Records
from holdfast.model.message import Record
from holdfast.model.portable import Fidelity
from holdfast.model.reply import Call, Iteration, Usage
from holdfast.testing.factories import NOON, call, session

NAME = "export.ndjson"


def exported(opened: Session, to: str = "portable", **chosen: bool | str) -> bytes:
    return told(opened, to, **chosen)[0]


def told(opened: Session, to: str = "portable", **chosen: bool | str) -> tuple[bytes, Fidelity]:
    """An export, and what it says of itself."""
    boundaries = bool(chosen.pop("boundaries", False))
    export = Exporting(opened._inner, opened._inner.turns, to, **chosen)  # type: ignore[arg-type]  # pyright: ignore
    export.boundaries = boundaries
    data = b"".join(drive_all(export.chunks()))
    return data, export.fidelity


def imported(hf: Holdfast, data: bytes, place: Path) -> ImportReport:
    (place / NAME).write_bytes(data)
    (report,) = hf.import_from(place / NAME)
    return report


def written(hf: Holdfast, log: Sequence[Entry], id: str = "", **fields: object) -> Session:
    """A session with these entries, some appended together with a key, and calls."""
    made = drive(hf.engine.store.sessions.create(session(id, **fields)))
    store, waiting = hf.engine.store, list(log)
    many = 0
    while waiting:
        some, waiting = waiting[: 1 + many % 3], waiting[1 + many % 3 :]
        drafts = [_draft(entry) for entry in some]
        drive(store.log.append(made.id, drafts, key=f"key {many}" if many % 2 else ""))
        many += 1
    given = drive(store.calls.keep(made.id, b'{"system":"You are kind.","model":"gpt-5.1"}'))
    for number in range(min(many, 3)):
        drive(store.calls.record(_call(made.id, number, given)))
    return hf.session(made.id)


def others(last: int) -> list[Notes | Damaged | Records]:
    """The markers that change nothing of what is seen."""
    kept = Record("diary", "mood", b"\xff\x00", 3, whole=True)
    return [
        Notes(text="# Title\nWe went on.", upto=last, model="gpt-5.1", cost=7),
        Damaged(data=b"\x00\xff", reason="it was torn"),
        Records(records=(kept,)),
    ]


def _draft(entry: Entry) -> Draft:
    parts = len(getattr(entry.body, "parts", ()))
    return Draft(
        id=entry.id, body=entry.body, created=entry.created + entry.seq, completed=NOON,
        parent="up", provider="openai", model="gpt-5.1", request=f"req {entry.id}",
        native=f"native {entry.id}", counts=tuple(range(parts)),
    )  # fmt: skip


def _call(session: str, number: int, given: str) -> Call:
    usage = Usage(input=5 + number, cache_read=2, output=3, reasoning=1)
    return call(
        session, id=f"call {session} {number}", started=NOON + number, ended=NOON + 9, usage=usage,
        provider="openai", model="gpt-5.1", request=f"{session} {number}", given=given, cost=12,
        iterations=(Iteration(input=1, type="message"),), outcome="done", options={"stream": True},
    )  # fmt: skip
