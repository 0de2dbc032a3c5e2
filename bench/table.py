"""Results as words: one table for page and terminal, times and ratios as people say them."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from bench.measure import Series, ratio


class Table(msgspec.Struct):
    """A heading, and rows below it; the first column is a name."""

    heading: tuple[str, ...]
    rows: list[tuple[str, ...]]

    def markdown(self) -> str:
        """As a page has it."""
        align = ["---", *("---:" for _ in self.heading[1:])]
        lines = [self.heading, align, *self.rows]
        return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)

    def show(self, title: str) -> None:
        """As a terminal has it."""
        from rich import box
        from rich.console import Console
        from rich.table import Table as Drawn

        drawn = Drawn(title=title, box=box.SIMPLE, title_justify="left")
        for number, name in enumerate(self.heading):
            drawn.add_column(name, justify="right" if number else "left")
        for row in self.rows:
            drawn.add_row(*(cell.replace("**", "") for cell in row))
        Console().print(drawn)


class Target(msgspec.Struct):
    """What must hold: a number, and the most it may be, or the least."""

    what: str
    value: float | None
    limit: float
    unit: str = "×"
    least: bool = False

    @property
    def holds(self) -> bool:
        if self.value is None:
            return False
        return self.value >= self.limit if self.least else self.value <= self.limit

    @property
    def bound(self) -> str:
        """The limit as people say it."""
        return f"{'≥' if self.least else '≤'} {self.limit:,g}{self.unit}"


def targets(kept: Sequence[Target]) -> Table:
    """Which targets hold."""
    rows = [
        (
            t.what,
            _amount(t.value, t.unit),
            t.bound,
            "holds" if t.holds else "**fails**",
        )
        for t in kept
    ]
    bound = "bound" if any(t.least for t in kept) else "at most"
    return Table(("target", "measured", bound, ""), rows)


def _amount(value: float | None, unit: str) -> str:
    if value is None:
        return "not measured"
    return times(value) if unit == "×" else f"{value:,.0f}{unit}"


def duration(seconds: float) -> str:
    """A time in the unit that suits it, in three digits."""
    if seconds < 1:
        return f"{digits(seconds * 1000)} ms"
    return f"{digits(seconds)} s"


def digits(value: float) -> str:
    """A number with about three digits."""
    if value >= 100:
        return f"{value:,.0f}"
    return f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def times(value: float) -> str:
    """A ratio."""
    return f"{digits(value)}×"


def cell(series: Series | None, against: Series | None) -> str:
    """A median and its ratio, or that it was cut off."""
    if series is None:
        return "–"
    if series.median is None:
        return f"> {series.cut_off:.0f} s (cut off)" if series.cut_off else "–"
    much = ratio(series, against)
    return duration(series.median) + (f" ({times(much)})" if much is not None else "")


def spread(series: Series | None) -> str:
    """From the tenth to the ninetieth percentile."""
    if series is None or not series.seconds:
        return "–"
    low, high = series.spread
    return f"{duration(low)} – {duration(high)}"


def count(number: int) -> str:
    """How many, for a heading."""
    return f"{number // 1000}k" if number >= 1000 and number % 1000 == 0 else f"{number:,}"
