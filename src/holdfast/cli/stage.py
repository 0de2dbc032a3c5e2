"""Where the demo is shown: windows as a few rows and a bar, the log in a line an entry."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.text import Text

from holdfast.cli.describing import ROLES, marker
from holdfast.cli.show import Look
from holdfast.cli.terminal import console, fitted
from holdfast.cli.wording import many, number, program
from holdfast.model.log import Summary
from holdfast.model.message import Message, Reasoning, ToolCall, ToolResult

if TYPE_CHECKING:
    from holdfast.engine.doors import BlockingSession
    from holdfast.model.log import Entry

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

    def window(self, session: BlockingSession, beside: int = 0, *, rows: bool = True) -> int:
        """What is visible now, and how much of the window it takes beside an earlier one."""
        look = Look(session.view())
        total = 0
        for entry in session.seen():
            tokens = look.tokens_of(entry)
            total += tokens
            if rows:
                self._row(entry, tokens)
        self._bar(total, max(beside, total))
        return total

    def log(self, session: BlockingSession) -> None:
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
            first = f"{name} --store {kept} show last --all", "reads this session"
        else:
            first = f"{name} demo --store demo.db", "does it again and keeps it"
        commands = (first, (f"{name} --help", "lists the commands"))
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
