"""A session as Markdown, for people and for models: words as they were said, all else fenced.

Rule: a fence is longer than any run of backticks inside it, so nothing ends it early; one that
      somebody's words leave open is closed behind them. Escape sequences, and what turns text round
      or is not shown, are made visible: the page may be printed on a terminal.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from holdfast.core.neutralise import neutral
from holdfast.exporters.readable import Piece, facts, heading, pieces
from holdfast.model.log import Entry, SessionInfo
from holdfast.model.portable import Fidelity

_TICKS = re.compile("`{3,}")
_FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})", re.MULTILINE)


def begin(session: SessionInfo) -> str:
    """Its title, and what it is."""
    rows = "".join(f"- {name}: {_inline(value)}\n" for name, value in facts(session))
    return f"# {_inline(session.title or session.id)}\n\n{rows}"


def entry(told: Entry, *, visible: bool = True) -> str:
    """One entry beneath its heading; nothing where it says nothing."""
    found = "\n".join(_written(piece) for piece in pieces(told))
    return f"\n## {_inline(heading(told, visible=visible))}\n\n{found}" if found else ""


def entries(some: Iterable[Entry]) -> str:
    """Entries one after the other."""
    return "".join(map(entry, some))


def end(fidelity: Fidelity) -> str:
    """What was carried, and what was not."""
    return f"\n---\n\n{fidelity_text(fidelity)}"


def fidelity_text(fidelity: Fidelity) -> str:
    """The same in lines."""
    carried = "".join(f"- {line}\n" for line in fidelity.carried)
    missing = "".join(f"- {line}\n" for line in fidelity.not_carried)
    return f"Carried:\n\n{carried}" + (f"\nNot carried:\n\n{missing}" if missing else "")


def fenced(text: str) -> str:
    """A text that nothing in it can end early."""
    text = neutral(text)
    ticks = "`" * max((len(run) + 1 for run in _TICKS.findall(text)), default=3)
    return "\n".join((ticks, text.removesuffix("\n"), ticks, ""))


def _written(piece: Piece) -> str:
    if piece.kind == "said":
        return f"{_closed(neutral(piece.text).rstrip())}\n"
    if piece.kind == "note":
        return f"*{_inline(piece.text)}*\n"
    return f"**{_inline(piece.label)}**\n\n{fenced(piece.text)}"


def _inline(text: str) -> str:
    """A text as one line, with nothing in it that Markdown would act upon."""
    return re.sub(r"([\\`*_<>\[\]#|])", r"\\\1", " ".join(neutral(text).split()))


def _closed(text: str) -> str:
    """The text with a fence that it leaves open closed."""
    waiting = ""
    for mark in _FENCE.findall(text):
        if not waiting:
            waiting = mark
        elif mark[0] == waiting[0] and len(mark) >= len(waiting):
            waiting = ""
    return f"{text}\n{waiting}" if waiting else text
