"""Results as a picture: lines over the length of a session, and bars beside them, as SVG."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

OURS = "#d1495b"
FLOOR = "#6b7280"
OTHERS = ("#2e86ab", "#edae49", "#66a182", "#8d6b94", "#4d5061")
SETTINGS: dict[Any, Any] = {
    "svg.hashsalt": "holdfast",
    "svg.fonttype": "none",
    "font.family": "sans-serif",
    "font.size": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
}

Lines = Mapping[str, Sequence[tuple[int, float]]]
Bars = Mapping[str, float]


def draw(
    lines: Lines, bars: Bars, titles: tuple[str, str], path: Path, ours: str, floor: str
) -> None:
    """Two panels: milliseconds over messages, both logarithmic, and bars beside them."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    colours = palette([*lines, *bars], ours, floor)
    with matplotlib.rc_context(SETTINGS):
        figure, (left, right) = pyplot.subplots(
            1, 2, figsize=(11, 4.6), width_ratios=(3, 2), layout="constrained"
        )
        figure.patch.set_facecolor("white")
        _lines(left, lines, colours, ours)
        _bars(right, bars, colours)
        for axes, title in zip((left, right), titles, strict=True):
            axes.set_title(title, loc="left", fontsize=11)
        path.parent.mkdir(parents=True, exist_ok=True)
        figure.savefig(path, format="svg", metadata={"Date": None})
        pyplot.close(figure)
    tidy(path)


def bars(values: Bars, title: str, path: Path, ours: Sequence[str]) -> None:
    """One panel of bars, their lengths logarithmic; ours in our colour, others grey."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    names = list(values)[::-1]
    with matplotlib.rc_context(SETTINGS):
        figure, axes = pyplot.subplots(figsize=(9, 0.5 * len(names) + 1.2), layout="constrained")
        figure.patch.set_facecolor("white")
        colours = [OURS if name in ours else FLOOR for name in names]
        drawn = axes.barh(names, [values[name] for name in names], color=colours)
        axes.bar_label(drawn, fmt="%.3g", padding=3, fontsize=8)
        axes.set_xscale("log")
        axes.margins(x=0.15)
        axes.set_title(title, loc="left", fontsize=11)
        path.parent.mkdir(parents=True, exist_ok=True)
        figure.savefig(path, format="svg", metadata={"Date": None})
        pyplot.close(figure)
    tidy(path)


def groups(values: Mapping[str, Bars], title: str, path: Path) -> None:
    """A bar for each of a few ways in each group, side by side; the last way in our colour."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    ways = list(next(iter(values.values())))
    colours = palette(ways, ways[-1], ways[0])
    height = 0.8 / len(ways)
    with matplotlib.rc_context(SETTINGS):
        figure, axes = pyplot.subplots(figsize=(9, 0.75 * len(values) + 1.2), layout="constrained")
        figure.patch.set_facecolor("white")
        for number, way in enumerate(ways):
            at = [row + number * height for row in range(len(values))]
            lengths = [group[way] for group in values.values()]
            drawn = axes.barh(at, lengths, height, color=colours[way], label=way)
            axes.bar_label(drawn, fmt="%.2f", padding=3, fontsize=8)
        axes.set_yticks([row + height for row in range(len(values))], list(values))
        axes.invert_yaxis()
        axes.margins(x=0.1)
        axes.legend(frameon=False, fontsize=8, loc="lower left", bbox_to_anchor=(0, 1), ncols=3)
        axes.set_title(title, loc="right", fontsize=11)
        path.parent.mkdir(parents=True, exist_ok=True)
        figure.savefig(path, format="svg", metadata={"Date": None})
        pyplot.close(figure)
    tidy(path)


def palette(names: Sequence[str], ours: str, floor: str) -> dict[str, str]:
    """A colour for each name: one for ours, grey for the floor."""
    others = [name for name in dict.fromkeys(names) if name not in (ours, floor)]
    chosen = {name: OTHERS[number % len(OTHERS)] for number, name in enumerate(others)}
    return {**chosen, ours: OURS, floor: FLOOR}


def _lines(axes: Any, lines: Lines, colours: Mapping[str, str], ours: str) -> None:
    for name, points in lines.items():
        if points:
            xs, ys = zip(*points, strict=True)
            width = 2.6 if name == ours else 1.4
            axes.plot(xs, ys, marker="o", ms=4, lw=width, color=colours[name], label=name)
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlabel("messages in the session")
    axes.set_ylabel("ms")
    axes.grid(axis="y", alpha=0.25)
    axes.legend(frameon=False, fontsize=8)


def _bars(axes: Any, bars: Bars, colours: Mapping[str, str]) -> None:
    names = list(bars)[::-1]
    drawn = axes.barh(names, [bars[name] for name in names], color=[colours[n] for n in names])
    axes.bar_label(drawn, fmt="%.2f×", padding=3, fontsize=8)
    axes.margins(x=0.15)


def tidy(path: Path) -> None:
    """Without blanks at the ends of lines."""
    lines = path.read_text("utf-8").splitlines()
    path.write_text("\n".join(line.rstrip() for line in lines) + "\n", "utf-8")
