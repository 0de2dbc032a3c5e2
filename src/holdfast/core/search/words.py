"""Words as search knows them, and the piece of a text that shows them.

Rule 1: a word is a run of letters, digits and `_`, in any case and without its accents.
Rule 2: what is a character by itself (scripts.py) is a word by itself, whatever stands beside it.
Rule 3: what is typed in quotes, or without a blank between, is one term: its words must stand in a
        row.
Rule 4: a snippet shows the place where most terms stand close together.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import islice, pairwise

from msgspec import Struct

from holdfast.core.search.literal import LONGEST, QUOTES, chunks_of, literals, whole
from holdfast.errors import InvalidRequest
from holdfast.model.search import Query

LETTERS = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"  # Thai, Lao, Burmese, Khmer
    "\u1100-\u11ff\u3130-\u318f\ua960-\ua97f\uac00-\ud7ff"  # Hangul
    "\u3005-\u3007\u3040-\u312f\u31a0-\u31bf\u31f0-\u31ff\uff66-\uff9f\U0001aff0-\U0001b16f"  # kana
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U000323af"  # Han
)
"""Where these scripts are, as a class of characters is written in a pattern."""

PICTURES = "\u231a\u231b\u23e9-\u23fa\u2600-\u27bf\u2b1b\u2b1c\u2b50\u2b55\U0001f000-\U0001faff"
"""Where emoji are, likewise."""

_LETTER = re.compile(f"[{LETTERS}]")
_RUN = re.compile(f"[{LETTERS}]+")
_PICTURE = re.compile(f"[{PICTURES}]")
_ALONE = re.compile(f"[{LETTERS}{PICTURES}]")

_ASCII = bytes(range(128))

_PRIVATE = 0xF0000
"""An index takes letters for words, and no pictures; what it is given instead begins here."""


def is_alone(character: str) -> bool:
    """Whether a character is a word by itself."""
    return bool(_ALONE.match(character))


def composed(text: str) -> str:
    """The text with every character in one piece."""
    return text if text.isascii() else unicodedata.normalize("NFC", text)


def apart(text: str) -> str:
    """The text as an index of words takes it: what is a word by itself between blanks."""
    text = composed(text)
    if text.isascii():
        return text
    foreign = text.encode("utf-8", "replace").translate(None, _ASCII).decode()
    if _LETTER.search(foreign):
        text = _RUN.sub(_spread, text)
    return _PICTURE.sub(_letter, text) if _PICTURE.search(foreign) else text


def _spread(run: re.Match[str]) -> str:
    return f" {' '.join(run[0])} "


def _letter(picture: re.Match[str]) -> str:
    """A letter of nobody's, in the place of a picture."""
    return f" {chr(_PRIVATE + ord(picture[0]) % 0x10000)} "


WIDTH = 160
"""Characters of a snippet; more where what was found is longer."""

AROUND = 20
"""Characters on each side of what was found, at least."""

MOST_PLACES = 256
"""So many places of a text are looked at for the best one."""

MOST_FOLDED = 200_000
"""Characters of a text that are folded where none of the words stands in it as it was typed."""

SHORTEST = 3
"""Letters that a word has to have before it stands for all that begin so."""

A_QUESTION = 4
"""So many words are a question; fewer are names to look up."""

A_SENTENCE = 8
"""Likewise, characters in scripts without blanks."""

MOST_TERMS = 256
"""So many different terms can be looked for at once."""

TOKEN = re.compile(rf"(?=\w)[{LETTERS}]|[{PICTURES}]|[^\W{LETTERS}]+")

Marks = tuple[tuple[int, int], ...]


class Terms(Struct, frozen=True):
    """What is looked for: each term a run of folded words."""

    runs: tuple[tuple[str, ...], ...]
    prefix: bool = False
    """The last word may go on."""
    strings: tuple[str, ...] = ()
    """What is looked for as it is typed, punctuation included."""
    phrase: str = ""
    """All that was typed, where it comes first that has it in one piece."""
    within: tuple[str, ...] = ()
    """What may stand within longer names, where nothing else is found."""
    beginnings: tuple[str, ...] = ()
    """How words begin that a snippet shows, besides."""


