"""A program that is told to end does so, wherever it is: SIGTERM, SIGHUP, a terminal that is gone.

It is interrupted as Ctrl-C interrupts it: commands end with all they started, what was said is
kept, and the status is 143 or 129, as a shell counts it. A watcher waits for that beside it. What
has not ended in time (a system call, a lock, an event loop with tasks left) is not waited for: the
processes it started are killed, and it leaves. Nothing is lost by that, as every step is in the log
before the next one is taken.

A run that is to outlive its terminal (`nohup`) ignores SIGHUP, and goes on ignoring it; a chat has
nobody to talk to without its terminal, and ends.
"""

from __future__ import annotations

import os
import select
import signal
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any, Final

GRACE: Final = 5.0
"""So long has a run to come to its end, in seconds."""

PROMPT: Final = 0.75
"""So long has a chat, in seconds: who closed its terminal does not wait for it."""

_told: list[int] = []
"""The signal that has told this program to end."""

_wake: list[int] = []
"""Where the watcher is woken: the writing end of its pipe."""


def told_to_end() -> bool:
    """Whether somebody has told this program to end."""
    return bool(_told)


@contextmanager
def ends_when_told(*, terminal: bool = False) -> Iterator[None]:
    """Interrupt what is going on when a signal comes, once, and leave when that has ended.

    With a `terminal`, its end is such a signal too, and nothing is ignored.
    """
    _told.clear()
    before = {one: signal.signal(one, _interrupt) for one in _signals(ignored=terminal)}
    _watch(_terminals() if terminal else (), PROMPT if terminal else GRACE)
    try:
        yield
    except BaseException:
        if not told_to_end():
            raise
    finally:
        for one, handler in before.items():
            signal.signal(one, signal.SIG_IGN if told_to_end() else handler)
        if not told_to_end():
            _unwatch()
    if told_to_end():
        _let_go()
        raise SystemExit(128 + _told[0])


@contextmanager
def interrupts_wait() -> Iterator[None]:
    """What interrupts meanwhile does so when this is done: for steps that take no time to speak of.

    A signal that ends the program still wakes its watcher, so that no such step holds that up.
    """
    came: list[int] = []
    named = (signal.SIGINT, *_signals(ignored=False))
    before = {one: handler for one in named if callable(handler := signal.getsignal(one))}
    for one in before:
        signal.signal(one, lambda number, _: came.append(number))
    try:
        yield
    finally:
        for one, handler in before.items():
            signal.signal(one, handler)
        for one in dict.fromkeys(came):
            signal.raise_signal(one)


def _let_go() -> None:
    """Write nothing more to a terminal that is gone, also not when Python shuts down."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError):
            with suppress(OSError, ValueError):
                os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _signals(*, ignored: bool) -> list[signal.Signals]:
    """The signals that end it; Windows has no SIGHUP."""
    named = [getattr(signal, name, None) for name in ("SIGTERM", "SIGHUP")]
    there = [one for one in named if one is not None]
    return [one for one in there if ignored or signal.getsignal(one) != signal.SIG_IGN]


def _terminals() -> list[int]:
    return [file.fileno() for file in (sys.stdin, sys.stdout) if file.isatty()]


def _interrupt(number: int, _: object) -> None:
    if not _told:
        _told.append(number)
        if _wake:
            os.write(_wake[0], bytes([number]))
        raise KeyboardInterrupt


def _watch(terminals: Sequence[int], grace: float) -> None:
    """Begin to watch for a signal and for the end of these terminals."""
    woken, wake = os.pipe()
    os.set_blocking(wake, False)
    _wake[:] = [wake]
    watch_signals()
    told: tuple[Any, ...] = (woken, terminals, grace, _state(terminals))
    threading.Thread(target=_ended, args=told, name="holdfast-watcher", daemon=True).start()


def watch_signals() -> None:
    """Wake the watcher when a signal comes, also where no line of Python runs meanwhile.

    To be called again after an event loop, which takes this for itself and does not give it back.
    """
    if _wake:
        signal.set_wakeup_fd(_wake[0], warn_on_full_buffer=False)


def _unwatch() -> None:
    signal.set_wakeup_fd(-1)
    os.close(_wake.pop())


def _ended(woken: int, terminals: Sequence[int], grace: float, state: list[Any]) -> None:
    """Wait until something ends the program, give it time for that, and end it if need be."""
    number = _awaited(woken, terminals)
    if not number:
        os.close(woken)
        return
    time.sleep(grace)
    _kill_all()
    _restore(terminals, state)
    os._exit(128 + number)


def _awaited(woken: int, terminals: Sequence[int]) -> int:
    """The signal that ends the program; 0 where it is not watched any more."""
    waiting = select.poll()
    waiting.register(woken, select.POLLIN)
    for one in terminals:
        waiting.register(one, 0)  # only its end is of interest
    while True:
        for file, event in waiting.poll():
            if file != woken:
                waiting.unregister(file)
                if event & (select.POLLHUP | select.POLLERR):
                    signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGHUP)
                    return signal.SIGHUP
            elif not (came := os.read(woken, 64)):
                return 0
            elif told := [one for one in came if one in (signal.SIGTERM, signal.SIGHUP)]:
                return told[0]


def _kill_all() -> None:
    """Kill what this program has started."""
    from holdfast import child_process
    from holdfast.agent.tools import shell

    shell.kill_all()
    child_process.kill_all()


def _state(terminals: Sequence[int]) -> list[Any]:
    if not terminals:
        return []
    import termios

    with suppress(termios.error):
        return termios.tcgetattr(terminals[0])
    return []


def _restore(terminals: Sequence[int], state: list[Any]) -> None:
    """Leave the terminal as it was found, where it is still there."""
    if state:
        import termios

        with suppress(termios.error):
            termios.tcsetattr(terminals[0], termios.TCSANOW, state)
