"""What is typed: several lines, a history, and a line below that says how full the window is."""

from __future__ import annotations

import os
import select
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

from holdfast.cli.chat.signals import watch_signals
from holdfast.core.secrets import redact
from holdfast.engine.settings import settings
from holdfast.files import data_home, private_directory

if TYPE_CHECKING:
    from prompt_toolkit import PromptSession
    from prompt_toolkit.buffer import Buffer
    from prompt_toolkit.input import Input

    from holdfast.cli.chat.conversation import Conversation


class Recalled(KeyboardInterrupt):
    """Somebody interrupted what they had just sent, before anything was done with it."""


def prompt(talk: Conversation, refresh: float | None = None) -> Callable[[], str]:
    """Asks for what is said next; Enter sends it, Alt-Enter or a backslash begins another line.

    With `refresh` the line below is drawn again after so many seconds, whatever is typed.
    """
    from prompt_toolkit import PromptSession
    from prompt_toolkit.application import get_app
    from prompt_toolkit.filters import Condition

    from holdfast.cli.chat.completer import ChatCompleter, offers_itself

    completer = ChatCompleter(talk)

    @Condition
    def offering() -> bool:
        return offers_itself(get_app().current_buffer.document.text_before_cursor)

    session: PromptSession[str] = PromptSession(
        history=_history(talk),
        completer=completer,
        complete_in_thread=True,
        complete_while_typing=offering,
        key_bindings=_keys(talk),
        bottom_toolbar=talk.toolbar,
        refresh_interval=refresh or 0,
    )

    line = _line(session, completer.forget, talk.take_typed_again)
    return lambda: _several(line)


def _line(
    session: PromptSession[str], begin: Callable[[], None], default: Callable[[], str]
) -> Callable[[str], str]:
    """Asks for one line behind some words; Recalled where it was sent and interrupted at once."""
    sent: list[str] = []
    accept = session.default_buffer.accept_handler

    def accepted(buffer: Buffer) -> bool:
        sent.append(buffer.text)
        return accept(buffer) if accept else False

    def line(before: str) -> str:
        begin()
        sent.clear()
        try:
            # A signal that comes after Enter must interrupt: their handler would drop it.
            text = session.prompt(before, default=default(), handle_sigint=False)
        except KeyboardInterrupt:
            raise (Recalled if sent else KeyboardInterrupt) from None
        finally:
            watch_signals()
        if interrupted_meanwhile(session.input):
            raise Recalled
        return text

    session.default_buffer.accept_handler = accepted
    return line


def interrupted_meanwhile(typed: Input) -> bool:
    """Whether Ctrl-C was typed after Enter, while the terminal still took it for a key like others.

    Whatever else was typed by then waits for the next prompt.
    """
    from prompt_toolkit.input.typeahead import get_typeahead, store_typeahead
    from prompt_toolkit.keys import Keys

    ahead = get_typeahead(typed)
    if select.select([typed.fileno()], [], [], 0)[0]:
        ahead += typed.read_keys()
    left = [key for key in ahead if key.key != Keys.ControlC]
    store_typeahead(typed, left)
    return len(left) < len(ahead)


def _several(line: Callable[[str], str]) -> str:
    """What is typed, further lines behind a backslash with it."""
    text = line("> ")
    while text.endswith("\\"):
        text = text[:-1] + "\n" + line("… ")
    return text


def _keys(talk: Conversation) -> Any:
    """Keys that do more than to type."""
    from prompt_toolkit.application import get_app, run_in_terminal
    from prompt_toolkit.filters import Condition
    from prompt_toolkit.key_binding import KeyBindings

    from holdfast.cli.chat.outputs import show

    keys = KeyBindings()

    @keys.add("escape", "enter")
    def _(event: Any) -> None:
        event.current_buffer.insert_text("\n")

    @keys.add("escape", "escape", filter=Condition(lambda: not get_app().current_buffer.text))
    def _(event: Any) -> None:
        event.current_buffer.text = "/rewind"
        event.current_buffer.validate_and_handle()

    @keys.add("c-o")
    def _(event: Any) -> None:
        run_in_terminal(lambda: show(talk, ""))

    return keys


def _history(talk: Conversation) -> Any:
    """What was typed before, in a private file, without the keys that are ours."""
    from holdfast.cli.chat.prompt_history import typed_history

    told = settings()
    private_directory(data_home())
    return typed_history(
        data_home() / "prompts.jsonl", told.agent.prompt_history_bytes,
        lambda: talk.agent.session.id, lambda: talk.agent.session.now() // 1_000,
        lambda text: redact(text, told.secrets),
    )  # fmt: skip


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
    end = b"\x04" if wanted else bytes([os.fpathconf(terminal, "PC_VDISABLE")])
    changed[6] = [*before[6]]
    changed[6][termios.VEOF] = end  # a Ctrl-D that is typed meanwhile waits like all else
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
