"""Constraints and corrections in what a user said, sentence by sentence.

Rule 1: only prose is read: code, quotes, paths, pasted logs and tables are left out.
Rule 2: a question is no constraint, and the first words of a session correct nothing.
Rule 3: in a text of a script without blanks, lines of plain ASCII are pasted, not said.
Rule 4: what follows "error:" up to the next empty line is what a program said, and a message
        that begins with the first item of a numbered list answers questions with it.
Rule 5: nothing longer than SPEECH is read: what is that long is a document that was handed over,
        and what its sentences are meant to constrain cannot be decided.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import Final

from holdfast.core.ledger.checks.matching import is_wide
from holdfast.core.ledger.wishes.literals import needed
from holdfast.core.ledger.wishes.rules import RULES, Kind, Rule
from holdfast.model.ledger import Wish

SPEECH: Final = 4000
SENTENCE: Final = 400

_FENCE = re.compile(r"```.*?(?:```|\Z)|~~~.*?(?:~~~|\Z)|<(\w[\w-]*)[^>]*>.*?</\1>", re.DOTALL)
_END = re.compile(r"(?<!^\d[.])(?<=[.!?])\s+|(?<=[。！？；])|\n+", re.MULTILINE)
_ITEM = re.compile(r"\A[-*•\t ]*\d+[.)]\s+")
_ANSWERS = re.compile(r"\A\s*1[.)]\s+\S")
_TOLD = re.compile(
    r"(\b(?:errors?|exception|traceback|stack ?trace|warnings?|logs?|feedback|review comments?"
    r"|(?:other|another|original|coding|building) agent)\b"
    r"[^\n:]{0,40}:\s*)\S.*?(?=\n\s*\n|\Z)",
    re.IGNORECASE | re.DOTALL,
)
_QUOTED = re.compile(r"`[^`\n]*`|\"[^\"\n]{0,200}\"|“[^”\n]{0,200}”|「[^」\n]{0,200}」")
_PASTED = re.compile(
    r"^\s{4,}\S|'.{20,}'$|"
    r"^\s*(?:>|\||\$ |[+-]{1,3} ?\d|@@|at \S+[:(]|File \"|Traceback|[➜❯#]\s*\S|\d+\s*["
    r"|:│]"
    r"|E\s{2,}|\[?(?:error|warn|info|debug)\b.{0,3}[\]:]|[\w.]*(?:Error|Exception):|"
    r"Run (?:[\w.-]+/[\w@.-]+|(?:python|npm|pip|mkdocs|cargo|go|make) \S)"
    r"|npm |Debugger |[×✗✘⨯] |(?:FAIL|PASS)(?:ED)?\s)",
    re.IGNORECASE,
)


def wishes(seq: int, text: str, kind: Kind, *, begun: bool) -> tuple[Wish, ...]:
    """The sentences of a text that are of this kind; `begun` says that something went before."""
    if len(text) > SPEECH or (kind == "correction" and not begun):
        return ()
    wide = is_wide(text)
    own = _TOLD.sub(r"\1", text)
    answers = kind == "correction" and bool(_ANSWERS.match(text))
    found = (
        (sentence, _named(sentence, possible(sentence, kind)))
        for sentence in sentences(own)
        if not (wide and sentence.isascii()) and not (answers and _ITEM.match(sentence))
    )
    return tuple(Wish(seq=seq, text=said, inferred=names) for said, names in found if names)


@cache
def _rules(kind: Kind) -> tuple[tuple[Rule, frozenset[str] | None], ...]:
    """The rules of a kind, each with the words of which it needs one in plain ASCII."""
    return tuple((rule, needed(rule.shape)) for rule in RULES if rule.kind == kind)


def possible(sentence: str, kind: Kind) -> list[Rule]:
    """The rules that may find something in a sentence: of plain ASCII most of them cannot."""
    if not sentence.isascii():
        return [rule for rule, _ in _rules(kind)]
    plain = sentence.lower()
    return [
        rule
        for rule, words in _rules(kind)
        if words is None or any(word in plain for word in words)
    ]


def sentences(text: str) -> Iterator[str]:
    """The sentences of a text that are somebody's own prose."""
    for sentence in _END.split(_FENCE.sub(" ", text)):
        if sentence.strip() and len(sentence) <= SENTENCE and not _PASTED.match(sentence):
            yield sentence.strip()


def _named(sentence: str, rules: list[Rule]) -> str:
    bare = _QUOTED.sub("…", _ITEM.sub("", sentence)).strip(" -*•\t")
    return " ".join(
        rule.name
        for rule in rules
        if (found := rule.pattern.search(bare)) and not _asked(bare, found.start(), rule)
    )


def _asked(sentence: str, place: int, rule: Rule) -> bool:
    """Whether the match is only asked about; what excludes a means counts in a question as well."""
    if rule.kind == "correction" or rule.name.endswith("-exclusion"):
        return False
    return bool(re.search(r"[?？]\s*$", sentence)) and not re.match(
        r"(?:can|could|would|will) (?:you|we)\b", sentence, re.IGNORECASE
    )
