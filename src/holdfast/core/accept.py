"""Whether a summary may stand for what it covers; otherwise nothing changes.

Rule 1: it is finished, says something, and is shorter than what it is to be.
Rule 2: it contradicts nothing that is known, invents nothing, and drops no open request.
Rule 3: what is held against it is told to whoever writes the next one.
"""

from __future__ import annotations

import re

from holdfast.core.estimate import estimate
from holdfast.core.ledger.objections import objections
from holdfast.model.ledger import Ledger, Objection
from holdfast.model.reply import Stop
from holdfast.model.span import Spans

CHECKED = 8 * 1024 * 1024
"""So many characters of what is covered a summary is checked against."""

WORDS = 3
"""A summary of fewer words says nothing."""

FINISHED: tuple[Stop, ...] = ("end",)

_DRAFT = re.compile(r"<analysis>.*?</analysis>\s*", re.DOTALL | re.IGNORECASE)
_UNFINISHED = re.compile(r"<analysis>.*", re.DOTALL | re.IGNORECASE)
"""A draft that was never closed is no answer, whatever stands behind it."""
_ANSWER = re.compile(r"<(summary|state_snapshot)>(.*?)</\1>", re.DOTALL | re.IGNORECASE)
_WORD = re.compile(r"\w")


def answer(text: str) -> str:
    """What a summariser answered, without the draft before it and the tags around it."""
    rest = _DRAFT.sub("", text)
    found = _ANSWER.search(rest)
    return (found[2] if found else _UNFINISHED.sub("", rest)).strip()


def refusals(
    text: str,
    stop: Stop,
    *,
    most: int,
    ledger: Ledger | None = None,
    covered: str = "",
    visible: Spans = (),
) -> list[Objection]:
    """Everything that speaks against a summary; empty where it may stand."""
    if stop not in FINISHED:
        return [Objection(rule="unfinished", text=text[-80:], why=f"it ended with {stop!r}")]
    if not _says_something(text):
        return [Objection(rule="empty", text=text[:80], why="it says nothing")]
    length = estimate(text)
    if length > most:
        why = f"it takes {length:,} tokens, and {most:,} is the most"
        return [Objection(rule="too-long", text=text[:80], why=why)]
    return objections(ledger, text, covered, visible) if ledger else []


def _says_something(text: str) -> bool:
    """Whether there are words in it; some scripts do not part them."""
    words = sum(bool(_WORD.search(word)) for word in text.split())
    return words >= WORDS or len(_WORD.findall(text)) >= WORDS * 4


def corrected(found: list[Objection]) -> str:
    """What to tell whoever is to write it again."""
    lines = [f"- {one.rule}: {one.text[:200]} ({one.why})" for one in found[:20]]
    return "\n".join(lines)
