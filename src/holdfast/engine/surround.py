"""What surrounds the conversation: given by the caller, asked of sources, remembered as a snapshot.

Sections that do not change from call to call are shown as the snapshot in force has them. When one
of them changes, what is new is told once by a message at the tail, and a new snapshot is appended;
from the next compaction on the section itself shows it (law 8).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
from msgspec.structs import replace

from holdfast.core.assemble import Surroundings
from holdfast.core.budget import budget as allot
from holdfast.core.count import weigh_tools
from holdfast.core.estimate import recurring
from holdfast.core.scaffold import environment, wrap
from holdfast.model.log import Body, Context, Entry, Folded
from holdfast.model.message import Message, Text
from holdfast.model.policy import Policy
from holdfast.model.profile import Profile
from holdfast.model.span import Span
from holdfast.model.window import Budget, SectionName, Tool
from holdfast.ports import Log, Source

SNAPSHOT: tuple[SectionName, ...] = (
    "instructions",
    "memory",
    "repo_map",
    "read_only_files",
    "context",
)
"""The sections that a snapshot holds."""


class Given(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """What a caller gives for one window; kept with the call, so that it can be rebuilt."""

    system: str = ""
    tools: tuple[Tool, ...] = ()
    examples: tuple[Message, ...] = ()
    sections: dict[str, str] = {}
    chat_files: str = ""
    reminder: str = ""
    model: str = ""
    policy: str = ""
    options: dict[str, Any] = {}


def read_tools(tools: Sequence[Tool | Mapping[str, Any]]) -> tuple[Tool, ...]:
    """Tools in our own words, from ours or from any of the wire formats'."""
    return tuple(tool if isinstance(tool, Tool) else _tool(dict(tool)) for tool in tools)


def _tool(told: dict[str, Any]) -> Tool:
    inner = told.get("function", told)
    schema = next(
        (inner[key] for key in ("input_schema", "parameters", "schema") if key in inner), None
    )
    if schema is None and "type" in told and told["type"] not in ("function", "custom"):
        return Tool(name=str(told.get("name", told["type"])), native=told, kind=str(told["type"]))
    return Tool(
        name=str(inner.get("name", "")),
        description=str(inner.get("description", "")),
        schema=schema or {"type": "object", "properties": {}},
        kind="custom" if told.get("type") == "custom" and schema is None else "function",
    )


async def consult(sources: Sequence[Source], budget: Budget) -> dict[str, str]:
    """The text of each source, asked once, each within its allowance."""
    texts: dict[str, str] = {}
    for source in sources:
        allowance = int(getattr(budget, source.section, 0) or budget.room // 8)
        text = await source.text(allowance)
        if text:
            texts[source.section] = "\n\n".join(filter(None, (texts.get(source.section), text)))
    return texts


async def snapshot(log: Log, session: str, seq: int) -> dict[str, str]:
    """The sections of a Context marker; none where there is no such marker."""
    if not seq:
        return {}
    found = await log.read(session, (Span(seq, seq),))
    body = found[0].body if found else None
    return body.sections if isinstance(body, Context) else {}


def news(before: Mapping[str, str], now: Mapping[str, str]) -> tuple[Body, ...]:
    """What to append because the surroundings differ from the newest snapshot."""
    if dict(before) == dict(now):
        return ()
    marker = Context(sections=dict(now))
    if not before:
        return (marker,)
    changed = {name: text for name, text in now.items() if before.get(name) != text}
    gone = [name for name in before if name not in now]
    return (Message("user", _told(before, changed, gone)), marker)


def _told(
    before: Mapping[str, str], changed: Mapping[str, str], gone: Sequence[str]
) -> tuple[Text, ...]:
    parts: list[Text] = []
    for name, text in changed.items():
        if name == "context":
            parts.append(Text(environment(_changed_values(before, text)), "environment_context"))
        else:
            told = f"The section {name!r} has changed. It now reads:\n{text}"
            parts.append(Text(wrap("system-reminder", told), "system-reminder"))
    for name in gone:
        told = f"The section {name!r} no longer applies."
        parts.append(Text(wrap("system-reminder", told), "system-reminder"))
    return tuple(parts)


def _changed_values(before: Mapping[str, str], text: str) -> dict[str, str]:
    old, new = values(before.get("context", "")), values(text)
    return {key: value for key, value in new.items() if old.get(key) != value}


def values(text: str) -> dict[str, str]:
    """The values of a context section: one `key: value` a line."""
    pairs = (line.partition(": ") for line in text.splitlines())
    return {key: value for key, mark, value in pairs if mark}


def written(context: Mapping[str, str]) -> str:
    """A context section: one `key: value` a line, in the order given."""
    return "\n".join(f"{key}: {str(value).replace(chr(10), ' ')}" for key, value in context.items())


def surroundings(given: Given, base: Mapping[str, str], pins: Sequence[Any]) -> Surroundings:
    """What the window is assembled with."""
    return Surroundings(
        system=given.system,
        examples=given.examples,
        sections=dict(base),
        pins=tuple(pins),
        chat_files=given.chat_files,
        reminder=given.reminder,
        tools=given.tools,
        tools_tokens=weigh_tools(given.tools),
    )


async def pinned(log: Log, session: str, folded: Folded) -> list[tuple[Any, Entry | None]]:
    """The pins in force, with the entries they name."""
    found: list[tuple[Any, Entry | None]] = []
    for pin in folded.pins:
        entries = await log.read(session, (Span(pin.seq, pin.seq),)) if pin.seq else ()
        found.append((pin, entries[0] if entries else None))
    return found


async def completed(
    given: Given,
    told: Mapping[str, str],
    sources: Sequence[Source],
    profile: Profile,
    policy: Policy,
) -> Given:
    """What was given, with the sections that were told and those the sources have to say."""
    system = recurring(given.system) + weigh_tools(given.tools)
    texts = await consult(sources, allot(profile, policy.budget, system))
    merged = {**{name: text for name, text in told.items() if text}, **texts}
    return replace(
        given,
        sections={name: merged[name] for name in SNAPSHOT if merged.get(name)},
        chat_files="\n\n".join(filter(None, (given.chat_files, merged.get("chat_files", "")))),
    )
