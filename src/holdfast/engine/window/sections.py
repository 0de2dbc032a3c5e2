"""What surrounds the conversation: given by the caller, asked of sources, remembered as a snapshot.

Sections that do not change from call to call are shown as the snapshot in force has them. When one
of them changes, or appears once the conversation has begun, what is new is told once by a message
at the tail, and a new snapshot is appended; from the next compaction on the section itself shows it
(law 8).
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from typing import Any, TypedDict, cast

import msgspec
from msgspec.structs import replace

from holdfast.core.knowledge.instructions import change
from holdfast.core.log.validate import typed
from holdfast.core.repo_map import difference, is_outline
from holdfast.core.tokens.count import weigh_tools
from holdfast.core.tokens.estimate import estimate, recurring
from holdfast.core.window.assemble import Surroundings
from holdfast.core.window.budget import budget as allot
from holdfast.core.window.scaffold import ENVIRONMENT, environment, wrap
from holdfast.errors import InvalidRequest
from holdfast.model.log import Body, Context, Entry, Folded, SessionInfo, Switch
from holdfast.model.message import Message, Text
from holdfast.model.policy import Policy
from holdfast.model.profile import Profile
from holdfast.model.span import Span, clip
from holdfast.model.view import View
from holdfast.model.window import Budget, SectionName, Tool
from holdfast.ports import Log, Source

SNAPSHOT: tuple[SectionName, ...] = (
    "instructions",
    "memory",
    "repo_map",
    "read_only_files",
    "context",
    "permissions",
    "developer",
    "memory_guidance",
    "collaboration_mode",
    "realtime",
    "personality",
    "apps",
    "skills",
    "plugins",
    "commit_attribution",
    "session_guidance",
    "language",
    "output_style",
    "mcp",
    "scratchpad",
    "token_budget",
    "git_status",
    "cache_breaker",
    "date",
)
"""The sections that a snapshot holds."""

AT_ONCE: frozenset[str] = frozenset({"cache_breaker"})
"""Sections that stand in their place at once when they change: that is what they are for. The
snapshot that says so is the marker that law 8 asks for."""

SOURCED: tuple[SectionName, ...] = (*SNAPSHOT, "chat_files", "reminder")
"""The sections that sources may fill."""

PAGE = 256
"""How many heads are read at once, newest first."""

_KEY = re.compile(r"[A-Za-z_][\w.-]*")


class Asking(TypedDict, total=False):
    """What can be given for a window; every name may be left out."""

    system: str
    tools: Sequence[Tool | Mapping[str, Any]]
    """Ours, or as any of the wire formats writes them."""
    deferrable_tools: Sequence[Tool | Mapping[str, Any]]
    """Tools that may wait behind tool_search where all take too much; answer() answers it."""
    model: str
    policy: str | Policy
    """A name, the path of a file, or a Policy."""
    context: Mapping[str, str]
    """Volatile facts such as cwd and date; what changes is told at the tail."""
    instructions: str
    memory: str
    sections: Mapping[str, str]
    """Any other section by its name: permissions, developer, git_status …; a policy that has no
    place for one leaves it out."""
    examples: Sequence[Message]
    chat_files: str
    reminder: str
    sources: Sequence[Source]
    max_tokens: int
    """How long the reply may be: so much is kept free. Otherwise as the policy says."""
    compact: bool
    """Whether it may be made to fit; otherwise `over` says by how much it does not."""


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
    max_tokens: int = 0
    """How long the reply may be; 0: as the policy says."""
    deferred: tuple[Tool, ...] = ()
    """Tools that are not sent: a model finds them with tool_search."""
    deferred_names: str = ""
    """What it is told of them."""


class Inputs(msgspec.Struct, frozen=True, kw_only=True):
    """What one window is made with besides the log."""

    given: Given
    texts: Mapping[str, str] = {}
    """Texts by section; what sources say is added."""
    sources: Sequence[Any] = ()
    deferrable: tuple[Tool, ...] = ()
    """Tools that may wait behind tool_search."""


def read_inputs(
    session: SessionInfo,
    *,
    system: str = "",
    tools: Sequence[Tool | Mapping[str, Any]] = (),
    deferrable_tools: Sequence[Tool | Mapping[str, Any]] = (),
    model: str = "",
    policy: str | Policy = "",
    context: Mapping[str, str] | None = None,
    instructions: str = "",
    memory: str = "",
    sections: Mapping[str, str] | None = None,
    examples: Sequence[Message] = (),
    chat_files: str = "",
    reminder: str = "",
    sources: Sequence[Source] = (),
    max_tokens: int = 0,
    compact: bool = True,
) -> Inputs:
    """What the arguments of a window say, checked."""
    given = Given(
        system=system,
        tools=read_tools(tools),
        examples=tuple(typed(one, Message) for one in examples),
        chat_files=chat_files,
        reminder=reminder,
        model=model or session.model,
        policy=str(policy) or session.policy,
        max_tokens=_reply_of(max_tokens),
    )
    texts = named(sections or {})
    texts |= {"instructions": instructions} if instructions else {}
    texts |= {"memory": memory} if memory else {}
    if context:
        texts["context"] = written(context)
    return Inputs(
        given=given, texts=texts, sources=sources, deferrable=read_tools(deferrable_tools)
    )


def _reply_of(max_tokens: object) -> int:
    if type(max_tokens) is not int or max_tokens < 0:
        raise InvalidRequest(
            f"max_tokens={max_tokens!r} is no length of a reply; give a whole number of tokens, or "
            "0 for what the policy reserves"
        )
    return max_tokens


def read_tools(tools: Sequence[Tool | Mapping[str, Any]]) -> tuple[Tool, ...]:
    """Tools in our own words, from ours or from any of the wire formats'."""
    return tuple(map(_sound, tools))


