"""How we are measured: OpenTelemetry, where the program or its environment has set it up.

Nothing is imported before something happens, and nothing at all where nobody measures.
"""

from __future__ import annotations

import os
import sys
import threading
import warnings
from typing import TYPE_CHECKING

from holdfast.errors import NotMeasured
from holdfast.model.event import Event

if TYPE_CHECKING:
    from holdfast.telemetry.emit import Emitter

SIGNALS = ("METRICS", "TRACES", "LOGS")


def telemetry() -> Measured | None:
    """Whoever measures; None where neither the program nor its environment wants that."""
    if os.environ.get("OTEL_SDK_DISABLED", "").strip().lower() == "true":
        return None
    named = (os.environ.get(f"OTEL_{signal}_EXPORTER", "") for signal in SIGNALS)
    asked = any(name.strip().lower() not in ("", "none") for name in named)
    return _MEASURED if asked or "opentelemetry" in sys.modules else None


class Measured:
    """Told of what happens; OpenTelemetry is set up with the first of it, once in a process."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._emitter: Emitter | None = None
        self._ready = False

    def emit(self, event: Event) -> None:
        """Tell OpenTelemetry, if it can be told at all."""
        if not self._ready:
            with self._lock:
                if not self._ready:
                    self._emitter, self._ready = _made(), True
        if self._emitter:
            self._emitter.emit(event)


def _made() -> Emitter | None:
    try:
        from holdfast.telemetry.setup import emitter

        return emitter()
    except ImportError:
        return None  # the extra is absent: the variables are meant for other programs
    except Exception as error:
        warnings.warn(f"nothing is measured: {error}", NotMeasured, stacklevel=2)
        return None


_MEASURED = Measured()
