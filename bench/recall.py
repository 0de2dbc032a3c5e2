"""How well what was said is found again: by its words, by its meaning, and by both.

The conversations and questions are PersonaMem's (32k, MIT). Each document becomes a session,
message by message; a question finds the right thing where a hit is of a conversation with whoever
asks it.
Names are left out of the questions, and with them the easy way.
"""

from __future__ import annotations

import gzip
import json
import re
import tempfile
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec

import holdfast
from bench.page import write
from bench.progress import Stage, silent
from bench.table import Table
from holdfast.engine.client import Holdfast, drive
from holdfast.engine.ids import SystemClock, Ulids
from holdfast.engine.plugins import embedder
from holdfast.model.log import Draft, SessionInfo
from holdfast.model.message import assistant, user
from holdfast.stores.search.vectors import nearest
from holdfast.stores.sql.keys import entry_of, number_of
from holdfast.stores.sqlite.store import SqliteStore

DATA = Path(__file__).resolve().parents[2] / "shared" / "data" / "recall"
DEEPEST = 50
"""Hits that are looked at for the first right one."""

WORDS, MEANING, BOTH = "words (`any=True`)", "meaning alone", "both (`meaning=True`)"

_TURN = re.compile(r"\n\n(?=\[(?:USER|ASSISTANT)\])")
_SPEAKER = re.compile(r"^\[(\w+)\] (?:User: |Assistant: )?")
_NAMED = re.compile(r"^(?:User: [^\n]{1,40}\n\n)?(?:User: )?")


class Score(msgspec.Struct):
    """How far down the first right hit is, over all questions."""

    first: float
    five: float
    reciprocal: float


class Result(msgspec.Struct):
    """Scores by way of searching."""

    when: str
    questions: int
    conversations: int
    messages: int
    scores: dict[str, Score]


def measure(stage: Stage = silent, every: int = 1) -> Result:
    """Ask every question in three ways."""
    documents, questions = _read("documents"), _read("queries")[::every]
    with tempfile.TemporaryDirectory() as folder, holdfast.open(Path(folder) / "log.db") as hf:
        told = list(dict.fromkeys(document["content"] for document in documents))
        messages = sum(_tell(hf, str(number), text) for number, text in enumerate(told))
        homes: dict[str, set[str]] = {}
        for document in documents:
            homes.setdefault(document["id"], set()).add(str(told.index(document["content"])))
        tick = stage("asking", len(questions))
        ranks: dict[str, list[int]] = {WORDS: [], MEANING: [], BOTH: []}
        for question in questions:
            right = set().union(*(homes.get(id, set()) for id in question["gold_ids"]))
            text = _NAMED.sub("", question["meta"]["retrieval_query"])
            for way, ranked in _asked(hf, text).items():
                ranks[way].append(_rank(ranked, right))
            tick()
    return Result(
        when=f"{datetime.now(UTC):%Y-%m-%d}",
        questions=len(questions),
        conversations=len(told),
        messages=messages,
        scores={way: _score(each) for way, each in ranks.items()},
    )


def _read(name: str) -> list[dict[str, Any]]:
    path = DATA / f"personamem_32k_{name}.json.gz"
    if not path.exists():
        raise SystemExit(f"the questions are missing: no {path.name} in ../shared/data/recall")
    return json.loads(gzip.decompress(path.read_bytes()))


def _tell(hf: Holdfast, id: str, text: str) -> int:
    """A document as a session; how many messages."""
    clock, drafts = SystemClock(), []
    ids = Ulids(clock)
    for turn in _TURN.split(text):
        speaker = _SPEAKER.match(turn)
        if speaker and speaker[1] in ("USER", "ASSISTANT"):
            said = turn[speaker.end() :]
            body = user(said) if speaker[1] == "USER" else assistant(said)
            drafts.append(Draft(id=ids.new(), body=body, created=clock.now()))
    store = hf.engine.store
    drive(store.sessions.create(SessionInfo(id=id, created=clock.now())))
    drive(store.log.append(id, drafts))
    return len(drafts)


def _asked(hf: Holdfast, text: str) -> dict[str, list[str]]:
    """The sessions of the best hits, in three ways."""
    by_words = hf.search(text, any=True, limit=DEEPEST)
    both = hf.search(text, meaning=True, limit=DEEPEST)
    return {
        WORDS: [hit.session for hit in by_words],
        MEANING: _meant(hf, text),
        BOTH: [hit.session for hit in both],
    }


def _meant(hf: Holdfast, text: str) -> list[str]:
    """The sessions of what is nearest in meaning, whatever its words."""
    store = hf.engine.store
    assert isinstance(store, SqliteStore)
    (asked,) = embedder().embed([text])
    every = "SELECT place, vector FROM search_vectors ORDER BY place DESC LIMIT ?"
    near = nearest(store.db, embedder(), asked, [(every, ())])
    ids = dict(store.db.rows("SELECT n, id FROM sessions"))
    best = sorted(near, key=lambda at: -near[at])[:DEEPEST]
    return [ids[number_of(entry_of(at))] for at in best]


def _rank(ranked: list[str], right: set[str]) -> int:
    return next((place for place, home in enumerate(ranked, 1) if home in right), 0)


def _score(ranks: list[int]) -> Score:
    many = len(ranks)
    return Score(
        first=sum(rank == 1 for rank in ranks) / many,
        five=sum(0 < rank <= 5 for rank in ranks) / many,
        reciprocal=sum(1 / rank for rank in ranks if rank) / many,
    )


def table(result: Result) -> Table:
    """Every way, and how well it does."""
    rows = [
        (way, f"{score.first:.2f}", f"{score.five:.2f}", f"{score.reciprocal:.2f}")
        for way, score in result.scores.items()
    ]
    return Table(("searched by", "R@1", "R@5", "MRR"), rows)


def publish(result: Result) -> None:
    """To the page."""
    write("recall", section(result))


def section(result: Result) -> str:
    """The section of the page."""
    return f"""
## Finding again

{result.questions} questions of PersonaMem (32k) over {result.messages:,} messages in
{result.conversations} conversations, without the names of who asks. R@1 and R@5: how often the
first hit, or one of the first five, is of a conversation with the one who asks; MRR is the mean of
one over the place of the first such hit.

{table(result).markdown()}

Measured on {result.when}. `python -m bench recall`.
"""
