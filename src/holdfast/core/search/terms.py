"""What ranked retrieval compares: stems, the pieces of compound names, and pairs of characters.

Rule 1: a word stands for its stem (stems.py); a compound name for itself and for each of its
        pieces: `parseHttpUrl`, `parse_http_url` and `PARSE-HTTP-URL` have `pars`, `http` and `url`.
Rule 2: in scripts without blanks every two characters that follow one another are a term.
Rule 3: a question's stop words are left out, unless it has nothing else.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
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

_PIECES: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")


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


def of_token(token: str) -> Iterator[str]:
    """The terms of one word as it is written."""
    yield stem(plain(token))
    yield from pieces(token)


def pieces(token: str) -> Iterator[str]:
    """The stems of what a compound name is made of; nothing where it is one word."""
    if len(token) > LONGEST or not token.isascii() or (token.isalpha() and _is_one(token)):
        return
    found = _PIECES.findall(token)
    if len(found) > 1:
        for piece in found[:MOST_PIECES]:
            if len(piece) > 1:
                yield stem(piece.lower())


def _is_one(token: str) -> bool:
    return token.islower() or token.isupper() or token[1:].islower()


def plain(token: str) -> str:
    """A word in lower case and without accents."""
    return token.lower() if token.isascii() else fold(token)


_STOP_STEMS: Final = STOP | frozenset(map(stem, STOP))
