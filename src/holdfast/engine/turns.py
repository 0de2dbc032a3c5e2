"""A session's turns: the window to send, and the reply that came back."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, TypedDict, Unpack

from msgspec import Struct, to_builtins
from msgspec.structs import replace

from holdfast.core.calls.refusals import (
    Remedy,
    briefer,
    further,
    limit_in,
    limited,
    limits,
    remedy,
    shortened,
)
from holdfast.core.compaction.export_policy import sparing
from holdfast.core.log.validate import typed
from holdfast.core.secrets import redact
from holdfast.engine.calls.last_call import given_now
from holdfast.engine.calls.learned_limits import bodies
from holdfast.engine.calls.record import call_record, record_call
from holdfast.engine.calls.response import read_reply
from holdfast.engine.compaction.provider_edits import apply
from holdfast.engine.usage import caps
from holdfast.engine.window import sections, tool_deferral
from holdfast.engine.window.over_budget import floor_error, reply_fits
from holdfast.engine.window.preparation import Preparation, Prepared
from holdfast.engine.window.prepared_window import PreparedWindow
from holdfast.engine.window.sections import Given, named, read_tools, written
from holdfast.engine.window.turn_state import reserving, standing_repairs
from holdfast.errors import AssumedModel, InvalidRequest
from holdfast.files import config_home
from holdfast.model import wire
from holdfast.model.event import SessionBegan
from holdfast.model.log import Entry, Repair, ReplyEntry
from holdfast.model.message import Message
from holdfast.model.policy import Policy
from holdfast.model.profile import Profile
from holdfast.model.reply import Call, Outcome, Reply
from holdfast.model.span import Span
from holdfast.model.window import Options, Tool

if TYPE_CHECKING:
    from holdfast.engine.session import AsyncSession
    from holdfast.ports import Source


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


class Sent(Struct, frozen=True, kw_only=True):
    """What is remembered of a request until its reply comes."""

    format: str
    options: Options
    window: PreparedWindow
    started: int


class Turns:
    """What a session does around a call of a model."""

    def __init__(self, session: AsyncSession) -> None:
        self._session = session
        self._sent: dict[str, Sent] = {}
        """The newest request of each format, until a reply comes."""
        self._tried: PreparedWindow | None = None
        """The window that was sent last, or made where none was sent."""
        self._repairs: tuple[tuple[str, int], tuple[Entry, ...]] = (("", 0), ())
        """What refusals have taught, as of the newest marker of a session."""
        self._led: tuple[tuple[str, int], str] = (("", 0), "")
        """The model that leads the conversation, as of the newest marker of a session."""
        self.deferred: tuple[Tool, ...] = ()
        """The tools that waited to be found when a window was prepared last."""
        self._assumed: set[str] = set()
        """Models that were told to be unknown."""
        self._begun = False
        """Whether anything was prepared since it was opened."""

    async def window(self, *, write: bool = True, **asking: Unpack[Asking]) -> PreparedWindow:
        """The window to send now."""
        asking = await self._named(asking, write=write)
        turn = await self._preparing(*_asked(self._session, **asking))
        return await self._prepared(turn, compact=asking.get("compact", True), write=write)

    async def spared(self, **asking: Unpack[Asking]) -> PreparedWindow:
        """The window with all that fits, and nothing written."""
        asking = await self._named(asking, write=False)
        turn = await self._preparing(*_asked(self._session, **asking))
        scene = turn.scene
        turn = Preparation(self._session, scene.given, scene.profile, sparing(scene.policy))
        return await self._prepared(turn, compact=True, write=False)

    async def preparation(self, **asking: Unpack[Asking]) -> Preparation:
        """A turn as it would be prepared; with nothing given, as the newest call was."""
        asking = await self._named(asking, write=False)
        if {name for name, value in asking.items() if value} - {"model", "policy"}:
            return await self._preparing(*_asked(self._session, **asking))
        given = await given_now(self._session, asking.get("model", ""))
        given = replace(given, policy=_name(asking) or self._session.info.policy)
        return await self._preparing(given, dict(given.sections), ())

    async def _named(self, asking: Asking, *, write: bool) -> Asking:
        """What is asked, with a policy of the user's own by the name it is kept by."""
        if policy := asking.get("policy"):
            return {**asking, "policy": await self._session.kept_policy(policy, write=write)}
        return asking

    async def _preparing(
        self,
        given: Given,
        texts: dict[str, str],
        sources: Sequence[Source],
        more: tuple[Tool, ...] = (),
    ) -> Preparation:
        session = self._session
        if not given.model:
            raise InvalidRequest("no model is named: give the session or the window one")
        profile = await self._profile(given.model)
        reply_fits(profile, 0, given.max_tokens)
        policy = reserving(await session.policy(given.policy), given.max_tokens)
        if more:
            given = await tool_deferral.offered(session, given, more, profile, policy)
            self.deferred = given.deferred
        given = await sections.completed(given, texts, sources, profile, policy)
        return Preparation(session, given, profile, policy)

    async def _prepared(self, turn: Preparation, *, compact: bool, write: bool) -> PreparedWindow:
        session, scene = self._session, turn.scene
        given, profile, policy = scene.given, scene.profile, scene.policy
        if write:
            self._tell_assumed(profile)
        if write and await self._switches(given.model):
            trial = Preparation(session, given, profile, policy)  # it fits, or nothing is written
            await _fitting(trial, policy, write=False, compact=compact)
        ready = await _fitting(turn, policy, write=write, compact=compact)
        if write and not self._begun and session.cause == "turn":
            self._begun = True
            session.watch.emit(SessionBegan(session=session.id, resumed=session.resumed))
        session.resumed = session.resumed and not write
        if write:
            await caps.check(session, profile, ready.window.tokens.most)
        kept = await session.store.calls.keep(session.id, wire.encode(given)) if write else ""
        made = PreparedWindow(
            ready.window,
            profile,
            folded=ready.view.folded,
            head=ready.view.last,
            estimated=ready.estimated,
            fixes=ready.fixed.fixes,
            given=kept,
            policy=replace(policy, microcompact=None) if session.info.is_subtask else policy,
        )
        if write:
            made.on_request = partial(self._remember, made)
            self._tried = self._tried if self._sent else made
        return made

    async def _switches(self, model: str) -> bool:
        """Whether a window for this model is a change of model, as far as this writer knows."""
        info = self._session.info
        if self._led[0] != (info.id, info.last_marker):
            led = info.model
            if info.last_marker:
                led = await sections.led_by(self._session.store.log, await self._session.viewed())
            self._led = ((info.id, info.last_marker), led)
        return model.lower() != self._led[1].lower()

    def _tell_assumed(self, profile: Profile) -> None:
        """Say once of a model that nobody has told how much it holds."""
        if "window" not in profile.assumed or profile.name in self._assumed:
            return
        self._assumed.add(profile.name)
        warnings.warn(
            f"nothing is known of the model {profile.name!r}: it is taken to hold "
            f"{profile.window:,} tokens, {profile.output_limit:,} of them for the reply; to say "
            f'otherwise write ["{profile.name}"] and window = … in '
            f"{config_home() / 'profiles.toml'}",
            AssumedModel,
            stacklevel=2,
        )

    def _remember(self, window: PreparedWindow, format: str, options: Options) -> None:
        now = self._session.now()
        sent = Sent(format=format, options=options, window=window, started=now)
        self._sent = {**self._sent, format: sent}
        self._tried = window

    def begins(self, format: str) -> None:
        """A request goes out now, be it once more: its time counts from here."""
        sent = replace(self._sent[format], started=self._session.now())
        self._sent = {**self._sent, format: sent}

    async def reply(self, response: Any, *, format: str = "", key: str = "") -> ReplyEntry:
        """Append what a provider answered: parts verbatim, usage and cost, in one go."""
        reply, found = read_reply(response, format)
        return await self.record(reply, found, key=key)

    async def refused(self, message: str, *, provider: str = "") -> Entry | None:
        """A provider refused the request: remember what is to be sent differently from now on.

        None where nothing is known to help, or all that is has been tried since the last reply.
        Prepare the window again and send it once more.
        """
        cure = remedy(message)
        if cure is None:
            return None
        tried = await self._in_vain()
        if cure.action == "shorter":
            made = await self._shorter(cure, limit_in(message), tried)
        elif cure.action == "shorter reply":
            sent = self._tried.profile.name if self._tried else self._session.info.model
            made = briefer(cure.rule, message, await self._profile(sent))
        else:
            blocks = self._tried.blocks if self._tried else None
            made = further(cure, provider, [repair for _, repair in tried], blocks)
        if made is None:
            return None
        told = redact(message[:2_000], self._session.secrets)
        return await self._session.append(replace(made, reason=told))

    async def _shorter(
        self, cure: Remedy, told: int | None, tried: Sequence[tuple[int, Repair]]
    ) -> Repair | None:
        """The limit to keep to from now on; None where the last one has not been tried yet."""
        sent = self._tried
        model = sent.profile.name if sent else self._session.info.model
        head = sent.head if sent else 0
        if any(seq > head and limits(repair, model) for seq, repair in tried):
            return None
        profile = await self._profile(model)
        return shortened(cure.rule, told, sent.tokens if sent else 0, profile)

    async def _profile(self, model: str) -> Profile:
        """What is known of a model, and what its refusals in this session have taught."""
        profile = self._session.catalogue.profile(model)
        repairs = await self._taught()
        return limited(profile, bodies(repairs)) if repairs else profile

    async def _in_vain(self) -> list[tuple[int, Repair]]:
        """The repairs since the last reply: they have not helped yet, each with its place."""
        repairs = await self._taught()
        if not repairs:
            return []
        since = (Span(repairs[0].seq),)
        heads = await self._session.store.log.heads(self._session.id, since)
        last = max((head.seq for head in heads if head.role == "assistant"), default=0)
        entries = [entry for entry in repairs if entry.seq > last]
        return list(zip([entry.seq for entry in entries], bodies(entries), strict=True))

    async def _taught(self) -> tuple[Entry, ...]:
        """The repairs in force, read again when a marker has been appended."""
        session = self._session
        if not session.info.last_marker:
            return ()
        if self._repairs[0] != (session.id, session.info.last_marker):
            found = await standing_repairs(session.store.log, await session.viewed())
            self._repairs = ((session.id, session.info.last_marker), found)
        return self._repairs[1]

    async def record(self, reply: Reply, format: str = "", *, key: str = "") -> ReplyEntry:
        """Append a decoded reply with its call; with a key, once however often it is told."""
        whole = reply.stop not in ("aborted", "error")
        session, sent = self._session, self._sent.get(format)
        call = self._call(reply, format, "done" if whole else "aborted")
        draft = session.draft(
            reply.message,
            provider=reply.provider,
            model=call.model,
            request=reply.request,
            completed=whole,
        )
        entry = await session.put(draft, key=key, call=replace(call, entry=draft.id))
        if entry.id == draft.id:  # one that is told again answers no request that waits
            self._sent = {}
            if sent:
                await apply(session, sent, reply, entry)
        return ReplyEntry.of(entry, usage=reply.usage, stop=reply.stop)

    async def failed(self, reply: Reply, format: str) -> None:
        """Keep the row of a call that brought no word: it may have been paid for all the same."""
        await record_call(self._session, self._call(reply, format, "failed"))

    def _call(self, reply: Reply, format: str, outcome: Outcome) -> Call:
        session, sent = self._session, self._sent.get(format)
        model = reply.model or (sent.window.window.model if sent else "") or session.info.model
        profile = session.catalogue.profile(model) if model else None
        started = sent.started if sent else session.now()
        call = call_record(
            session, reply, profile, cause=session.cause, started=started, outcome=outcome
        )
        content = wire.digest(wire.encode(reply.message)).hex()
        call = replace(call, model=model, content=content)
        return _of_request(call, sent, edited=bool(reply.edits)) if sent else call


