"""What may become a note by itself: the user's own sentences, and nothing that a model wrote.

Rule 1: a model only points. What it wants kept is looked for in what the user wrote; the sentence
        that is found is kept, word for word, whatever the model made of it and whatever it cites.
Rule 2: what is not found there waits for the user's approval, the whole of it.
Rule 3: tasks and questions are no facts, and what the project itself can tell is not kept: code and
        structure, git history, fix recipes, what instruction files say, and passing state.
Rule 4: of a note that is there, what the user's new words contradict is replaced; nothing else
        leaves it without approval.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from typing import Final

from msgspec import Struct

from holdfast.core.knowledge.authored import Said
from holdfast.core.knowledge.dates import absolute
from holdfast.core.knowledge.notes import LINE, Note, file_name, is_named_by_type
from holdfast.core.ledger.wishes.recognise import sentences
from holdfast.core.search.terms import question_terms
from holdfast.model.note import Evidence, NoteType

SHARE: Final = 0.4
"""So much of what a model wants kept must be in a sentence of the user's for it to be meant."""

FEW: Final = 2
"""At least so many of its terms, where it has as many."""

STANDING: Final = re.compile(
    r"\b(?:always|never|from now on|from here on|going forward|in (?:the )?future"
    r"|prefer\w*|remember"
    r"|keep in mind|note that|don'?t forget|every time|each time|whenever|stop \w+ing|no more"
    r"|by default|as a rule|usually|please don'?t|do not|don'?t|must|should|need to|have to"
    r"|instead of|rather than|not \w+ but|keep \w+ing|because|since|so that|reason)\b",
    re.IGNORECASE,
)
"""What makes a sentence one that outlives its turn."""

_ASKS: Final = re.compile(
    r"^(?:(?:please|now|then|ok(?:ay)?|so|and|also|great|thanks|next|let'?s|hey|hi"
    r"|first|just)[,!]? )*"
    r"(?:(?:can|could|would|will) (?:you|we)\b|(?:add|fix|summari[sz]e|read|run|write|create|look"
    r"|check|show|explain|open|find|implement|refactor|update|review|tell|give|help|make|build|test"
    r"|debug|investigate|search|fetch|list|print|compare|analy[sz]e|describe|translate|convert"
    r"|continue|go on|try|install|change|rename|move|delete|remove|commit|push|merge|deploy|do|see"
    r"|take|put|get|start|finish|generate|extract|draft|answer|follow|apply|set up)\b)",
    re.IGNORECASE,
)

_EXCLUDED: Final = (
    (
        "the project itself tells how its code is laid out",
        r"(?:\b(?:function|class|method|module|component|directory|folder|package|struct"
        r"|endpoint)\b"
        r".{0,60}\b(?:is|are|lives?|defined|located|implemented)\b.{0,20}\b(?:in|at|under|by)\b"
        r"|\b(?:code|source|tests?|entry point|implementation)\b.{0,30}\b(?:is|are|lives?"
        r"|located)\b"
        r" (?:in|at|under) \S*[/.]\w+|\bimports? \w+ from\b"
        r"|\b(?:project|repo(?:sitory)?|code ?base) (?:structure|layout)\b)",
    ),
    (
        "git keeps its own history",
        r"(?:\b(?:commit(?:ted)?|merged|rebased|cherry-picked|pushed)\b.{0,40}\b(?:yesterday|today"
        r"|this week|last week|(?=[a-f]*\d)[0-9a-f]{7,40})\b"
        r"|\b(?:list|summary) of (?:the |our |all )?(?:prs?|pull requests|commits|changes)\b"
        r"|\bwho (?:changed|wrote|committed)\b|\bgit (?:log|blame)\b)",
    ),
    (
        "the fix is in the code",
        r"(?:\b(?:the|that|this|to) (?:fix|bug|crash|error|workaround|solution) (?:is"
        r"|was) (?:to |fixed"
        r"|solved|in|by)|\b(?:fixed|solved|resolved) (?:it |this |that )?by\b)",
    ),
    (
        "it will no longer be so when this is read",
        r"(?:\bfor now\b|\bright now\b|\bat the moment\b|\bcurrently (?:working|in|on"
        r"|running|editing)\b"
        r"|\b(?:in|during) this (?:session|conversation|chat|turn)\b|\bjust for (?:this|today)\b"
        r"|\bthis (?:once|time)\b|\bin progress\b|\b(?:i|we)(?:'m| am|'re| are) (?:now )?(?:in the"
        r" middle of|about to)\b)",
    ),
)

