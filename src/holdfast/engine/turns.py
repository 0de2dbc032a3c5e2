"""A session's turns: the window to send, and the reply that came back."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Unpack

from msgspec import to_builtins
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
from holdfast.core.secrets import redact
from holdfast.engine.calls.last_call import given_now
from holdfast.engine.calls.learned_limits import bodies
from holdfast.engine.calls.record import call_record, record_call
from holdfast.engine.calls.response import read_reply
from holdfast.engine.compaction.provider_edits import apply
from holdfast.engine.loading import standing_repairs
from holdfast.engine.window import sections, tool_deferral
from holdfast.engine.window.over_budget import reply_fits
from holdfast.engine.window.preparation import prepare
from holdfast.engine.window.prepared_window import PreparedWindow, SentRequest
from holdfast.engine.window.sections import Asking, Inputs, read_inputs
from holdfast.engine.window.turn_state import TurnState, reserving
from holdfast.errors import AssumedModel, InvalidRequest
from holdfast.files import config_home
from holdfast.model import wire
from holdfast.model.event import SessionBegan
from holdfast.model.log import Entry, Folded, Repair, ReplyEntry
from holdfast.model.profile import Profile
from holdfast.model.reply import Call, Outcome, Reply
from holdfast.model.span import Span
from holdfast.model.window import Options, Tool

if TYPE_CHECKING:
    from holdfast.engine.context import TurnContext


class Turns:
    """What a session does around a call of a model."""

    def __init__(self, session: TurnContext) -> None:
        self._session = session
        self._sent: dict[str, SentRequest] = {}
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

    async def window(self, **asking: Unpack[Asking]) -> PreparedWindow:
        """The window to send now."""
        session, turn = self._session, await self._turn(await self._inputs(asking, keep=True))
        compact = asking.get("compact", True)
        self._warn_assumed(turn.profile)
        if await self._switches(turn.given.model):
            await prepare(turn.preview(), compact=compact)  # it fits, or nothing is written
        made = await prepare(turn, compact=compact)
        if not self._begun and session.cause == "turn":
            self._begun = True
            session.watch.emit(SessionBegan(session=session.id, resumed=session.resumed))
        session.resumed = False
        made.on_request = partial(self._remember, made)
        self._tried = self._tried if self._sent else made
        return made

    async def preview(self, **asking: Unpack[Asking]) -> PreparedWindow:
        """The window that would be sent now, with nothing written."""
        turn = await self._turn(await self._inputs(asking))
        return await prepare(turn.preview(), compact=asking.get("compact", True))

    async def spared(self, **asking: Unpack[Asking]) -> PreparedWindow:
        """The window with all that fits, for an export; nothing is written."""
        turn = await self._turn(await self._inputs(asking))
        turn = TurnState(self._session, turn.given, turn.profile, sparing(turn.policy))
        return await prepare(turn.preview())

    async def turn(self, **asking: Unpack[Asking]) -> TurnState:
        """A turn before it is prepared; with nothing given, as the newest call was."""
        inputs = await self._inputs(asking)
        if not {name for name, value in asking.items() if value} - {"model", "policy"}:
            given = await given_now(self._session, asking.get("model", ""))
            given = replace(given, policy=inputs.given.policy)
            inputs = Inputs(given=given, texts=dict(given.sections))
        return await self._turn(inputs)

    async def _inputs(self, asking: Asking, *, keep: bool = False) -> Inputs:
        """What is given, a policy of the user's own by the name it is kept by."""
        if policy := asking.get("policy"):
            asking = {**asking, "policy": await self._session.kept_policy(policy, write=keep)}
        return read_inputs(self._session.info, **asking)

    async def _turn(self, inputs: Inputs) -> TurnState:
        session, given = self._session, inputs.given
        if not given.model:
            raise InvalidRequest("no model is named: give the session or the window one")
        profile = await self._profile(given.model)
        if given.max_tokens:
            reply_fits(profile, 0, given.max_tokens)
        policy = reserving(await session.policy(given.policy), given.max_tokens)
        if inputs.deferrable:
            given = await tool_deferral.offered(session, given, inputs.deferrable, profile, policy)
            self.deferred = given.deferred
        given = await sections.completed(given, inputs.texts, inputs.sources, profile, policy)
        return TurnState(session, given, profile, policy)

    async def pin_allowance(self) -> int:
        """What pins may take; 0 where no model says how much there is."""
        if not self._session.info.model:
            return 0
        return (await (await self.turn()).around(Folded()))[1].pins

    async def _switches(self, model: str) -> bool:
        """Whether a window for this model is a change of model, as far as this writer knows."""
        info = self._session.info
        if self._led[0] != (info.id, info.last_marker):
            led = info.model
            if info.last_marker:
                led = await sections.led_by(self._session.store.log, await self._session.viewed())
            self._led = ((info.id, info.last_marker), led)
        return model.lower() != self._led[1].lower()

    def _warn_assumed(self, profile: Profile) -> None:
        """Warn once of a model whose window is only assumed."""
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

    def _remember(self, window: PreparedWindow, format: str, options: Options, hash: str) -> None:
        now = self._session.now()
        sent = SentRequest(format=format, options=options, window=window, hash=hash, started=now)
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
            if sent and (reply.edits or reply.compaction is not None):
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


def _of_request(call: Call, sent: SentRequest, *, edited: bool) -> Call:
    """The row of a call with the request it was made by."""
    return replace(
        call,
        request_hash=sent.hash,
        format=sent.format,
        given=sent.window.given,
        options=to_builtins(sent.options),
        estimated=0 if edited else sent.window.estimated,
        head=sent.window.head,
        epoch=sent.window.folded.epoch,
    )
