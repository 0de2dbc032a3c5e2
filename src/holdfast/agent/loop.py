"""The loop: ask the model, do what it asks for, until it has nothing more to ask.

Rule 1: every call is answered, in the order it was asked: done, refused, or failed with words.
Rule 2: an interrupt leaves a valid session: what was not done says so, and so does the turn.
Rule 3: it ends: a turn has a greatest number of steps.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Final

from msgspec import Struct

from holdfast.agent.chatfiles import ChatFiles
from holdfast.agent.permissions import Permissions, Verdict
from holdfast.agent.tools import Toolbox
from holdfast.core.ledger.arguments import arguments
from holdfast.core.recall import recall_tools
from holdfast.core.scaffold import wrap
from holdfast.engine.doors import BlockingSession
from holdfast.errors import HoldfastError
from holdfast.model.log import Entry
from holdfast.model.message import Message, Text, ToolCall, ToolResult, tool
from holdfast.model.reply import Delta
from holdfast.ports import Provider

STEPS: Final = 200
"""So many calls of the model in one turn, at most."""

ABORTED: Final = Text(
    wrap("turn_aborted", "The user interrupted this turn. What was not finished was not done."),
    scaffold="turn_aborted",
)


class Happening(Struct, frozen=True, kw_only=True):
    """Something that happens in a turn, for whoever looks on."""

    kind: str
    """`delta`, `reply`, `call`, `result`, `refused` or `interrupted`."""
    delta: Delta | None = None
    entry: Entry | None = None
    call: ToolCall | None = None
    result: ToolResult | None = None


Onlooker = Callable[[Happening], None]
Asked = Callable[[ToolCall], bool]
"""Asks the user whether a call may be made."""


class Agent:
    """An agent that works in one directory, with one session and one provider."""

    def __init__(
        self,
        session: BlockingSession,
        provider: Provider,
        toolbox: Toolbox,
        *,
        rules: Permissions,
        system: str = "",
        onlooker: Onlooker = lambda _: None,
        ask: Asked = lambda _: False,
        giving: dict[str, Any] | None = None,
    ) -> None:
        self.session = session
        self.provider = provider
        self.toolbox = toolbox
        self._rules = rules
        self._system = system
        self._tell = onlooker
        self._ask = ask
        self.giving = giving or {}
        self.files = ChatFiles(toolbox.root)

    def turn(self, text: str, *media: Any) -> Entry | None:
        """Say something, and work until the model is done; the last reply."""
        self.session.user(text, *media)
        return self.go_on()

    def go_on(self) -> Entry | None:
        """Work on from where the session stands."""
        last: Entry | None = None
        with self._interruptible():
            for _ in range(STEPS):
                last = self._reply()
                body = last.body
                if not isinstance(body, Message) or not body.calls or last.completed is None:
                    break
                self._answer(body.calls)
        return last

    def _reply(self) -> Entry:
        entry = self.session.speak(
            self.provider,
            lambda delta: self._tell(Happening(kind="delta", delta=delta)),
            system=self._system,
            tools=[*self.toolbox.tools(), *recall_tools()],
            chat_files=self.files.open_files(),
            sources=[self.files],
            **self.giving,
        )
        self._tell(Happening(kind="reply", entry=entry))
        return entry

    def _answer(self, calls: tuple[ToolCall, ...]) -> None:
        """Answer every call of a reply, in one message; what an interrupt left is said to be so."""
        results: list[ToolResult] = []
        try:
            for call in calls:
                results.append(self._result(call))
        finally:
            done = {result.call for result in results}
            left = [call for call in calls if call.id not in done]
            undone = [ToolResult(c.id, "[interrupted]", error=True, name=c.name) for c in left]
            self.session.append(tool(*results, *undone))

    def _result(self, call: ToolCall) -> ToolResult:
        self._tell(Happening(kind="call", call=call))
        result = self._done(call)
        self._tell(Happening(kind="result", call=call, result=result))
        return result

    def _done(self, call: ToolCall) -> ToolResult:
        if (recalled := self.session.answer(call)) is not None:
            return recalled
        fields = arguments(call.input)
        if self._verdict(call, fields) != "allow":
            self._tell(Happening(kind="refused", call=call))
            said = f"The user did not allow {call.name}. Do it another way, or ask them."
            return ToolResult(call.id, said, error=True, name=call.name)
        try:
            return ToolResult(call.id, self.toolbox.run(call.name, fields), name=call.name)
        except (HoldfastError, OSError, ValueError) as error:
            return ToolResult(call.id, str(error), error=True, name=call.name)

    def _verdict(self, call: ToolCall, fields: dict[str, Any]) -> Verdict:
        verdict = self._rules.verdict(call.name, fields)
        if verdict != "ask":
            return verdict
        return "allow" if self._ask(call) else "deny"

    @contextmanager
    def _interruptible(self) -> Iterator[None]:
        try:
            yield
        except KeyboardInterrupt:
            self.session.append(Message("user", (ABORTED,)))
            self._tell(Happening(kind="interrupted"))
            raise
