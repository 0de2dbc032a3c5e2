"""Counting, side by side with tiktoken: exact counts of six kinds of text, a prompt that has not
changed, and how far the estimate is off."""

from __future__ import annotations

import statistics
import tempfile
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from bench import page
from bench.contenders import HOLDFAST
from bench.kinds import KINDS, pieces
from bench.machine import Machine, load, machine
from bench.measure import WARM_UP, Series, interleave, ratio
from bench.preparing import o200k
from bench.progress import Stage, silent
from bench.table import Table, Target, digits, duration, targets, times

ORDINARY, DOCUMENTED = "tiktoken encode_ordinary", "tiktoken encode"
AGAIN, CHARACTERS = f"{HOLDFAST}, unchanged", "characters ÷ 4"
PROMPT = 200_000
VOCABULARY = "o200k_base"


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """How much is measured."""

    rounds: int = 25
    pieces: int = 60
    """Of 4,000 characters, of each kind."""
    budget: float = 30.0


class Error(msgspec.Struct):
    """How far an estimate is off: in all, and the fifth and ninety-fifth of a hundred messages."""

    whole: float
    low: float
    high: float


class Result(msgspec.Struct):
    """Everything that was measured."""

    plan: Plan
    date: str
    machine: Machine
    speed: dict[str, dict[str, Series]] = {}
    """By kind, then by name."""
    characters: dict[str, int] = {}
    prompt: dict[str, Series] = {}
    parts: int = 0
    tokens: int = 0
    errors: dict[str, dict[str, Error]] = {}
    """By kind, then by way of estimating."""


def measure(plan: Plan, stage: Stage = silent) -> Result:
    """Measure everything."""
    facts = machine(("tiktoken",), Path(tempfile.gettempdir()))
    result = Result(plan, datetime.now(UTC).date().isoformat(), facts)
    tick = stage("counting six kinds of text", len(KINDS))
    for kind in KINDS:
        texts = pieces(kind)[: plan.pieces]
        result.characters[kind] = sum(map(len, texts))
        result.speed[kind] = interleave(_exact(texts), rounds=plan.rounds, budget=plan.budget)
        result.errors[kind] = _errors(pieces(kind))
        tick()
    _prompt(result, stage)
    facts.load = (facts.load[0], load())
    return result


def _exact(texts: Sequence[str]) -> dict[str, Callable[[int], object]]:
    """Ways to count these texts exactly; ours forgets what it has counted before each time."""
    encoding = o200k()
    return {
        HOLDFAST: lambda _: _count(_counter(), texts),
        ORDINARY: lambda _: [len(encoding.encode_ordinary(text)) for text in texts],
        DOCUMENTED: lambda _: [len(encoding.encode(text)) for text in texts],
    }


def _counter() -> object:
    from holdfast.counters.exact import ExactCounter

    return ExactCounter(VOCABULARY)


def _count(counter: object, texts: Sequence[str]) -> list[int]:
    from holdfast.engine.bridge import drive

    return drive(counter.count(texts))  # type: ignore[attr-defined]


def _prompt(result: Result, stage: Stage) -> None:
    """A prompt of 200k tokens, counted again though nothing has changed."""
    encode, counter = o200k().encode_ordinary, _counter()
    texts: list[str] = []
    for group in zip(*(pieces(kind, 3_500) for kind in KINDS), strict=False):
        for text in group:
            if result.tokens < PROMPT:
                texts.append(text)
                result.tokens += len(encode(text))
    result.parts = len(texts)
    counts = _count(counter, texts)
    if sum(counts) != result.tokens:
        raise SystemExit("our count of the prompt is not tiktoken's")
    calls: dict[str, Callable[[int], object]] = {
        AGAIN: lambda _: _count(counter, texts),
        ORDINARY: lambda _: [len(encode(text)) for text in texts],
    }
    rounds = result.plan.rounds
    tick = stage("counting a prompt again", rounds + WARM_UP)
    result.prompt = interleave(calls, rounds=rounds, budget=result.plan.budget, tick=tick)


