"""A summary without a model, in a budget: quotations, then an index of names.

Rule 1: every line is taken from the log, word for word, and ends with the entry it comes from.
Rule 2: the same conversation and budget give the same text, never longer than the budget.
Rule 3: what gives most for its tokens is taken first, and a name that is told counts only once:
        in a quotation, in the index, or in what is laid beside the summary.
Rule 4: run again on what it wrote it changes nothing; with more said since, what is still likely
        to be needed stays.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import Final

from msgspec.structs import replace

from holdfast.core.extract import name_index
from holdfast.core.extract.contradictions import standing
from holdfast.core.extract.digest import Digest, aged
from holdfast.core.extract.earlier import HEADING, INDEX, Carried, carried
from holdfast.core.extract.names import PRINTED, SAID, Names, is_public
from holdfast.core.extract.quotes import ASKED, Piece, choose, pieces, quotations
from holdfast.core.extract.texts import printed, written
from holdfast.core.ledger.build import current
from holdfast.core.ledger.checks.matching import plain
from holdfast.core.tokens.estimate import estimate
from holdfast.model.ledger import Ledger
from holdfast.model.log import Entry
from holdfast.model.message import Message
from holdfast.model.span import Spans

PROSE: Final = 0.5
"""Quotations take this share, and what the index leaves."""
FIRST: Final = 100
"""The first tokens are for quotations alone: a small index tells nobody what was wanted."""
LEAST: Final = 0.02
"""A name less likely to come again is not told."""
OPEN: Final = 8.0
"""What the beginning of an open request is worth more."""
DWELT: Final = 6.0
"""What the first of the words to dwell on makes a piece worth more; two make it 1.4 times that."""
_TELLING: Final = 4
"""Shorter words are in everything."""
_WORDS: Final = re.compile(r"[^\W_]+")
_FRAME: Final = estimate(f"{HEADING}\n\n{INDEX}\n") + 4


def extract(
    entries: Sequence[Entry],
    earlier: Sequence[str],
    budget: int,
    *,
    ledger: Ledger | None = None,
    beside: str = "",
    focus: str = "",
) -> str:
    """What was said in these messages and in earlier summaries, the oldest first.

    What `beside` says, the rendered ledger, is not said again; no quotation contradicts `ledger`.
    What has words of `focus` in it is worth more.
    """
    if not (entries or focus) and len(earlier) == 1 and estimate(earlier[0]) <= budget:
        return earlier[0]  # there is nothing to add to it
    before = carried(earlier)
    newest = max(before.newest, entries[-1].seq if entries else 0)
    names = _names(entries, before, newest)
    told = names.within(beside)
    ranked = _ranked(names, told)
    share = min(budget, FIRST) + int(max(budget - FIRST, 0) * PROSE)
    room = max(share, budget - _FRAME - _size(ranked))
    said = _raised(_candidates(entries, before, newest, beside), ledger)
    said = dwelt(said, focus) if focus else said
    quoted = choose(said, names, told, room - _FRAME // 2)
    return _fitted(standing(quoted, ledger), ranked, names, budget)


def digested(digest: Digest, covers: Spans, budget: int) -> str:
    """The same of a long stretch, from what was gathered while it was read."""
    held = digest.within(covers)
    newest = covers[-1].last if covers else 0
    names = Names(newest)
    for name, uses in held.names.items():
        for use in uses:
            names.use((name,), use.seq, use.weight)
    ranked = _ranked(names, set())
    share = min(budget, FIRST) + int(max(budget - FIRST, 0) * PROSE)
    room = max(share, budget - _FRAME - _size(ranked))
    said = [aged(piece, newest) for piece in held.pieces]
    return _fitted(choose(said, names, set(), room - _FRAME // 2), ranked, names, budget)


def listing(
    entries: Sequence[Entry], earlier: Sequence[tuple[int, str]], budget: int, *, beside: str = ""
) -> str:
    """An index of the names in these messages, and in what stood for earlier ones: each with the
    entry it reaches to. What `beside` tells is not told again."""
    newest = max((entries[-1].seq if entries else 0, *(seq for seq, _ in earlier)))
    names = Names(newest)
    for seq, text in earlier:
        for line in text.splitlines():
            place, items = name_index.read(line) or (seq, [line])
            names.use(names.within("\n".join(items)), place, SAID)
    for entry in entries:
        if isinstance(entry.body, Message):
            _use(names, entry.seq, entry.body)
    return _fitted([], _ranked(names, names.within(beside)), names, budget)


def _names(entries: Sequence[Entry], before: Carried, newest: int) -> Names:
    """Every name of the stretch and of what is carried on, in the order of the log."""
    names = Names(newest)
    for seq, held in sorted(before.names):
        names.use(held, seq, SAID)
    for piece in sorted(before.pieces, key=lambda one: one.seq):
        names.use(names.within(piece.text), piece.seq, SAID)
    for entry in entries:
        if isinstance(entry.body, Message):
            _use(names, entry.seq, entry.body)
    return names


def _use(names: Names, seq: int, body: Message) -> None:
    if text := printed(body):
        names.use(names.within(text), seq, PRINTED)
    if text := written(body):
        names.use(names.within(text), seq, SAID)


def _ranked(names: Names, told: set[str]) -> list[str]:
    """The names worth telling, those that give most for their tokens first."""
    likely = {name: names.likely(name) for name in names.places if name not in told}
    found = [name for name, chance in likely.items() if chance >= LEAST]
    worth = {name: likely[name] / (len(name) / 4 + 1) for name in found}
    return sorted(found, key=lambda name: (-worth[name], name))


def _size(ranked: Sequence[str]) -> int:
    """About how many tokens it takes to tell all of these names."""
    return sum(len(name) // 3 + 2 for name in ranked)


def _candidates(
    entries: Sequence[Entry], before: Carried, newest: int, beside: str
) -> Iterable[Piece]:
    """Everything that can be quoted, once, and not where it is said beside."""
    seen: set[tuple[int, str]] = set()
    known = plain(beside)
    fresh = (piece for entry in entries for piece in pieces(entry, newest - entry.seq))
    for piece in chain(before.aged(newest), fresh):
        words = piece.text.rstrip(" …")
        if (piece.seq, words) not in seen and (not known or words not in known):
            seen.add((piece.seq, words))
            yield piece


def _raised(candidates: Iterable[Piece], ledger: Ledger | None) -> Iterator[Piece]:
    """The same, the beginning of every open request worth more."""
    found = current(ledger).requests if ledger else ()
    waiting = {one.seq for one in found if one.status == "open" and not one.fate}
    for piece in candidates:
        if piece.seq in waiting and piece.role == ASKED:
            waiting.discard(piece.seq)
            piece = replace(piece, worth=piece.worth + OPEN)
        yield piece


def dwelt(candidates: Iterable[Piece], focus: str) -> Iterator[Piece]:
    """The same, each worth more by the share of the wanted words that it has."""
    wanted = {word for word in _WORDS.findall(focus.casefold()) if len(word) >= _TELLING}
    for piece in candidates:
        words = set(_WORDS.findall(piece.text.casefold())) & wanted
        yield replace(piece, worth=piece.worth + DWELT * len(words) ** 0.5) if words else piece


def _fitted(quoted: list[Piece], ranked: list[str], names: Names, budget: int) -> str:
    """As many of the names as fit beside the quotations; fewer quotations where these do not."""
    while quoted and estimate(_written(quoted, (), names)) > budget:
        quoted = quoted[: len(quoted) * 7 // 8]
    told = names.within("\n".join(piece.text for piece in quoted))
    left = [name for name in ranked if name not in told][: max(budget, 0)]  # one token at least
    left = [name for name in left if is_public(name)]
    best, low, high = _written(quoted, (), names), 0, len(left)
    while low < high:
        middle = (low + high + 1) // 2
        text = _written(quoted, left[:middle], names)
        if estimate(text) <= budget:
            low, best = middle, text
        else:
            high = middle - 1
    return best


def _written(quoted: Sequence[Piece], listed: Sequence[str], names: Names) -> str:
    told, where = quotations(quoted), name_index.lines(listed, names.places)
    return "\n".join(((HEADING, *told) if told else ()) + ((INDEX, *where) if where else ()))
