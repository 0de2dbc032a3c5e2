"""Statistics as a picture: what was taken, what it cost, what filled windows, how full they were.

Importing this needs matplotlib; what it draws is untrusted text, which is drawn as it is written.
"""

from __future__ import annotations

from io import BytesIO
from typing import TYPE_CHECKING, Any
from warnings import catch_warnings

from matplotlib import rc_context
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, MaxNLocator, PercentFormatter

from holdfast.cli.ui.terminal import short
from holdfast.cli.usage.stats import STAR, lasted, priced, sources

if TYPE_CHECKING:
    from holdfast.core.stats import Stats

MOST = 10
"""How many bars a chart has at most."""

LONGEST = 28
"""How many letters of a name stand beside its bar."""

COLOURS = {
    "fresh": "#d1495b",
    "cached": "#66a182",
    "written": "#edae49",
    "output": "#00798c",
}
"""What each bucket of tokens is drawn in."""

BAR, GREY = "#2e4057", "#8d96a3"


def chart(found: list[Stats], by: str, kind: str) -> bytes:
    """The picture, as PNG or SVG."""
    made = BytesIO()
    with rc_context({"svg.hashsalt": "holdfast", "font.size": 9, "text.parse_math": False}):
        figure = Figure(figsize=(13, 8.5), layout="constrained")
        (tokens, money), (filled, full) = figure.subplots(2, 2)
        _tokens(tokens, found[:MOST], by)
        _money(money, found[:MOST])
        _filled(filled, found)
        _full(full, found)
        _noted(figure, found)
        for axes in (tokens, money, filled, full):
            axes.spines[["top", "right"]].set_visible(False)
        made_by = {"Date": None} if kind == "svg" else {}
        with catch_warnings(action="ignore"):  # a sign that its font has not is drawn as a box
            figure.savefig(made, format=kind, dpi=120, metadata=made_by)
    return made.getvalue()


def _noted(figure: Figure, found: list[Stats]) -> None:
    """What period it is of, and what a star means."""
    unpriced = any(one.unpriced for one in found[:MOST])
    words = (period.capitalize() if (period := lasted(found)) else "", STAR if unpriced else "")
    if any(words):
        figure.supxlabel(" · ".join(filter(None, words)), x=0.01, ha="left", color=GREY, size=9)


def _tokens(axes: Any, found: list[Stats], by: str) -> None:
    names = [short(one.name, LONGEST) for one in found]
    left = [0] * len(found)
    buckets = {
        "fresh": [one.usage.input for one in found],
        "cached": [one.usage.cache_read for one in found],
        "written": [one.usage.cache_write for one in found],
        "output": [one.usage.output for one in found],
    }
    for name, values in buckets.items():
        axes.barh(range(len(found)), values, left=left, color=COLOURS[name], label=name)
        left = [before + more for before, more in zip(left, values, strict=True)]
    _named(axes, names, f"Tokens by {by}")
    axes.xaxis.set_major_formatter(FuncFormatter(_amount))
    axes.legend(frameon=False, loc="lower right")


def _money(axes: Any, found: list[Stats]) -> None:
    places = range(len(found))
    axes.barh(places, [one.cost / 1e9 for one in found], color=BAR)
    for place, one in zip(places, found, strict=True):
        hits = "" if one.hit_rate is None else f", {one.hit_rate:.0%} cached"
        words = f"  {priced(one)}{hits}"
        axes.text(one.cost / 1e9, place, words, va="center", color=GREY)
    _named(
        axes, [short(one.name, LONGEST) for one in found], "Cost in US dollars, and cache hit rate"
    )
    axes.margins(x=0.4)


def _filled(axes: Any, found: list[Stats]) -> None:
    rows = sources(found).most_common(MOST)
    axes.barh(range(len(rows)), [many for _, many in rows], color=BAR)
    _named(axes, [short(name, LONGEST) for name, _ in rows], "What filled the windows, in tokens")
    axes.xaxis.set_major_formatter(FuncFormatter(_amount))


def _full(axes: Any, found: list[Stats]) -> None:
    """How full windows were, one mark for each compaction, in the order of time."""
    axes.set_title("How full the window was at each compaction", loc="left")
    known = [
        (each.created, short(one.name, LONGEST), each.share)
        for one in found[:MOST]
        for each in one.compactions
        if each.share is not None
    ]
    marks: dict[str, list[tuple[int, float]]] = {}
    for place, (_, name, share) in enumerate(sorted(known), 1):
        marks.setdefault(name, []).append((place, share))
    for name, points in marks.items():
        axes.plot(*zip(*points, strict=True), "o", label=name, alpha=0.8)
    axes.axhline(1, color=GREY, linewidth=0.8, linestyle=":")
    axes.set_ylim(bottom=0)
    axes.yaxis.set_major_formatter(PercentFormatter(1))
    if marks:
        axes.set_xlabel("compactions, the oldest first")
        axes.xaxis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1))
        axes.legend(frameon=False)
    else:
        axes.set_xticks([])
        axes.text(0.5, 0.5, "no compaction", transform=axes.transAxes, ha="center", color=GREY)


def _named(axes: Any, names: list[str], title: str) -> None:
    axes.set_title(title, loc="left")
    axes.set_yticks(range(len(names)), names)
    axes.invert_yaxis()


def _amount(value: float, _: int) -> str:
    for size, unit in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if abs(value) >= size:
            return f"{value / size:g}{unit}"
    return f"{value:g}"
