"""What is typed: several lines, a history, and a line below that says how full the window is."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

from holdfast.cli.chat.signals import watch_signals
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

    from holdfast.cli.chat.slash import SLASH

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


@contextmanager
def quiet() -> Iterator[None]:
    """Type without an echo; Ctrl-C interrupts as ever."""
    with _echoing(False):
        yield


@contextmanager
def aloud() -> Iterator[None]:
    """Type with an echo again, for an answer; what was typed before the question is no answer."""
    with _echoing(True):
        forget_typed()
        yield


@contextmanager
def _echoing(wanted: bool) -> Iterator[None]:
    import termios

    try:
        terminal = sys.stdin.fileno()
        before = termios.tcgetattr(terminal)
    except (OSError, ValueError, termios.error):  # no terminal, no echo
        yield
        return
    changed = [*before]
    changed[3] = before[3] | termios.ECHO if wanted else before[3] & ~termios.ECHO
    changed[3] |= termios.NOFLSH  # an interrupt is no reason to forget what was typed
    termios.tcsetattr(terminal, termios.TCSANOW, changed)
    try:
        yield
    finally:
        termios.tcsetattr(terminal, termios.TCSANOW, before)


def forget_typed() -> None:
    """Drop what was typed and not read yet."""
    import termios

    with suppress(OSError, ValueError, termios.error):
        termios.tcflush(sys.stdin.fileno(), termios.TCIFLUSH)
