"""What the agent tells whoever measures: turns, tools and leave, by names and numbers alone."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

from holdfast.core.commits import Made, made_by
from holdfast.core.ledger.facts.effort import Lines, told_in
from holdfast.core.log.tool_input import arguments
from holdfast.model.event import ToolDecided, ToolRan, TurnBegan, TurnEnded
from holdfast.model.message import ToolCall, ToolResult

if TYPE_CHECKING:
    from holdfast.engine.client import Session

LANGUAGES: Final = {
    "c": "C", "cc": "C++", "cpp": "C++", "cs": "C#", "css": "CSS", "go": "Go", "h": "C",
    "html": "HTML", "java": "Java", "js": "JavaScript", "json": "JSON", "jsx": "JavaScript",
    "kt": "Kotlin", "md": "Markdown", "php": "PHP", "py": "Python", "rb": "Ruby", "rs": "Rust",
    "sh": "Shell", "sql": "SQL", "swift": "Swift", "toml": "TOML", "ts": "TypeScript",
    "tsx": "TypeScript", "yaml": "YAML", "yml": "YAML",
}  # fmt: skip

OTHER: Final = "other"
"""Stands for every tool that is not there: names that models make up have no end."""

CHANGING: Final = frozenset({"write", "edit"})


@contextmanager
def working(session: Session, within: str) -> Iterator[None]:
    """One turn of the agent, however it ends; or that of a subtask's within another session."""
    tell, started, error = session.watch.emit, session.now(), ""
    tell(TurnBegan(session=session.id, at=started, within=within))
    try:
        yield
    except BaseException as stopped:
        error = type(stopped).__name__
        raise
    finally:
        ended = session.now()
        tell(
            TurnEnded(session=session.id, started=started, ended=ended, error=error, within=within)
        )


def ran(session: Session, call: ToolCall, result: ToolResult, started: int, *, known: bool) -> None:
    """A tool was used; one that is not there is counted without the name a model made up."""
    fields, said = arguments(call.input), str(result.output)
    lines = told_in(said) if call.name in CHANGING and not result.error else Lines()
    shell = call.name == "shell"
    made = made_by(str(fields.get("command") or ""), said) if shell else Made()
    session.watch.emit(
        ToolRan(
            session=session.id,
            tool=call.name if known else OTHER,
            call=call.id,
            started=started,
            ended=session.now(),
            ok=not result.error and (not shell or said.endswith("[exit status 0]")),
            given=len(str(call.input).encode("utf-8", "replace")),
            answered=len(said.encode("utf-8", "replace")),
            added=lines.added,
            removed=lines.removed,
            commits=made.commits,
            pull_requests=made.pull_requests,
        )
    )


def deciding(session: Callable[[], Session]) -> Callable[[ToolCall, bool, str], None]:
    """What is told of each decision about a call, for the session that is open by then."""

    def decided(call: ToolCall, accepted: bool, source: str) -> None:
        at = session()
        event = ToolDecided(
            session=at.id, tool=call.name, call=call.id, accepted=accepted, source=source,
            language=language(arguments(call.input)) if call.name in CHANGING else "",
        )  # fmt: skip
        at.watch.emit(event)

    return decided


def language(fields: dict[str, Any]) -> str:
    """What the file of a call is written in, as far as its name tells."""
    _, _, ending = str(fields.get("path") or "").rpartition(".")
    return LANGUAGES.get(ending.lower(), "unknown")