def fold(text: str) -> str:
    """The text in lower case and without accents; every character stays one character."""
    if text.isascii():
        return text.lower()
    return "".join(map(_folded, text))


@lru_cache(4096)
def _folded(character: str) -> str:
    base, *accents = unicodedata.normalize("NFD", character)
    whole = accents and (is_alone(base) or not all(map(unicodedata.combining, accents)))
    lowered = (character if whole else base).lower()
    return lowered if len(lowered) == 1 else character


def words(text: str) -> list[str]:
    """The folded words of a text, in order."""
    folded = fold(composed(text))
    if not folded.isascii():
        folded = "".join(each for each in folded if not unicodedata.combining(each))
    return TOKEN.findall(folded)


def terms(typed: str) -> Terms:
    """What somebody looks for; no runs where there is no word in it."""
    return Terms(tuple(run for run in chunks(typed) if run))


def chunks(typed: str) -> dict[tuple[str, ...], str]:
    """What is typed in quotes or without a blank between, by its words; what is repeated stands
    where it last was.
    """
    backwards = {tuple(words(chunk)): chunk for chunk, _ in reversed(chunks_of(typed))}
    return dict(reversed(backwards.items()))


def looked_for(query: Query) -> Terms:
    """What a query looks for; InvalidRequest where there is no word in it, or too many are."""
    found = terms(query.words)
    if not found.runs:
        raise InvalidRequest(
            "nothing to search for; give at least one word: letters, digits, _ or emoji"
        )
    if len(found.runs) > MOST_TERMS:
        raise InvalidRequest(
            f"too many words: {len(found.runs):,}; search for {MOST_TERMS} at most"
        )
    open = query.prefix and len(found.runs[-1][-1]) >= SHORTEST
    within = whole(query.words) if query.any and not open else ()
    phrase = query.words.strip("\n").strip(QUOTES)[:LONGEST] if query.session else ""
    phrase = "" if phrase.isalnum() else phrase
    return Terms(found.runs, open, literals(query.words), phrase, within)


def is_little(found: int, wanted: Terms) -> bool:
    """Whether so few hits are found that what has only some of the words may follow: for names
    to look up none at all, for a question fewer than it has words."""
    return not wanted.prefix and found < (len(wanted.runs) if is_question(wanted) else 1)


def is_question(wanted: Terms) -> bool:
    """Whether somebody asks, rather than looks up names."""
    unspaced = max(map(len, wanted.runs)) >= A_SENTENCE
    return len(wanted.runs) >= A_QUESTION or (unspaced and is_alone(wanted.runs[0][0]))


def holds(text: Sequence[str], wanted: Terms) -> bool:
    """Whether every term stands among the words of a text."""
    last = len(wanted.runs) - 1
    return all(
        stands(text, run, open=wanted.prefix and number == last)
        for number, run in enumerate(wanted.runs)
    )


def stands(text: Sequence[str], run: tuple[str, ...], *, open: bool = False) -> bool:
    """Whether these words stand in a row; where `open`, the last of them may go on."""
    *whole, end = run
    for at in range(len(text) - len(whole)):
        found = text[at + len(whole)]
        if (found.startswith(end) if open else found == end) and list(
            text[at : at + len(whole)]
        ) == whole:
            return True
    return False


