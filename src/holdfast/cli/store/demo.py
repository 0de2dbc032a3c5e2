"""`holdfast demo`: a session appended, compacted, undone; with nothing but the public library."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import click
from rich.text import Text

from holdfast.cli.options import Asked, common
from holdfast.cli.sessions.show import Look
from holdfast.cli.ui.entry_text import ROLES, marker
from holdfast.cli.ui.format import many, number, program
from holdfast.cli.ui.terminal import console, fitted
from holdfast.model.log import Summary
from holdfast.model.message import Message, Reasoning, ToolCall, ToolResult

if TYPE_CHECKING:
    from holdfast.engine.client import Holdfast, Session
    from holdfast.model.log import Entry

TITLE = "Login answers 500"

SUMMARY = """\
The login page answered 500: sessions.expires was missing after migration 0042, which had been
applied on one of two databases only. Applied it on the second; /login answers 200 again."""


@click.command()
@common
def demo(asked: Asked) -> None:
    """Play a recorded task in the chat: tools, a compaction, a recall and an undo.

    Nothing is asked or sent, and nothing is kept. With --store a small session is written there
    instead, to try the other commands on; --json prints its log.
    """
    import holdfast

    if not asked.json and not asked.store:
        _play()
        return

    with (
        tempfile.TemporaryDirectory(prefix="holdfast-demo-") as folder,
        holdfast.open(asked.store or Path(folder) / "demo.db") as hf,
    ):
        if asked.json:
            _emit_log(play(hf))
        else:
            _perform(hf, kept=asked.store)


def _play() -> None:
    """The recorded task, in a directory and a store that are deleted afterwards."""
    import holdfast
    from holdfast.cli.chat.recorded import play

    with (
        tempfile.TemporaryDirectory(prefix="holdfast-demo-") as folder,
        holdfast.open(Path(folder) / "demo.db") as hf,
    ):
        work = Path(folder) / "orders"
        work.mkdir()
        whole = play(hf, work)
    if whole:
        Stage().ending(None)


def converse(hf: Holdfast) -> Session:
    """A small piece of work: what was asked, thought, called, answered and asked next."""
    import holdfast
    from holdfast import Reasoning, ToolCall

    session = hf.session(title=TITLE, model="claude-sonnet-4-6", directory=".")
    session.user("The login page answers 500 since this morning. Find out why and fix it.")
    session.append(
        holdfast.assistant(
            Reasoning("A 500 leaves a traceback. The log of this morning should have it."),
            ToolCall("call_1", "read_log", '{"path": "/var/log/app.log", "last": 60}'),
        )
    )
    session.tool_result("call_1", _log_file(), name="read_log")
    session.append(
        holdfast.assistant(
            "Migration 0042 was applied on one of the two databases only, so sessions.expires is "
            "missing on the other. I applied it there: /login answers 200 again."
        )
    )
    session.user("Good. Now add a test that would have caught it.")
    return session


def compact(session: Session) -> Entry:
    """Let a summary stand for everything before the last question."""
    from holdfast.model.log import Summary
    from holdfast.model.span import Span

    return session.append(Summary(covers=(Span(1, 4),), text=SUMMARY, trigger="manual"))


def undo(session: Session, marker: Entry) -> Entry:
    """Take it back: one more entry."""
    from holdfast.model.log import Undo

    return session.append(Undo(marker=marker.seq))


def play(hf: Holdfast) -> Session:
    """All of it, without a word."""
    session = converse(hf)
    undo(session, compact(session))
    return session


def _log_file() -> str:
    lines = [
        f'08:{14 + n // 6:02d}:{n % 6 * 10:02d} app[{2110 + n % 2}] "POST /login" 500 '
        f'psycopg.errors.UndefinedColumn: column "expires" of relation "sessions" does not exist'
        for n in range(60)
    ]
    return "\n".join(lines)


def _emit_log(session: Session) -> None:
    from holdfast.cli.sessions.show import Look, stepwise
    from holdfast.cli.ui.terminal import emit

    look = Look(session.view())
    for entry, states in stepwise(session.entries()):
        emit(look.as_value(entry, states))


def _perform(hf: Holdfast, kept: str | None) -> None:

    stage = Stage()
    stage.title("A session, appended, compacted, undone")

    session = converse(hf)
    stage.step(1, "Five messages are appended. Each is on disk before its call returns.")
    whole = stage.window(session)

    marker = compact(session)
    stage.step(2, f"A Summary is appended as #{marker.seq}: in the window it stands for 1–4.")
    stage.window(session, beside=whole)

    last = undo(session, marker)
    stage.step(3, f"An Undo is appended as #{last.seq}: what was covered is visible again.")
    stage.window(session, beside=whole, rows=False)

    stage.step(4, "The log has only grown. Markers change what is seen, never what was said.")
    stage.log(session)
    stage.ending(kept)


NAME, TOKENS, BAR = 14, 6, 40
"""The width of an entry's name, of its tokens, and of the longest bar."""


