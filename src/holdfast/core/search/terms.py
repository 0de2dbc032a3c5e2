"""What ranked retrieval compares: stems, the pieces of compound names, and pairs of characters.

Rule 1: a word stands for its stem (stems.py); a compound name for itself and for each of its
        pieces: `parseHttpUrl`, `parse_http_url` and `PARSE-HTTP-URL` have `pars`, `http` and `url`.
Rule 2: in scripts without blanks every two characters that follow one another are a term.
Rule 3: a question's stop words are left out, unless it has nothing else.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final

from holdfast.core.search.stems import stem
from holdfast.core.search.words import TOKEN, composed, fold, is_alone

_STOP_WORDS = """
    a about above after again all also am an and any are as at be because been before being
    below between both but by can could d did do does doing down during each ever few for from
    further get got had has have having he her here hers herself him himself his how i if in into
    is it its itself just ll m me might more most my myself no nor not now of off on once only or
    other our ours ourselves out over own please re s same shall she should so some such t than
    that the their theirs them themselves then there these they this those through to too under
    until up us ve very was we were what when where which while who whom whose why will with would
    you your yours yourself yourselves"""
STOP: Final = frozenset(_STOP_WORDS.split())
"""English words that say nothing about what is asked for."""

MOST_PIECES: Final = 12
LONGEST: Final = 80
"""Letters: longer words are data, and have no pieces."""

SHORTEST: Final = 2
"""Letters: shorter stems say nothing about how a word begins."""

LEAST: Final = 2.5
"""Letters that the pieces of a name have on average; shorter ones are those of a hash."""

MARK: Final = "_"
"""Stands before a term that is hidden in the words of a text: a stem, a piece of a name."""

BEGINNING: Final = 8_000
"""Characters of a text whose stems and pieces an index holds."""

MOST_REMEMBERED: Final = 200_000

_PIECES: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_ASCII: Final = re.compile(r"\w+", re.ASCII)


def terms(text: str) -> Iterator[str]:
    """What a text is found by, in order, stop words included."""
    before = ""
    for token in TOKEN.findall(composed(text)):
        if is_alone(token):
            yield before + token if before else token
            before = token
        else:
            before = ""
            yield from of_token(token)


def question_terms(text: str) -> list[str]:
    """What a question asks for, each once: without stop words, where anything else is in it."""
    found = dict.fromkeys(terms(text))
    telling = [term for term in found if term not in _STOP_STEMS]
    pairs = {term[0] for term in telling if len(term) == 2 and is_alone(term[0])}
    return [term for term in telling if term not in pairs] or list(found)


def beginnings(typed: str) -> tuple[str, ...]:
    """How the words begin that have the stems of a question."""
    stems = [term for term in question_terms(typed) if len(term) > SHORTEST and term.isalpha()]
    return tuple(term[:-1] if term.endswith("i") else term for term in stems if term.isascii())


def pieces_typed(typed: Iterable[str]) -> set[str]:
    """What a longer name has to be made of to hold the strings that were typed."""
    tokens = [token for text in typed for token in TOKEN.findall(text) if not is_alone(token)]
    return {piece for token in tokens for piece in of_token(token)[1:] or of_token(token)}


def of_token(token: str) -> tuple[str, ...]:
    """The terms of one word as it is written: its stem first."""
    return (stem(plain(token)), *pieces(token))


def pieces(token: str) -> tuple[str, ...]:
    """The stems of what a compound name is made of; nothing where it is one word, or data."""
    if len(token) > LONGEST or not token.isascii() or (token.isalpha() and _is_one(token)):
        return ()
    found = _PIECES.findall(token)
    if not found or found[0] == token or sum(map(len, found)) < len(found) * LEAST:
        return ()
    return tuple(stem(piece.lower()) for piece in found[:MOST_PIECES] if len(piece) > 1)


def hidden(text: str) -> str:
    """The terms of a text's beginning that are not among its words as they stand, each once.

    An index that holds the words as they were said holds these beside them, each marked.
    """
    beginning = text[:BEGINNING]
    tokens = dict.fromkeys((_ASCII if beginning.isascii() else TOKEN).findall(beginning))
    found = dict.fromkeys([_hidden[token] for token in tokens])
    found.pop("", None)
    return " ".join(found)


class _Hidden(dict[str, str]):
    """What is hidden in a word, remembered: a language has few of them."""

    def __missing__(self, token: str) -> str:
        if len(self) > MOST_REMEMBERED:
            self.clear()
        word = plain(token)
        kept = [] if word in STOP else [one for one in of_token(token) if one != word]
        found = self[token] = " ".join(f"{MARK}{one}" for one in dict.fromkeys(kept))
        return found


_hidden: Final = _Hidden()


def _is_one(token: str) -> bool:
    return token.islower() or token.isupper() or token[1:].islower()


def plain(token: str) -> str:
    """A word in lower case and without accents."""
    return token.lower() if token.isascii() else fold(token)


_STOP_STEMS: Final = STOP | frozenset(map(stem, STOP))
