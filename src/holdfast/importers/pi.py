"""The sessions of Pi: JSONL whose entries hang in a tree, compactions and branches included.

Rule 1: an entry hangs at its parent; where that is not the end of what was told, the conversation
        was rewound. Entries without ids, as the first version wrote them, hang one at the other.
Rule 2: a compaction names the first entry that stays visible; what lies on the way from there to
        the compaction is kept word for word.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import PurePosixPath
from typing import Any

import msgspec

from holdfast.codecs.anthropic.blocks import parts as decoded
from holdfast.codecs.anthropic.raw import Garbled, fields
from holdfast.importers.budget import Allowance
from holdfast.importers.jsonl import Found, milliseconds, records, rest, whole
from holdfast.importers.values import begins, billionths, count, picture, rows, table, text, written
from holdfast.model.message import (
    Media,
    Message,
    Part,
    Reasoning,
    Record,
    SummaryText,
    Text,
    ToolCall,
    ToolResult,
)
from holdfast.model.reply import Stop, Usage
from holdfast.model.transcript_events import (
    CallRead,
    Compacted,
    MessageRead,
    Problem,
    Rewound,
    SessionStarted,
    Titled,
    TranscriptEvent,
)
from holdfast.ports import TranscriptFile

AGENT = "pi"

_HEADER = re.compile(rb'^[ \t]*\{[ \t]*"type"\s*:\s*"session"\s*,', re.MULTILINE)
_ENTRY = re.compile(
    rb'^[ \t]*\{[ \t]*"type"\s*:\s*"message"\s*,[^\n]*"message"\s*:\s*\{\s*"role"\s*:\s*"',
    re.MULTILINE,
)

KNOWN = frozenset(
    """
    session message model_change thinking_level_change compaction branch_summary custom
    custom_message session_info label context_transform ephemeral leaf
    """.split()  # noqa: SIM905
)
"""The kinds of entry that are known, whether or not they have a place in the model."""

_STOPS: dict[str, Stop] = {
    "stop": "end", "length": "length", "toolUse": "tools", "error": "error", "aborted": "aborted",
}  # fmt: skip
_CUT = ("error", "aborted")

MOST_KEPT = 20_000
"""How far back from a compaction the first entry that stays visible is looked for."""

REMINDER, SHELL = "system-reminder", "user_shell_command"


class Pi:
    """Reads what Pi leaves beneath ~/.pi/agent/sessions."""

    name = AGENT
    reach = 0

    def default_paths(self) -> tuple[str, ...]:
        return (".pi/agent/sessions",)

    def matches_name(self, name: str) -> bool:
        return name.endswith(".jsonl")

    def recognises(self, head: bytes, name: str) -> bool:
        return begins(_HEADER, head) or begins(_ENTRY, head)

    def read(self, material: TranscriptFile) -> Iterator[TranscriptEvent]:
        return Reading(material).told()


class Entry(msgspec.Struct):
    """One entry of the tree: what it hangs at, and the message it stands for."""

    parent: str
    speaks: bool
    """Whether it told a message, or a compaction."""
    message: str
    """That message, or the one it hangs at; empty for none."""


class Reading:
    """The reading of one file."""

    def __init__(self, material: TranscriptFile) -> None:
        self._material = material
        self._begun = False
        self._entries: dict[str, Entry] = {}
        self._order: list[str] = []
        """The entries as they stand in the file, the header first: some are named by number."""
        self._leaf = self._said_last = ""
        self._model = ""
        self._strange: set[str] = set()
        self._allowance = Allowance()

    def told(self) -> Iterator[TranscriptEvent]:
        """Everything that stands in it."""
        waiting: list[TranscriptEvent] = []
        for found in records(self._material, AGENT):
            if isinstance(found, Found):
                if not self._begun:
                    yield self._begin(found)
                    yield from waiting
                yield from self._unknown(found)
                yield from self._entry(found)
            elif self._begun or isinstance(found, Problem):
                yield found
            else:
                waiting.append(found)
        yield from self._allowance.told()

    def _begin(self, found: Found) -> SessionStarted:
        self._begun = True
        header = found if found.text("type") == "session" else None
        native = header.text("id") if header else ""
        self._model = header.text("modelId") if header else ""
        return SessionStarted(
            native=native or PurePosixPath(self._material.name).stem or "?",
            created=milliseconds(found.fields.get("timestamp")),
            directory=header.text("cwd") if header else "",
            model=self._model,
        )

    def _unknown(self, found: Found) -> Iterator[TranscriptEvent]:
        kind = found.text("type")
        if kind not in KNOWN and kind not in self._strange:
            self._strange.add(kind)
            yield Problem(f"an entry of a kind nobody knows: {kind[:80]!r}", found.line, "unknown")

    def _entry(self, found: Found) -> Iterator[TranscriptEvent]:
        kind = found.text("type")
        id = found.text("id") or f"line {found.line}"
        self._order.append(id)
        if kind == "session":
            yield whole(AGENT, "session", found)
            return
        parent = found.text("parentId") if "parentId" in found.fields else self._leaf
        if id in self._entries:  # nobody can hang at two places
            yield Problem("an entry whose id was there before", found.line, "notice")
            id = f"{id}@{found.line}"
        told = _TELL.get(kind, Reading._kept)(self, found, id)
        yield from self._placed(found, id, parent, told)

    def _placed(
        self, found: Found, id: str, parent: str, told: list[TranscriptEvent]
    ) -> Iterator[TranscriptEvent]:
        """Tell an entry, behind the rewind that leads to where it hangs."""
        known = not parent or parent in self._entries
        speaks = any(isinstance(one, (MessageRead, Compacted)) for one in told)
        if known and speaks and self._above(parent) != self._said_last:
            created = milliseconds(found.fields.get("timestamp"))
            yield Rewound(to=self._above(parent), created=created, reason="another branch")
        at = parent if known else self._leaf
        self._entries[id] = Entry(at, speaks, id if speaks else self._above(at))
        self._leaf, self._said_last = id, id if speaks else self._said_last
        yield from told

    def _above(self, id: str) -> str:
        """The message at which something hangs that hangs at an entry; empty for none."""
        return self._entries[id].message if id else ""

    def _kept(self, found: Found, id: str) -> list[TranscriptEvent]:
        told: list[TranscriptEvent] = [whole(AGENT, found.text("type") or "untyped", found)]
        if found.text("type") == "model_change":
            self._model = found.text("modelId") or self._model
        elif found.text("type") == "session_info" and found.text("name"):
            told.append(Titled(found.text("name")))
        return told

    def _compaction(self, found: Found, id: str) -> list[TranscriptEvent]:
        when = milliseconds(found.fields.get("timestamp"))
        return [
            Compacted(
                text=found.text("summary"), created=when, native=id,
                before=count(found.fields.get("tokensBefore")),
                kept=self._since(self._first_kept(found), found),
                records=(rest(AGENT, "compaction", found, "summary"),),
            )
        ]  # fmt: skip

    def _first_kept(self, found: Found) -> str:
        number = found.fields.get("firstKeptEntryIndex")
        if type(number) is int and 0 <= number < len(self._order):
            return self._order[number]
        return found.text("firstKeptEntryId")

    def _since(self, first: str, found: Found) -> tuple[str, ...]:
        """The messages on the way from an entry to where a compaction hangs; none without it."""
        at = found.text("parentId") if "parentId" in found.fields else self._leaf
        way: list[str] = []
        for _ in range(MOST_KEPT):
            if at not in self._entries or not self._allowance.take(1):
                break
            entry = self._entries[at]
            way += [at] if entry.speaks else []
            if at == first:
                return tuple(reversed(way))
            at = entry.parent
        return ()

    def _branch(self, found: Found, id: str) -> list[TranscriptEvent]:
        summary = found.text("summary")
        record = rest(AGENT, "branch_summary", found, "summary")
        return self._words(found, id, [SummaryText(summary)] if summary else [], record)

    def _custom(self, found: Found, id: str) -> list[TranscriptEvent]:
        parts, _ = _shown(found.fields.get("content"), REMINDER)
        return self._words(found, id, parts, _all_of("custom_message", found))

    def _words(
        self, found: Found, id: str, parts: list[Part], record: Record
    ) -> list[TranscriptEvent]:
        """Words that no message holds."""
        if not parts:
            return self._kept(found, id)
        when = milliseconds(found.fields.get("timestamp"))
        message = Message("user", tuple(parts))
        parent = found.text("parentId")
        return [
            MessageRead(
                message=message,
                created=when,
                completed=when,
                native=id,
                parent=parent,
                records=(record,),
            )
        ]

    def _message(self, found: Found, id: str) -> list[TranscriptEvent]:
        message = found.table("message")
        role = text(message.get("role"))
        if role == "assistant":
            return self._reply(found, id, message)
        made, plain = _others(role, message)
        if made is None:
            return [whole(AGENT, f"message/{role}", found)]
        return [self._said(found, id, made, plain)]

    def _reply(self, found: Found, id: str, message: dict[str, Any]) -> list[TranscriptEvent]:
        model = text(message.get("model")) or self._model
        parts, plain = _replied(message, model)
        stop = _STOPS.get(text(message.get("stopReason")))
        said: TranscriptEvent = whole(AGENT, "message/assistant", found)
        if parts:
            said = self._said(found, id, Message("assistant", tuple(parts)), plain, model)
            said = msgspec.structs.replace(said, completed=None) if stop in _CUT else said
        usage, told = _usage(message), table(message.get("usage"))
        if usage == Usage():
            return [said]
        when = milliseconds(found.fields.get("timestamp"))
        call = CallRead(
            usage=usage, cost=billionths(table(told.get("cost")).get("total")),
            request=text(message.get("responseId")), started=_stamp(message, when), ended=when,
            provider=text(message.get("provider")), model=model, stop=stop,
        )  # fmt: skip
        return [said, call]

    def _said(
        self, found: Found, id: str, message: Message, plain: bool, model: str = ""
    ) -> MessageRead:
        when = milliseconds(found.fields.get("timestamp"))
        own = found.table("message")
        left = rest(AGENT, "message", found, "message", "content")
        return MessageRead(
            message=message, created=_stamp(own, when), completed=when, native=id,
            parent=found.text("parentId"), provider=text(own.get("provider")) if model else "",
            model=model, request=text(own.get("responseId")) if model else "",
            records=(left if plain else _all_of("message", found),),
        )  # fmt: skip


_TELL: dict[str, Callable[[Reading, Found, str], list[TranscriptEvent]]] = {
    "message": Reading._message,
    "compaction": Reading._compaction,
    "branch_summary": Reading._branch,
    "custom_message": Reading._custom,
}


def _others(role: str, message: dict[str, Any]) -> tuple[Message | None, bool]:
    """What somebody else than the model said; and whether its parts say all of its content."""
    if role == "toolResult":
        return _result(message)
    if role == "bashExecution":
        command, output = text(message.get("command")), text(message.get("output"))
        hidden = message.get("excludeFromContext") is True or not (command or output)
        shell = Text(f"$ {command}\n{output}", scaffold=SHELL)
        return (None if hidden else Message("user", (shell,))), False
    if role in ("branchSummary", "compactionSummary"):
        summary = text(message.get("summary"))
        return (Message("user", (SummaryText(summary),)) if summary else None), False
    if role in ("user", "custom", "hookMessage"):
        parts, plain = _shown(message.get("content"), "" if role == "user" else REMINDER)
        return (Message("user", tuple(parts)) if parts else None), plain
    return None, False


def _result(message: dict[str, Any]) -> tuple[Message | None, bool]:
    parts, plain = _shown(message.get("content"), "")
    said = [part.text for part in parts if isinstance(part, Text)]
    result = ToolResult(
        call=text(message.get("toolCallId")),
        output="\n".join(said),
        error=message.get("isError") is True,
        name=text(message.get("toolName")),
        media=tuple(part for part in parts if isinstance(part, Media)),
    )
    return (Message("tool", (result,)) if result.call else None), plain and len(said) <= 1


def _shown(content: Any, scaffold: str) -> tuple[list[Part], bool]:
    """Words and pictures; and whether they are all there was."""
    if type(content) is str:
        return ([Text(content, scaffold=scaffold)] if content else []), True
    made: list[Part] = []
    plain = type(content) is list
    for block in map(table, rows(content)):
        image = picture(text(block.get("mimeType")) or "image/png", text(block.get("data")))
        if block.get("type") == "text" and type(block.get("text")) is str:
            made.append(Text(block["text"], scaffold=scaffold))
            plain = plain and block.keys() == {"type", "text"}
        elif block.get("type") == "image" and image:
            made.append(image)
            plain = plain and block.keys() == {"type", "data", "mimeType"}
        else:
            plain = False
    return made, plain


def _replied(message: dict[str, Any], model: str) -> tuple[list[Part], bool]:
    """What the model said; and whether its parts say all of it."""
    made: list[Part] = []
    plain = True
    for block in map(table, rows(message.get("content"))):
        part, all_of_it = _part(block, text(message.get("api")), model)
        made += [part] if part else []
        plain = plain and all_of_it
    return made, plain and type(message.get("content")) is list


def _part(block: dict[str, Any], api: str, model: str) -> tuple[Part | None, bool]:
    kind = block.get("type")
    if kind == "text" and text(block.get("text")):
        return Text(block["text"]), block.keys() == {"type", "text"}
    if kind == "thinking" and type(block.get("thinking")) is str:
        return _thought(block, api, model), block.keys() <= {"type", "thinking"}
    if kind == "toolCall" and text(block.get("id")) and text(block.get("name")):
        given = block.get("arguments")
        known = block.keys() == {"type", "id", "name", "arguments"}
        return ToolCall(block["id"], block["name"], written(given)), known
    return None, False


def _thought(block: dict[str, Any], api: str, model: str) -> Part | None:
    """What the model thought, with the signature that its owner wants to see again."""
    signature = text(block.get("thinkingSignature"))
    if api != "anthropic-messages" or not signature:
        return Reasoning(block["thinking"]) if block["thinking"] else None
    made: dict[str, str] = {"type": "thinking", "thinking": block["thinking"]}
    if block.get("redacted") is True:
        made = {"type": "redacted_thinking", "data": signature}
    else:
        made["signature"] = signature
    try:
        return decoded(fields(msgspec.json.encode(made)), model)[0]
    except (Garbled, IndexError, UnicodeEncodeError):
        return Reasoning(block["thinking"]) if block["thinking"] else None


def _usage(message: dict[str, Any]) -> Usage:
    used = table(message.get("usage"))
    return Usage(
        input=count(used.get("input")),
        cache_read=count(used.get("cacheRead")),
        cache_write=count(used.get("cacheWrite")),
        output=count(used.get("output")),
    )


def _stamp(message: dict[str, Any], otherwise: int) -> int:
    return count(message.get("timestamp")) or otherwise


def _all_of(kind: str, found: Found) -> Record:
    return Record(AGENT, kind, found.data, found.line)
