"""Compactions: a boundary with its summary, and results that were dropped."""

from __future__ import annotations

from typing import Any

from holdfast.importers.jsonl import Found, milliseconds, rest
from holdfast.importers.values import count
from holdfast.model.log import Trigger
from holdfast.model.message import Record
from holdfast.model.transcript_events import Cleared, Compacted

AGENT = "claude-code"

_TRIGGERS: dict[Any, Trigger] = {"auto": "auto", "manual": "manual"}


def compacted(
    boundary: Found, found: Found, text: str, native: str, kept: tuple[str, ...]
) -> Compacted:
    """What a boundary and the summary behind it say."""
    metadata = boundary.table("compactMetadata")
    summary = rest(AGENT, "user", found, "message", "content") if found is not boundary else None
    records = (Record(AGENT, "system/compact_boundary", boundary.data, boundary.line, whole=True),)
    return Compacted(
        text=text,
        created=milliseconds(boundary.fields.get("timestamp")),
        native=native,
        boundary=boundary.text("uuid"),
        trigger=_trigger(metadata),
        before=count(metadata.get("preTokens")),
        after=count(metadata.get("postTokens")),
        kept=kept,
        records=(*records, summary) if summary else records,
    )


def cleared(found: Found) -> Cleared:
    """The results that a microcompaction dropped."""
    metadata = found.table("microcompactMetadata")
    named = metadata.get("compactedToolIds")
    calls = tuple(one for one in named if type(one) is str) if type(named) is list else ()
    before = count(metadata.get("preTokens"))
    return Cleared(
        calls=calls,
        created=milliseconds(found.fields.get("timestamp")),
        step="microcompact",
        trigger=_trigger(metadata),
        before=before,
        after=max(before - count(metadata.get("tokensSaved")), 0),
    )


def _trigger(metadata: dict[str, Any]) -> Trigger:
    told = metadata.get("trigger")
    return _TRIGGERS.get(told, "import") if type(told) is str else "import"
