"""What a sentence claims about how a command ended.

Rule 1: a claim belongs to the command named last before it, or, where none of those has one, to the
        command named right behind it.
Rule 2: what is hoped for, asked for or conditional claims nothing.
Rule 3: words that say both things at once, such as `3 passed, 1 failed`, claim nothing.
"""

from __future__ import annotations

import re
from typing import Literal

from msgspec import Struct

Claim = Literal["succeeded", "failed", ""]

_BAD = (
    r"(?:fail(?:ed|s|ing|ures?)?|errors?|errored|crash(?:ed|es)?|broken?|red|non-?zero|rejected|"
    r"fehlgeschlagen|schlägt|schlug|fehlschlag|fehlern?|scheitert\w*|falla\w*|falló|fallido|"
    r"errores|échou\w+|échec|erreurs?)"
)
_GOOD = (
    r"(?:pass(?:ed|es|ing)?|succe(?:ed(?:ed|s|ing)?|ss(?:ful(?:ly)?)?)|green|works?|worked|"
    r"clean|ok|erfolgreich|bestanden|grün|läuft|durch|pasan?|pasó|éxito|exitosa?(?:mente)?|réussi\w*|"
    r"succès|passent?|passé\w*)"
)
_WIDE_BAD = r"(?:失败|失敗|报错|報錯|出错|エラー|通らな|落ち)"
_WIDE_GOOD = r"(?:成功|通过|通過|通り|通った)"
_NOT = (
    r"(?:no|not|without|0|zero|never|any|isn't|aren't|wasn't|doesn't|don't|didn't|n'a|n'ont|"
    r"keine?n?|nicht|ohne|sin|ningún|aucune?|sans|ne|pas|free of)"
)
_NEGATED = re.compile(
    rf"\b{_NOT}\s+(?:\w+\s+){{0,2}}?{_BAD}\b|(?:没有|沒有|无|無){_WIDE_BAD}", re.I
)
_DENIED = re.compile(
    rf"\b{_NOT}\s+(?:\w+\s+){{0,1}}?{_GOOD}\b|(?:未|没有|沒有|不){_WIDE_GOOD}|{_GOOD}\s+nicht\b",
    re.I,
)
_EXIT = re.compile(
    r"\b(?:exit(?:ed|s|ing)?|status|return(?:ed|s)?|rc)\s*(?:with\s*)?"
    r"(?:code|status)?\s*[:=]?\s*(-?\d{1,3})\b"
    r"|(?:退出码|退出碼|終了コード)\s*[:：=为是は]?\s*(\d{1,3})",
    re.I,
)
_HOPED = re.compile(
    r"\b(?:should|must|will|would|needs?|until|once|whether|if|ensure|make sure|next|todo|"
    r"to do|expected|expect|wants?|asked|rerun|re-run|verify|check that|so that|in order|muss|soll|"
    r"debe|doit|falls|wenn)\b"
    r"|应该|應該|需要|如果|べき",
    re.I,
)
_NOW = re.compile(
    r"\b(?:now|currently|still|finally|by now|at the end|latest|last run|jetzt|nun|"
    r"immer noch|ahora|todavía|maintenant|toujours)\b|现在|目前|仍",
    re.I,
)


class Said(Struct, frozen=True):
    """What is claimed in a stretch of a sentence."""

    claim: Claim = ""
    exit: int | None = None
    now: bool = False
    """Whether it speaks of how things stand, not of how they once were."""


def claimed(stretch: str) -> Said:
    """What a stretch of a sentence claims."""
    if _HOPED.search(stretch):
        return Said()
    status = _EXIT.search(stretch)
    number = int(status[1] or status[2]) if status else None
    rest = _EXIT.sub(" ", stretch)
    good, bad = _weigh(rest)
    if number is not None:
        good, bad = good or number == 0, bad or number != 0
    now = bool(_NOW.search(stretch))
    if good == bad:
        return Said("", number, now)
    return Said("succeeded" if good else "failed", number, now)


def _weigh(text: str) -> tuple[bool, bool]:
    """Whether a text says that it went well, and whether it says that it did not."""
    text, good = _NEGATED.subn(" ", text)
    text, bad = _DENIED.subn(" ", text)
    good += bool(re.search(rf"\b{_GOOD}\b|{_WIDE_GOOD}", text, re.I))
    bad += bool(re.search(rf"\b{_BAD}\b|{_WIDE_BAD}", text, re.I))
    return bool(good), bool(bad)


def spoken_of(sentence: str, mentions: list[tuple[int, int]]) -> list[Said]:
    """What a sentence claims about each thing it mentions, given by place, in order."""
    found: list[Said] = []
    for place, (first, last) in enumerate(mentions):
        following = mentions[place + 1][0] if place + 1 < len(mentions) else len(sentence)
        hoped = _HOPED.search(sentence[mentions[place - 1][1] if place else 0 : first])
        found.append(Said() if hoped else claimed(sentence[last:following]))
    opening = claimed(sentence[: mentions[0][0]]) if mentions else Said()
    if found and not found[0].claim and found[0].exit is None:
        found[0] = opening
    # A list of commands shares what is said behind its last one.
    for place in range(len(found) - 2, -1, -1):
        if not found[place].claim and _joined(sentence, mentions[place], mentions[place + 1]):
            found[place] = found[place + 1]
    return found


def _joined(sentence: str, one: tuple[int, int], other: tuple[int, int]) -> bool:
    between = sentence[one[1] : other[0]]
    return bool(re.fullmatch(r"[`\s,、和と]*(?:and|und|y|et)?[`\s]*", between))
