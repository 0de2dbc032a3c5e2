"""Exporting: reading a session and having it written in another form, piece by piece.

Rule 1: an export shows the session as it is when it begins; what comes later is not in it.
Rule 2: what looks like a secret is masked, unless everything is asked for.
Rule 3: every export says at its end what it carries and what it does not.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import suppress
from types import ModuleType
from typing import TYPE_CHECKING, Any

from msgspec import Struct
from msgspec.structs import replace

from holdfast.core.compaction.clear import is_thought
from holdfast.core.secrets import masked
from holdfast.engine import loading
from holdfast.engine.calls.last_call import given_now
from holdfast.engine.compaction.stored_policies import hash_in
from holdfast.engine.exporting.fidelity import stated
from holdfast.engine.window.prepared_window import PreparedWindow
from holdfast.engine.workspace.prompts import foreign_snapshots
from holdfast.errors import InvalidRequest, NotFound
from holdfast.exporters import claude_code, codex, html, markdown, portable
from holdfast.exporters.fidelity import honest, many, said
from holdfast.exporters.native import Live
from holdfast.exporters.readable import Calls
from holdfast.model import wire
from holdfast.model.log import Entry, SessionInfo, Summary
from holdfast.model.message import Media, Message, Record
from holdfast.model.portable import Fidelity
from holdfast.model.reply import Call
from holdfast.model.span import Span, within
from holdfast.model.view import View

if TYPE_CHECKING:
    from holdfast.engine.context import SessionContext
    from holdfast.engine.turns import Turns

PAGES: dict[str, ModuleType] = {"markdown": markdown, "html": html}
REQUESTS = ("anthropic", "openai-responses", "openai-chat")
PROGRAMS = {"claude-code": "anthropic", "codex": "openai-responses"}
"""The programs whose session files can be written, and how their items are written."""

FORMATS = ("portable", *PAGES, *PROGRAMS, *REQUESTS)

OWN = {"anthropic": "anthropic", "openai-responses": "openai"}
"""Whose models a wire format is spoken by."""
OTHERS = frozenset({"anthropic", "google"})
"""Whose models have a wire format of their own, and are not asked in the third one."""

MODELS = {
    "anthropic": "claude-sonnet-4-6",
    "openai-responses": "gpt-5.1",
    "openai-chat": "gpt-4.1",
}
"""Whom a request is made for where the session's own model does not speak its format."""

CONVERSATION = frozenset({"pins", "kept", "summary", "history", "current"})
"""The sections that a program's own session holds; it has a system prompt and tools of its own."""
BESIDE = "of the program it was imported from, beside the conversation"
SURROUNDINGS = "the system prompt, instructions and tools: the program has its own"

LONGEST = 200
"""How many letters of the words that a session begins with are its title."""


class Exported(Struct, frozen=True, kw_only=True):
    """A session in another form, and what that carries of it."""

    data: bytes
    fidelity: Fidelity


async def exported(exporting: Exporting) -> Exported:
    """A whole export at once."""
    data = b"".join([chunk async for chunk in exporting.chunks()])
    return Exported(data=data, fidelity=exporting.fidelity)


async def entitled(session: SessionContext, info: SessionInfo, *, raw: bool) -> SessionInfo:
    """What a session is, under the words it begins with where it has no title.

    Secrets are masked before anything is cut: half a key is not known as one.
    """
    words = info.title or await loading.opening(session.store.log, info.id)
    title = " ".join((words if raw else masked(words)).split())
    title = title if len(title) <= LONGEST else f"{title[: LONGEST - 1]}…"
    return replace(info if raw else masked(info), title=title)


