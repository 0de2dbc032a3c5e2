"""What a text is as JSON is what the standard library says it is."""

from __future__ import annotations

import json
import math
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from holdfast.model import wire

NUMBER = st.from_regex(r"-?[0-9]{1,24}(\.[0-9]{1,20})?([eE][+-]?[0-9]{1,3})?", fullmatch=True)
TEXT = st.text(st.characters(), max_size=8).map(json.dumps)
ODD = st.sampled_from(['"\\ud800"', '"\ud800"', "NaN", "-Infinity", "1e999", '"\x01"', "[1,]", "{"])
DOCUMENT = st.recursive(
    NUMBER | TEXT | ODD | st.sampled_from(["true", "null", " 1 ", ""]),
    lambda inner: (
        st.lists(inner, max_size=3).map(lambda many: f"[{', '.join(many)}]")
        | st.tuples(TEXT, inner).map(lambda pair: f'{{"a": 0, {pair[0]}: {pair[1]}, "a": 1}}')
    ),
    max_leaves=6,
)


def read(by: Any, text: str) -> str:
    try:
        return repr(by(text))
    except (ValueError, RecursionError):
        return "none"


@given(DOCUMENT)
def test_a_text_is_the_value_that_the_standard_library_reads(text: str) -> None:
    assert read(wire.value, text) == read(json.loads, text)


def test_what_only_python_writes_is_read_too() -> None:
    assert math.isnan(wire.value("[NaN]")[0])
    assert wire.value('"\\ud800"') == "\ud800"
    assert read(wire.value, "[" * 5000) == "none"
