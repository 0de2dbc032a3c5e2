"""The sessions of Gemini CLI: JSON documents, the lines that came after them, and its stream."""

from __future__ import annotations

import re
from collections.abc import Iterator

from holdfast.importers.gemini_cli.reader import Reading
from holdfast.importers.gemini_cli.stream import Stream
from holdfast.importers.values import begins
from holdfast.model.transcript_events import TranscriptEvent
from holdfast.ports import TranscriptFile

_SESSION = re.compile(rb'"sessionId"\s*:')
_PROJECT = re.compile(rb'"projectHash"\s*:')
_HISTORY = re.compile(rb'\A\s*\{\s*"history"\s*:\s*\[\s*\{\s*"(?:role|parts)"\s*:')
_STREAM = re.compile(rb'\A\s*\{\s*"type"\s*:\s*"init"\s*,[^\n]{0,1000}?"session_id"\s*:')
_LINE = re.compile(
    rb'^[ \t]*\{\s*(?:"\$(?:set|rewindTo)"\s*:|"id"\s*:\s*"[^"\n]{1,100}"\s*,\s*"timestamp"\s*:\s*'
    rb'"[^"\n]{1,40}"\s*,\s*"type"\s*:\s*"(?:user|gemini|info|error|warning)"\s*[,}])',
    re.MULTILINE,
)
"""A record of a session, or a message of a document; what says whose it is may be damaged."""

HEADER = 4_000
"""Within so many bytes a file says what it is."""


class GeminiCli:
    """Reads what Gemini CLI leaves beneath ~/.gemini/tmp, and what it prints as stream-json."""

    name = "gemini-cli"
    reach = 2

    def default_paths(self) -> tuple[str, ...]:
        return (".gemini/tmp",)

    def matches_name(self, name: str) -> bool:
        return name.endswith((".json", ".jsonl"))

    def recognises(self, head: bytes, name: str) -> bool:
        first = head[:HEADER]
        if first.lstrip().startswith(b"{") and _SESSION.search(first) and _PROJECT.search(first):
            return True
        if name.endswith((".json", ".jsonl")) and begins(_LINE, head):
            return True
        return any(form.match(first) for form in (_HISTORY, _STREAM))

    def read(self, material: TranscriptFile) -> Iterator[TranscriptEvent]:
        return Stream(material).told() if _streams(material) else Reading(material).told()


def _streams(material: TranscriptFile) -> bool:
    first = next(material.lines(), None)
    return first is not None and bool(_STREAM.match(first.data))
