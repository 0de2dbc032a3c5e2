"""HTTP clients of LangChain models, which it keeps for good: here they end with their test."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from langchain_anthropic import chat_models

CLIENTS = ("_get_default_httpx_client", "_get_default_async_httpx_client")
awaited: list[Any] = []


@contextmanager
def closed_clients() -> Iterator[None]:
    """Models have clients of their own within, and those that are not awaited are closed then.

    That LangChain shares them by address is no use here: another server may have the same port.
    """
    made: list[Any] = []
    with pytest.MonkeyPatch.context() as patch:
        for name, kept in zip(CLIENTS, (made, awaited), strict=True):
            make = getattr(chat_models, name).__wrapped__
            patch.setattr(chat_models, name, lambda *, _make=make, _kept=kept, **told: noted(
                _make(**told), _kept))  # fmt: skip
        try:
            yield
        finally:
            for client in made:
                client.close()


def noted(client: Any, kept: list[Any]) -> Any:
    kept.append(client)
    return client


def ran(work: Awaitable[Any]) -> Any:
    """What comes of something that is awaited; the clients it used are closed in its own loop."""

    async def all_of_it() -> Any:
        try:
            return await work
        finally:
            while awaited:
                await awaited.pop().aclose()

    return asyncio.run(all_of_it())
