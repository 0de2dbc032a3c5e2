"""The store, side by side: a durable turn, the file's size, and opening a long session."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from bench import opening, peers
from bench.contenders import HOLDFAST, RAW, Contender, Door, Lines, RawRows, size_of
from bench.corpus import conversation, payload, turns
from bench.machine import Machine, load, machine
from bench.measure import WARM_UP, Series, interleave
from bench.progress import Stage, silent

SIZES = (100, 1_000, 10_000, 100_000)
SMALL = 1_000
"""The length that the longest is compared with, in the same rounds."""
SHORT = f"{HOLDFAST}, 1k messages"
JSONL = "JSONL + fsync"
AGENTS = "OpenAI Agents SQLiteSession"
LANGCHAIN = "LangChain SQLChatMessageHistory"
ADK = "google-adk DatabaseSessionService"
LANGGRAPH = "LangGraph SqliteSaver"

FIELD: dict[str, Callable[[Path], Contender]] = {
    JSONL: Lines,
    AGENTS: peers.AgentsSession,
    LANGCHAIN: peers.LangChainHistory,
    ADK: peers.AdkService,
    LANGGRAPH: peers.LangGraphSaver,
}


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """How much is measured."""

    sizes: tuple[int, ...] = SIZES
    rounds: int = 60
    in_a_row: int = 10
    """How many turns make a sample."""
    budget: float = 20.0
    """How many seconds of appending each contender has at each length."""
    window: int = 260
    """How many messages are visible when the longest session is opened."""
    cold: int = 11
    """How many times it is opened in a new process."""
    peers: tuple[str, ...] = tuple(FIELD)


class Result(msgspec.Struct):
    """Everything that was measured: by length in messages, then by name."""

    plan: Plan
    date: str
    machine: Machine
    append: dict[int, dict[str, Series]] = {}
    bytes: dict[int, dict[str, int]] = {}
    opening: dict[str, Series] = {}
    cold: dict[str, Series] = {}

    @property
    def longest(self) -> int:
        return max(self.append)

    def size(self, length: int, name: str) -> float | None:
        """How many times its payload a file is."""
        found = self.bytes[length].get(name)
        return None if found is None else found / payload(length)


def measure(plan: Plan, scratch: Path | None = None, stage: Stage = silent) -> Result:
    """Measure everything; files are made beneath `scratch` and removed."""
    with tempfile.TemporaryDirectory(prefix="holdfast-bench-", dir=scratch) as folder:
        here = Path(folder)
        facts = machine(("apsw", "msgspec", *peers.PACKAGES), here)
        result = Result(plan, datetime.now(UTC).date().isoformat(), facts)
        doors: dict[int, Door] = {}
        for length in sorted(plan.sizes):
            doors[length] = Door(here / str(length) / "holdfast")
            _append(result, length, doors, stage)
        last = doors[max(doors)]
        result.opening = opening.warm(last, plan.window, plan.rounds, stage)
        result.cold = opening.cold(last, plan.window, plan.cold, stage)
        for door in doors.values():
            door.close()
        facts.load = (facts.load[0], load())
    return result


def _append(result: Result, length: int, doors: Mapping[int, Door], stage: Stage) -> None:
    """Let everybody append turns to a session of one length."""
    plan, here = result.plan, doors[length].folder.parent
    field: dict[str, Contender] = {HOLDFAST: doors[length]}
    field[RAW] = RawRows(here / "raw", doors[length])
    field |= {name: FIELD[name](here / name) for name in plan.peers}
    result.bytes[length] = _seed(field, length, stage)
    again = {SHORT: doors[SMALL]} if length > SMALL in doors else {}
    said = turns((plan.rounds + WARM_UP) * plan.in_a_row)
    for contender in field.values():
        contender.ready(said)
    calls = {name: _turns(one, said) for name, one in (*field.items(), *again.items())}
    taken = interleave(
        calls, rounds=plan.rounds, budget=plan.budget, in_a_row=plan.in_a_row, seed=length,
        tick=stage(f"appending at {length:,} messages", plan.rounds + WARM_UP),
    )  # fmt: skip
    result.append[length] = taken
    _check(field, taken, length)
    for name, contender in field.items():
        if name != HOLDFAST:
            contender.close()
            shutil.rmtree(contender.folder)


def _turns(contender: Contender, said: Sequence[tuple[str, str]]) -> Callable[[int], None]:
    return lambda number: contender.turn(*said[number])


def _seed(field: Mapping[str, Contender], length: int, stage: Stage) -> dict[str, int]:
    """Give everybody a conversation of this length; the size of each closed file."""
    tick = stage(f"seeding {length:,} messages", len(field))
    sizes: dict[str, int] = {}
    for name, contender in field.items():
        contender.open()
        contender.seed(conversation(length))
        contender.close()
        sizes[name] = size_of(contender.folder)
        tick()
    for contender in field.values():
        contender.open()
    os.sync()
    return sizes


def _check(field: Mapping[str, Contender], taken: Mapping[str, Series], length: int) -> None:
    """Nobody is fast by keeping less."""
    for name, contender in field.items():
        held, due = contender.count(), length + 2 * taken[name].done
        if held != due and not taken[name].cut_off:
            raise SystemExit(f"{name} holds {held} messages where {due} were appended")
