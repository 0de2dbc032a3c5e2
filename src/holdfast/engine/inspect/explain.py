"""Every decision can be explained: past calls rebuilt, windows compared, absences named."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec import Struct, convert
from msgspec.structs import replace

from holdfast.core.log.fold import in_force
from holdfast.core.tokens.calibrate import calibrated
from holdfast.core.window.explain import (
    Absence,
    Difference,
    Line,
    absent,
    difference,
    explain,
    hidden,
    taken,
)
from holdfast.core.window.occupancy import Recorded, Source, whole_prompt
from holdfast.engine.calls.last_call import given_now, given_of, line, newest_call
from holdfast.engine.calls.learned_limits import profile_at
from holdfast.engine.inspect.lookup import entry_at, seq_of
from holdfast.engine.loading import markers
from holdfast.engine.plugins import codec
from holdfast.engine.usage.recorded_window import call_behind, recorded, recorded_call, window_of
from holdfast.engine.window.preparation import prepare
from holdfast.engine.window.prepared_window import request_hash
from holdfast.engine.window.token_count import TokenCount
from holdfast.engine.window.turn_state import TurnState
from holdfast.errors import NotFound
from holdfast.model import wire
from holdfast.model.log import Entry
from holdfast.model.message import Message, Opaque, Reasoning
from holdfast.model.profile import Profile
from holdfast.model.reply import Call
from holdfast.model.span import EVERYTHING, Span
from holdfast.model.window import Block, Count, Options, Window

if TYPE_CHECKING:
    from holdfast.engine.context import SessionContext
    from holdfast.engine.turns import Turns

UNRECORDED = "unrecorded"
"""The section of what another program has sent besides the messages."""

UNKNOWN = "unknown"
"""Stands for the model where a session has none: a small window is then assumed."""


class Explained(Struct, frozen=True, kw_only=True):
    """What was, or would be, in front of the model, and why."""

    model: str
    lines: tuple[Line, ...]
    """Their tokens add up to `tokens`."""
    count: Count
    """How many tokens it took, or would take: as reported, or as the window counts them."""
    room: int
    """What a prompt may take of the window."""
    window: int = 0
    """What the model holds, reply included, where this session runs."""
    source: Source = "model"
    """How that is known."""
    sent: int = 0
    """What the newest call was sent, as it was reported; 0 where nobody said."""
    program: str = ""
    """The program that made the newest call, where nothing was sent from here since."""
    beside: int | None = None
    """What its system prompt and tools take, whose texts nobody recorded; None where unknown."""
    call: Call | None = None
    """The call it was for; None for the window that would be sent now."""
    matches: bool | None = None
    """Whether the request rebuilt now is the one that was sent; None where none was recorded."""
    absent: tuple[Absence, ...] = ()
    note: str = ""
    """What else there is to say of it."""
    difference: Difference | None = None
    """Where it parts from the request it was compared with."""

    @property
    def tokens(self) -> int:
        """How many tokens it took, or would take."""
        return self.count.tokens

    @property
    def share(self) -> float | None:
        """How much of the window that is; None where nobody knows what it holds."""
        return self.tokens / self.window if self.window else None


class Rebuilt(Struct, frozen=True, kw_only=True):
    """A past call's window and request, made again from the log."""

    call: Call
    window: Window
    profile: Profile
    request: dict[str, Any]
    matches: bool


async def rebuild(session: SessionContext, call: Call) -> Rebuilt:
    """The request of a past call, from the log and what the call was given."""
    if not call.given:
        raise NotFound(
            "request of call", call.id, (), "name a call made through window().request()"
        )
    try:
        given = await given_of(session, call)
    except NotFound as missing:
        why = "what it was given is not in the store; run `holdfast doctor`"
        raise NotFound("request of call", call.id, (), why) from missing
    view = await session.view(str(call.head))
    profile = await profile_at(session, given.model, view)
    policy = await session.policy(given.policy)
    turn = TurnState(session, given, profile, policy)
    window = (await turn.assembled(view)).window
    options = convert(call.options, Options)
    request = codec(call.format).encode(window, profile, options)
    count = await _count(turn, call)
    return Rebuilt(
        call=call,
        window=replace(window, tokens=count),
        profile=profile,
        request=request,
        matches=request_hash(request) == call.request_hash,
    )