_WHY: Final = re.compile(
    r"\b(?:because|since|so that|otherwise|the reason)\b|(?<= )[—–](?= )", re.I
)
_LABEL: Final = re.compile(r"^\s*(?:[-*]\s+)?\*{0,2}(Why|How to apply)\*{0,2}:\*{0,2}\s*", re.I)
_LEAD: Final = re.compile(
    r"^(?:(?:please|also|and|ok(?:ay)?|so|but|note|btw|by the way|fyi|for the record)[,:]?\s+)*"
    r"(?:(?:do )?(?:remember|keep in mind|note|don'?t forget|make a note|memori[sz]e)\b[,:]?\s*"
    r"(?:(?:this|that|the following)\b[,:]?\s*)?(?:for (?:later|next time|the future)[,:]?\s*)?)",
    re.IGNORECASE,
)
_FORGET: Final = re.compile(
    r"^(?:(?:please|also|and|ok(?:ay)?|so|but|now|actually)[,:]?\s+)*(?:you can "
    r"|you may )?forget\s+"
    r"(?!(?:to|it)\b(?! that))(?:about |what i (?:said|told you) about |that |the (?:note|memory)"
    r" (?:about|that|on) )?(.+)",
    re.IGNORECASE,
)


class Admitted(Struct, frozen=True, kw_only=True):
    """What a wanted note comes to."""

    note: Note | None = None
    """The note in the user's words; None where none of it is theirs."""
    evidence: tuple[Evidence, ...] = ()
    held: str = ""
    """Why the rest waits for approval; empty where nothing is left."""
    excluded: str = ""
    """Why it is not kept at all, be it asked for."""


def excluded(sentence: str, instructions: Collection[str] = ()) -> str:
    """Why a sentence is not kept, whoever asks; empty where it may be."""
    for why, pattern in _EXCLUDED:
        if re.search(pattern, sentence, re.IGNORECASE):
            return why
    plain = _plain(sentence)
    if len(plain) > 20 and any(plain in _plain(one) for one in instructions):
        return "the project's instructions say so already"
    return ""


def is_fact(sentence: str) -> bool:
    """Whether a sentence says something that outlives its turn, and is no task or question."""
    plain = sentence.strip()
    if STANDING.search(plain):
        return not plain.endswith("?")
    return not (plain.endswith(("?", ":")) or _ASKS.match(plain) or len(plain.split()) < 3)


def remembered(sentence: str) -> str:
    """What the user asks to be remembered, without the asking; empty where they ask for nothing."""
    found = _LEAD.match(sentence)
    if not found or sentence.rstrip().endswith("?"):
        return ""
    rest = sentence[found.end() :].strip()
    starts = re.match(r"(?:to|when|how|me|my|i)\b", rest, re.IGNORECASE)
    if starts and starts[0].lower() == "when":
        return ""
    return rest if len(rest.split()) > 1 else ""


def forgotten(sentence: str) -> str:
    """What the user asks to be forgotten; empty where they do not."""
    found = _FORGET.match(sentence.strip())
    return found[1].rstrip(".!") if found else ""


def admit(
    wanted: Note,
    said: Sequence[Said],
    *,
    before: Note | None = None,
    taken: Collection[str] = (),
    instructions: Collection[str] = (),
) -> Admitted:
    """What of a note that a model wants kept may be kept without asking; `before` stands now."""
    rules, whys, held, why_not = list[Said](), list[Said](), list[str](), ""
    old = _lines(before.body) if before else []
    for line in _lines(wanted.body or wanted.description):
        bare = _LABEL.sub("", line)
        if _plain(bare) in map(_plain, old) or not bare.strip():
            continue
        found = meant(bare, said)
        if found is None or not is_fact(found.text):
            held.append(line)
        elif why := excluded(found.text, instructions):
            why_not = why
        else:
            (whys if _LABEL.match(line) else rules).append(found)
    rules = rules or whys
    if not rules:
        return Admitted(held=_held(held), excluded="" if held else why_not)
    return Admitted(
        note=_note(wanted, rules, whys, before, taken),
        evidence=tuple(dict.fromkeys(one.evidence for one in (*rules, *whys))),
        held=_held(held),
        excluded=why_not,
    )


def meant(wanted: str, said: Sequence[Said]) -> Said | None:
    """The sentence of the user's that a line goes back to; None where there is none."""
    asked = set(question_terms(wanted))
    best: tuple[float, Said] | None = None
    for one in said:
        own = set(question_terms(one.text))
        both = len(asked & own)
        if both < min(FEW, len(asked), len(own)) or not both:
            continue
        share = max(both / len(asked), both / len(own))
        if share >= SHARE and (best is None or share > best[0]):
            best = (share, one)
    return best[1] if best else None


def own_note(
    type: NoteType, one: Said, *, taken: Collection[str] = (), text: str = ""
) -> tuple[Note, Evidence]:
    """A note of one sentence of the user's."""
    body = text or one.text
    said = Said(text=body, evidence=one.evidence, day=one.day)
    bare = Note(name="", description="", type=type, body=body)
    return _note(bare, [said], [], None, taken), one.evidence


def type_of(sentence: str) -> NoteType:
    """The type of a note, by how the user speaks."""
    for type, shape in _TYPES:
        if shape.search(sentence):
            return type
    return "project"


_TYPES: Final[tuple[tuple[NoteType, re.Pattern[str]], ...]] = (
    (
        "user",
        re.compile(
            r"^(?:i(?:'m|'ve| am| have| work| use| know| like| do| was)\b|my (?:name|role|job))",
            re.I,
        ),
    ),
    (
        "reference",
        re.compile(
            r"https?://|\b(?:dashboard|tracked in|channel|board|wiki|linear|jira|grafana|slack"
            r"|notion|confluence|runbook)\b",
            re.I,
        ),
    ),
    (
        "feedback",
        re.compile(
            r"\b(?:always|never|don'?t|do not|prefer|stop|instead|rather than|must|should|keep"
            r"|avoid|use)\b",
            re.I,
        ),
    ),
)


