"""Inputs that Hypothesis proposes: records made of a format's own words, and changes to files."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from functools import cache
from random import Random
from typing import Any

import hypothesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from tests.fuzz.forms import FORMS, Form, pack, unpack
from tests.fuzz.mutating import STRANGE, mutated

MOST_WORDS = 400


def propose(form: Form, take: Callable[[bytes], None], many: int, seed: int) -> None:
    """Hand over about so many inputs; the same seed makes the same ones."""

    @hypothesis.seed(seed)
    @settings(max_examples=many, database=None, deadline=None, phases=[Phase.generate],
              suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])  # fmt: skip
    @given(inputs(form.name))
    def each(data: bytes) -> None:
        take(data)

    each()


@cache
def inputs(name: str) -> st.SearchStrategy[bytes]:
    """Files that are nearly right, and files that only use the right words."""
    form = FORMS[name]
    near = st.builds(mutated, st.just(form), st.sampled_from(form.starts),
                     st.integers(0, 1 << 32).map(Random))  # fmt: skip
    if form.kind == "database":
        return near
    if form.kind == "words":
        lines = st.sampled_from(form.seeds[0].split(b"\n")) | st.text(max_size=40).map(_bytes)
        return near | st.lists(lines, max_size=60).map(b"\n".join)
    records = st.lists(_records(form), max_size=8)
    if form.kind == "lines":
        return near | records.map(b"\n".join)
    if form.kind == "files":
        names = list(unpack(form.seeds[0]))
        return near | st.dictionaries(st.sampled_from(names), _records(form)).map(pack)
    return near | _records(form)


def _records(form: Form) -> st.SearchStrategy[bytes]:
    """JSON whose keys and texts are those of the format, in any shape."""
    keys, words, heads = _vocabulary(form)
    leaves = (
        st.sampled_from(words)
        | st.sampled_from(STRANGE)
        | st.text(max_size=20)
        | st.integers()
        | st.floats(allow_nan=False, allow_infinity=False)
    )
    key = st.sampled_from(keys)
    values = st.recursive(
        leaves,
        lambda inner: st.lists(inner, max_size=4) | st.dictionaries(key, inner, max_size=5),
        max_leaves=6,
    )
    changed = st.builds(
        lambda head, more: {**head, **more}, st.sampled_from(heads),
        st.dictionaries(key, values, max_size=4),
    )  # fmt: skip
    return changed.map(lambda record: json.dumps(record).encode())


def _vocabulary(form: Form) -> tuple[list[str], list[str], list[dict[str, Any]]]:
    """The keys, the short texts and the objects of a format's seeds."""
    every = [value for seed in form.seeds for value in _values(form, seed)]
    heads = [value for value in every if isinstance(value, dict)]
    keys = {key: None for head in heads for key in head}
    words = {value: None for value in every if isinstance(value, str) and len(value) < 60}
    return list(keys), list(words)[:MOST_WORDS], heads


def _values(form: Form, seed: bytes) -> Iterator[Any]:
    """Every value that stands anywhere in a seed."""
    pieces = unpack(seed).values() if form.kind == "files" else [seed]
    pieces = seed.split(b"\n") if form.kind == "lines" else pieces
    waiting: list[Any] = [json.loads(piece) for piece in pieces if piece]
    while waiting:
        value = waiting.pop()
        yield value
        if isinstance(value, (dict, list)):
            waiting += value.values() if isinstance(value, dict) else value


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")