def snippet(text: str, wanted: Terms) -> tuple[str, Marks]:
    """The best piece of a text on one line, and where in it the words stand."""
    begin, end = _string(text, wanted) or _best(text, wanted)
    side = max((WIDTH - end + begin) // 2, AROUND)
    first = max(0, min(begin - side, len(text) - WIDTH))
    last = min(len(text), max(end + AROUND, first + WIDTH))
    cut = " ".join(text[first:last].split())
    said = text[begin:end]
    if "  " in said and "\n" not in said and said in (wanted.phrase, *wanted.strings):
        cut = f"{' '.join(text[first:begin].split())} {said} {' '.join(text[end:last].split())}"
    shown = f"{'…' if first else ''}{cut}{'…' if last < len(text) else ''}"
    return shown, tuple((start, end) for start, end, _ in _found(fold(shown), wanted))


def _string(text: str, wanted: Terms) -> tuple[int, int] | None:
    """Where the first of the strings stands that are looked for as they were typed, in its case
    before any."""
    strings = [wanted.phrase] * bool(wanted.phrase) + list(wanted.strings or wanted.within)
    for string in strings:
        exact = text.find(string)
        if exact >= 0:
            return exact, exact + len(string)
        if found := _spaced(string).search(text):
            return found.span()
    return None


@lru_cache(64)
def _spaced(string: str) -> re.Pattern[str]:
    """Finds a string in any case, a blank standing for any blanks."""
    return re.compile(r"\s+".join(map(re.escape, string.split())), re.IGNORECASE)


def _best(text: str, wanted: Terms) -> tuple[int, int]:
    """The stretch, no longer than a snippet, with most of the terms in it."""
    places = _places(text, wanted)
    best, most = (0, 0), 0
    for number, (start, end, _) in enumerate(places):
        seen: set[int] = set()
        for _, further, term in places[number:]:
            if further > start + WIDTH - 2 * AROUND:
                break
            seen.add(term)
            end = further
        if len(seen) > most:
            best, most = (start, end), len(seen)
    return best


def _places(text: str, wanted: Terms) -> list[tuple[int, int, int]]:
    """Where terms stand, from the beginning on: from, to, and which."""
    for folded in (text.lower(), fold(text[:MOST_FOLDED])):
        if places := list(islice(_found(folded, wanted), MOST_PLACES)):
            return places
    return []


def _found(folded: str, wanted: Terms) -> Iterator[tuple[int, int, int]]:
    """Every term in a folded text. Whether a word ends where it should is looked at here: a pattern
    that knows the scripts takes longer to be made than a search does."""
    pattern, whole, last = _pattern(wanted)
    for found in pattern.finditer(folded):
        start, end, term = found.start(), found.end(), found.lastindex or 0
        if term > whole:  # not a string, which may stand anywhere
            if start and _goes_on(folded[start - 1]) and not is_alone(folded[start]):
                continue
            if term >= last:
                end = next((at for at in range(end, len(folded)) if not _goes_on(folded[at])),
                           len(folded))  # fmt: skip
            elif end < len(folded) and _goes_on(folded[end]) and not is_alone(folded[end - 1]):
                continue
        yield start, end, term


def _goes_on(character: str) -> bool:
    """Whether a word that has others beside it goes on with a character."""
    return (character.isalnum() or character == "_") and not is_alone(character)


@lru_cache(64)
def _pattern(wanted: Terms) -> tuple[re.Pattern[str], int, int]:
    """Finds any of the terms; which of its groups are the strings, and from which on words may go
    on."""
    sought = wanted.strings or wanted.within
    strings = [r"\s+".join(map(re.escape, one.lower().split())) for one in sought]
    runs = [_row(run) for run in wanted.runs]
    beginnings = [re.escape(one) for one in wanted.beginnings]
    rows = [*strings, *runs, *beginnings] or [r"(?!)"]
    last = len(strings) + len(runs) + 1 - wanted.prefix
    return re.compile("|".join(f"({row})" for row in rows)), len(strings), last


def _row(run: tuple[str, ...]) -> str:
    """Finds words in a row; only what is a word by itself may have others close to it."""
    row = re.escape(run[0])
    for before, word in pairwise(run):
        least = 0 if is_alone(before) or is_alone(word) else 1
        row += rf"\W{{{least},16}}{re.escape(word)}"
    return row
