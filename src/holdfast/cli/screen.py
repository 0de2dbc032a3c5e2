"""What a turn looks like: markdown as it streams, tools as lines, a spinner that says what happens.

A piece of markdown is drawn when it is whole: at a blank line outside a fence. What is written
there comes from models and tools: everything a terminal would act upon is made visible first.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from holdfast.cli.terminal import console, fitted, neutral

if TYPE_CHECKING:
    from holdfast.agent.happening import Happening
    from holdfast.agent.permissions import Leave
    from holdfast.model.message import ToolCall, ToolResult

_LEAVES: dict[str, Leave] = {"y": "yes", "a": "always"}
SUBJECTS = ("command", "path", "pattern", "handle", "query")


class Screen:
    """Where a conversation is drawn."""

    def __init__(self) -> None:
        self.console = console()
        self._held = ""
        self._spinner: Any = None
        self._thought = False

    def show(self, what: Happening) -> None:
        """Draw something that happened."""
        if what.delta is not None:
            self._delta(what.delta)
        elif what.kind == "reply":
            self._finish()
        elif what.kind == "call" and what.call:
            self._line(f"→ {_told(what.call)}", "cyan")
            self.busy(f"{what.call.name}…")
        elif what.kind == "refused":
            self._line("  not allowed", "yellow")
        elif what.kind == "result" and what.result:
            self._result(what.result)
        elif what.kind == "interrupted":
            self._finish()
            self._line("interrupted; nothing was lost", "yellow")

    def may(self, call: ToolCall) -> Leave:
        """Ask whether a call may be made; silence is no."""
        self.rest()
        words = fitted(_told(call), max(self.console.width - 42, 20))
        try:
            answer = input(f"  allow {words}? y / n / a = always here ").strip().lower()
        except EOFError:
            answer = ""
        return _LEAVES.get(answer[:1], "no")

    def agreed(self, question: str) -> bool:
        """Whether somebody says yes; an end of what is typed is a no."""
        self.rest()
        try:
            answer = input(f"  {question} [y/N] ").strip().lower()
        except EOFError:
            return False
        return answer in ("y", "yes")

    def busy(self, words: str) -> None:
        """Say what is happening while nothing is to be seen."""
        if self._spinner is None:
            self._spinner = self.console.status(words)
            self._spinner.start()
        else:
            self._spinner.update(words)

    def rest(self) -> None:
        """Nothing is happening any more."""
        if self._spinner is not None:
            self._spinner.stop()
            self._spinner = None

    def say(self, words: str, style: str = "") -> None:
        """A line of our own, its blanks as they are."""
        from rich.text import Text

        self.rest()
        self.console.print(Text(neutral(words), style))

    def _delta(self, delta: Any) -> None:
        if delta.reasoning and not self._thought:
            self._thought = True
            self.busy("thinking…")
        if delta.tool:
            self.busy(f"preparing {neutral(delta.tool)}…")
        if delta.text:
            self.busy("writing…")
            self._held += delta.text
            self._flush()

    def _flush(self) -> None:
        """Draw what is whole of what has come."""
        whole, rest = _split(self._held)
        if whole:
            self._draw(whole)
            self._held = rest

    def _finish(self) -> None:
        self.rest()
        if self._held.strip():
            self._draw(self._held)
        self._held, self._thought = "", False

    def _draw(self, text: str) -> None:
        from rich.markdown import Markdown

        spinning = self._spinner is not None
        self.rest()
        self.console.print(Markdown(neutral(text).strip("\n")))
        self.console.print()
        if spinning:
            self.busy("writing…")

    def _line(self, words: str, style: str = "") -> None:
        from rich.text import Text

        self.rest()
        self.console.print(Text(fitted(words, self.console.width), style))

    def _result(self, result: ToolResult) -> None:
        self.rest()
        lines = result.output.splitlines()
        mark, style = ("✗", "red") if result.error else ("✓", "green")
        first = lines[-1] if result.error and lines else f"{len(lines):,} lines"
        self._line(f"  {mark} {first}", style)
        self.busy("thinking…")


def _told(call: ToolCall) -> str:
    """What a call is about, in one line."""
    import json

    try:
        fields = json.loads(call.input or "{}")
    except ValueError:
        fields = {}
    subject = next((str(fields[name]) for name in SUBJECTS if fields.get(name)), "")
    return f"{call.name} {subject}".strip()


def _split(text: str) -> tuple[str, str]:
    """The part of some markdown that is whole, and the rest: at the last blank line of no fence."""
    fenced, place, cut = False, 0, 0
    for line in text.splitlines(keepends=True):
        place += len(line)
        if line.lstrip().startswith(("```", "~~~")):
            fenced = not fenced
        elif not line.strip() and line.endswith("\n") and not fenced:
            cut = place
    return text[:cut], text[cut:]