def _of_request(call: Call, sent: Sent, *, edited: bool) -> Call:
    """The row of a call with the request it was made by."""
    return replace(
        call,
        request_hash=sent.window.hash(sent.format, sent.options),
        format=sent.format,
        given=sent.window.given,
        options=to_builtins(sent.options),
        estimated=0 if edited else sent.window.estimated,
        head=sent.window.head,
        epoch=sent.window.folded.epoch,
    )


def _name(asking: Asking) -> str:
    return str(asking.get("policy", ""))


def _asked(
    session: AsyncSession,
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
) -> tuple[Given, dict[str, str], Sequence[Source], tuple[Tool, ...]]:
    """What was given for a window: for itself, by section, whom to ask, which tools may wait."""
    given = Given(
        system=system,
        tools=read_tools(tools),
        examples=tuple(typed(one, Message) for one in examples),
        chat_files=chat_files,
        reminder=reminder,
        model=model or session.info.model,
        policy=str(policy) or session.info.policy,
        max_tokens=_reply_of(max_tokens),
    )
    texts = named(sections or {})
    texts |= {"instructions": instructions} if instructions else {}
    texts |= {"memory": memory} if memory else {}
    if context:
        texts["context"] = written(context)
    return given, texts, sources, read_tools(deferrable_tools)


def _reply_of(max_tokens: object) -> int:
    if type(max_tokens) is not int or max_tokens < 0:
        raise InvalidRequest(
            f"max_tokens={max_tokens!r} is no length of a reply; give a whole number of tokens, or "
            "0 for what the policy reserves"
        )
    return max_tokens


async def _fitting(turn: Preparation, policy: Policy, *, write: bool, compact: bool) -> Prepared:
    """What is prepared, where it fits or need not."""
    ready = await turn.window(write=write, compact=compact)
    if ready.window.over and compact and policy.makes_room:
        raise floor_error(ready.window)
    return ready
