"""One open session: appending to it, seeing it, forking it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Coroutine, Mapping
from os import PathLike
from typing import TYPE_CHECKING, Any, Unpack, cast

from msgspec.structs import replace

from holdfast.core.log.tool_calls import ToolState, tool_states
from holdfast.core.log.validate import text, typed
from holdfast.core.secrets import redact
from holdfast.engine import loading
from holdfast.engine.arguments import checks_arguments
from holdfast.engine.calls.response import is_stream
from holdfast.engine.calls.stream import OnDelta
from holdfast.engine.compaction.hooks import Ahead, CompactionHooks
from holdfast.engine.inspect.lookup import entry_at, seq_of
from holdfast.engine.lazy import later
from holdfast.engine.window.message_cache import MessageCache
from holdfast.engine.writer import OnConflict, SpendingWriter
from holdfast.errors import InvalidRequest, NotFound
from holdfast.model.ledger import Effort, Ledger, Report
from holdfast.model.log import Entry, ReplyEntry, SessionInfo, Switch
from holdfast.model.message import Media, ToolCall, ToolResult, tool, user
from holdfast.model.plan import Plan
from holdfast.model.policy import Policy
from holdfast.model.reply import Call, Reply
from holdfast.model.span import EVERYTHING, Span
from holdfast.model.store import Changes
from holdfast.model.view import View
from holdfast.model.window import BudgetSnapshot
from holdfast.model.workspace import FileDiff, ForeignSnapshot, Prompt, RestorePlan
from holdfast.ports import Catalogue, Counter, Provider

if TYPE_CHECKING:
    from holdfast.core.window.explain import Absence
    from holdfast.engine import turns, turns_back
    from holdfast.engine.calls import keep_warm, send, stream
    from holdfast.engine.compaction import forecast, plans
    from holdfast.engine.compaction.forecast import Foreseen
    from holdfast.engine.context import EngineContext
    from holdfast.engine.inspect import explain, ledger, recall
    from holdfast.engine.inspect.explain import Explained
    from holdfast.engine.inspect.ledger import Ledgers
    from holdfast.engine.inspect.recall import Recalled
    from holdfast.engine.knowledge.notes import Memory
    from holdfast.engine.turns import Turns
    from holdfast.engine.usage import status_line
    from holdfast.engine.window import pins, sections, tool_deferral
    from holdfast.engine.window.prepared_window import PreparedWindow
    from holdfast.engine.window.sections import Asking
    from holdfast.engine.workspace import prompts, workspaces
    from holdfast.engine.workspace import rewind as rewinding
    from holdfast.engine.workspace.workspaces import AsyncWorkspace
else:  # what prepares and explains windows is most of the engine, and waits for the first turn
    sections = later("holdfast.engine.window.sections")
    tool_deferral, explain = (
        later("holdfast.engine.window.tool_deferral"),
        later("holdfast.engine.inspect.explain"),
    )
    forecast = later("holdfast.engine.compaction.forecast")
    pins = later("holdfast.engine.window.pins")
    plans, recall = (
        later("holdfast.engine.compaction.plans"),
        later("holdfast.engine.inspect.recall"),
    )
    ledger, send = later("holdfast.engine.inspect.ledger"), later("holdfast.engine.calls.send")
    status_line, stream = (
        later("holdfast.engine.usage.status_line"),
        later("holdfast.engine.calls.stream"),
    )
    rewinding = later("holdfast.engine.workspace.rewind")
    prompts, workspaces = (
        later("holdfast.engine.workspace.prompts"),
        later("holdfast.engine.workspace.workspaces"),
    )
    turns_back = later("holdfast.engine.turns_back")
    turns, keep_warm = later("holdfast.engine.turns"), later("holdfast.engine.calls.keep_warm")


NO_UPKEEP = CompactionHooks()

NOTHING: Mapping[str, str] = {}


@checks_arguments
class AsyncSession(SpendingWriter):
    """A session as one writer holds it: seen, prepared for a model, explained, forked."""

    def __init__(
        self,
        engine: EngineContext,
        session: SessionInfo,
        on_conflict: OnConflict = "append",
        spent: int = 0,
        upkeep: CompactionHooks = NO_UPKEEP,
    ) -> None:
        super().__init__(engine, session, on_conflict, spent)
        self.message_cache = MessageCache(engine.store)
        self._viewed: View | None = None
        self.before_fork: tuple[tuple[str, int], Effort] = (("", 0), Effort())
        """What had been done where the session was forked, once that is known."""
        self._turns: Turns | None = None
        self._ledgers: Ledgers | None = None
        self._catalogue: Catalogue | None = None
        self._policies: dict[str, Policy] = {}
        self.upkeep = upkeep
        self.ahead = Ahead()
        self.viewed = self._view
        self.resumed = session.head > 0
        """Whether it was there before, and no window has been prepared since it was opened."""
        self.cause = "turn"
        """Why its calls are made, as their rows say."""
        self.spawn, self.pause = engine.spawn, engine.pause
        self.aside, self.new_lock, self.directories = engine.aside, engine.lock, engine.directories
        self.again, self.kept_policy = self._again, self._kept_policy

    @property
    def inner(self) -> AsyncSession:
        """The session itself, as the blocking door has it too."""
        return self

    @property
    def turns(self) -> Turns:
        """What it does around a call of a model."""
        if self._turns is None:
            self._turns = turns.Turns(self)
        return self._turns

    @property
    def ledgers(self) -> Ledgers:
        """The exact facts of it, at any entry."""
        if self._ledgers is None:
            self._ledgers = ledger.Ledgers(self.store, self.secrets)
        return self._ledgers

    async def _gather(self) -> None:
        """Gather the facts of what was appended, a slice of it at most."""
        await self.ledgers.catch_up(self.id, self.info.head)

    def _again(self) -> AsyncSession:
        """The same session as another writer holds it, for work beside the turns."""
        other = AsyncSession(self._engine, self._session, "raise", upkeep=self.upkeep)
        other._caps, other.payer = self._caps, self.payer
        return other

    @property
    def catalogue(self) -> Catalogue:
        """What is known of models and policies."""
        if self._catalogue is None:
            self._catalogue = self._engine.catalogue
        return self._catalogue

    @property
    def endpoint(self) -> Counter | None:
        """Counts for a provider by asking it, where that was configured."""
        return self._engine.endpoint

    def counter(self, vocabulary: str) -> Counter:
        """What counts exactly with a vocabulary."""
        return self._engine.counter(vocabulary)

    async def window(self, **given: Unpack[Asking]) -> PreparedWindow:
        """The window to send now, made to fit."""
        return await self.turns.window(**given)

    async def preview(self, **given: Unpack[Asking]) -> PreparedWindow:
        """The window that would be sent now, with nothing written."""
        return await self.turns.preview(**given)

    async def reply(
        self,
        response: Any,
        *,
        on_delta: OnDelta | None = None,
        format: str = "",
        key: str = "",
    ) -> ReplyEntry:
        """Append what a provider answered, whole or as it streams: parts verbatim, usage and cost.

        `on_delta` is called with each piece of a stream, and awaited where it is a coroutine. A
        stream that breaks off is kept as far as it came.
        A `Reply` that was read elsewhere is taken as it is.
        """
        if isinstance(response, Reply):
            return await self.turns.record(typed(response, Reply), format, key=key)
        if is_stream(response):
            return await stream.listen(self, self.turns, response, on_delta, format=format, key=key)
        return await self.turns.reply(response, format=format, key=key)

    async def send(
        self,
        provider: Provider,
        on_delta: OnDelta | None = None,
        options: dict[str, Any] | None = None,
        confirm: Callable[[str], bool] | None = None,
        **given: Unpack[Asking],
    ) -> ReplyEntry:
        """Prepare the window, send it to a provider, and append what comes back as it streams.

        `confirm` is asked where a policy has the user asked before more is sent than fits.
        """
        return await send.send(self, self.turns, provider, on_delta, options, confirm, **given)

    def set_weak_model(self, model: str) -> None:
        """Have another model write summaries first; empty for none. It holds while this is open."""
        self.upkeep = replace(self.upkeep, weak_model=model)

    async def learn_refusal(self, message: str, *, provider: str = "") -> Entry | None:
        """A provider refused the request: remember what is to be sent differently from now on."""
        return await self.turns.refused(message, provider=provider)

    async def plan(
        self,
        *,
        focus: str = "",
        since: str | int = "",
        upto: str | int = "",
        **given: Unpack[Asking],
    ) -> Plan:
        """What a compaction would do now, its summary written; nothing is changed yet.

        `since` covers only what was said from that entry on, `upto` only what was said up to it.
        """
        return await plans.plan(self, self.turns, focus=focus, since=since, upto=upto, **given)

    async def apply(self, plan: Plan) -> Entry:
        """Carry a plan out, edited or not; undo() takes it back."""
        return await plans.apply(self, self.turns, plan)

    async def undo(self, marker: str | int = "", *, resolve: Mapping[str, str] = NOTHING) -> Entry:
        """Take back the newest compaction or rewind, or the one named, files included."""
        return await plans.undo(self, marker, resolve)

    async def redo(self, marker: str | int = "", *, resolve: Mapping[str, str] = NOTHING) -> Entry:
        """Do again what was undone last."""
        return await plans.redo(self, marker, resolve)

    async def ledger(self) -> Ledger:
        """The exact facts of the session, computed from its log."""
        return await ledger.current(self.ledgers, self.store.log, await self.view())

    async def retention(self, marker: str | int = "") -> Report:
        """What a summary that stands kept of every item of the ledger; of the newest, if none is
        named."""
        named = await self.entry(marker) if marker != "" else None
        return await ledger.retained(self.store.log, await self.view(), named)

    async def recall(self, handle: str | int, *, offset: int = 0, tokens: int = 0) -> Recalled:
        """What a handle stands for, word for word, within a budget."""
        return await recall.recall(self, handle, offset=offset, tokens=tokens)

    async def search_history(self, query: str, limit: int = 8) -> str:
        """What was said in this session, also what is no longer shown: a handle and a line each."""
        return await recall.search_history(self, query, limit)

    async def run_context_tool(self, call: ToolCall) -> ToolResult | None:
        """What recall, search_history or tool_search answers; None where it is another tool's."""
        call = typed(call, ToolCall)
        return await recall.answer(self, call) or await tool_deferral.answer(
            self, self.turns.deferred, call
        )

    async def pin(self, what: str | int = "", *, fact: str = "", path: str = "") -> Entry:
        """Keep an entry, a fact or a file in every window from here on."""
        return await pins.pin(self, what, fact=fact, path=path, most=self.turns.pin_allowance)

    async def unpin(self, pin: str | int) -> Entry:
        """Let a pin go; it is named by its marker's id, or by what it pins."""
        return await pins.unpin(self, pin)

    async def policy(self, name: str = "") -> Policy:
        """A policy by its name, as this session keeps it; its own where none is named."""
        name = name or self._session.policy
        if known := self._policies.get(name):
            return known
        await self._engine.kept_policies.load(self.store, self.id, name)
        found = self.catalogue.policy(name)
        if not name.endswith(".toml"):  # what is not a file never changes
            self._policies[name] = found
        return found

    async def _kept_policy(self, named: str | Policy, *, write: bool = True) -> str:
        """The name to know a policy by; one of the user's own is kept by its content."""
        kept = self._engine.kept_policies
        if write:
            return await kept.keep(self.store, self.id, named, self.catalogue)
        return kept.named(named, self.catalogue)[0]

    async def set_policy(self, name: str | Policy) -> Entry:
        """Manage it by another policy from here on: a name, the path of a file, or a Policy.

        One of the user's own is kept by its content. What an import has brought along comes into
        force by its name, `NAME@sha256:…`.
        """
        if not name:
            raise InvalidRequest("set_policy takes a name; `holdfast policy list` has them")
        name = await self._kept_policy(name)
        await self.policy(name)
        marker = await self.append(Switch(policy=name))
        await self._set(Changes(policy=name))
        return marker

    async def set_model(self, name: str) -> SessionInfo:
        """Have it led by another model, where none is named for a window."""
        name = text(name, "a model")
        if marker := await sections.wanted(self.store.log, await self.view(), name):
            await self.append_all(marker)
        return await self._set(Changes(model=name))

    def user(self, text: str, *media: Media, key: str = "") -> Coroutine[Any, Any, Entry]:
        """Append what the user said; durable when it returns."""
        return self.append(user(text, *media), key=key)

    async def tool_result(
        self, call_id: str, output: str, error: bool = False, *, name: str = "", key: str = ""
    ) -> Entry:
        """Append what a tool answered."""
        return await self.append(tool(ToolResult(call_id, output, error, name)), key=key)

    async def rewind_turns(self, turns: int) -> Entry:
        """Take back the user's last turns; undo() brings them back, and files stay as they are."""
        at = await turns_back.before_turns(self, turns)
        return await self.rewind(at, f"{turns} turns taken back")

    async def rewind(
        self,
        to: str | int,
        reason: str = "",
        *,
        restore: str = "conversation",
        resolve: Mapping[str, str] = NOTHING,
    ) -> Entry:
        """Go on from an earlier entry; what came after it stays in the log as a branch.

        `restore` may be "conversation", "code" (the files alone) or "both". Files that somebody
        else changed stop it with FilesChanged; `resolve` says of each path, or of "*", whether to
        "keep" it as it is or to "restore" it. undo() takes all of it back.
        """
        return await rewinding.rewind(self, to, reason, restore, resolve)

    async def preview_rewind(self, to: str | int) -> RestorePlan:
        """What putting the files back to an entry would do; nothing is done."""
        return await rewinding.preview(self, to)

    async def prompts(self) -> tuple[Prompt, ...]:
        """What the user said and is in force, with what came of each in files."""
        return await prompts.prompts(self)

    async def foreign_snapshots(self) -> tuple[ForeignSnapshot, ...]:
        """What the program it was imported from recorded of files; it cannot be put back here."""
        return await prompts.foreign_snapshots(self)

    async def diff(self, since: str | int = "", upto: str | int = "") -> tuple[FileDiff, ...]:
        """What the agent did to files, from one prompt on, up to and with another."""
        return await prompts.diff(self, since, upto)

    def workspace(self, directory: str | PathLike[str] = "") -> AsyncWorkspace:
        """Records what is done in a directory, so that it can be shown and taken back."""
        return workspaces.AsyncWorkspace(self, str(directory))

    async def view(self, at: str | int = "") -> View:
        """What is visible now, or as it was at an entry."""
        await self.refresh()
        if at != "":
            return await loading.view(
                self._engine.store.log, self._session, await seq_of(self, at, least=0)
            )
        return await self._view()

    async def _view(self) -> View:
        """What is visible at the newest entry this writer has seen, without looking again."""
        now, known = self._session, self._viewed
        if known is None or (known.session.id, known.last) != (now.id, now.head):
            known = await loading.view(self._engine.store.log, now)
        # What stands at an entry never changes; only the row of the session may.
        self._viewed = known if known.session is now else replace(known, session=now)
        return self._viewed

    async def visible(self, at: str | int = "") -> AsyncIterator[Entry]:
        """The visible messages and the summaries that stand for the rest, in order."""
        async for page in self.visible_pages(at):
            for entry in page:
                yield entry

    async def visible_pages(self, at: str | int = "") -> AsyncIterator[list[Entry]]:
        """The same, page by page."""
        view = await self.view(at)
        async for page in loading.seen(self._engine.store.log, view):
            yield page

    async def entries(self) -> AsyncIterator[Entry]:
        """The whole log, in order."""
        async for page in self.pages():
            for entry in page:
                yield entry

    async def pages(self) -> AsyncIterator[tuple[Entry, ...]]:
        """The whole log, page by page."""
        async for page in loading.pages(self._engine.store.log, self.id, EVERYTHING, bare=False):
            yield page

    async def tool_states(self) -> dict[str, ToolState]:
        """Where each visible tool call stands."""
        return tool_states([entry async for entry in self.visible()])

    async def seq(self, entry: str | int) -> int:
        """The place of an entry, given its id, its number, #number or the handle of a part."""
        return await seq_of(self, entry)

    async def entry(self, id: str | int) -> Entry:
        """One entry, given its id, its number, #number or the handle of a part."""
        return await entry_at(self, id)

    async def explain(
        self, entry: str | int = "", *, against: str | int = "", **given: Unpack[Asking]
    ) -> Explained:
        """What the call behind an entry had in front of it, and why; or what would be sent now.

        With `against`, the entry of another call, also where the two requests part.
        """
        return await explain.explain_session(self, self.turns, entry, against, **given)

    async def warm_in(self) -> int | None:
        """In how many ms its cache is to be kept warm, as its policy says; None where it is not."""
        found = await keep_warm.due(self)
        return found.wait if found else None

    async def keep_warm(self, provider: Provider) -> Call | None:
        """Read what the provider has cached once more, where that is due; the call, if any."""
        return await keep_warm.keep_warm(self, provider)

    async def status(self) -> dict[str, Any]:
        """The state of its window and its cost, in the words of status-line scripts."""
        return await status_line.status(self)

    async def snapshot(self) -> BudgetSnapshot:
        """The state of the window for display, as of the last call."""
        return await status_line.snapshot(self)

    async def explain_now(self, model: str = "") -> Explained:
        """What would be sent now, with the system prompt and tools of the newest call."""
        return await explain.explain_now(self, model)

    async def next_summary(self, model: str = "") -> Foreseen | None:
        """The summary that the next turn would have a model write; None where none is due."""
        return await forecast.foreseen(self, model)

    async def why_absent(self, entry: str | int) -> Absence:
        """Which marker keeps an entry out of the window."""
        return await explain.why_absent(self, entry)

    async def size(self) -> int:
        """How many bytes its own entries hold, without what it shares with its parent."""
        total, last = 0, self._session.head
        while last > self._session.fork:
            spans = (Span(self._session.fork + 1, last),)
            heads = await self._engine.store.log.heads(self.id, spans)
            total += sum(sum(head.sizes) for head in heads)
            last = heads[0].seq - 1 if heads else 0
        return total

    async def fork(self, at: str | int = "") -> AsyncSession:
        """A session of its own that shares this one up to an entry."""
        await self.refresh()
        last = self._session.head if at == "" else await seq_of(self, at, least=0)
        forked = await self._forked(last)
        return AsyncSession(self._engine, forked, self._on_conflict, upkeep=self.upkeep)

    async def subtask(self, title: str) -> AsyncSession:
        """A session of its own for a part of the work: it knows whose it is, and shares no word."""
        fresh = await self._forked(0, subtask=True)
        begun = AsyncSession(self._engine, fresh, upkeep=self.upkeep)
        begun.cause, begun._caps, begun.payer = "subtask", self._caps, self
        await begun.rename(f"subtask: {title}")
        return begun

    def memory(self) -> Memory:
        """The notes of the project that it works in."""
        project = self._session.project or self._session.directory
        return cast("Memory", self._engine.memory(project))

    async def child(self, id: str) -> AsyncSession:
        """The session of a subtask of this one, to be looked into."""
        found = await self._engine.resolve(id)
        if found.parent != self.id or found.fork:
            raise NotFound("subtask", id, (), "Open a session of its own with hf.session(id).")
        return AsyncSession(self._engine, found)

    async def rename(self, title: str) -> SessionInfo:
        """Give it another title."""
        return await self._set(Changes(title=redact(text(title, "a title"), self._engine.secrets)))

    async def archive(self, archived: bool = True) -> SessionInfo:
        """Put it away, or bring it back; nothing is deleted."""
        return await self._set(Changes(archived=self._engine.clock.now() if archived else 0))

    async def _set(self, changes: Changes) -> SessionInfo:
        return self._adopt(await self._engine.store.sessions.set(self.id, changes))
