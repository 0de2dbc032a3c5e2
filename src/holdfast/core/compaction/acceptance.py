"""Whether a summary may stand for what it covers; otherwise nothing changes.

Rule 1: it is finished, says something, and is shorter than what it is to be.
Rule 2: it contradicts nothing that is known, invents nothing, and drops no open request.
Rule 3: what is held against it is told to whoever writes the next one.
"""

from __future__ import annotations

import re

from holdfast.core.ledger.checks.objections import objections
from holdfast.core.tokens.estimate import estimate
from holdfast.model.ledger import Ledger, Objection
from holdfast.model.reply import Stop
from holdfast.model.span import Spans

CHECKED = 8 * 1024 * 1024
"""So many characters of what is covered a summary is checked against."""

WORDS = 3
"""A summary of fewer words says nothing."""

FINISHED: tuple[Stop, ...] = ("end",)

_TAG = re.compile(r"<(/?)(analysis|summary|state_snapshot)>", re.IGNORECASE)
_BLANKS = re.compile(r"\s*+")
_WORD = re.compile(r"\w")


def answer(text: str) -> str:
    """What a summariser answered, without the draft before it and the tags around it.

    A draft that was never closed is no answer, whatever stands behind it. Every tag is looked at
    once, so that a reply of nothing but tags takes time linear in its length.
    """
    rest, unfinished = _without_drafts(text)
    ends: dict[str, list[int]] = {}
    tags = list(_TAG.finditer(rest))
    for tag in reversed(tags):  # the nearest end of each kind is the last in its list
        if tag[1]:
            ends.setdefault(tag[2].lower(), []).append(tag.start())
    for tag in tags:
        name = tag[2].lower()
        if tag[1]:
            ends[name].pop()
        elif name != "analysis" and ends.get(name):
            return rest[tag.end() : ends[name][-1]].strip()
    return (rest if unfinished < 0 else rest[:unfinished]).strip()


def _without_drafts(text: str) -> tuple[str, int]:
    """The text without what stands in `<analysis>`, and where one begins that has no end; -1."""
    kept: list[str] = []
    at, begun = 0, -1
    for tag in _TAG.finditer(text):
        if tag[2].lower() != "analysis":
            continue
        if tag[1] and begun >= 0:
            kept.append(text[at:begun])
            at, begun = _BLANKS.match(text, tag.end()).end(), -1  # type: ignore[union-attr]
        elif not tag[1] and begun < 0:
            begun = tag.start()
    before = "".join(kept)
    return before + text[at:], len(before) + begun - at if begun >= 0 else -1


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
