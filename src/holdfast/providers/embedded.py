"""A small real model inside this process: served on loopback, behind a key of its own.

Rule 1: it listens on this machine only, on a port nobody knows beforehand, and wants a key that is
        made for this one run: being local is no reason to be open.
Rule 2: nothing is fetched here; weights.py does that, when somebody asks for it.
"""

from __future__ import annotations

import os
import secrets
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any
from weakref import WeakValueDictionary

from holdfast.errors import Misuse
from holdfast.providers.weights import MODEL, NAME

WINDOW = 8_192
"""What the model that comes with us holds."""


class Served:
    """Where a model can be spoken to, as long as this is held."""

    def __init__(self, url: str, key: str, server: Any) -> None:
        self.url, self.key, self.server = url, key, server


_running: WeakValueDictionary[tuple[str, int], Served] = WeakValueDictionary()


def serve(weights: str, window: int = WINDOW, threads: int = 0) -> Served:
    """Load a GGUF file and serve it, once for all who hold it; Misuse where that cannot be."""
    name = os.path.realpath(weights), window
    if held := _running.get(name):
        return held
    made = _running[name] = _served(weights, window, threads)
    return made


def _served(weights: str, window: int, threads: int) -> Served:
    try:
        import xllamacpp
    except ImportError as absent:
        raise Misuse(
            "a model inside this process needs xllamacpp; pip install 'holdfast[local]'"
        ) from absent
    if not os.path.isfile(weights):
        raise Misuse(f"there is no model at {weights}; `holdfast models pull` fetches one")
    key = secrets.token_urlsafe(24)
    library: Any = xllamacpp
    told = library.CommonParams()
    told.model.path = weights
    told.model_alias = {name_of(weights)}
    told.n_ctx, told.n_parallel, told.warmup = window, 1, False
    told.api_keys = [key]
    told.cpuparams.n_threads = told.cpuparams_batch.n_threads = threads or _threads()
    told.verbosity = 0
    with _quiet():
        try:
            server = library.Server(told)
        except Exception as failed:
            raise Misuse(f"{weights} cannot be loaded: {failed}; is it a GGUF file?") from failed
    return Served(f"{server.listening_address}/v1", key, server)


def name_of(weights: str) -> str:
    """What a file of weights is called: in the log its path would say where somebody keeps it."""
    file = os.path.basename(weights)
    return MODEL if file == NAME else file


def _threads() -> int:
    """Half of the processors: with all of them, whoever else works here halts the model."""
    return max((os.cpu_count() or 2) // 2, 1)


@contextmanager
def _quiet() -> Iterator[None]:
    """What the library writes to standard error while it loads is of no use to anybody."""
    with suppress(OSError, ValueError):
        sys.stderr.flush()
    kept = os.dup(2)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, 2)
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(nowhere)
