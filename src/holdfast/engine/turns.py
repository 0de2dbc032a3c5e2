"""A session's turns: the window to send, and the reply that came back."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, TypedDict

from msgspec import Struct, to_builtins

from holdfast.core.limits import limit_in
from holdfast.core.price import cost
from holdfast.core.refusal import remedy
from holdfast.core.secrets import redact
from holdfast.engine import surround
from holdfast.engine.prepare import Preparation, floor_error
from holdfast.engine.replies import read_reply
from holdfast.engine.surround import Given
from holdfast.engine.window import PreparedWindow
from holdfast.errors import AssumedModel, Misuse
from holdfast.files import config_home
from holdfast.model import wire
from holdfast.model.log import Entry, Repair
from holdfast.model.message import Message
from holdfast.model.profile import Profile
from holdfast.model.reply import Call, Reply
from holdfast.model.window import Options, Tool

if TYPE_CHECKING:
    from holdfast.engine.session import OpenSession
    from holdfast.ports import Source


class Asking(TypedDict, total=False):
    """What can be given for a window; every name may be left out."""

    system: str
    tools: Sequence[Tool | Mapping[str, Any]]
    """Ours, or as any of the wire formats writes them."""
    model: str
    policy: str
    context: Mapping[str, str]
    """Volatile facts such as cwd and date; what changes is told at the tail."""
    instructions: str
    memory: str
    examples: Sequence[Message]
    chat_files: str
    reminder: str
    sources: Sequence[Source]
    compact: bool
    """Whether it may be made to fit; otherwise `over` says by how much it does not."""


class Sent(Struct, frozen=True, kw_only=True):
    """What is remembered of a request until its reply comes."""

    format: str
    body: bytes
    """The request as it was made: whoever sends it may change theirs."""
    options: Options
    window: Any
    started: int


class Turns:
    """What a session does around a call of a model."""

    def __init__(self, session: OpenSession) -> None:
        self._session = session
        self._sent: dict[str, Sent] = {}
        """The newest request of each format, until a reply comes."""
        self._assumed: set[str] = set()
        """Models that were told to be unknown."""

    async def window(
        self,
        *,
        system: str = "",
        tools: Sequence[Tool | Mapping[str, Any]] = (),
        model: str = "",
        policy: str = "",
        context: Mapping[str, str] | None = None,
        instructions: str = "",
        memory: str = "",
        examples: Sequence[Message] = (),
        chat_files: str = "",
        reminder: str = "",
        sources: Sequence[Source] = (),
        compact: bool = True,
        write: bool = True,
    ) -> PreparedWindow:
        """The window to send now."""
        session = self._session
        given = Given(
            system=system,
            tools=surround.read_tools(tools),
            examples=tuple(examples),
            chat_files=chat_files,
            reminder=reminder,
            model=model or session.info.model,
            policy=policy or session.info.policy,
        )
        sections = {"instructions": instructions, "memory": memory}
        if context:
            sections["context"] = surround.written(context)
        return await self._prepared(given, sections, sources, compact=compact, write=write)

    async def _prepared(
        self,
        given: Given,
        sections: dict[str, str],
        sources: Sequence[Source],
        *,
        compact: bool,
        write: bool,
    ) -> PreparedWindow:
        session = self._session
        if not given.model:
            raise Misuse("no model is named: give the session or the window one")
        profile = session.catalogue.profile(given.model)
        if write:
            self._tell_assumed(profile)
        policy = session.catalogue.policy(given.policy)
        given = await surround.completed(given, sections, sources, profile, policy)
        turn = Preparation(session, given, profile, policy)
        ready = await turn.window(write=write, compact=compact)
        if ready.window.over and compact and not policy.asks_before_overlong:
            raise floor_error(ready.window)
        kept = await session.store.calls.keep(session.id, wire.encode(given)) if write else ""
        made = PreparedWindow(
            ready.window,
            profile,
            folded=ready.view.folded,
            head=ready.view.last,
            estimated=ready.estimated,
            fixes=ready.fixed.fixes,
            given=kept,
        )
        if write:
            made.on_request = partial(self._remember, made)
        return made

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

    def _remember(self, window: PreparedWindow, format: str, body: bytes, options: Options) -> None:
        now = self._session.now()
        sent = Sent(format=format, body=body, options=options, window=window, started=now)
        self._sent = {**self._sent, format: sent}

    async def reply(self, response: Any, *, format: str = "") -> Entry:
        """Append what a provider answered: parts verbatim, usage and cost, in one go."""
        reply, found = read_reply(response, format)
        return await self.record(reply, found)

    async def refused(self, message: str, *, provider: str = "") -> Entry | None:
        """A provider refused the request: remember what is to be sent differently from now on.

        None where nothing is known to help. Prepare the window again and send it once more.
        """
        cure = remedy(message)
        if cure is None:
            return None
        session = self._session
        if cure.action == "shorter" and (limit := limit_in(message)):
            session.catalogue.learn(session.info.model, window=limit)
        told = redact(message[:2_000], session.secrets)
        return await session.append(
            Repair(rule=cure.rule, action=cure.action, owner=provider, reason=told)
        )

    async def record(self, reply: Reply, format: str = "") -> Entry:
        """Append a decoded reply with its call."""
        session, sent = self._session, self._sent.get(format)
        self._sent = {}
        now = session.now()
        model = reply.model or session.info.model
        profile = session.catalogue.profile(model) if model else None
        call = Call(
            id=session.new_id(),
            session=session.id,
            started=sent.started if sent else now,
            ended=now,
            provider=reply.provider,
            model=model,
            request=reply.request,
            usage=reply.usage,
            iterations=reply.iterations,
            cost=cost(reply.usage, profile) if profile else None,
            price_version=profile.price_version if profile else "",
            outcome="aborted" if reply.stop == "aborted" else "done",
            stop=reply.stop,
            request_hash=wire.digest(sent.body).hex() if sent else "",
            format=sent.format if sent else "",
            given=sent.window.given if sent else "",
            options=to_builtins(sent.options) if sent else {},
            estimated=sent.window.estimated if sent else 0,
            head=sent.window.head if sent else 0,
            epoch=sent.window.folded.epoch if sent else 0,
        )
        return await session.append(
            reply.message,
            provider=reply.provider,
            model=model,
            request=reply.request,
            completed=reply.stop != "aborted",
            call=call,
        )
