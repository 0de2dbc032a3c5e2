"""The transcripts of Codex: rollouts of every version, prompts that were typed, thread names."""

from __future__ import annotations

import re
from collections.abc import Iterator

from holdfast.importers.codex import side_files
from holdfast.importers.codex.reader import Reading
from holdfast.importers.codex.records import AGENT
from holdfast.importers.jsonl import Found, records
from holdfast.importers.values import begins
from holdfast.model.transcript_events import TranscriptEvent
from holdfast.ports import TranscriptFile

_ROLLOUT = re.compile(
    rb'"type"\s*:\s*"(?:session_meta|response_item|event_msg|turn_context|compacted|world_state)"'
)
_OLD = re.compile(
    rb'(?m)^[ \t]*\{\s*"id"\s*:\s*"[^"]+"\s*,\s*"timestamp"\s*:\s*"[^"]+"\s*,\s*'
    rb'"(?:instructions|git)"\s*:'
)
_PROMPTS = re.compile(
    rb'(?m)^[ \t]*\{\s*"session_id"\s*:\s*"[^"]+"\s*,\s*"ts"\s*:\s*\d+\s*,\s*"text"\s*:'
)
_NAMES = re.compile(rb'(?m)^[ \t]*\{\s*"id"\s*:\s*"[^"]+"\s*,\s*"thread_name"\s*:')


class Codex:
    """Reads what Codex leaves beneath ~/.codex."""

    name = AGENT
    reach = 0

    def default_paths(self) -> tuple[str, ...]:
        return (
            ".codex/sessions",
            ".codex/archived_sessions",
            ".codex/history.jsonl",
            ".codex/session_index.jsonl",
        )

    def matches_name(self, name: str) -> bool:
        return name.endswith(".jsonl")

    def recognises(self, head: bytes, name: str) -> bool:
        rollout = b'"payload"' in head and _ROLLOUT.search(head)
        return bool(rollout) or any(begins(form, head) for form in (_OLD, _PROMPTS, _NAMES))

    def read(self, material: TranscriptFile) -> Iterator[TranscriptEvent]:
        first = next((one for one in records(material, AGENT) if isinstance(one, Found)), None)
        fields = first.fields if first else {}
        if {"session_id", "ts", "text"} <= fields.keys():
            return side_files.prompts(material)
        if {"id", "thread_name"} <= fields.keys():
            return side_files.names(material)
        return Reading(material).told()