class Exporting:
    """One session on its way out."""

    def __init__(
        self,
        session: SessionContext,
        turns: Turns,
        format: str,
        *,
        model: str = "",
        raw: bool = False,
        boundaries: bool = False,
    ) -> None:
        if format not in FORMATS:
            raise InvalidRequest(
                f"there is no export to {format!r}; name one of {', '.join(FORMATS)}"
            )
        self._session, self._turns, self._format = session, turns, format
        self._model, self._raw = model, raw
        self.boundaries = boundaries
        """Whether each compaction is to have a line of its own, behind the session."""
        self.fidelity = Fidelity(carried=())
        """What was carried, once everything is read."""

    def chunks(self) -> AsyncIterator[bytes]:
        """The export, piece by piece."""
        if self._format == "portable":
            return self._portable()
        if self._format in PAGES:
            return self._pages(PAGES[self._format])
        return self._written()

    async def _portable(self) -> AsyncIterator[bytes]:
        view = await self._session.view()
        log, info = self._session.store.log, view.session
        made = portable.Portable(info, raw=self._raw)
        yield made.begin()
        async for page in loading.pages(log, info.id, (Span(1, info.head),), bare=False):
            yield made.messages(page)
        markers = [one for one in await loading.every_marker(log, info.id) if one.seq <= info.head]
        yield made.markers(markers, view.folded)
        given, renamed = made.given(await self._given(info))
        async for calls in self._calls(info):
            yield made.calls(calls, renamed)
        self.fidelity = made.fidelity()
        yield made.end(given)
        if self.boundaries:
            yield made.lines()

    async def _calls(self, info: SessionInfo) -> AsyncIterator[tuple[Call, ...]]:
        after = ""
        while page := await self._session.store.calls.calls(info.id, after=after):
            yield page
            after = page[-1].id

    async def _given(self, info: SessionInfo) -> dict[str, bytes]:
        """What its calls were given, each once."""
        names: set[str] = set()
        async for page in self._calls(info):
            names |= {call.given for call in page if call.given}
        names |= {hash for hash in (hash_in(info.policy),) if hash}
        given: dict[str, bytes] = {}
        for name in sorted(names):
            with suppress(NotFound):  # `holdfast doctor` tells what is missing
                given[name] = await self._session.store.calls.kept(info.id, name)
        return given

    async def _pages(self, written: ModuleType) -> AsyncIterator[bytes]:
        view = await self._session.view()
        log, info = self._session.store.log, view.session
        count = _Count()
        yield _bytes(written.begin(await entitled(self._session, info, raw=self._raw)))
        calls = Calls()
        async for page in loading.pages(log, info.id, (Span(1, info.head),), bare=False):
            told = [(self._clean(calls.named(one)), within(one.seq, view.seen)) for one in page]
            count.take(page)
            yield _bytes("".join(written.entry(one, visible=seen) for one, seen in told))
        self.fidelity = honest(*count.told(), raw=self._raw)
        yield _bytes(written.end(self.fidelity))

    async def _written(self) -> AsyncIterator[bytes]:
        """A request, or the file of another program."""
        if self._format in REQUESTS:
            window, view = await self._window(self._format, bare=False)
            request = self._clean(window.request(self._format))
            told = await self._stated(window, view, request)
            self.fidelity = honest(*told, raw=self._raw)
            yield wire.encode(request) + b"\n"
            return
        live = await self.live()
        written = {"claude-code": claude_code.export, "codex": codex.export}[self._format]
        yield written(live, self.fidelity)

    async def live(self, preface: str = "") -> Live:
        """The live window as a program's own session holds it, behind what is said before it."""
        format = PROGRAMS[self._format]
        window, view = await self._window(format, bare=True, preface=preface)
        request = self._clean(window.request(format))
        items = request["messages" if format == "anthropic" else "input"]
        summaries = await loading.summaries(self._session.store.log, view)
        bodies = [one.body for one in summaries if isinstance(one.body, Summary)]
        texts = [part for block in window.blocks if block.section == "summary"
                 for part in block.parts]  # fmt: skip
        info = await entitled(self._session, view.session, raw=self._raw)
        carried, missing = await self._stated(window, view, request)
        theirs = [one for one in await foreign_snapshots(self._session) if one.agent == "codex"]
        theirs = theirs if self._format == "codex" else []
        if theirs:
            carried.append(f"{many(len(theirs), 'snapshot')} of files that Codex made, by name")
        self.fidelity = honest(carried, [*missing, SURROUNDINGS], raw=self._raw)
        return Live(
            session=info.id,
            head=info.head,
            directory=info.directory,
            title=info.title,
            model=window.profile.name,
            now=info.updated,
            items=(*_opening(format, preface), *items),
            summaries=tuple(self._clean(getattr(part, "text", "")) for part in texts),
            before=bodies[-1].tokens_before if bodies else 0,
            manual=bool(bodies) and bodies[-1].trigger == "manual",
            snapshots=tuple(self._clean(theirs)),
        )

    async def _window(
        self, format: str, *, bare: bool, preface: str = ""
    ) -> tuple[PreparedWindow, View]:
        """The window with all that fits; `bare` without what surrounds the conversation, but with
        room for what is said before it."""
        session = self._session
        model = self._model or await self._chosen(format)
        given = await given_now(session, model)
        if bare:
            made = await self._turns.spared(model=model, system=preface)
            kept = tuple(one for one in made.blocks if one.section in CONVERSATION)
            made = PreparedWindow(
                replace(made.window, blocks=kept), made.profile, folded=made.folded,
                head=made.head, estimated=made.estimated,
            )  # fmt: skip
        else:
            made = await self._turns.spared(
                model=model, system=given.system, tools=given.tools, examples=given.examples,
                instructions=given.sections.get("instructions", ""),
                memory=given.sections.get("memory", ""),
            )  # fmt: skip
        made.window = replace(made.window, blocks=self._clean(made.blocks))
        return made, await session.view()

    async def _chosen(self, format: str) -> str:
        """The session's own model where it speaks the format."""
        own = (await given_now(self._session)).model or self._session.info.model
        if not own:
            return MODELS[format]
        provider = self._session.catalogue.profile(own).provider
        fits = provider == OWN[format] if format in OWN else provider not in OTHERS
        return own if fits else MODELS[format]

    async def _stated(
        self, window: PreparedWindow, view: View, request: dict[str, Any]
    ) -> tuple[list[str], list[str]]:
        """What a request carries of what the session shows, and what it does not."""
        seen = [
            entry async for page in loading.seen(self._session.store.log, view) for entry in page
        ]
        told = stated(window, view, seen, request)
        return list(told.carried()), list(told.missing())

    def _clean(self, value: Any) -> Any:
        return value if self._raw else masked(value)


