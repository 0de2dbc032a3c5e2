"""A long talk with the small real model, offline: who wrote its summaries, and what was refused.

Rule 1: nothing is played: the model answers, and its own words are what is summarised.
Rule 2: a summary of its own stands only where it was accepted; the rest are made without a model.
"""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from msgspec import Struct

import holdfast
from holdfast.agent.model_choice import SMALL
from holdfast.agent.summariser import Voice
from holdfast.engine.bridge import drive
from holdfast.engine.plugins import embedded
from holdfast.model.log import Summary
from holdfast.model.message import Message
from holdfast.model.plan import Plan
from holdfast.ports import Provider
from tests.long.windows import configured

WINDOW, REPLY = 2_048, 60
SYSTEM = "You are a friendly guide. Answer in one or two short sentences."
FIRST = "My name is Ada. Always call the boat Petrel. "

SUBJECTS = ("the sea", "bread", "an old bridge", "winter", "bees", "the moon", "a small garden",
            "trains", "rice", "mountains", "paper", "rivers")  # fmt: skip
QUESTIONS = (
    "What should I know about {}?",
    "Tell me one story about {} that a child would like.",
    "Why do people care for {}, and what do they do about it?",
    "Compare {} with something else you have spoken of.",
    "What did you say about {} before?",
)


class Told(Struct, kw_only=True):
    """What became of the talk."""

    turns: int = 0
    empty: int = 0
    said: int = 0
    """How many tokens the model wrote in its replies."""
    largest: int = 0
    """The largest window that was sent, as the model itself counted it."""
    asked: int = 0
    """How many questions on the side the model was asked."""
    accepted: int = 0
    refused: int = 0
    without: int = 0
    """Summaries that no model wrote."""
    why: Counter[str]
    seconds: float = 0.0

    def lines(self) -> Iterator[str]:
        """As people read it."""
        why = ", ".join(f"{rule} {many}" for rule, many in self.why.most_common())
        yield f"{self.turns} turns in {self.seconds:,.0f} s, {self.empty} of them without words"
        yield f"{self.said:,} tokens written; the largest prompt had {self.largest:,} of {WINDOW:,}"
        yield (
            f"{self.asked} questions for summaries; {self.accepted} accepted, "
            f"{self.refused} refused ({why or 'nothing was held against any'})"
        )
        yield f"{self.without} summaries were made without a model"


def question(turn: int) -> str:
    """What is said at a turn."""
    subject = SUBJECTS[(turn * 5) % len(SUBJECTS)]
    asked = QUESTIONS[turn % len(QUESTIONS)].format(subject)
    return f"{FIRST if turn == 0 else ''}{asked}"


@contextmanager
def model(weights: Path | str) -> Iterator[Provider]:
    """The small model, as long as it is spoken to; it really holds no more than WINDOW."""
    made, served = embedded(str(weights), WINDOW)
    with closing(made):
        yield made
    del served


def talk(folder: Path, provider: Provider, turns: int, tell: Any = lambda _: None) -> Told:
    """So many turns with a model; what came of them."""
    os.environ.update(configured(folder / "config", {SMALL: WINDOW}, output=REPLY))
    told = Told(why=Counter())
    plans: list[Plan] = []
    began = time.monotonic()
    voice = Voice(lambda _: provider)
    with holdfast.open(folder / "log.db") as hf:
        s = hf.session(model=SMALL, summariser=voice, hooks=[plans.append])
        for turn in range(turns):
            s.user(question(turn))
            entry = s.send(provider, options={"max_tokens": REPLY}, system=SYSTEM)
            body = entry.body
            assert isinstance(body, Message)
            told.turns += 1
            told.empty += not body.text.strip()
            tell(f"{turn}: {body.text[:70]!r}")
        calls = drive(s.store.calls.newest(s.id, 10_000))
        told.said = sum(call.usage.output for call in calls if call.cause == "turn")
        told.largest = max(call.usage.prompt for call in calls)
        made = [e.body for e in s.entries() if isinstance(e.body, Summary)]
        told.without = sum(not one.model for one in made)
        told.accepted = sum(bool(one.model) for one in made)
    for plan in plans:
        told.asked += plan.calls
        told.why.update(one.rule for one in plan.objections)
    told.refused = told.asked - sum(bool(plan.model) for plan in plans)
    told.seconds = time.monotonic() - began
    return told
