"""Servers of models that already run on this machine, looked for where they usually listen.

Rule 1: only loopback is asked, for nothing but the list of models, and no key goes along.
Rule 2: what is no such server, or does not answer at once, is passed over without a word.
"""

from __future__ import annotations

import socket
from collections.abc import Collection
from typing import Final, NamedTuple

from holdfast.errors import ProviderError
from holdfast.providers.served_models import served

USUAL: Final = {11434: "Ollama", 1234: "LM Studio", 8080: "llama.cpp", 8000: "vLLM"}
"""Whose port it usually is; who really listens there is not known."""

CONNECTS: Final = 0.3
ANSWERS: Final = 2.0
"""So long may each take to accept a connection, and to say which models it has, in seconds."""


class LocalServer(NamedTuple):
    """A server that answered, and what it has."""

    url: str
    models: tuple[str, ...]

    usual: str = ""
    """The program that usually listens on that port."""

    @property
    def name(self) -> str:
        """As people are told of it."""
        return f"{self.usual or 'the server'} at {self.url}"


async def local_servers(ports: Collection[int]) -> tuple[LocalServer, ...]:
    """Those that have models, in the order of the ports."""
    found: list[LocalServer] = []
    for port in filter(_accepts, ports):
        url = f"http://127.0.0.1:{port}/v1"
        try:
            models = await served(url, seconds=ANSWERS)
        except ProviderError:
            continue
        if models:
            found.append(LocalServer(url, models, USUAL.get(port, "")))
    return tuple(found)


def _accepts(port: int) -> bool:
    """Whether anybody listens: known at once on this machine, before a client is made."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as asked:
        asked.settimeout(CONNECTS)
        return asked.connect_ex(("127.0.0.1", port)) == 0
