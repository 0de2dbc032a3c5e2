"""The loop: ask the model, do what it asks for, until it has nothing more to ask.

Rule 1: every call is answered, in the order it was asked: done, refused, or failed with words.
        Calls that only look are made at the same time, those that change something one by one.
Rule 2: an interrupt leaves a valid session: what was not done says so, and so does the turn.
Rule 3: it ends: a turn has a greatest number of steps.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import groupby
from types import MappingProxyType
from typing import Any, Final

from msgspec.structs import replace

from holdfast.agent.events import AgentEvent, EventHandler
from holdfast.agent.hooks import Hooks, Table
from holdfast.agent.instructions import touched
from holdfast.agent.markdown_log import MarkdownLog
from holdfast.agent.memory import AgentMemory
from holdfast.agent.parallel import Together
from holdfast.agent.permissions.rules import HARMLESS, LOOKING, Asked, Judge, Permissions
from holdfast.agent.prompt import PLANNING, surrounded
from holdfast.agent.telemetry import deciding, ran, working
from holdfast.agent.tools import skill, subtask
from holdfast.agent.tools.chat_files import ChatFiles
from holdfast.agent.tools.shell import Interrupted
from holdfast.agent.tools.toolbox import Toolbox
from holdfast.core.knowledge.skills import given, mentioned
from holdfast.core.log.tool_input import arguments
from holdfast.core.secrets import redact
from holdfast.core.tokens.calibrate import calibrated
from holdfast.core.tokens.estimate import estimate
from holdfast.core.window.recall import recall_tools
from holdfast.core.window.scaffold import wrap
from holdfast.core.window.tool_deferral import TOOL_SEARCH
from holdfast.engine.client import Session
from holdfast.engine.inspect.explain import Explained
from holdfast.engine.knowledge.instructions import Instructions
from holdfast.errors import HoldfastError, InvalidRequest
from holdfast.model.log import Entry
from holdfast.model.message import Message, Text, ToolCall, ToolResult, tool
from holdfast.model.policy import Policy
from holdfast.model.reply import Delta
from holdfast.ports import Provider

STEPS: Final = 200
"""So many calls of the model in one turn, at most."""

ALWAYS: Final = frozenset(
    {"read", "write", "edit", "shell", "recall", "skill", "remember", "forget"}
)
"""Tools that never wait to be found: the work itself, and what handles in the window speak of."""

ABORTED: Final = Text(
    wrap("turn_aborted", "The user interrupted this turn. What was not finished was not done."),
    scaffold="turn_aborted",
)

ONLY_LOOKS: Final = "{} changes things, and a plan is being made: look only, and say the plan."

UNSEEN: Final = "[{}; its output is left out, as the hook that was to see it was not done]"
"""What is kept of an output that a hook was to see first: it may mask what nobody is to keep."""

Placed = tuple[int, ToolCall]
"""A call and its place among those of a reply."""


class Agent:
    """An agent that works in one directory, with one session and one provider."""

    confirm: Callable[[str], bool] | None = None
    """Asked before more is sent than fits, where a policy says so."""
    map: Any = None
    """The map of the repository, where there is one."""
    instructions: Instructions | None = None
    """The instruction files of the directory, and which of them act."""
    memory: AgentMemory | None = None
    """The notes of the project, where they are kept."""
    sections: Mapping[str, str] = MappingProxyType({})
    """Sections of the window that it knows of itself, and those of the user's own."""
    options: Mapping[str, Any] = MappingProxyType({})
    """What each call asks for besides its window: thinking, effort, how it is served."""
    planning = False
    """Whether it only looks, and answers with a plan."""
    log: MarkdownLog | None = None
    """A file of Markdown that the conversation is written to as well."""

    def __init__(
        self,
        session: Session,
        provider: Provider,
        toolbox: Toolbox,
        *,
        rules: Permissions,
        system: str = "",
        onlooker: EventHandler = lambda _: None,
        ask: Asked = lambda _: "no",
        remember: Callable[[str], None] = lambda _: None,
        giving: dict[str, Any] | None = None,
        hooks: Hooks | None = None,
        stop: threading.Event | None = None,
        within: str = "",
    ) -> None:
        self.session = session
        self.provider = provider
        self.toolbox = toolbox
        self.rules = rules
        judge = Judge(rules, ask, remember, deciding(lambda: self.session))
        self.allows: Callable[[ToolCall], bool] = judge.allows
        self._system = system
        self._tell = onlooker
        self.giving = giving or {}
        self.files = ChatFiles(toolbox.root, session.secrets, self._count)
        self.hooks = hooks or Hooks(Table(), str(toolbox.root.path))
        if not within:
            self.hooks.tell = onlooker
            toolbox.shows = judge.shows
        self._stop = stop or threading.Event()
        """Set when somebody has interrupted; only whoever works beside the main thread looks."""
        self._within = within
        """The conversation it works for, where it is a subtask's agent."""
        self._begun = ""
        """The session that has been begun, or gone on with."""
        self.said = ""
        """What the user said last."""
        self._beside: Together[ToolResult] | None = None

    def turn(self, text: str, *media: Any, files: Sequence[str] = ()) -> Entry | None:
        """Say something, behind files as they are now, and work until the model is done; the last
        reply."""
        self.said = text
        with self._interruptible(begun=False):
            self._begin()
            self._knowledge(text)
            for one in files:
                self.session.append(Message("user", (Text(one, scaffold="file"),)))
            if self.memory:
                self.memory.begin(text)
            said = self.session.user(text, *media)
            if self.log:
                self.log.user(redact(text, self.session.secrets))
            if self.memory:
                self.memory.heard(said)
            last = self._work()
        if self.memory:
            self.memory.ended()
        return last

    def _knowledge(self, text: str) -> None:
        """Load what is for the files of the chat, and say the skills that a text names in full."""
        if not self.instructions:
            return
        self.instructions.touch(*(path for path, _ in self.files.named()))
        for one in mentioned(text, self.instructions.skills.found):
            self.session.append(Message("user", (Text(given(one), scaffold="skill"),)))

    def go_on(self) -> Entry | None:
        """Work on from where the session stands."""
        with self._interruptible(begun=True):
            return self._work()

    def _work(self) -> Entry | None:
        last: Entry | None = None
        with working(self.session, self._within):
            for _ in range(STEPS):
                last = self._reply()
                body = last.body
                if not isinstance(body, Message) or not body.calls or last.completed is None:
                    break
                self._answer(body.calls)
        return last

    def _begin(self) -> None:
        """Let the hooks say what there is to say before the first word."""
        if self._begun == self.session.id or self._within:
            return
        self._begun = self.session.id
        if self.toolbox.workspace is not None:
            self.toolbox.workspace.prepare_ahead()
        how = "resume" if self.session.info.head else "new"
        if told := self.hooks.started(self.session.id, how):
            part = Text(wrap("system-reminder", told), scaffold="system-reminder")
            self.session.append(Message("user", (part,)))
        self._tell_problems()

    def _tell_problems(self) -> None:
        """Say what was wrong with hooks; they may have run in other threads."""
        while self.hooks.problems:
            self._tell(AgentEvent(kind="warning", words=self.hooks.problems.pop(0)))

    def _reply(self) -> Entry:
        entry = self.session.send(
            self.provider, self._hear, dict(self.options), confirm=self.confirm, **self._given()
        )
        if (model := self.giving.get("model")) and model != self.session.info.model:
            self.session.set_model(model)  # whoever lists sessions sees who leads it
        self._tell(AgentEvent(kind="reply", entry=entry))
        if self.log and isinstance(entry.body, Message):
            self.log.reply(redact(entry.body.text, self.session.secrets))
        self._tell_problems()
        return entry

    def acknowledge(self, path: str) -> None:
        """Say that a file came into the chat, with an answer, where the policy has that said."""
        if words := self.session.policy().acknowledge:
            said = Message("user", (Text(f"I added {path} to the chat."),))
            self.session.append_all([said, Message("assistant", (Text(words),))])

    def _given(self) -> dict[str, Any]:
        """What a call is given besides what was said."""
        return {
            "system": self._system,
            "tools": self._always(),
            "deferrable_tools": self._if_there_is_room(),
            "chat_files": self.files.open_files(),
            "sources": self._sources(),
            **self.giving,
            **surrounded(self.session, self.giving, self._sections()),
        }

    def _sections(self) -> Mapping[str, str]:
        """The sections of the next call."""
        return {**self.sections, "collaboration_mode": PLANNING} if self.planning else self.sections

    def _sources(self) -> list[Any]:
        """What has text for the window: files, notes, the map of the repository."""
        known = [self.instructions, self.instructions.skills] if self.instructions else []
        notes = self.memory.source if self.memory else None
        return [self.files, *known, *filter(None, [self.map, notes])]

    def would_send(self, model: str) -> Explained:
        """What would be sent now, files that were brought into the chat since among it.

        A session that another program recorded is as full as that program's prompts were.
        """
        told = self.session.explain_now(model)
        if told.program:
            return told
        given = self._given()
        given["model"] = model
        return replace(self.session.explain(**given), sent=told.sent)

    def _policy(self) -> Policy:
        return self.session.catalogue.policy(self.session.info.policy)

    def _count(self, text: str) -> int:
        """About how many tokens a text takes for the model in use, as in the window that it makes.

        That is an estimate also where `holdfast count` can count exactly.
        """
        model = self.giving.get("model") or self.session.info.model
        return calibrated(estimate(text), self.session.catalogue.profile(model).ratio).tokens

    def tools(self) -> list[Any]:
        """What it can do, as a model is told of it, at once or when it looks for it."""
        return [*self._always(), *self._if_there_is_room()]

    def _always(self) -> list[Any]:
        """What every window has, however small."""
        return [one for one in self._all() if one.name in ALWAYS]

    def _if_there_is_room(self) -> list[Any]:
        """What waits behind tool_search where the definitions take too much of the window."""
        return [one for one in self._all() if one.name not in ALWAYS]

    def _all(self) -> list[Any]:
        apart = [] if self._within else [subtask.SUBTASK]
        notes = self.memory.tools() if self.memory else []
        skills = skill.tools(self.instructions, self._policy())
        return [*self.toolbox.tools(), *recall_tools(), *skills, *apart, *notes]

    def _hear(self, delta: Delta) -> None:
        self._tell(AgentEvent(kind="delta", delta=delta))

    def _answer(self, calls: tuple[ToolCall, ...]) -> None:
        """Answer every call of a reply, in one message; what an interrupt left is said to be so."""
        results: dict[int, ToolResult] = {}
        try:
            for looks, several in groupby(enumerate(calls), lambda one: one[1].name in LOOKING):
                for group in [list(several)] if looks else [[one] for one in several]:
                    self._answer_some(group, results)
        finally:
            told = (results.get(n) or _interrupted(call) for n, call in enumerate(calls))
            self.session.append(tool(*told))

    def _answer_some(self, calls: Sequence[Placed], results: dict[int, ToolResult]) -> None:
        """Answer calls that may be made at the same time."""
        allowed: list[Placed] = []
        for place, call in calls:
            self._tell(AgentEvent(kind="call", call=call))
            if self.planning and self._there_is(call.name) and call.name not in HARMLESS:
                self._tell(AgentEvent(kind="refused", call=call))
                results[place] = _failed(call, ONLY_LOOKS.format(call.name))
            elif not self._there_is(call.name) or self._fails(call) or self.allows(call):
                allowed.append((place, call))
            else:
                self._tell(AgentEvent(kind="refused", call=call))
                results[place] = _failed(
                    call, f"The user did not allow {call.name}. Do it another way, or ask them."
                )
        self._do(allowed, results)
        for place, call in calls:
            self._tell(AgentEvent(kind="result", call=call, result=results[place]))
        self._tell_problems()

    def _fails(self, call: ToolCall) -> bool:
        """Whether a call must fail by what it says, so that nobody need be asked about it."""
        try:
            self.toolbox.check(call.name, arguments(call.input))
        except HoldfastError:
            return True
        return False

    def _do(self, calls: Sequence[Placed], results: dict[int, ToolResult]) -> None:
        """Make calls: one here, several in threads; what has come when it is interrupted stays."""
        if len(calls) == 1:
            self._do_one(*calls[0], results)
            return
        stop = self._stop if self._within else threading.Event()
        self._beside = Together([_job(self._seen, call) for _, call in calls], stop)
        before, self.toolbox.stop = self.toolbox.stop, stop
        try:
            self._beside.run()
        finally:
            for (place, _), found in zip(calls, self._beside.results, strict=True):
                if found is not None:
                    results[place] = found
            self._beside, self.toolbox.stop = None, before

    def _do_one(self, place: int, call: ToolCall, results: dict[int, ToolResult]) -> None:
        unseen = self.hooks.sees(call.name)
        try:
            found = self._done(call)
        except Interrupted as stopped:
            results[place] = _failed(
                call, UNSEEN.format("interrupted") if unseen else stopped.output
            )
            raise
        if unseen:
            results[place] = _failed(call, UNSEEN.format("this was done"))
        results[place] = self.hooks.output(self.session.id, call, found)

    def _seen(self, call: ToolCall) -> ToolResult:
        return self.hooks.output(self.session.id, call, self._done(call))

    def _done(self, call: ToolCall) -> ToolResult:
        started = self.session.now()
        result = self._result(call)
        if self.instructions and not result.error:
            self.instructions.touch(*touched(call, str(self.toolbox.root.path)))
        known = self._there_is(call.name) or call.name == TOOL_SEARCH.name
        ran(self.session, call, result, started, known=known)
        return result

    def _result(self, call: ToolCall) -> ToolResult:
        fields = arguments(call.input)
        try:
            return self._recalled(call, fields) or ToolResult(
                call.id, self._ran(call.name, fields), name=call.name
            )
        except Exception as error:  # whatever a call asks for, it is answered
            plain = isinstance(error, (HoldfastError, OSError, ValueError))
            words = str(error) if plain else f"{call.name} failed: {type(error).__name__}: {error}"
            return _failed(call, redact(words, self.session.secrets))

    def _ran(self, name: str, fields: dict[str, Any]) -> str:
        if name == subtask.SUBTASK.name and not self._within:
            return subtask.done(fields, self._another)
        if name == skill.NAME and self.instructions:
            return skill.done(fields, self.instructions)
        if not self._there_is(name):
            known = ", ".join(one.name for one in self.tools())
            raise InvalidRequest(f"there is no tool {name!r}; name one of {known}")
        if self.memory and (told := self.memory.answer(name, fields)) is not None:
            return redact(told, self.session.secrets)
        return redact(self.toolbox.run(name, fields), self.session.secrets)

    def _there_is(self, name: str) -> bool:
        return any(one.name == name for one in self.tools())

    def _recalled(self, call: ToolCall, fields: dict[str, Any]) -> ToolResult | None:
        if call.name == "recall" and (told := subtask.recalled(self.session, fields)):
            return ToolResult(call.id, told, name=call.name)
        return self.session.run_context_tool(call)

    def _another(self, words: str) -> Agent:
        """An agent for a part of the work; what it tells and asks goes through the main thread."""
        session, beside = self.session.subtask(words), self._beside
        stop = beside.stop if beside else threading.Event()

        def here(act: Callable[[], Any]) -> Any:
            return beside.here(act) if beside else act()

        def tell(what: AgentEvent) -> None:
            here(lambda: self._tell(_inside(what, session.id)))

        box = Toolbox(str(self.toolbox.root.path), stop, self.toolbox.shows)
        box.workspace, box.task = self.toolbox.workspace, session.id  # the prompt's, not its own
        made = Agent(
            session, self.provider, box, rules=Permissions(),
            system=self._system, onlooker=tell, giving=self.giving, hooks=self.hooks, stop=stop,
            within=self.session.id,
        )  # fmt: skip
        made.instructions = self.instructions
        made.sections, made.planning = self.sections, self.planning
        made.options = {**self.options, **({"cache_key": session.id} if self.options else {})}
        made.allows = lambda call: here(lambda: self.allows(call))
        if confirm := self.confirm:
            made.confirm = lambda words: here(lambda: confirm(words))
        return made

    @contextmanager
    def _interruptible(self, *, begun: bool) -> Iterator[None]:
        """Keep and say that a turn was interrupted; one that was not begun leaves no trace."""
        head = self.session.info.head
        try:
            yield
        except KeyboardInterrupt:
            if begun or self.session.refresh().head > head:
                self.session.append(Message("user", (ABORTED,)))
            if not self._within:
                self._tell(AgentEvent(kind="interrupted"))
            raise


def _job(act: Callable[[ToolCall], ToolResult], call: ToolCall) -> Callable[[], ToolResult]:
    return lambda: act(call)


def _inside(what: AgentEvent, session: str) -> AgentEvent:
    """What happens in a subtask, as the whole is told of it."""
    return AgentEvent(kind=what.kind, delta=what.delta, entry=what.entry, call=what.call,
                     result=what.result, words=what.words, subtask=session)  # fmt: skip


def _failed(call: ToolCall, words: str) -> ToolResult:
    return ToolResult(call.id, words, error=True, name=call.name)


def _interrupted(call: ToolCall) -> ToolResult:
    return _failed(call, "[interrupted]")
