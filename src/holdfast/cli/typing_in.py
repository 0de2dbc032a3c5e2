"""What is typed: several lines, a history, and a line below that says how full the window is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from holdfast.cli.terminated import watch_signals
from holdfast.core.secrets import redact
from holdfast.engine.settings import settings
from holdfast.files import data_home, private_directory, private_file


def prompt(status: Callable[[], Any], refresh: float | None = None) -> Callable[[], str]:
    """Asks for what is said next; Enter sends it, Alt-Enter or a backslash begins another line.

    With `refresh` the line below is drawn again after so many seconds, whatever is typed.
    """
    from prompt_toolkit import PromptSession
    from prompt_toolkit.completion import WordCompleter
    from prompt_toolkit.key_binding import KeyBindings

    from holdfast.cli.slash import SLASH

    keys = KeyBindings()

    @keys.add("escape", "enter")
    def _(event: object) -> None:
        event.current_buffer.insert_text("\n")  # type: ignore[attr-defined]

    session: PromptSession[str] = PromptSession(
        history=_history(),
        completer=WordCompleter([f"/{name}" for name in SLASH], sentence=True),
        complete_while_typing=False,
        key_bindings=keys,
        bottom_toolbar=status,
        refresh_interval=refresh or 0,
    )

    def line(before: str) -> str:
        try:
            return session.prompt(before)
        finally:
            watch_signals()

    def ask() -> str:
        text = line("> ")
        while text.endswith("\\"):
            text = text[:-1] + "\n" + line("… ")
        return text

    return ask


def _history() -> Any:
    """What was typed before, in a private file, without the keys that are ours."""
    from prompt_toolkit.history import FileHistory

    secrets = settings().secrets

    class Remembered(FileHistory):
        def store_string(self, string: str) -> None:
            super().store_string(redact(string, secrets))

    private_directory(data_home())
    return Remembered(str(private_file(data_home() / "chat-history")))
