"""What bounds our own providers: they end within a grace, and complain once.

A collector that is down would otherwise hold up the end of a program for half a minute, and write
into the middle of a conversation each time it is tried.
"""

from __future__ import annotations

import atexit
import logging
import threading
import time
import warnings
from typing import Any, Final

from holdfast.errors import NotMeasured

GRACE: Final = 5.0
"""What is still to be sent when the program ends has so many seconds."""


def bounded(provider: Any) -> Any:
    """A provider of ours, ended with the program."""
    if not _ENDING:
        atexit.register(_end)
        logging.getLogger("opentelemetry").addHandler(Complaint(logging.WARNING))
    _ENDING.append(provider)
    return provider


_ENDING: list[Any] = []


class Complaint(logging.Handler):
    """Tells the first thing that the SDK complains of, and nothing after that."""

    _told = False

    def emit(self, record: logging.LogRecord) -> None:
        """Say it as a warning, once."""
        if not self._told:
            self._told = True
            said = record.getMessage()[:300]
            warnings.warn(f"what is measured does not arrive: {said}", NotMeasured, stacklevel=2)


def _end() -> None:
    """End all of them at the same time, and wait for no longer than the grace."""
    threads = [threading.Thread(target=one.shutdown, daemon=True) for one in _ENDING]
    for thread in threads:
        thread.start()
    until = time.monotonic() + GRACE
    for thread in threads:
        thread.join(max(until - time.monotonic(), 0))
