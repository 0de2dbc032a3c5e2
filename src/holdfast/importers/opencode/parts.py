"""From the parts of an OpenCode message to ours: words, thoughts, calls and their answers.

Rule 1: what the model was not shown (ignored words, steps, snapshots, patches) is only kept.
Rule 2: metadata of a thought belongs to its provider; a signature of Anthropic's is one here too.
Rule 3: a message of several steps is several replies, each with the answers of its tools.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any
from urllib.parse import unquote_to_bytes

from msgspec import Struct

from holdfast.importers.jsonl import Found, without
from holdfast.importers.values import count, picture, rows, table, text
from holdfast.model import wire
from holdfast.model.message import (
    FRAMEWORK,
    Media,
    Part,
    Reasoning,
    Record,
    Seal,
    Subtask,
    Text,
    ToolCall,
    ToolResult,
    seal,
)

AGENT = "opencode"

REMINDER = "system-reminder"
"""What is told to the model, and not by the user."""

_DATA = re.compile(r"data:([^;,]*)((?:;[^;,]*)*),")

KNOWN = frozenset(
    """
    text reasoning tool step-start step-finish patch file subtask compaction snapshot agent retry
    """.split()  # noqa: SIM905
)


class Held(Struct):
    """One message as it is stored."""

    info: Found
    parts: Sequence[Found]

    @property
    def id(self) -> str:
        """Its native id."""
        return self.info.text("id") or f"line {self.info.line}"


class Step(Struct):
    """What was said at once, and what tools answered to it."""

    said: list[Part] = []
    answers: list[Part] = []
    records: list[Record] = []
    cleared: dict[str, int] = {}
    """The calls whose answers left the model's view, and when."""


def asked(parts: Sequence[Found]) -> Step:
    """What a user's message says."""
    step = Step([], [], [], {})
    for part in parts:
        shown = _shown(part)
        step.said += shown
        step.records.append(_left(part, told=bool(shown)))
    return step


def replied(parts: Sequence[Found], model: str) -> list[Step]:
    """What a model's message says, step by step."""
    steps = [Step([], [], [], {})]
    for part in parts:
        kind = part.text("type")
        if kind == "step-start" and steps[-1].answers:
            steps.append(Step([], [], [], {}))
        before = len(steps[-1].said)
        if kind == "tool":
            _call(steps[-1], part)
        elif kind == "reasoning":
            steps[-1].said += _thought(part, model)
        else:
            steps[-1].said += _shown(part)
        steps[-1].records.append(_left(part, told=len(steps[-1].said) > before))
    return steps


def _shown(part: Found) -> list[Part]:
    kind, words = part.text("type"), part.text("text")
    if kind == "text" and words and part.fields.get("ignored") is not True:
        return [Text(words, scaffold=REMINDER if part.fields.get("synthetic") is True else "")]
    if kind == "file":
        media = _media(part.text("mime"), part.text("url"), part.text("filename"))
        return [media] if media else []
    if kind == "subtask" and part.text("prompt"):
        return [Text(part.text("prompt"))]
    return []


def _thought(part: Found, model: str) -> list[Part]:
    metadata = part.table("metadata")
    signature = text(table(metadata.get("anthropic")).get("signature"))
    sealed: Seal | None = None
    if signature:
        sealed = seal("anthropic", wire.encode({"signature": signature}), model)
    elif metadata:
        sealed = seal(f"{FRAMEWORK}{AGENT}", wire.encode(metadata), model)
    words = part.text("text")
    return [Reasoning(words, seal=sealed)] if words or signature else []


def _call(step: Step, part: Found) -> None:
    """A call, and what came of it."""
    state = part.table("state")
    id = part.text("callID") or part.text("id") or f"line {part.line}"
    name = part.text("tool") or "unnamed"
    input = wire.encode(state.get("input", {})).decode("utf-8", "surrogatepass")
    step.said.append(ToolCall(id, name, input))
    time = table(state.get("time"))
    failed = text(state.get("status")) == "error"
    output = state.get("error" if failed else "output")
    if type(output) is not str:
        return  # it has not ended, or nobody knows how
    metadata = table(state.get("metadata"))
    pictures = map(table, rows(state.get("attachments")))
    media = (_media(*(text(one.get(n)) for n in ("mime", "url", "filename"))) for one in pictures)
    step.answers.append(ToolResult(
        call=id, output=output, error=failed, name=name, started=count(time.get("start")) or None,
        media=tuple(one for one in media if one), exit=_exit(metadata.get("exit")),
    ))  # fmt: skip
    if session := text(metadata.get("sessionId")) or text(metadata.get("sessionID")):
        step.answers.append(Subtask(session))
    if cleared := count(time.get("compacted")):
        step.cleared[id] = cleared


def _exit(status: Any) -> int | None:
    """The status of a command; None where it is none."""
    return status if type(status) is int and abs(status) < 1 << 32 else None


def _media(kind: str, url: str, name: str) -> Media | None:
    """A picture or document; None where its bytes are elsewhere on that machine."""
    if url.startswith(("https://", "http://")):
        return Media(type=kind or "image/png", url=url, name=name)
    found = _DATA.match(url)
    if not found:
        return None
    kind, body = kind or found[1], url[found.end() :]
    if ";base64" in found[2]:
        return picture(kind, body, name)
    data = unquote_to_bytes(body)
    return Media(type=kind or "text/plain", data=data, name=name) if data else None


def _left(part: Found, *, told: bool) -> Record:
    """A part without what of it was told."""
    kind, data = part.text("type"), part.data
    if told and kind in ("text", "reasoning"):
        data = without(data, "text")
    elif told and kind == "file" and part.text("url").startswith("data:"):
        data = without(data, "url")
    elif told and kind == "tool":
        data = without(data, "state", "input")
        data = without(data, "state", "error" if _failed(part) else "output")
    return Record(AGENT, f"part/{kind or 'untyped'}", data, part.line)


def _failed(part: Found) -> bool:
    return part.table("state").get("status") == "error"


def pruned(steps: Sequence[Step]) -> dict[str, int]:
    """The calls of some steps whose answers left the model's view, and when."""
    return {call: when for step in steps for call, when in step.cleared.items()}


def flag(part: Found, name: str) -> Any:
    """A field of a part that says yes or no."""
    return part.fields.get(name) is True
