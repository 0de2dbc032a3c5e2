"""What the user wrote with their own hands, sentence by sentence: the one source that is believed.

Rule 1: the harness speaks in the user's role too; scaffolding is nobody's words, and so is a file
        that was said along.
Rule 2: what a user pastes is not theirs: fenced code, quotes, tags, logs, mail, and everything
        behind a line that hands a document over ("here is the page:") or begins one (a heading, a
        rule, a mail's head).
Rule 3: what reports somebody else ("the README says …") is not theirs, nor is a long sentence that
        a tool or a model had said before.
Rule 4: where it cannot be told, it counts as pasted: what is missed waits for approval, no more.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from datetime import date
from typing import Final

from msgspec import Struct

from holdfast.core.knowledge.hidden_unicode import cleaned
from holdfast.core.ledger.wishes.recognise import SPEECH, sentences
from holdfast.core.search.searchable_text import searchable
from holdfast.core.window.scaffold import own_words
from holdfast.model.log import Entry
from holdfast.model.message import Message, Text
from holdfast.model.note import Evidence

COPIED: Final = 8
"""A sentence of so many words that a tool or a model had said before was copied from it."""

_SOURCE = (
    r"(?:read ?me|docs?|documents?|documentation|pages?|files?|articles?|e-?mails?|mails?|messages?"
    r"|posts?|threads?|issues?|tickets?|comments?|reviews?|logs?|output|results?|response|reply"
    r"|answers?|contents?|texts?|snippets?|excerpts?|quotes?|transcripts?|notes?|wiki|web ?sites?"
    r"|site|blog|slack|chat|guide|manual|spec|specification|policy|config|diff|patch|commit"
    r"|changelog|table|report|paper|pdf|stack ?trace|error|template|prompt|instructions?|agents?"
    r"|assistant|model|claude|chatgpt|gpt|copilot|bot|colleague|he|she|they|it|someone|somebody"
    r"|page'?s|vendor|customer|client|boss|manager|tool|search)"
)
_HANDED = re.compile(
    rf"(?:\b{_SOURCE}\b[^.!?\n]{{0,60}}|\b(?:following|below|attached|pasted?|this|that|here)\b"
    r"[^.!?\n]{0,40}):\s*$",
    re.IGNORECASE,
)
_REPORTED = re.compile(
    rf"\b{_SOURCE}\b(?:'s)?(?:\s+\S+){{0,4}}?\s+(?:says?|said|states?|stated|reads?|claims?|claimed"
    r"|tells?|told|writes?|wrote|suggests?|recommends?|asks?|asked|wants?|instructs?|mentions?"
    r"|contains?|insists?|demands?)\b"
    r"|\b(?:according to|quoting|quoted from|copied from|pasted from|it says"
    r"|i (?:found|read|saw|got"
    r"|copied|pasted|received)|as (?:stated|written|described) in)\b"
    rf"|\b{_SOURCE}:\s+\S",
    re.IGNORECASE,
)
_OWN_REPORT = re.compile(r"^(?:i|we|my|our)\b", re.IGNORECASE)
_BEGINS_DOCUMENT = re.compile(
    r"\s*(?:#{1,6} \S|={3,}|-{3,}|\*{3,}|_{3,}|\"\"\"|'''|-{2,}\s*BEGIN|BEGIN\b|<!--|<[!?/a-z]"
    r"|(?:From|To|Subject|Date|Cc|Sent|Author|Title|Source|URL|Content-Type):\s|https?://\S+\s*$"
    r"|(?:SYSTEM|USER|ASSISTANT|HUMAN|AI|TOOL|DEVELOPER|INSTRUCTIONS?|IMPORTANT"
    r"|NOTE TO (?:AI|LLM)S?"
    r"|ATTENTION)\b[^a-z]{0,20}:|\[(?:system|assistant|tool|user|inst)\b|\{|\|)",
)
_BEGIN_QUOTE = re.compile(r"^\s*(?:>|“|\"(?=[^\"]*$))")
_LONG_QUOTE = re.compile(r"[\"“«「][^\"”»」]{25,}[\"”»」]|'[^']{40,}'")
_LIST = re.compile(r"\s*(?:[-*•]|\d+[.)])\s+")
_RULES = re.compile(
    r"\b(?:rules?|preferences?|conventions?|remember|constraints?|requirements?|keep in mind"
    r"|guidelines|from now on|please|always|about me|facts?)\b[^:\n]{0,60}:\s*$",
    re.IGNORECASE,
)


class Said(Struct, frozen=True, kw_only=True):
    """A sentence that the user wrote."""

    text: str
    evidence: Evidence
    day: date


def authored(entries: Iterable[Entry], day_of: dict[int, date]) -> list[Said]:
    """The user's own sentences among entries, in order; `day_of` has the day of each entry."""
    found: list[Said] = []
    others: list[str] = []
    for entry in entries:
        body = entry.body
        if not isinstance(body, Message):
            continue
        if body.role != "user":
            others.append(_plain(" ".join(map(searchable, body.parts))))
            continue
        others += [
            _plain(part.text) for part in body.parts if isinstance(part, Text) and part.scaffold
        ]
        evidence = Evidence(entry.session, entry.id, entry.seq)
        day = day_of.get(entry.seq, date(1970, 1, 1))
        for part in body.parts:
            if isinstance(part, Text) and not part.scaffold:
                found += [
                    Said(text=one, evidence=evidence, day=day)
                    for one in own_sentences(part.text)
                    if not _copied(one, others)
                ]
    return found


def own_sentences(text: str) -> list[str]:
    """The sentences of what was typed that are the user's own."""
    own = own_words(cleaned(text))
    if len(own) > SPEECH:
        return []
    return [
        plain
        for one in sentences(_before_paste(own))
        if (plain := _LIST.sub("", one).strip()) and not _is_reported(plain)
    ]


def _before_paste(text: str) -> str:
    """The text up to where a document begins; rules that the user introduces are theirs."""
    kept: list[str] = []
    lines = text.splitlines()
    for at, line in enumerate(lines):
        if _BEGINS_DOCUMENT.match(line) or _BEGIN_QUOTE.match(line):
            break
        if _HANDED.search(line.rstrip()) and at + 1 < len(lines) and not _rules_follow(lines, at):
            break
        kept.append(line)
    return "\n".join(kept)


def _rules_follow(lines: Sequence[str], at: int) -> bool:
    """Whether what follows a colon is a list of the user's own."""
    following = next((line for line in lines[at + 1 :] if line.strip()), "")
    return bool(_RULES.search(lines[at].rstrip())) and bool(_LIST.match(following))


def _is_reported(sentence: str) -> bool:
    if _LONG_QUOTE.search(sentence):
        return True
    found = _REPORTED.search(sentence)
    return bool(found) and not (_OWN_REPORT.match(sentence) and found.start() == 0)


def _copied(sentence: str, others: Sequence[str]) -> bool:
    plain = _plain(sentence)
    return plain.count(" ") + 1 >= COPIED and any(plain in one for one in others)


def _plain(text: str) -> str:
    return " ".join(re.findall(r"\w+", text.lower()))
