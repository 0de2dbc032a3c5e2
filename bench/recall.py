"""How well what was said is found again: by words, by meaning, and by both.

PersonaMem's questions (32k, MIT) are answered by a hit of any conversation with whoever asks; their
names are left out, and with them the easy way. Questions in LoCoMo's layout are answered by turns.
What search weighs was chosen on every second question; the others are reported.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from statistics import mean, median

import msgspec

import holdfast
from bench.page import PICTURES, write
from bench.picture import groups
from bench.progress import Stage, silent
from bench.recall_data import Case, Question, Turn, locomo, personamem
from bench.table import Table
from holdfast.engine.client import Holdfast, drive
from holdfast.engine.ids import SystemClock, Ulids
from holdfast.engine.plugins import embedder
from holdfast.model.log import Draft, SessionInfo
from holdfast.model.message import assistant, user
from holdfast.stores.search.vectors import nearest
from holdfast.stores.sql.keys import entry_of, number_of, seq_of
from holdfast.stores.sqlite.store import SqliteStore

TEN = 10
WORDS, VECTORS, BOTH = "words", "vectors", "both"
WAYS = (WORDS, VECTORS, BOTH)
ALL = "all"


class Score(msgspec.Struct):
    """How well one way of searching answers the questions of a category."""

    ten: float
    """How much of what answers is among the first ten; of a session, whether it is."""
    reciprocal: float
    """The mean of one over the place of the first that answers."""


class Result(msgspec.Struct):
    """Scores by category and way."""

    when: str
    name: str
    questions: dict[str, int]
    messages: int
    scores: dict[str, dict[str, Score]]
    milliseconds: dict[str, float]
    """The median of each way."""


def measure(
    stage: Stage = silent, every: int = 1, file: Path | None = None, half: int | None = 1
) -> Result:
    """Ask every question of a half in three ways; `file` is one in LoCoMo's layout."""
    cases = locomo(file) if file else personamem()
    asked = [(case, question) for case in cases for question in case.questions]
    chosen = [one for at, one in enumerate(asked) if half is None or at % 2 == half][::every]
    tick = stage("asking", len(chosen))
    found: dict[tuple[str, str], list[tuple[float, float]]] = {}
    took: dict[str, list[float]] = {way: [] for way in WAYS}
    for case in cases:
        mine = [question for other, question in chosen if other is case]
        with tempfile.TemporaryDirectory() as folder, holdfast.open(f"{folder}/log.db") as hf:
            places = _tell(hf, case)
            hf.search("ready", meaning=True)
            for question in mine:
                for way, ranked, seconds in _asked(hf, question.text):
                    took[way].append(seconds)
                    for category in (question.category, ALL):
                        found.setdefault((category, way), []).append(
                            _score(question, ranked, places)
                        )
                tick()
    categories = [*sorted({category for category, _ in found} - {ALL}), ALL]
    return Result(
        when=f"{datetime.now(UTC):%Y-%m-%d}",
        name=file.stem if file else "PersonaMem",
        questions={one: len(found[one, WORDS]) for one in categories},
        messages=sum(len(turns) for case in cases for turns in case.sessions.values()),
        scores={one: {way: _mean(found[one, way]) for way in WAYS} for one in categories},
        milliseconds={way: median(each) * 1000 for way, each in took.items()},
    )


def _tell(hf: Holdfast, case: Case) -> dict[tuple[str, int], str]:
    """The sessions of a case into a store; which turn is where."""
    clock, store = SystemClock(), hf.engine.store
    ids = Ulids(clock)
    places: dict[tuple[str, int], str] = {}
    for id, turns in case.sessions.items():
        created = turns[0].created if turns else 0
        drive(store.sessions.create(SessionInfo(id=id, created=created or clock.now())))
        drafts = [Draft(id=ids.new(), body=_body(turn), created=turn.created or clock.now())
                  for turn in turns]  # fmt: skip
        drive(store.log.append(id, drafts))
        places |= {(id, seq): turn.id for seq, turn in enumerate(turns, 1)}
    return places


def _body(turn: Turn) -> holdfast.Message:
    return user(turn.text) if turn.role == "user" else assistant(turn.text)


def _asked(hf: Holdfast, text: str) -> Iterator[tuple[str, list[tuple[str, int]], float]]:
    """The places of the best hits in each way, and how long it took."""
    for way in WAYS:
        begun = time.perf_counter()
        if way == VECTORS:
            places = _near(hf, text)
        else:
            hits = hf.search(text, meaning=way == BOTH, limit=50)
            places = [(hit.session, hit.seq) for hit in hits]
        yield way, list(dict.fromkeys(places)), time.perf_counter() - begun


def _near(hf: Holdfast, text: str) -> list[tuple[str, int]]:
    """What is nearest in meaning, whatever its words."""
    store = hf.engine.store
    assert isinstance(store, SqliteStore)
    (asked,) = embedder().embed([text])
    every = "SELECT place, vector FROM search_vectors ORDER BY place DESC LIMIT ?"
    near = nearest(store.db, embedder(), asked, [(every, ())])
    ids = dict(store.db.rows("SELECT n, id FROM sessions"))
    best = sorted(near, key=lambda at: -near[at])[:50]
    return [(ids[number_of(entry_of(at))], seq_of(entry_of(at))) for at in best]


def _score(
    question: Question, ranked: list[tuple[str, int]], places: dict[tuple[str, int], str]
) -> tuple[float, float]:
    right = [place for place, (session, seq) in enumerate(ranked, 1)
             if session in question.sessions or places[session, seq] in question.turns]  # fmt: skip
    among = sum(place <= TEN for place in right)
    ten = among / len(question.turns) if question.turns else float(among > 0)
    return ten, 1 / right[0] if right else 0.0


def _mean(scores: list[tuple[float, float]]) -> Score:
    return Score(mean(ten for ten, _ in scores), mean(first for _, first in scores))


def table(result: Result) -> Table:
    """Every category, and how well each way answers it."""
    rows = [
        (category, str(result.questions[category]),
         *(f"{ways[way].ten:.3f} · {ways[way].reciprocal:.3f}" for way in WAYS))
        for category, ways in result.scores.items()
    ]  # fmt: skip
    rows.append(("milliseconds", "", *(f"{result.milliseconds[way]:.1f}" for way in WAYS)))
    return Table(("asked for", "questions", *WAYS), rows)


def publish(result: Result) -> None:
    """To the page, with its picture."""
    values = {
        category: {way: score.ten for way, score in ways.items()}
        for category, ways in result.scores.items()
    }
    groups(values, f"{result.name}: found among the first ten", PICTURES / "recall.svg")
    write("recall", section(result))


def section(result: Result) -> str:
    """The section of the page."""
    return f"""
## Finding again

{result.questions[ALL]} questions of PersonaMem (32k) over {result.messages:,} messages, without the
names of who asks; they are the half on which nothing was chosen. In each cell: how often a
conversation with whoever asks is among the first ten hits, and the mean of one over the place of
the first such hit.

{table(result).markdown()}

![How much is found among the first ten](pictures/recall.svg)

Measured on {result.when}. `python -m bench recall`. Another file of questions, in LoCoMo's layout:
`python -m bench recall --file locomo10.json`; there it counts how many of the turns that answer a
question are among the first ten.
"""
