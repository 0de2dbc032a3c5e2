"""What Codex keeps beside its rollouts: the prompts that were typed, and the names of threads.

Rule 1: prompts are one session of their own, so that they are found where their rollout is gone; a
        rollout has them too, and is told without looking here. Codex trims the file at its head.
Rule 2: a name is told of the session it names; of one that nobody has imported it says nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from holdfast.importers.codex.records import AGENT
from holdfast.importers.jsonl import Found, records, rest, whole
from holdfast.model.message import user
from holdfast.model.transcript_events import (
    MessageRead,
    Problem,
    SessionStarted,
    Titled,
    TranscriptEvent,
)
from holdfast.ports import TranscriptFile

NATIVE, TITLE = "history", "What was typed into Codex"


def prompts(material: TranscriptFile) -> Iterator[TranscriptEvent]:
    """The lines of `history.jsonl`: a session, a time in seconds and a text each."""
    yield SessionStarted(native=NATIVE, title=TITLE, rolling=True)
    met: Counter[str] = Counter()
    for found in records(material, AGENT):
        if not isinstance(found, Found):
            yield found
        elif words := found.text("text"):
            when = _seconds(found)
            name = f"{found.text('session_id')}:{when}"
            met[f"{name}:{words}"] += 1
            yield MessageRead(
                message=user(words),
                native=f"{name}:{met[f'{name}:{words}']}",
                created=when * 1000,
                completed=when * 1000,
                records=(rest(AGENT, "prompt", found, "text"),),
            )
        else:
            yield whole(AGENT, "prompt", found)


def _seconds(found: Found) -> int:
    when = found.fields.get("ts")
    return when if type(when) is int and 0 < when < 1 << 40 else 0


def names(material: TranscriptFile) -> Iterator[TranscriptEvent]:
    """The lines of `session_index.jsonl`: what each thread is called; the last name holds."""
    for found in records(material, AGENT):
        if not isinstance(found, Found):
            yield from [found] if isinstance(found, Problem) else []
        elif found.text("id") and found.text("thread_name"):
            yield SessionStarted(native=found.text("id"))
            yield Titled(found.text("thread_name"))