class Stage:
    """Prints what the demo does."""

    def __init__(self) -> None:
        self._screen = console()
        self._width = min(self._screen.width, 100)

    def title(self, words: str) -> None:
        self._screen.print(Text.assemble(("Holdfast", "bold cyan"), f" · {words}"))

    def step(self, count: int, words: str) -> None:
        self._screen.print()
        self._screen.print(Text.assemble((f" {count}  ", "bold cyan"), (words, "bold")))

    def window(self, session: Session, beside: int = 0, *, rows: bool = True) -> int:
        """What is visible now, and how much of the window it takes beside an earlier one."""
        look = Look(session.view())
        total = 0
        for entry in session.visible():
            tokens = look.tokens_of(entry)
            total += tokens
            if rows:
                self._row(entry, tokens)
        self._bar(total, max(beside, total))
        return total

    def log(self, session: Session) -> None:
        """Every entry in a line: what it is, and whether it is in the window."""
        look = Look(session.view())
        for entry in session.entries():
            name, style = _name(entry)
            if entry.is_message:
                words = "in the window" if look.visible(entry) else "covered"
            else:
                words = marker(entry.body).partition(" · ")[2]  # type: ignore[arg-type]
            line = Text("    ").append(f"{name:<{NAME}}", style)
            self._screen.print(line.append(words, "dim"))

    def ending(self, kept: str | None) -> None:
        """What to try next."""
        self._screen.print()
        name = program()
        if kept:
            first = [(f"{name} --store {kept} show last --all", "reads this session")]
        else:
            first = [
                (f"{name} chat", "is this, with a model of yours, in your directory"),
                (f"{name} demo --store demo.db", "writes a session to try the commands on"),
            ]
        commands = (*first, (f"{name} --help", "lists the commands"))
        width = max(32, *(len(command) for command, _ in commands))
        for command, words in commands:
            line = Text.assemble("    ", (f"{command:<{width}}", "cyan"), "  ", (words, "dim"))
            self._screen.print(line, soft_wrap=True)

    def _row(self, entry: Entry, tokens: int) -> None:
        name, style = _name(entry)
        room = self._width - 4 - NAME - TOKENS - 4
        words = fitted(_gist(entry), room)
        line = Text("    ").append(f"{name:<{NAME}}", style).append(words)
        line.pad_right(max(self._width - TOKENS - line.cell_len, 1))
        self._screen.print(line.append(f"{number(tokens):>{TOKENS}}", "dim"))

    def _bar(self, tokens: int, largest: int) -> None:
        filled = max(round(BAR * tokens / max(largest, 1)), 1)
        line = Text("    ").append(f"{'window':<{NAME}}", "bold").append("█" * filled, "cyan")
        line.append("·" * (BAR - filled), "dim")
        words = f"about {many(tokens, 'token')}"
        line.pad_right(max(self._width - len(words) - line.cell_len, 1))
        self._screen.print(line.append(words, "bold"))


def _name(entry: Entry) -> tuple[str, str]:
    if isinstance(entry.body, Message):
        return f"#{entry.seq} {entry.body.role}", ROLES.get(entry.body.role, "bold")
    return f"#{entry.seq} {type(entry.body).__name__}", "bold magenta"


def _gist(entry: Entry) -> str:
    """An entry in a few words."""
    if isinstance(entry.body, Summary):
        return entry.body.text
    parts = entry.body.parts if isinstance(entry.body, Message) else ()
    return " · ".join(filter(None, map(_gist_of, parts)))


def _gist_of(part: object) -> str:
    if isinstance(part, Reasoning):
        return "∴ reasoning"
    if isinstance(part, ToolCall):
        return f"→ {part.name} {part.input}"
    if isinstance(part, ToolResult):
        return f"← {part.name}, {many(part.output.count(chr(10)) + 1, 'line')}"
    return str(getattr(part, "text", ""))