def _sound(tool: Tool | Mapping[str, Any]) -> Tool:
    """One tool; InvalidRequest where what it says cannot be written into a request."""
    told = typed(tool if isinstance(tool, Tool) else _tool(dict(tool)), Tool)
    if not told.name:
        raise InvalidRequest(f"a tool has no name: {told.description!r:.60}; give it one")
    return told


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


def named(sections: Mapping[str, str]) -> dict[str, str]:
    """Sections by their names; InvalidRequest for a name that is none."""
    for name, text in sections.items():
        if name not in SNAPSHOT:
            raise InvalidRequest(f"there is no section {name!r}; name one of {', '.join(SNAPSHOT)}")
        if not isinstance(cast("object", text), str):
            raise InvalidRequest(f"the section {name!r} is {type(text).__name__}; give text")
    return dict(sections)


async def consult(sources: Sequence[Source], budget: Budget) -> dict[str, str]:
    """The text of each source, asked once, each within its allowance."""
    for source in sources:
        _check(source)
    texts: dict[str, str] = {}
    for source in sources:
        allowance = int(getattr(budget, source.section, 0) or budget.room // 8)
        text = fitting(await _asked(source, allowance), allowance, source.section)
        texts[source.section] = _joined(texts.get(source.section, ""), text)
    return texts


def _check(source: Source) -> None:
    if source.section not in SOURCED:
        raise InvalidRequest(
            f"the source {_name(source)!r} has text for {source.section!r}, which no source may "
            f"fill; name one of {', '.join(SOURCED)}"
        )


async def _asked(source: Source, allowance: int) -> str:
    try:
        text = cast("object", await source.text(allowance))
    except Exception as error:
        raise InvalidRequest(
            f"the source {_name(source)!r} failed ({type(error).__name__}: {error}); "
            "mend it, or leave it out"
        ) from error
    if not isinstance(text, str):
        raise InvalidRequest(
            f"the source {_name(source)!r} gave {type(text).__name__}, not text; "
            "give an empty text where there is nothing to say"
        )
    return text


def _name(source: Source) -> str:
    return str(getattr(source, "name", "") or type(source).__name__)


def _joined(*texts: str) -> str:
    return "\n\n".join(filter(None, texts))


def fitting(text: str, allowance: int, section: str) -> str:
    """A text within its allowance, cut at the end of a line; what was left out is stated."""
    whole = estimate(text)
    if whole <= allowance:
        return text
    lines = text.splitlines(keepends=True)

    def shortened(many: int) -> str:
        kept = "".join(lines[:many]).rstrip("\n")
        note = f"[… {whole - estimate(kept):,} more tokens of {section} left out]"
        return "\n".join(filter(None, (kept, note)))

    many = bisect_right(range(1, len(lines)), allowance, key=lambda n: estimate(shortened(n)))
    while many and estimate(shortened(many)) > allowance:
        many -= 1
    return shortened(many)


async def snapshot(log: Log, session: str, seq: int) -> dict[str, str] | None:
    """The sections of a Context marker; None where there is no such marker."""
    found = await log.read(session, (Span(seq, seq),)) if seq else ()
    body = found[0].body if found else None
    return body.sections if isinstance(body, Context) else None


async def begun(log: Log, view: View) -> bool:
    """Whether a model has answered in what a view shows, so that its beginning was sent."""
    if view.folded.summaries:
        return True
    left = view.spans
    while left and (heads := await log.heads(view.session.id, left, limit=PAGE)):
        if any(head.role == "assistant" for head in heads):
            return True
        left = clip(left, 1, heads[0].seq - 1)
    return False


def news(
    before: Mapping[str, str] | None,
    now: Mapping[str, str],
    *,
    begun: bool = False,
    tag: str = ENVIRONMENT,
) -> tuple[Body, ...]:
    """What to append because the surroundings differ from the newest snapshot.

    The first snapshot is silent: its sections show it. Not so once the conversation has begun: then
    an empty one comes first, so that what was sent already stays a prefix. `tag` is that of the
    context: its values are told in the way of the policy.
    """
    if before is not None:
        return _told(before, now, tag)
    if not now:
        return ()
    if begun:
        return (Context(sections={}), *_told({}, now, tag))
    return (Context(sections=dict(now)),)


async def led_by(log: Log, view: View) -> str:
    """The model that a conversation was last prepared for; empty where nobody has said."""
    found = await _switch(log, view)
    return found.model if found else view.session.model


async def in_use(log: Log, view: View) -> str:
    """The model that goes on with a conversation: who was asked for, else who has led it."""
    found = await _switch(log, view)
    return found.wanted or found.model if found else view.session.model


async def wanted(log: Log, view: View, model: str) -> tuple[Body, ...]:
    """What to append because another model is asked for, which nothing is prepared for yet."""
    if not view.last or model.lower() == (await in_use(log, view)).lower():
        return ()
    return (Switch(model=await led_by(log, view), wanted=model),)


async def _switch(log: Log, view: View) -> Switch | None:
    """The newest change of the model."""
    before, limit = view.folded.switch + 1, 1
    while before > 1 and (page := await log.markers(view.session.id, before=before, limit=limit)):
        for entry in reversed(page):
            if isinstance(entry.body, Switch) and (entry.body.model or entry.body.wanted):
                return entry.body
        before, limit = page[0].seq, limit * 2  # it was a change of policy only
    return None


async def switched(log: Log, view: View, model: str) -> tuple[Body, ...]:
    """What to append because another model goes on: the marker, and what it is told, once.

    Where no model has answered yet there is nothing to tell it.
    """
    before = await led_by(log, view)
    if not model or model.lower() == before.lower():
        return ()
    told = wrap("model_switch", SWITCHED.format(before=before, now=model))
    begins = not before or not await begun(log, view)
    said = () if begins else (Message("developer", (Text(told, "model_switch"),)),)
    return (*said, Switch(model=model))


SWITCHED = (
    "So far {before} has led this conversation; from here on it is you, {now}. What it said and "
    "did stands above. Go on from there."
)


def _told(before: Mapping[str, str], now: Mapping[str, str], tag: str) -> tuple[Body, ...]:
    told: list[Text] = []
    for name, text in now.items():
        if before.get(name) != text and name not in AT_ONCE:
            told += _changed(name, before.get(name, ""), text, tag)
    gone = [name for name in before if name not in now and name not in AT_ONCE]
    told += [_reminder(f"The section {name!r} no longer applies.") for name in gone]
    said = (Message("user", tuple(told)),) if told else ()
    return (*said, Context(sections=dict(now))) if said or dict(before) != now else ()


def _changed(name: str, old: str, new: str, tag: str) -> list[Text]:
    if name == "context" and _is_values(old) and _is_values(new):
        return _changed_values(values(old), values(new), tag)
    if name == "repo_map" and is_outline(old) and is_outline(new):
        told = difference(old, new)
        return [_reminder(f"In the outline of the repository this is new:\n{told}")]
    if name == "instructions" and (old or new):
        return [_reminder(change(old, new))]
    what = "has changed. It now reads" if old else "is new. It reads"
    return [_reminder(f"The section {name!r} {what}:\n{new}")]


def _changed_values(old: Mapping[str, str], new: Mapping[str, str], tag: str) -> list[Text]:
    told: list[Text] = []
    if changed := {key: value for key, value in new.items() if old.get(key) != value}:
        plain = f"The environment has changed:\n{written(changed)}"
        xml = tag == ENVIRONMENT
        told.append(Text(environment(changed), ENVIRONMENT) if xml else _reminder(plain))
    if gone := [key for key in old if key not in new]:
        told.append(_reminder(f"Of the context, these no longer apply: {', '.join(gone)}."))
    return told


def _reminder(text: str) -> Text:
    return Text(wrap("system-reminder", text), "system-reminder")


def _is_values(text: str) -> bool:
    """Whether a context section is nothing but values, so that a difference can be told by key."""
    pairs = [line.partition(": ") for line in text.splitlines() if line]
    keys = [key for key, mark, _ in pairs if mark and _KEY.fullmatch(key)]
    return len(set(keys)) == len(pairs)


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
        deferred=given.deferred_names,
        tools=given.tools,
        tools_tokens=weigh_tools(given.tools),
    )


async def pinned(log: Log, session: str, folded: Folded) -> list[tuple[Any, Entry | None]]:
    """The pins in force, with the entries they name."""
    found: list[tuple[Any, Entry | None]] = []
    for pin in folded.pins:
        entries = await log.read(session, (Span(pin.seq, pin.seq),), bare=True) if pin.seq else ()
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
    budget = allot(profile, policy.budget, system, files=bool(given.chat_files))
    texts = await consult(sources, budget)
    chat_files = _joined(given.chat_files, texts.get("chat_files", ""))
    merged = {name: _joined(told.get(name, ""), texts.get(name, "")) for name in SNAPSHOT}
    return replace(
        given,
        sections={name: text for name, text in merged.items() if text},
        chat_files=fitting(chat_files, budget.chat_files, "chat_files"),
        reminder=_joined(given.reminder, texts.get("reminder", "")),
    )
