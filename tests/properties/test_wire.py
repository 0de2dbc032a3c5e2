"""Text is text: every struct of the model comes back from its bytes as it went in."""

import importlib
import pkgutil
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import DecodeError, Struct

import holdfast.model
from holdfast.model import wire
from holdfast.model.log import Body, Entry
from holdfast.model.message import Message, Part, Text
from holdfast.testing.factories import HOSTILE, every_part
from holdfast.testing.strategies import bodies, texts, values


def every_struct() -> list[type[Struct]]:
    """Every struct that is defined beneath holdfast.model."""
    modules = [
        importlib.import_module(f"holdfast.model.{found.name}")
        for found in pkgutil.iter_modules(holdfast.model.__path__)
    ]
    return sorted(
        (
            kind
            for module in modules
            for kind in vars(module).values()
            if isinstance(kind, type)
            and issubclass(kind, Struct)
            and kind.__module__ == module.__name__
        ),
        key=lambda kind: kind.__name__,
    )


@pytest.mark.parametrize("kind", every_struct(), ids=lambda kind: kind.__name__)
def test_every_struct_comes_back_as_it_went_in(kind: type[Struct]) -> None:
    @given(values(kind))
    def round_trip(value: Struct) -> None:
        assert wire.decode(wire.encode(value), kind) == value

    round_trip()


@given(bodies())
def test_bodies_come_back_without_being_told_their_kind(body: Body) -> None:
    assert wire.decode(wire.encode(body), Body) == body  # type: ignore[arg-type]


@given(bodies())
def test_equal_values_are_equal_bytes_and_the_others_are_not(body: Body) -> None:
    data = wire.encode(body)
    again: Any = wire.decode(data, Body)  # type: ignore[arg-type]
    assert wire.encode(again) == data
    assert wire.encode(Message("user", (Text("another"),))) != data or again == Message(
        "user", (Text("another"),)
    )


@given(texts(), texts())
def test_different_texts_are_different_bytes(one: str, other: str) -> None:
    assert (wire.encode(one) == wire.encode(other)) == (one == other)


@given(st.lists(texts(), max_size=4), st.dictionaries(texts(), texts(), max_size=3))
def test_plain_lists_and_tables_hold_any_text(items: list[str], table: dict[str, str]) -> None:
    assert wire.decode(wire.encode(items), list[str]) == items
    assert wire.decode(wire.encode(table), dict[str, str]) == table


@pytest.mark.parametrize("text", HOSTILE, ids=ascii)
def test_parts_of_every_kind_hold_any_text(text: str) -> None:
    for part in every_part(text):
        assert wire.decode(wire.encode(part), Part) == part  # type: ignore[arg-type]


def test_two_surrogates_are_not_the_character_they_would_encode() -> None:
    assert wire.decode(wire.encode("\ud83d\ude00"), str) == "\ud83d\ude00" != "😀"
    both = ["\ud83d\ude00", "😀", "\ud800"]
    assert wire.decode(wire.encode(both), list[str]) == both


@pytest.mark.parametrize(
    "data",
    [b"", b"{", b"\xff", b'"\\ud800', b'{"kind":"nobody"}', b"[1,2]", b"null", b'"\xed\xa0\x80'],
)
def test_what_is_no_value_is_refused(data: bytes) -> None:
    with pytest.raises((DecodeError, UnicodeDecodeError)):
        wire.decode(data, Entry)


@given(st.binary(max_size=40))
def test_bytes_are_a_value_or_refused_and_nothing_else(data: bytes) -> None:
    try:
        wire.decode(data, Message)
    except (DecodeError, UnicodeDecodeError):
        return
