"""Writes src/holdfast/providers/prices.json.xz: windows and prices from the genai-prices package.

Run `python tools/prices.py` after `make lock UV_FLAGS="--upgrade-package genai-prices"`. Nothing is
fetched: the data is the installed package's own, and the same package gives the same bytes.

Rule 1: a price is whole billionths of a US dollar for a million tokens; finer is rounded.
Rule 2: what is charged as ordinary input there (no price of its own) has the input's price here.
Rule 3: prices that begin on a day keep that day; of prices by the hour the dearer one stands.
Rule 4: batch, priority and regional variants, pictures, sound and searches are left out.
"""

from __future__ import annotations

import json
import lzma
import sys
from decimal import Decimal
from importlib.metadata import version
from pathlib import Path
from typing import Any

from genai_prices import types
from genai_prices.data_snapshot import get_snapshot

TARGET = Path(__file__).resolve().parents[1] / "src/holdfast/providers/prices.json.xz"
NANO = 1_000_000_000
BUCKETS = {
    "input": "input_mtok",
    "output": "output_mtok",
    "cache_read": "cache_read_mtok",
    "cache_write": "cache_write_mtok",
    "cache_write_long": "cache_write_1h_mtok",
}
CLAUSES = {
    types.ClauseEquals: ("equals", "equals"),
    types.ClauseStartsWith: ("starts", "starts_with"),
    types.ClauseEndsWith: ("ends", "ends_with"),
    types.ClauseContains: ("contains", "contains"),
    types.ClauseRegex: ("regex", "regex"),
    types.ClauseOr: ("or", "or_"),
    types.ClauseAnd: ("and", "and_"),
}


def snapshot() -> dict[str, Any]:
    """Everything that is kept, as one value."""
    return {
        "source": f"genai-prices {version('genai-prices')}",
        "providers": {provider.id: _provider(provider) for provider in get_snapshot().providers},
    }


def _provider(provider: types.Provider) -> dict[str, Any]:
    models = [made for model in provider.models if (made := _model(model))]
    return {"match": clause(provider.model_match), "models": models}


def _model(model: types.ModelInfo) -> dict[str, Any] | None:
    told: dict[str, Any] = {"id": model.id, "match": clause(model.match)}
    if model.context_window:
        told["window"] = model.context_window
    if prices := _schedule(model.prices):
        told["prices"] = prices
    return told if len(told) > 2 else None


def clause(logic: Any) -> Any:
    """Matching logic as nested lists: ["or", ["equals", "gpt-4o"], ["starts", "gpt-4o-"]]."""
    if logic is None:
        return None
    name, field = CLAUSES[type(logic)]
    value = getattr(logic, field)
    return [name, *map(clause, value)] if isinstance(value, list) else [name, value]


def _schedule(prices: Any) -> list[dict[str, Any]]:
    """Price rows by the day they begin; a day that is empty has always been."""
    if not isinstance(prices, list):
        rows = tiers(prices)
        return [{"rows": rows}] if rows else []
    made: list[dict[str, Any]] = []
    for priced in prices:
        rows = tiers(priced.prices)
        if not rows:
            continue
        if isinstance(priced.constraint, types.TimeOfDateConstraint):
            if made and rows[0]["input"] > made[-1]["rows"][0]["input"]:
                made[-1]["rows"] = rows
            elif not made:
                made.append({"rows": rows})
        elif priced.constraint:
            made.append({"from": priced.constraint.start_date.isoformat(), "rows": rows})
        else:
            made.append({"rows": rows})
    return made


def tiers(prices: types.ModelPrice) -> list[dict[str, int]]:
    """One row for each size of prompt from which other prices hold."""
    told = {ours: getattr(prices, theirs) for ours, theirs in BUCKETS.items()}
    if told["input"] is None and told["output"] is None:
        return []
    starts = {0} | {tier.start for p in told.values() if hasattr(p, "tiers") for tier in p.tiers}
    return [_row(told, start) for start in sorted(starts)]


def _row(told: dict[str, Any], start: int) -> dict[str, int]:
    row = {name: _nano(_at(price, start)) for name, price in told.items() if price is not None}
    row.setdefault("input", 0)
    row.setdefault("output", 0)
    row.setdefault("cache_read", row["input"])
    row.setdefault("cache_write", row["input"])
    row.setdefault("cache_write_long", row["cache_write"])
    return {"above": start, **row} if start else row


def _at(price: Any, start: int) -> Decimal:
    if not hasattr(price, "tiers"):
        return price
    return next((t.price for t in reversed(price.tiers) if t.start <= start), price.base)


def _nano(price: Decimal) -> int:
    return int((price * NANO).to_integral_value())


def packed(value: dict[str, Any]) -> bytes:
    """The snapshot as it is shipped."""
    text = json.dumps(value, separators=(",", ":"), ensure_ascii=True)
    return lzma.compress(text.encode(), preset=9 | lzma.PRESET_EXTREME)


if __name__ == "__main__":
    made = snapshot()
    TARGET.write_bytes(packed(made))
    models = sum(len(one["models"]) for one in made["providers"].values())
    sys.stdout.write(f"{made['source']}: {models} models, {TARGET.stat().st_size:,} bytes\n")
