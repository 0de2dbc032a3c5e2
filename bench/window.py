"""Preparing a turn, side by side: from a long history to the bytes of a request that fits."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from bench import crowded
from bench.contenders import HOLDFAST, RAW
from bench.corpus import turns
from bench.crowded import APPROXIMATE, Fitted
from bench.machine import Machine, load, machine
from bench.measure import WARM_UP, Series, interleave
from bench.preparing import Counted, Floor, Growing, Step, Trimmed
from bench.progress import Stage, silent

SIZES = (1_000, 10_000)
FRESH, HELD = f"{HOLDFAST}, opened for it", f"{HOLDFAST}, held open"
EXACT, LITELLM = "LangChain trim_messages, tiktoken", "litellm token_counter"
PEERS = (APPROXIMATE, EXACT, LITELLM)
PACKAGES = ("apsw", "msgspec", "tiktoken", "langchain-core", "litellm")


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """How much is measured."""

    sizes: tuple[int, ...] = SIZES
    rounds: int = 60
    budget: float = 15.0
    """How many seconds of preparing each contender has at each length."""
    crowded: int = crowded.MANY
    """How many conversations full of tool output are trimmed."""
    peers: tuple[str, ...] = PEERS


class Result(msgspec.Struct):
    """Everything that was measured: by length in messages, then by name."""

    plan: Plan
    date: str
    machine: Machine
    taken: dict[int, dict[str, Series]] = {}
    bytes: dict[int, int] = {}
    """How large the request is."""
    messages: dict[int, int] = {}
    """How many messages it has."""
    fitted: Fitted | None = None

    @property
    def longest(self) -> int:
        return max(self.taken)


def short(name: str) -> str:
    """The name of what is measured again, at the shortest length, among the longest."""
    return f"{name}, shortest history"


def measure(plan: Plan, scratch: Path | None = None, stage: Stage = silent) -> Result:
    """Measure everything; files are made beneath `scratch` and removed."""
    with tempfile.TemporaryDirectory(prefix="holdfast-bench-", dir=scratch) as folder:
        here = Path(folder)
        result = Result(plan, datetime.now(UTC).date().isoformat(), machine(PACKAGES, here))
        tick = stage("making histories", len(plan.sizes))
        histories: dict[int, Growing] = {}
        for length in sorted(plan.sizes):
            histories[length] = Growing(here, length)
            tick()
        longest = max(histories)
        beside = Growing(here, min(histories), "beside")
        for length, growing in histories.items():
            _prepare(result, growing, beside if length == longest else None, stage)
        for growing in (*histories.values(), beside):
            growing.close()
    result.fitted = crowded.measure(plan.crowded, stage, peers=APPROXIMATE in plan.peers)
    facts = result.machine
    facts.load = (facts.load[0], load())
    return result


def _prepare(result: Result, growing: Growing, beside: Growing | None, stage: Stage) -> None:
    """Let everybody prepare turns of one conversation, which goes on after each round."""
    plan, floor = result.plan, Floor(growing)
    calls: dict[str, Callable[[int], object]] = {
        FRESH: growing.fresh, HELD: growing.kept_open, RAW: floor.prepare,
    }  # fmt: skip
    if beside:
        calls |= {short(FRESH): beside.fresh, short(HELD): beside.kept_open}
    calls |= _peers(plan, growing)
    check(growing, floor)
    said = iter(turns(plan.rounds + WARM_UP, seed=growing.length))
    shown = stage(f"preparing at {growing.length:,} messages", plan.rounds + WARM_UP)

    def go_on() -> None:
        question, answer = next(said)
        for one in filter(None, (growing, beside)):
            one.grow(Step("assistant", answer), Step("user", question))
        floor.look()
        shown()

    taken = interleave(calls, rounds=plan.rounds, budget=plan.budget, seed=1, tick=go_on)
    result.taken[growing.length] = taken
    result.bytes[growing.length] = len(check(growing, floor))
    result.messages[growing.length] = len(growing.preview().blocks)
    floor.close()


def _peers(plan: Plan, growing: Growing) -> dict[str, Callable[[int], object]]:
    calls: dict[str, Callable[[int], object]] = {}
    if APPROXIMATE in plan.peers or EXACT in plan.peers:
        trimmed = Trimmed(growing.said)
        growing.watchers.append(trimmed.grow)
        calls |= {APPROXIMATE: trimmed.approximate, EXACT: trimmed.exact}
    if LITELLM in plan.peers:
        counted = Counted(growing.said)
        growing.watchers.append(counted.grow)
        calls[LITELLM] = counted.count
    return {name: call for name, call in calls.items() if name in plan.peers}


def check(growing: Growing, floor: Floor) -> bytes:
    """The request; all three ways must make the very same bytes."""
    made = floor.prepare()
    if not made == growing.fresh() == growing.kept_open():
        raise SystemExit("Holdfast and the floor do not make the same request")
    return made
