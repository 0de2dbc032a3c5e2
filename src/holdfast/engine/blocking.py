"""An open session behind the blocking door: every call driven to its end in place."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from inspect import iscoroutinefunction
from itertools import chain
from os import PathLike
from typing import TYPE_CHECKING, Any, Unpack

from holdfast.core.log.tool_calls import ToolState
from holdfast.engine.arguments import checks_arguments
from holdfast.engine.bridge import drive, drive_all
from holdfast.engine.calls.stream import OnDelta
from holdfast.engine.knowledge.project import ProjectMemory
from holdfast.engine.session import NOTHING, AsyncSession
from holdfast.errors import InvalidRequest
from holdfast.model.ledger import Ledger, Report
from holdfast.model.log import Body, Entry, ReplyEntry, SessionInfo
from holdfast.model.message import Media, ToolCall, ToolResult, tool, user
from holdfast.model.plan import Plan
from holdfast.model.policy import Policy
from holdfast.model.reply import Call
from holdfast.model.spending import Caps
from holdfast.model.view import View
from holdfast.model.window import BudgetSnapshot
from holdfast.model.workspace import FileDiff, ForeignSnapshot, Prompt, RestorePlan
from holdfast.ports import Catalogue, Counter, Provider, Store

if TYPE_CHECKING:
    from holdfast.core.window.explain import Absence
    from holdfast.engine.compaction.forecast import Foreseen
    from holdfast.engine.inspect.explain import Explained
    from holdfast.engine.inspect.recall import Recalled
    from holdfast.engine.window.prepared_window import PreparedWindow
    from holdfast.engine.window.sections import Asking
    from holdfast.engine.workspace.workspaces import Workspace


_PLAINLY = ("", "", "", True, None, "", None, None)
"""How most messages are appended: with nothing told besides."""


@checks_arguments
class Session:
    """An open session behind the blocking door; may be shared among threads."""

    def __init__(self, inner: AsyncSession) -> None:
        self._inner = inner
        self.watch = inner.watch
        """Told of everything that happens."""

    @property
    def id(self) -> str:
        """Its name; another one after a conflict, when the writer goes on in a fork."""
        return self._inner.id

    @property
    def info(self) -> SessionInfo:
        """The session as this writer last saw it."""
        return self._inner.info

    @property
    def inner(self) -> AsyncSession:
        """The same session, for work that is written for both doors."""
        return self._inner

    @property
    def cost(self) -> float:
        """What its calls have cost in US dollars, as far as prices are known."""
        return self._inner.cost

    @property
    def store(self) -> Store:
        """Where it is kept."""
        return self._inner.store

    @property
    def catalogue(self) -> Catalogue:
        """What is known of models and policies."""
        return self._inner.catalogue

    @property
    def endpoint(self) -> Counter | None:
        """Counts for a provider by asking it, where that was configured."""
        return self._inner.endpoint

    def counter(self, vocabulary: str) -> Counter:
        """What counts exactly with a vocabulary."""
        return self._inner.counter(vocabulary)

    @property
    def caps(self) -> Caps:
        """What may be spent."""
        return self._inner.caps

    def set_caps(self, session: float | None = None, day: float | None = None) -> Session:
        """Change what may be spent, in US dollars; None leaves a cap as it is."""
        self._inner.set_caps(session, day)
        return self

    def now(self) -> int:
        """The time, as a label."""
        return self._inner.now()

    def new_id(self) -> str:
        """A new name."""
        return self._inner.new_id()

    def window(self, **given: Unpack[Asking]) -> PreparedWindow:
        """The window to send now, made to fit."""
        return drive(self._inner.window(**given))

    def preview(self, **given: Unpack[Asking]) -> PreparedWindow:
        """The window that would be sent now, with nothing written."""
        return drive(self._inner.preview(**given))

    def entry(self, id: str | int) -> Entry:
        """One entry, given its id, its number, #number or the handle of a part."""
        return drive(self._inner.entry(id))

    def explain(
        self, entry: str | int = "", *, against: str | int = "", **given: Unpack[Asking]
    ) -> Explained:
        """What the call behind an entry had in front of it, and why; or what would be sent now."""
        return drive(self._inner.explain(entry, against=against, **given))

    def warm_in(self) -> int | None:
        """In how many ms its cache is to be kept warm, as its policy says; None where it is not."""
        return drive(self._inner.warm_in())

    def keep_warm(self, provider: Provider) -> Call | None:
        """Read what the provider has cached once more, where that is due; the call, if any."""
        return drive(self._inner.keep_warm(provider))

    def status(self) -> dict[str, Any]:
        """The state of its window and its cost, in the words of status-line scripts."""
        return drive(self._inner.status())

    def snapshot(self) -> BudgetSnapshot:
        """The state of the window for display, as of the last call."""
        return drive(self._inner.snapshot())

    def explain_now(self, model: str = "") -> Explained:
        """What would be sent now, with the system prompt and tools of the newest call."""
        return drive(self._inner.explain_now(model))

    def next_summary(self, model: str = "") -> Foreseen | None:
        """The summary that the next turn would have a model write; None where none is due."""
        return drive(self._inner.next_summary(model))

    def why_absent(self, entry: str | int) -> Absence:
        """Which marker keeps an entry out of the window."""
        return drive(self._inner.why_absent(entry))

    def plan(
        self,
        *,
        focus: str = "",
        since: str | int = "",
        upto: str | int = "",
        **given: Unpack[Asking],
    ) -> Plan:
        """What a compaction would do now, its summary written; nothing is changed yet."""
        return drive(self._inner.plan(focus=focus, since=since, upto=upto, **given))

    def apply(self, plan: Plan) -> Entry:
        """Carry a plan out, edited or not; undo() takes it back."""
        return drive(self._inner.apply(plan))

    def undo(self, marker: str | int = "", *, resolve: Mapping[str, str] = NOTHING) -> Entry:
        """Take back the newest compaction or rewind, or the one named, files included."""
        return drive(self._inner.undo(marker, resolve=resolve))

    def redo(self, marker: str | int = "", *, resolve: Mapping[str, str] = NOTHING) -> Entry:
        """Do again what was undone last."""
        return drive(self._inner.redo(marker, resolve=resolve))

    def ledger(self) -> Ledger:
        """The exact facts of the session, computed from its log."""
        return drive(self._inner.ledger())

    def retention(self, marker: str | int = "") -> Report:
        """What a summary that stands kept of every item of the ledger."""
        return drive(self._inner.retention(marker))

    def recall(self, handle: str | int, *, offset: int = 0, tokens: int = 0) -> Recalled:
        """What a handle stands for, word for word, within a budget."""
        return drive(self._inner.recall(handle, offset=offset, tokens=tokens))

    def search_history(self, query: str, limit: int = 8) -> str:
        """What was said in this session, also what is no longer shown: a handle and a line each."""
        return drive(self._inner.search_history(query, limit))

    def run_context_tool(self, call: ToolCall) -> ToolResult | None:
        """What recall, search_history or tool_search answers; None where it is another tool's."""
        return drive(self._inner.run_context_tool(call))

    def pin(self, what: str | int = "", *, fact: str = "", path: str = "") -> Entry:
        """Keep an entry, a fact or a file in every window from here on."""
        return drive(self._inner.pin(what, fact=fact, path=path))

    def unpin(self, pin: str | int) -> Entry:
        """Let a pin go; it is named by its marker's id, or by what it pins."""
        return drive(self._inner.unpin(pin))

    def policy(self, name: str = "") -> Policy:
        """A policy by its name, as this session keeps it; its own where none is named."""
        return drive(self._inner.policy(name))

    def set_policy(self, name: str | Policy) -> Entry:
        """Manage it by another policy from here on: a name, the path of a file, or a Policy."""
        return drive(self._inner.set_policy(name))

    def set_model(self, name: str) -> SessionInfo:
        """Have it led by another model, where none is named for a window."""
        return drive(self._inner.set_model(name))

    @property
    def trust(self) -> str:
        """Which files of projects act in this process; empty where that is as the user has set."""
        return self._inner.trust

    @property
    def secrets(self) -> tuple[str, ...]:
        """Values that never enter the log."""
        return self._inner.secrets

    def learn_refusal(self, message: str, *, provider: str = "") -> Entry | None:
        """A provider refused the request: remember what is to be sent differently from now on."""
        return drive(self._inner.learn_refusal(message, provider=provider))

    def send(
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
        _check_blocks(on_delta)
        return drive(self._inner.send(provider, on_delta, options, confirm, **given))

    def set_weak_model(self, model: str) -> None:
        """Have another model write summaries first; empty for none. It holds while this is open."""
        self._inner.set_weak_model(model)

    def reply(
        self,
        response: Any,
        *,
        on_delta: OnDelta | None = None,
        format: str = "",
        key: str = "",
    ) -> ReplyEntry:
        """Append what a provider answered, whole or as it streams: parts verbatim, usage and cost.

        `on_delta` is told of each piece of a stream; one that breaks off is kept as far as it came.
        """
        _check_blocks(on_delta)
        if hasattr(response, "__aiter__") or hasattr(response, "__aenter__"):
            raise InvalidRequest(
                "this stream is awaited; use holdfast.open_async, or a client that blocks"
            )
        return drive(self._inner.reply(response, on_delta=on_delta, format=format, key=key))

    def user(self, text: str, *media: Media, key: str = "") -> Entry:
        """Append what the user said; durable when it returns."""
        return self._said(user(text, *media), key)

    def tool_result(
        self, call_id: str, output: str, error: bool = False, *, name: str = "", key: str = ""
    ) -> Entry:
        """Append what a tool answered."""
        return self._said(tool(ToolResult(call_id, output, error, name)), key)

    def _said(self, body: Body, key: str) -> Entry:
        draft = self._inner.draft(body)
        return (None if key else self._inner.at_once(draft)) or drive(
            self._inner.put(draft, key=key)
        )

    def append(
        self,
        body: Body,
        *,
        key: str = "",
        provider: str = "",
        model: str = "",
        request: str = "",
        completed: bool = True,
        created: int | None = None,
        parent: str = "",
        call: Call | None = None,
        epoch: int | None = None,
    ) -> Entry:
        """Append one message, or a marker; with `epoch` only if no marker came after that one."""
        if (provider, model, request, completed, created, parent, call, epoch) == _PLAINLY:
            return self._said(body, key)
        appended = self._inner.append(
            body, key=key, provider=provider, model=model, request=request, completed=completed,
            created=created, parent=parent, call=call, epoch=epoch,
        )  # fmt: skip
        return drive(appended)

    def append_all(self, bodies: Sequence[Body], *, key: str = "") -> tuple[Entry, ...]:
        """Append several messages or markers, all or none."""
        return drive(self._inner.append_all(bodies, key=key))

    def rewind_turns(self, turns: int) -> Entry:
        """Take back the user's last turns; undo() brings them back, and files stay as they are."""
        return drive(self._inner.rewind_turns(turns))

    def rewind(
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
        return drive(self._inner.rewind(to, reason, restore=restore, resolve=resolve))

    def preview_rewind(self, to: str | int) -> RestorePlan:
        """What putting the files back to an entry would do; nothing is done."""
        return drive(self._inner.preview_rewind(to))

    def prompts(self) -> tuple[Prompt, ...]:
        """What the user said and is in force, with what came of each in files."""
        return drive(self._inner.prompts())

    def foreign_snapshots(self) -> tuple[ForeignSnapshot, ...]:
        """What the program it was imported from recorded of files; it cannot be put back here."""
        return drive(self._inner.foreign_snapshots())

    def diff(self, since: str | int = "", upto: str | int = "") -> tuple[FileDiff, ...]:
        """What the agent did to files, from one prompt on, up to and with another."""
        return drive(self._inner.diff(since, upto))

    def workspace(self, directory: str | PathLike[str] = "") -> Workspace:
        """Records what is done in a directory, so that it can be shown and taken back."""
        from holdfast.engine.workspace.workspaces import Workspace

        return Workspace(self._inner.workspace(directory))

    def view(self, at: str | int = "") -> View:
        """What is visible now, or as it was at an entry."""
        return drive(self._inner.view(at))

    def visible(self, at: str | int = "") -> Iterator[Entry]:
        """The visible messages and the summaries that stand for the rest, in order."""
        return chain.from_iterable(self.visible_pages(at))

    def visible_pages(self, at: str | int = "") -> Iterator[list[Entry]]:
        """The same, page by page."""
        return drive_all(self._inner.visible_pages(at))

    def entries(self) -> Iterator[Entry]:
        """The whole log, in order."""
        return chain.from_iterable(self.pages())

    def pages(self) -> Iterator[tuple[Entry, ...]]:
        """The whole log, page by page."""
        return drive_all(self._inner.pages())

    def tool_states(self) -> dict[str, ToolState]:
        """Where each visible tool call stands."""
        return drive(self._inner.tool_states())

    def seq(self, entry: str | int) -> int:
        """The place of an entry, given its id, its number, #number or the handle of a part."""
        return drive(self._inner.seq(entry))

    def size(self) -> int:
        """How many bytes its own entries hold, without what it shares with its parent."""
        return drive(self._inner.size())

    def refresh(self) -> SessionInfo:
        """Look again: others may have gone on."""
        return drive(self._inner.refresh())

    def fork(self, at: str | int = "") -> Session:
        """A session of its own that shares this one up to an entry."""
        return Session(drive(self._inner.fork(at)))

    def subtask(self, title: str) -> Session:
        """A session of its own for a part of the work: it knows whose it is, and shares no word."""
        return Session(drive(self._inner.subtask(title)))

    def memory(self) -> ProjectMemory:
        """The notes of the project that it works in."""
        return ProjectMemory(self._inner.memory())

    def child(self, id: str) -> Session:
        """The session of a subtask of this one, to be looked into."""
        return Session(drive(self._inner.child(id)))

    def rename(self, title: str) -> SessionInfo:
        """Give it another title."""
        return drive(self._inner.rename(title))

    def archive(self, archived: bool = True) -> SessionInfo:
        """Put it away, or bring it back; nothing is deleted."""
        return drive(self._inner.archive(archived))


def _check_blocks(on_delta: OnDelta | None) -> None:
    """Refuse a listener that nobody would await."""
    if iscoroutinefunction(on_delta) or iscoroutinefunction(vars(type(on_delta)).get("__call__")):
        raise InvalidRequest(
            "this listener is awaited; use holdfast.open_async, or one that blocks"
        )
