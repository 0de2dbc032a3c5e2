"""What a summary without a model keeps: of the names that the next 20 turns use, how many are left.

Every transcript is cut at many places. What lies before a cut leaves the window, and so many tokens
may stand for it: the newest of it word for word, as `shed` leaves it; what `extract` writes with
the ledger beside it, at once or cut by cut on what it wrote before; or half of each.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from functools import reduce
from statistics import fmean

import msgspec

from bench import replay
from bench.progress import Stage, silent
from bench.replay import Transcript
from holdfast.core.extract import extract
from holdfast.core.ledger.build import ledger, step
from holdfast.core.ledger.render import render
from holdfast.core.log.transcript_text import told
from holdfast.core.tokens.estimate import estimate
from holdfast.model.ledger import Ledger
from holdfast.model.log import Entry

BUDGETS = (1_000, 2_000, 4_000, 8_000)
SHED, OURS = "shed: the newest, word for word", "extract and ledger"
AGAIN, HALF = "extract and ledger, again at every cut", "half of each"
WAYS = (SHED, OURS, AGAIN, HALF)
ALL, WRITTEN = "in anything said", "written by model or user"
LEDGER = 0.4
"""The ledger takes this share of the tokens at most, as the engine has it."""
JOINT = 4
"""What putting two texts together may add to their estimates."""
COVERED = 2
"""A cut counts where what it covers is at least so many times the budget."""


class Share(msgspec.Struct):
    """What was kept at one cut, by how the tokens were spent."""

    budget: int
    kind: str
    names: int
    """How many of the names in the next turns had been said before."""
    kept: dict[str, float]


class Replayed(msgspec.Struct):
    """All cuts of one transcript."""

    name: str
    tuning: bool
    cuts: int
    shares: list[Share] = []


class Result(msgspec.Struct):
    """Everything that was measured."""

    date: str
    transcripts: list[Replayed]

    def mean(self, way: str, kind: str, budget: int, tuning: bool = False) -> float | None:
        """The share kept: the mean of a transcript's cuts, then of all transcripts."""
        found = [
            [s.kept[way] for s in one.shares if (s.kind, s.budget) == (kind, budget)]
            for one in self.transcripts
            if one.tuning == tuning
        ]
        means = [fmean(shares) for shares in found if shares]
        return fmean(means) if means else None

    def count(self, budget: int, tuning: bool = False) -> tuple[int, int]:
        """How many transcripts and cuts count at this budget."""
        cuts = [
            sum(share.budget == budget and share.kind == ALL for share in one.shares)
            for one in self.transcripts
            if one.tuning == tuning
        ]
        return sum(map(bool, cuts)), sum(cuts)


def measure(
    stage: Stage = silent,
    budgets: Sequence[int] = BUDGETS,
    wanted: Callable[[Transcript], bool] = lambda one: True,
    most: int = replay.MOST,
) -> Result:
    """Replay the transcripts that are wanted."""
    found = [one for one in replay.transcripts() if wanted(one)]
    tick = stage("replaying transcripts", len(found))
    done: list[Replayed] = []
    for one in found:
        done.append(_replayed(one, budgets, most))
        tick()
    return Result(datetime.now(UTC).date().isoformat(), done)


def _replayed(one: Transcript, budgets: Sequence[int], most: int) -> Replayed:
    places = replay.cuts(one.entries, most)
    result = Replayed(one.name, one.tuning, len(places))
    known, at = ledger(()), 0
    so_far = dict.fromkeys(budgets, "")
    for cut in places:
        new, covered = one.entries[at:cut], one.entries[:cut]
        known, at = reduce(step, new, known), cut
        size = sum(estimate(told(entry)) for entry in covered)
        for budget in budgets:
            so_far[budget], again = summary(new, known, budget, so_far[budget])
            if size >= COVERED * budget:
                texts = _texts(covered, known, budget) | {AGAIN: again}
                result.shares += _shares(texts, covered, one.entries, budget)
    return result


def _texts(covered: Sequence[Entry], known: Ledger, budget: int) -> dict[str, str]:
    """What stands for the stretch, by how the tokens are spent."""
    half, rest = shed(covered, budget // 2)
    before, left = covered[:rest], budget - estimate(half) - JOINT
    return {
        SHED: shed(covered, budget)[0],
        OURS: summary(covered, known, budget)[1],
        HALF: f"{summary(before, ledger(before), left)[1]}\n{half}",
    }


def _shares(
    texts: dict[str, str], covered: Sequence[Entry], entries: Sequence[Entry], budget: int
) -> list[Share]:
    """What each way keeps of the names that come again."""
    if over := [way for way, text in texts.items() if estimate(text) > budget]:
        raise SystemExit(f"{over} take more than {budget} tokens")
    left = {way: replay.with_ends(replay.names(text)) for way, text in texts.items()}
    ahead = replay.following(entries, len(covered))
    said = replay.with_ends(replay.names_in(covered))
    shares: list[Share] = []
    for kind, words in ((ALL, replay.words), (WRITTEN, replay.written)):
        used = replay.names_in(ahead, words) & said
        if used:
            kept = {way: len(used & names) / len(used) for way, names in left.items()}
            shares.append(Share(budget, kind, len(used), kept))
    return shares


def shed(entries: Sequence[Entry], budget: int) -> tuple[str, int]:
    """The newest that fits, and where it begins; the first that does not fit whole keeps its end,
    which is more than `shed` itself would leave."""
    kept: list[str] = []
    left = budget
    for at in range(len(entries) - 1, -1, -1):
        text = told(entries[at])
        cost = estimate(text) + JOINT
        if cost > left:
            end = _end(text, left - JOINT)
            return "\n".join(([end] if end else []) + kept[::-1]), at + 1
        kept.append(text)
        left -= cost
    return "\n".join(kept[::-1]), 0


def _end(text: str, tokens: int) -> str:
    size = len(text)
    while size and estimate(text[-size:]) > tokens:
        size = size * 9 // 10
    return text[-size:] if size else ""


def summary(
    entries: Sequence[Entry], known: Ledger, budget: int, earlier: str = ""
) -> tuple[str, str]:
    """What stands for these entries and an earlier extract: the extract, and it with the ledger."""
    facts = render(known, int(budget * LEDGER))
    left = budget - estimate(facts) - JOINT
    text = extract(entries, (earlier,) if earlier else (), left, ledger=known, beside=facts)
    return text, f"{text}\n{facts}"