def _note(
    wanted: Note, rules: Sequence[Said], whys: Sequence[Said], before: Note | None,
    taken: Collection[str],
) -> Note:  # fmt: skip
    """A note in the user's words; what a model chose of it is its type and its place."""
    texts = list(dict.fromkeys(_dated(one) for one in rules))
    body = _without_contradicted(before.body, texts) if before else ""
    new = [text for text in texts if _plain(text) not in _plain(body)]
    reasons = [_dated(one) for one in whys if one not in rules]
    lead = "\n".join(new)
    if wanted.type in ("feedback", "project") and new:
        lead = _structured(new, reasons, rules[-1])
    body = "\n\n".join(filter(None, (body.strip(), lead)))
    topic = _topic(wanted, " ".join(one.text for one in rules))
    file = before.file if before else file_name(wanted.type, topic, taken)
    return Note(
        name=before.name if before else topic.replace("_", " "),
        description=before.description if before and not new else _short(texts[-1]),
        type=before.type if before else wanted.type,
        body=body,
        file=file,
    )


def _structured(rules: Sequence[str], reasons: Sequence[str], last: Said) -> str:
    """The rule, why, and how to apply it, as far as the user said so."""
    whole = " ".join(rules)
    cut = _WHY.search(whole)
    why = " ".join(reasons) or (
        whole[cut.start() :] if cut else "the user said so, without a reason"
    )
    how = f"in this project, as of {last.day.isoformat()}, until the user says otherwise"
    return f"{chr(10).join(rules)}\n\n**Why:** {why}\n**How to apply:** {how}"


def _dated(one: Said) -> str:
    text = _LEAD.sub("", one.text).strip() if remembered(one.text) else one.text
    return absolute(text[:1].upper() + text[1:], one.day)


def _topic(wanted: Note, words: str) -> str:
    """Where a note belongs: as the model has it, where that says nothing the user did not."""
    own = set(question_terms(words))
    chosen = re.sub(r"[_-]+", " ", wanted.file.removesuffix(".md")).removeprefix(f"{wanted.type} ")
    told = question_terms(chosen)
    if is_named_by_type(wanted.file) and told and all(one in own for one in told):
        return chosen
    plain = [word for word in re.findall(r"[a-z0-9]+", words.lower()) if len(word) > 3]
    telling = [word for word in plain if set(question_terms(word)) & own]
    return "_".join(list(dict.fromkeys(telling))[:3]) or "note"


def _short(text: str) -> str:
    return text if len(text) <= LINE else text[: LINE - 1].rstrip() + "…"


_NOT: Final = re.compile(
    r"\b(?:not|no|never|without|stop|avoid|don'?t|doesn'?t|isn'?t|aren'?t|won'?t|can'?t|no longer"
    r"|nicht|kein\w*|nie)\b",
    re.IGNORECASE,
)


def contradicts(one: str, other: str) -> bool:
    """Whether two sentences speak of the same and cannot both hold, as far as words tell."""
    a, b = set(question_terms(_NOT.sub("", one))), set(question_terms(_NOT.sub("", other)))
    if not a or not b or len(a & b) / min(len(a), len(b)) < 0.6 or len(a & b) < FEW:
        return False
    numbers = [set(re.findall(r"\d[\d.:-]*", text)) for text in (one, other)]
    differing = bool(numbers[0] and numbers[1]) and numbers[0] != numbers[1]
    return differing or bool(_NOT.search(one)) != bool(_NOT.search(other))


def repeats(one: str, other: str) -> bool:
    """Whether two sentences say the same, as far as words tell."""
    a, b = set(question_terms(one)), set(question_terms(other))
    return bool(a and b) and len(a & b) / len(a | b) >= 0.75 and not contradicts(one, other)


def _without_contradicted(body: str, new: Sequence[str]) -> str:
    """A note without what the user's new words replace, and without the frame around that."""
    kept: list[str] = []
    for block in re.split(r"\n{2,}", body):
        wrong = any(contradicts(line, text) for line in _lines(block) for text in new)
        frame = kept[-1:] == [""] and _LABEL.match(block)
        kept.append("" if wrong or frame else block)
    return "\n\n".join(filter(None, kept))


def _lines(body: str) -> list[str]:
    """A note's text, sentence by sentence; its labels stay with what they label."""
    return [
        f"{label[0] if label else ''}{one}"
        for line in body.splitlines()
        if line.strip() and not line.lstrip().startswith("#")
        for label in [_LABEL.match(line)]
        for one in sentences(line[label.end() if label else 0 :].strip(" -*"))
    ]


def _held(lines: Sequence[str]) -> str:
    return "not found in what the user wrote: " + " / ".join(lines)[:400] if lines else ""


def _plain(text: str) -> str:
    return " ".join(re.findall(r"\w+", text.lower()))
