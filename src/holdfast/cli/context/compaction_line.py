"""What a compaction says of itself in a line: what happened, why then, who wrote it, what it cost,
what it did to the prompt, and how to take it back."""

from __future__ import annotations

from holdfast.cli.context.fullness import change
from holdfast.cli.ui.format import many, money, number
from holdfast.model.log import Clear, Summary
from holdfast.model.span import Span, Spans, normal, without

EXTRACT = "import-extract"
"""The step of a summary that another program made and only its provider can read."""

WHY = {
    "auto": "the window was filling up",
    "manual": "it was asked for",
    "overflow": "the window was full",
    "resume": "the window was full when it went on",
    "switch": "the model that took over holds less",
    "idle": "what was cached had run out",
    "server": "the provider did it by itself",
    "import": "its program did it",
}
"""Why a compaction came, by what set it off; a reason that was recorded says more."""

ASKED = "asked for"


def line(body: Summary | Clear, *, undo: str, window: int = 0, opening: str = "compacted") -> str:
    """All of it in one line; `undo` is what takes it back, `window` what the model holds."""
    facts = (f"{happened(body)}, since {why(body)}", writer(body), sizes(body, window))
    return f"{opening}: {'; '.join(filter(None, facts))}; {undo} takes it back"


def happened(body: Summary | Clear) -> str:
    """What became of which entries."""
    if isinstance(body, Clear):
        places = normal(Span(part.seq, part.seq) for part in body.parts)
        return f"{many(len(body.parts), 'output')} of {_entries(places)} cleared"
    stay = tuple(Span(seq, seq) for seq in body.kept)
    covered = _entries(without(body.covers, stay))
    if body.step == "shed":
        return f"{covered} left the window"
    return f"a summary stands for {covered}"


def _entries(spans: Spans) -> str:
    """The first and the last of some entries."""
    if not spans:
        return "nothing"
    first, last = spans[0].first, spans[-1].last
    return f"entry {first}" if first == last else f"entries {first}–{last}"


def why(body: Summary | Clear) -> str:
    """Why it came when it did."""
    return body.reason if body.reason and body.reason != ASKED else WHY[body.trigger]


def writer(body: Summary | Clear) -> str:
    """Who wrote a summary, and for how much; empty where nobody had to."""
    if isinstance(body, Clear) or body.step == "shed":
        return "no model was asked"
    if body.step == EXTRACT:
        return f"an extract made without a model, for only {body.model or 'its maker'} can read it"
    if body.step == "import":
        return f"written by {body.model or f'a model of {body.policy}'}, cost unknown"
    if not body.model:
        return "made without a model"
    return f"written by {body.model} for {paid(body.model, body.cost)}"


def paid(model: str, cost: int) -> str:
    """What was paid a model for a summary; unknown where it has no known price."""
    known = spent(model, cost)
    return "an unknown cost" if known is None else money(known)


def spent(model: str, cost: int) -> int | None:
    """The same in billionths of a dollar; None where nobody knows."""
    from holdfast.engine.plugins import catalogue

    known = cost or not model or catalogue().profile(model).price(0) is not None
    return cost if known else None


def cost(body: Summary | Clear) -> int | None:
    """What a compaction cost; of another program's nobody said it."""
    if isinstance(body, Clear):
        return 0
    if body.step in ("import", EXTRACT) or body.trigger == "import":
        return body.cost or None
    return spent(body.model, body.cost)


def sizes(body: Summary | Clear, window: int = 0) -> str:
    """What the whole prompt took and takes; else what was covered took, which it says."""
    if body.prompt_before:
        return change(body.prompt_before, body.prompt_after, window)
    if body.step in ("import", EXTRACT) or body.trigger == "import":
        recorded = (body.tokens_before, body.tokens_after)
        return change(*recorded, body.window if isinstance(body, Summary) else 0)
    if not body.tokens_before:
        return ""
    after = number(body.tokens_after) if body.tokens_after else "unknown"
    return f"{number(body.tokens_before)} → {after} tokens of what it covers"
