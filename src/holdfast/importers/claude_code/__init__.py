"""The transcripts of Claude Code: JSONL of every version since 1.0, subagents and sidecar files."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import PurePosixPath

from holdfast.importers.claude_code.reader import Reading
from holdfast.model.transcript_events import TranscriptEvent
from holdfast.ports import TranscriptFile

_OURS = re.compile(
    rb'"(?:parentUuid|sessionId|leafUuid|isSidechain|isSnapshotUpdate|permissionMode|snapshot)"\s*:'
)
_KINDS = re.compile(
    rb'"type"\s*:\s*"(?:user|assistant|system|summary|file-history-snapshot|queue-operation|'
    rb"progress|attachment|last-prompt|custom-title|ai-title|agent-name|mode|permission-mode|"
    rb'pr-link)"'
)


class ClaudeCode:
    """Reads what Claude Code leaves beneath ~/.claude/projects."""

    name = "claude-code"
    reach = 2
    """A subagent's file lies two directories beneath those of its session."""

    def default_paths(self) -> tuple[str, ...]:
        return (".claude/projects", ".config/claude/projects")

    def matches_name(self, name: str) -> bool:
        return name.endswith(".jsonl") and PurePosixPath(name).name != "journal.jsonl"

    def recognises(self, head: bytes, name: str) -> bool:
        if not head:
            return name.endswith(".jsonl") and len(PurePosixPath(name).stem) == 36
        return any(_OURS.search(line) and _KINDS.search(line) for line in head.split(b"\n"))

    def read(self, material: TranscriptFile) -> Iterator[TranscriptEvent]:
        return Reading(material).told()