def _errors(texts: Sequence[str]) -> dict[str, Error]:
    from holdfast.core.tokens.estimate import estimate

    encode = o200k().encode_ordinary
    exact = [len(encode(text)) for text in texts]
    ways: dict[str, Callable[[str], int]] = {HOLDFAST: estimate, CHARACTERS: lambda t: len(t) // 4}
    return {name: _error([way(text) for text in texts], exact) for name, way in ways.items()}


def _error(about: Sequence[int], exact: Sequence[int]) -> Error:
    off = [one / other - 1 for one, other in zip(about, exact, strict=True)]
    twentieths = statistics.quantiles(off, n=20, method="inclusive")
    return Error(sum(about) / sum(exact) - 1, twentieths[0], twentieths[-1])


def speed_table(result: Result) -> Table:
    """Megabytes of text in a second, and times tiktoken."""
    rows = []
    for kind, taken in result.speed.items():
        series = taken[ORDINARY]
        speed = result.characters[kind] / (series.median or 1) / 1e6
        rows.append(
            (kind, f"{digits(speed)} M", _times(series, taken[HOLDFAST]),
             _times(taken[DOCUMENTED], taken[HOLDFAST]))
        )  # fmt: skip
    heading = ("exact counts", "characters/s of encode_ordinary", "Holdfast against it",
               "against tiktoken encode")  # fmt: skip
    return Table(heading, rows)


def prompt_table(result: Result) -> Table:
    """The unchanged prompt."""
    base = result.prompt[ORDINARY]
    rows = [
        (name, duration(series.median or 0), _times(base, series))
        for name, series in result.prompt.items()
    ]
    return Table((f"{result.tokens:,} tokens in {result.parts} parts", "time", "faster"), rows)


def error_table(result: Result) -> Table:
    """How far estimates are off."""
    rows = [
        (kind, *(cell for way in (HOLDFAST, CHARACTERS) for cell in _off(found[way])))
        for kind, found in result.errors.items()
    ]
    spread = "5 – 95 of 100 messages"
    return Table(("estimate against exact", HOLDFAST, spread, CHARACTERS, spread), rows)


def _off(error: Error) -> tuple[str, str]:
    return f"{error.whole:+.1%}", f"{error.low:+.0%} … {error.high:+.0%}"


def _times(slow: Series, quick: Series) -> str:
    much = ratio(slow, quick)
    return "–" if much is None else times(much)


def kept_targets(result: Result) -> list[Target]:
    """What must hold, and whether it does."""
    found = [
        Target(
            "faster than tiktoken encode, the least of six kinds", _least(result), 1, least=True
        ),
        Target("time against encode_ordinary, six kinds together", _together(result), 1.05),
    ]
    again = ratio(result.prompt[ORDINARY], result.prompt[AGAIN])
    found.append(Target("an unchanged prompt recounted, times faster", again, 50, least=True))
    worst = max(abs(found[HOLDFAST].whole) for found in result.errors.values())
    found.append(Target("estimate off at most, of six kinds", worst * 100, 10, " %"))
    return found


def _least(result: Result) -> float | None:
    found = [ratio(taken[DOCUMENTED], taken[HOLDFAST]) for taken in result.speed.values()]
    return min((much for much in found if much is not None), default=None)


def _together(result: Result) -> float:
    ours, theirs = (
        sum(taken[name].median or 0 for taken in result.speed.values())
        for name in (HOLDFAST, ORDINARY)
    )
    return ours / theirs


def show(result: Result) -> None:
    """Print it."""
    speed_table(result).show("Exact counts")
    prompt_table(result).show("A prompt that has not changed")
    error_table(result).show("The estimate")
    targets(kept_targets(result)).show("Targets")


def section(result: Result) -> str:
    """Its part of the page."""
    return "\n\n".join(
        (
            f"## Counting\n\nMeasured {result.date} on {page.facts(result.machine)}",
            _SPEED, speed_table(result).markdown(),
            _PROMPT, prompt_table(result).markdown(),
            _ERROR, error_table(result).markdown(),
            "### Targets", targets(kept_targets(result)).markdown(),
        )
    )  # fmt: skip


_SPEED = """\
### Exact counts

Messages of 4,000 characters, with o200k_base, one core. Holdfast counts with tiktoken's own
tokenizer and remembers each count by a hash of its text; here everything is new to it, so the
hash is what it adds. `encode_ordinary` is the faster of tiktoken's calls; `encode` is the one its
documentation begins with."""

_PROMPT = """\
### A prompt that has not changed

From turn to turn most of a prompt stays as it was. Holdfast knows a text by its hash; parts of a
session are not even hashed, their counts are stored beside them."""

_ERROR = """\
### The estimate

What is stored with every part when it is appended, at no vocabulary's cost, against the exact count
of all messages together; beside it how far single messages are off."""
