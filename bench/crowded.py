"""Do trimmed conversations fit? Thirty of them, full of what tools print, made to fit 128k tokens.

Each is trimmed by Holdfast and by LangChain with its approximate counter. What is left is counted
exactly, with o200k_base: every text of it, without the frames around them.
"""

from __future__ import annotations

import random
import statistics
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from bench.contenders import HOLDFAST
from bench.corpus import CYCLE, Said
from bench.kinds import text
from bench.preparing import (
    MODEL,
    ROOM,
    SYSTEM,
    TOOLS,
    Step,
    Trimmed,
    body,
    called,
    o200k,
    opened,
    texts,
)
from bench.progress import Stage, silent
from bench.table import Table, Target

MANY = 30
LENGTH = 600
PRINTED = ("json", "terminal", "chinese", "base64")
APPROXIMATE = "LangChain trim_messages, approximate"


class Fitted(msgspec.Struct):
    """The exact count of what was left of each conversation, by name."""

    tokens: dict[str, list[int]]


def measure(many: int = MANY, stage: Stage = silent, *, peers: bool = True) -> Fitted:
    """Trim every conversation, and count what is left of it."""
    fitted = Fitted({HOLDFAST: [], APPROXIMATE: []})
    tick = stage(f"trimming {many} conversations", many)
    with tempfile.TemporaryDirectory(prefix="holdfast-bench-") as folder:
        hf = opened(Path(folder) / "store.db")
        for seed in range(many):
            said = list(crowded(seed))
            fitted.tokens[HOLDFAST].append(ours(hf, said))
            if peers:
                left = Trimmed(said).approximate()
                fitted.tokens[APPROXIMATE].append(sum(exact(t) for m in left for t in texts(m)))
            tick()
        hf.close()
    return fitted


def crowded(seed: int) -> Iterator[Step]:
    """A conversation in which tools print four kinds of text."""
    source = random.Random(f"crowded {seed}")
    return called(_said(source))


def _said(source: random.Random) -> Iterator[Said]:
    for number in range(LENGTH):
        role, length = CYCLE[number % len(CYCLE)]
        whole = text(source.choice(PRINTED) if role == "tool" else "prose")
        start = source.randrange(len(whole) - length)
        yield Said(role, whole[start : start + length])
    yield Said("user", "What is left to do?")


def ours(hf: Any, said: list[Step]) -> int:
    """The exact count of the request that Holdfast makes of a conversation."""
    session = hf.session(model=MODEL)
    session.append_all([body(step) for step in said])
    window = session.window(system=SYSTEM, tools=TOOLS)
    return sum(map(exact, spoken(window.request("openai-responses"))))


def spoken(value: Any) -> Iterator[str]:
    """Every text of a request, names of fields left out."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for inner in value.values():
            yield from spoken(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from spoken(inner)


def exact(words: str) -> int:
    return len(o200k().encode_ordinary(words))


def over(fitted: Fitted, name: str) -> int:
    """How many have more than there is room for."""
    return sum(tokens > ROOM for tokens in fitted.tokens[name])


def table(fitted: Fitted) -> Table:
    """How many do not fit, and how large they are."""
    rows = [
        (
            f"**{name}**" if name == HOLDFAST else name,
            f"{over(fitted, name)} of {len(tokens)}",
            *(f"{value:,.0f}" for value in (min(tokens), statistics.median(tokens), max(tokens))),
        )
        for name, tokens in fitted.tokens.items()
        if tokens
    ]
    return Table(("trimmed to 128,000 tokens", "too large", "least", "median", "most"), rows)


def target(fitted: Fitted) -> Target:
    """None may be too large."""
    return Target("trimmed conversations too large", float(over(fitted, HOLDFAST)), 0, "")
