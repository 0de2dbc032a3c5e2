"""What tests of importers look at."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from holdfast.engine.bridge import drive
from holdfast.engine.client import Holdfast, Session
from holdfast.model import wire
from holdfast.model.import_report import ImportReport
from holdfast.model.log import Entry, Summary
from holdfast.model.message import Message
from holdfast.model.reply import Call


def bring(hf: Holdfast, *paths: Path) -> list[ImportReport]:
    return list(hf.import_from(*paths))


def only(hf: Holdfast) -> Session:
    (session,) = hf.every_session()
    return hf.session(session.id)


def texts(value: Any) -> list[str]:
    """Every text in a JSON value, at any depth."""
    if isinstance(value, str):
        return [value]
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [text for one in inner for text in texts(one)]


def words(session: Session) -> list[str]:
    """What is visible, in order."""
    return [said(entry) for entry in session.visible()]


def said(entry: Entry) -> str:
    body = entry.body
    if isinstance(body, Message):
        texts = [getattr(p, "text", "") or getattr(p, "output", "") for p in body.parts]
        return " ".join(filter(None, texts))
    return f"Σ {body.text}" if isinstance(body, Summary) else type(body).__name__


def log(session: Session) -> list[tuple[str, bytes, int, str]]:
    """Everything the log says, but for ids."""
    return [
        (entry.native, wire.encode(entry.body), entry.created, entry.model)
        for entry in session.entries()
    ]


def parts(session: Session) -> list[Any]:
    """Every part of every message, and every record of a marker."""
    bodies = [entry.body for entry in session.entries()]
    return [p for b in bodies for p in getattr(b, "parts", ()) or getattr(b, "records", ())]


def calls_of(hf: Holdfast, session: Session) -> list[Call]:
    """What its calls used."""
    calls = hf.engine.store.calls
    found: list[Call] = []
    while page := drive(calls.calls(session.id, after=found[-1].id if found else "")):
        found += page
    return found
