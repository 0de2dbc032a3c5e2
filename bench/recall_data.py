"""Conversations with questions about them: PersonaMem, and any file in LoCoMo's published layout.

A LoCoMo file is a JSON list; each item has a `conversation` with `session_1`, `session_2`, … (turns
with `speaker`, `dia_id` and `text`) and `session_1_date_time`, …, and `qa` with `question`,
`category` and `evidence`, the `dia_id` of the turns that answer it.
"""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec

DATA = Path(__file__).resolve().parents[2] / "shared" / "data" / "recall"

LOCOMO = {1: "several turns", 2: "time", 3: "open", 4: "one turn", 5: "adversarial"}
"""What the numbers of its categories stand for."""

_TURN = re.compile(r"\n\n(?=\[(?:USER|ASSISTANT)\])")
_SPEAKER = re.compile(r"^\[(\w+)\] (?:User: |Assistant: )?")
_NAMED = re.compile(r"^(?:User: [^\n]{1,40}\n\n)?(?:User: )?")
_DATE = "%I:%M %p on %d %B, %Y"


class Turn(msgspec.Struct):
    """One message of a conversation."""

    id: str
    role: str
    text: str
    created: int = 0


class Question(msgspec.Struct):
    """What is asked, and what answers it: turns, or any turn of some sessions."""

    text: str
    category: str
    turns: set[str]
    sessions: set[str]


class Case(msgspec.Struct):
    """Sessions that are searched together, and the questions about them."""

    sessions: dict[str, list[Turn]]
    questions: list[Question]


def personamem() -> list[Case]:
    """589 questions; each is answered by any conversation with whoever asks it."""
    documents, asked = _read("documents"), _read("queries")
    texts = list(dict.fromkeys(document["content"] for document in documents))
    homes: dict[str, set[str]] = {}
    for document in documents:
        homes.setdefault(document["id"], set()).add(str(texts.index(document["content"])))
    sessions = {str(number): list(_turns(str(number), text)) for number, text in enumerate(texts)}
    questions = [
        Question(
            _NAMED.sub("", one["meta"]["retrieval_query"]),
            one["meta"]["question_type"].replace("_", " "),
            set(),
            set[str]().union(*(homes.get(id, set()) for id in one["gold_ids"])),
        )
        for one in asked
    ]
    return [Case(sessions, questions)]


def _read(name: str) -> list[dict[str, Any]]:
    path = DATA / f"personamem_32k_{name}.json.gz"
    if not path.exists():
        raise SystemExit(f"the questions are missing: no {path.name} in ../shared/data/recall")
    return json.loads(gzip.decompress(path.read_bytes()))


def _turns(session: str, text: str) -> Iterator[Turn]:
    for number, turn in enumerate(_TURN.split(text)):
        speaker = _SPEAKER.match(turn)
        if speaker and speaker[1] in ("USER", "ASSISTANT"):
            yield Turn(f"{session}:{number}", speaker[1].lower(), turn[speaker.end() :])


def locomo(path: Path) -> list[Case]:
    """A file in LoCoMo's layout: each conversation by itself."""
    try:
        samples = json.loads(path.read_bytes())
        return [_sample(sample) for sample in samples]
    except (ValueError, KeyError, TypeError) as error:
        raise SystemExit(f"{path} is not in LoCoMo's layout ({error!r})") from error


def _sample(sample: dict[str, Any]) -> Case:
    told = sample["conversation"]
    names = sorted((name for name in told if re.fullmatch(r"session_\d+", name)), key=_number)
    sessions = {
        name: [_turn(turn, told.get("speaker_a"), at) for turn in told[name]]
        for name, at in ((name, _time(told.get(f"{name}_date_time", ""))) for name in names)
    }
    known = {turn.id for turns in sessions.values() for turn in turns}
    questions: list[Question] = []
    for asked in sample["qa"]:
        answers = {id for each in asked.get("evidence", ()) for id in re.findall(r"D\d+:\d+", each)}
        if answers & known:
            category = asked.get("category", "")
            named = LOCOMO.get(category, str(category))
            questions.append(Question(asked["question"], named, answers & known, set()))
    return Case(sessions, questions)


def _turn(turn: dict[str, Any], first: str | None, at: int) -> Turn:
    shown = f" [shows {turn['blip_caption']}]" if turn.get("blip_caption") else ""
    role = "user" if turn["speaker"] == first else "assistant"
    return Turn(turn["dia_id"], role, f"{turn['speaker']}: {turn['text']}{shown}", at)


def _number(name: str) -> int:
    return int(name.rpartition("_")[2])


def _time(told: str) -> int:
    try:
        return int(datetime.strptime(told, _DATE).replace(tzinfo=UTC).timestamp() * 1000)
    except ValueError:
        return 0