class _Count:
    """What is in a log, as it is read."""

    def __init__(self) -> None:
        self.messages = self.markers = self.media = self.records = self.sealed = 0

    def take(self, entries: tuple[Entry, ...]) -> None:
        for entry in entries:
            self.messages += entry.is_message
            self.markers += not entry.is_message
            for part in _parts(entry):
                self.media += isinstance(part, Media) + len(getattr(part, "media", ()))
                self.records += isinstance(part, Record)
                self.sealed += is_thought(part) and not getattr(part, "text", "")

    def told(self) -> tuple[list[str], list[str]]:
        """What a page shows of it, and what it does not."""
        carried = [f"{said(self.messages, self.markers)}, in their order"]
        missing = ["signatures, and what model calls were given, used and cost"]
        if self.sealed:
            sealed = many(self.sealed, "encrypted thought")
            missing.append(f"{sealed}, which only the provider can read")
        if self.media:
            missing.append(
                f"{many(self.media, 'picture or document', 'pictures or documents')}, only named"
            )
        if self.records:
            missing.append(f"{many(self.records, 'record')} {BESIDE}")
        return carried, missing


def _parts(entry: Entry) -> tuple[Any, ...]:
    return entry.body.parts if isinstance(entry.body, Message) else ()


def _opening(format: str, text: str) -> list[dict[str, Any]]:
    """What is said before the conversation, as a user's message."""
    if not text:
        return []
    kind = "text" if format == "anthropic" else "input_text"
    said: dict[str, Any] = {"role": "user", "content": [{"type": kind, "text": text}]}
    return [said if format == "anthropic" else {"type": "message", **said}]


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "replace")