async def _count(turn: TurnState, call: Call) -> Count:
    """What a call was sent: as it reported, or else as it was estimated before."""
    if call.last.prompt:
        return Count(tokens=call.last.prompt, tier="reported")
    count = await TokenCount(turn, asks=False).begin()
    return calibrated(call.estimated, count.ratio)


async def call_of(session: SessionContext, entry: str | int) -> Call | None:
    """The call whose reply an entry is, also where it was made before a fork."""
    id = (await entry_at(session, entry)).id
    async for home in line(session):
        after = ""
        while page := await session.store.calls.calls(home.id, after=after):
            found = next((call for call in page if call.entry == id), None)
            if found:
                return found
            after = page[-1].id
    return None


async def explain_session(
    session: SessionContext,
    turns: Turns,
    entry: str | int = "",
    against: str | int = "",
    **given: Any,
) -> Explained:
    """What the call behind an entry, or else the newest one, had in front of it.

    Where there is no such call it is what would be sent now; with `given`, what would be sent
    with that.
    """
    given.pop("compact", None)  # what would be sent is shown as it stands
    if given:
        made = await turns.preview(compact=False, **given)
        return await _of_window(session, made.window, made.profile, made.head)
    named = entry != ""
    call = await call_of(session, entry) if named else await newest_call(session)
    if named and call is None and (reply := await _brought(session, entry)):
        return await _of_recorded(session, reply)
    if not (call and call.given):
        why = f"Entry {entry} is no reply to a request made here" if named else "No call was made"
        return replace(await explain_now(session), note=f"{why}: this would be sent now.")
    told = await _of_call(session, call)
    if against == "":
        return told
    other = await call_of(session, against)
    if other is None:
        raise NotFound("call behind entry", str(against), (), "name the entry of another reply")
    parted = compare(await rebuild(session, other), await rebuild(session, call))
    return replace(told, difference=parted)


async def explain_now(session: SessionContext, model: str = "") -> Explained:
    """What would be sent now, with the system prompt and tools of the newest call.

    Where another program made that call, its sizes stand for them (core/window/occupancy.py).
    """
    given = await given_now(session, model)
    given = replace(given, model=given.model or UNKNOWN)
    view = await session.view()
    profile = await profile_at(session, given.model, view)
    call = await recorded_call(session, model)
    holds = await window_of(session, call, profile)
    if holds.window:
        profile = replace(profile, window=holds.window)
    turn = TurnState(session, given, profile, await session.policy(given.policy))
    made = await prepare(turn.preview(), compact=False)
    told = await _of_window(session, made.window, profile, made.head)
    told = replace(told, window=holds.window, source=holds.source)
    if call is None:
        newest = await newest_call(session)
        theirs = newest.outcome == "imported" if newest else bool(session.info.head)
        program = session.info.agent if theirs else ""
        told = replace(told, sent=newest.last.prompt if newest else 0, program=program)
        return _possible(told) if program else told
    count = await TokenCount(turn, asks=False).begin()
    found = await recorded(session, call, turn, count.ratio)
    return _possible(_recorded(told, made.window, profile, found))


def _possible(told: Explained) -> Explained:
    """A window that nobody recorded holds what was in it, or else nobody knows what it holds."""
    held = max(told.tokens, told.sent) if told.source == "assumed" else told.sent
    if held <= told.window:
        return told
    return replace(told, window=0, room=0)


def _recorded(told: Explained, window: Window, profile: Profile, found: Recorded) -> Explained:
    """The same for a session that another program recorded: with what it was sent besides."""
    count, beside = whole_prompt(told.count, found)
    said = count.tokens - (beside or 0)
    lines = explain(replace(window, tokens=Count(tokens=said)), profile)
    if beside:
        unseen = Line(section=UNRECORDED, role="", source=found.program,
                      rule="sent besides; its text was not recorded", tokens=beside)  # fmt: skip
        lines = (unseen, *lines)
    return replace(
        told, lines=lines, count=count, sent=found.sent, program=found.program, beside=beside
    )


async def _of_window(
    session: SessionContext, window: Window, profile: Profile, head: int
) -> Explained:
    return Explained(
        model=window.model,
        lines=explain(window, profile),
        count=window.tokens,
        room=window.budget.room,
        window=window.budget.window,
        absent=await absences(session, head),
    )


