"""A million parts of invented conversations, with the frequencies that words have in any language.

They are written twice: to a store, as an agent would, and as JSONL, a file for each session and a
line for each part. Both are kept in a folder, and made again only where that has none of the size.
"""

from __future__ import annotations

import itertools
import json
import random
import shutil
import statistics
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

import holdfast
from bench.progress import Stage
from holdfast.engine.client import drive
from holdfast.engine.ids import SystemClock, Ulids
from holdfast.model.log import Draft, SessionInfo
from holdfast.model.message import Message, Part, Role, Text, ToolCall, ToolResult
from holdfast.ports import Store

A_SESSION = 500
"""Parts in each session."""

VOCABULARY = 40_000
POOL = 2_000_000
"""Words of text that is made; parts are slices of it."""

BEGUN = 1_700_000_000_000
MINUTE = 60_000

STARTS = ("b", "c", "d", "f", "g", "k", "l", "m", "n", "p", "r", "s", "t", "v", "z", "st", "tr")
ENDS = ("a", "e", "i", "o", "u", "ai", "er", "on")

Row = tuple[Role, Part]


class Corpus(msgspec.Struct):
    """What was built, and what to ask of it."""

    parts: int
    text: int
    common: str
    share: float
    pairs: list[tuple[str, str]]
    building: dict[str, float]


def built(folder: Path, parts: int, stage: Stage) -> Corpus:
    """The corpus in a folder, made where it is not there yet."""
    done = folder / "corpus.json"
    if done.exists():
        return msgspec.json.decode(done.read_bytes(), type=Corpus)
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "jsonl").mkdir(parents=True)
    corpus = _build(folder, parts, stage)
    done.write_bytes(msgspec.json.encode(corpus))
    return corpus


def _build(folder: Path, parts: int, stage: Stage) -> Corpus:
    pool = words(VOCABULARY, POOL)
    size, held, common = 0, 0, _common(pool)
    pairs: list[tuple[str, str]] = []
    tick = stage("appending", parts // A_SESSION)
    begun = time.perf_counter()
    with holdfast.open(folder / "log.db") as hf:
        store, ids = hf.engine.store, Ulids(SystemClock())
        for number in range(parts // A_SESSION):
            rows = list(session(pool, number))
            texts = [_text(part) for _, part in rows]
            size += sum(map(len, texts))
            held += sum(f" {common} " in f" {text} " for text in texts)
            pairs.append((texts[3].split()[0], texts[3].split()[-1]))
            _write(folder / "jsonl" / f"{number}.jsonl", rows, texts)
            drive(_append(store, ids.new(), number, rows, ids))
            tick()
        appended = time.perf_counter() - begun
        tick = stage("indexing", parts // 1000)
        while hf.index(1000):
            tick()
    took = {"appending": appended, "indexing": time.perf_counter() - begun - appended}
    return Corpus(parts, size, common, held / parts, pairs[:: max(1, len(pairs) // 200)], took)


def words(vocabulary: int, many: int) -> list[str]:
    """Invented words, the second half as often as the first, the third a third as often…"""
    source = random.Random("words")
    known: dict[str, None] = {}
    while len(known) < vocabulary:
        pieces = range(source.randint(1, 4))
        known["".join(source.choice(STARTS) + source.choice(ENDS) for _ in pieces)] = None
    weights = itertools.accumulate(1 / (rank + 8) for rank in range(vocabulary))
    return source.choices(list(known), cum_weights=list(weights), k=many)


def _common(pool: Sequence[str]) -> str:
    """The commonest word: with some 70 words a part it is in half of them."""
    return statistics.mode(pool[:100_000])


def session(pool: Sequence[str], number: int) -> Iterator[Row]:
    """Who speaks, and one part each: asked, called, answered, told."""
    source = random.Random(number)
    for place in range(A_SESSION):
        start, many = source.randrange(len(pool) - 200), source.randint(10, 130)
        text = " ".join(pool[start : start + many])
        kind = place % 4
        if kind == 1:
            name = source.choice(("read", "grep", "bash", "edit"))
            path = f"/home/me/src/area{source.randrange(9)}/{pool[start]}.py"
            input = json.dumps({"path": path, "why": text})
            yield "assistant", ToolCall(f"c{place}", name, input)
        elif kind == 2:
            yield "tool", ToolResult(f"c{place - 1}", text)
        else:
            yield ("user" if kind == 0 else "assistant"), Text(text)


def _text(part: Part) -> str:
    if isinstance(part, ToolCall):
        return part.input
    return part.output if isinstance(part, ToolResult) else part.text  # type: ignore[union-attr]


def _write(path: Path, rows: Sequence[Row], texts: Sequence[str]) -> None:
    lines = (
        json.dumps({"seq": seq, "role": role, "text": text})
        for seq, ((role, _), text) in enumerate(zip(rows, texts, strict=True), 1)
    )
    path.write_text("\n".join(lines) + "\n", "utf-8")


async def _append(store: Store, id: str, number: int, rows: Sequence[Row], ids: Ulids) -> None:
    at = BEGUN + number * A_SESSION * MINUTE
    model = ("large-1", "small-1")[number % 2]
    project = f"/home/me/work{number % 40}"
    await store.sessions.create(SessionInfo(id=id, created=at, project=project, model=model))
    await store.log.append(id, [
        Draft(
            id=ids.new(), body=Message(role, (part,)), created=at + place * MINUTE,
            model=model if role == "assistant" else "",
        )
        for place, (role, part) in enumerate(rows)
    ])  # fmt: skip
