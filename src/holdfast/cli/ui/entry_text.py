"""Entries in words: what each part and each marker says of itself on a screen.

Rule 1: text comes out as it is stored; whoever prints a piece makes it neutral.
Rule 2: a part whose content has left the window shows its handle instead.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from holdfast.cli.context import compaction_line
from holdfast.cli.ui.format import lasting, many, money, size
from holdfast.cli.ui.json_values import dollars
from holdfast.core.log.tool_calls import ToolState
from holdfast.model import log, message
from holdfast.model.log import Entry, Handle, Marker
from holdfast.model.span import OPEN, Span, Spans, normal


class Piece(NamedTuple):
    """A line about something, or, where `body` is set, a text of any length."""

    text: str
    style: str = ""
    indent: int = 4
    body: bool = False


ROLES = {"user": "bold green", "assistant": "bold cyan", "tool": "bold yellow"}

States = dict[str, ToolState]


def parts_of(entry: Entry, states: States, cleared: frozenset[int]) -> Iterator[Piece]:
    """The parts of a message, in order; `cleared` are the ordinals that have left the window."""
    assert isinstance(entry.body, message.Message)
    for ordinal, part in enumerate(entry.body.parts):
        if ordinal in cleared:
            tokens = entry.counts[ordinal] if ordinal < len(entry.counts) else 0
            yield Piece(cleared_note(entry, ordinal, tokens), "yellow")
        else:
            yield from _PARTS[type(part)](part, states)


def cleared_note(entry: Entry, ordinal: int, tokens: int) -> str:
    """What stands where content was cleared, with the handle that brings it back."""
    amount = f"{many(tokens, 'token')} " if tokens else ""
    return f"[… {amount}cleared · recall {Handle(entry.id, ordinal)}]"


def spans(covered: Spans) -> str:
    """Stretches of the log, as people write them."""
    return ", ".join(
        f"{span.first}" if span.first == span.last
        else f"{span.first}–{'' if span.last == OPEN else span.last}"
        for span in covered
    )  # fmt: skip


def marker(body: Marker) -> str:
    """A marker in one line."""
    facts = filter(None, _MARKERS[type(body)](body))
    return f"{type(body).__name__} · {' · '.join(facts)}".removesuffix(" · ")


def _body(text: str, style: str = "", indent: int = 4) -> Iterator[Piece]:
    if text:
        yield Piece(text, style, indent, body=True)


def _text(part: message.Text, states: States) -> Iterator[Piece]:
    if part.scaffold:
        yield Piece(f"scaffold · {part.scaffold}", "dim")
    yield from _body(part.text, "dim" if part.scaffold else "")


def _reasoning(part: message.Reasoning, states: States) -> Iterator[Piece]:
    sealed = f" · sealed by {part.seal.owner}" if part.seal and not part.text else ""
    yield Piece(f"∴ reasoning{sealed}", "dim italic")
    yield from _body(part.text, "dim", 6)


def _call(part: message.ToolCall, states: States) -> Iterator[Piece]:
    state = states.get(part.id)
    yield Piece(f"→ {part.name} · {stand(state) if state else 'called'}", "yellow")
    yield from _body(part.input, "", 6)


def stand(state: ToolState) -> str:
    """Where a tool call stands, in words."""
    if state.interrupted:
        return "interrupted"
    known = state.started is not None and state.ended is not None
    took = f" in {lasting((state.ended or 0) - (state.started or 0))}" if known else ""
    word = "failed" if state.state == "error" else state.state
    return f"{word}{took}"


def _result(part: message.ToolResult, states: States) -> Iterator[Piece]:
    called = states.get(part.call)
    name = part.name or (called.name if called else part.call)
    yield Piece(f"← {name}{' · error' if part.error else ''}", "red" if part.error else "yellow")
    yield from _body(part.output, "", 6)
    for one in part.media:
        yield from _media(one, states)


def _media(part: message.Media, states: States) -> Iterator[Piece]:
    where = "" if part.url.startswith("data:") else part.url
    facts = (part.type, part.name, where, size(len(part.data)) if part.data else "")
    yield Piece(f"[{' · '.join(filter(None, facts))}]", "magenta")


def _summary_text(part: message.SummaryText, states: States) -> Iterator[Piece]:
    yield Piece("Σ a summary made elsewhere", "magenta")
    yield from _body(part.text, "", 6)


def _patch(part: message.Patch, states: States) -> Iterator[Piece]:
    yield Piece(f"± {', '.join(part.files) or 'a patch'}", "magenta")
    yield from _body(part.diff, "", 6)


def _snapshot(part: message.Snapshot, states: States) -> Iterator[Piece]:
    yield Piece(f"[snapshot of the files · {part.name}]", "dim")


def _subtask(part: message.Subtask, states: States) -> Iterator[Piece]:
    yield Piece(f"↳ handed to session {part.session}", "magenta")
    yield from _body(part.prompt, "", 6)
    if part.result:
        yield Piece("↲ came back", "magenta")
        yield from _body(part.result, "", 6)


def _opaque(part: message.Opaque, states: States) -> Iterator[Piece]:
    yield Piece(f"[{part.type} of {part.owner} · {size(len(part.data))}, kept unread]", "dim")


def _record(part: message.Record, states: States) -> Iterator[Piece]:
    what = part.type if part.whole else f"more of {part.type}"
    yield Piece(f"[{what} · {part.owner} · {size(len(part.data))}, kept]", "dim")


_PARTS: dict[type, Callable[[Any, States], Iterator[Piece]]] = {
    message.Text: _text,
    message.Reasoning: _reasoning,
    message.ToolCall: _call,
    message.ToolResult: _result,
    message.Media: _media,
    message.SummaryText: _summary_text,
    message.Patch: _patch,
    message.Snapshot: _snapshot,
    message.Subtask: _subtask,
    message.Opaque: _opaque,
    message.Record: _record,
}


def details(body: log.Summary | log.Clear) -> str:
    """What a compaction was made by, for how much, and why, in a line."""
    facts = (
        _kept(body) if isinstance(body, log.Summary) else "",
        f"policy {body.policy}" if body.policy else "",
        compaction_line.writer(body),
        compaction_line.sizes(body),
        compaction_line.why(body),
    )
    return " · ".join(filter(None, facts))


def compaction(entry: Entry, session: str) -> dict[str, Any]:
    """A compaction as JSON: every key, always; money in US dollars, null where it is unknown."""
    body = entry.body
    assert isinstance(body, log.Summary | log.Clear)
    paid = compaction_line.cost(body)
    return {
        "seq": entry.seq,
        "id": entry.id,
        "kind": type(body).__name__,
        "step": body.step,
        "trigger": body.trigger,
        "policy": body.policy,
        "model": getattr(body, "model", ""),
        "tokens_before": body.tokens_before or None,
        "tokens_after": body.tokens_after or None,
        "prompt_before": body.prompt_before or None,
        "prompt_after": body.prompt_after or None,
        "cost_usd": None if paid is None else dollars(paid),
        "reason": body.reason,
        "undo": f"holdfast undo {session} {entry.seq}",
    }


def _kept(body: log.Summary) -> str:
    return f"keeps {', '.join(map(str, body.kept))} word for word" if body.kept else ""


def _parts_in(body: log.Clear) -> str:
    places = normal(Span(part.seq, part.seq) for part in body.parts)
    return f"{many(len(body.parts), 'part')} in {spans(places)}"


def _kinds(records: tuple[message.Record, ...]) -> str:
    return ", ".join(dict.fromkeys(record.type for record in records))


_MARKERS: dict[type, Callable[[Any], tuple[str, ...]]] = {
    log.Summary: lambda m: (m.step, f"covers {spans(m.covers)}", m.trigger),
    log.Clear: lambda m: (m.step, _parts_in(m), m.trigger),
    log.Notes: lambda m: (
        f"up to {m.upto}", f"by {m.model}" if m.model else "", money(m.cost) if m.cost else "",
    ),
    log.Pin: lambda m: (f"entry {m.seq}" if m.seq else "", m.fact, m.path),
    log.Unpin: lambda m: (f"ends {m.pin}",),
    log.Rewind: lambda m: (f"goes on from {m.to}", m.reason),
    log.Checkpoint: lambda m: (f"before {m.prompt}" if m.prompt else "", m.label),
    log.Context: lambda m: (", ".join(m.sections),),
    log.Switch: lambda m: (m.wanted or m.model, f"policy {m.policy}" if m.policy else ""),
    log.Repair: lambda m: (m.rule, m.owner, m.reason),
    log.Records: lambda m: (many(len(m.records), "record"), _kinds(m.records)),
    log.Damaged: lambda m: (m.reason or "what stood here cannot be read",),
    log.Undo: lambda m: (f"of {m.marker}",),
    log.Redo: lambda m: (f"of {m.marker}",),
}  # fmt: skip
