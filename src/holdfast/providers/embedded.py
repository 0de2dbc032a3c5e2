"""A small real model on this machine: served on loopback by a process of its own.

Rule 1: it listens on this machine only, on a port nobody knows beforehand, and wants a key that is
        made for this one run: being local is no reason to be open.
Rule 2: nothing is fetched here; weights.py does that, when somebody asks for it.
Rule 3: loading can be interrupted, says how long it has taken, and ends with this process.
"""

from __future__ import annotations

import json
import os
import secrets
import time
from collections.abc import Callable
from threading import Lock
from typing import Final
from weakref import WeakValueDictionary, finalize

from holdfast.child_process import Child
from holdfast.errors import InvalidRequest
from holdfast.providers.weights import MODEL, NAME

WINDOW = 8_192
"""What the model that comes with us holds."""

LONGEST: Final = 600.0
"""So long may a model take to load, in seconds."""

TICK: Final = 0.1

Loading = Callable[[float], None]
"""Told for how many seconds a model has been loading, again and again."""


class Served:
    """Where a model can be spoken to, as long as this is held."""

    def __init__(self, url: str, key: str, child: Child) -> None:
        self.url, self.key = url, key
        finalize(self, child.close)


_running: WeakValueDictionary[tuple[str, int], Served] = WeakValueDictionary()
_starting: Final = Lock()


def serve(
    weights: str, window: int = WINDOW, threads: int = 0, loading: Loading = lambda _: None
) -> Served:
    """Load and serve a GGUF file, once for all who hold it; InvalidRequest where it cannot be."""
    name = os.path.realpath(weights), window
    with _starting:
        if held := _running.get(name):
            return held
        made = _running[name] = _served(weights, window, threads, loading)
    return made


def _served(weights: str, window: int, threads: int, loading: Loading) -> Served:
    if not os.path.isfile(weights):
        raise InvalidRequest(f"there is no model at {weights}; `holdfast models pull` fetches one")
    key = secrets.token_urlsafe(24)
    told = {"weights": os.path.abspath(weights), "name": name_of(weights), "window": window,
            "key": key, "threads": threads or _threads()}  # fmt: skip
    child = Child("holdfast.providers.model_server")
    try:
        child.tell(json.dumps(told).encode())
        said = json.loads(_answer(child, weights, loading))
        if "wrong" in said:
            raise InvalidRequest(said["wrong"])
    except EOFError:
        child.close()
        raise InvalidRequest(
            f"{weights} cannot be loaded: its process ended; see "
            "whether it is a GGUF file that fits into the memory"
        ) from None
    except BaseException:
        child.close()
        raise
    return Served(said["url"], key, child)


def _answer(child: Child, weights: str, loading: Loading) -> bytes:
    """What the process says once the model is loaded."""
    began = time.monotonic()
    while not child.ready(TICK):
        waited = time.monotonic() - began
        if waited > LONGEST:
            raise InvalidRequest(
                f"{weights} was not loaded within {LONGEST:g} s; name a smaller model"
            )
        loading(waited)
    return bytes(child.answer(time.monotonic() + LONGEST))


def name_of(weights: str) -> str:
    """What a file of weights is called: in the log its path would say where somebody keeps it."""
    file = os.path.basename(weights)
    return MODEL if file == NAME else file


def _threads() -> int:
    """Half of the processors: with all of them, whoever else works here halts the model."""
    return max((os.cpu_count() or 2) // 2, 1)
