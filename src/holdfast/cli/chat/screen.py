"""What a turn looks like: markdown as it streams, tools as lines, a spinner that says what happens.

A piece of markdown is drawn for good when it is whole: at a blank line outside a fence. What is
written comes from models and tools: everything a terminal would act upon is made visible first.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from rich.live import Live
from rich.segment import Segment
from rich.spinner import Spinner

from holdfast.agent.permissions.match import FIELDS
from holdfast.cli.chat.approval import question
from holdfast.cli.chat.outputs import Output, Outputs
from holdfast.cli.chat.prompt import aloud, forget_typed
from holdfast.cli.ui.answers import YES_OR_SILENCE, exact, offered
from holdfast.cli.ui.format import elapsed, many
from holdfast.cli.ui.terminal import console, fitted, neutral

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rich.console import Console, ConsoleOptions, RenderResult
    from rich.markdown import Markdown

    from holdfast.agent.events import AgentEvent
    from holdfast.agent.permissions.rules import Approval
    from holdfast.agent.tools.toolbox import Toolbox
    from holdfast.model.log import Entry
    from holdfast.model.message import ToolCall, ToolResult

T = TypeVar("T")

OTHERS = ("handle", "query", "description")
"""What calls of tools are about that no rule could name."""


class Screen:
    """Where a conversation is drawn."""

    def __init__(self, drawn_on: Console | None = None) -> None:

        self.console = drawn_on or console()
        self._below = Below(self.console)
        self._said_interrupted = False
        self._called: ToolCall | None = None
        self._not_allowed: set[str] = set()
        self.outputs = Outputs()

    def show(self, what: AgentEvent) -> None:
        """Draw something that happened."""
        if what.subtask:
            self._aside(what)
        elif what.delta is not None:
            self._delta(what.delta)
        elif act := self._ACTS.get(what.kind):
            act(self, what)

    def may(self, call: ToolCall, toolbox: Toolbox) -> Approval:
        """Ask whether a call may be made, what it would change before it; silence is no."""
        told = self._asked_about(call, toolbox)
        while told == "view":
            told = self._asked_about(call, toolbox, everything=True)
        if told != "no":
            self.busy(f"{about(call)}…")
        return told

    def _asked_about(
        self, call: ToolCall, toolbox: Toolbox, *, everything: bool = False
    ) -> Approval | Literal["view"]:
        """What somebody answers when shown a call; for good only where all of it was shown."""
        from holdfast.cli.chat.approval import diff

        width = self.console.width
        rows, seen = diff(call, toolbox, width, everything=everything)
        for line, style in rows:
            self.say(line, style)
        shown = question(call, width, seen=seen, everything=everything)
        for line in shown.above:
            self.say(line)
        return self.asked(shown.words, shown.answers, "no")

    def asked(self, question: str, answers: Mapping[str, T], silence: T) -> T:
        """Which of some answers somebody gives; `silence` where nobody is there to give one."""
        while True:
            self.rest()
            try:
                with aloud():
                    text = input(question)
            except (EOFError, OSError):
                return silence
            except KeyboardInterrupt:
                forget_typed()  # half an answer is no part of what is typed next
                self.console.print()
                raise
            if (told := exact(text, answers)) is not None:
                return told
            self.say(f"  that is no answer: type {offered(answers)}", "yellow")

    def agreed(self, question: str) -> bool:
        """Whether somebody says yes; silence is no. What happened before the question goes on."""
        busy = self._below.busy
        told = self.asked(f"  {question} [y/N], then Enter ", YES_OR_SILENCE, silence=False)
        if told and busy:
            self.busy(busy)
        return told

    def busy(self, words: str) -> None:
        """Say what is happening while nothing is to be seen."""
        self._said_interrupted = False
        self._below.start(words)

    def rest(self) -> None:
        """Nothing is happening any more."""
        self._below.stop()

    def say(self, words: str, style: str = "") -> None:
        """A line of our own, its blanks as they are."""
        from rich.text import Text

        self.rest()
        self.console.print(Text(neutral(words), style))

    def _delta(self, delta: Any) -> None:
        if delta.waiting:
            self.busy(f"waiting {delta.waiting:g} s to try again…")
        elif delta.reasoning:
            self.busy("thinking…")
        elif delta.tool:
            self.busy(f"preparing {neutral(delta.tool)}…")
        elif delta.text:
            self._below.writing += delta.text
            self.busy("writing…")
            self._flush()

    def _aside(self, what: AgentEvent) -> None:
        """Of a subtask one sees what it is doing, and no more."""
        if what.kind == "warning":
            self._warning(what)
        elif what.kind == "call" and what.call:
            self.busy(f"subtask: {about(what.call)}…")
        elif what.kind in ("result", "reply"):
            self.busy("subtask: thinking…")

    def _flush(self) -> None:
        """Draw what is whole of what has come."""
        whole, rest = _split(self._below.writing)
        if whole:
            self._below.writing = rest
            self._draw(whole)

    def _finish(self, what: AgentEvent | None = None) -> None:
        rest, self._below.writing = self._below.writing, ""
        self.rest()
        if rest.strip():
            self._draw(rest)

    def _draw(self, text: str) -> None:
        with self._below.paused():
            self.console.print(page(text))
            self.console.print()

    def _line(self, words: str, style: str = "", hint: str = "") -> None:
        """One line, whatever it takes to fit; a hint behind it is never cut."""
        from rich.text import Text

        self.rest()
        lead = " " * (len(words) - len(words.lstrip(" ")))
        line = fitted(words, self.console.width - len(lead) - len(hint))
        self.console.print(Text(f"{lead}{line}", style).append(hint, "dim"))

    def _call(self, what: AgentEvent) -> None:
        assert what.call
        self._called = what.call
        words = about(what.call)
        self._line(f"→ {words}", "cyan")
        self.busy(f"{words}…")

    def _refused(self, what: AgentEvent) -> None:
        assert what.call
        self._line("  not allowed", "yellow")
        self._not_allowed.add(what.call.id)

    def _result(self, what: AgentEvent) -> None:
        assert what.call
        assert what.result
        if what.call.id in self._not_allowed:  # whoever has said no knows what came of it
            self._not_allowed.discard(what.call.id)
            self.busy("thinking…")
            return
        kept = self.outputs.add(about(what.call), what.result)
        among = what.call is not self._called  # several were made at the same time
        told = f"  {outcome(what.result)}{f' · {kept.about}' if among else ''}"
        self._line(told, "red" if kept.error else "green", _expands(kept))
        self.busy("thinking…")

    def _compacting(self, what: AgentEvent) -> None:
        self.busy("compacting…")

    def _compacted(self, what: AgentEvent) -> None:
        assert what.entry
        if getattr(what.entry.body, "trigger", "") == "manual":
            return  # `/compact` says itself what it has done
        self.say(compaction(what.entry), "dim")
        self.busy("thinking…")

    def warn(self, words: str) -> None:
        """What somebody should know, whatever is happening meanwhile."""
        with self._below.paused():
            self.say(words, "yellow")

    def _warning(self, what: AgentEvent) -> None:
        self.warn(what.words)

    def _note(self, what: AgentEvent) -> None:
        self._line(f"note: {neutral(what.words)}", "dim")

    def _interrupted(self, what: AgentEvent) -> None:
        self._finish()
        self.interrupted()

    def interrupted(self) -> None:
        """Say that what is happening was interrupted, once."""
        self.rest()
        if not self._said_interrupted:
            self._line("interrupted; nothing was lost", "yellow")
            self._said_interrupted = True

    _ACTS = {  # noqa: RUF012 - a table that nobody changes
        "reply": _finish, "call": _call, "refused": _refused, "result": _result,
        "interrupted": _interrupted, "compacting": _compacting, "compacted": _compacted,
        "warning": _warning, "note": _note,
    }  # fmt: skip


def outcome(result: ToolResult) -> str:
    """What came of a call, in one line: its only one, or how many there are."""
    lines = result.output.splitlines()
    if result.error:
        return f"✗ {lines[-1] if lines else 'failed'}"
    if len(lines) == 1 and lines[0].strip():
        return f"✓ {lines[0]}"
    return f"✓ {many(len(lines), 'line')}" if lines else "✓ no output"


def _expands(kept: Output) -> str:
    """How to see all of what came of a call; empty where all of it is seen."""
    return f" · /show {kept.number}" if kept.hides else ""


def compaction(marker: Entry, undo: str = "/undo") -> str:
    """What a compaction has changed, why, by whom and for how much, in one line."""
    from holdfast.cli.context.compaction_line import line

    body: Any = marker.body
    return line(body, undo=undo)


def about(call: ToolCall) -> str:
    """What a call is about, in one line."""
    fields: Any = {}
    with suppress(ValueError):
        fields = json.loads(call.input or "{}")
    known = fields if isinstance(fields, dict) else {}
    names = FIELDS.get(call.name, OTHERS)
    return " ".join((call.name, *(str(known[name]) for name in names if known.get(name))))


def _split(text: str) -> tuple[str, str]:
    """The part of some markdown that is whole, and the rest: at the last blank line of no fence."""
    fence, place, cut = "", 0, 0
    for line in text.splitlines(keepends=True):
        place += len(line)
        mark = line.lstrip()[:3]
        if mark in ("```", "~~~") and fence in ("", mark):
            fence = "" if fence else mark
        elif not line.strip() and line.endswith("\n") and not fence:
            cut = place
    return text[:cut], text[cut:]


def page(text: str) -> Markdown:
    """What a model wrote as Markdown: its links show where they lead, and entities (`&#x202e;`)
    become no characters that act or hide."""
    from rich.markdown import Markdown

    made = Markdown(neutral(text).strip("\n"), hyperlinks=False)
    waiting = list(made.parsed)
    while waiting:
        token = waiting.pop()
        token.content = neutral(token.content)
        waiting += token.children or ()
    return made


LINES = 6
"""So many lines of what is not whole yet are shown."""

LETTERS = 4_000
"""No more of it is looked at."""


class Below:
    """A spinner that says what happens and for how long, and above it the end of what is written.

    The time begins anew with other words: it is that of one call, one tool, one summary.
    """

    def __init__(self, console: Console, clock: Callable[[], float] = time.monotonic) -> None:
        self._console = console
        self._clock = clock
        self._live: Live | None = None
        self._words = ""
        self._since = 0.0
        self._spinner = Spinner("dots")
        self.writing = ""

    @property
    def busy(self) -> str:
        """What is said to happen; empty where nothing does."""
        return self._words if self._live else ""

    def start(self, words: str) -> None:
        """Say what happens."""
        if self._live is None or words != self._words:
            self._since = self._clock()
        self._words = words
        self._begin()

    def stop(self) -> None:
        """Nothing happens any more."""
        live, self._live = self._live, None
        if live is not None:
            live.stop()

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Leave the place free for something that is drawn for good; the same happens on."""
        busy = self._live is not None
        self.stop()
        yield
        if busy:
            self._begin()

    def _begin(self) -> None:
        if self._live is None:
            self._live = Live(
                self, console=self._console, transient=True, refresh_per_second=10,
                redirect_stdout=False, redirect_stderr=False,
            )  # fmt: skip
            self._live.start(refresh=True)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        from rich.markdown import Markdown

        if text := neutral(self.writing[-LETTERS:]).strip("\n"):
            for line in console.render_lines(Markdown(text), options, pad=False)[-LINES:]:
                yield from line
                yield Segment.line()
        took = elapsed(self._clock() - self._since)
        room = max(options.max_width - 4 - len(took), 8)
        self._spinner.update(text=f"{fitted(self._words, room)}{took}")
        yield self._spinner
