"""What a run is doing, on standard error: the reply as it streams, and a line for each call."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final, NoReturn

from holdfast.cli.app import report, words_of
from holdfast.cli.chat.resume import in_advance, in_words
from holdfast.cli.chat.screen import about, compaction, outcome
from holdfast.cli.ui.terminal import console, emit, fitted, neutral, say

if TYPE_CHECKING:
    from holdfast.agent.events import AgentEvent
    from holdfast.engine.client import Session
    from holdfast.model.log import Entry
    from holdfast.model.reply import Delta

COLUMNS = 160
"""So much of a line is shown where no terminal says how wide it is."""


class Progress:
    """Tells whoever watches a run; nobody, where it is quiet."""

    def __init__(self, *, quiet: bool) -> None:
        self._quiet = quiet
        self._loading = ""
        self._within_line = False

    @property
    def is_seen(self) -> bool:
        """Whether what streams and what is answered appear in the same place."""
        return not self._quiet and sys.stdout.isatty() and sys.stderr.isatty()

    def show(self, what: AgentEvent) -> None:
        """Something happened."""
        if self._quiet:
            return
        if what.delta is not None:
            self._delta(what.delta, within=bool(what.subtask))
        elif what.kind == "warning":
            self.line(what.words, "yellow", whole=True)
        elif what.kind == "reply" and not what.subtask:
            self.end()
        elif told := _in_words(what):
            self.line(*told, what.subtask)

    def line(self, words: str, style: str = "", subtask: str = "", *, whole: bool = False) -> None:
        """A line of our own, behind the end of what was streaming; what is `whole` is not cut."""
        if self._quiet:
            return
        self.end()
        screen = console(error=True)
        lead = " " * (len(words) - len(words.lstrip(" "))) + ("  " if subtask else "")
        width = screen.width if screen.is_terminal else COLUMNS
        say(words if whole else f"{lead}{fitted(words, width - len(lead))}", style, error=True)

    def note(self, words: str) -> None:
        """Something to know, said whole; nothing where there is nothing to know."""
        if words:
            self.line(words, "dim", whole=True)

    def loading(self, model: str, seconds: float) -> None:
        """A model is being loaded; said when it begins."""
        if self._loading != model:
            self._loading = model
            self.line(f"loading {model}…", "dim")

    def end(self) -> None:
        """End the line that is being written."""
        if self._within_line:
            self._within_line = False
            sys.stderr.write("\n")
            sys.stderr.flush()

    def _delta(self, delta: Delta, *, within: bool) -> None:
        if within:
            return
        if delta.waiting:
            self.line(f"waiting {delta.waiting:g} s to try again…", "dim")
        elif delta.text:
            sys.stderr.write(neutral(delta.text))
            sys.stderr.flush()
            self._within_line = not delta.text.endswith("\n")


def _in_words(what: AgentEvent) -> tuple[str, str] | None:
    """A line about something that happened, and how it is coloured."""
    if what.kind == "call" and what.call:
        return f"→ {about(what.call)}", "cyan"
    if what.kind == "refused" and what.call:
        return f"  not allowed: {what.call.name}", "yellow"
    if what.kind == "result" and what.result:
        return f"  {outcome(what.result)}", "red" if what.result.error else "green"
    if what.kind == "compacted" and what.entry:
        return compaction(what.entry, "`holdfast undo`"), "dim"
    return None


DONE, FAILED, REFUSED, CUT = 0, 1, 3, 4
"""How a run ends, as its status: done, failed, done without calls that were not allowed, and with
a reply that is not whole. Click ends with 2 where a command line cannot be understood."""

SHORT: Final = {
    "length": "the reply was cut at its limit",
    "refused": "the model refused to answer",
    "paused": "the reply was paused by its provider",
}
"""Ends of a reply that is not whole, in words."""

RECENT: Final = 64
"""So many of the newest calls are looked at for how the last reply ended."""


class Told:
    """Tells of one run."""

    def __init__(
        self,
        session: Session,
        model: str,
        progress: Progress,
        *,
        as_json: bool,
        stream: bool,
    ) -> None:
        self._session, self._model, self._progress = session, model, progress
        self._stream, self._json = stream, as_json
        self._more: dict[str, Any] = {}
        self._refused: list[str] = []

    def waits(self, words: str) -> None:
        """Files of the project that do not act before somebody approves them."""
        self._progress.line(words, "yellow", whole=True)

    def loaded(self, brought: dict[str, Any]) -> None:
        """What a resumed session brought along."""
        self._more = {"loaded": brought}
        if self._stream:
            emit({"type": "loaded", "session": self._session.id, **brought})
        else:
            self._progress.line(f"{self._session.id}: {in_words(brought)}", "dim", whole=True)
            if ahead := in_advance(brought):
                self._progress.line(ahead, "yellow", whole=True)

    def happening(self, what: AgentEvent) -> None:
        """Something happened."""
        if what.kind == "refused" and what.call:
            self._refused.append(what.call.name)
        if self._stream and (value := _value(what)) is not None:
            emit(value)
        self._progress.show(what)

    def done(self, last: Entry | None) -> None:
        """The task came to its end, or to an end."""
        body: Any = last.body if last else None
        if last is None or last.completed is None:
            self._failed("the reply was cut short", "`-c -p 'go on'` goes on", "Cut")
        if body.calls:
            self._failed("it was not done within its steps", "`-c -p 'go on'` goes on", "Long")
        stop = self._stop(last)
        status = CUT if stop in SHORT else REFUSED if self._refused else DONE
        if self._json:
            emit({"type": "result", **self._about(), "result": body.text, "stop": stop,
                  "refused": self._refused, "status": status})  # fmt: skip
        elif not self._progress.is_seen:
            console().print(neutral(body.text), soft_wrap=True)
        sys.stdout.flush()
        self._say_why(stop)
        if status:
            raise SystemExit(status)

    def _stop(self, last: Entry) -> str:
        """Why the reply ended, as its call says."""
        from holdfast.engine.bridge import drive  # nothing is imported before it is used

        calls = drive(self._session.store.calls.newest(last.session, RECENT))
        return next((one.stop for one in calls if one.entry == last.id and one.stop), "end")

    def _say_why(self, stop: str) -> None:
        """What is not as it was asked for, for whoever reads along."""
        if self._refused:
            many = f"{len(self._refused)} of its calls" if len(self._refused) > 1 else "a call"
            names = ", ".join(dict.fromkeys(self._refused))
            self._progress.line(f"not allowed: {many} ({names}); --allow RULE allows more",
                                "yellow", whole=True)  # fmt: skip
        if words := SHORT.get(stop):
            self._progress.line(f"{words}; `-c -p 'go on'` goes on", "yellow", whole=True)

    @contextmanager
    def ending(self) -> Iterator[None]:
        """Whatever ends it, the last line says so where JSON is wanted."""
        from holdfast.errors import HoldfastError

        try:
            yield
        except KeyboardInterrupt:
            self._interrupted()
            raise
        except HoldfastError as error:
            self._progress.end()
            if not self._json:
                raise
            self._failed(*words_of(error), type(error).__name__)

    def _interrupted(self) -> None:
        self._progress.end()
        if self._json:
            emit({"type": "interrupted", **self._about()})

    def _about(self) -> dict[str, Any]:
        session = self._session
        return {"session": session.id, "model": self._model, "cost_usd": session.cost,
                "entries": session.info.head, **self._more}  # fmt: skip

    def _failed(self, what: str, do: str, kind: str) -> NoReturn:
        self._progress.end()
        if self._json:
            emit({"type": "error", **self._about(), "error": what, "do": do, "kind": kind})
        else:
            report(what, do)
        raise SystemExit(FAILED)


@contextmanager
def unbegun(*, as_json: bool) -> Iterator[None]:
    """What ends a run that has no session yet; its last line says so too."""
    from holdfast.errors import HoldfastError

    try:
        yield
    except HoldfastError as error:
        if not as_json:
            raise
        what, do = words_of(error)
        kind = type(error).__name__
        emit({"type": "error", "session": None, "error": what, "do": do, "kind": kind})
        raise SystemExit(FAILED) from error


_TYPES = {"call": "tool_call", "result": "tool_result"}


def _value(what: AgentEvent) -> dict[str, Any] | None:
    """Something that happened, as a value; None where it is nothing to anybody."""
    told: dict[str, Any] = {"type": _TYPES.get(what.kind, what.kind)}
    if what.subtask:
        told["subtask"] = what.subtask
    if what.delta:
        if not what.delta.text and not what.delta.waiting:
            return None
        told |= {"text": what.delta.text} if what.delta.text else {"waiting": what.delta.waiting}
    if what.call:
        told |= {"tool": what.call.name, "call": what.call.id, "input": what.call.input}
    if what.result:
        told |= {"output": what.result.output, "error": what.result.error}
    if what.entry:
        told |= {"entry": what.entry.id, "text": getattr(what.entry.body, "text", "")}
    if what.words:
        told["words"] = what.words
    return None if what.kind == "interrupted" else told
