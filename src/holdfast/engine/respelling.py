"""Searching for what was mistyped: words that were never said, as the nearest that were."""

from __future__ import annotations

from holdfast.core.words import words as words_of
from holdfast.ports import Store


async def respelled(store: Store, typed: str) -> str:
    """What is typed with each word that was never said as the nearest that was; empty where no
    word is mistyped."""
    found: list[str] = []
    for chunk in typed.split():
        words = words_of(chunk)
        near = await store.search.spelled_like(words[0]) if len(words) == 1 else ()
        found.append(near[0] if near else chunk)
    told = " ".join(found)
    return told if told != " ".join(typed.split()) else ""
