"""How well the ledger does on messages that were labelled by hand.

`labels.jsonl` names for each message its source and only so many of its words that it can be found
there; messages from public repositories are quoted, since they are not among the recorded data. A
label of null says that people may differ: the message is not scored. The set `held` was labelled
before any rule was tried on it, and no rule was changed for it. A status was proposed by the ledger
and then confirmed, message by message, from how the raw record goes on.
"""

import json
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from holdfast.core.ledger.build import ledger
from holdfast.core.ledger.requests import prose
from holdfast.core.ledger.wishes.recognise import wishes
from holdfast.core.ledger.wishes.rules import Kind
from holdfast.model.ledger import Request
from holdfast.model.log import Entry
from tests.ledger.transcripts import claude, codex, pi
from tests.ledger.words import messages

LABELS = Path(__file__).with_name("labels.jsonl")
READERS: dict[str, Callable[[Path], list[Entry]]] = {
    "claude": claude,
    "codex": codex,
    "other-pi": pi,
}


class Score(NamedTuple):
    """How often a rule was right."""

    right: int
    wrong: int
    missed: int

    @property
    def precision(self) -> float:
        return self.right / (self.right + self.wrong) if self.right + self.wrong else 1.0

    @property
    def recall(self) -> float:
        return self.right / (self.right + self.missed) if self.right + self.missed else 1.0


class Labelled(NamedTuple):
    """A message, whether something went before it, and what was said of it by hand."""

    text: str
    begun: bool
    label: dict[str, Any]


def labels() -> list[dict[str, Any]]:
    return [json.loads(line) for line in LABELS.read_text("utf-8").splitlines()]


def labelled(data: Path) -> Iterator[Labelled]:
    """Every label with the whole message it is about."""
    for label in labels():
        if label["source"].startswith("github:"):
            yield Labelled(label["quote"], True, label)
        else:
            said = _messages(data / "transcripts" / label["source"])
            place = _place(said, label["quote"])
            yield Labelled(said[place], place > 0, label)


@cache
def _messages(file: Path) -> list[str]:
    return messages(file)


@cache
def _requests(file: Path) -> tuple[Request, ...]:
    kind = next(name for name in READERS if name in file.parts)
    return ledger(READERS[kind](file)).requests


def _place(said: list[str], quote: str) -> int:
    if quote in said:
        return said.index(quote)
    return next(place for place, text in enumerate(said) if text.startswith(quote))


def score_wishes(data: Path, kind: Kind, of: str, wide: bool | None = None) -> Score:
    """Right, wrong and missed, message by message; `wide` chooses Chinese or the rest."""
    told = [(one, one.label[kind]) for one in labelled(data) if one.label["set"] == of]
    told = [(one, label) for one, label in told if label is not None]
    if wide is not None:
        told = [(one, label) for one, label in told if _is_wide(one.text) == wide]
    found = [(bool(wishes(1, prose(o.text), kind, begun=o.begun)), label) for o, label in told]
    return Score(found.count((True, True)), found.count((True, False)), found.count((False, True)))


def _is_wide(text: str) -> bool:
    return any("\u4e00" <= sign <= "\u9fff" for sign in text)


def statuses(data: Path) -> list[tuple[str, str]]:
    """The status that the ledger tells and the one told by hand, for each labelled request."""
    found: list[tuple[str, str]] = []
    for label in labels():
        if label.get("status"):
            requests = _requests(data / "transcripts" / label["source"])
            texts = [request.text.strip() for request in requests]
            found.append((requests[_place(texts, label["quote"])].status, label["status"]))
    return found


def score_status(data: Path, status: str) -> Score:
    told = [(ours == status, theirs == status) for ours, theirs in statuses(data)]
    return Score(told.count((True, True)), told.count((True, False)), told.count((False, True)))
