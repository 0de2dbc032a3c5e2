"""What a run says of itself: words, one JSON value at its end, or one for all that happens."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NoReturn

from holdfast.cli.frame import report, words_of
from holdfast.cli.opening import in_advance, in_words
from holdfast.cli.terminal import console, emit, neutral, say

if TYPE_CHECKING:
    from holdfast.agent.happening import Happening
    from holdfast.engine.doors import BlockingSession
    from holdfast.model.log import Entry


class Told:
    """Tells of one run."""

    def __init__(
        self, session: BlockingSession, model: str, *, as_json: bool, stream: bool
    ) -> None:
        self._session, self._model = session, model
        self._stream, self._json = stream, as_json
        self._more: dict[str, Any] = {}

    def loaded(self, brought: dict[str, Any]) -> None:
        """What a resumed session brought along."""
        self._more = {"loaded": brought}
        if self._stream:
            emit({"type": "loaded", "session": self._session.id, **brought})
        elif not self._json:
            say(f"{self._session.id}: {in_words(brought)}", "dim", error=True)
            if ahead := in_advance(brought):
                say(ahead, "yellow", error=True)

    def happening(self, what: Happening) -> None:
        """Something happened."""
        if self._stream:
            if (value := _value(what)) is not None:
                emit(value)
        elif what.kind == "warning":
            say(what.words, "yellow", error=True)

    def done(self, last: Entry | None) -> None:
        """The task came to its end, or to an end."""
        body: Any = last.body if last else None
        if last is None or last.completed is None:
            self._failed("the reply was cut short", "`-c -p 'go on'` goes on", "Cut")
        if body.calls:
            self._failed("it was not done within its steps", "`-c -p 'go on'` goes on", "Long")
        if self._json:
            emit({"type": "result", **self._about(), "result": body.text})
        else:
            console().print(neutral(body.text), soft_wrap=True)

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
            if not self._json:
                raise
            self._failed(*words_of(error), type(error).__name__)

    def _interrupted(self) -> None:
        if self._json:
            emit({"type": "interrupted", **self._about()})

    def _about(self) -> dict[str, Any]:
        session = self._session
        return {"session": session.id, "model": self._model, "cost_usd": session.cost,
                "entries": session.info.head, **self._more}  # fmt: skip

    def _failed(self, what: str, do: str, kind: str) -> NoReturn:
        if self._json:
            emit({"type": "error", **self._about(), "error": what, "do": do, "kind": kind})
        else:
            report(what, do)
        raise SystemExit(1)


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
        raise SystemExit(1) from error


_TYPES = {"call": "tool_call", "result": "tool_result"}


def _value(what: Happening) -> dict[str, Any] | None:
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
