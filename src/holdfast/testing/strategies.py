"""Hypothesis strategies: any value of the model, and whole logs whose markers make sense."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from hypothesis import strategies as st
from msgspec import inspect

from holdfast.core.log.fold import fold
from holdfast.model.log import (
    Body,
    Checkpoint,
    Clear,
    Context,
    Entry,
    Marker,
    PartRef,
    Pin,
    Redo,
    Repair,
    Rewind,
    Summary,
    Switch,
    Undo,
    Unpin,
)
from holdfast.model.message import Message, Part
from holdfast.model.span import Span, normal

from .factories import HOSTILE, entry

LARGEST = 2**63 - 1


def texts(max_size: int = 20) -> st.SearchStrategy[str]:
    """Any text: NUL, lone surrogates and pairs of them too."""
    anything = st.text(st.characters(exclude_categories=()), max_size=max_size)
    return anything | st.lists(st.sampled_from(HOSTILE), max_size=3).map("".join)


def values(kind: Any) -> st.SearchStrategy[Any]:
    """Any value of a type that can be written to the wire."""
    return _strategy(inspect.type_info(kind))


def parts() -> st.SearchStrategy[Part]:
    """Any part of a message."""
    return values(Part)


def messages() -> st.SearchStrategy[Message]:
    """Any message."""
    return values(Message)


def markers() -> st.SearchStrategy[Marker]:
    """Any marker, whether or not it makes sense."""
    return values(Marker)


def bodies() -> st.SearchStrategy[Body]:
    """Anything that can be appended."""
    return values(Body)


def _strategy(info: inspect.Type) -> st.SearchStrategy[Any]:
    return _STRATEGIES[type(info)](info)


def _struct(info: Any) -> st.SearchStrategy[Any]:
    fields = {field.name: _strategy(field.type) for field in info.fields}
    return st.builds(info.cls, **fields)


_STRATEGIES: dict[type, Callable[[Any], st.SearchStrategy[Any]]] = {
    inspect.StructType: lambda info: st.deferred(lambda: _struct(info)),
    inspect.StrType: lambda _: texts(),
    inspect.BytesType: lambda _: st.binary(max_size=20),
    inspect.IntType: lambda _: st.integers(-LARGEST - 1, LARGEST),
    inspect.FloatType: lambda _: st.floats(allow_nan=False, allow_infinity=False),
    inspect.BoolType: lambda _: st.booleans(),
    inspect.NoneType: lambda _: st.none(),
    inspect.AnyType: lambda _: _ANYTHING,
    inspect.LiteralType: lambda info: st.sampled_from(info.values),
    inspect.UnionType: lambda info: st.one_of(*map(_strategy, info.types)),
    inspect.TupleType: lambda info: st.tuples(*map(_strategy, info.item_types)),
    inspect.VarTupleType: lambda info: _several(info).map(tuple),
    inspect.ListType: lambda info: _several(info),
    inspect.FrozenSetType: lambda info: _several(info).map(frozenset),
    inspect.DictType: lambda info: st.dictionaries(
        _strategy(info.key_type), _strategy(info.value_type), max_size=3
    ),
}


_ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers(-99, 99) | texts(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts(), inner, max_size=3),
    max_leaves=5,
)


def _several(info: Any) -> st.SearchStrategy[list[Any]]:
    return st.lists(_strategy(info.item_type), max_size=3)


# A log is drawn as a list of small numbers and then built entry by entry, each marker from what
# stands before it: this is quick, it shrinks well, and no marker names what is not there.

_DICE = st.tuples(*(st.integers(0, 99) for _ in range(4)))
Dice = tuple[int, int, int, int]


def logs(
    kinds: str = "mmmmSCPURcxwrua", min_size: int = 0, max_size: int = 30
) -> st.SearchStrategy[tuple[Entry, ...]]:
    """Whole logs of one line; `kinds` are the letters of `_BUILDERS`, each as often as it is given.

    Every Summary carries the state it replaces, as the engine writes it.
    """
    many = st.lists(_DICE, min_size=min_size, max_size=max_size)
    return many.map(lambda rolls: _log(kinds, rolls))


def _log(kinds: str, rolls: Sequence[Dice]) -> tuple[Entry, ...]:
    log: list[Entry] = []
    for dice in rolls:
        log.append(next_entry(log, kinds, dice))
    return tuple(log)


def next_entry(log: Sequence[Entry], kinds: str, dice: Dice) -> Entry:
    """One more entry that makes sense after these."""
    build = _BUILDERS[kinds[dice[0] % len(kinds)]]
    return entry(len(log) + 1, build(log, dice) or f"message {len(log) + 1}")


def _summary(log: Sequence[Entry], dice: Dice) -> Body | None:
    seq, (_, a, b, c) = len(log) + 1, dice
    last = b % seq
    covers = normal((Span(1 + a % (last + 1), last), Span(1 + c % seq, c % seq)))
    if not covers:
        return None
    earlier = tuple(e.seq for e in log if isinstance(e.body, Summary))
    inside = [s for span in covers for s in (span.first, span.last)]
    kept = tuple(sorted({s for s in inside if (s + c) % 3 == 0}))
    merges = tuple(s for s in earlier if (s + a) % 2)
    return Summary(covers=covers, text="…", kept=kept, merges=merges, folded=fold(log))


def _clear(log: Sequence[Entry], dice: Dice) -> Body | None:
    refs = {PartRef(1 + n % len(log), n % 3) for n in dice[1:]} if log else set[PartRef]()
    return Clear(parts=tuple(sorted(refs)))


def _unpin(log: Sequence[Entry], dice: Dice) -> Body | None:
    pins = [e.id for e in log if isinstance(e.body, Pin)]
    return Unpin(pin=pins[dice[1] % len(pins)]) if pins else None


def _named(kind: type[Undo] | type[Redo], log: Sequence[Entry], dice: Dice) -> Body | None:
    """An Undo or Redo of something that may be undone, more often of what is recent."""
    seqs = [e.seq for e in log if isinstance(e.body, (Summary, Clear, Rewind))]
    recent = seqs[-3:] if dice[2] % 2 else seqs
    return kind(marker=recent[dice[1] % len(recent)]) if recent else None


def _rewind(log: Sequence[Entry], dice: Dice) -> Body | None:
    far = dice[1] % (len(log) + 1)
    near = len(log) - dice[1] % (min(len(log), 4) + 1)
    return Rewind(to=near if dice[2] % 2 else far)


_BUILDERS: dict[str, Callable[[Sequence[Entry], Dice], Body | None]] = {
    "m": lambda log, dice: None,
    "S": _summary,
    "C": _clear,
    "P": lambda log, dice: Pin(seq=dice[1] % (len(log) + 1), fact=f"fact {dice[2]}"),
    "U": _unpin,
    "R": _rewind,
    "c": lambda log, dice: Checkpoint(prompt=dice[1] % (len(log) + 1)),
    "x": lambda log, dice: Context(sections={"time": str(dice[1])}),
    "w": lambda log, dice: Switch(model=f"model {dice[1]}"),
    "r": lambda log, dice: Repair(rule="A1"),
    "u": lambda log, dice: _named(Undo, log, dice),
    "a": lambda log, dice: _named(Redo, log, dice),
}