async def _of_call(session: SessionContext, call: Call) -> Explained:
    made = await rebuild(session, call)
    usage = call.last if call.last.prompt else None
    return Explained(
        model=call.model,
        lines=_told(made, explain(made.window, made.profile, usage)),
        count=made.window.tokens,
        room=made.window.budget.room,
        window=made.window.budget.window,
        sent=call.last.prompt,
        call=call,
        matches=made.matches,
        absent=await absences(session, call.head),
    )


async def _brought(session: SessionContext, entry: str | int) -> Entry | None:
    """An entry where it is a reply that another program recorded."""
    found = await entry_at(session, entry)
    theirs = found.native and isinstance(found.body, Message) and found.body.role == "assistant"
    return found if theirs else None


async def _of_recorded(session: SessionContext, reply: Entry) -> Explained:
    """A call that another program made: what was visible to it, and what it was sent besides."""
    call, program = await call_behind(session, reply), session.info.agent
    view, model = await session.view(str(reply.seq - 1)), call.model if call else reply.model
    profile = await profile_at(session, model, view)
    holds = await window_of(session, call or await recorded_call(session, model), profile)
    profile = replace(profile, window=holds.window or profile.window)
    given = replace(await given_now(session, model), model=model or UNKNOWN)
    turn = TurnState(session, given, profile, await session.policy())
    window = (await turn.assembled(view)).window
    told = await _of_window(session, window, profile, reply.seq - 1)
    told = replace(told, call=call, window=holds.window, source=holds.source)
    found = Recorded(program=program, sent=call.last.prompt if call else 0, then=told.tokens)
    note = f"{program} made the call behind entry {reply.seq}: this was visible to it."
    return replace(_possible(_recorded(told, window, profile, found)), note=note)


async def absences(session: SessionContext, head: int) -> tuple[Absence, ...]:
    """The markers that keep something out of the window, each with the first entry it hides."""
    known = await markers(session.store.log, session.id, (Span(1, head),))
    standing = in_force(known)
    first = [spans[0].first for entry in standing if (spans := hidden(entry))]
    found: dict[int, Absence] = {}
    for one in (absent(seq, None, standing) for seq in sorted(first)):
        found.setdefault(one.marker, one)
    return tuple(found.values())


async def why_absent(session: SessionContext, entry: str | int) -> Absence:
    """Which marker keeps an entry out of the window; none where it is in it."""
    seq = await seq_of(session, entry)
    known = await markers(session.store.log, session.id, EVERYTHING)
    return absent(seq, None, in_force(known))


def compare(before: Rebuilt, after: Rebuilt) -> Difference:
    """Where two requests part, and what that did to the cache."""
    each = taken(after.window, after.profile, after.window.tokens.tokens)
    tokens = each[len(each) - len(after.window.blocks) :]  # the tools stand first
    return difference(_pieces(before), _pieces(after), tokens, after.profile)


def _pieces(made: Rebuilt) -> list[bytes]:
    """Each block by itself, as it is sent; breakpoints left out."""
    return [wire.encode(alone) for alone in _alone(made)]


def _alone(made: Rebuilt) -> list[dict[str, Any]]:
    """The request that each block would be by itself."""
    encoder = codec(made.call.format)
    options = convert({**made.call.options, "cache": False}, Options)
    window = made.window
    return [
        encoder.encode(
            Window(model=window.model, blocks=(block,), budget=window.budget), made.profile, options
        )
        for block in window.blocks
    ]


def _told(made: Rebuilt, lines: tuple[Line, ...]) -> tuple[Line, ...]:
    """The lines, where a block was not sent to this provider saying so: another's thoughts, say."""
    before = len(lines) - len(made.window.blocks)  # the tools stand first
    pairs = zip(lines[before:], made.window.blocks, _alone(made), strict=True)
    shown = tuple(
        line if _sent(block, alone) else replace(line, rule="not sent: only its maker may see it")
        for line, block, alone in pairs
    )
    return (*lines[:before], *shown)


def _sent(block: Block, alone: dict[str, Any]) -> bool:
    if any(not isinstance(part, (Reasoning, Opaque)) for part in block.parts):
        return True
    said = [message for key in ("messages", "input", "contents") for message in alone.get(key, ())]
    return any(message.get("role") in ("assistant", "model", None) for message in said)
